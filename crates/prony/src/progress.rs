//! What is shown while a study runs, on stderr: a live line a test on a terminal, else a plain line every ten seconds.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use record::{
    Event, Interval, Main, Mark, MarkKind, Phase, Preparation, SearchStep, State, TrialRecord, Unit, Window,
    Workload, shown,
};
use report::format;

use crate::advance::Advance;
use crate::spelling::spelled;
use crate::ticker;

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
    /// What the search may still take; empty where none runs.
    searching: String,
}

/// What is known of the trial that runs.
struct Current {
    label: String,
    end_s: f64,
    workload: Workload,
    main: Main,
    measured: Window,
    away: Option<Mark>,
}

impl Progress {
    pub(crate) fn new(trials: Option<usize>) -> Self {
        let live = std::io::stderr().is_terminal().then(|| {
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
            searching: String::new(),
        }
    }

    pub(crate) fn show(&mut self, event: &Event) {
        match event {
            Event::StudyStarted { .. }
            | Event::TrialSetUp { .. }
            | Event::Resources { .. }
            | Event::Parts { .. } => {}
            Event::Mark { mark, .. } => self.mark(mark),
            Event::Preparing(at) => self.preparing(at),
            Event::Pausing { number, pause_s } => {
                self.moving(
                    &format!("{} pause of {}", of(*number, self.trials), format::duration(*pause_s)),
                    false,
                );
            }
            Event::Searching { expected_s, at_most_s, .. } => {
                self.searching = searching(*expected_s, *at_most_s)
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

    /// Takes the live line away.
    pub(crate) fn finish(&mut self) {
        if let Some(bar) = self.live.take() {
            bar.finish_and_clear();
        }
    }

    /// The end of what took long is told for good, and that of files that were written at any rate.
    fn preparing(&mut self, at: &Preparation) {
        let now_s = self.begin.elapsed().as_secs_f64();
        let line = self.advance.line(at, now_s);
        let is_long = self.advance.seconds(now_s) >= PLAIN_EVERY.as_secs_f64();
        self.moving(&line, at.is_done() && (is_long || at.unit == Unit::Bytes));
    }

    fn begin(&mut self, trial: &TrialRecord) {
        let current = Current {
            label: label(trial, self.trials),
            workload: trial.workload,
            main: trial.main.clone(),
            // Of a trial that runs it is known.
            end_s: trial.planned_s.unwrap_or_default(),
            measured: Window::new(trial.main.clone()),
            away: None,
        };
        self.moving(&format!("{}  starting", current.label), false);
        self.current = Some(current);
    }

    /// An outage stands in the line while it goes on.
    fn mark(&mut self, mark: &Mark) {
        if let (Some(current), MarkKind::Outage | MarkKind::SourceOutage) = (&mut self.current, mark.kind) {
            current.away = mark.end_s.is_none().then(|| mark.clone());
        }
    }

    fn interval(&mut self, interval: &Interval) {
        let phase = match interval.phase {
            Phase::WarmUp => "warm-up",
            Phase::Measure => "measuring",
            Phase::Drain => "draining",
        };
        let Some(current) = &mut self.current else { return };
        let mut second = Window::new(current.main.clone());
        second.add(&Interval { phase: Phase::Measure, ..interval.clone() });
        current.measured.add(interval);
        let away = current.away.as_ref().map_or_else(String::new, |mark| away(mark, interval.end_s));
        let left_s = (current.end_s - interval.end_s).max(0.0);
        let searching = &self.searching;
        let text = match interval.phase {
            Phase::Drain => format!("{}  {phase}{}{away}{searching}", current.label, pending(interval)),
            Phase::WarmUp | Phase::Measure => format!(
                "{}  {phase}, {} left  {}{}{away}{searching}",
                current.label,
                format::duration(left_s),
                rate_and_p99(current.workload, &second),
                pending(interval)
            ),
        };
        self.moving(&text, false);
    }

    fn end(&mut self, trial: &TrialRecord) {
        let current = self.current.take();
        let measured = current.map_or_else(|| Window::new(trial.main.clone()), |current| current.measured);
        let text = match trial.state {
            State::Skipped => format!("{}  skipped", label(trial, self.trials)),
            State::Complete => {
                format!("{}  {}", label(trial, self.trials), rate_and_p99(trial.workload, &measured))
            }
            state => {
                let reason = trial.reason.as_deref().unwrap_or("no reason was given");
                format!("{}  {}: {reason}", label(trial, self.trials), format::state(state))
            }
        };
        self.lasting(&text);
        self.last_plain = Instant::now();
    }

    /// Text that stays.
    fn lasting(&self, text: &str) {
        match &self.live {
            Some(bar) => bar.println(shown(text)),
            None => tell!("{text}"),
        }
    }

    /// Text that replaces itself on a terminal, and is printed now and then elsewhere.
    fn moving(&mut self, text: &str, is_last: bool) {
        match &self.live {
            Some(bar) => bar.set_message(shown(text).into_owned()),
            None if is_last || self.last_plain.elapsed() >= PLAIN_EVERY => {
                tell!("{text}");
                self.last_plain = Instant::now();
            }
            None => {}
        }
    }
}

fn rate_and_p99(workload: Workload, window: &Window) -> String {
    let operations = window.operations();
    let p99 = operations.latency().percentile_us(99.0).map_or_else(|| "–".to_owned(), format::latency);
    format!("{}, p99 {p99}", report::rate_text(workload, window.rate_per_s().unwrap_or(0.0)))
}

/// `; search about 41 min more, at most 3 h 2 min`.
fn searching(expected_s: f64, at_most_s: f64) -> String {
    let (expected, at_most) = (format::duration(expected_s), format::duration(at_most_s));
    format!("; search about {expected} more, at most {at_most}")
}

/// `after 8 of at most 20 blocks 2 of 3 comparisons are settled`.
fn looked(blocks: u32, blocks_max: u32, settled: usize, comparisons: usize) -> String {
    let end = if settled == comparisons && comparisons > 0 { ": the study ends here" } else { "" };
    let of = if comparisons == 1 { "1 comparison".to_owned() } else { format!("{comparisons} comparisons") };
    let are = if settled == 1 { "is" } else { "are" };
    format!("after {blocks} of at most {blocks_max} blocks {settled} of {of} {are} settled{end}")
}

/// `3/8`, or `3` where the number of trials is not known beforehand.
fn of(number: u32, trials: Option<usize>) -> String {
    trials.map_or_else(|| number.to_string(), |trials| format!("{number}/{trials}"))
}

fn label(trial: &TrialRecord, trials: Option<usize>) -> String {
    let levels: String = trial.levels.iter().map(|(key, level)| format!(" {key}={level}")).collect();
    let block = if trial.block > 1 { format!(" #{}", trial.block) } else { String::new() };
    let step = trial.search.map_or_else(String::new, |step| match step {
        SearchStep::Probe { rate_per_s } => format!(" at {}/s", format::figure(rate_per_s)),
        SearchStep::Confirm { rate_per_s } => format!(" confirming {}/s", format::figure(rate_per_s)),
    });
    format!("{} {}{levels}{block}{step}", of(trial.number, trials), trial.name)
}

/// `, database away for 2.0 s: connection reset`.
fn away(mark: &Mark, now_s: f64) -> String {
    let who = if mark.kind == MarkKind::SourceOutage { "source" } else { "database" };
    format!(", {who} away for {:.1} s: {}", (now_s - mark.begin_s).max(0.0), spelled(&mark.what))
}

/// The records that a historian has accepted and not yet written, if it is one.
fn pending(interval: &Interval) -> String {
    let pending = interval.gauges.get(record::PENDING);
    pending.map_or_else(String::new, |pending| format!(", {} pending", format::figure(*pending)))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut progress = Progress::new(None);
        progress.current = Some(Current {
            label: String::new(),
            end_s: 60.0,
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
        assert_eq!(told.as_deref(), Some(", database away for 2.0 s: connection reset"));
        assert_eq!(hear(MarkKind::Outage, Some(5.0)), None);
        let told = hear(MarkKind::SourceOutage, None);
        assert_eq!(told.as_deref(), Some(", source away for 2.0 s: connection reset"));
    }
}
