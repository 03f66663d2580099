//! Events that one core collects, buffers and hands over to a sink that does nothing: `cargo xtask bench historian`.
#![expect(clippy::print_stdout, reason = "a program for one benchmark, not a part of prony")]

fn main() {
    println!("{}", workload::historian::pipeline_events_per_s(20_000_000));
}
