//! What a reader is told first: the answer, how far to trust it, what limits it as far as that is known, and what to do next.
//!
//! All of it follows from the verdicts and figures; nothing is judged here a second time.

use record::{Command, Lines, Mention, Parameter, State, shown};

use crate::format;
use crate::limit;
use crate::report::Report;
use crate::verdict::{Level, Verdict};
use crate::workloads;

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
    pub(crate) trust: Trust,
    /// Why that much and no more.
    pub(crate) because: Vec<String>,
    /// What set the figures, as far as the record tells.
    pub(crate) limit: String,
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
        let (trust, because) = trust(report);
        Self {
            answers: answers(report),
            trust,
            because,
            limit: limited_by(report),
            next: next(report, trust),
        }
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

impl Report {
    /// The first screen as text: at most fifteen lines with that of the report's path, on which nothing is cut but the number
    /// of answers. `spelled` gives a sentence with its commands as they are typed.
    #[must_use]
    pub fn brief(&self, width: Option<u16>, spelled: impl Fn(&str) -> String) -> Lines {
        let summary = Summary::of(self);
        let width = width.map_or(WIDTH_MOST, usize::from).clamp(40, WIDTH_MOST);
        let labelled = |label: &str, text: &str| -> Vec<String> {
            let text = format!("{}.", text.trim_end_matches('.'));
            let wrapped = format::wrapped(&shown(&text), width - LABEL);
            let label = |index| if index == 0 { label } else { "" };
            wrapped
                .iter()
                .enumerate()
                .map(|(index, line)| format!("{:<LABEL$}{line}", label(index)))
                .collect()
        };
        let mut ending = labelled("trust", &summary.trust_words());
        ending.extend(labelled("limit", &summary.limit));
        ending.extend(summary.next.iter().flat_map(|next| labelled("next", &spelled(next))));
        let mut lines = format::wrapped(&shown(&self.heading()), width);
        let room = LINES_MOST.saturating_sub(lines.len() + ending.len());
        lines.extend(told(&summary.answers, room, |answer| labelled("", answer)));
        lines.extend(ending);
        Lines::of(&(lines.join("\n") + "\n"))
    }
}

/// As many answers as there is room for, at least one; the rest is counted.
fn told(answers: &[String], room: usize, print: impl Fn(&str) -> Vec<String>) -> Vec<String> {
    let printed: Vec<Vec<String>> = answers.iter().map(|answer| print(answer)).collect();
    let all: usize = printed.iter().map(Vec::len).sum();
    if all <= room {
        return printed.concat();
    }
    let mut lines = Vec::new();
    for (index, answer) in printed.iter().enumerate() {
        if index > 0 && lines.len() + answer.len() + 1 > room {
            let more = format::counted(answers.len() - index, "more finding is", "more findings are");
            lines.extend(print(&format!("{more} in the report")));
            break;
        }
        lines.extend_from_slice(answer);
    }
    lines
}

/// What failed first, then what was found. Where a workload says it in plain words, its findings stay in the tables.
fn answers(report: &Report) -> Vec<String> {
    let of = |level: Level| report.verdicts.iter().filter(move |verdict| verdict.level == level);
    let mut answers: Vec<String> = of(Level::Failure).map(|verdict| verdict.sentence.clone()).collect();
    let plain: Vec<(&'static [&'static str], Vec<String>)> = workloads::all()
        .map(|(_, shown)| (shown.words().headlines, shown.answers(report)))
        .filter(|(_, answers)| !answers.is_empty())
        .collect();
    answers.extend(plain.iter().flat_map(|(_, answers)| answers.clone()));
    let is_told = |verdict: &Verdict| plain.iter().any(|(rules, _)| rules.contains(&verdict.rule.as_str()));
    let is_rate = |verdict: &Verdict| {
        workloads::all().any(|(_, shown)| shown.words().headlines.contains(&verdict.rule.as_str()))
    };
    let found = of(Level::Finding).filter(|verdict| !is_told(verdict));
    let (rates, others): (Vec<&Verdict>, Vec<&Verdict>) = found.partition(|verdict| is_rate(verdict));
    // Beside what is said in plain words, a figure and whose it is are enough.
    match rates.iter().map(|verdict| figure(verdict)).collect::<Option<Vec<&str>>>() {
        Some(short) if !plain.is_empty() && !short.is_empty() => answers.push(short.join("; ")),
        _ => answers.extend(rates.iter().map(|verdict| verdict.sentence.clone())),
    }
    answers.extend(others.iter().map(|verdict| verdict.sentence.clone()));
    if answers.is_empty() {
        answers.push("nothing was measured".to_owned());
    }
    answers
}

/// `historian on SQLite: 17,200 records/s`.
fn figure(verdict: &Verdict) -> Option<&str> {
    let figure = verdict.figure.as_deref()?;
    let end = verdict.sentence.find(figure)? + figure.len();
    Some(&verdict.sentence[..end])
}

fn trust(report: &Report) -> (Trust, Vec<String>) {
    let grave = |verdict: &&Verdict| matches!(verdict.level, Level::Failure | Level::Warning);
    let doubts: Vec<&Verdict> = report.verdicts.iter().filter(grave).collect();
    let measured = report.trials.iter().filter(|trial| trial.state != State::Skipped).count();
    let wide = |doubt: &&Verdict| doubt.trials.len() * 2 >= measured.max(1);
    let broken = report.state != State::Complete
        || report.quick
        || doubts.iter().any(|doubt| doubt.level == Level::Failure)
        || report.trials.iter().any(|trial| matches!(trial.state, State::Failed | State::Invalid));
    let once = report.configurations.iter().any(|configuration| configuration.trials.len() == 1)
        && report.searches.is_empty();
    let mut because: Vec<String> =
        doubts.iter().take(REASONS_MOST).map(|doubt| gist(&doubt.sentence)).collect();
    if report.quick && !report.searches.is_empty() {
        // Of other runs it is the first doubt.
        because.insert(0, "a quick look, whose times are shortened".to_owned());
    }
    match doubts.len().saturating_sub(REASONS_MOST) {
        0 => {}
        1 => because.push("one more warning".to_owned()),
        more => because.push(format::counted(more, "more warning", "more warnings")),
    }
    if broken || doubts.iter().any(wide) {
        (Trust::Poor, because)
    } else if !doubts.is_empty() {
        (Trust::Fair, because)
    } else if once {
        (Trust::Fair, vec!["measured once, so that it is not known how far runs differ".to_owned()])
    } else {
        (Trust::Good, because)
    }
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
    let behind = report.trials.iter().find_map(|trial| {
        let rate = trial.offered_rate.filter(|rate| !rate.held && rate.was_behind())?;
        Some(format!("the target: {}", (trial.shown().words().all_in_flight)(rate.slots)))
    });
    let failed = report.searches.iter().find_map(|search| search.failed_because.first());
    if let Some(known) = behind.or_else(|| failed.map(|why| format!("what failed above the rate: {why}"))) {
        return known;
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
    let remedy = report.verdicts.iter().filter(|verdict| verdict.level == Level::Warning);
    let remedy = remedy.filter_map(|verdict| Some(verdict.sentence.rsplit_once("; ")?.1.to_owned())).next();
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
