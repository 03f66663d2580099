//! What clients do to a table until it is killed, and what of that is there afterwards. Pure.
//!
//! Each client has keys of its own and makes its changes one after the other, so that the number of those that were acknowledged says all
//! that has to be there. Of the next one nobody knows: it may have been done.

use record::{Crash, Killed};

use super::super::data::RowData;

/// Amounts that changes set begin here: those of loaded rows are smaller.
const MARK: i64 = 1_000_000_000_000;

/// The changes of clients: updates of loaded rows and inserts of new ones, in turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Changes {
    rows: u64,
    pub(super) clients: u64,
}

/// One change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) is_insert: bool,
    pub(super) key: u64,
    /// No two changes have the same.
    pub(super) amount: i64,
}

/// What became of changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) rows_before: u64,
    pub(super) rows_after: u64,
    pub(super) acknowledged: u64,
    /// Acknowledged changes that are not there: their clients, and their numbers.
    pub(super) lost: Vec<(u64, u64)>,
    pub(super) unanswered_there: u64,
    pub(super) unanswered_gone: u64,
    /// The first row that nobody made so.
    pub(super) wrong: Option<String>,
}

impl Found {
    /// It, as it is recorded of what was killed while so many clients changed rows that were promised to be durable or not; how old the oldest
    /// change was that is gone, and after how long all was back, in seconds.
    pub(super) fn after(
        self,
        killed: Killed,
        (clients, is_durable): (u32, bool),
        (lost_oldest_s, back_s): (Option<f64>, f64),
    ) -> Crash {
        Crash {
            killed,
            clients,
            is_durable,
            rows_before: self.rows_before,
            rows_after: self.rows_after,
            acknowledged: self.acknowledged,
            lost: self.lost.len() as u64,
            lost_oldest_s,
            unanswered_there: self.unanswered_there,
            unanswered_gone: self.unanswered_gone,
            back_s,
            wrong: self.wrong,
        }
    }
}

impl Changes {
    /// Of so many clients over the rows with the keys from 1; each has a row at least.
    pub(super) fn new(rows: u64, clients: u64) -> Self {
        Self { rows, clients: clients.min(rows) }
    }

    /// The change of a client with a number, both counted from 0.
    pub(super) fn of(&self, client: u64, number: u64) -> Change {
        let (turn, is_insert) = (number / 2, number % 2 == 1);
        let key = if is_insert {
            self.rows + 1 + client + turn * self.clients
        } else {
            client + 1 + (turn % self.own(client)) * self.clients
        };
        Change { is_insert, key, amount: MARK + (number * self.clients + client).cast_signed() }
    }

    /// Loaded rows that a client has for itself.
    fn own(&self, client: u64) -> u64 {
        (self.rows - client - 1) / self.clients + 1
    }

    /// The change that set an amount: its client and its number; none of a loaded one.
    fn by(&self, amount: i64) -> Option<(u64, u64)> {
        let change = u64::try_from(amount - MARK).ok()?;
        Some((change % self.clients, change / self.clients))
    }

    /// Sets the rows that are there against the changes that each client was told of.
    pub(super) fn compare(&self, data: &RowData, acknowledged: &[u64], rows: &[(i64, i64)]) -> Found {
        let mut there = There {
            changes: *self,
            acknowledged,
            newest: vec![None; self.rows as usize],
            inserted: acknowledged.iter().map(|count| vec![false; count.div_ceil(2) as usize + 1]).collect(),
            wrong: None,
        };
        for (key, amount) in rows {
            if let Err(wrong) = there.add(data, *key, *amount) {
                there.wrong.get_or_insert(wrong);
            }
        }
        let acknowledged_inserts: u64 = acknowledged.iter().map(|count| count / 2).sum();
        let mut found = Found {
            rows_before: self.rows + acknowledged_inserts,
            rows_after: rows.len() as u64,
            acknowledged: acknowledged.iter().sum(),
            wrong: there.wrong.take(),
            ..Found::default()
        };
        for (client, count) in (0..).zip(acknowledged) {
            found.lost.extend(
                (0..*count).filter(|number| !there.has(client, *number)).map(|number| (client, number)),
            );
            let unanswered = there.has(client, *count);
            found.unanswered_there += u64::from(unanswered);
            found.unanswered_gone += u64::from(!unanswered);
        }
        found
    }
}

/// What is there.
struct There<'a> {
    changes: Changes,
    acknowledged: &'a [u64],
    /// Of each loaded row the number of the last update that is there, counted from 1; 0 of one that is as it was loaded, none of one that is gone.
    newest: Vec<Option<u64>>,
    /// The inserts of each client.
    inserted: Vec<Vec<bool>>,
    wrong: Option<String>,
}

impl There<'_> {
    fn add(&mut self, data: &RowData, key: i64, amount: i64) -> Result<(), String> {
        let wrong = |why: &str| format!("the row with key {key} has an amount of {amount}: {why}");
        let by = self.changes.by(amount);
        let loaded = usize::try_from(key - 1).ok().filter(|place| *place < self.newest.len());
        let Some((client, number)) = by else {
            let place = loaded.ok_or_else(|| wrong("no client inserted this row"))?;
            if amount != data.amount(key.cast_unsigned()) {
                return Err(wrong("this is neither the loaded value nor a value that a client set"));
            }
            self.newest[place].get_or_insert(0);
            return Ok(());
        };
        if number > self.acknowledged[client as usize] {
            return Err(wrong("it belongs to a transaction that no client had reached"));
        }
        if self.changes.of(client, number).key != key.cast_unsigned() {
            return Err(wrong("a client wrote this value to another row"));
        }
        match loaded {
            Some(place) => self.newest[place] = Some(number + 1),
            None => self.inserted[client as usize][(number / 2) as usize] = true,
        }
        Ok(())
    }

    /// Whether a change is there, or was and was followed by a later one of the same row.
    fn has(&self, client: u64, number: u64) -> bool {
        let Change { is_insert, key, .. } = self.changes.of(client, number);
        if is_insert {
            return self.inserted[client as usize][(number / 2) as usize];
        }
        self.newest[key as usize - 1].is_some_and(|newest| newest > number)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const ROWS: u64 = 7;

    /// The table after clients came so far.
    fn table(data: &RowData, changes: Changes, done: &[u64]) -> BTreeMap<i64, i64> {
        let mut rows: BTreeMap<i64, i64> =
            (1..=ROWS).map(|key| (key.cast_signed(), data.amount(key))).collect();
        for (client, count) in (0..).zip(done) {
            for number in 0..*count {
                let Change { key, amount, .. } = changes.of(client, number);
                rows.insert(key.cast_signed(), amount);
            }
        }
        rows
    }

    fn compared(acknowledged: &[u64], done: &[u64], change: impl FnOnce(&mut BTreeMap<i64, i64>)) -> Found {
        let (data, changes) = (RowData::new(ROWS, 3), Changes::new(ROWS, acknowledged.len() as u64));
        let mut rows = table(&data, changes, done);
        change(&mut rows);
        changes.compare(&data, acknowledged, &rows.into_iter().collect::<Vec<_>>())
    }

    #[test]
    fn each_client_has_keys_of_its_own_and_each_change_an_amount_of_its_own() {
        let changes = Changes::new(ROWS, 3);
        let mut by_key: BTreeMap<u64, u64> = BTreeMap::new();
        let mut amounts = std::collections::BTreeSet::new();
        for client in 0..3 {
            for number in 0..40 {
                let Change { is_insert, key, amount } = changes.of(client, number);
                assert_eq!(is_insert, key > ROWS);
                assert_eq!(*by_key.entry(key).or_insert(client), client, "key {key}");
                assert!(amounts.insert(amount));
                assert_eq!(changes.by(amount), Some((client, number)));
            }
        }
        assert!((1..=ROWS).all(|key| by_key.contains_key(&key)), "every loaded row is changed");
        assert_eq!(Changes::new(2, 8).clients, 2, "no client is without a row");
    }

    #[test]
    fn what_is_all_there_has_lost_nothing_and_what_had_no_answer_may_be_there() {
        for (done, there) in [([5, 8, 0], 0), ([6, 8, 0], 1), ([6, 9, 1], 3)] {
            let found = compared(&[5, 8, 0], &done, |_| {});
            assert_eq!((found.lost.as_slice(), found.wrong.clone()), (&[][..], None), "{done:?}");
            assert_eq!((found.unanswered_there, found.unanswered_gone), (there, 3 - there), "{done:?}");
            assert_eq!((found.acknowledged, found.rows_before), (13, ROWS + 2 + 4));
        }
    }

    #[test]
    fn what_is_gone_is_lost_each_change_by_itself() {
        // The second client is put back by four of its changes: two updates and two inserts.
        let found = compared(&[5, 8, 0], &[5, 4, 0], |_| {});
        assert_eq!(found.lost, [(1, 4), (1, 5), (1, 6), (1, 7)]);
        let all = compared(&[5, 8, 1], &[5, 8, 1], BTreeMap::clear);
        assert_eq!((all.lost.len(), all.rows_after, all.unanswered_gone), (14, 0, 3));
        let loaded = compared(&[5, 8, 1], &[0, 0, 0], |_| {});
        assert_eq!((loaded.lost.len(), loaded.rows_after), (14, ROWS));
        let one = compared(&[5, 8, 0], &[5, 8, 0], |rows| {
            rows.remove(&(ROWS.cast_signed() + 1));
        });
        assert_eq!((one.lost.as_slice(), one.rows_after), (&[(0, 1)][..], ROWS + 5));
    }

    /// An update that is not there any more because a later one of the same row is is not lost.
    #[test]
    fn what_a_later_change_replaced_is_not_lost() {
        let found = compared(&[60], &[60], |_| {});
        assert_eq!(found.lost, []);
        let found = compared(&[60], &[59], |_| {});
        assert_eq!(found.lost, [(0, 59)]);
    }

    #[test]
    fn what_nobody_made_so_is_wrong() {
        let wrong =
            |row: (i64, i64)| compared(&[5, 8, 0], &[5, 8, 0], |rows| rows.extend([row])).wrong.unwrap();
        assert!(wrong((3, -7)).contains("neither the loaded value nor"));
        assert!(wrong((900, 5)).contains("no client inserted this row"));
        assert!(wrong((0, 5)).contains("no client inserted this row"));
        let never = Changes::new(ROWS, 3).of(0, 30);
        assert!(wrong((never.key.cast_signed(), never.amount)).contains("no client"));
        let other = Changes::new(ROWS, 3).of(0, 2);
        assert!(wrong((2, other.amount)).contains("wrote this value to another row"));
    }
}
