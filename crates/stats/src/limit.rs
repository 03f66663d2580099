//! Whether the load generator, and not the target, set a trial's figures.
//!
//! Three signs, each enough to make the trial invalid. The thresholds are choices, not laws; they are stated in the
//! sentences. It does not say what the target's own limit was, nor compare with a calibrated rate.

/// A late sending that is never held against the client, in microseconds.
const LAG_ALWAYS_ALLOWED_US: f64 = 1000.0;

/// Lag that is allowed as a share of the median response time: what can barely be seen in it.
const LAG_SHARE_MAX: f64 = 0.10;

/// Busiest thread's share of a core above which it is short of time.
const THREAD_SHARE_MAX: f64 = 0.80;

/// Share of operations that may wait for a slot: as many as lie beyond the percentile by which the lag is judged.
const CAPPED_SHARE_MAX: f64 = 0.01;

/// One sign that the client was the bottleneck; displayed as a sentence with its numbers.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ClientLimit {
    /// Operations left the client too long after they were due.
    #[error(
        "operations were sent late: the p99 of the lag is {lag_p99_us:.0} µs, and {allowed_us:.0} µs are allowed \
         (1 ms or 10 % of the p50 response, whichever is more)"
    )]
    SentLate {
        /// 99th percentile of sending − due time, in microseconds.
        lag_p99_us: f64,
        /// Greatest allowed lag, in microseconds.
        allowed_us: f64,
    },
    /// A load thread had hardly time to spare.
    #[error(
        "the busiest load thread used {:.0} % of a core, and {:.0} % are allowed",
        busiest_thread_share * 100.0,
        THREAD_SHARE_MAX * 100.0
    )]
    ThreadBusy {
        /// Share (0–1) of one core that it used.
        busiest_thread_share: f64,
    },
    /// So many operations were in flight that further ones waited in the client.
    #[error(
        "{:.0} % of the operations fell due while as many as allowed were in flight, and waited in the client; {:.0} % \
         are allowed. Allow more outstanding; if the rate does not rise with them, the target is the limit",
        capped_share * 100.0,
        CAPPED_SHARE_MAX * 100.0
    )]
    InFlightCapHit {
        /// Share (0–1) of the operations that waited.
        capped_share: f64,
    },
}

/// All signs that the client limited a trial; none means that it did not. The lag and the response time (p99 and
/// p50, in microseconds) are absent in a closed loop, where nothing is due; an unknown response allows 1 ms of lag.
#[must_use]
pub fn client_limited(
    lag_p99_us: Option<f64>,
    response_p50_us: Option<f64>,
    busiest_thread_share: f64,
    capped_share: f64,
) -> Vec<ClientLimit> {
    // f64::max ignores a NaN, and NaN exceeds nothing.
    let allowed_us = response_p50_us.map_or(0.0, |us| us * LAG_SHARE_MAX).max(LAG_ALWAYS_ALLOWED_US);
    let late = lag_p99_us
        .filter(|&lag_p99_us| lag_p99_us > allowed_us)
        .map(|lag_p99_us| ClientLimit::SentLate { lag_p99_us, allowed_us });
    let busy =
        (busiest_thread_share > THREAD_SHARE_MAX).then_some(ClientLimit::ThreadBusy { busiest_thread_share });
    let capped = (capped_share > CAPPED_SHARE_MAX).then_some(ClientLimit::InFlightCapHit { capped_share });
    [late, busy, capped].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(
        lag_p99_us: Option<f64>,
        response_p50_us: Option<f64>,
        busiest_thread_share: f64,
        capped_share: f64,
        sentences: &[&str],
    ) {
        let limits = client_limited(lag_p99_us, response_p50_us, busiest_thread_share, capped_share);
        assert_eq!(limits.iter().map(ToString::to_string).collect::<Vec<_>>(), sentences);
    }

    #[test]
    fn each_sign_is_a_sentence_with_its_numbers() {
        let late = |lag: u32, allowed: u32| {
            format!(
                "operations were sent late: the p99 of the lag is {lag} µs, and {allowed} µs are allowed \
                 (1 ms or 10 % of the p50 response, whichever is more)"
            )
        };
        let busy = "the busiest load thread used 93 % of a core, and 80 % are allowed";
        let capped = "37 % of the operations fell due while as many as allowed were in flight, and waited in the client; \
                      1 % are allowed. Allow more outstanding; if the rate does not rise with them, the target is the limit";
        check(Some(1001.0), Some(500.0), 0.1, 0.0, &[&late(1001, 1000)]);
        check(Some(2500.0), Some(20_000.0), 0.1, 0.0, &[&late(2500, 2000)]);
        check(Some(1500.0), None, 0.1, 0.0, &[&late(1500, 1000)]);
        check(None, None, 0.93, 0.0, &[busy]);
        check(None, None, 0.0, 0.37, &[capped]);
        check(Some(1e4), Some(1.0), 0.93, 0.37, &[&late(10_000, 1000), busy, capped]);
    }

    #[test]
    fn thresholds_themselves_are_allowed() {
        check(Some(1000.0), Some(500.0), 0.80, 0.01, &[]);
        check(Some(2000.0), Some(20_000.0), 0.80, 0.01, &[]);
        check(None, None, 0.0, 0.0, &[]);
    }

    proptest! {
        #[test]
        fn a_later_or_busier_client_is_never_less_limited(
            lag in 0.0f64..1e5, response in 0.0f64..1e6, share in 0.0f64..1.0, more in 1.0f64..3.0,
        ) {
            let limits = client_limited(Some(lag), Some(response), share, 0.0).len();
            prop_assert!(client_limited(Some(lag * more), Some(response), share * more, 0.0).len() >= limits);
        }
    }
}
