//! The line of something that takes long and is not measured: what it is, how far, how fast, and how long it will still take.

use record::{Preparation, Unit};
use report::format;

/// Shorter times make no rate.
const SHORTEST_S: f64 = 0.5;

/// What is known of the work that goes on.
#[derive(Debug, Default)]
pub(crate) struct Advance {
    what: String,
    begin_s: f64,
    begin_done: u64,
    done: u64,
}

impl Advance {
    /// Its line at a time, in seconds since any moment.
    pub(crate) fn line(&mut self, at: &Preparation, now_s: f64) -> String {
        if at.what != self.what || at.done < self.done {
            *self = Self { what: at.what.clone(), begin_s: now_s, begin_done: at.done, done: at.done };
        }
        self.done = at.done;
        let mut parts = vec![match counted(at) {
            Some(counted) => format!("{}: {counted}", at.what),
            None => at.what.clone(),
        }];
        let seconds = self.seconds(now_s);
        match self.rate_per_s(at, seconds) {
            Some(rate_per_s) => {
                parts.push(rate(at.unit, rate_per_s));
                let left_s = self.left_s(at, now_s);
                parts.extend(left_s.map(|left_s| format!("{} left", format::duration(left_s))));
            }
            None if seconds >= 1.0 => parts.push(format::duration(seconds.floor())),
            None => {}
        }
        parts.join(", ")
    }

    /// Whole seconds that it still takes; none where that is not known, or nothing is left.
    pub(crate) fn left_s(&self, at: &Preparation, now_s: f64) -> Option<f64> {
        let left = at.total?.saturating_sub(at.done);
        let rate_per_s = self.rate_per_s(at, self.seconds(now_s)).filter(|_| left > 0)?;
        Some((left as f64 / rate_per_s).ceil())
    }

    /// How long it has been going on.
    pub(crate) fn seconds(&self, now_s: f64) -> f64 {
        now_s - self.begin_s
    }

    /// None where one thing takes longer than another, or nothing was seen to be done yet.
    fn rate_per_s(&self, at: &Preparation, seconds: f64) -> Option<f64> {
        let done = at.done - self.begin_done;
        let is_even = matches!(at.unit, Unit::Bytes | Unit::Rows);
        (is_even && done > 0 && seconds >= SHORTEST_S).then(|| done as f64 / seconds)
    }
}

/// `12,000 of 50,000 rows (24%)`. Returns none if the preparation only waits for time to pass.
fn counted(at: &Preparation) -> Option<String> {
    let (number, noun): (fn(u64) -> String, _) = match at.unit {
        Unit::Bytes => (format::bytes, ""),
        Unit::Rows => (format::grouped, " rows"),
        Unit::Statements => (format::grouped, " statements"),
        Unit::Checks => (format::grouped, " checks"),
        Unit::Seconds => return None,
    };
    let done = number(at.done);
    Some(match at.total {
        Some(total @ 1..) => {
            let share = at.done as f64 / total as f64 * 100.0;
            format!("{done} of {}{noun} ({share:.0}%)", number(total))
        }
        Some(0) => format!("{done} of {}{noun}", number(0)),
        None => format!("{done}{noun}"),
    })
}

fn rate(unit: Unit, per_s: f64) -> String {
    match unit {
        Unit::Bytes => format!("{} MB/s", format::figure(per_s / 1e6)),
        Unit::Rows => format!("{} rows/s", format::figure(per_s)),
        Unit::Statements | Unit::Checks | Unit::Seconds => format!("{}/s", format::figure(per_s)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(told: &[(f64, Preparation)]) -> String {
        let mut advance = Advance::default();
        told.iter().map(|(now_s, at)| advance.line(at, *now_s) + "\n").collect()
    }

    #[test]
    fn a_load_tells_how_far_how_fast_and_how_long_still() {
        let files = |done: u64| Preparation::new("writing test files", done << 20, 1 << 30, Unit::Bytes);
        let rows = |done| Preparation::new("loading rows into prony_orders", done, 5_000_000, Unit::Rows);
        let indexes = |done| Preparation::new("building indexes of prony_orders", done, 9, Unit::Statements);
        let told = [
            (0.0, files(0)),
            (2.0, files(512)),
            (4.0, files(1024)),
            (10.0, Preparation::waiting("preparing prony_orders")),
            (13.2, Preparation::waiting("preparing prony_orders")),
            (20.0, rows(10_000)),
            (20.2, rows(20_000)),
            (30.0, rows(1_010_000)),
            (70.0, rows(5_000_000)),
            (70.0, indexes(0)),
            (72.0, indexes(0)),
            (99.0, indexes(3)),
            (100.0, Preparation::new("loading rows into other", 7, None, Unit::Rows)),
            (101.0, Preparation::new("loading rows into other", 1_007, None, Unit::Rows)),
            (102.0, Preparation::new("loading rows into other", 0, 0, Unit::Rows)),
        ];
        insta::assert_snapshot!(lines(&told));
    }
}
