//! What a configuration came to over its repeats, and against the reference.

use std::collections::BTreeMap;

use record::{Setup, TablesSetup, Workload};

use super::Tables;
use crate::configuration::Configuration;
use crate::report::Report;
use crate::trial::Trial;

/// The kind that others are set against, and the one in its place where an engine has no rows.
const REFERENCES: [&str; 2] = ["row", "columnstore"];

/// A configuration with its reference, all else equal.
pub(super) struct Against<'a> {
    pub(super) configuration: &'a Configuration,
    pub(super) setup: &'a TablesSetup,
    /// None of the reference itself, and where it was not measured.
    reference: Option<&'a Configuration>,
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
