//! One file a command.

mod check;
mod compare;
mod disk;
mod export;
mod historian;
mod manual;
mod orders;
mod plan;
mod plc;
mod report;
mod run_orders;
mod store;
mod study;

use anyhow::anyhow;

use crate::arguments::{Arguments, Command, Orders, Planned, Study};
use crate::exit::{Exit, Failure};

pub(crate) use plan::{commands as shell_commands, summary as plan_summary};

/// The study of a profile, for places as it names them itself.
fn profile(name: &str, quick: bool) -> Result<::study::Study, Failure> {
    let ready = ::study::ReadyStudy::named(name)
        .ok_or_else(|| Failure::usage(anyhow!("there is no profile called {name}")))?;
    ready.study(quick).map_err(Failure::usage)
}

pub(crate) fn run(arguments: Arguments) -> Result<Exit, Failure> {
    crate::spelling::set(&arguments.command);
    match arguments.command {
        Command::Check(check) => check::run(&check),
        Command::Disk(disk) => disk::run(&disk),
        Command::Historian(historian) => historian::run(&historian),
        Command::Orders(Orders::Generate(generate)) => orders::generate(&generate),
        Command::Orders(Orders::Load(load)) => store::load(&load),
        Command::Orders(Orders::Run(run)) => run_orders::run(&run),
        Command::Orders(Orders::Verify(verify)) => store::verify(&verify),
        Command::Study(Study::Run(run)) => study::run(&run),
        Command::Study(Study::List) => study::list(),
        Command::Study(Study::Show(show)) => study::show(&show),
        Command::Study(Study::Plan(plan)) => study::plan(&plan),
        Command::Study(Study::Resume(resume)) => study::resume(&resume),
        Command::Compare(compare) => compare::run(&compare),
        Command::Plc(plc) => plc::run(&plc),
        Command::Sqlio { arguments } => crate::sqlio::run(&arguments),
        Command::Plan(Planned::Check(check)) => plan::print(&check::study(&check)?, check.output.format),
        Command::Plan(Planned::Disk(disk)) => plan::print(&disk::study(&disk)?, disk.output.format),
        Command::Plan(Planned::Historian(historian)) => {
            plan::print(&historian::study(&historian)?, historian.output.format)
        }
        Command::Plan(Planned::Orders(run)) => plan::print(&run_orders::study(&run)?, run.output.format),
        Command::Report(report) => report::run(&report),
        Command::Export(export) => export::run(&export),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man { command } => manual::page(command.as_deref()),
    }
}
