//! Times in which a database or a source of events could not be used.

use record::{Mark, MarkKind, Outage};

/// Most outages that are told one by one.
const TOLD_MAX: usize = 10_000;

/// Times in which something could not be used. The last one may still go on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outages {
    pub(crate) all: Vec<Outage>,
    goes_on: bool,
    /// So many of them were told with their end.
    told: usize,
}

impl Outages {
    /// Something failed at `now_ns`: an outage begins, if there is none.
    pub(crate) fn failed(&mut self, now_ns: u64, error: &str) {
        if !self.goes_on && self.all.len() < TOLD_MAX {
            let start_s = now_ns as f64 / 1e9;
            self.all.push(Outage { start_s, end_s: None, attempts: 0, error: error.to_owned() });
            self.goes_on = true;
        }
    }

    /// The same of a connection that was made at `connected_ns`. One that is older than the end of the last outage broke in
    /// it, and only now somebody noticed.
    pub(crate) fn failed_since(&mut self, connected_ns: u64, now_ns: u64, error: &str) {
        let last_end_s = self.all.last().and_then(|outage| outage.end_s);
        if last_end_s.is_none_or(|end_s| connected_ns as f64 / 1e9 >= end_s) {
            self.failed(now_ns, error);
        }
    }

    /// Those that began, go on or ended since this was asked last, as marks of this kind.
    pub(crate) fn news(&mut self, kind: MarkKind) -> Vec<Mark> {
        let news = self.all[self.told..].iter().map(|outage| Mark::outage(kind, outage)).collect();
        self.told = self.all.len() - usize::from(self.goes_on);
        news
    }

    /// It is tried again.
    pub(crate) fn attempted(&mut self) {
        if let Some(outage) = self.all.last_mut().filter(|_| self.goes_on) {
            outage.attempts += 1;
        }
    }

    /// It works again at `now_ns`.
    pub(crate) fn ended(&mut self, now_ns: u64) {
        if let Some(outage) = self.all.last_mut().filter(|_| self.goes_on) {
            outage.end_s = Some(now_ns as f64 / 1e9);
            self.goes_on = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_lasts_from_the_first_failure_to_the_first_success() {
        let mut outages = Outages::default();
        outages.failed(1_000_000_000, "connection reset");
        outages.failed(2_000_000_000, "connection refused");
        outages.attempted();
        outages.attempted();
        outages.ended(3_500_000_000);
        outages.ended(4_000_000_000);
        outages.failed(9_000_000_000, "disk full");
        let [first, second] = outages.all.as_slice() else { panic!("{outages:?}") };
        assert_eq!((first.start_s, first.end_s, first.attempts), (1.0, Some(3.5), 2));
        assert_eq!(first.error, "connection reset");
        assert_eq!((second.start_s, second.end_s), (9.0, None));
    }

    #[test]
    fn an_outage_is_told_when_it_begins_and_again_with_its_end() {
        let mut outages = Outages::default();
        let ends = |outages: &mut Outages| {
            outages.news(MarkKind::Outage).iter().map(|mark| mark.end_s).collect::<Vec<_>>()
        };
        assert_eq!(ends(&mut outages), []);
        outages.failed(1_000_000_000, "connection reset");
        assert_eq!(ends(&mut outages), [None]);
        outages.ended(3_000_000_000);
        outages.failed(4_000_000_000, "connection reset");
        assert_eq!(ends(&mut outages), [Some(3.0), None]);
        outages.ended(5_000_000_000);
        assert_eq!(ends(&mut outages), [Some(5.0)]);
        assert_eq!(ends(&mut outages), []);
    }

    #[test]
    fn a_connection_that_broke_in_an_outage_makes_no_other() {
        let mut outages = Outages::default();
        outages.failed_since(0, 1_000_000_000, "reset");
        outages.ended(3_000_000_000);
        outages.failed_since(0, 9_000_000_000, "noticed late");
        assert_eq!(outages.all.len(), 1);
        outages.failed_since(3_000_000_000, 10_000_000_000, "reset again");
        assert_eq!(outages.all.len(), 2);
    }
}
