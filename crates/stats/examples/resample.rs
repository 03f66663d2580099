//! How long a bootstrap of 10,000 resamples over 100 blocks takes: the least of five, in milliseconds.

use std::hint::black_box;
use std::time::Instant;

#[allow(clippy::print_stdout)]
fn main() {
    let blocks: Vec<f64> = (0..100).map(|block| 100.0 + f64::from(block % 7)).collect();
    let mean = |drawn: &[&f64]| Some(drawn.iter().copied().sum::<f64>() / drawn.len() as f64);
    let once = |seed| {
        let started = Instant::now();
        black_box(stats::bootstrap(black_box(&blocks), mean, seed));
        started.elapsed()
    };
    if let Some(least) = (0..5).map(once).min() {
        println!("{:.3}", least.as_secs_f64() * 1e3);
    }
}
