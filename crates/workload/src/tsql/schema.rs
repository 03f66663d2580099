//! What our T-SQL scripts make: tables with their columns, procedures with their parameters, and whatever else has a name.

use std::collections::{BTreeMap, BTreeSet};

use super::scan::Token;

/// Names as they are written, which our texts do in small letters.
#[derive(Debug, Default)]
pub(super) struct Schema {
    /// Columns of tables, table types and functions that give a table.
    pub(super) tables: BTreeMap<String, BTreeSet<String>>,
    /// Number of parameters of procedures.
    pub(super) procedures: BTreeMap<String, usize>,
    /// Indexes, constraints, triggers, partitions, catalogs.
    pub(super) others: BTreeSet<String>,
}

impl Schema {
    /// Adds what a batch makes.
    pub(super) fn add(&mut self, batch: &[Token<'_>]) {
        for (at, token) in batch.iter().enumerate() {
            if token.is("CREATE") {
                self.created(&batch[at + 1..]);
            }
            if token.is("CONSTRAINT") {
                self.others.extend(name(&batch[at + 1..]));
            }
        }
    }

    fn created(&mut self, rest: &[Token<'_>]) {
        let of_index = |token: &&Token<'_>| ["UNIQUE", "CLUSTERED"].iter().any(|word| token.is(word));
        let rest = &rest[rest.iter().take_while(of_index).count()..];
        let Some((kind, rest)) = rest.split_first() else { return };
        let Some(made) = name(rest) else { return };
        if kind.is("TABLE") || kind.is("TYPE") {
            self.tables.insert(made, columns(rest));
        } else if kind.is("PROCEDURE") {
            let parameters = rest.iter().take_while(|token| !token.is("AS"));
            let parameters = parameters.filter(|token| matches!(token, Token::Variable(_))).count();
            self.procedures.insert(made, parameters);
        } else if kind.is("FUNCTION") {
            let selected = rest.iter().skip_while(|token| !token.is("SELECT")).skip(1);
            let selected = selected.take_while(|token| !token.is("FROM"));
            self.tables.insert(made, selected.filter_map(|token| token.word()).map(str::to_owned).collect());
        } else if kind.is("PARTITION") || kind.is("FULLTEXT") {
            // After the word that says whether it is a function, a scheme or a catalog. A full-text index has no name.
            self.others.extend(name(&rest[1..]).filter(|_| !rest[0].is("INDEX")));
        } else {
            self.others.insert(made);
        }
    }

    /// Whether anything has this name.
    pub(super) fn knows(&self, word: &str) -> bool {
        self.tables.contains_key(word)
            || self.tables.values().any(|columns| columns.contains(word))
            || self.procedures.contains_key(word)
            || self.others.contains(word)
    }

    /// All names.
    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        let columns = self.tables.values().flatten();
        self.tables.keys().chain(columns).chain(self.procedures.keys()).chain(&self.others)
    }
}

fn name(rest: &[Token<'_>]) -> Option<String> {
    rest.first()?.word().map(str::to_owned)
}

/// What stands first in each part of the first list in brackets, but for constraints.
fn columns(rest: &[Token<'_>]) -> BTreeSet<String> {
    let list = rest.iter().skip_while(|token| **token != Token::Sign('('));
    let (mut depth, mut found, mut begins) = (0, BTreeSet::new(), false);
    for token in list {
        match token {
            Token::Sign('(') => depth += 1,
            Token::Sign(')') => depth -= 1,
            Token::Word(word) if begins && !["CONSTRAINT", "PRIMARY", "UNIQUE"].contains(word) => {
                found.insert((*word).to_owned());
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
        begins = depth == 1 && matches!(token, Token::Sign('(' | ','));
    }
    found
}
