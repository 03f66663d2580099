//! prony measures a database server, from the disk up to the application, and says what limits it.
//!
//! The program is thin: arguments in, a study out, events to the terminal and to the results directory. It is the one
//! crate that prints and exits.

#[macro_use]
mod terminal;

mod advance;
mod arguments;
mod commands;
mod config;
mod documents;
mod environment;
mod exit;
mod hints;
mod interrupt;
mod laboratory;
mod lacks;
mod left;
mod log;
mod memory;
mod placement;
mod progress;
mod runs;
mod session;
mod space;
mod spelling;
mod sqlio;
mod sqliosim_disk;
mod ticker;
mod unheeded;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::FromArgMatches;
use clap::error::ErrorKind;

use crate::config::Config;

/// Stack that is enough for any command, in bytes: what Rust gives a thread.
const STACK_BYTES: usize = 2 << 20;

fn main() -> ExitCode {
    // A limit of the user's (`ulimit -s`) holds for the first thread only. A thread takes address space, which may be limited too.
    let limit = rustix::process::getrlimit(rustix::process::Resource::Stack).current;
    if limit.is_none_or(|bytes| bytes >= STACK_BYTES as u64) {
        return run();
    }
    let thread = std::thread::Builder::new().name("prony".to_owned()).stack_size(STACK_BYTES);
    match thread.spawn(run) {
        // A panic has said what it was.
        Ok(running) => running.join().unwrap_or_else(|_| ExitCode::from(PANICKED)),
        // Without a thread the stack is the one that there is.
        Err(_) => run(),
    }
}

/// What the program ends with after a fault of its own, as Rust ends one whose first thread panics.
const PANICKED: u8 = 101;

fn run() -> ExitCode {
    interrupt::listen();
    spelling::begin();
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let called_sqlio = arguments
        .first()
        .and_then(|name| Path::new(name).file_stem())
        .is_some_and(|name| name.eq_ignore_ascii_case("sqlio"));
    let result = if called_sqlio {
        sqlio::run(&arguments[1..])
    } else if arguments.get(1).is_some_and(|first| first == runner::PROVES) {
        commands::prove_limits(arguments.get(2))
    } else if arguments.get(1).is_some_and(|first| first == workload::tables::CHANGES) {
        commands::change_table()
    } else {
        match prony(&arguments) {
            Ok(result) => result,
            Err(code) => return code,
        }
    };
    match result {
        Ok(code) => code.into(),
        Err(failure) => {
            failure.lines().iter().for_each(|line| tell!("error: {line}"));
            failure.code().into()
        }
    }
}

/// Runs the command that is asked for. Where there is none, or nothing but help, the exit code.
fn prony(arguments: &[OsString]) -> Result<Result<exit::Exit, exit::Failure>, ExitCode> {
    let (config, mistakes) = match config::read(arguments, &arguments::program()) {
        Ok(config) => (config, Vec::new()),
        Err(mistakes) => (Config::default(), mistakes),
    };
    if arguments.get(1).is_some_and(|word| word == "help")
        && arguments.get(2).is_some_and(|word| word == "exit-codes")
    {
        return Ok(commands::print_exit_codes());
    }
    let parse = |arguments| parse(arguments, &config);
    match parse(arguments.to_vec()) {
        Ok(parsed) if mistakes.is_empty() || !parsed.command.heeds_defaults() => {
            let variables = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
            let command = arguments::program();
            let details = std::env::var_os(arguments::DETAILS);
            let warnings = environment::warnings(&command, variables);
            let warnings = warnings.into_iter().chain(environment::flag_warning(details.as_deref()));
            warnings.for_each(|warning| tell!("{warning}"));
            Ok(commands::run(parsed))
        }
        Err(error) if mistakes.is_empty() || !error.use_stderr() => {
            if error.kind() == ErrorKind::DisplayHelp {
                mistakes.iter().for_each(|line| tell!("warning: ignoring config file {line}"));
            }
            Err(terminal::end_with(error, arguments, parse))
        }
        Ok(_) | Err(_) => {
            mistakes.iter().for_each(|line| tell!("error: {line}"));
            Err(exit::Exit::Usage.into())
        }
    }
}

/// True if the running command has a flag with this id, and the flag was given.
pub(crate) fn is_given(matches: &clap::ArgMatches, flag: &str) -> bool {
    let mut leaf = matches;
    while let Some((_, inner)) = leaf.subcommand() {
        leaf = inner;
    }
    matches!(leaf.try_get_one::<bool>(flag), Ok(Some(true)))
}

fn parse(arguments: Vec<OsString>, config: &Config) -> Result<arguments::Arguments, clap::Error> {
    let given = arguments::PlannedOrders::completed(arguments);
    let asks_short = given.iter().take_while(|word| *word != "--").any(|word| word == "-h");
    let program = if asks_short { arguments::brief(arguments::program()) } else { arguments::program() };
    let arguments = arguments::spelled_out(given.clone(), &program);
    let mut command = arguments::decided(config.laid_under(program), &arguments);
    let matches = command.try_get_matches_from_mut(&arguments);
    let matches = matches.map_err(|error| hints::hinted(error, &arguments))?;
    environment::check(&mut command, &matches)?;
    unheeded::check(&mut command, &matches)?;
    let mut read = arguments::Arguments::from_arg_matches(&matches)?;
    if is_given(&matches, "dry_run") {
        read.command = read.command.planned();
    }
    terminal::set_told(&matches);
    arguments::notes_on_names(&given, &command, &matches).iter().for_each(|note| announce!("{note}"));
    config.tell(&arguments::program(), &matches);
    Ok(read)
}
