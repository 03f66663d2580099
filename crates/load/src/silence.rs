//! Times in which nobody was answered, from the moments of answers alone: a server that hangs gives no error.

/// Shorter ones are told of by latencies.
pub const SILENCE_MIN_NS: u64 = 500_000_000;
/// So many times as long as the mean time between two answers: of answers that come at random, one in two thousand million
/// is followed by as long a time.
const MEAN_TIMES: f64 = 20.0;
/// More than this a load has no use for.
const KEPT_MAX: usize = 10_000;

/// A time without an answer: begin and end, in nanoseconds since the load began.
pub type Silence = (u64, u64);

/// Remembers when nobody was answered.
#[derive(Clone, Debug, Default)]
pub struct Silences {
    last_ns: u64,
    answers: u64,
    kept: Vec<Silence>,
}

impl Silences {
    /// Somebody was answered.
    #[inline]
    pub fn answered(&mut self, now_ns: u64) {
        self.answers += 1;
        if now_ns > self.last_ns {
            self.keep(now_ns);
            self.last_ns = now_ns;
        }
    }

    #[inline]
    fn keep(&mut self, now_ns: u64) {
        if now_ns - self.last_ns >= SILENCE_MIN_NS && self.kept.len() < KEPT_MAX {
            self.kept.push((self.last_ns, now_ns));
        }
    }

    /// The same, with the time until then.
    fn until(mut self, end_ns: u64) -> Self {
        if end_ns > self.last_ns {
            self.keep(end_ns);
        }
        self
    }

    /// The times in which none of these was answered, until a load ended: those that are much longer than what passes between two
    /// answers by themselves.
    #[must_use]
    pub fn common(all: Vec<Self>, end_ns: u64) -> Vec<Silence> {
        let answers: u64 = all.iter().map(|one| one.answers).sum();
        let least_ns = (end_ns as f64 / answers.max(1) as f64 * MEAN_TIMES) as u64;
        let each = all.into_iter().map(|one| one.until(end_ns).kept);
        let common = each.reduce(|one, other| both(&one, &other)).unwrap_or_default();
        let is_long = |(begin_ns, end_ns): &Silence| end_ns - begin_ns >= least_ns.max(SILENCE_MIN_NS);
        common.into_iter().filter(is_long).collect()
    }
}

/// What two lists of times, each in order, have in common.
fn both(one: &[Silence], other: &[Silence]) -> Vec<Silence> {
    let (mut at, mut beside, mut common) = (0, 0, Vec::new());
    while let (Some(a), Some(b)) = (one.get(at), other.get(beside)) {
        let (begin_ns, end_ns) = (a.0.max(b.0), a.1.min(b.1));
        if begin_ns < end_ns {
            common.push((begin_ns, end_ns));
        }
        if a.1 < b.1 { at += 1 } else { beside += 1 }
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// The common times of clients that were answered at these moments, in milliseconds; the load ended after ten seconds.
    fn silences(of: &[&[u64]]) -> Vec<(u64, u64)> {
        let one = |moments: &&[u64]| {
            let mut silences = Silences::default();
            moments.iter().for_each(|ms| silences.answered(ms * MS));
            silences
        };
        let common = Silences::common(of.iter().map(one).collect(), 10_000 * MS);
        common.into_iter().map(|(begin, end)| (begin / MS, end / MS)).collect()
    }

    /// Every ten milliseconds, but for the times between.
    fn every_ten(but: &[(u64, u64)]) -> Vec<u64> {
        let is_away = |ms: u64| but.iter().any(|&(begin, end)| ms > begin && ms < end);
        (0..1_000).map(|tenth| tenth * 10).filter(|&ms| !is_away(ms)).collect()
    }

    #[test]
    fn what_all_of_them_wait_for_is_a_time_without_an_answer() {
        let (one, other) = (every_ten(&[(2_000, 4_000), (7_000, 8_000)]), every_ten(&[(2_500, 4_500)]));
        assert_eq!(silences(&[&one, &other]), [(2_500, 4_000)]);
        assert_eq!(silences(&[&one]), [(2_000, 4_000), (7_000, 8_000)]);
        assert_eq!(silences(&[&every_ten(&[(5_000, 5_490)])]), [], "too short");
    }

    #[test]
    fn it_may_begin_the_load_and_go_on_to_its_end() {
        assert_eq!(silences(&[&every_ten(&[(0, 600), (9_000, 10_000)])[1..]]), [(0, 600), (9_000, 10_000)]);
        assert_eq!(silences(&[&[]]), [], "of what was never answered nothing is known");
    }

    #[test]
    fn who_answers_seldom_is_not_away_between() {
        assert_eq!(silences(&[&[500, 1_500, 2_700, 3_300, 4_200, 5_400, 6_100, 7_700, 8_100, 9_000]]), []);
    }

    #[test]
    fn moments_that_are_told_late_do_not_begin_one() {
        let mut moments = every_ten(&[(2_000, 4_000)]);
        let late = moments.len();
        moments.push(1_000);
        moments.swap(late, 150);
        assert_eq!(silences(&[&moments]), [(2_000, 4_000)]);
    }
}
