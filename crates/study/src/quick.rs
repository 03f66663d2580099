//! A quick look at a study that has none of its own: fewer blocks, shorter times, smaller files.

use load::Size;
use toml::Value;

use crate::expand;
use crate::plan::Work;
use crate::study::Study;

/// Blocks of a quick look: one to see, one to see whether it comes again.
const BLOCKS: u32 = 2;
/// Test files of a quick look.
const FILE_SIZE: Size = Size::mib(256);

/// Time between two purges in a quick look, so that some fit into it.
const PURGE_INTERVAL: &str = "5s";

/// Times that a quick look sets, by workload; a configuration's own give way.
pub(crate) const TIMES: [(&str, &str); 6] = [
    ("workload.disk.warm_up", "500ms"),
    ("workload.disk.duration", "2s"),
    ("workload.historian.warm_up", "4s"),
    ("workload.historian.duration", "10s"),
    ("workload.orders.warmup_time", "2s"),
    ("workload.orders.run_time", "8s"),
];

/// What a quick look lays over a study, as dotted keys and their values.
pub(crate) fn look(study: &Study) -> Vec<(String, Value)> {
    let points = expand::points(study).unwrap_or_default();
    let kinds: Vec<&str> = points
        .iter()
        .map(|point| match point.work {
            Work::Disk { .. } => "workload.disk.",
            Work::Historian { .. } => "workload.historian.",
            Work::Orders { .. } => "workload.orders.",
        })
        .collect();
    let mut look: Vec<(String, Value)> = vec![
        ("blocks".to_owned(), i64::from(study.blocks.min(BLOCKS)).into()),
        ("cool_down".to_owned(), "0s".into()),
    ];
    let times = TIMES.into_iter().filter(|(key, _)| kinds.iter().any(|kind| key.starts_with(kind)));
    look.extend(times.map(|(key, time)| (key.to_owned(), time.into())));
    if kinds.contains(&"workload.disk.") {
        let size = study.workload.disk.file_size.map_or(FILE_SIZE, |size| Size(size.0.min(FILE_SIZE.0)));
        look.push(("workload.disk.file_size".to_owned(), size.to_string().into()));
    }
    let purges = |point: &expand::Point| match &point.work {
        Work::Historian { settings, .. } => settings.maintenance_interval.is_some(),
        Work::Disk { .. } | Work::Orders { .. } => false,
    };
    if points.iter().any(purges) {
        look.push(("workload.historian.maintenance_interval".to_owned(), PURGE_INTERVAL.into()));
    }
    if study.search.is_some() {
        look.extend([
            ("search.confirm".to_owned(), "24s".into()),
            ("search.confirmations".to_owned(), 1.into()),
            ("search.cool_down".to_owned(), "0s".into()),
        ]);
    }
    look
}
