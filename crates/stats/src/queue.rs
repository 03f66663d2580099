//! Operations in flight, from their rate and their duration.
//!
//! It gives the depth that was reached, which may be less than the depth that was asked for. It does not model
//! waiting and predicts nothing about other rates.

/// Mean number of operations in flight at a completed rate and a mean service time: Little's law, L = λW (Little,
/// "A proof for the queuing formula: L = λW", Operations Research 9, 1961). Exact where the run is long against one
/// operation. Finite for every rate and service time that was measured; the caller has seen to it that they were.
#[must_use]
pub fn mean_in_flight(rate_per_s: f64, mean_service_us: f64) -> f64 {
    rate_per_s * mean_service_us / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_flight_is_rate_times_duration() {
        for (rate_per_s, mean_service_us, expected) in
            [(1000.0, 1000.0, 1.0), (80_000.0, 400.0, 32.0), (100.0, 2500.0, 0.25), (0.0, 100.0, 0.0)]
        {
            let in_flight = mean_in_flight(rate_per_s, mean_service_us);
            assert!((in_flight - expected).abs() < 1e-12, "{in_flight} against {expected}");
        }
    }
}
