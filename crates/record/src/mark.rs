//! Times of a trial in which something else went on than its load: an audit, a purge, an outage, a fault that was asked for.

use serde::{Deserialize, Serialize};

use crate::Outage;

/// A time that charts mark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Begin, in seconds since the load began.
    pub begin_s: f64,
    /// End; none while it goes on, and where it went on to the end.
    pub end_s: Option<f64>,
    /// What went on.
    pub kind: MarkKind,
    /// What is to be said of it: the first error of an outage, the database of a purge.
    pub what: String,
    /// Whether the study asked for it: then it is no accident, and no figure is the worse for it.
    pub planned: bool,
}

/// How long after a fault was mended somebody may find that his connection did not outlive it.
const FAULT_SEEN_WITHIN_S: f64 = 2.0;

/// What goes on in a marked time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkKind {
    /// All that was written is read and checked, and nothing else is done.
    Audit,
    /// Old rows are removed.
    Purge,
    /// The database gives space back.
    Shrink,
    /// A copy of the database on another server is behind.
    ReplicaBehind,
    /// Nobody was answered, whatever the reason.
    Silence,
    /// The database cannot be used.
    Outage,
    /// The source of events cannot be read.
    SourceOutage,
    /// Something is broken on purpose.
    Fault,
    /// Whoever decides who takes over holds a server for gone.
    Noticed,
    /// Another server takes over.
    Promotion,
}

impl MarkKind {
    /// Its name in charts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Audit => "audit",
            Self::Purge => "purge",
            Self::Shrink => "shrink",
            Self::ReplicaBehind => "copy behind",
            Self::Silence => "no answer",
            Self::Outage => "outage",
            Self::SourceOutage => "source away",
            Self::Fault => "fault",
            Self::Noticed => "noticed",
            Self::Promotion => "promotion",
        }
    }
}

impl Mark {
    /// Something that the study asked for.
    #[must_use]
    pub fn planned(kind: MarkKind, begin_s: f64, end_s: Option<f64>, what: &str) -> Self {
        Self { begin_s, end_s, kind, what: what.to_owned(), planned: true }
    }

    /// An outage that nobody is known to have asked for.
    #[must_use]
    pub fn outage(kind: MarkKind, outage: &Outage) -> Self {
        let Outage { start_s, end_s, ref error, .. } = *outage;
        Self { begin_s: start_s, end_s, kind, what: error.clone(), planned: false }
    }

    /// A time in which nobody was answered, in nanoseconds since the load began; none as the end of one that ended with the load.
    #[must_use]
    pub fn silence(begin_ns: u64, end_ns: Option<u64>) -> Self {
        let seconds = |ns: u64| ns as f64 / 1e9;
        let (begin_s, end_s) = (seconds(begin_ns), end_ns.map(seconds));
        Self {
            begin_s,
            end_s,
            kind: MarkKind::Silence,
            what: "nobody was answered".to_owned(),
            planned: false,
        }
    }

    /// Adds it to others. One that was told before, while it went on, is told again with its end. Gives whether anything is
    /// new.
    pub fn add_to(self, marks: &mut Vec<Self>) -> bool {
        let is_it =
            |mark: &&mut Self| (mark.kind, mark.begin_s, &mark.what) == (self.kind, self.begin_s, &self.what);
        match marks.iter_mut().rev().find(is_it) {
            Some(told) if *told == self => return false,
            Some(told) => *told = self,
            None => marks.push(self),
        }
        true
    }

    /// Whether it is why something was away from a time on: the study asked for it, and it went on then. Whoever was idle
    /// meanwhile sees only at its next turn that a server was killed.
    #[must_use]
    fn explains(&self, from_s: f64) -> bool {
        let explains = matches!(self.kind, MarkKind::Outage | MarkKind::Fault | MarkKind::Promotion);
        let seen_within_s = if self.kind == MarkKind::Fault { FAULT_SEEN_WITHIN_S } else { 0.0 };
        let goes_on =
            self.begin_s <= from_s && self.end_s.is_none_or(|end_s| from_s <= end_s + seen_within_s);
        self.planned && explains && goes_on
    }
}

impl Outage {
    /// Whether the study planned it, by the marks of its trial.
    #[must_use]
    pub fn is_planned(&self, marks: &[Mark]) -> bool {
        marks.iter().any(|mark| mark.explains(self.start_s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outage(start_s: f64, end_s: Option<f64>) -> Outage {
        Outage { start_s, end_s, attempts: 1, error: "connection refused".to_owned() }
    }

    #[test]
    fn a_mark_that_ends_takes_the_place_of_its_begin() {
        let mut marks = Vec::new();
        let at = |end_s| Mark::outage(MarkKind::Outage, &outage(3.0, end_s));
        assert!(at(None).add_to(&mut marks));
        assert!(Mark::planned(MarkKind::Purge, 3.0, None, "").add_to(&mut marks));
        assert!(!at(None).add_to(&mut marks), "told already");
        assert!(at(Some(4.5)).add_to(&mut marks));
        assert!(at(Some(4.5)).end_s == marks[0].end_s && marks.len() == 2, "{marks:?}");
    }

    #[test]
    fn only_what_was_asked_for_while_it_went_on_explains_an_outage() {
        let fault = Mark::planned(MarkKind::Fault, 2.0, Some(5.0), "server killed");
        let away = |start_s| outage(start_s, Some(start_s + 1.0)).is_planned(std::slice::from_ref(&fault));
        assert_eq!([1.9, 2.0, 4.9, 7.0, 7.1].map(away), [false, true, true, true, false]);
        let accident = Mark { planned: false, ..fault.clone() };
        assert!(!outage(3.0, None).is_planned(&[accident]));
        let purge = Mark { kind: MarkKind::Purge, ..fault };
        assert!(!outage(3.0, None).is_planned(&[purge]), "a purge takes no database away");
    }
}
