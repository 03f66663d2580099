//! `prony plan`: what would be run, how long it takes, how much it writes.

use std::fmt::Write as _;

use anyhow::anyhow;
use disk::Survey;
use load::Size;
use study::{Order, Plan, Stop, Study};

use crate::arguments::Format;
use crate::exit::{Exit, Failure};
use crate::session;

/// Prints the plan of a study.
pub(crate) fn print(study: &Study, format: Format) -> Result<Exit, Failure> {
    if format.csv {
        return Err(Failure::usage(anyhow!("a plan is printed as text or with --json; leave out --csv")));
    }
    let plan = Plan::of(study).map_err(Failure::usage)?;
    let survey = Survey::of(&study.target.paths, &plan.jobs())?;
    let text = if format.json {
        let document = json(study, &plan, &survey);
        serde_json::to_string_pretty(&document).map_err(Failure::runtime)? + "\n"
    } else {
        format!("{}\n\n{}", summary(study, &plan, &survey), trials(study, &plan))
    };
    session::print(|out| out.write_all(text.as_bytes()))?;
    Ok(Exit::Pass)
}

fn json(study: &Study, plan: &Plan, survey: &Survey) -> serde_json::Value {
    let trials: Vec<serde_json::Value> = plan
        .trials
        .iter()
        .map(|trial| {
            serde_json::json!({
                "trial": trial.planned,
                "pause_s": trial.pause.as_seconds(),
                "parameters": trial.settings,
            })
        })
        .collect();
    serde_json::json!({
        "title": study.title,
        "paths": study.target.paths,
        "duration_s": plan.duration().as_seconds(),
        "may_end_earlier": plan.stop != Stop::Never,
        "fill_bytes": survey.fill_bytes(&plan.jobs()),
        "writing_s": plan.writing().as_seconds(),
        "warnings": survey.warnings,
        "trials": trials,
    })
}

/// The plan in a few lines.
pub(crate) fn summary(study: &Study, plan: &Plan, survey: &Survey) -> String {
    let paths: Vec<String> = study.target.paths.iter().map(|path| path.display().to_string()).collect();
    let number = plan.trials.len();
    let mut lines = vec![format!(
        "{}: {number} {} on {}",
        study.title,
        if number == 1 { "trial" } else { "trials" },
        paths.join(", ")
    )];
    let upto = if plan.stop == Stop::Never { "" } else { "at most " };
    let duration = report::format::duration(plan.duration().as_seconds());
    let fills = survey.fill_bytes(&plan.jobs()) > 0;
    let preparation = if fills { ", and the time to write the test files" } else { "" };
    lines.push(format!("takes {upto}{duration}{preparation}"));
    lines.push(format!("writes {}", written(plan, survey)));
    lines.extend(survey.warnings.iter().cloned());
    lines.join("\n")
}

fn written(plan: &Plan, survey: &Survey) -> String {
    let fill_bytes = survey.fill_bytes(&plan.jobs());
    let mut parts = Vec::new();
    if fill_bytes > 0 {
        let fate = if survey.leaves_nothing() { "which vanish at the end" } else { "which stay" };
        parts.push(format!("{} of test files, {fate}", report::format::bytes(fill_bytes)));
    }
    let mut bounded_bytes = 0.0;
    let mut unbounded_s = 0.0;
    for job in plan.trials.iter().map(|trial| &trial.job).filter(|job| job.writes() && job.needs_files()) {
        let seconds = job.phases.end_ns() as f64 / 1e9;
        match job.pacing.rate_per_s() {
            Some(rate) => bounded_bytes += rate * seconds * (1.0 - job.read_share) * job.block_bytes as f64,
            None => unbounded_s += seconds,
        }
    }
    if bounded_bytes > 0.0 {
        parts.push(format!("{} at the rates asked for", report::format::bytes(bounded_bytes as u64)));
    }
    if unbounded_s > 0.0 {
        parts.push(format!(
            "for {} as fast as the disk takes it (at 500 MB/s that is {})",
            report::format::duration(unbounded_s),
            report::format::bytes((unbounded_s * 5e8) as u64)
        ));
    }
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(", then ") }
}

/// A line a trial. Rounds are alike, so only the first one is listed.
fn trials(study: &Study, plan: &Plan) -> String {
    let mut text = String::new();
    let rounds = study.order == Order::Passes && study.blocks > 1;
    for trial in plan.trials.iter().filter(|trial| !rounds || trial.planned.block == 1) {
        let levels: Vec<String> =
            trial.planned.levels.iter().map(|(key, level)| format!("{key}={level}")).collect();
        let job = &trial.job;
        let _ = writeln!(
            text,
            "{:>5}  {:<28} {:>8}  {:>3.0} % reads  Q{:<3} T{:<3} {:>6} {}",
            trial.planned.number,
            trial.planned.name,
            Size(job.block_bytes).to_string(),
            job.read_share * 100.0,
            job.outstanding,
            job.threads,
            job.phases.measure.to_string(),
            levels.join(" ")
        );
    }
    if rounds {
        let _ = writeln!(text, "and {} more rounds of these", study.blocks - 1);
    }
    text
}
