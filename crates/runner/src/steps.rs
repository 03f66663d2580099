//! The steps of a search: what a step runs, and how it is judged.

use record::{SearchStep, State};
use study::{Search as Rules, Work};
use workload::historian::{Job, Rate};

use crate::historian::not_held_because;
use crate::search::{Held, Next, Search};
use crate::trial::Ran;

/// The next step and what it runs; none if the search has ended.
pub(crate) fn next(search: &Search, rules: &Rules, work: &Work) -> Option<(SearchStep, Work)> {
    let Work::Historian { settings, job } = work else { return None };
    let (step, phases) = match search.next() {
        Next::Done => return None,
        Next::Probe(rate_per_s) => (SearchStep::Probe { rate_per_s }, job.phases),
        Next::Confirm(rate_per_s) => (SearchStep::Confirm { rate_per_s }, rules.confirm_phases(settings)),
    };
    let mut settings = settings.clone();
    settings.rate = Some(Rate::PerSecond(step.rate_per_s()));
    settings.warm_up = Some(phases.warm_up);
    settings.duration = Some(phases.measure);
    // Made anew: a step that is longer than the time between two purges has purges.
    let job = match Job::of(&settings) {
        Ok(made) => Box::new(Job { seed: job.seed, ..made }),
        Err(problems) => unreachable!("the plan checked all but rate and length: {problems:?}"),
    };
    Some((step, Work::Historian { settings, job }))
}

/// Whether a step held its rate.
pub(crate) fn held(ran: &Ran) -> Held {
    let setup = ran.record.setup.as_ref().and_then(record::Setup::historian);
    let (Some(setup), Some(outcome), State::Complete) = (setup, &ran.record.historian, ran.record.state)
    else {
        return Held::Unknown;
    };
    match not_held_because(setup, outcome, &ran.samples, &ran.measured) {
        Some(reasons) if reasons.is_empty() => Held::Yes,
        Some(_) => Held::No,
        None => Held::Unknown,
    }
}
