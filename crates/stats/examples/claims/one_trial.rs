//! The interval of the mean of one trial's seconds.

use stats::{PooledCorrelation, RunMean};

use crate::noise::{autoregressive, normal};
use crate::page::{Section, Table};
use crate::server::unit;
use crate::sets::{Random, each, percent};

const SETS: u32 = 2_000;
const SECONDS: [usize; 9] = [8, 10, 20, 30, 60, 80, 120, 300, 600];
const RHOS: [f64; 4] = [0.0, 0.3, 0.6, 0.9];

/// Trials of a run that share their correlation.
const TRIALS: usize = 4;
const SECONDS_OF_SEVERAL: [usize; 4] = [8, 10, 20, 30];

/// Lengths of trials of other servers, and of windows of real ones.
const SECONDS_OF_OTHERS: [usize; 5] = [8, 30, 60, 120, 300];
const SECONDS_OF_WINDOWS: [usize; 5] = [8, 15, 30, 60, 90];

/// Rates of successive seconds of real servers, operations per second.
const REAL: [(&str, &str); 2] = [
    ("disk, 8 KiB random reads", include_str!("seconds/reads.txt")),
    ("historian on SQLite", include_str!("seconds/rows.txt")),
];

pub(crate) fn section() -> Section {
    Section {
        about: "The 95% interval for the mean of one trial should contain the mean that an endless trial would have. \
            Each trial of at least eight seconds has an interval, so the tables count all trials. The per-second \
            rates are normally distributed with a standard deviation of 3%. Each second has correlation rho with the \
            previous second. prony calculates two intervals and uses the wider one. The first interval comes from a \
            first-order autoregression, the second from the slowest waves in the per-second rates. If a trial is \
            shorter than 30 s, the report states that about 9 of 10 such intervals contain the mean. If the seconds \
            of this trial are strongly correlated, the report states about 8 of 10. If the trials of a run have at \
            least 30 s together, prony uses the larger of two correlations. One is the trial's own correlation, the \
            other is the common correlation of all trials. The report then omits the note about 9 of 10 or 8 of 10 \
            intervals. No interval covers a stall that the trial did not see. The report states the longest time \
            without an answer.\n\nThe real seconds come from one trial each of `prony disk` and `prony historian`. \
            The disk trial made 8 KiB random reads with one outstanding I/O in a 512 MiB file for 240 s. The \
            historian trial wrote to SQLite for 180 s, as fast as the buffer accepted records. Both trials used a \
            debug build on a shared virtual machine with two CPUs and background load. The last table of this \
            section compares windows of each trial with the mean of all its seconds. The windows overlap, so they \
            are weaker evidence than the same number of trials.",
        tables: vec![coverage(), of_several(), width(), others(), real()],
    }
}

fn table(head: &str, seconds: &[usize], caption: String, cell: impl Fn(usize, f64) -> String) -> Table {
    let row = |&seconds: &usize| {
        std::iter::once(seconds.to_string()).chain(RHOS.map(|rho| cell(seconds, rho))).collect()
    };
    Table {
        caption,
        head: std::iter::once(head.to_owned()).chain(RHOS.map(|rho| format!("rho {rho}"))).collect(),
        rows: seconds.iter().map(row).collect(),
    }
}

fn name(seconds: usize, rho: f64) -> String {
    format!("one trial, {seconds} s, rho {rho}")
}

fn holds(run: Option<RunMean>, truth: f64) -> bool {
    run.is_some_and(|run| run.estimate.low <= truth && truth <= run.estimate.high)
}

fn series(random: &mut Random, seconds: usize, rho: f64) -> Vec<f64> {
    autoregressive(random, seconds, rho, 0.03)
}

/// As a report has it of a run of this one trial.
fn alone(values: &[f64]) -> Option<RunMean> {
    stats::run_mean(values, PooledCorrelation::of([values]))
}

fn coverage() -> Table {
    let caption = format!("Percentage of {SETS} trials with an interval that contains the true mean.");
    table("seconds", &SECONDS, caption, |seconds, rho| {
        let holds =
            percent(&name(seconds, rho), SETS, |random| holds(alone(&series(random, seconds, rho)), 1.0));
        format!("{holds:.0}")
    })
}

fn of_several() -> Table {
    let caption = format!(
        "The same percentage for one trial out of a run of {TRIALS}. prony estimates the correlation from all 4 \
            trials together."
    );
    table("seconds", &SECONDS_OF_SEVERAL, caption, |seconds, rho| {
        let holds = percent(&format!("of {TRIALS}, {}", name(seconds, rho)), SETS, |random| {
            let trials: Vec<Vec<f64>> = (0..TRIALS).map(|_| series(random, seconds, rho)).collect();
            let pooled = PooledCorrelation::of(trials.iter().map(Vec::as_slice));
            holds(stats::run_mean(&trials[0], pooled), 1.0)
        });
        format!("{holds:.0}")
    })
}

fn width() -> Table {
    let caption = format!(
        "Median width of the intervals in the first table, divided by the correct width. The correct width is \
            3.92 standard deviations of the {SETS} means."
    );
    table("seconds", &SECONDS, caption, |seconds, rho| {
        let runs = each(&name(seconds, rho), SETS, |random| alone(&series(random, seconds, rho)));
        let estimates = || runs.iter().flatten().map(|run| run.estimate);
        let widths: Vec<f64> = estimates().map(|estimate| estimate.high - estimate.low).collect();
        let means: Vec<f64> = estimates().map(|estimate| estimate.value).collect();
        let right = stats::coefficient_of_variation(&means).map(|scatter| 3.92 * scatter);
        let over = stats::median(&widths).zip(right).map(|(width, right)| width / right);
        over.map_or_else(|| "–".to_owned(), |over| format!("{over:.2}"))
    })
}

/// Servers whose seconds no autoregression of first order describes.
#[derive(Clone, Copy)]
enum Other {
    /// Log-normal seconds of this sigma that resemble the one before.
    Lognormal { sigma: f64, rho: f64 },
    /// A slow autoregression under white noise that scatters as much.
    Wander { rho: f64 },
    /// Fast and slow for times of chance, which are so long on average.
    Bursts { fast_s: f64, slow_s: f64, speed: f64 },
}

const OTHERS: [(&str, Other); 9] = [
    ("log-normal, sigma 0.5, rho 0.6", Other::Lognormal { sigma: 0.5, rho: 0.6 }),
    ("slow wander (rho 0.97) under white noise", Other::Wander { rho: 0.97 }),
    ("stalls at random: 1 s in 30 s", Other::Bursts { fast_s: 29.0, slow_s: 1.0, speed: 0.0 }),
    ("stalls at random: 3 s in 60 s", Other::Bursts { fast_s: 57.0, slow_s: 3.0, speed: 0.0 }),
    ("stalls at random: 5 s in 120 s", Other::Bursts { fast_s: 115.0, slow_s: 5.0, speed: 0.0 }),
    ("bursts: 1 s fast, 0.2 s at 0%", Other::Bursts { fast_s: 1.0, slow_s: 0.2, speed: 0.0 }),
    ("bursts: 5 s fast, 1 s at 20%", Other::Bursts { fast_s: 5.0, slow_s: 1.0, speed: 0.2 }),
    ("bursts: 20 s fast, 5 s at 30%", Other::Bursts { fast_s: 20.0, slow_s: 5.0, speed: 0.3 }),
    ("bursts: 30 s fast, 30 s at 50%", Other::Bursts { fast_s: 30.0, slow_s: 30.0, speed: 0.5 }),
];

impl Other {
    /// Rates of successive seconds, and their true mean.
    fn seconds(self, random: &mut Random, seconds: usize) -> (Vec<f64>, f64) {
        match self {
            Self::Lognormal { sigma, rho } => {
                let normal = autoregressive(random, seconds, rho, 1.0);
                let value = |normal: f64| (sigma * (normal - 1.0) - sigma * sigma / 2.0).exp();
                (normal.into_iter().map(value).collect(), 1.0)
            }
            Self::Wander { rho } => {
                let slow = series(random, seconds, rho);
                (slow.into_iter().map(|value| value + 0.03 * normal(random)).collect(), 1.0)
            }
            Self::Bursts { fast_s, slow_s, speed } => {
                let mean = (fast_s + speed * slow_s) / (fast_s + slow_s);
                let speeds = fast_and_slow(random, seconds, (fast_s, slow_s), speed);
                (speeds.into_iter().map(|speed| speed * (1.0 + 0.03 * normal(random))).collect(), mean)
            }
        }
    }
}

/// Seconds of a server that is fast and slow for exponential times, without noise.
pub(crate) fn fast_and_slow(
    random: &mut Random,
    seconds: usize,
    (fast_s, slow_s): (f64, f64),
    speed: f64,
) -> Vec<f64> {
    let length = |random: &mut Random, is_fast: bool| {
        let mean = if is_fast { fast_s } else { slow_s };
        -mean * (1.0 - unit(random)).max(f64::MIN_POSITIVE).ln()
    };
    let mut is_fast = unit(random) < fast_s / (fast_s + slow_s);
    let mut left_s = length(random, is_fast);
    let mut second = || {
        let (mut to_go_s, mut worked) = (1.0, 0.0);
        while to_go_s > 0.0 {
            let piece_s = left_s.min(to_go_s);
            worked += piece_s * if is_fast { 1.0 } else { speed };
            (to_go_s, left_s) = (to_go_s - piece_s, left_s - piece_s);
            if left_s <= 0.0 {
                is_fast = !is_fast;
                left_s = length(random, is_fast);
            }
        }
        worked
    };
    (0..seconds).map(|_| second()).collect()
}

fn others() -> Table {
    let row = |(name, other): (&str, Other)| {
        let cell = |seconds: usize| {
            let holds = percent(&format!("{name}, {seconds} s"), SETS, |random| {
                let (values, truth) = other.seconds(random, seconds);
                holds(alone(&values), truth)
            });
            format!("{holds:.0}")
        };
        std::iter::once(name.to_owned()).chain(SECONDS_OF_OTHERS.map(cell)).collect()
    };
    Table {
        caption: format!(
            "Percentage of {SETS} trials with an interval that contains the true mean. No autoregression describes \
             these servers."
        ),
        head: std::iter::once("server".to_owned())
            .chain(SECONDS_OF_OTHERS.map(|s| format!("{s} s")))
            .collect(),
        rows: OTHERS.into_iter().map(row).collect(),
    }
}

fn real() -> Table {
    let row = |(name, seconds): (&str, &str)| {
        let rates: Vec<f64> = seconds.lines().filter_map(|line| line.trim().parse().ok()).collect();
        let whole = stats::mean(&rates).unwrap_or(f64::NAN);
        let cell = |length: usize| {
            let windows: Vec<&[f64]> = rates.windows(length).collect();
            let held = windows.iter().filter(|window| holds(alone(window), whole)).count();
            format!("{:.0} of {}", 100.0 * held as f64 / windows.len() as f64, windows.len())
        };
        std::iter::once(name.to_owned()).chain(SECONDS_OF_WINDOWS.map(cell)).collect()
    };
    Table {
        caption: "The first figure is the percentage of windows with an interval that contains the mean of all seconds. \
            The second is the number of overlapping windows.".to_owned(),
        head: std::iter::once("server".to_owned()).chain(SECONDS_OF_WINDOWS.map(|s| format!("{s} s"))).collect(),
        rows: REAL.into_iter().map(row).collect(),
    }
}
