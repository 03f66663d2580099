//! The report "messages by domain": over which messages it goes, and what it has to answer.

use std::ops::Range;

use database::Value;
use serde::{Deserialize, Serialize};

use super::answer::{Answer, RowMix};
use super::data::MessageData;
use super::pattern::Pattern;
use super::tables::{CLASSES, DEPARTMENT_NAMES, DOMAIN_COUNT, domain_name};

/// Share (0–1) of all messages that the published report returned.
pub(super) const PUBLISHED_SHARE: f64 = 14_374_260.0 / 150_000_000.0;

/// What a report returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum ReportResult {
    /// One row per message.
    #[default]
    Rows,
    /// One row per domain, with its messages and bytes.
    Aggregate,
}

impl ReportResult {
    /// Its name in study files and records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::Aggregate => "aggregate",
        }
    }
}

/// One report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Numbers of the messages within its dates.
    pub messages: Range<u64>,
    /// Of which departments.
    pub department: Pattern,
    /// Of which classifications.
    pub classification: Pattern,
    /// What it returns.
    pub result: ReportResult,
}

impl Report {
    /// All of a share (0–1) of the messages, from the middle of those that are loaded.
    #[must_use]
    pub fn of_share(data: &MessageData, share: f64, result: ReportResult) -> Self {
        let rows = ((data.events() as f64 * share).round() as u64).min(data.events());
        let first = (data.events() - rows) / 2;
        Self {
            messages: first..first + rows,
            department: Pattern::any(),
            classification: Pattern::any(),
            result,
        }
    }

    /// Its parameters: from (included) and to (not included) in microseconds since 1970-01-01 UTC, and the patterns.
    #[must_use]
    pub fn parameters(&self, data: &MessageData) -> [Value; 4] {
        [
            Value::I64(data.time_us(self.messages.start)),
            Value::I64(data.time_us(self.messages.end)),
            Value::Text(self.department.as_str().to_owned()),
            Value::Text(self.classification.as_str().to_owned()),
        ]
    }

    /// What it has to answer, by one pass over the messages within its dates. What arrives later makes no difference, as long
    /// as the dates end before it.
    #[must_use]
    pub fn expected(&self, data: &MessageData) -> Answer {
        match self.result {
            ReportResult::Rows => self.expected_rows(data),
            ReportResult::Aggregate => self.expected_aggregate(data),
        }
    }

    fn expected_rows(&self, data: &MessageData) -> Answer {
        let domains: Vec<String> = (1..=DOMAIN_COUNT).map(domain_name).collect();
        let mut answer = Answer::default();
        self.each(data, |message| {
            let mut mix = RowMix::default();
            mix.text(&domains[message.domain_id as usize - 1]);
            mix.number(message.message_id);
            mix.number(message.sent_us);
            mix.number(i64::from(message.sender_id));
            mix.text(DEPARTMENT_NAMES[message.department_id as usize - 1]);
            mix.text(CLASSES[message.classification_id as usize - 1].0);
            mix.number(i64::from(message.size_bytes));
            answer.add_mix(mix);
        });
        answer
    }

    fn expected_aggregate(&self, data: &MessageData) -> Answer {
        let mut domains = vec![(0_i64, 0_i64); DOMAIN_COUNT as usize];
        self.each(data, |message| {
            let (messages, bytes) = &mut domains[message.domain_id as usize - 1];
            *messages += 1;
            *bytes += i64::from(message.size_bytes);
        });
        let mut answer = Answer::default();
        for (domain, (messages, bytes)) in (1..).zip(domains).filter(|(_, (messages, _))| *messages > 0) {
            let mut mix = RowMix::default();
            mix.text(&domain_name(domain));
            mix.number(messages);
            mix.number(bytes);
            answer.add_mix(mix);
        }
        answer
    }

    /// Hands over each message that the report is about.
    fn each(&self, data: &MessageData, mut take: impl FnMut(&super::Message)) {
        let departments = DEPARTMENT_NAMES.map(|name| self.department.matches(name));
        let classes = CLASSES.map(|(name, _)| self.classification.matches(name));
        for number in self.messages.clone() {
            let message = data.message(number);
            let is_in = departments[message.department_id as usize - 1]
                && classes[message.classification_id as usize - 1];
            if is_in {
                take(&message);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reporting::Standing;

    #[test]
    fn a_report_has_the_published_share_of_any_size() {
        for (events, rows) in [(150_000_000, 14_374_260), (1_000_000, 95_828), (10, 1), (1, 0), (0, 0)] {
            let report = Report::of_share(
                &MessageData::new(Standing { events, days: 9, subject_bytes: 0, seed: 1 }),
                PUBLISHED_SHARE,
                ReportResult::Rows,
            );
            assert_eq!(report.messages.end - report.messages.start, rows, "{events}");
            assert!(report.messages.end <= events, "{events}");
        }
    }

    #[test]
    fn a_pattern_keeps_what_it_matches_and_both_halves_make_the_whole() {
        let data = MessageData::new(Standing { events: 50_000, days: 30, subject_bytes: 0, seed: 9 });
        let of = |classification: &str| {
            let classification = classification.parse().unwrap();
            let report = Report { classification, ..Report::of_share(&data, 0.1, ReportResult::Rows) };
            report.expected(&data)
        };
        let parts = ["internal", "p%", "confidential", "secret"].map(of);
        let sum = parts.iter().fold(0_u64, |sum, part| sum.wrapping_add(part.sum));
        let rows = parts.iter().map(|part| part.rows).sum();
        assert_eq!(of("%"), Answer { rows, sum });
        assert!(parts.iter().all(|part| part.rows > 0), "{parts:?}");
        assert_eq!(of("nothing"), Answer::default());
    }
}
