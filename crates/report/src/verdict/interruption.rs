//! A study that was interrupted and taken up again: what was measured when, and whether on the same machine. Holds for every
//! study, whether it compares or not.

use record::{Order, Resumption};

use super::{Level, Verdict};
use crate::format;
use crate::report::Report;

pub(crate) fn all(report: &Report) -> Vec<Verdict> {
    let in_blocks = report.comparison.as_ref().is_some_and(|comparison| comparison.order != Order::Repeats);
    let resumed = report.resumed.iter().map(|resumption| resumed(resumption, in_blocks));
    let differs = report.resumed.iter().filter_map(|resumption| another_machine(resumption, in_blocks));
    resumed.chain(differs).collect()
}

fn resumed(resumption: &Resumption, in_blocks: bool) -> Verdict {
    let again = match resumption.set_aside.as_slice() {
        [] => String::new(),
        [only] => format!("; trial {only} of the interrupted block ran again"),
        several => {
            let numbers: Vec<String> = several.iter().map(u32::to_string).collect();
            format!("; trials {} of the interrupted block ran again", format::listed(&numbers))
        }
    };
    let between = if in_blocks { "the blocks" } else { "the trials before and after" };
    let sentence = format!(
        "The study was interrupted and taken up again at {} with trial {}{again}; what changed on the machine meanwhile \
         is between {between}",
        resumption.at, resumption.from_trial
    );
    Verdict::new(Level::Note, "resumed", sentence)
}

/// What comes after the interruption was measured on another machine than what came before.
fn another_machine(resumption: &Resumption, in_blocks: bool) -> Option<Verdict> {
    let differs = (!resumption.differs.is_empty()).then(|| resumption.differs.join("; "))?;
    let so = if in_blocks {
        "each comparison is within a block, but the blocks before and after are of different machines"
    } else {
        "do not compare the trials before with those after it"
    };
    let sentence = format!(
        "From trial {} on the machine is not the one that the study was begun on: {differs}; {so}",
        resumption.from_trial
    );
    Some(Verdict::new(Level::Warning, "resumed", sentence))
}
