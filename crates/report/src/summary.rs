//! What a reader is told first: the answer, how far to trust it, what limits it as far as that is known, and what to do next.
//!
//! All of it follows from the verdicts and figures; nothing is judged here a second time.

use record::{Command, Lines, Mention, Parameter, State, shown};

use crate::comparison::{Outcome, THRESHOLD, ThresholdResult};
use crate::format;
use crate::inspect::Inspection;
use crate::limit;
use crate::report::Report;
use crate::verdict::{Level, Verdict, outcome};
use crate::workloads::{self, InShort, Shown};

/// Lines of the whole, with the path of the report below it.
const LINES_MOST: usize = 14;
/// Columns of it: those of a terminal as it comes.
const WIDTH_MOST: usize = 80;
/// Columns of the words that stand before it.
const LABEL: usize = 9;
/// Doubts that are told; the rest is counted.
const REASONS_MOST: usize = 1;

/// The first screen.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Summary {
    /// What was measured, sentences.
    pub(crate) answers: Vec<String>,
    /// The first of them that are told in any case, where they are plain words.
    plain: usize,
    pub(crate) trust: Trust,
    /// Why that much and no more.
    pub(crate) because: Vec<String>,
    /// The same without what a table has: the first doubt by its name, and in how many trials it is.
    brief: Vec<String>,
    /// What set the figures, as far as the record tells.
    pub(crate) limit: String,
    limit_in_brief: String,
    /// The worst of what was found of the settings of machine and servers.
    pub(crate) settings: Option<String>,
    pub(crate) next: Option<String>,
}

/// How far figures can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Trust {
    /// Repeated, and nothing speaks against them.
    Good,
    /// Measured once, or with a doubt on some of them.
    Fair,
    /// Not complete, shortened, invalid, or with a doubt on half of them or more.
    Poor,
}

impl Trust {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Fair => "fair",
            Self::Poor => "poor",
        }
    }
}

impl Summary {
    pub(crate) fn of(report: &Report) -> Self {
        let trust = trust(report);
        let (mut answers, plain) = answers(report, trust);
        if answers.is_empty() {
            answers = without_figures(report);
        }
        let because = because(report, trust, &answers);
        let brief = doubts_in_brief(report, &answers);
        let limit = limited_by(report);
        Self {
            answers,
            plain,
            trust,
            because,
            brief,
            limit_in_brief: limit::brief(report.trials.iter())
                .filter(|_| limit::told(report.trials.iter()).is_some_and(|told| told == limit))
                .unwrap_or_else(|| limit.clone()),
            limit,
            settings: report.inspection.as_ref().and_then(Inspection::in_brief),
            next: next(report, trust),
        }
    }

    /// So many answers at most, but all that are in plain words, and the rest.
    pub(crate) fn foremost(&self, most: usize) -> (&[String], &[String]) {
        self.answers.split_at(most.max(self.plain).min(self.answers.len()))
    }

    /// What to do next where nobody types: commands in words.
    pub(crate) fn next_in_words(&self) -> Option<String> {
        let words = |parameter: &Parameter<'_>| match &parameter.value {
            Some(value) => format!("{} {value}", parameter.name()),
            None => parameter.name().to_owned(),
        };
        let spelled = |mention: &Mention<'_>| match mention {
            Mention::Parameter(parameter) => words(parameter),
            Mention::Command(command) if command.parameters.is_empty() => format!("prony {}", command.name),
            Mention::Command(command) => {
                let with: Vec<String> = command.parameters.iter().map(words).collect();
                format!("prony {} with {}", command.name, with.join(", "))
            }
        };
        self.next.as_ref().map(|next| record::spelled(next, spelled).into_owned())
    }

    /// `fair: noisy (2 of 10 trials), and one more warning`.
    fn trust_in_brief(&self) -> String {
        match self.brief.as_slice() {
            [] => self.trust_words(),
            brief => format!("{}: {}", self.trust.word(), brief.join(", and ")),
        }
    }

    /// `poor: 8 of 10 trials: 83 % to 98 % of all cores were busy with other work; …`.
    pub(crate) fn trust_words(&self) -> String {
        let because = self.because.join("; ");
        if because.is_empty() {
            self.trust.word().to_owned()
        } else {
            format!("{}: {because}", self.trust.word())
        }
    }
}

/// Rule of the headline that is stored before the verdicts.
const HEADLINE: &str = "headline";
/// Letters of a headline in a list of runs.
const HEADLINE_LETTERS: usize = 200;

impl Report {
    /// What a list of runs says of this one: its first answer, how many trials do not count, and how far to trust it.
    #[must_use]
    pub fn headline(&self) -> Verdict {
        let summary = Summary::of(self);
        let answer = summary.answers.first().map_or("nothing was measured", String::as_str);
        let mut headline: String = answer.trim_end_matches('.').chars().take(HEADLINE_LETTERS).collect();
        if headline.len() < answer.trim_end_matches('.').len() {
            headline.push('…');
        }
        let of = |state: State| self.trials.iter().filter(|trial| trial.state == state).count();
        let states = [(of(State::Failed), "failed"), (of(State::Invalid), "invalid")];
        let run = trials_run(self);
        for (count, word) in states.into_iter().filter(|(count, _)| *count > 0) {
            headline += &format!("; {count} of {run} trials {word}");
        }
        headline += &format!("; trust {}", summary.trust.word());
        Verdict::new(Level::Finding, HEADLINE, headline)
    }

    /// The first screen as text: at most fifteen lines with that of the report's path, on which nothing is cut but the number
    /// of answers. `spelled` gives a sentence with its commands as they are typed.
    #[must_use]
    pub fn brief(&self, width: Option<u16>, spelled: impl Fn(&str) -> String) -> Lines {
        let summary = Summary::of(self);
        let width = width.map_or(WIDTH_MOST, usize::from).clamp(40, WIDTH_MOST);
        let print = |label: &str, text: &str| labelled(label, text, width);
        let settings = summary.settings.iter().map(|found| format!("{found}; the report says what to do"));
        let settings = settings.flat_map(|found| print("settings", &found));
        let next = summary.next.iter().flat_map(|next| print("next", &spelled(next)));
        let next: Vec<String> = settings.chain(next).collect();
        let ending =
            |trust: &str, limit: &str| [print("trust", trust), print("limit", limit), next.clone()].concat();
        let mut lines = format::wrapped(&shown(&self.heading()), width);
        let answers: usize = summary.answers.iter().map(|answer| print("", answer).len()).sum();
        let room = |ending: &[String]| LINES_MOST.saturating_sub(lines.len() + ending.len());
        let mut ended = ending(&summary.trust_words(), &summary.limit);
        if answers > room(&ended) {
            // What they leave out stands on the page.
            ended = ending(&summary.trust_in_brief(), &summary.limit_in_brief);
        }
        let room = room(&ended);
        lines.extend(told(&summary.answers, summary.plain, room, |answer| print("", answer)));
        lines.extend(ended);
        Lines::of(&(lines.join("\n") + "\n"))
    }
}

/// A text beside its label, or beside nothing, without what would make it two sentences.
fn labelled(label: &str, text: &str, width: usize) -> Vec<String> {
    let text = format!("{}.", text.trim_end_matches('.'));
    let wrapped = format::wrapped(&shown(&text), width - LABEL);
    let label = |index| if index == 0 { label } else { "" };
    wrapped.iter().enumerate().map(|(index, line)| format!("{:<LABEL$}{line}", label(index))).collect()
}

/// As many answers as there is room for, at least one; the rest is counted. Those after the first `plain` are told and counted where room
/// is left.
fn told(answers: &[String], plain: usize, room: usize, print: impl Fn(&str) -> Vec<String>) -> Vec<String> {
    let printed: Vec<Vec<String>> = answers.iter().map(|answer| print(answer)).collect();
    let length = |upto: usize| -> usize { printed[..upto].iter().map(Vec::len).sum() };
    let more = |index: usize| {
        let more = format::counted(answers.len() - index, "more finding is", "more findings are");
        print(&format!("{more} in the report"))
    };
    // The line that counts is one.
    let fits = |upto: usize| length(upto) + usize::from(upto < answers.len()) <= room;
    let upto = (1..=answers.len()).rev().find(|&upto| fits(upto)).unwrap_or(1).min(answers.len());
    let plain = plain.min(answers.len());
    // Rather all plain words than a line that counts the rest.
    if upto < plain && length(plain) <= room {
        return printed[..plain].concat();
    }
    let rest = if upto < answers.len() { more(upto) } else { Vec::new() };
    [printed[..upto].concat(), rest].concat()
}

/// What failed first, then what was found, and how many of them are told in any case. Where a workload says it in plain words, its
/// findings stay in the tables.
fn answers(report: &Report, trust: Trust) -> (Vec<String>, usize) {
    let of = |level: Level| report.verdicts.iter().filter(move |verdict| verdict.level == level);
    let failures = of(Level::Failure).filter(|verdict| verdict.rule != THRESHOLD);
    let mut answers: Vec<String> = failures.map(|verdict| verdict.sentence.clone()).collect();
    let thresholds = thresholds(report);
    let judged = thresholds.len();
    answers.extend(thresholds);
    let plain: Vec<(&'static dyn Shown, Vec<String>)> = workloads::all()
        .map(|(_, shown)| (shown, shown.answers(report)))
        .filter(|(_, answers)| !answers.is_empty())
        .collect();
    answers.extend(in_plain_words(report, trust, &plain));
    let told = if plain.is_empty() { judged } else { answers.len() };
    answers.extend(invalid_figures(report));
    let is_told = |verdict: &Verdict| {
        plain.iter().any(|(shown, _)| shown.words().headlines.contains(&verdict.rule.as_str()))
    };
    let is_rate = |verdict: &Verdict| {
        workloads::all().any(|(_, shown)| shown.words().headlines.contains(&verdict.rule.as_str()))
    };
    let found = of(Level::Finding).filter(|verdict| verdict.rule != THRESHOLD && !is_told(verdict));
    let (rates, others): (Vec<&Verdict>, Vec<&Verdict>) = found.partition(|verdict| is_rate(verdict));
    // Beside what is said in plain words, a figure and whose it is are enough.
    match rates.iter().map(|verdict| figure(verdict)).collect::<Option<Vec<&str>>>() {
        Some(short) if !plain.is_empty() && !short.is_empty() => answers.push(short.join("; ")),
        _ => answers.extend(rates.iter().map(|verdict| verdict.sentence.clone())),
    }
    answers.extend(others.iter().map(|verdict| verdict.sentence.clone()));
    (answers, told)
}

/// Invalid trials whose figures are told.
const INVALID_MOST: usize = 3;

/// What invalid trials came to, where no valid one has their name: marked, since it does not count.
fn invalid_figures(report: &Report) -> Vec<String> {
    let is_known = |name: &str| report.configurations.iter().any(|configuration| configuration.name == name);
    let invalid =
        report.trials.iter().filter(|trial| trial.state == State::Invalid && trial.search.is_none());
    let told = invalid.filter(|trial| !is_known(&trial.name)).filter_map(|trial| {
        let rate = outcome::rate_in_words(trial)?;
        Some(format!("{}: {rate} (invalid, does not count)", trial.name))
    });
    told.take(INVALID_MOST).collect()
}

/// Thresholds with a sentence each; more of them share a sentence for each result.
const THRESHOLDS_MOST: usize = 3;

/// Every threshold that was asked for, with its result.
fn thresholds(report: &Report) -> Vec<String> {
    let all = || report.comparison.iter().flat_map(|compared| &compared.thresholds).chain(&report.thresholds);
    if all().count() <= THRESHOLDS_MOST {
        let told =
            |one: &ThresholdResult| format!("Threshold {} {}: {}", one.text, result(one.outcome), one.why);
        return all().map(told).collect();
    }
    let of = |outcome: Outcome| {
        let texts: Vec<&str> =
            all().filter(|one| one.outcome == outcome).map(|one| one.text.as_str()).collect();
        (!texts.is_empty())
            .then(|| format!("{} thresholds {}: {}", texts.len(), result(outcome), texts.join("; ")))
    };
    [Outcome::Failed, Outcome::Inconclusive, Outcome::Held].into_iter().filter_map(of).collect()
}

fn result(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Failed => "failed",
        Outcome::Inconclusive => "inconclusive",
        Outcome::Held => "passed",
    }
}

/// Where there is no figure that counts: why, as each trial says it, those that were left out too.
fn without_figures(report: &Report) -> Vec<String> {
    let ended = report.verdicts.iter().filter(|verdict| verdict.rule == outcome::ENDED_EARLY);
    let why: Vec<String> = ended.map(|verdict| verdict.sentence.clone()).collect();
    if !why.is_empty() {
        return why;
    }
    let mut reasons: Vec<&str> = Vec::new();
    for trial in report.trials.iter().filter(|trial| trial.state == State::Skipped) {
        let reason = trial.reason.as_deref().map(|reason| reason.trim_end_matches('.'));
        reasons.extend(reason.filter(|reason| !reasons.contains(reason)));
    }
    let why = if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join("; ")) };
    vec![format!("nothing was measured{why}")]
}

/// What workloads came to; where several did on one database, a sentence a database. What that means is told at the end.
fn in_plain_words(report: &Report, trust: Trust, plain: &[(&'static dyn Shown, Vec<String>)]) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut databases: Vec<(String, Vec<String>)> = Vec::new();
    for (shown, answers) in plain {
        let short = if plain.len() > 1 { shown.in_short(report) } else { Vec::new() };
        if short.is_empty() {
            sentences.extend_from_slice(answers);
        }
        for InShort { database, does, with } in short {
            let with = if with.is_empty() { String::new() } else { format!(" ({})", with.join("; ")) };
            let does = format!("{does}{with}");
            match databases.iter_mut().find(|(name, _)| *name == database) {
                Some((_, all)) => all.push(does),
                None => databases.push((database, vec![does])),
            }
        }
    }
    let one = |(name, does): &(String, Vec<String>)| format!("{name}: {}", does.join(", "));
    sentences.extend(databases.iter().map(one));
    sentences.extend(plain.iter().flat_map(|(shown, _)| shown.bottom_line(report, trust)));
    sentences
}

/// `historian on SQLite: 17,200 records/s`.
fn figure(verdict: &Verdict) -> Option<&str> {
    let figure = verdict.figure.as_deref()?;
    let end = verdict.sentence.find(figure)? + figure.len();
    Some(&verdict.sentence[..end])
}

/// What speaks against the figures. A threshold that failed is a result, and no reason to distrust it.
fn doubts(report: &Report) -> Vec<&Verdict> {
    let is_doubt = |verdict: &&Verdict| {
        matches!(verdict.level, Level::Failure | Level::Warning) && verdict.rule != THRESHOLD
    };
    report.verdicts.iter().filter(is_doubt).collect()
}

/// The doubts that no answer says.
fn untold<'a>(report: &'a Report, answers: &[String]) -> Vec<&'a Verdict> {
    let is_told = |doubt: &&Verdict| answers.iter().any(|answer| gist(answer) == gist(&doubt.sentence));
    let mut doubts: Vec<&Verdict> = doubts(report).into_iter().filter(|doubt| !is_told(doubt)).collect();
    // That figures do not count is graver than what else is wrong with them.
    doubts.sort_by_key(|doubt| (doubt.level, doubt.rule != outcome::ENDED_EARLY));
    doubts
}

/// Trials that were begun.
fn trials_run(report: &Report) -> usize {
    report.trials.iter().filter(|trial| trial.has_run()).count()
}

fn trust(report: &Report) -> Trust {
    let doubts = doubts(report);
    let run = trials_run(report);
    let wide = |doubt: &&Verdict| doubt.trials.len() * 2 >= run.max(1);
    let broken = report.state != State::Complete
        || report.quick
        || doubts.iter().any(|doubt| doubt.level == Level::Failure)
        || report.trials.iter().any(|trial| matches!(trial.state, State::Failed | State::Invalid));
    match doubts.is_empty() {
        _ if was_nothing_measured(report) || broken || doubts.iter().any(wide) => Trust::Poor,
        true if !is_measured_once(report) => Trust::Good,
        _ => Trust::Fair,
    }
}

fn was_nothing_measured(report: &Report) -> bool {
    trials_run(report) == 0 && !report.trials.is_empty()
}

fn is_measured_once(report: &Report) -> bool {
    report.searches.is_empty()
        && report.configurations.iter().any(|configuration| configuration.trials.len() == 1)
}

/// Why figures can be trusted that far and no further: whole sentences, of doubts those that no answer says.
fn because(report: &Report, trust: Trust, answers: &[String]) -> Vec<String> {
    if was_nothing_measured(report) {
        return vec!["nothing was measured, and each trial says why it was left out".to_owned()];
    }
    let doubts = untold(report, answers);
    let mut because: Vec<String> =
        doubts.iter().take(REASONS_MOST).map(|doubt| gist(&doubt.sentence)).collect();
    if report.quick && !report.searches.is_empty() {
        // Of other runs it is the first doubt.
        because.insert(0, "a quick look, whose times are shortened".to_owned());
    }
    let more = doubts.len().saturating_sub(REASONS_MOST);
    because.extend((more > 0).then(|| more_warnings(more)));
    if because.is_empty() {
        because.extend(match trust {
            Trust::Good => None,
            Trust::Fair if is_measured_once(report) => {
                Some("measured once, so that it is not known how far runs differ".to_owned())
            }
            Trust::Fair | Trust::Poor => Some(what_broke(report)),
        });
    }
    because
}

fn more_warnings(more: usize) -> String {
    if more == 1 { "one more warning".to_owned() } else { format!("{more} more warnings") }
}

/// What makes a run poor whose doubts are its answers.
fn what_broke(report: &Report) -> String {
    let run = trials_run(report);
    let of = |state: State| report.trials.iter().filter(|trial| trial.state == state).count();
    match (of(State::Failed), of(State::Invalid)) {
        (0, 0) if report.state != State::Complete => "the run did not come to its end".to_owned(),
        (0, 0) => "see above".to_owned(),
        (0, 1) => format!("1 of {run} trials is invalid"),
        (0, invalid) => format!("{invalid} of {run} trials are invalid"),
        (failed, _) => format!("{failed} of {run} trials failed"),
    }
}

/// The first doubt in as few words as there are, and how many more there are; nothing where the first is graver than a doubt.
fn doubts_in_brief(report: &Report, answers: &[String]) -> Vec<String> {
    let doubts = untold(report, answers);
    let Some(first) = doubts.first().filter(|first| first.level == Level::Warning) else { return Vec::new() };
    let gist = gist(&first.sentence);
    let measured = trials_run(report);
    let named = match (gist.split_once(": "), first.trials.len()) {
        _ if report.quick => "a quick look".to_owned(),
        // Of what is no trial's, what it is of says too little.
        (_, 0) | (None, _) => gist.splitn(3, ": ").take(2).collect::<Vec<_>>().join(": "),
        (Some((_, rest)), of) if of == measured => format!("{} (all {of} trials)", head(rest)),
        (Some((_, rest)), of) => format!("{} ({of} of {measured} trials)", head(rest)),
    };
    let more = doubts.len() - 1;
    let more = (more > 0).then(|| more_warnings(more));
    std::iter::once(named).chain(more).collect()
}

/// What is said before it is explained.
fn head(gist: &str) -> &str {
    gist.split(": ").next().unwrap_or(gist)
}

/// A sentence without what explains it: until its first semicolon, and without what stands in brackets.
fn gist(sentence: &str) -> String {
    let head = sentence.split("; ").next().unwrap_or(sentence);
    let mut depth = 0usize;
    let mut gist = String::with_capacity(head.len());
    for letter in head.chars() {
        match letter {
            '(' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            _ if depth == 0 => gist.push(letter),
            _ => {}
        }
    }
    gist.replace(" ,", ",").replace(" :", ":").replace("  ", " ").trim().to_owned()
}

fn limited_by(report: &Report) -> String {
    let limits = || workloads::all().map(|(_, shown)| shown.limits());
    let is_generator = |verdict: &&Verdict| {
        let rule = verdict.rule.as_str();
        rule == "generator_cpu_all"
            || limits()
                .any(|of| rule == of.busy_rule || of.alone.as_ref().is_some_and(|alone| rule == alone.rule))
    };
    if let Some(verdict) = report.verdicts.iter().find(is_generator) {
        return format!("the load generator: {}", gist(&verdict.sentence));
    }
    // What was due and not sent waited behind those that waited for a lock.
    if report.verdicts.iter().any(|verdict| verdict.rule == limit::BLOCKED)
        && let Some(told) = limit::told(report.trials.iter())
    {
        return told;
    }
    if let Some(background) = limit::background(report.trials.iter()) {
        return background;
    }
    let behind = report.trials.iter().find_map(|trial| {
        let rate = trial.offered_rate.filter(|rate| !rate.held && rate.was_behind())?;
        Some(format!("the target: {}", (trial.shown().words().all_in_flight)(rate.slots)))
    });
    let failed = report.searches.iter().find_map(|search| search.failed_because.first());
    if let Some(known) = behind.or_else(|| failed.map(|why| format!("what failed above the rate: {why}"))) {
        return known;
    }
    if !report.limits.is_empty() {
        let says: Vec<&str> = report.limits.iter().map(|limit| limit.says.as_str()).collect();
        return says.join("; ");
    }
    if let Some(told) = limit::told(report.trials.iter()) {
        return told;
    }
    let busy = report.trials.iter().filter_map(|trial| trial.machine.busy_share).reduce(f64::max);
    match busy {
        None => "not known: what the machine did meanwhile was not read".to_owned(),
        Some(most) => format!(
            "not known: no device, lock or processor was seen at its end; of all cores {} were busy at most",
            format::per_cent(most)
        ),
    }
}

/// What the first doubt asks for; without one, what the workload answers next.
fn next(report: &Report, trust: Trust) -> Option<String> {
    if report.state != State::Complete {
        return None;
    }
    if report.quick {
        return Some("measure in full, without what makes it a quick look".to_owned());
    }
    let warnings = report.verdicts.iter().filter(|verdict| verdict.level == Level::Warning);
    let remedy = warnings.filter_map(|warning| warning.remedy.clone()).next();
    let ask = || {
        let of = workloads::all().filter(|(workload, _)| report.trials_of(*workload).next().is_some());
        of.filter_map(|(_, shown)| shown.next(report)).next()
    };
    match (remedy, trust) {
        (Some(remedy), _) => Some(remedy),
        (None, _) if report.comparison.is_some() => None,
        (None, Trust::Fair) => Some(ask().unwrap_or_else(|| {
            format!("repeat it, and see with {} how far runs differ", Command::new("compare"))
        })),
        (None, Trust::Good | Trust::Poor) => ask(),
    }
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;
