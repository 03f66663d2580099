//! The first screen: the results, how far to trust them, the bottleneck as far as it is known, and the next step.
//!
//! All of it follows from verdicts and figures. Nothing is judged here a second time.

use record::{Command, Labels, Lines, State, shown};

use crate::comparison::{Outcome, THRESHOLD, ThresholdResult};
use crate::format;
use crate::inspect::Inspection;
use crate::limit;
use crate::report::Report;
use crate::table::Table;
use crate::text;
use crate::trial::Trial;
use crate::verdict::{Level, Verdict, outcome};
use crate::workloads::{self, InShort, Shown};

/// Lines of the whole. The path of the report stands below them.
const LINES_MOST: usize = 11;
/// Columns of it, as many as a terminal has at first.
const WIDTH_MOST: usize = 80;
/// Columns of the labels.
const LABEL: usize = 15;
/// Columns by which the labels of results are indented.
const INDENT: usize = 2;

/// The first screen.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Summary {
    /// What was measured.
    pub(crate) answers: Vec<Answer>,
    /// The first of them, which are printed in any case where they are plain words.
    plain: usize,
    pub(crate) reliability: Reliability,
    /// The gravest doubt and the number of others, or why the reliability is not high without a doubt.
    pub(crate) because: Option<String>,
    /// The same with the whole fact and its effect, for a page.
    in_full: Option<String>,
    /// The same without figures.
    brief: Option<String>,
    /// What limited the figures, as far as the record shows.
    pub(crate) bottleneck: String,
    bottleneck_in_brief: String,
    /// The worst of what was found of the settings of machine and servers.
    pub(crate) settings: Option<String>,
    pub(crate) next: Option<String>,
}

/// One result on the first screen: a label of one or two words, and a clause without a full stop.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    /// `Commits`; empty where the text says what it is about.
    pub(crate) label: String,
    pub(crate) text: String,
    /// The verdicts that it prints, by their place in the report.
    pub(crate) verdicts: Vec<usize>,
    /// The same answer as a table. A terminal prints the table instead.
    pub(crate) table: Option<Table>,
}

impl Answer {
    pub(crate) fn labelled(label: impl Into<String>, text: impl Into<String>) -> Self {
        Self { label: label.into(), text: text.into(), verdicts: Vec::new(), table: None }
    }

    /// `Commits: 919/s, 1.09 ms each`, where no column of labels is.
    pub(crate) fn sentence(&self) -> String {
        let colon = if self.label.is_empty() { "" } else { ": " };
        format!("{}{colon}{}", self.label, self.text)
    }
}

/// How far figures can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reliability {
    /// Repeated, and no doubt.
    High,
    /// Measured once, or with a doubt on some of them.
    Medium,
    /// Not complete, shortened, invalid, or with a doubt on half of them or more.
    Low,
}

impl Reliability {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }
}

impl Summary {
    pub(crate) fn of(report: &Report) -> Self {
        let reliability = reliability(report);
        let (mut answers, plain) = answers(report, reliability);
        if answers.is_empty() {
            answers = without_figures(report);
        }
        let doubts = unprinted(report, &answers);
        let bottleneck = bottleneck(report);
        Self {
            plain,
            reliability,
            because: because(report, reliability, &doubts, doubt_in_words),
            in_full: because(report, reliability, &doubts, doubt_in_full),
            brief: in_brief(report, &doubts),
            bottleneck_in_brief: limit::brief(report.trials.iter())
                .filter(|_| limit::told(report.trials.iter()).is_some_and(|told| told == bottleneck))
                .unwrap_or_else(|| bottleneck.clone()),
            bottleneck,
            settings: report.inspection.as_ref().and_then(Inspection::in_brief),
            next: next(report, reliability),
            answers,
        }
    }

    /// So many answers at most, but all that are in plain words, and the rest.
    pub(crate) fn foremost(&self, most: usize) -> (&[Answer], &[Answer]) {
        self.answers.split_at(most.max(self.plain).min(self.answers.len()))
    }

    /// `low: background CPU load, all 10 trials: 83–98% of all CPUs were busy with other programs (+4 warnings)`.
    pub(crate) fn reliability_words(&self) -> String {
        self.reliability_because(self.because.as_ref())
    }

    /// The text after the word of the reliability: `: background CPU load, all 10 trials`.
    pub(crate) fn reliability_reason(&self) -> String {
        self.in_full.as_ref().map(|because| format!(": {because}")).unwrap_or_default()
    }

    fn reliability_because(&self, because: Option<&String>) -> String {
        let because = because.map(|because| format!(": {because}")).unwrap_or_default();
        format!("{}{because}", self.reliability.word())
    }
}

/// Rule of the headline that is stored before the verdicts.
const HEADLINE: &str = "headline";
/// Letters of a headline in a list of runs.
const HEADLINE_LETTERS: usize = 200;

impl Report {
    /// One line for a list of runs: the first result, the number of trials that do not count, and the reliability.
    #[must_use]
    pub fn headline(&self) -> Verdict {
        let summary = Summary::of(self);
        let answer =
            summary.answers.first().map_or_else(|| "nothing was measured".to_owned(), Answer::sentence);
        let answer = answer.trim_end_matches('.');
        let mut headline: String = answer.chars().take(HEADLINE_LETTERS).collect();
        if headline.len() < answer.len() {
            headline.push('…');
        }
        let of = |state: State| self.trials.iter().filter(|trial| trial.state == state).count();
        let states = [(of(State::Failed), "failed"), (of(State::Invalid), "invalid")];
        let run = trials_run(self);
        for (count, word) in states.into_iter().filter(|(count, _)| *count > 0) {
            headline += &format!("; {count} of {run} trials {word}");
        }
        headline += &format!("; reliability {}", summary.reliability.word());
        Verdict::new(Level::Finding, HEADLINE, headline)
    }

    /// The first screen as text: at most twelve lines, including the line with the report's path. Only the number of answers is cut.
    /// The user's title and comment are extra lines, so they displace no answer.
    #[must_use]
    pub fn brief(&self, width: Option<u16>) -> Lines {
        let summary = Summary::of(self);
        let width = width.map_or(WIDTH_MOST, usize::from).clamp(40, WIDTH_MOST);
        let print = |label: &str, text: &str| labelled(label, text, width);
        let answer = |answer: &Answer| match &answer.table {
            Some(table) => indented(text::unruled(table, width - INDENT)),
            None => print(&format!("{:INDENT$}{}", "", answer.label), &answer.text),
        };
        let settings = summary.settings.iter().flat_map(|found| print("Settings", found));
        let next = summary.next.iter().flat_map(|next| print("Next", next));
        let next: Vec<String> = settings.chain(next).collect();
        let ending = |reliability: &str, bottleneck: &str| {
            [print("Reliability", reliability), print("Bottleneck", bottleneck), next.clone()].concat()
        };
        let mut lines = format::wrapped(&shown(&self.heading()), width);
        let needed: usize = summary.answers.iter().map(|one| answer(one).len()).sum();
        let room = |ending: &[String]| LINES_MOST.saturating_sub(lines.len() + ending.len());
        let mut ended = ending(&summary.reliability_words(), &summary.bottleneck);
        if needed > room(&ended) {
            // The page has all of it.
            let brief = summary.brief.as_ref().or(summary.because.as_ref());
            ended = ending(&summary.reliability_because(brief), &summary.bottleneck_in_brief);
        }
        let room = room(&ended);
        let more = |count: usize| {
            let text = format!("{} in the report", format::counted(count, "more result", "more results"));
            print("", &text)
        };
        lines.extend(commented(&self.labels, width));
        lines.extend(fitted(&summary.answers, summary.plain, room, answer, more));
        lines.extend(ended);
        let title = self.labels.title.iter().flat_map(|title| format::wrapped(&shown(title), width));
        let lines: Vec<String> = title.chain(lines).collect();
        Lines::of(&(lines.join("\n") + "\n"))
    }
}

fn indented(lines: Vec<String>) -> Vec<String> {
    lines.into_iter().map(|line| format!("{:INDENT$}{line}", "")).collect()
}

/// The lines of the user's comment with their label. The indentation shows that they are not lines of prony.
pub(crate) fn commented(labels: &Labels, width: usize) -> Vec<String> {
    let lines = labels.comment_lines().enumerate();
    let print = |(index, line): (usize, &str)| {
        let label = if index == 0 { "Comment" } else { "" };
        beside(label, format::wrapped(&shown(line), width - LABEL))
    };
    lines.flat_map(print).map(|line| line.trim_end().to_owned()).collect()
}

/// A text beside its label. A label that is too long for its column is a part of the text.
fn labelled(label: &str, text: &str, width: usize) -> Vec<String> {
    let is_long = label.chars().count() + INDENT > LABEL;
    let text = if is_long { format!("{}: {text}", label.trim_start()) } else { text.to_owned() };
    let wrapped = format::wrapped(&shown(text.trim_end_matches('.')), width - LABEL);
    beside(if is_long { "" } else { label }, wrapped)
}

/// The lines, with a label before the first one.
fn beside(label: &str, lines: Vec<String>) -> Vec<String> {
    let label = |index| if index == 0 { label } else { "" };
    lines.iter().enumerate().map(|(index, line)| format!("{:<LABEL$}{line}", label(index))).collect()
}

/// As many answers as there is room for, at least one; the rest is counted. The first `plain` are printed in any case, and the rest is
/// not counted where there is no room.
fn fitted<T>(
    answers: &[T],
    plain: usize,
    room: usize,
    print: impl Fn(&T) -> Vec<String>,
    more: impl Fn(usize) -> Vec<String>,
) -> Vec<String> {
    let printed: Vec<Vec<String>> = answers.iter().map(print).collect();
    let length = |upto: usize| -> usize { printed[..upto].iter().map(Vec::len).sum() };
    // The line that counts is one.
    let fits = |upto: usize| length(upto) + usize::from(upto < answers.len()) <= room;
    let upto = (1..=answers.len()).rev().find(|&upto| fits(upto)).unwrap_or(1).min(answers.len());
    let plain = plain.min(answers.len());
    // Rather all plain words than a line that counts the rest.
    if upto < plain && length(plain) <= room {
        return printed[..plain].concat();
    }
    let rest = if upto < answers.len() { more(answers.len() - upto) } else { Vec::new() };
    [printed[..upto].concat(), rest].concat()
}

/// Failures first, then thresholds, then what was found, and how many of them are printed in any case. Where a workload has plain
/// words, its findings stay in the tables.
fn answers(report: &Report, reliability: Reliability) -> (Vec<Answer>, usize) {
    let of =
        |level: Level| report.verdicts.iter().enumerate().filter(move |(_, verdict)| verdict.level == level);
    let is_threshold = |verdict: &Verdict| verdict.rule == THRESHOLD;
    let failures = of(Level::Failure).filter(|(_, verdict)| !is_threshold(verdict));
    let mut answers: Vec<Answer> = failures.map(|one| whole("Failed", one)).collect();
    let thresholds = thresholds(report);
    let judged = thresholds.len();
    answers.extend(thresholds);
    let plain: Vec<(&'static dyn Shown, Vec<Answer>)> = workloads::all()
        .map(|(_, shown)| (shown, shown.answers(report)))
        .filter(|(_, answers)| !answers.is_empty())
        .collect();
    answers.extend(in_plain_words(report, reliability, &plain));
    let in_any_case = if plain.is_empty() { judged } else { answers.len() };
    answers.extend(invalid_figures(report));
    let is_of_plain_words = |verdict: &Verdict| {
        plain.iter().any(|(shown, _)| shown.words().headlines.contains(&verdict.rule.as_str()))
    };
    let found =
        of(Level::Finding).filter(|(_, verdict)| !is_threshold(verdict) && !is_of_plain_words(verdict));
    let (rates, others): (Vec<_>, Vec<_>) = found.partition(|(_, verdict)| is_headline(verdict));
    // Beside plain words, a figure and its owner are enough.
    let short: Option<Vec<String>> = rates.iter().map(|(_, verdict)| up_to_figure(verdict)).collect();
    match short {
        Some(short) if !plain.is_empty() && !short.is_empty() => {
            let verdicts = rates.iter().map(|(place, _)| *place).collect();
            answers.push(Answer { verdicts, ..Answer::labelled("Also", short.join("; ")) });
        }
        _ => answers.extend(rates.into_iter().map(|one| whole("Result", one))),
    }
    answers.extend(others.into_iter().map(|one| whole("Result", one)));
    for later in (1..answers.len()).rev() {
        if answers[later].label == answers[later - 1].label {
            answers[later].label.clear();
        }
    }
    (answers, in_any_case)
}

/// Whether a verdict is the main figure of a workload.
pub(crate) fn is_headline(verdict: &Verdict) -> bool {
    workloads::all().any(|(_, shown)| shown.words().headlines.contains(&verdict.rule.as_str()))
}

/// A verdict as an answer.
fn whole(label: &str, (place, verdict): (usize, &Verdict)) -> Answer {
    let text = verdict.sentence();
    Answer { verdicts: vec![place], ..Answer::labelled(label, text.trim_end_matches('.')) }
}

/// `historian on SQLite: 17,200 records/s`.
fn up_to_figure(verdict: &Verdict) -> Option<String> {
    let figure = verdict.fact.figure.as_ref()?;
    Some(format!("{}{}{figure}", verdict.head(), verdict.fact.before))
}

/// Invalid trials with a line each.
const INVALID_MOST: usize = 3;

/// Figures of invalid trials, where no valid trial has their name: marked, since they do not count.
fn invalid_figures(report: &Report) -> Vec<Answer> {
    let is_known = |name: &str| report.configurations.iter().any(|configuration| configuration.name == name);
    let invalid =
        report.trials.iter().filter(|trial| trial.state == State::Invalid && trial.search.is_none());
    let printed = invalid.filter(|trial| !is_known(&trial.name)).filter_map(|trial| {
        let rate = outcome::rate_in_words(trial)?;
        Some(Answer::labelled("Invalid", format!("{}: {rate} (does not count)", trial.name)))
    });
    printed.take(INVALID_MOST).collect()
}

/// Thresholds with a line each. More of them share a line for each result.
const THRESHOLDS_MOST: usize = 3;

/// Every threshold that was set, with its result.
fn thresholds(report: &Report) -> Vec<Answer> {
    let all = || report.comparison.iter().flat_map(|compared| &compared.thresholds).chain(&report.thresholds);
    if all().count() <= THRESHOLDS_MOST {
        let one = |one: &ThresholdResult| {
            Answer::labelled("Threshold", format!("{} {}: {}", one.text, result(one.outcome), one.why))
        };
        return all().map(one).collect();
    }
    let of = |outcome: Outcome| {
        let texts: Vec<&str> =
            all().filter(|one| one.outcome == outcome).map(|one| one.text.as_str()).collect();
        let text = || format!("{} {}: {}", texts.len(), result(outcome), texts.join("; "));
        (!texts.is_empty()).then(|| Answer::labelled("Thresholds", text()))
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

/// Where no figure counts: the reason of each trial, of skipped trials too.
fn without_figures(report: &Report) -> Vec<Answer> {
    let ended = report.verdicts.iter().enumerate().filter(|(_, one)| one.rule == outcome::ENDED_EARLY);
    let why: Vec<Answer> = ended.map(|one| whole("Failed", one)).collect();
    if !why.is_empty() {
        return why;
    }
    let mut reasons: Vec<&str> = Vec::new();
    for trial in report.trials.iter().filter(|trial| trial.state == State::Skipped) {
        let reason = trial.reason.as_deref().map(|reason| reason.trim_end_matches('.'));
        reasons.extend(reason.filter(|reason| !reasons.contains(reason)));
    }
    let why = if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join(". ")) };
    vec![Answer::labelled("Result", format!("nothing was measured{why}"))]
}

/// The results of workloads; where several ran on one database, a line for the database. What they mean for the machine follows.
fn in_plain_words(
    report: &Report,
    reliability: Reliability,
    plain: &[(&'static dyn Shown, Vec<Answer>)],
) -> Vec<Answer> {
    let mut answers = Vec::new();
    let mut databases: Vec<(String, Vec<String>)> = Vec::new();
    for (shown, own) in plain {
        let short = if plain.len() > 1 { shown.in_short(report) } else { Vec::new() };
        if short.is_empty() {
            answers.extend_from_slice(own);
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
    answers.extend(databases.into_iter().map(|(name, does)| Answer::labelled(name, does.join(", "))));
    answers.extend(plain.iter().flat_map(|(shown, _)| shown.bottom_line(report, reliability)));
    answers
}

/// What speaks against the figures. A threshold that failed is a result, and no reason to distrust it.
fn is_doubt(verdict: &Verdict) -> bool {
    matches!(verdict.level, Level::Failure | Level::Warning) && verdict.rule != THRESHOLD
}

/// The doubts that no answer prints, the gravest first.
fn unprinted<'a>(report: &'a Report, answers: &[Answer]) -> Vec<&'a Verdict> {
    let is_printed = |place: usize| answers.iter().any(|answer| answer.verdicts.contains(&place));
    let mut doubts: Vec<&Verdict> = report
        .verdicts
        .iter()
        .enumerate()
        .filter(|(place, verdict)| is_doubt(verdict) && !is_printed(*place))
        .map(|(_, verdict)| verdict)
        .collect();
    // That figures do not count is graver than anything else about them.
    doubts.sort_by_key(|doubt| (doubt.level, doubt.rule != outcome::ENDED_EARLY));
    doubts
}

/// Trials that were started.
fn trials_run(report: &Report) -> usize {
    report.trials.iter().filter(|trial| trial.has_run()).count()
}

fn reliability(report: &Report) -> Reliability {
    let doubts: Vec<&Verdict> = report.verdicts.iter().filter(|verdict| is_doubt(verdict)).collect();
    let run = trials_run(report);
    let wide = |doubt: &&Verdict| doubt.trials.len() * 2 >= run.max(1);
    let broken = report.state != State::Complete
        || report.quick
        || doubts.iter().any(|doubt| doubt.level == Level::Failure)
        || report.trials.iter().any(|trial| match trial.state {
            State::Failed => true,
            State::Invalid => !is_step_of_answer(report, trial),
            _ => false,
        });
    match doubts.is_empty() {
        _ if was_nothing_measured(report) || broken || doubts.iter().any(wide) => Reliability::Low,
        true if !is_measured_once(report) => Reliability::High,
        _ => Reliability::Medium,
    }
}

/// True for a step of a search that confirmed its rate with other steps.
fn is_step_of_answer(report: &Report, trial: &Trial) -> bool {
    let confirmed = report.searches.iter().filter(|search| search.stable_at.is_some());
    confirmed.flat_map(|search| &search.steps).any(|step| step.trial == trial.number)
}

fn was_nothing_measured(report: &Report) -> bool {
    trials_run(report) == 0 && !report.trials.is_empty()
}

fn is_measured_once(report: &Report) -> bool {
    report.searches.is_empty()
        && report.configurations.iter().any(|configuration| configuration.trials.len() == 1)
}

/// Why figures can be trusted that far and no further.
fn because(
    report: &Report,
    reliability: Reliability,
    doubts: &[&Verdict],
    in_words: fn(&Verdict, &Report) -> String,
) -> Option<String> {
    if was_nothing_measured(report) {
        return Some("nothing was measured".to_owned());
    }
    // A search has a doubt of its own for its short steps.
    let quick = (report.quick && !report.searches.is_empty()).then(|| QUICK.to_owned());
    let first = quick.or_else(|| doubts.first().map(|doubt| in_words(doubt, report)));
    if let Some(first) = first {
        return Some(format!("{first}{}", more_warnings(doubts.len().saturating_sub(1))));
    }
    match reliability {
        Reliability::High => None,
        Reliability::Medium if is_measured_once(report) => {
            Some("measured once, so the spread between runs is unknown".to_owned())
        }
        Reliability::Medium | Reliability::Low => Some(what_broke(report)),
    }
}

/// Why a quick run is not reliable.
const QUICK: &str = "quick run with shortened times";

/// Longest fact on the first screen, which has two lines for it. A longer fact is in the report only.
const FACT_LETTERS_MOST: usize = 140;

/// `background CPU load, all 10 trials: 83–98% of all CPUs were busy with other programs`.
fn doubt_in_words(doubt: &Verdict, report: &Report) -> String {
    let brief = doubt_in_brief(doubt, report);
    let fact = doubt.fact.text();
    match fact.trim_end_matches('.') {
        fact if fact.chars().count() <= FACT_LETTERS_MOST => format!("{brief}: {fact}"),
        _ => brief,
    }
}

/// A page has three lines for the doubt.
const FULL_LETTERS_MOST: usize = 320;

/// The whole fact, and the effect of a trial that does not count. A fact without room has its name only.
fn doubt_in_full(doubt: &Verdict, report: &Report) -> String {
    let (brief, fact) = (doubt_in_brief(doubt, report), doubt.fact.text());
    let trial = report.trials.iter().find(|trial| doubt.trials == [trial.number]);
    if doubt.rule == outcome::ENDED_EARLY && trial.is_some_and(|trial| is_step_of_answer(report, trial)) {
        return format!("a step is {}. The other steps confirm the rate", fact.trim_end_matches('.'));
    }
    let effect = doubt.effect.as_ref().filter(|_| doubt.rule == outcome::ENDED_EARLY);
    let effect = effect.map(|effect| format!("; {effect}")).unwrap_or_default();
    let whole = format!("{brief}: {}{effect}", fact.trim_end_matches('.'));
    if whole.chars().count() <= FULL_LETTERS_MOST { whole } else { doubt_in_words(doubt, report) }
}

/// `background CPU load, all 10 trials`.
fn doubt_in_brief(doubt: &Verdict, report: &Report) -> String {
    let name = small(&doubt.name().unwrap_or_default());
    match (doubt.trials.len(), trials_run(report)) {
        (0, _) | (1, 1) => name,
        (of, all) if of == all => format!("{name}, all {all} trials"),
        (1, _) => match &doubt.subject {
            Some(subject) => format!("{name}, {subject}"),
            None => name,
        },
        (of, all) => format!("{name}, {of} of {all} trials"),
    }
}

/// A name within a sentence: `Background CPU load` with a small letter, `CPU limit` as it is.
pub(crate) fn small(name: &str) -> String {
    let mut letters = name.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            first.to_lowercase().chain(name.chars().skip(1)).collect()
        }
        _ => name.to_owned(),
    }
}

fn more_warnings(more: usize) -> String {
    match more {
        0 => String::new(),
        1 => " (+1 warning)".to_owned(),
        more => format!(" (+{more} warnings)"),
    }
}

/// Why the reliability of a run is low whose doubts are its answers.
fn what_broke(report: &Report) -> String {
    let run = trials_run(report);
    let of = |state: State| report.trials.iter().filter(|trial| trial.state == state).count();
    match (of(State::Failed), of(State::Invalid)) {
        (0, 0) if report.state != State::Complete => "the run stopped before its end".to_owned(),
        (0, 0) => "see above".to_owned(),
        (0, 1) => format!("1 of {run} trials is invalid"),
        (0, invalid) => format!("{invalid} of {run} trials are invalid"),
        (failed, _) => format!("{failed} of {run} trials failed"),
    }
}

/// The first doubt by its name, and how many more there are; none where the first is graver than a warning.
fn in_brief(report: &Report, doubts: &[&Verdict]) -> Option<String> {
    let first = doubts.first().filter(|first| first.level == Level::Warning)?;
    let named = if report.quick { QUICK.to_owned() } else { doubt_in_brief(first, report) };
    Some(format!("{named}{}", more_warnings(doubts.len() - 1)))
}

fn bottleneck(report: &Report) -> String {
    let limits = || workloads::all().map(|(_, shown)| shown.limits());
    let is_generator = |verdict: &&Verdict| {
        let rule = verdict.rule.as_str();
        rule == "generator_cpu_all"
            || limits()
                .any(|of| rule == of.busy_rule || of.alone.as_ref().is_some_and(|alone| rule == alone.rule))
    };
    if let Some(verdict) = report.verdicts.iter().find(is_generator) {
        return format!("likely: the load generator, {}", verdict.fact.text());
    }
    // Operations that were due and not sent waited behind those that waited for a lock.
    if report.verdicts.iter().any(|verdict| verdict.rule == limit::BLOCKED)
        && let Some(known) = limit::told(report.trials.iter())
    {
        return known;
    }
    if let Some(background) = limit::background(report.trials.iter()) {
        return background;
    }
    let behind = report.trials.iter().find_map(|trial| {
        let rate = trial.offered_rate.filter(|rate| !rate.held && rate.was_behind())?;
        Some(format!("likely: the target, {}", (trial.shown().words().all_in_flight)(rate.slots)))
    });
    let failed = report.searches.iter().find_map(|search| search.failed_because.first());
    if let Some(known) =
        behind.or_else(|| failed.map(|why| format!("likely: above the sustained rate, {why}")))
    {
        return known;
    }
    if !report.limits.is_empty() {
        let says: Vec<&str> = report.limits.iter().map(|limit| limit.says.as_str()).collect();
        return says.join("; ");
    }
    if let Some(known) = limit::told(report.trials.iter()) {
        return known;
    }
    let busy = report.trials.iter().filter_map(|trial| trial.machine.busy_share).reduce(f64::max);
    match busy {
        None => "unknown: the load of the machine was not recorded".to_owned(),
        Some(most) => {
            let most = format::per_cent(most);
            format!("unknown: no device, lock or CPU was saturated (CPU use peaked at {most})")
        }
    }
}

/// The action of the first doubt; without one, what the workload proposes.
fn next(report: &Report, reliability: Reliability) -> Option<String> {
    if report.state != State::Complete {
        return None;
    }
    if report.quick {
        return Some("run it again without the quick mode".to_owned());
    }
    let warnings = report.verdicts.iter().filter(|verdict| verdict.level == Level::Warning);
    let action = warnings.filter_map(|warning| warning.action.clone()).next();
    let ask = || {
        let of = workloads::all().filter(|(workload, _)| report.trials_of(*workload).next().is_some());
        of.filter_map(|(_, shown)| shown.next(report)).next()
    };
    match (action, reliability) {
        (Some(action), _) => Some(action),
        (None, _) if report.comparison.is_some() => None,
        (None, Reliability::Medium) => Some(
            ask().unwrap_or_else(|| format!("repeat it, and compare both runs: {}", Command::new("compare"))),
        ),
        (None, Reliability::High | Reliability::Low) => ask(),
    }
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;
