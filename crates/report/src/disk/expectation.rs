//! What the array should give that the device is said to be, beside what was measured.

use record::Manifest;
use serde::Serialize;
use stats::Array;

use crate::configuration::Configuration;

/// An expected and a measured rate.
#[derive(Clone, Debug, Serialize)]
pub struct ExpectedFigure {
    /// `random read` or `random write`.
    pub what: String,
    /// I/Os a second that the array should give.
    pub expected_per_s: f64,
    /// The best configuration of this kind that was measured.
    pub configuration: Option<String>,
    /// Its I/Os a second.
    pub measured_per_s: Option<f64>,
    /// Measured over expected, less one: −0.25 is a quarter too little.
    pub difference_share: Option<f64>,
    /// Whether fewer I/Os were outstanding than the array has disks, so that not all of them can have been busy.
    pub too_few_outstanding: bool,
}

/// The array and its figures, or why it was not understood.
#[derive(Clone, Debug, Serialize)]
pub struct Expectation {
    /// The array as given.
    pub array: String,
    /// Why it was not understood.
    pub error: Option<String>,
    /// Random reads and random writes.
    pub figures: Vec<ExpectedFigure>,
}

pub(crate) fn of(manifest: &Manifest, configurations: &[Configuration]) -> Option<Expectation> {
    let given = manifest.expect.clone()?;
    Some(match given.parse::<Array>() {
        Err(error) => Expectation { array: given, error: Some(error.to_string()), figures: Vec::new() },
        Ok(array) => Expectation {
            array: array.to_string(),
            error: None,
            figures: vec![
                figure("random read", array.random_read_iops(), array.disks(), configurations, 100.0),
                figure("random write", array.random_write_iops(), array.disks(), configurations, 0.0),
            ],
        },
    })
}

fn figure(
    what: &str,
    expected_per_s: f64,
    disks: u32,
    configurations: &[Configuration],
    read_per_cent: f64,
) -> ExpectedFigure {
    let of_this_kind = configurations.iter().filter(|configuration| {
        configuration.disk().is_some_and(|disk| {
            disk.pattern.to_lowercase().starts_with("random")
                && (disk.read_per_cent - read_per_cent).abs() < 1e-9
        })
    });
    let best = of_this_kind
        .filter_map(|configuration| Some((configuration, configuration.main()?.per_s?)))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    ExpectedFigure {
        what: what.to_owned(),
        expected_per_s,
        configuration: best.map(|(configuration, _)| configuration.name.clone()),
        measured_per_s: best.map(|(_, per_s)| per_s),
        difference_share: best.map(|(_, per_s)| per_s / expected_per_s - 1.0),
        too_few_outstanding: best
            .and_then(|(configuration, _)| configuration.disk())
            .is_some_and(|disk| disk.outstanding_total() < u64::from(disks)),
    }
}
