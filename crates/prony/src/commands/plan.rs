//! `prony plan`: what would be run, how long it takes, how much it writes.

use std::collections::HashSet;

use anyhow::anyhow;
use record::{Cycle, CycleOf, Lines, SearchRules, Share};
use report::Findable;
use study::{LOOKS, Order, Plan, Stop, Study};

use super::measuring::written_by;
use crate::arguments::Format;
use crate::exit::{Exit, Failure};
use crate::lacks::lacks;
use crate::placement;
use crate::progress::levels_beside;
use crate::session::{self, Surveyed};
use crate::terminal;

/// Prints the plan of a study, with the blocks that a gain takes.
pub(crate) fn print(study: &Study, gain: Option<Share>, format: Format) -> Result<Exit, Failure> {
    if format.csv {
        return Err(Failure::usage(anyhow!("a plan is printed as text or with --json. Remove --csv")));
    }
    let mut plan = Plan::of(study).map_err(Failure::usage)?;
    let survey = session::survey(study, &mut plan)?;
    runner::look_at_databases(&plan)?;
    plan.notes.iter().for_each(|note| tell!("{note}"));
    if format.json {
        let document = json(study, &plan, gain, &survey);
        terminal::print_json(&(serde_json::to_string_pretty(&document).map_err(Failure::runtime)? + "\n"))?;
    } else {
        let findable = findable(study, &plan).map(|findable| findable.sentences(gain, "--noise"));
        let summary = summary(study, &plan, &survey).into_iter().chain(findable.into_iter().flatten());
        terminal::print(&Lines::each(summary.chain([String::new()]).chain(trials(study, &plan))))?;
    }
    Ok(Exit::Pass)
}

/// What the study can find; none where it compares nothing.
fn findable(study: &Study, plan: &Plan) -> Option<Findable> {
    let first = || plan.trials.iter().filter(|trial| trial.planned.block == 1);
    let combinations = first().filter(|trial| !trial.planned.aa).count();
    let twice = first().any(|trial| trial.planned.aa);
    Findable::of(plan.design.as_ref()?, combinations, twice, study.noise)
}

fn json(study: &Study, plan: &Plan, gain: Option<Share>, survey: &Surveyed) -> serde_json::Value {
    let trials: Vec<serde_json::Value> = plan
        .trials
        .iter()
        .map(|trial| {
            serde_json::json!({
                "trial": trial.planned,
                "pause_s": trial.pause.as_seconds(),
                "parameters": trial.work.any().parameters(),
            })
        })
        .collect();
    serde_json::json!({
        "title": study.title,
        "targets": targets(plan),
        "notes": plan.notes,
        "search": search_rules(study, plan),
        "search_s": search_rules(study, plan).map(|rules| search_times_s(&rules, plan)),
        "duration_s": plan.duration().as_seconds(),
        "takes_about_s": Takes::of(plan, survey).all_s(),
        "duration_at_least_s": plan.shortest_duration().map(|shortest| shortest.as_seconds()),
        "may_end_earlier": plan.stop != Stop::Never,
        "finds": findable(study, plan),
        "blocks_for_gain": gain.and_then(|gain| findable(study, plan)?.blocks_for(gain.value())),
        "besides": besides(plan),
        "fill_bytes": survey.fill_bytes(),
        "writing_s": plan.writing().as_seconds(),
        "servers": survey.servers,
        "clusters": survey.clusters,
        "lab": survey.lab,
        "servers_s": servers_s(plan),
        "warnings": survey
            .warnings()
            .cloned()
            .chain(found_elsewhere(plan))
            .chain(lacks(study, plan))
            .chain(placement::remarks(study, plan, &survey.servers))
            .collect::<Vec<_>>(),
        "trials": trials,
    })
}

fn search_rules(study: &Study, plan: &Plan) -> Option<SearchRules> {
    plan.trials.iter().find_map(|trial| trial.search_rules(study, trial.default_checkpoint_s()))
}

/// The plan in a few lines.
pub(crate) fn summary(study: &Study, plan: &Plan, survey: &Surveyed) -> Vec<String> {
    let targets = targets(plan);
    let number = plan.trials.len();
    let what = match (search_rules(study, plan), number) {
        (Some(_), 1) => "a search".to_owned(),
        (Some(_), number) => format!("{number} searches"),
        (None, 1) => "1 trial".to_owned(),
        (None, number) => format!("{number} trials"),
    };
    let mut lines = vec![format!("{}: {what} on {}", study.title, targets.join(", "))];
    lines.extend(found_elsewhere(plan));
    match search_rules(study, plan) {
        Some(rules) => lines.extend(search_time(&rules, plan)),
        None => lines.push(time(plan, survey)),
    }
    lines.extend(looks(study, plan));
    lines.extend(written(study, plan, survey));
    lines.extend(survey.lab.iter().flat_map(report::lab_lines));
    lines.extend(report::started_servers(&survey.servers));
    lines.extend(report::loaded_clusters(&survey.clusters));
    if study.quick {
        lines.push("Quick run: times are shortened".to_owned());
    }
    lines.extend(commands(study));
    lines.extend(survey.warnings().cloned());
    lines.extend(lacks(study, plan));
    lines.extend(placement::remarks(study, plan, &survey.servers));
    lines
}

/// Which addresses are not as they were written, since variables or files say the rest of where the server is.
fn found_elsewhere(plan: &Plan) -> Vec<String> {
    let urls = plan.trials.iter().flat_map(|trial| trial.databases()).map(|database| database.url);
    let told =
        urls.filter(|url| !url.taken().is_empty()).map(|url| format!("{url}: {}", url.taken().join(", ")));
    let mut found: Vec<String> = told.collect();
    found.dedup();
    found
}

/// What a shell will run. A study may have come with a results directory of others.
fn commands(study: &Study) -> impl Iterator<Item = String> + '_ {
    let given = [("before", &study.before), ("after", &study.after)];
    let given = given.into_iter().filter_map(|(when, command)| Some((when, command.as_ref()?)));
    given.map(|(when, command)| format!("Shell command {when} each trial: {command}"))
}

/// Bytes of test files that are written per second.
const FILLED_PER_S: f64 = 400e6;

/// Seconds to begin a run and to write its report.
const RUN_S: f64 = 1.0;

/// How long a plan takes, in seconds, as far as that can be said beforehand.
struct Takes {
    /// Warm-ups, windows and pauses.
    load_s: f64,
    /// The same where it ends at its first look.
    load_least_s: Option<f64>,
    files_s: f64,
    servers_s: f64,
    /// To load databases, to drain, to count and to restore.
    around_s: f64,
}

impl Takes {
    fn of(plan: &Plan, survey: &Surveyed) -> Self {
        Self {
            load_s: plan.duration().as_seconds(),
            load_least_s: plan.shortest_duration().map(|shortest| shortest.as_seconds()),
            files_s: survey.fill_bytes() as f64 / FILLED_PER_S,
            servers_s: servers_s(plan),
            around_s: plan.around_s().iter().fold(RUN_S, |sum, seconds| sum + seconds),
        }
    }

    fn besides_s(&self) -> f64 {
        self.files_s + self.servers_s + self.around_s
    }

    fn all_s(&self) -> f64 {
        self.load_s + self.besides_s()
    }
}

/// What is less is not told apart.
const TOLD_S: f64 = 0.5;

/// `Time: about 39 s (25 s of load, about 3 s for test files, about 11 s to prepare, drain and count)`.
fn time(plan: &Plan, survey: &Surveyed) -> String {
    let takes = Takes::of(plan, survey);
    let all = match (&plan.stop, takes.load_least_s) {
        (_, Some(least_s)) => {
            let share = least_s / takes.load_s;
            let least_s = least_s + takes.files_s + takes.servers_s + takes.around_s * share;
            format!("about {} to {}", about(least_s), about(takes.all_s()))
        }
        (Stop::Never, None) => format!("about {}", about(takes.all_s())),
        (Stop::PastLatency(_) | Stop::WhenSteady | Stop::WhenSettled, None) => {
            format!("at most about {}", about(takes.all_s()))
        }
    };
    let besides = besides(plan);
    let around = match besides.as_slice() {
        [] => String::new(),
        all => format!(", {}", all.join(", ")),
    };
    let parts = [
        (takes.files_s, "for test files".to_owned()),
        (takes.servers_s, "to start servers and to test their limits".to_owned()),
        (takes.around_s, format!("to prepare, drain and count{around}")),
    ];
    let told = parts.iter().filter(|(seconds, _)| *seconds >= TOLD_S);
    let told: String = told.map(|(seconds, what)| format!(", about {} {what}", about(*seconds))).collect();
    format!("Time: {all} ({} of load{told})", report::format::duration(takes.load_s))
}

/// A duration in whole seconds: more digits would make the estimate look like a measurement.
fn about(seconds: f64) -> String {
    match seconds.round() {
        ..10.0 => format!("{:.0} s", seconds.max(1.0)),
        seconds => report::format::duration(seconds),
    }
}

/// `to load 1000 messages`: what takes time besides, and no phase has.
fn besides(plan: &Plan) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    for words in plan.trials.iter().filter_map(|trial| trial.work.any().besides()) {
        if !told.contains(&words) {
            told.push(words);
        }
    }
    told
}

/// Time to start servers and to prove their limits, in seconds.
fn servers_s(plan: &Plan) -> f64 {
    // The sum of nothing is minus zero.
    runner::preparation_s(plan).iter().fold(0.0, |sum, seconds| sum + seconds)
}

/// When a study ends that ends once all is settled.
fn looks(study: &Study, plan: &Plan) -> Option<String> {
    let first = LOOKS.start();
    (plan.stop == Stop::WhenSettled).then(|| {
        format!(
            "Stops when all comparisons are decided: after {first} to {} blocks, checked after each block",
            study.blocks
        )
    })
}

/// The time of a search is told for servers that hold what it begins with, and so many times as much.
const FASTER: f64 = 100.0;

/// Time that the searches of a plan take, in seconds: where the first rate is held and its double is not, where a hundred times
/// as much is, and of the most steps that there may be.
fn search_times_s(rules: &SearchRules, plan: &Plan) -> [f64; 3] {
    let [slow, fast] = [1.0, FASTER].map(|times| rules.time_on_s(times * rules.start_per_s));
    let searches = plan.trials.len() as f64;
    [slow, fast, rules.time_at_most_s()].map(|time_s| time_s * searches + servers_s(plan))
}

fn search_time(rules: &SearchRules, plan: &Plan) -> Vec<String> {
    let duration = report::format::duration;
    let figure = |times: f64| report::format::figure(times * rules.start_per_s);
    let [slow, fast, most] = search_times_s(rules, plan).map(|seconds| duration(seconds.round()));
    let confirmations = match rules.confirmations_of {
        of if of > rules.confirmations => format!("{} of {of}", rules.confirmations),
        _ => rules.confirmations.to_string(),
    };
    let long = rules.confirm_for_s.map(|long_s| format!(", then one of {}", duration(long_s)));
    let long = long.unwrap_or_default();
    let mut lines = vec![
        format!(
            "Time: about {slow} if the sustained rate is {} records/s, {fast} if it is {} ({most} at most)",
            figure(1.0),
            figure(FASTER)
        ),
        format!(
            "Search: steps of {} from {} records/s. A failed step is repeated once",
            duration(rules.step_s),
            figure(1.0)
        ),
        format!("Confirmation: {confirmations} of {} must pass{long}", duration(rules.confirm_s)),
    ];
    if let Some(Cycle { length_s, of: CycleOf::Checkpoint }) = rules.cycle {
        lines.push(format!(
            "Lengths: one checkpoint interval, {} by default. prony reads the server's setting when the search starts",
            duration(length_s)
        ));
    }
    lines
}

/// `Writes: 16 MiB of test files (deleted at the end)`, with one more line for each further item.
fn written(study: &Study, plan: &Plan, survey: &Surveyed) -> Vec<String> {
    let mut parts = written_to_disk(plan, survey);
    parts.extend(written_to_databases(study, plan));
    if parts.is_empty() {
        parts.push("nothing".to_owned());
    }
    let label = |number: usize| if number == 0 { "Writes:" } else { "" };
    parts.into_iter().enumerate().map(|(number, part)| format!("{:<7} {part}", label(number))).collect()
}

/// What is written to databases, each once.
fn written_to_databases(study: &Study, plan: &Plan) -> Vec<String> {
    let mut seen = HashSet::new();
    let databases = plan.databases().into_iter();
    let parts = databases
        .filter_map(|(database, trial)| Some(written_by(&trial.work, study, plan, &database)?.words));
    parts.filter(|part| seen.insert(part.clone())).collect()
}

/// Everything that trials are run against, each once.
fn targets(plan: &Plan) -> Vec<String> {
    let mut seen = HashSet::new();
    let places = plan.trials.iter().flat_map(|trial| trial.places());
    places.filter(|place| seen.insert(place.clone())).collect()
}

fn written_to_disk(plan: &Plan, survey: &Surveyed) -> Vec<String> {
    let fill_bytes = survey.fill_bytes();
    let mut parts = Vec::new();
    if fill_bytes > 0 {
        let fate = if survey.leaves_nothing() { "deleted at the end" } else { "kept" };
        parts.push(format!("{} of test files ({fate})", report::format::bytes(fill_bytes)));
    }
    let mut bounded_bytes = 0.0;
    let mut unbounded_s = 0.0;
    let jobs = plan.trials.iter().filter_map(|trial| trial.work.job::<disk::Settings>());
    for job in jobs.filter(|job| job.writes() && job.needs_files()) {
        let seconds = job.phases.end_ns() as f64 / 1e9;
        match job.pacing.rate_per_s() {
            Some(rate) => bounded_bytes += rate * seconds * (1.0 - job.read_share) * job.block_bytes as f64,
            None => unbounded_s += seconds,
        }
    }
    if bounded_bytes > 0.0 {
        parts.push(format!("{} at the given rates", report::format::bytes(bounded_bytes as u64)));
    }
    if unbounded_s > 0.0 {
        parts.push(format!(
            "{} at full speed ({} at 500 MB/s)",
            report::format::duration(unbounded_s),
            report::format::bytes((unbounded_s * 5e8) as u64)
        ));
    }
    parts
}

/// Columns of the names of trials, and of those that are longer, which are broken at words.
const NAME_COLUMNS: usize = 28;
const NAME_COLUMNS_MOST: usize = 44;

/// Columns in which all names have room: the longest one's, or those of the longest word where that is broken.
fn name_width<'a>(names: impl Iterator<Item = &'a str> + Clone) -> usize {
    let widest = |lines: Vec<String>| lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let needed = |columns: usize| {
        names.clone().map(|name| widest(report::wrapped(&record::shown(name), columns))).max().unwrap_or(0)
    };
    needed(NAME_COLUMNS_MOST).max(NAME_COLUMNS)
}

/// A line a trial. Blocks are alike but for their order, so only the first one is listed.
fn trials(study: &Study, plan: &Plan) -> Vec<String> {
    let mut lines = Vec::new();
    let rounds = study.order != Order::Repeats && study.blocks > 1;
    let listed = || plan.trials.iter().filter(|trial| !rounds || trial.planned.block == 1);
    let width = name_width(listed().map(|trial| trial.planned.name.as_str()));
    for trial in listed() {
        let levels = levels_beside(&trial.planned.name, &trial.planned.levels);
        let line = trial.work.any().line();
        let name = report::wrapped(&record::shown(&trial.planned.name), width);
        let (first, rest) = name.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
        lines.push(format!(
            "{:>5}  {first:<width$} {line} {:>6}{levels}{}",
            trial.planned.number,
            trial.work.any().phases().measure.to_string(),
            if trial.planned.aa { "  the reference again" } else { "" }
        ));
        lines.extend(rest.iter().map(|more| format!("{:>5}  {more}", "")));
    }
    if rounds {
        let order = match study.order {
            Order::Blocks => ", each in a different order",
            Order::Abba => ", every second one in reverse order",
            Order::Given | Order::Repeats => "",
        };
        let rounds = if study.blocks == 2 {
            "1 more round".to_owned()
        } else {
            let at_most = if plan.stop == Stop::WhenSettled { "at most " } else { "" };
            format!("{at_most}{} more rounds", study.blocks - 1)
        };
        lines.push(format!("and {rounds} of these{order}"));
    }
    lines
}
