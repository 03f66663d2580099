//! Variables that have a value before a client's first script, and what those that keep it make of expressions.

use std::sync::Arc;

use super::running::Sent;
use crate::script::Job;
use crate::script::language::{Names, Value, Variables};
use crate::script::parameters::Parameters;

/// What hashes and permutations are made with: what is defined, or the seed of the load.
pub(super) fn default_seed(job: &Job) -> i64 {
    let defined = job.defined.iter().find(|defined| defined.name == "default_seed");
    let defined = defined.and_then(|defined| defined.value.trim().parse().ok());
    defined.unwrap_or(job.seed.cast_signed())
}

/// What a client knows before its first script.
pub(super) fn of_client(job: &Job, (names, scale): (&Arc<Names>, u32), client: u32) -> Variables {
    of_all(job, (names, scale), Some(client), |_| true)
}

/// Works out what expressions come to where that is the same for every client, each time.
pub(super) fn fold(
    scripts: &mut [Sent],
    (names, scale): (&Arc<Names>, u32),
    job: &Job,
    parameters: Option<&Parameters>,
) {
    let is_fixed = |variable: usize| {
        let name = names.name(variable);
        let is_of_file = parameters.is_some_and(|parameters| parameters.variables.contains(&variable));
        !is_of_file && !scripts.iter().any(|sent| sent.script.changes(variable, name))
    };
    let fixed = of_all(job, (names, scale), None, is_fixed);
    scripts.iter_mut().for_each(|sent| sent.script.fold(&fixed));
}

/// Those that are wanted and have a value; of a client its number too.
fn of_all(
    job: &Job,
    (names, scale): (&Arc<Names>, u32),
    client: Option<u32>,
    is_wanted: impl Fn(usize) -> bool,
) -> Variables {
    let mut variables = Variables::new(Arc::clone(names));
    let seed = job.seed.cast_signed();
    let given = [("random_seed", seed), ("default_seed", seed), ("scale", scale.into())];
    let given = given.into_iter().chain(client.map(|client| ("client_id", i64::from(client))));
    let given = given.map(|(name, value)| (name, Value::Integer(value)));
    // What is defined comes later, and counts.
    let defined =
        job.defined.iter().map(|defined| (defined.name.as_str(), Value::Text(defined.value.clone())));
    for (name, value) in given.chain(defined) {
        if let Some(variable) = names.find(name).filter(|&variable| is_wanted(variable)) {
            variables.set(variable, value);
        }
    }
    variables
}
