//! A latency distribution in bins of equal width by factors, coarse enough to be drawn.

use record::Latency;

/// Bins a factor of ten.
const PER_DECADE: f64 = 12.0;

/// Counts by latency.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bins {
    /// Number of the first bin; bin i begins at 10^(i / 12) µs.
    first: i32,
    counts: Vec<u64>,
    /// All samples.
    pub(crate) count: u64,
    /// Median, where enough samples support it.
    pub(crate) p50_us: Option<f64>,
    /// 99th percentile, likewise.
    pub(crate) p99_us: Option<f64>,
}

impl Bins {
    pub(crate) fn of(latency: &Latency) -> Self {
        let number = |us: f64| (us.max(1e-3).log10() * PER_DECADE).floor() as i32;
        let cells: Vec<(i32, u64)> = latency
            .cells()
            .map(|(low_us, high_us, count)| (number((low_us + high_us) / 2.0), count))
            .collect();
        let (Some(first), Some(last)) = (cells.first(), cells.last()) else {
            return Self::default();
        };
        let first = first.0;
        let mut counts = vec![0; usize::try_from(last.0 - first).unwrap_or(0) + 1];
        for (bin, count) in cells {
            counts[usize::try_from(bin - first).unwrap_or(0)] += count;
        }
        Self {
            first,
            counts,
            count: latency.count(),
            p50_us: latency.percentile_us(50.0),
            p99_us: latency.percentile_us(99.0),
        }
    }

    /// Begin and end in microseconds and the share (0–1) of each bin, rising.
    pub(crate) fn shares(&self) -> impl Iterator<Item = (f64, f64, f64)> + '_ {
        let edge = |bin: i32| 10f64.powf(f64::from(bin) / PER_DECADE);
        let bins = (self.first..).zip(&self.counts);
        bins.map(move |(bin, count)| (edge(bin), edge(bin + 1), *count as f64 / self.count as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_is_in_one_bin() {
        let mut latency = Latency::new();
        for ns in [1, 900, 1_000, 85_000, 85_100, 40_000_000, 3_600_000_000_000] {
            latency.record_ns(ns);
        }
        let bins = Bins::of(&latency);
        assert_eq!(bins.counts.iter().sum::<u64>(), 7);
        assert!((bins.shares().map(|bin| bin.2).sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(bins.shares().any(|(low, high, share)| low <= 85.0 && high > 85.0 && share > 0.28));
        assert_eq!(Bins::of(&Latency::new()).shares().count(), 0);
    }
}
