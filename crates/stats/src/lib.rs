//! Statistics of prony: pure functions over measured numbers.
//!
//! Each figure that a report prints is defined here, once, with the source of its formula. Nothing here does I/O,
//! reads a clock or draws from ambient randomness: seeds are passed in. A sample that is empty, too small or holds
//! a number that is not finite has no figure (`None`, or an error that says why), never NaN.

mod array;
mod best;
mod chance;
mod change_point;
mod cost;
mod curve;
mod difference;
mod effect;
mod falling;
mod gap;
mod held;
mod history_shape;
mod history_since;
mod interval;
mod judge;
mod jump;
mod knee;
mod law;
mod limit;
mod look_levels;
mod looks;
mod normal;
mod outlier;
mod percentile;
mod power;
mod queue;
mod queueing;
mod random;
mod rank;
mod repeats;
mod run;
mod scalability;
pub mod search;
mod serial;
mod sessions;
mod slope;
mod spread;
mod steady;
mod steps;
mod student;
mod sustained;
mod sweet_spot;
mod trend;
mod two_states;
mod warm_up;
mod written;

pub use array::{Array, ArrayError};
pub use best::{Best, best};
pub use chance::{Chance, gap_by_chance, variability_by_chance};
pub use change_point::{CHANGE_CHANCE_MAX, ChangePoint, RUNS_MAX, RUNS_MIN, change_points};
pub use cost::{PriceStep, cost_estimate, cost_per_unit, price_steps};
pub use curve::NoCurve;
pub use difference::{difference, difference_of_sessions};
pub use effect::{Effect, effect, effect_between_sessions, effect_of_intervals, unpaired_effect};
pub use falling::{Falling, falling};
pub use gap::{Gap, longest_gap};
pub use held::{ACHIEVED_SHARE_MIN, IO_UNSENT_SHARE_MAX, NotHeld, ORDERS_UNSENT_SHARE_MAX, OpenLoop, held};
pub use history_shape::{Course, HistoryShape, history_shape};
pub use history_since::{
    HistorySince, Resemblance, SinceVerdict, WORSE_CHANCE_MAX, history_resemblance, history_since,
};
pub use interval::{Estimate, repeats_mean};
pub use judge::{
    BLOCKS_MIN, Better, Comparison, Judged, NotShown, SMALLEST_EFFECT, judge, judge_sessions,
    judge_two_times, repeats_to_settle,
};
pub use jump::{Jump, NoJump, jump};
pub use knee::{Knee, NoKnee, knee};
pub use limit::{
    CALIBRATED_SHARE_MAX, ClientLimit, Stood, cores_busy, events_late, late_for_limit, pause_seen, paused,
    sent_late, target_was_behind, thread_busy,
};
pub use looks::{LOOKS_BLOCKS_MAX, Looks};
pub use outlier::{OUTLIER_CHANCE_MAX, OutlyingPair, outlying_pair};
pub use percentile::{PercentileRanks, SecondBeyond, percentile_ranks};
pub use power::{blocks_for, detectable};
pub use queue::mean_in_flight;
pub use queueing::{Queueing, queueing};
pub use repeats::{MedianInterval, chance_at_most, median_interval};
pub use run::{Dependence, PooledCorrelation, RunMean, SECONDS_ENOUGH, run_mean};
pub use scalability::{NoScalability, Scalability, usl};
pub use serial::{Serial, serial_correlation};
pub use sessions::{Sessions, effect_of_sessions};
pub(crate) use slope::theil_sen;
pub(crate) use spread::standard_deviation;
pub use spread::{coefficient_of_variation, geometric_mean, mean, median, variability, weighted_mean};
pub use steady::{PTS_WINDOW, PtsWindow, bins_of_five, first_steady, pts};
pub use steps::{ScalingStep, scaling_steps};
pub use sustained::{Step, Unstable, sustained};
pub use sweet_spot::{CandidateLevel, SweetSpot, sweet_spot};
pub use trend::{Trend, trend};
pub use two_states::{TwoStates, two_states_of_seconds, two_states_of_trials};
pub use warm_up::{NoTruncation, NotSteady, SteadyRun, Truncation, mser5, steady_after_warm_up};
pub use written::{Fall, StepAutocorrelation, Written, fall, late_rate, step_autocorrelation};
