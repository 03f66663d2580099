//! How a historian was really set up, and its server: what a commit guarantees comes first.

use record::{HistorianSetup, MaintenanceSetup, ReaderSetup};

use crate::format::{self, grouped, plain, yes};
use crate::verdict::server::served_by;
use crate::workloads::Facts;

pub(crate) fn facts(setup: &HistorianSetup) -> Facts {
    let mut facts = server(setup);
    facts.extend(collecting(setup));
    facts.extend(writing(setup));
    facts.extend(reading(setup.readers.as_ref()));
    facts.extend(purging(setup.maintenance.as_ref()));
    let mut facts: Facts = facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let settings = setup.server.settings.iter();
    facts.extend(settings.map(|setting| (format!("server: {}", setting.name), setting.value.clone())));
    facts
}

type Named = Vec<(&'static str, String)>;

fn server(setup: &HistorianSetup) -> Named {
    let server = &setup.server;
    let mut facts = vec![
        ("durability", server.durability.clone()),
        ("committed rows survive a power loss", yes(server.is_durable)),
        ("server", server.version.clone()),
        ("target", setup.target.clone()),
        ("database of our own", setup.database.clone()),
        ("data directory", server.data_directory.clone().unwrap_or_else(|| "not known".to_owned())),
    ];
    facts.extend(server.link.as_ref().map(|link| ("connection", link.words())));
    facts.extend(served_by(server).map(|words| ("served by", words)));
    facts
}

fn collecting(setup: &HistorianSetup) -> Named {
    let calibration = setup
        .calibration
        .map(|c| format!("{} ns per event", format::figure(c.generator_ns_per_operation)))
        .unwrap_or_else(|| "not calibrated".to_owned());
    vec![
        ("source of events", setup.source.clone()),
        ("tags", grouped(setup.tags.into())),
        ("loop", format::pacing(setup.pacing)),
        ("seed", setup.seed.to_string()),
        ("collecting and buffering only", calibration),
    ]
}

fn writing(setup: &HistorianSetup) -> Named {
    let limit = setup.p99_limit_ms.map_or_else(|| "none".to_owned(), |ms| format::plain_latency(ms * 1e3));
    let partition = setup.partition_s.map_or_else(|| "none".to_owned(), format::duration);
    vec![
        ("buffer holds at most", format!("{} events", grouped(setup.max_buffered_events))),
        ("records per batch", grouped(setup.flush_rows.into())),
        ("a smaller batch is written after", format::plain_latency(setup.flush_interval_ms * 1e3)),
        ("events wait for sorting for", format::plain_latency(setup.time_sorting_period_ms * 1e3)),
        ("writers", setup.writers.to_string()),
        ("written by", format!("{} ({})", setup.write_statement, setup.write_method.replace('_', "-"))),
        ("index over tag and time", yes(setup.index)),
        ("partitions", partition),
        ("p99 limit from event to commit", limit),
        ("rows in the table at the start", grouped(setup.rows_before)),
    ]
}

fn reading(readers: Option<&ReaderSetup>) -> Named {
    let Some(readers) = readers else { return vec![("screens", "none".to_owned())] };
    vec![
        (
            "screens",
            format!(
                "{}, the next every {}, {} tags each",
                readers.screens,
                format::duration(readers.screen_interval_s),
                readers.screen_tags
            ),
        ),
        ("time window of a screen", format::duration(readers.trend_window_s)),
        ("latest values every", format::duration(readers.latest_interval_s)),
    ]
}

fn purging(maintenance: Option<&MaintenanceSetup>) -> Named {
    let Some(maintenance) = maintenance else { return vec![("purge", "none".to_owned())] };
    let how = maintenance.purge_rows.map_or_else(
        || "drops partitions".to_owned(),
        |rows| format!("deletes {} rows per statement", plain(rows as f64)),
    );
    vec![
        ("purge", format!("every {}, {how}", format::duration(maintenance.interval_s))),
        ("retention of rows", format::duration(maintenance.retention_s)),
        ("shrink after each purge", yes(maintenance.shrink)),
    ]
}
