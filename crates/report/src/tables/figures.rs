//! What a configuration came to over its repeats, and against the reference.

use std::collections::BTreeMap;

use record::{Setup, TableOperation, TablesSetup, Workload};

use super::Tables;
use crate::configuration::Configuration;
use crate::format::{self, figure};
use crate::report::Report;
use crate::trial::Trial;

/// A figure that each kind of table has.
pub(super) struct Measure {
    /// Name of the metric in comparisons.
    pub(super) metric: &'static str,
    /// `UPDATE all`.
    pub(super) head: &'static str,
    pub(super) meaning: &'static str,
    /// Rank for omission when space is scarce; see [`crate::table::Column`].
    pub(super) spare: u8,
    pub(super) of: fn(&Tables) -> Option<f64>,
    pub(super) print: fn(f64) -> String,
    /// True if more is better.
    pub(super) is_rate: bool,
}

impl Measure {
    const fn taken(
        metric: &'static str,
        head: &'static str,
        (meaning, spare): (&'static str, u8),
        of: fn(&Tables) -> Option<f64>,
    ) -> Self {
        Self { metric, head, meaning, spare, of, print: format::duration, is_rate: false }
    }

    const fn rate(
        metric: &'static str,
        head: &'static str,
        (meaning, spare): (&'static str, u8),
        of: fn(&Tables) -> Option<f64>,
    ) -> Self {
        Self { metric, head, meaning, spare, of, print: figure, is_rate: true }
    }

    const fn size(
        metric: &'static str,
        head: &'static str,
        (meaning, spare): (&'static str, u8),
        of: fn(&Tables) -> Option<f64>,
    ) -> Self {
        Self { metric, head, meaning, spare, of, print: |bytes| format::bytes(bytes as u64), is_rate: false }
    }

    /// How many times better than the reference the configuration is. Returns none for the reference itself.
    pub(super) fn times_better(&self, one: &Against<'_>, report: &Report) -> Option<f64> {
        let times = one.times_reference(report, self.of)?;
        Some(if self.is_rate { times } else { 1.0 / times })
    }
}

/// The timed operations of each kind of table, in the order of their execution.
pub(super) const OPERATIONS: [Measure; 8] = [
    Measure::taken("load_s", "load", ("time to insert all rows", 0), |of| of.seconds(TableOperation::Load)),
    Measure::taken("select_s", "SELECT", ("time of a SELECT by value", 1), |of| {
        of.seconds(TableOperation::Select)
    }),
    Measure::taken("scan_s", "scan", ("time to read and sum all rows", 0), |of| {
        of.seconds(TableOperation::Scan)
    }),
    Measure::taken("group_s", "GROUP BY", ("time to group and sum all rows", 1), |of| {
        of.seconds(TableOperation::Group)
    }),
    Measure::taken("update_all_s", "UPDATE all", ("time to change one column of all rows", 0), |of| {
        of.seconds(TableOperation::UpdateAll)
    }),
    Measure::rate(UPDATES_PER_S, "updates/s", ("updates by key per second, all clients together", 0), |of| {
        of.per_s(TableOperation::PointUpdate)
    }),
    Measure::rate(
        "point_deletes_per_s",
        "deletes/s",
        ("deletes by key per second, all clients together", 1),
        |of| of.per_s(TableOperation::PointDelete),
    ),
    Measure::taken("delete_all_s", "DELETE all", ("time to delete the remaining rows", 1), |of| {
        of.seconds(TableOperation::DeleteAll)
    }),
];

/// Main metric of a trial of a table.
pub(super) const UPDATES_PER_S: &str = "point_updates_per_s";

/// The space that a table uses.
pub(super) const SIZES: [Measure; 2] = [
    Measure::size("table_disk_mb", "on disk", ("size after the load, with indexes", 1), |of| {
        Some(of.size.disk_bytes? as f64)
    }),
    Measure::size("table_memory_mb", "in memory", ("size after the load, for tables in memory", 2), |of| {
        Some(of.size.memory_bytes? as f64)
    }),
];

/// The kind that others are set against, and the one in its place where an engine has no rows.
const REFERENCES: [&str; 2] = ["row", "columnstore"];

/// A configuration with its reference, all else equal.
pub(super) struct Against<'a> {
    pub(super) configuration: &'a Configuration,
    pub(super) setup: &'a TablesSetup,
    /// None of the reference itself, and where it was not measured.
    pub(super) reference: Option<&'a Configuration>,
}

/// All configurations of tables.
pub(super) fn all(report: &Report) -> Vec<Against<'_>> {
    report
        .configurations_of(Workload::Tables)
        .filter_map(|configuration| {
            let own = configuration.setup.as_ref().and_then(Setup::tables)?;
            let of_kind = |kind: &'static str| {
                let is_it = |other: &&Configuration| {
                    let setup = other.setup.as_ref().and_then(Setup::tables);
                    let is_same = same_levels(&other.levels, &configuration.levels);
                    is_same && setup.is_some_and(|setup| setup.kind == kind && is_alike(setup, own))
                };
                report.configurations_of(Workload::Tables).find(is_it).map(|found| (kind, found))
            };
            let reference = REFERENCES.into_iter().find_map(of_kind);
            let reference = reference.filter(|(kind, _)| own.kind != *kind).map(|(_, found)| found);
            Some(Against { configuration, setup: own, reference })
        })
        .collect()
}

/// Whether two configurations are at the same levels of every axis but that of kinds.
fn same_levels(one: &BTreeMap<String, String>, other: &BTreeMap<String, String>) -> bool {
    let is_other = |(name, _): &(&String, &String)| name.as_str() != "kind" && !name.ends_with(".kind");
    one.iter().filter(is_other).eq(other.iter().filter(is_other))
}

/// Whether the setups of two trials differ in nothing but the kind of their table.
fn is_alike(a: &TablesSetup, b: &TablesSetup) -> bool {
    let of = |setup: &TablesSetup| {
        let TablesSetup { target, access, rows, batch_rows, point_deletes, clients, .. } = setup;
        (target.clone(), access.clone(), [*rows, *batch_rows, *point_deletes, u64::from(*clients)])
    };
    of(a) == of(b)
}

impl Against<'_> {
    /// The tables of the trials that count.
    pub(super) fn tables<'r>(&'r self, report: &'r Report) -> impl Iterator<Item = &'r Tables> {
        self.configuration.measured_in(&report.trials).filter_map(Trial::tables)
    }

    /// Kind of table of the reference. Returns none for the reference itself.
    pub(super) fn reference_kind(&self) -> Option<&str> {
        let setup = self.reference?.setup.as_ref().and_then(Setup::tables)?;
        Some(&setup.kind)
    }

    /// The mean of a figure over the repeats.
    pub(super) fn mean(&self, report: &Report, figure: impl Fn(&Tables) -> Option<f64>) -> Option<f64> {
        mean(self.configuration, report, &figure)
    }

    /// How many times as much it is as of the reference: the geometric mean of what the blocks have, as wherever kinds are compared.
    pub(super) fn times_reference(
        &self,
        report: &Report,
        figure: impl Fn(&Tables) -> Option<f64>,
    ) -> Option<f64> {
        let own: Vec<&Trial> = self.configuration.measured_in(&report.trials).collect();
        let of_reference = self.reference?.measured_in(&report.trials);
        let in_block = |reference: &Trial| {
            let own = own.iter().find(|own| own.block == reference.block)?;
            let (own, reference) = (figure(own.tables()?)?, figure(reference.tables()?)?);
            (own > 0.0 && reference > 0.0).then_some(own / reference)
        };
        stats::geometric_mean(&of_reference.filter_map(in_block).collect::<Vec<f64>>())
    }
}

fn mean(
    configuration: &Configuration,
    report: &Report,
    figure: &impl Fn(&Tables) -> Option<f64>,
) -> Option<f64> {
    let runs = configuration.measured_in(&report.trials).filter_map(Trial::tables);
    stats::mean(&runs.filter_map(figure).collect::<Vec<f64>>())
}
