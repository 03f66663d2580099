//! Whether the load generator, and not the target, set a trial's figures.
//!
//! Signs, each enough to make the trial invalid. The thresholds are choices, not laws; they are stated here once, and in the
//! sentences. It does not say what the target's own limit was, nor whether it held a rate (see `held`): operations that
//! waited because the target had not answered others are the target's doing.

/// A late sending that is never held against the client, in microseconds.
const LAG_ALWAYS_ALLOWED_US: f64 = 1000.0;

/// Lag that is allowed as a share of the median response time: what can barely be seen in it.
const LAG_SHARE_MAX: f64 = 0.10;

/// Busiest thread's share of a core above which it is short of time.
const THREAD_SHARE_MAX: f64 = 0.80;

/// Share of the rate that a client reaches without a target up to which that rate can be trusted.
pub const CALIBRATED_SHARE_MAX: f64 = 0.50;

/// Share of operations that may wait for a slot: as many as lie beyond the percentile by which the lag is judged. From here
/// on, late sendings are the target's.
const WAITED_SHARE_MAX: f64 = 0.01;

/// Age that 99 of 100 events of a historian may have when its buffer is offered them, in milliseconds. A later event is no
/// fault of the figures, since its response counts from when it was due; past this the offered load is another one than the
/// one asked for.
const EVENT_LAG_MS_MAX: f64 = 100.0;

/// A pause as long as this makes any trial invalid, in milliseconds: its longest latencies are those of the client.
const PAUSE_MS_MAX: f64 = 1_000.0;

/// Share of a window that pauses may make up: a rate is off by as much, and so many latencies lie beyond the 99th
/// percentile.
const PAUSED_SHARE_MAX: f64 = 0.01;

/// Pauses that are never held against the client, all together, in milliseconds: a machine that also runs the server makes
/// a few of 20 to 50 ms in a minute when it is crowded, and a window of a second would be invalid by chance.
const PAUSED_ALWAYS_ALLOWED_MS: f64 = 250.0;

/// A pause that does not make a trial invalid, but can be seen in its longest latencies, in milliseconds.
const PAUSE_SEEN_MS: f64 = 100.0;

/// One sign that the client was the bottleneck; displayed as a sentence with its numbers.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ClientLimit {
    /// The whole client stood still.
    #[error(
        "the load generator itself stood still for {sum_ms:.0} ms in total (limit {:.0} ms), and for {longest_ms:.0} ms at a \
         time (limit {PAUSE_MS_MAX} ms). It was stopped or got no CPU. Measure again with nothing else on its CPUs",
        allowed_ms(*window_s)
    )]
    Paused {
        /// Longest pause in milliseconds.
        longest_ms: f64,
        /// All pauses in milliseconds.
        sum_ms: f64,
        /// Length of the window in seconds.
        window_s: f64,
    },
    /// Operations left the client too long after they were due.
    #[error(
        "operations were sent late: the p99 lag is {} (limit {}, the larger of 1 ms and 10% of the p50 response time)",
        time(*lag_p99_us),
        time(*allowed_us)
    )]
    SentLate {
        /// 99th percentile of sending − due time, in microseconds.
        lag_p99_us: f64,
        /// Greatest allowed lag, in microseconds.
        allowed_us: f64,
    },
    /// A historian's events were offered too late.
    #[error("1% of records were offered more than {lag_p99_ms:.0} ms late (limit {EVENT_LAG_MS_MAX} ms)")]
    EventsLate {
        /// 99th percentile of offering − due time, in milliseconds.
        lag_p99_ms: f64,
    },
    /// A load thread had hardly time to spare.
    #[error(
        "the busiest load thread used {:.0}% of a CPU (limit {:.0}%)",
        busiest_thread_share * 100.0,
        THREAD_SHARE_MAX * 100.0
    )]
    ThreadBusy {
        /// Share (0–1) of one core that it used.
        busiest_thread_share: f64,
    },
}

/// What was measured of a client's pauses within a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stood {
    /// Longest one in milliseconds.
    pub longest_ms: f64,
    /// All of them in milliseconds.
    pub sum_ms: f64,
    /// Length of the window in seconds.
    pub window_s: f64,
}

/// That the client stood still too long for any figure of it to mean something, if it did.
#[must_use]
pub fn paused(stood: Stood) -> Option<ClientLimit> {
    let Stood { longest_ms, sum_ms, window_s } = stood;
    let too_long = longest_ms >= PAUSE_MS_MAX || sum_ms > allowed_ms(window_s);
    too_long.then_some(ClientLimit::Paused { longest_ms, sum_ms, window_s })
}

/// Whether a pause that does not make the figures invalid can be seen in the longest latencies.
#[must_use]
pub fn pause_seen(stood: Stood) -> bool {
    stood.longest_ms >= PAUSE_SEEN_MS && paused(stood).is_none()
}

/// That a thread had hardly time to spare, if so.
#[must_use]
pub fn thread_busy(busiest_thread_share: f64) -> Option<ClientLimit> {
    (busiest_thread_share > THREAD_SHARE_MAX).then_some(ClientLimit::ThreadBusy { busiest_thread_share })
}

/// Whether load threads that used this share of all cores were together short of time.
#[must_use]
pub fn cores_busy(all_cores_share: f64) -> bool {
    all_cores_share > THREAD_SHARE_MAX
}

/// Share of a latency's limit that is too little to decide whether it is kept.
const LAG_LIMIT_SHARE_MAX: f64 = 0.01;

/// As [`sent_late`], where a latency is held against a limit in microseconds: response times count from due times, so lateness makes
/// a latency longer and never shorter, and matters only if it is a part of the limit.
#[must_use]
pub fn late_for_limit(
    lag_p99_us: f64,
    response_p50_us: Option<f64>,
    limit_us: Option<f64>,
) -> Option<ClientLimit> {
    let late = sent_late(lag_p99_us, response_p50_us)?;
    let matters = limit_us.is_none_or(|limit_us| lag_p99_us > limit_us * LAG_LIMIT_SHARE_MAX);
    matters.then_some(late)
}

/// That operations were sent late, whyever: the lag and the response time are their p99 and p50 in microseconds. An unknown
/// response allows 1 ms of lag.
#[must_use]
pub fn sent_late(lag_p99_us: f64, response_p50_us: Option<f64>) -> Option<ClientLimit> {
    // f64::max ignores a NaN, and NaN exceeds nothing.
    let allowed_us = response_p50_us.map_or(0.0, |us| us * LAG_SHARE_MAX).max(LAG_ALWAYS_ALLOWED_US);
    (lag_p99_us > allowed_us).then_some(ClientLimit::SentLate { lag_p99_us, allowed_us })
}

/// That a historian's events came too late, if they did.
#[must_use]
pub fn events_late(lag_p99_ms: f64) -> Option<ClientLimit> {
    (lag_p99_ms > EVENT_LAG_MS_MAX).then_some(ClientLimit::EventsLate { lag_p99_ms })
}

/// Whether so large a share of the operations waited for answers that the target set when they were sent.
#[must_use]
pub fn target_was_behind(waited_share: f64) -> bool {
    waited_share > WAITED_SHARE_MAX
}

/// Microseconds in a unit that suits their number.
fn time(us: f64) -> String {
    match us {
        us if us < 10_000.0 => format!("{us:.0} µs"),
        us if us < 1_000_000.0 => format!("{:.1} ms", us / 1e3),
        us => format!("{:.2} s", us / 1e6),
    }
}

fn allowed_ms(window_s: f64) -> f64 {
    (window_s * 1e3 * PAUSED_SHARE_MAX).max(PAUSED_ALWAYS_ALLOWED_MS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(limit: Option<ClientLimit>, sentence: Option<&str>) {
        assert_eq!(limit.map(|limit| limit.to_string()).as_deref(), sentence);
    }

    fn stood(longest_ms: f64, sum_ms: f64, window_s: f64) -> Stood {
        Stood { longest_ms, sum_ms, window_s }
    }

    #[test]
    fn four_fifths_of_all_cores_are_too_much() {
        assert_eq!([0.80, 0.81].map(cores_busy), [false, true]);
    }

    #[test]
    fn each_sign_is_a_sentence_with_its_numbers() {
        let late = |lag: u32, allowed: u32| {
            format!(
                "operations were sent late: the p99 lag is {lag} µs (limit {allowed} µs, the larger of 1 ms and 10% of the p50 \
                 response time)"
            )
        };
        check(sent_late(1001.0, Some(500.0)), Some(&late(1001, 1000)));
        check(sent_late(2500.0, Some(20_000.0)), Some(&late(2500, 2000)));
        check(sent_late(1500.0, None), Some(&late(1500, 1000)));
        let times = [9_999.0, 20_040.0, 4_752_146.0].map(time);
        assert_eq!(times, ["9999 µs", "20.0 ms", "4.75 s"]);
        check(thread_busy(0.93), Some("the busiest load thread used 93% of a CPU (limit 80%)"));
        check(events_late(230.0), Some("1% of records were offered more than 230 ms late (limit 100 ms)"));
        check(
            paused(stood(3_000.0, 3_050.0, 20.0)),
            Some(
                "the load generator itself stood still for 3050 ms in total (limit 250 ms), and for 3000 ms at a time (limit \
                 1000 ms). It was stopped or got no CPU. Measure again with nothing else on its CPUs",
            ),
        );
    }

    /// 1 % of the I/Os were 5.5 ms late, and a limit of 2 s was not judged.
    #[test]
    fn lateness_that_is_nothing_beside_a_limit_does_not_matter() {
        let late = |limit_us: Option<f64>| late_for_limit(5_500.0, Some(300.0), limit_us).is_some();
        assert!(!late(Some(2_000_000.0)) && !late(Some(550_000.0)));
        assert!(late(Some(500_000.0)) && late(Some(20_000.0)) && late(None));
        assert_eq!(late_for_limit(900.0, Some(300.0), Some(1.0)), None, "what is not late stays so");
    }

    #[test]
    fn thresholds_themselves_are_allowed() {
        check(sent_late(1000.0, Some(500.0)), None);
        check(sent_late(2000.0, Some(20_000.0)), None);
        check(thread_busy(0.80), None);
        check(events_late(100.0), None);
        check(paused(stood(250.0, 250.0, 10.0)), None);
        assert!(!target_was_behind(0.01));
    }

    /// What a scheduler does beside a busy server, in windows of every length.
    #[test]
    fn a_few_late_wakings_are_no_pause_and_a_stop_always_is() {
        for (longest_ms, sum_ms, window_s, invalid) in [
            (20.0, 80.0, 1.0, false),
            (110.0, 240.0, 2.0, false),
            (240.0, 590.0, 60.0, false),
            (300.0, 2_000.0, 3_600.0, false),
            (1_000.0, 1_000.0, 28_800.0, true),
            (980.0, 980.0, 10.0, true),
            (50.0, 5_000.0, 10.0, true),
        ] {
            let found = paused(stood(longest_ms, sum_ms, window_s));
            assert_eq!(found.is_some(), invalid, "{longest_ms} {sum_ms} {window_s}");
        }
        assert!(pause_seen(stood(300.0, 300.0, 3_600.0)) && !pause_seen(stood(30.0, 300.0, 3_600.0)));
        assert!(!pause_seen(stood(3_000.0, 3_000.0, 3_600.0)), "that is said otherwise");
    }

    proptest! {
        #[test]
        fn a_later_or_busier_client_is_never_less_limited(
            lag in 0.0f64..1e5, response in 0.0f64..1e6, share in 0.0f64..1.0, more in 1.0f64..3.0,
            longest in 0.0f64..2e3, sum in 0.0f64..1e4, window in 0.1f64..1e4,
        ) {
            let limited = |more: f64| {
                [
                    sent_late(lag * more, Some(response)).is_some(),
                    thread_busy(share * more).is_some(),
                    paused(stood(longest * more, sum * more, window)).is_some(),
                ]
            };
            prop_assert!(limited(1.0).iter().zip(limited(more)).all(|(less, more)| more >= *less));
        }
    }
}
