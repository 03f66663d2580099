//! Databases: what may be done with one of a wanted name, by what stands there.
//!
//! Everything is decided here and nothing is looked up: who asks has read the mark, holds the lock, and says what it found.

use crate::RunId;

/// What stands under a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing.
    Absent,
    /// Something of ours that was being made when its run was killed: it is known as ours, and nobody has put anything in.
    HalfMade,
    /// Something with our mark, of this run; none of a mark that names no run, as older versions wrote it.
    Ours(Option<RunId>),
    /// Anything else.
    Foreign,
}

/// What is to be done with something of the wanted name that exists already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// It is an error, unless this very run made it and was interrupted.
    #[default]
    Refuse,
    /// It is taken up again with what is in it if it is ours, and made if there is none.
    Reuse,
    /// If it is ours and nobody uses it, it is removed and made anew: the user said so for it by name.
    Replace,
}

/// What is done.
#[derive(Debug, PartialEq, Eq)]
pub enum Action {
    /// It is made.
    Make,
    /// It is taken up with what is in it.
    TakeUp,
    /// What is there is removed, and it is made.
    Replace(Permit),
}

/// Why something is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// It carries no mark of ours.
    Foreign,
    /// It is ours, of another run, and nobody said that it may be replaced.
    OfAnotherRun,
    /// It is not there any more.
    Gone,
}

/// Leave to remove one thing. Only [`action`] and [`may_remove`] give it out.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub struct Permit(());

/// What a run does that wants something of a name in which `standing` was found.
///
/// # Errors
/// Says why what is there is left as it is.
pub fn action(standing: &Standing, run: &RunId, existing: Existing) -> Result<Action, Refusal> {
    match (standing, existing) {
        (Standing::Absent, _) => Ok(Action::Make),
        (Standing::Foreign, _) => Err(Refusal::Foreign),
        // There is nothing in it that anybody could miss.
        (Standing::HalfMade, _) => Ok(Action::Replace(Permit(()))),
        (Standing::Ours(_), Existing::Reuse) => Ok(Action::TakeUp),
        (Standing::Ours(_), Existing::Replace) => Ok(Action::Replace(Permit(()))),
        // This run made it before it was interrupted.
        (Standing::Ours(Some(made_by)), Existing::Refuse) if made_by == run => {
            Ok(Action::Replace(Permit(())))
        }
        (Standing::Ours(_), Existing::Refuse) => Err(Refusal::OfAnotherRun),
    }
}

/// Whether a run may remove at its end what it made under a name, by what stands there now.
///
/// # Errors
/// Says why it is left as it is.
pub fn may_remove(standing: &Standing, run: &RunId) -> Result<Permit, Refusal> {
    match standing {
        Standing::Ours(Some(made_by)) if made_by == run => Ok(Permit(())),
        Standing::Ours(_) | Standing::HalfMade => Err(Refusal::OfAnotherRun),
        Standing::Foreign => Err(Refusal::Foreign),
        Standing::Absent => Err(Refusal::Gone),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_ours_is_replaced_and_only_by_its_run_or_on_demand() {
        let run = RunId::from(1);
        let other = Standing::Ours(Some(RunId::from(2)));
        let own = Standing::Ours(Some(run.clone()));
        let old = Standing::Ours(None);
        let replace = || Ok(Action::Replace(Permit(())));
        use Existing::{Refuse, Replace, Reuse};
        use Refusal::{Foreign, OfAnotherRun};
        for (standing, wanted) in [
            (
                Standing::Absent,
                [(Refuse, Ok(Action::Make)), (Reuse, Ok(Action::Make)), (Replace, Ok(Action::Make))],
            ),
            (Standing::Foreign, [(Refuse, Err(Foreign)), (Reuse, Err(Foreign)), (Replace, Err(Foreign))]),
            (Standing::HalfMade, [(Refuse, replace()), (Reuse, replace()), (Replace, replace())]),
            (own, [(Refuse, replace()), (Reuse, Ok(Action::TakeUp)), (Replace, replace())]),
            (other, [(Refuse, Err(OfAnotherRun)), (Reuse, Ok(Action::TakeUp)), (Replace, replace())]),
            (old, [(Refuse, Err(OfAnotherRun)), (Reuse, Ok(Action::TakeUp)), (Replace, replace())]),
        ] {
            for (existing, expected) in wanted {
                assert_eq!(action(&standing, &run, existing), expected, "{standing:?} {existing:?}");
            }
        }
    }

    #[test]
    fn a_run_removes_what_it_made_and_nothing_else() {
        let run = RunId::from(1);
        assert!(may_remove(&Standing::Ours(Some(run.clone())), &run).is_ok());
        for (standing, refusal) in [
            (Standing::Ours(Some(RunId::from(2))), Refusal::OfAnotherRun),
            (Standing::Ours(None), Refusal::OfAnotherRun),
            (Standing::HalfMade, Refusal::OfAnotherRun),
            (Standing::Foreign, Refusal::Foreign),
            (Standing::Absent, Refusal::Gone),
        ] {
            assert_eq!(may_remove(&standing, &run), Err(refusal), "{standing:?}");
        }
    }
}
