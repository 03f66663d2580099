//! The steps of a search: what a step runs, and how it is judged.

use record::{Outcome, SearchStep, State};
use stats::search::{Held, Next, Search};
use study::{StepLengths, Work};

use crate::historian::not_held_because;
use crate::trial::Ran;

/// The next step and what it runs; none if the search has ended.
pub(crate) fn next(search: &Search, lengths: &StepLengths, work: &Work) -> Option<(SearchStep, Work)> {
    let (step, phases) = match search.next() {
        Next::Done => return None,
        Next::Probe(rate_per_s) => (SearchStep::Probe { rate_per_s }, lengths.probe),
        Next::Confirm(rate_per_s) => (SearchStep::Confirm { rate_per_s }, lengths.confirm),
    };
    // Made anew: a step that is longer than the time between two purges has purges.
    match work.any().at_rate(step.rate_per_s(), phases) {
        Ok(work) => Some((step, work)),
        Err(problems) => unreachable!("the plan checked all but rate and length: {problems:?}"),
    }
}

/// Whether a step held its rate.
pub(crate) fn held(ran: &Ran) -> Held {
    let setup = ran.record.setup.as_ref().and_then(record::Setup::historian);
    let outcome = ran.record.outcome.as_ref().and_then(Outcome::historian);
    let (Some(setup), Some(outcome), State::Complete) = (setup, outcome, ran.record.state) else {
        return Held::Unknown;
    };
    match not_held_because(setup, outcome, &ran.samples, &ran.measured) {
        Some(reasons) if reasons.is_empty() => Held::Yes,
        Some(_) => Held::No,
        None => Held::Unknown,
    }
}
