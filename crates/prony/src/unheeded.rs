//! Options of a load beside one that has no load: what nothing would heed is refused, and not passed over.

use clap::ArgMatches;
use clap::error::ErrorKind;
use clap::parser::ValueSource;

/// Parameters of a disk's load, as clap groups them.
const LOAD: &str = "Settings";
/// Options with which a command loads nothing, and the parameters of a load that each heeds all the same.
const WITHOUT_LOAD: [(&str, &[&str]); 2] = [("serve_journal", &[]), ("after_crash", &["journal"])];

/// Refuses what was typed and would have no effect; what comes from the environment or a file of defaults is meant for all commands.
pub(crate) fn check(command: &mut clap::Command, matches: &ArgMatches) -> Result<(), clap::Error> {
    let (mut leaf, mut of) = (matches, &*command);
    while let Some((name, inner)) = leaf.subcommand() {
        let Some(subcommand) = of.find_subcommand(name) else { return Ok(()) };
        (leaf, of) = (inner, subcommand);
    }
    let Some(load) = of.get_groups().find(|group| group.get_id() == LOAD) else { return Ok(()) };
    let is_typed = |id: &str| {
        leaf.try_contains_id(id).is_ok() && leaf.value_source(id) == Some(ValueSource::CommandLine)
    };
    let Some((option, heeded)) = WITHOUT_LOAD.into_iter().find(|(option, _)| is_typed(option)) else {
        return Ok(());
    };
    let unheeded = of.get_arguments().filter(|argument| {
        let id = argument.get_id();
        load.get_args().any(|of_load| of_load == id)
            && !heeded.contains(&id.as_str())
            && is_typed(id.as_str())
    });
    let names: Vec<String> =
        unheeded.filter_map(|argument| Some(format!("--{}", argument.get_long()?))).collect();
    if names.is_empty() {
        return Ok(());
    }
    let words = format!(
        "--{} runs no load, so these options have no effect: {}. Omit them",
        option.replace('_', "-"),
        names.join(", ")
    );
    Err(command.error(ErrorKind::ArgumentConflict, words))
}
