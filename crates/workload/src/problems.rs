//! Mistakes in the parameters of a job, gathered so that all of them are told at once.

use load::Span;

use crate::JobError;

/// Longest time of any parameter: all of them together are reckoned with in nanoseconds of 64 bits.
const SPAN_MAX: Span = Span::seconds(365 * 24 * 3600);

/// The mistakes found so far.
#[derive(Debug, Default)]
pub(crate) struct Problems(pub(crate) Vec<JobError>);

impl Problems {
    pub(crate) fn add(&mut self, parameter: &'static str, problem: impl Into<String>) {
        self.0.push(JobError { parameter, problem: problem.into() });
    }

    /// A value must be in a range, its ends included.
    pub(crate) fn within<T: PartialOrd + std::fmt::Display + Copy>(
        &mut self,
        parameter: &'static str,
        given: Option<T>,
        low: T,
        high: T,
    ) {
        if let Some(value) = given.filter(|value| !(low..=high).contains(value)) {
            self.add(parameter, format!("cannot be {value}: give {low} to {high}"));
        }
    }

    /// A time must be longer than nothing.
    pub(crate) fn some_time(&mut self, parameter: &'static str, given: Option<Span>) {
        if given == Some(Span::ZERO) {
            self.add(parameter, "cannot be 0s: give a duration such as 1s");
        }
    }

    /// A time must not be longer than a year.
    pub(crate) fn no_age(&mut self, parameter: &'static str, given: Option<Span>) {
        if let Some(span) = given.filter(|&span| span > SPAN_MAX) {
            self.add(parameter, format!("cannot be {span}: give at most {SPAN_MAX}"));
        }
    }
}
