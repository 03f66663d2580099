//! How steady the rate of a trial was, also without the seconds in which it still warmed up.

use serde::Serialize;
use stats::{NoTruncation, NotSteady, PtsWindow, Trend, TwoStates};

/// How steady the rate of a trial was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Stability {
    /// Standard deviation of the per-second rates over their mean.
    pub coefficient_of_variation: Option<f64>,
    /// The steady-state rule of SNIA's PTS on five equal parts of the window; none of a shorter window.
    pub fifths: Option<PtsWindow>,
    /// The same of a database's trial of two minutes or more, once its warm-up was cut.
    pub settled: Option<Settled>,
    /// The line through the rates, without a warm-up that was cut; none of a shorter window.
    pub trend: Option<Trend>,
    /// Mean operations per second of the first and of the last fifth of the rates of `trend`.
    pub first_and_last_per_s: Option<[f64; 2]>,
    /// The two states that the rates alternate between, in operations per second; none if they have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub two_states: Option<TwoStates>,
}

/// The same report of the same trial draws the same random numbers.
pub(crate) const STATES_SEED: u64 = 1;

impl Stability {
    /// Of the rates of single seconds.
    pub(crate) fn of(rates: &[f64], cuts_warm_up: bool) -> Self {
        let settled = settled(rates).filter(|_| cuts_warm_up);
        let cut = settled.filter(|settled| settled.steady).map_or(0, |settled| settled.cut_s as usize);
        Self {
            coefficient_of_variation: stats::coefficient_of_variation(rates),
            fifths: stats::bins_of_five(rates).as_ref().and_then(stats::pts),
            settled,
            trend: rates.get(cut..).and_then(stats::trend),
            first_and_last_per_s: rates.get(cut..).and_then(first_and_last),
            two_states: stats::two_states_of_seconds(rates, STATES_SEED),
        }
    }
}

/// None of fewer than five seconds.
fn first_and_last(rates: &[f64]) -> Option<[f64; 2]> {
    let fifth = rates.len() / 5;
    let first = stats::mean(rates.get(..fifth)?)?;
    Some([first, stats::mean(&rates[rates.len() - fifth..])?])
}

/// A database's trial without the seconds that were still warm-up (MSER-5).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Settled {
    /// Whether the rest is steady by the rule of SNIA's PTS.
    pub steady: bool,
    /// Seconds that were cut.
    pub cut_s: f64,
    /// How the rest moved; none if more than half would have to be cut.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub rest: Option<AfterWarmUp>,
    /// By which share the rest's mean differs from that of the whole; none if it is not steady.
    pub change_share: Option<f64>,
}

/// How much the rate of five equal parts moved after the warm-up, as shares of their mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AfterWarmUp {
    /// From the lowest part to the highest.
    pub range_share: f64,
    /// The rise or fall of the line through them.
    pub slope_share: f64,
}

/// Shorter runs are too often called unsteady by chance: one in ten of a minute, one in twenty of two.
const SETTLED_SECONDS_MIN: usize = 120;

/// None of a run that is too short, or whose figures make no rate.
fn settled(rates: &[f64]) -> Option<Settled> {
    if rates.len() < SETTLED_SECONDS_MIN {
        return None;
    }
    let rest = |window: stats::PtsWindow| {
        Some(AfterWarmUp { range_share: window.range_share, slope_share: window.slope_share })
    };
    match stats::steady_after_warm_up(rates) {
        Ok(run) => Some(Settled {
            steady: true,
            cut_s: run.truncation.cut as f64,
            rest: rest(run.window),
            change_share: stats::mean(rates).map(|whole| run.truncation.mean / whole - 1.0),
        }),
        Err(NotSteady::Drifting { cut, window }) => {
            Some(Settled { steady: false, cut_s: cut as f64, rest: rest(window), change_share: None })
        }
        Err(NotSteady::NoTruncation(NoTruncation::MoreThanHalf { cut, .. })) => {
            Some(Settled { steady: false, cut_s: cut as f64, rest: None, change_share: None })
        }
        Err(NotSteady::NoTruncation(_) | NotSteady::NotPositive { .. }) => None,
    }
}
