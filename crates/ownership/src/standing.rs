//! Databases: what may be done with one of a wanted name, by what stands there.
//!
//! Everything is decided here and nothing is looked up: who asks has read the mark, holds the lock, and says what it found.

use serde::{Deserialize, Serialize};

use crate::RunId;

/// What stands under a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing.
    Absent,
    /// Something of ours that was being made when its run was killed: it is known as ours, and nobody has put anything in.
    HalfMade,
    /// Something with our mark.
    Ours(Mark),
    /// Anything else.
    Foreign,
}

/// What a mark says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The run that made it; none of a mark that does not tell, as older versions wrote it.
    pub made_by: Option<RunId>,
    /// The run that took it up last, at first the one that made it.
    pub held_by: Option<RunId>,
    /// Whether it was to be removed at the end of the run that made it, and nobody has taken it up since.
    pub is_transient: bool,
}

/// What is to be done with something of the wanted name that exists already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Existing {
    /// It is an error, unless this very run made it and was interrupted.
    #[default]
    Refuse,
    /// As [`Existing::Refuse`], but what a run that was killed had made only for itself is removed and made anew.
    Leftover,
    /// It is taken up again with what is in it if it is ours, and made if there is none.
    Reuse,
    /// If it is ours and nobody uses it, it is removed and made anew: the user said so for it by name.
    Replace,
    /// It is somebody else's, and used as it is: no mark is looked for, none is made, and nothing that is there is removed or set.
    AsItIs,
    /// It must be there. It is taken up as by [`Existing::Reuse`], and whoever uses it refuses one that had to be made.
    Use,
}

impl Existing {
    /// Its name in a study file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Leftover => "leftover",
            Self::Reuse => "reuse",
            Self::Replace => "replace",
            Self::Use => "use",
            Self::AsItIs => "as_it_is",
        }
    }
}

/// What a run wants of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The run.
    pub run: RunId,
    /// What is done with what is there.
    pub existing: Existing,
    /// Whether what is made is removed at the end of the run.
    pub is_transient: bool,
    /// How what is there of an earlier run could be taken up instead, for who is refused; none if it cannot.
    pub instead: Option<Existing>,
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
    /// It is ours, but another run made it or took it up, and nobody said that it may be replaced.
    OfAnotherRun,
    /// It is not there any more.
    Gone,
}

/// Leave to remove one thing. Only [`action`] and [`may_remove`] give it out.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub struct Permit(());

impl Claim {
    /// Of a run that leaves what it makes.
    #[must_use]
    pub fn new(run: RunId, existing: Existing) -> Self {
        Self { run, existing, is_transient: false, instead: Some(Existing::Reuse) }
    }

    /// The same, but what is made is removed at the end.
    #[must_use]
    pub fn transient(self) -> Self {
        Self { is_transient: true, ..self }
    }
}

impl Mark {
    /// That of something which a run makes.
    #[must_use]
    pub fn of(claim: &Claim) -> Self {
        let run = Some(claim.run.clone());
        Self { made_by: run.clone(), held_by: run, is_transient: claim.is_transient }
    }

    /// Whether a run made it and nobody took it up since.
    fn is_of(&self, run: &RunId) -> bool {
        self.made_by.as_ref() == Some(run) && self.held_by.as_ref() == Some(run)
    }
}

/// What a run does that wants something of a name in which `standing` was found.
///
/// # Errors
/// Says why what is there is left as it is.
pub fn action(standing: &Standing, claim: &Claim) -> Result<Action, Refusal> {
    if claim.existing == Existing::AsItIs {
        return Err(Refusal::Foreign);
    }
    let mark = match standing {
        Standing::Absent => return Ok(Action::Make),
        Standing::Foreign => return Err(Refusal::Foreign),
        // There is nothing in it that anybody could miss.
        Standing::HalfMade => return Ok(Action::Replace(Permit(()))),
        Standing::Ours(mark) => mark,
    };
    let replace = match claim.existing {
        Existing::Reuse | Existing::Use => return Ok(Action::TakeUp),
        Existing::Replace => true,
        Existing::Leftover => mark.is_transient || mark.is_of(&claim.run),
        // This run made it before it was interrupted. What is used as it is was refused above.
        Existing::Refuse | Existing::AsItIs => mark.is_of(&claim.run),
    };
    if replace { Ok(Action::Replace(Permit(()))) } else { Err(Refusal::OfAnotherRun) }
}

/// Whether a run may remove at its end what it made under a name, by what stands there now.
///
/// # Errors
/// Says why it is left as it is.
pub fn may_remove(standing: &Standing, run: &RunId) -> Result<Permit, Refusal> {
    match standing {
        Standing::Ours(mark) if mark.is_of(run) => Ok(Permit(())),
        Standing::Ours(_) | Standing::HalfMade => Err(Refusal::OfAnotherRun),
        Standing::Foreign => Err(Refusal::Foreign),
        Standing::Absent => Err(Refusal::Gone),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(made_by: Option<u128>, held_by: Option<u128>, is_transient: bool) -> Standing {
        let run = |number: Option<u128>| number.map(RunId::from);
        Standing::Ours(Mark { made_by: run(made_by), held_by: run(held_by), is_transient })
    }

    /// What run 1 does, by what is asked for: refuse, leftover, reuse, replace. To use is to reuse.
    fn actions(standing: &Standing) -> [Result<Action, Refusal>; 4] {
        let asked = |existing| action(standing, &Claim::new(RunId::from(1), existing));
        assert_eq!(asked(Existing::Use), asked(Existing::Reuse));
        [Existing::Refuse, Existing::Leftover, Existing::Reuse, Existing::Replace].map(asked)
    }

    #[test]
    fn only_what_is_ours_is_replaced_and_only_by_its_run_or_on_demand() {
        let replace = || Ok(Action::Replace(Permit(())));
        let (make, take_up) = (|| Ok(Action::Make), || Ok(Action::TakeUp));
        let (foreign, another) = (|| Err(Refusal::Foreign), || Err(Refusal::OfAnotherRun));
        for (standing, expected) in [
            (Standing::Absent, [make(), make(), make(), make()]),
            (Standing::Foreign, [foreign(), foreign(), foreign(), foreign()]),
            (Standing::HalfMade, [replace(), replace(), replace(), replace()]),
            (mark(Some(1), Some(1), false), [replace(), replace(), take_up(), replace()]),
            (mark(Some(2), Some(2), false), [another(), another(), take_up(), replace()]),
            (mark(Some(2), Some(2), true), [another(), replace(), take_up(), replace()]),
            // Another run took up what this one had made.
            (mark(Some(1), Some(2), false), [another(), another(), take_up(), replace()]),
            // This run took up what another had made.
            (mark(Some(2), Some(1), false), [another(), another(), take_up(), replace()]),
            (mark(None, None, false), [another(), another(), take_up(), replace()]),
        ] {
            assert_eq!(actions(&standing), expected, "{standing:?}");
        }
    }

    #[test]
    fn a_run_removes_what_it_made_and_nothing_else() {
        let run = RunId::from(1);
        assert!(may_remove(&mark(Some(1), Some(1), true), &run).is_ok());
        for (standing, refusal) in [
            (mark(Some(2), Some(2), true), Refusal::OfAnotherRun),
            (mark(Some(1), Some(2), false), Refusal::OfAnotherRun),
            (mark(Some(2), Some(1), false), Refusal::OfAnotherRun),
            (mark(None, None, false), Refusal::OfAnotherRun),
            (Standing::HalfMade, Refusal::OfAnotherRun),
            (Standing::Foreign, Refusal::Foreign),
            (Standing::Absent, Refusal::Gone),
        ] {
            assert_eq!(may_remove(&standing, &run), Err(refusal), "{standing:?}");
        }
    }
}
