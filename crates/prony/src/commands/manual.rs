//! Manual pages and completions, from the same definitions as `--help`.

use anyhow::anyhow;
use clap::CommandFactory;

use crate::arguments::Arguments;
use crate::exit::{Exit, Failure};
use crate::terminal;

pub(crate) fn completions(shell: clap_complete::Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "prony", &mut script);
    write_all(&script)
}

/// The page of prony, or of a command such as `disk` or `plan-disk`.
pub(crate) fn page(name: Option<&str>) -> Result<Exit, Failure> {
    let mut command = Arguments::command();
    command.build();
    for part in name.iter().flat_map(|name| name.split('-')) {
        let known: Vec<String> =
            command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
        command = command.find_subcommand(part).cloned().ok_or_else(|| {
            Failure::usage(anyhow!("there is no command `{part}`; there are: {}", known.join(", ")))
        })?;
    }
    let title = command.get_display_name().unwrap_or("prony").to_owned();
    let mut text = Vec::new();
    clap_mangen::Man::new(command).title(title).render(&mut text).map_err(Failure::runtime)?;
    write_all(&text)
}

fn write_all(bytes: &[u8]) -> Result<Exit, Failure> {
    terminal::print_file(bytes)?;
    Ok(Exit::Pass)
}
