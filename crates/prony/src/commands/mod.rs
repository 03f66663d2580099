//! One file a command.

mod check;
mod compare;
mod disk;
mod explain;
mod export;
mod historian;
mod history;
mod inspect;
mod instance;
mod lab;
mod list;
mod managed;
mod manual;
mod measuring;
mod orders;
mod orders_compat;
mod orders_generate;
mod orders_run;
mod orders_store;
mod plan;
mod plc;
mod proof;
mod reference;
mod register;
mod report;
mod reporting;
mod script;
mod study;
mod tables;
mod tables_killed;
mod verify_disk;

use anyhow::anyhow;

use crate::arguments::{Arguments, Command, Planned, Study};
use crate::exit::{Exit, Failure};

pub(crate) use lab::failure as lab_failure;
pub(crate) use manual::print_exit_codes;
pub(crate) use measuring::{least_in_files, least_written};
pub(crate) use plan::summary as plan_summary;
pub(crate) use proof::run as prove_limits;
pub(crate) use tables_killed::run as change_table;

/// The study of a profile, for places as it names them itself.
fn profile(name: &str, quick: bool) -> Result<::study::Study, Failure> {
    let ready =
        ::study::ReadyStudy::named(name).ok_or_else(|| Failure::usage(anyhow!("unknown profile {name}")))?;
    ready.study(quick).map_err(Failure::usage)
}

pub(crate) fn run(arguments: Arguments) -> Result<Exit, Failure> {
    crate::spelling::set(&arguments.command);
    match arguments.command {
        Command::Measuring(command) => measuring::run(command.asked()),
        Command::Orders(command) => orders::run(&command),
        Command::Study(Study::Run(run)) => study::run(&run),
        Command::Study(Study::List) => study::list(),
        Command::Study(Study::Show(show)) => study::show(&show),
        Command::Study(Study::Plan(plan)) => study::plan(&plan),
        Command::Study(Study::Resume(resume)) => study::resume(&resume),
        Command::Compare(compare) => compare::run(&compare),
        Command::History(history) => history::run(&history),
        Command::Inspect(inspect) => inspect::run(&inspect),
        Command::Plc(plc) => plc::run(&plc),
        Command::Instance(instance) => instance::run(&instance),
        Command::Lab(lab) => lab::run(&lab),
        Command::Sqlio { arguments } => crate::sqlio::run(&arguments),
        Command::Plan(Planned::Measuring(command)) => measuring::plan(command.asked()),
        Command::Plan(Planned::Orders(command)) => orders::plan(&command),
        Command::Report(report) => report::run(&report),
        Command::List(list) => list::run(&list),
        Command::Export(export) => export::run(&export),
        Command::Explain(explain) => explain::run(&explain),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man { command, markdown: true } => reference::print(&command),
        Command::Man { command, markdown: false } => manual::page(&command),
    }
}
