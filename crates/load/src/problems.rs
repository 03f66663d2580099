//! Mistakes in the parameters of a job, gathered so that all of them are told at once.
//!
//! A mistake carries the name of its parameter, and a remedy names others as [`record::Parameter`]: how either is spelled where
//! it was given, on the command line or in a study file, is known to the program alone.

use std::fmt::Display;

use crate::Span;

/// Longest time of any parameter: all of them together are reckoned with in nanoseconds of 64 bits.
const SPAN_MAX: Span = Span::seconds(365 * 24 * 3600);

/// A parameter that cannot be, or that contradicts another.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{parameter} {problem}")]
pub struct JobError {
    /// Name of the parameter as in the workload's table of a study file.
    pub parameter: &'static str,
    /// Value, what is wrong with it, and what to do.
    pub problem: String,
}

/// The mistakes found so far.
#[derive(Debug, Default)]
pub struct Problems(Vec<JobError>);

impl Problems {
    /// One more.
    pub fn add(&mut self, parameter: &'static str, problem: impl Into<String>) {
        self.0.push(JobError { parameter, problem: problem.into() });
    }

    /// A value must be in a range, its ends included.
    pub fn within<T: PartialOrd + Display + Copy>(
        &mut self,
        parameter: &'static str,
        given: Option<T>,
        low: T,
        high: T,
    ) {
        if let Some(value) = given.filter(|value| !(low..=high).contains(value)) {
            self.add(parameter, format!("cannot be {}: give {low} to {high}", short(value)));
        }
    }

    /// A time must be longer than nothing.
    pub fn some_time(&mut self, parameter: &'static str, given: Option<Span>) {
        if given == Some(Span::ZERO) {
            self.add(parameter, "cannot be 0s: give a duration such as 1s");
        }
    }

    /// A time must not be longer than a year.
    pub fn no_age(&mut self, parameter: &'static str, given: Option<Span>) {
        if let Some(span) = given.filter(|&span| span > SPAN_MAX) {
            self.add(parameter, format!("cannot be {span}: give at most {SPAN_MAX}"));
        }
    }

    /// What was found, if anything.
    ///
    /// # Errors
    /// All mistakes at once.
    pub fn none(self) -> Result<(), Vec<JobError>> {
        if self.0.is_empty() { Ok(()) } else { Err(self.0) }
    }
}

/// Digits of a number that is read as it is.
const DIGITS_MAX: usize = 16;

/// A value as a sentence shows it: a number that has more digits than anybody counts gets an exponent.
pub fn short(value: impl Display) -> String {
    let text = value.to_string();
    match text.parse::<f64>() {
        Ok(number) if text.len() > DIGITS_MAX => format!("{number:e}"),
        Ok(_) | Err(_) => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rate of 1e308 a second was quoted with 309 digits.
    #[test]
    fn a_huge_number_is_told_with_its_exponent() {
        let mut problems = Problems::default();
        problems.within("rate", Some(1e308), 0.1, 1e9);
        problems.within("n_searches", Some(5_000_000_000_u64), 1, 1_000);
        let told: Vec<String> = problems.none().unwrap_err().iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "rate cannot be 1e308: give 0.1 to 1000000000",
                "n_searches cannot be 5000000000: give 1 to 1000"
            ]
        );
        let all =
            [short(1e-300), short(0.001), short(u64::MAX), short("18446744073709551616 rows"), short("max")];
        assert_eq!(all, ["1e-300", "0.001", "1.8446744073709552e19", "18446744073709551616 rows", "max"]);
    }
}
