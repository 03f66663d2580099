//! Messages: each is made from the seed and its number, whatever was made before it and however many there are.

use std::ops::Range;

use database::{Rows, Value};

use super::skew::Zipf;
use super::store::Standing;
use super::tables::{CLASSES, DEPARTMENT_NAMES, DOMAIN_COUNT};

/// How many senders there are.
const SENDER_COUNT: u32 = 20_000;
/// When the first message was sent: 2020-01-01 UTC, in microseconds since 1970.
const FIRST_US: i64 = 1_577_836_800_000_000;
/// Bytes at which a subject may begin.
const TEXT_BYTES: usize = 1 << 16;
/// Length of a day.
const DAY_US: u64 = 86_400_000_000;
/// Longest time for each message, so that the times of two thousand million more of them fit.
const STEP_MAX_US: u64 = DAY_US / 24;
/// Least size of a message, and how often it may double.
const SIZE_BYTES_LEAST: u32 = 1_024;
const SIZE_DOUBLINGS: u32 = 12;

/// One message; keys count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its key: its number plus 1.
    pub message_id: i64,
    /// When it was sent, in microseconds since 1970-01-01 UTC. A later number was sent later or at the same time.
    pub sent_us: i64,
    /// Who sent it.
    pub sender_id: u32,
    /// Domain of who received it.
    pub domain_id: u32,
    /// Department of the sender, always the same of one sender.
    pub department_id: u32,
    /// Classification.
    pub classification_id: u32,
    /// Size in bytes.
    pub size_bytes: u32,
}

/// All messages of a seed.
#[derive(Clone, Debug)]
pub struct MessageData {
    standing: Standing,
    /// What subjects are cut from.
    text: String,
    /// Time for each message.
    step_us: u64,
    key: u64,
    domains: Zipf,
    senders: Zipf,
    /// Department of each sender.
    departments: Vec<u32>,
    /// Classifications, of a thousand.
    classes: Vec<u32>,
}

impl MessageData {
    /// Messages from number 0 up to `events`, evenly spread over so many days, but an hour apart at most; those beyond can be made too,
    /// as what arrives later.
    #[must_use]
    pub fn new(standing: Standing) -> Self {
        let Standing { events, days, subject_bytes, seed } = standing;
        // A seed and its neighbour must not share rows, as a sum of seed and number would.
        let key = mixed(seed ^ 0x6d65_7373_6167_6573);
        let departments = Zipf::new(DEPARTMENT_NAMES.len() as u32);
        let department = |sender| departments.kind(mixed(mixed(!key) ^ u64::from(sender))) + 1;
        let classes = (1..).zip(CLASSES).flat_map(|(id, (_, share))| std::iter::repeat_n(id, share as usize));
        Self {
            standing,
            text: words(key, TEXT_BYTES + subject_bytes as usize),
            step_us: (u64::from(days) * DAY_US / events.max(1)).clamp(1, STEP_MAX_US),
            key,
            domains: Zipf::new(DOMAIN_COUNT),
            senders: Zipf::new(SENDER_COUNT),
            departments: (0..SENDER_COUNT).map(department).collect(),
            classes: classes.collect(),
        }
    }

    /// How many messages a load makes.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.standing.events
    }

    /// Which messages they are.
    #[must_use]
    pub fn standing(&self) -> Standing {
        self.standing
    }

    /// When the time of a message begins, which ends where that of the next one begins, in microseconds since 1970-01-01 UTC.
    #[must_use]
    pub fn time_us(&self, number: u64) -> i64 {
        FIRST_US + (number * self.step_us).cast_signed()
    }

    /// The message of this number.
    #[must_use]
    #[inline]
    pub fn message(&self, number: u64) -> Message {
        // SplitMix64 from a state that is itself mixed, so that neighbours share no numbers.
        let state = mixed(self.key.wrapping_add(number));
        let random = |index: u64| mixed(state.wrapping_add(index.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        let (sender, class, size) = (self.senders.kind(random(2)), random(3), random(4));
        let class = self.classes[below(class as u32, self.classes.len() as u32) as usize];
        let doubled = SIZE_BYTES_LEAST << below(size as u32, SIZE_DOUBLINGS);
        Message {
            message_id: number.cast_signed() + 1,
            sent_us: self.time_us(number) + below_64(random(5), self.step_us).cast_signed(),
            sender_id: sender + 1,
            domain_id: self.domains.kind(random(1)) + 1,
            department_id: self.departments[sender as usize],
            classification_id: class,
            size_bytes: doubled + below((size >> 32) as u32, doubled),
        }
    }

    /// A message's subject. No report reads it; it makes a message as wide as those of a real system.
    fn subject(&self, number: u64) -> String {
        match self.standing.subject_bytes as usize {
            0 => String::new(),
            bytes => {
                let begin = below(mixed(self.key ^ !number) as u32, TEXT_BYTES as u32) as usize;
                self.text[begin..begin + bytes].to_owned()
            }
        }
    }

    /// Adds messages to rows of [`super::MESSAGES`].
    pub fn write(&self, numbers: Range<u64>, rows: &mut Rows) {
        for number in numbers {
            let message = self.message(number);
            let integer = |number: u32| Value::I32(number.cast_signed());
            rows.push([
                Value::I64(message.message_id),
                Value::I64(message.sent_us),
                integer(message.sender_id),
                integer(message.domain_id),
                integer(message.department_id),
                integer(message.classification_id),
                integer(message.size_bytes),
                Value::Text(self.subject(number)),
            ]);
        }
    }
}

/// Words of letters, as many bytes.
fn words(key: u64, bytes: usize) -> String {
    let sign = |at: u64| match below(mixed(key.wrapping_add(at)) as u32, 32) {
        letter @ 0..26 => char::from(b'a' + letter as u8),
        _ => ' ',
    };
    (0..bytes as u64).map(sign).collect()
}

/// A number below `limit`, by the high half of a product.
#[inline]
fn below(random: u32, limit: u32) -> u32 {
    ((u64::from(random) * u64::from(limit)) >> 32) as u32
}

/// The same of a limit beyond 32 bits, by the high bits of a random number first.
#[inline]
fn below_64(random: u64, limit: u64) -> u64 {
    ((u128::from(random) * u128::from(limit)) >> 64) as u64
}

/// SplitMix64's last step: a bijection that spreads each bit over all others (Steele, Lea and Flood 2014, variant 13 of
/// Stafford).
#[inline]
pub(super) fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_message_depends_on_seed_and_number_alone(
            seed: u64,
            number in 0_u64..1 << 31,
            events in 1_u64..1 << 31,
            days in 1_u32..3_650,
        ) {
            let data = MessageData::new(Standing { events, days, subject_bytes: 0, seed });
            let message = data.message(number);
            let other = MessageData::new(Standing { events: 7, days: 1, subject_bytes: 9, seed }).message(number);
            prop_assert_eq!(Message { sent_us: message.sent_us, ..other }, message);
            prop_assert!((data.time_us(number)..data.time_us(number + 1)).contains(&message.sent_us));
            let end_us = FIRST_US + i64::from(days) * DAY_US.cast_signed();
            prop_assert!(number >= events || message.sent_us < end_us);
            prop_assert!((1..=SENDER_COUNT).contains(&message.sender_id));
            prop_assert!((1..=DOMAIN_COUNT).contains(&message.domain_id));
            prop_assert!((1..=DEPARTMENT_NAMES.len() as u32).contains(&message.department_id));
            prop_assert!((1..=CLASSES.len() as u32).contains(&message.classification_id));
            prop_assert!((SIZE_BYTES_LEAST..SIZE_BYTES_LEAST << SIZE_DOUBLINGS).contains(&message.size_bytes));
        }
    }

    fn first(seed: u64, count: u64) -> Vec<Message> {
        let data = MessageData::new(Standing { events: count, days: 365, subject_bytes: 0, seed });
        (0..count).map(|number| data.message(number)).collect()
    }

    #[test]
    fn neighbouring_seeds_share_no_stretch_of_messages() {
        let (one, other) = (first(1, 500), first(2, 500));
        let body = |message: &Message| (message.sender_id, message.domain_id, message.size_bytes);
        for shift in 0..10 {
            let same = std::iter::zip(&one[shift..], &other).filter(|(one, other)| body(one) == body(other));
            assert_eq!(same.count(), 0, "{shift}");
        }
    }

    #[test]
    fn shares_are_those_that_were_asked_for() {
        let messages = first(3, 200_000);
        let share = |of: &dyn Fn(&Message) -> bool| {
            messages.iter().filter(|message| of(message)).count() as f64 / messages.len() as f64
        };
        for (id, (name, of_thousand)) in (1..).zip(CLASSES) {
            let found = share(&|message| message.classification_id == id);
            assert!((found - f64::from(of_thousand) / 1e3).abs() < 0.005, "{name}: {found}");
        }
        // One over rank and over the sum of all: 9.788 of 10,000 domains.
        for rank in [1, 2, 10] {
            let found = share(&|message| message.domain_id == rank);
            assert!((found - 1.0 / f64::from(rank) / 9.788).abs() < 0.003, "{rank}: {found}");
        }
    }

    #[test]
    fn subjects_have_the_bytes_that_were_asked_for_and_differ() {
        let standing = Standing { events: 100, days: 4, subject_bytes: 300, seed: 1 };
        let data = MessageData::new(standing);
        let subjects: std::collections::BTreeSet<String> =
            (0..100).map(|number| data.subject(number)).collect();
        assert!(
            subjects.len() > 95 && subjects.iter().all(|subject| subject.len() == 300),
            "{}",
            subjects.len()
        );
        assert_eq!(MessageData::new(Standing { subject_bytes: 0, ..standing }).subject(5), "");
    }

    #[test]
    fn a_sender_is_of_one_department() {
        let mut of = std::collections::BTreeMap::new();
        for message in first(4, 50_000) {
            assert_eq!(*of.entry(message.sender_id).or_insert(message.department_id), message.department_id);
        }
    }
}
