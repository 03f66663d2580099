//! What disks came to that had each of their pages checked: whether this storage kept what it acknowledged.

use record::{Finding, MarkKind, Phase, Verified};

use crate::format;
use crate::report::Report;
use crate::section::{Block, Place, Section};
use crate::table::{Column, Row, Table};
use crate::trial::Trial;
use crate::verdict::{Level, Verdict};

/// Rule of what was verified.
pub(super) const VERIFIED: &str = "verified";

/// Trials that checked their pages.
fn trials(report: &Report) -> impl Iterator<Item = (&Trial, &Verified)> {
    report.trials.iter().filter_map(|trial| Some((trial, trial.verified()?)))
}

/// One sentence a trial, and what speaks against too much trust in it.
pub(super) fn all(report: &Report) -> Vec<Verdict> {
    trials(report).flat_map(|(trial, verified)| of(trial, verified)).collect()
}

fn of(trial: &Trial, verified: &Verified) -> Vec<Verdict> {
    let about =
        |level, rule, sentence| Verdict { trials: vec![trial.number], ..Verdict::new(level, rule, sentence) };
    let damaged = format!("{} damaged", format::grouped(verified.damaged()));
    let sentence = format!("{}: {}", trial.name, verified.sentence());
    let mut verdicts = vec![Verdict { figure: Some(damaged), ..about(Level::Finding, VERIFIED, sentence) }];
    if verified.checked < verified.pages {
        let sentence = format!(
            "{}: {} of {} pages were checked at least once; of the others nothing is known",
            trial.name,
            format::grouped(verified.checked),
            format::grouped(verified.pages)
        );
        let verdict = about(Level::Warning, "coverage", sentence);
        verdicts.push(verdict.with_remedy("let it come to its end"));
    }
    if let Some(audited_s) = audited_s(trial) {
        let sentence = format!(
            "{}: audits took {} of the {} measured; rates are over all of it, and how steady they are is judged without the audits",
            trial.name,
            format::duration(audited_s),
            format::duration(trial.measured_s)
        );
        verdicts.push(about(Level::Note, "audits", sentence));
    }
    let cached = trial.disk().is_some_and(|disk| disk.cache.uses_file_cache());
    if cached {
        let sentence = format!(
            "{}: the file cache may have answered reads during the load; audits read what the cache had let go",
            trial.name
        );
        verdicts.push(about(Level::Note, "verified_through_cache", sentence));
    }
    verdicts
}

/// What checking pages came to, where it is a part of several tests whose figures are told in plain words.
pub(super) fn answer(report: &Report, trial: &Trial) -> Option<String> {
    let verified = trial.verified().filter(|_| report.comparison.is_none() && report.trials.len() > 1)?;
    Some(format!("Verified: {}", verified.sentence()))
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
    Table::of("Findings, the first of each thread; with their bytes in findings/", columns, rows)
}

fn finding_cells(trial: &Trial, finding: &Finding) -> Vec<String> {
    let version = |version: Option<u64>| {
        version.map_or_else(|| format::UNKNOWN.to_owned(), |version| version.to_string())
    };
    let again = if finding.recovered { "; right when read again" } else { "" };
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
                format!("{:.0} %", 100.0 * map.checked as f64 / map.pages.max(1) as f64),
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
    Table::of("Coverage: what was checked of each file", columns, rows)
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
