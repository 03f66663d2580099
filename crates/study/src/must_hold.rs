//! Thresholds that are given beside a study, as a study file would have them.

use record::{Threshold, ThresholdError};

use crate::check::not_measured;
use crate::expand::points;
use crate::mistake::{StudyErrors, mistake};
use crate::study::Study;

impl Study {
    /// Adds thresholds as they were written. `accept_single` has one on what has no interval judged by its value.
    ///
    /// # Errors
    /// All that are none at once; a metric that is none is answered by those that this study measures.
    pub fn must_hold(&mut self, texts: &[String], accept_single: bool) -> Result<(), StudyErrors> {
        let mut errors = Vec::new();
        for text in texts {
            match text.parse::<Threshold>() {
                Ok(threshold) => self.thresholds.push(threshold),
                Err(error) => errors.push(mistake("thresholds", self.no_threshold(&error))),
            }
        }
        if accept_single && texts.is_empty() && self.thresholds.is_empty() {
            errors.push(mistake("accept_single", "no effect without a threshold. Give one, or remove it"));
        }
        self.accept_single |= accept_single;
        if errors.is_empty() { Ok(()) } else { Err(StudyErrors(errors)) }
    }

    fn no_threshold(&self, error: &ThresholdError) -> String {
        let points = points(self).unwrap_or_default();
        match error {
            ThresholdError::Metric { given } if !points.is_empty() => not_measured(given, self, &points),
            _ => None,
        }
        .unwrap_or_else(|| error.to_string())
    }
}
