//! What is shown while a study runs, on stderr: a live line a test on a terminal, else a plain line every ten seconds.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use record::{
    Event, Interval, Main, Mark, MarkKind, Phase, Preparation, SearchStep, State, TrialRecord, Unit, Window,
    Workload, shown,
};
use report::format;
use runner::Resume;
use study::{Plan, Study};

use crate::advance::Advance;
use crate::left::Left;
use crate::log::{self, Log};
use crate::{terminal, ticker};

/// How often a plain line is printed.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

/// Shows a study's events.
pub(crate) struct Progress {
    /// Trials of the plan, if that is known.
    trials: Option<usize>,
    live: Option<ProgressBar>,
    begin: Instant,
    last_plain: Instant,
    advance: Advance,
    current: Option<Current>,
    left: Left,
    log: Option<Log>,
}

/// What is known of the trial that runs.
struct Current {
    label: String,
    end_s: f64,
    /// Seconds of its load that are left.
    left_s: f64,
    workload: Workload,
    main: Main,
    measured: Window,
    away: Option<Mark>,
}

impl Progress {
    /// Of something that is no study, such as loading a store.
    pub(crate) fn new() -> Self {
        Self::with(None, Left::default())
    }

    /// Of a study that begins, or is taken up again.
    pub(crate) fn of(study: &Study, plan: &Plan, resume: Option<&Resume>) -> Self {
        Self::with(study.search.is_none().then_some(plan.trials.len()), Left::of(study, plan, resume))
    }

    fn with(trials: Option<usize>, left: Left) -> Self {
        let live = terminal::shows_live_line().then(|| {
            let bar = ProgressBar::new_spinner();
            // The template is constant; without it the bar has indicatif's own look.
            if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
                bar.set_style(style);
            }
            ticker::start(&bar);
            bar
        });
        let begin = Instant::now();
        Self {
            trials,
            live,
            begin,
            last_plain: begin,
            advance: Advance::default(),
            current: None,
            left,
            log: terminal::is_verbose().then(Log::default),
        }
    }

    pub(crate) fn show(&mut self, event: &Event) {
        self.log(event);
        match event {
            Event::StudyStarted { .. }
            | Event::TrialSetUp { .. }
            | Event::Resources { .. }
            | Event::Parts { .. } => {}
            Event::Mark { mark, .. } => self.mark(mark),
            Event::Preparing(at) => self.preparing(at),
            Event::Pausing { number, pause_s } => self.pausing(*number, *pause_s),
            Event::Searching { expected_s, at_most_s, .. } => {
                let now_s = self.now_s();
                self.left.searching(*expected_s, *at_most_s, now_s);
            }
            Event::Looked { blocks, blocks_max, settled, comparisons } => {
                self.lasting(&looked(*blocks, *blocks_max, *settled, *comparisons));
            }
            Event::TrialStarted(trial) => self.begin(trial),
            Event::Interval { interval, .. } => self.interval(interval),
            Event::TrialFinished(trial) => self.end(trial),
            Event::StudyFinished(_) => self.finish(),
        }
    }

    fn log(&mut self, event: &Event) {
        let now_s = self.now_s();
        let Some(log) = &mut self.log else { return };
        let name = match (event, &self.current) {
            (Event::TrialStarted(trial) | Event::TrialFinished(trial), _) => label(trial, self.trials),
            (_, current) => current.as_ref().map(|current| current.label.clone()).unwrap_or_default(),
        };
        let lines = log.lines(event, now_s, &name);
        lines.iter().for_each(|line| self.lasting(line));
    }

    /// Takes the live line away.
    pub(crate) fn finish(&mut self) {
        if let Some(bar) = self.live.take() {
            bar.finish_and_clear();
        }
    }

    /// Seconds since the run began.
    fn now_s(&self) -> f64 {
        self.begin.elapsed().as_secs_f64()
    }

    fn pausing(&mut self, number: u32, pause_s: f64) {
        let left = comma(&self.left.told(None, self.now_s()));
        let number = of(number, self.trials);
        self.moving(&format!("{number} cooldown of {}{left}", format::duration(pause_s)), false);
    }

    /// The end of what took long is told for good, and that of files that were written at any rate.
    fn preparing(&mut self, at: &Preparation) {
        let now_s = self.now_s();
        let mut line = self.advance.line(at, now_s);
        let is_long = self.advance.seconds(now_s) >= PLAIN_EVERY.as_secs_f64();
        let load_s = self.current.as_ref().map_or(0.0, |current| current.left_s);
        if !at.is_done() {
            line += &match self.advance.left_s(at, now_s) {
                Some(left_s) => comma(&self.left.in_all(load_s + left_s).unwrap_or_default()),
                None => comma(&self.left.told(None, now_s)),
            };
        }
        self.moving(&line, at.is_done() && (is_long || at.unit == Unit::Bytes));
    }

    fn begin(&mut self, trial: &TrialRecord) {
        let now_s = self.now_s();
        self.left.begin(trial, now_s);
        // Of a trial that runs it is known.
        let end_s = trial.planned_s.unwrap_or_default();
        let current = Current {
            label: label(trial, self.trials),
            workload: trial.workload,
            main: trial.main.clone(),
            end_s,
            left_s: end_s,
            measured: Window::new(trial.main.clone()),
            away: None,
        };
        let left = comma(&self.left.told(Some(end_s), now_s));
        self.moving(&format!("{}  starting{left}", current.label), false);
        self.current = Some(current);
    }

    /// An outage stands in the line while it goes on.
    fn mark(&mut self, mark: &Mark) {
        if let (Some(current), MarkKind::Outage | MarkKind::SourceOutage) = (&mut self.current, mark.kind) {
            current.away = mark.end_s.is_none().then(|| mark.clone());
        }
    }

    fn interval(&mut self, interval: &Interval) {
        let phase = log::phase(interval.phase);
        let now_s = self.now_s();
        // Figures of a second that nobody sees are not made: each is a histogram more beside a load that needs the processor.
        let is_shown = self.is_shown();
        let Some(current) = &mut self.current else { return };
        current.measured.add(interval);
        current.left_s = (current.end_s - interval.end_s).max(0.0);
        if !is_shown {
            return;
        }
        let mut second = Window::new(current.main.clone());
        second.add(&Interval { phase: Phase::Measure, ..interval.clone() });
        let away = current.away.as_ref().map_or_else(String::new, |mark| away(mark, interval.end_s));
        let figures = || rate_and_p99(current.workload, &second);
        let (phase, figures, left_s) = match interval.phase {
            Phase::Drain => (phase, String::new(), None),
            Phase::WarmUp => (phase, figures(), Some(current.left_s)),
            Phase::Measure => ("", figures(), Some(current.left_s)),
        };
        let left = self.left.told(left_s, now_s);
        let parts = [phase, &figures, &backlog(interval), &away, &left];
        let line = format!("{}{}", current.label, parts.map(apart).concat());
        self.moving(&line, false);
    }

    fn end(&mut self, trial: &TrialRecord) {
        let now_s = self.now_s();
        self.left.end(trial, now_s);
        let current = self.current.take();
        let measured = current.map_or_else(|| Window::new(trial.main.clone()), |current| current.measured);
        let text = match trial.state {
            State::Skipped => {
                let reason = trial.reason.iter().map(|reason| format!(": {reason}")).collect::<String>();
                format!("{}  skipped{reason}", label(trial, self.trials))
            }
            State::Complete => {
                format!("{}  {}", label(trial, self.trials), rate_and_p99(trial.workload, &measured))
            }
            state => {
                let reason = trial.reason.as_deref().unwrap_or("no reason was recorded");
                format!("{}  {}: {reason}", label(trial, self.trials), format::state(state))
            }
        };
        self.lasting(&text);
        self.last_plain = Instant::now();
    }

    /// Text that stays.
    fn lasting(&self, text: &str) {
        match &self.live {
            Some(bar) => bar.println(terminal::at_width_of_stderr(&shown(text))),
            None => announce!("{text}"),
        }
    }

    /// Whether text that replaces itself would be seen now.
    fn is_shown(&self) -> bool {
        self.live.is_some() || self.last_plain.elapsed() >= PLAIN_EVERY
    }

    /// Text that replaces itself on a terminal, and is printed now and then elsewhere.
    fn moving(&mut self, text: &str, is_last: bool) {
        match &self.live {
            Some(bar) => bar.set_message(shown(text).into_owned()),
            None if is_last || self.is_shown() => {
                announce!("{text}");
                self.last_plain = Instant::now();
            }
            None => {}
        }
    }
}

fn rate_and_p99(workload: Workload, window: &Window) -> String {
    let operations = window.operations();
    let p99 = operations.latency().percentile_us(99.0).map(|us| format!("p99 {}", format::latency(us)));
    format!("{}{}", report::rate_text(workload, window), apart(&p99.unwrap_or_default()))
}

/// A text after a gap of two spaces. An empty text stays empty.
fn apart(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("  {text}") }
}

/// A text after a comma. An empty text stays empty.
fn comma(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(", {text}") }
}

/// `after block 8 of at most 20: 2 of 3 comparisons are decided`.
fn looked(blocks: u32, blocks_max: u32, settled: usize, comparisons: usize) -> String {
    let end = if settled == comparisons && comparisons > 0 { ". The study ends here" } else { "" };
    let of = if comparisons == 1 { "1 comparison".to_owned() } else { format!("{comparisons} comparisons") };
    let are = if settled == 1 { "is" } else { "are" };
    format!("after block {blocks} of at most {blocks_max}: {settled} of {of} {are} decided{end}")
}

/// `[3/8]`, or `[3]` if the number of trials is unknown.
fn of(number: u32, trials: Option<usize>) -> String {
    trials.map_or_else(|| format!("[{number}]"), |trials| format!("[{number}/{trials}]"))
}

/// Levels of a trial as ` key=level`, but for those that its name tells: that of a combination without another one is made of them.
pub(crate) fn levels_beside(name: &str, levels: &BTreeMap<String, String>) -> String {
    let is_told = |key: &str, level: &str| {
        let told = format!("{} {level}", report::axis_words(key));
        name.split(", ").any(|part| part == told)
    };
    let beside = levels.iter().filter(|(key, level)| !is_told(key, level));
    beside.map(|(key, level)| format!(" {key}={level}")).collect()
}

fn label(trial: &TrialRecord, trials: Option<usize>) -> String {
    let levels = levels_beside(&trial.name, &trial.levels);
    let block = if trial.block > 1 { format!(" #{}", trial.block) } else { String::new() };
    let step = trial.search.map_or_else(String::new, |step| match step {
        SearchStep::Probe { rate_per_s } => format!(" at {}/s", format::figure(rate_per_s)),
        SearchStep::Confirm { rate_per_s } => format!(" confirming {}/s", format::figure(rate_per_s)),
        SearchStep::Long { rate_per_s } => {
            format!(" confirming {}/s (long)", format::figure(rate_per_s))
        }
    });
    format!("{} {}{levels}{block}{step}", of(trial.number, trials), trial.name)
}

/// `database unreachable for 2.0 s: connection reset`.
fn away(mark: &Mark, now_s: f64) -> String {
    let who = if mark.kind == MarkKind::SourceOutage { "source" } else { "database" };
    format!("{who} unreachable for {:.1} s: {}", (now_s - mark.begin_s).max(0.0), mark.what)
}

/// The records that a historian has accepted and not yet written, if it is one.
fn backlog(interval: &Interval) -> String {
    let pending = interval.gauges.get(record::PENDING);
    pending.map_or_else(String::new, |pending| format!("backlog {}", format::figure(*pending)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `… , arrivals none, memory 96MiB arrivals=none memory=96MiB` named each level twice.
    #[test]
    fn a_level_that_a_name_tells_is_not_told_beside_it() {
        let levels = |levels: &[(&str, &str)]| {
            levels.iter().map(|(key, level)| ((*key).to_owned(), (*level).to_owned())).collect()
        };
        let beside = |name: &str, of: &[(&str, &str)]| levels_beside(name, &levels(of));
        let both = [("arrivals", "none"), ("read_iops", "800")];
        assert_eq!(beside("20000 messages, arrivals none, read iops 800", &both), "");
        assert_eq!(beside("20000 messages, read iops 8001", &both), " arrivals=none read_iops=800");
        assert_eq!(beside("in memory", &both[..1]), " arrivals=none");
    }

    #[test]
    fn of_too_few_for_a_p99_none_is_told() {
        let nothing = Window::new(Workload::Historian.main());
        let told = rate_and_p99(Workload::Historian, &nothing);
        assert!(told.contains("/s") && !told.contains("p99") && !told.ends_with(", "), "{told}");
    }

    /// A database was away for a minute, and the live line said `0 records/s` alone.
    #[test]
    fn an_outage_stands_in_the_line_while_it_goes_on() {
        let mark = |kind, end_s| Mark {
            begin_s: 3.0,
            end_s,
            kind,
            what: "connection reset".to_owned(),
            planned: false,
        };
        let mut progress = Progress::new();
        progress.current = Some(Current {
            label: String::new(),
            end_s: 60.0,
            left_s: 60.0,
            workload: Workload::Historian,
            main: Workload::Historian.main(),
            measured: Window::new(Workload::Historian.main()),
            away: None,
        });
        let mut hear = |kind, end_s| {
            progress.show(&Event::Mark { number: 1, mark: mark(kind, end_s) });
            let away_now = progress.current.as_ref().and_then(|current| current.away.as_ref());
            away_now.map(|mark| away(mark, 5.0))
        };
        assert_eq!(hear(MarkKind::Purge, None), None);
        let told = hear(MarkKind::Outage, None);
        assert_eq!(told.as_deref(), Some("database unreachable for 2.0 s: connection reset"));
        assert_eq!(hear(MarkKind::Outage, Some(5.0)), None);
        let told = hear(MarkKind::SourceOutage, None);
        assert_eq!(told.as_deref(), Some("source unreachable for 2.0 s: connection reset"));
    }
}
