//! The body of a procedure of PostgreSQL, in PL/pgSQL, which keeps the plans of its statements.
//!
//! A call is a transaction from its begin on. So what begins one is left out; a statement outside of one, and what ends one, ends that of the
//! procedure, but for the last, with which the call ends.

use super::text::{Lines, Sql, ended};
use super::words::{Gives, Transaction, gives, transaction};
use database::Dialect;

/// The statements of a body, each in its line.
pub(super) fn statements(all: &[Sql], lines: &mut Lines) {
    let mut is_open = false;
    for (number, Sql { line, text }) in all.iter().enumerate() {
        let is_last = number + 1 == all.len();
        match transaction(text, Dialect::Postgres) {
            Transaction::Begins => is_open = true,
            Transaction::Commits => {
                is_open = false;
                if !is_last {
                    lines.add(*line, "COMMIT;");
                }
            }
            Transaction::RollsBack => {
                is_open = false;
                lines.add(*line, "ROLLBACK;");
            }
            Transaction::No | Transaction::Other => {
                lines.add(*line, &statement(text));
                if !is_open && !is_last {
                    lines.add(*line, "COMMIT;");
                }
            }
        }
    }
}

/// A statement of PL/pgSQL. Rows have to go somewhere: into nothing.
fn statement(sql: &str) -> String {
    match gives(sql) {
        Gives::Nothing => ended(sql),
        Gives::Select(at) => ended(&format!("{}PERFORM{}", &sql[..at], &sql[at + "SELECT".len()..])),
        Gives::Rows => {
            let query = ended(sql);
            format!("FOR prony_row IN {} LOOP END LOOP;", query.trim_end_matches(';'))
        }
    }
}
