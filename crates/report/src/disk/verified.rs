//! What disks came to that had each of their pages checked: whether this storage kept what it acknowledged.

use record::{Finding, MarkKind, Phase, Verified};

use crate::format;
use crate::report::Report;
use crate::section::{Block, Place, Section};
use crate::summary::Answer;
use crate::table::{Column, Row, Table};
use crate::trial::Trial;
use crate::verdict::{Level, Verdict};

/// Rule of what was verified.
pub(super) const VERIFIED: &str = "verified";

/// Trials that checked their pages.
pub(super) fn trials(report: &Report) -> impl Iterator<Item = (&Trial, &Verified)> {
    report.trials.iter().filter_map(|trial| Some((trial, trial.verified()?)))
}

/// One sentence a trial, and what speaks against too much trust in it.
pub(super) fn all(report: &Report) -> Vec<Verdict> {
    trials(report).flat_map(|(trial, verified)| of(trial, verified)).collect()
}

fn of(trial: &Trial, verified: &Verified) -> Vec<Verdict> {
    let about = |level, rule, fact: String| {
        Verdict::new(level, rule, fact).about(&trial.name).of_trials(vec![trial.number])
    };
    let mut verdicts = vec![about(Level::Finding, VERIFIED, verified.sentence())];
    if verified.checked < verified.pages {
        let fact = format!(
            "{} of {} pages were checked at least once",
            format::grouped(verified.checked),
            format::grouped(verified.pages)
        );
        let verdict =
            about(Level::Warning, "coverage", fact).with_effect("the state of the others is unknown");
        verdicts.push(verdict.with_action("let the run finish"));
    }
    if let Some(audited_s) = audited_s(trial) {
        let (audited, measured) = (format::duration(audited_s), format::duration(trial.measured_s));
        let verdict =
            about(Level::Note, "audits", format!("audits took {audited} of the {measured} measured"));
        verdicts.push(
            verdict.with_effect("throughput includes the audits, but the steadiness check excludes them"),
        );
    }
    if trial.disk().is_some_and(|disk| disk.cache.uses_file_cache()) {
        let fact = "the file cache may have answered reads during the load";
        let verdict = about(Level::Note, "verified_through_cache", fact.to_owned());
        verdicts.push(verdict.with_effect("audits read from the device"));
    }
    verdicts
}

/// The result of checking pages, where it is a part of several tests with results in plain words.
pub(super) fn answer(report: &Report, trial: &Trial) -> Option<Answer> {
    let verified = trial.verified().filter(|_| report.comparison.is_none() && report.trials.len() > 1)?;
    Some(Answer::labelled("Verified", verified.sentence()))
}

/// How long audits interrupted the measured load; none where they did not.
fn audited_s(trial: &Trial) -> Option<f64> {
    let window = || trial.samples.iter().filter(|sample| sample.phase == Phase::Measure);
    let begin_s = window().map(|sample| sample.end_s - sample.length_s).reduce(f64::min)?;
    let end_s = window().map(|sample| sample.end_s).reduce(f64::max)?;
    let audits = trial.beside.marks.iter().filter(|mark| mark.kind == MarkKind::Audit);
    let lengths = audits.map(|mark| mark.end_s.unwrap_or(end_s).min(end_s) - mark.begin_s.max(begin_s));
    let audited_s: f64 = lengths.map(|length_s| length_s.max(0.0)).sum();
    (audited_s > 0.0).then_some(audited_s)
}

/// What was found, and what was looked at.
pub(super) fn section(report: &Report) -> Section {
    let blocks = [findings(report), coverage(report)].into_iter().flatten().map(Block::Table);
    let (anchor, heading) = ("verified", "What was verified");
    Section { place: Place::Own { anchor, heading }, blocks: blocks.collect() }
}

fn findings(report: &Report) -> Option<Table> {
    let rows = trials(report).flat_map(|(trial, verified)| {
        let row = |finding: &Finding| Row::of(finding_cells(trial, finding));
        verified.findings.iter().map(row).collect::<Vec<_>>()
    });
    let columns = vec![
        Column::number("trial"),
        Column::words("what"),
        Column::words("file"),
        Column::number("offset"),
        Column::number("page"),
        Column::number("expected"),
        Column::number("found"),
        Column { spare: 1, ..Column::number("at s") },
        Column::words("detail"),
    ];
    Table::of("Findings: the first of each thread. Their bytes are in findings/", columns, rows)
}

fn finding_cells(trial: &Trial, finding: &Finding) -> Vec<String> {
    let version = |version: Option<u64>| {
        version.map_or_else(|| format::UNKNOWN.to_owned(), |version| version.to_string())
    };
    let again = if finding.recovered { "; correct when read again" } else { "" };
    vec![
        trial.number.to_string(),
        finding.damage.to_string(),
        finding.path.clone(),
        finding.offset.to_string(),
        finding.page.to_string(),
        version(finding.expected.map(|[_, newest]| newest)),
        version(finding.found),
        format!("{:.1}", finding.at_s),
        format!("{}{again}", finding.detail),
    ]
}

fn coverage(report: &Report) -> Option<Table> {
    let rows = trials(report).flat_map(|(trial, verified)| {
        let row = |map: &record::verify::FileMap| {
            let mean = map.checks.iter().sum::<f64>() / map.checks.len().max(1) as f64;
            Row::of(vec![
                trial.number.to_string(),
                map.path.clone(),
                map.first.to_string(),
                format::grouped(map.pages),
                format!("{:.0}%", 100.0 * map.checked as f64 / map.pages.max(1) as f64),
                format!("{mean:.1}"),
                drawn(map),
            ])
        };
        verified.map.iter().map(row).collect::<Vec<_>>()
    });
    let columns = vec![
        Column::number("trial"),
        Column::words("file"),
        Column::number("from page"),
        Column::number("pages"),
        Column::number("checked"),
        Column::number("times each"),
        Column { spare: 1, ..Column::words("map: . checked, - in part, X damaged") },
    ];
    Table::of("Coverage: checked pages of each file", columns, rows)
}

/// A sign for each equal part of a file.
fn drawn(map: &record::verify::FileMap) -> String {
    let sign = |(damaged, checks): (&u64, &f64)| match (*damaged, *checks) {
        (1.., _) => 'X',
        (0, checks) if checks >= 1.0 => '.',
        (0, checks) if checks > 0.0 => '-',
        (0, _) => ' ',
    };
    map.damaged.iter().zip(&map.checks).map(sign).collect()
}
