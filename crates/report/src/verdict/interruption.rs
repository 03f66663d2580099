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
        [only] => format!(". Trial {only} of the interrupted block ran again"),
        several => {
            let numbers: Vec<String> = several.iter().map(u32::to_string).collect();
            format!(". Trials {} of the interrupted block ran again", format::listed(&numbers))
        }
    };
    let between = if in_blocks { "the blocks" } else { "the trials before and after" };
    let sentence = format!(
        "the study was interrupted, and resumed at {} with trial {}{again}. If the machine changed in the meantime, it did so between {between}",
        resumption.at, resumption.from_trial
    );
    Verdict::new(Level::Note, "resumed", sentence)
}

/// What comes after the interruption was measured on another machine than what came before.
fn another_machine(resumption: &Resumption, in_blocks: bool) -> Option<Verdict> {
    let differs = (!resumption.differs.is_empty()).then(|| resumption.differs.join("; "))?;
    let so = if in_blocks {
        "comparisons within a block remain valid"
    } else {
        "do not compare the trials before with those after it"
    };
    let sentence = format!("the machine changed at trial {}: {differs}", resumption.from_trial);
    Some(Verdict::new(Level::Warning, "resumed", sentence).with_effect(so))
}
