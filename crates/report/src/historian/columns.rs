//! What belongs to a trial of a historian as a whole, in the CSV file; counts of events and rows are of the whole trial.

use record::SearchStep;

use crate::csv::{Field, number};
use crate::trial::Trial;

pub(crate) const COLUMNS: [Field; 24] = [
    ("events_offered_per_s", |trial| number(trial.historian()?.offered_per_s?)),
    ("commits_per_s", |trial| number(trial.historian()?.commits_per_s?)),
    ("rows_per_commit", |trial| number(trial.historian()?.rows_per_commit?)),
    ("pending_mean_records", |trial| number(trial.historian()?.pending_mean?)),
    ("pending_max_records", |trial| number(trial.historian()?.pending_max?)),
    ("refused_events", |trial| Some(trial.historian()?.refused.to_string())),
    ("acknowledged_rows", |trial| Some(trial.historian()?.acknowledged.to_string())),
    ("expected_rows", |trial| Some(trial.historian()?.rows_expected.to_string())),
    ("found_rows", |trial| Some(trial.historian()?.rows_found?.to_string())),
    ("drain_s", |trial| number(trial.historian()?.drain_s?)),
    ("outages", |trial| Some(trial.historian()?.outages.len().to_string())),
    ("purges", |trial| Some(trial.historian()?.maintenance.len().to_string())),
    ("purge_s_max", |trial| number(longest_purge_s(trial)?)),
    ("purge_share_of_interval_max", |trial| number(greatest_share(trial)?)),
    ("database_bytes", |trial| Some(trial.historian()?.storage.database_bytes_after?.to_string())),
    ("bytes_per_record", |trial| number(trial.historian()?.storage.bytes_per_record?)),
    ("bytes_per_day", |trial| number(trial.historian()?.storage.bytes_per_day?)),
    ("held", |trial| Some(trial.historian()?.stable?.to_string())),
    ("not_held_because", |trial| Some(trial.historian()?.unstable_because.join("; "))),
    ("search_step", |trial| Some(step(trial.search?).to_owned())),
    ("search_rate_per_s", |trial| number(trial.search?.rate_per_s())),
    ("sustained_per_s", |trial| number(trial.searched?.0.held_per_s)),
    ("sustained_below_per_s", |trial| number(trial.searched?.0.failed_per_s?)),
    ("sustained_confirmed", |trial| Some(trial.searched?.1.to_string())),
];

fn longest_purge_s(trial: &Trial) -> Option<f64> {
    trial.historian()?.maintenance.iter().map(|maintenance| maintenance.run.purge_s).reduce(f64::max)
}

fn greatest_share(trial: &Trial) -> Option<f64> {
    trial.historian()?.maintenance.iter().filter_map(|purge| purge.interval_share).reduce(f64::max)
}

fn step(step: SearchStep) -> &'static str {
    match step {
        SearchStep::Probe { .. } => "probe",
        SearchStep::Confirm { .. } => "confirm",
        SearchStep::Long { .. } => "confirm-long",
    }
}
