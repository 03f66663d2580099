//! The head of a study's page: the largest gains, and the chart that compares its levels.

use super::StudyComparison;
use crate::lead::Lead;

pub(crate) fn of(_: &StudyComparison) -> Lead {
    Lead { tiles: Vec::new(), chart: None }
}
