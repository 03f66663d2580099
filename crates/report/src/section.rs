//! Tables with what stands around them, as a list that the text report and the page both print.

use crate::budget;
use crate::clusters;
use crate::faults;
use crate::lab;
use crate::percentile;
use crate::replicas;
use crate::report::Report;
use crate::started;
use crate::table::Table;
use crate::workloads::{self, Shown};
use record::Workload;

/// What belongs together, and where it stands.
pub(crate) struct Section {
    pub(crate) place: Place,
    pub(crate) blocks: Vec<Block>,
}

/// Where a section stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Among the figures of all workloads, which come first.
    Figures,
    /// Under a heading of its own, with its anchor on the page.
    Own { anchor: &'static str, heading: &'static str },
    /// Beside what others published, which comes last.
    Published,
}

impl Place {
    /// Order of the places.
    pub(crate) fn rank(self) -> u8 {
        match self {
            Self::Figures => 0,
            Self::Own { .. } => 1,
            Self::Published => 2,
        }
    }
}

/// One table, or sentences.
pub(crate) enum Block {
    /// The table that all others explain. A terminal shows it without a title: what it is, the verdicts say.
    Main {
        table: Table,
        legend: String,
    },
    Table(Table),
    /// A table whose first rows were measured here.
    Beside {
        table: Table,
        measured: usize,
    },
    /// A table that a page shows when it is asked to.
    Folded {
        summary: String,
        table: Table,
    },
    /// A table that only a page has room for, and shows when it is asked to.
    OnPage {
        summary: String,
        table: Table,
    },
    /// A table whose rows are what held or not: what, whether, and why, with the colour of each.
    Outcomes {
        table: Table,
        classes: Vec<&'static str>,
    },
    /// A sentence that is to be read with what stands above.
    Remark(String),
    /// Sentences, and where figures come from.
    Notes {
        sentences: Vec<String>,
        sources: Vec<String>,
    },
}

impl Block {
    /// The table that all others explain, with what its columns mean.
    pub(crate) fn main(table: Table) -> Self {
        let legend = table.legend();
        Self::Main { table, legend }
    }

    /// What its table is called; none of sentences.
    pub(crate) fn title(&self) -> Option<&str> {
        match self {
            Self::Main { table, .. }
            | Self::Table(table)
            | Self::Beside { table, .. }
            | Self::Outcomes { table, .. } => Some(&table.title),
            Self::Folded { summary, .. } | Self::OnPage { summary, .. } => Some(summary),
            Self::Remark(_) | Self::Notes { .. } => None,
        }
    }
}

/// The sections of all workloads, in their order.
pub(crate) fn all(report: &Report) -> Vec<(Workload, Section)> {
    let of = |(workload, shown): (Workload, &'static dyn Shown)| {
        let mut sections = shown.sections(report);
        if let Some(figures) = sections.iter_mut().find(|section| section.place == Place::Figures) {
            figures.blocks.extend(faults::blocks(report, workload));
            figures.blocks.extend(budget::blocks(report, workload));
            figures.blocks.extend(replicas::blocks(report, workload));
            figures.blocks.extend(percentile::blocks(report, workload));
            figures.blocks.extend(started::blocks(report, workload));
            figures.blocks.extend(clusters::blocks(report, workload));
            figures.blocks.extend(lab::block(report).filter(|_| report.trials_of(workload).next().is_some()));
        }
        sections.into_iter().map(move |section| (workload, section))
    };
    workloads::all().flat_map(of).filter(|(_, section)| !section.blocks.is_empty()).collect()
}
