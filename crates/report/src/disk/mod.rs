//! What a report says of a disk: depth sweeps, steady state, an array's expectation, and the doubts about its figures.

pub(crate) mod chart;
pub(crate) mod expectation;
pub(crate) mod finding;
pub(crate) mod medium;
pub(crate) mod steady;
pub(crate) mod sweep;
pub(crate) mod sweep_chart;

pub use expectation::{Expectation, ExpectedFigure};
pub use steady::{MatrixCell, SteadyState};
pub use sweep::{Sweep, SweepPoint};
