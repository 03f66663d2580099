//! What is looked at in a batch, each by a function that gives sentences.

use std::collections::{BTreeMap, BTreeSet};

use super::scan::{Token, tokens};
use super::schema::Schema;
use super::words::{FOREIGN, OTHERS, RESERVED, VIEWS};

/// Variables of the server's own.
/// Source: <https://learn.microsoft.com/en-us/sql/t-sql/functions/rowcount-transact-sql>.
const SERVERS_OWN: &[&str] = &["@@ROWCOUNT", "@@SPID"];
/// Types that a declaration names after a variable.
const TYPES: &[&str] = &["int", "bigint", "smallint", "varchar", "nvarchar", "float"];
/// Functions of a property, with the properties that we ask for; each page of the function lists them.
const PROPERTIES: &[(&str, &[&str])] = &[
    (
        "SERVERPROPERTY",
        &["EngineEdition", "InstanceDefaultDataPath", "InstanceDefaultLogPath", "ProductMajorVersion"],
    ),
    ("FULLTEXTSERVICEPROPERTY", &["IsFullTextInstalled"]),
];
/// What begins a text that is run as a statement.
const STATEMENTS: &[&str] = &["DROP ", "TRUNCATE ", "DBCC ", "ALTER ", "CREATE "];

pub(super) struct Checks<'s> {
    schema: &'s Schema,
    /// Names that scripts are given.
    given: &'s [&'s str],
}

impl<'s> Checks<'s> {
    pub(super) fn new(schema: &'s Schema, given: &'s [&'s str]) -> Self {
        Self { schema, given }
    }

    /// Names of ours that the server would take for a word of its own.
    pub(super) fn names(&self) -> Vec<String> {
        let reserved = |name: &&String| RESERVED.iter().any(|word| word.eq_ignore_ascii_case(name));
        self.schema.names().filter(reserved).map(|name| format!("`{name}` is a reserved word")).collect()
    }

    pub(super) fn of(&self, batch: &[Token<'_>]) -> Vec<String> {
        let aliases = self.aliases(batch);
        let mut found = self.words(batch, &aliases);
        found.extend(self.columns(batch, &aliases));
        found.extend(self.inserts(batch));
        found.extend(self.updates(batch));
        found.extend(self.calls(batch));
        found.extend(variables(batch));
        found.extend(properties(batch));
        found.extend(first_of_batch(batch));
        found.extend(closed(batch));
        found.extend(self.run_texts(batch));
        found
    }

    /// Second names of tables, with what they stand for where that is a table or view by itself, and names of results.
    fn aliases<'t>(&self, batch: &[Token<'t>]) -> BTreeMap<&'t str, Option<String>> {
        let mut found = BTreeMap::new();
        for (at, pair) in batch.windows(2).enumerate() {
            let [before, Token::Word(word)] = pair else { continue };
            // A trigger's rows are in two tables of their own.
            if before.is("AS")
                || (["inserted", "deleted"].iter().any(|of| before.is(of)) && !is_of_language(word))
            {
                found.insert(*word, None);
            } else if let Some(table) = before.word().and_then(|name| self.table(batch, at, name)) {
                if !is_of_language(word) {
                    found.insert(*word, Some(table));
                }
            } else if *before == Token::Sign(')') && !is_of_language(word) {
                found.insert(*word, None);
            }
        }
        found
    }

    /// The table or view that the word at a place names.
    fn table(&self, batch: &[Token<'_>], at: usize, name: &str) -> Option<String> {
        let is_of_sys = at >= 2 && batch[at - 1] == Token::Sign('.') && batch[at - 2].is("sys");
        match is_of_sys {
            true => VIEWS.iter().any(|view| view.name == name).then(|| format!("sys.{name}")),
            false => self.schema.tables.contains_key(name).then(|| name.to_owned()),
        }
    }

    fn has_column(&self, table: &str, column: &str) -> bool {
        match table.strip_prefix("sys.") {
            Some(view) => VIEWS.iter().any(|own| own.name == view && own.columns.contains(&column)),
            None => self.schema.tables.get(table).is_some_and(|columns| columns.contains(column)),
        }
    }

    fn words(&self, batch: &[Token<'_>], aliases: &BTreeMap<&str, Option<String>>) -> Vec<String> {
        let mut found = BTreeSet::new();
        for (at, token) in batch.iter().enumerate() {
            let Some(word) = token.word() else { continue };
            let is_of_sys = at >= 2 && batch[at - 1] == Token::Sign('.') && batch[at - 2].is("sys");
            if let Some((_, instead)) = FOREIGN.iter().find(|(foreign, _)| foreign.eq_ignore_ascii_case(word))
            {
                found.insert(format!("`{word}` is of another dialect: write {instead}"));
            } else if is_of_sys {
                if !VIEWS.iter().any(|view| view.name == word) {
                    found.insert(format!("`sys.{word}` is no view that is known"));
                }
            } else if !self.is_known(word, aliases) {
                found.insert(format!("`{word}` is no word of T-SQL and no name of ours"));
            }
        }
        found.into_iter().collect()
    }

    fn is_known(&self, word: &str, aliases: &BTreeMap<&str, Option<String>>) -> bool {
        is_of_language(word)
            || word == "sys"
            || self.schema.knows(word)
            || self.given.contains(&word)
            || aliases.contains_key(word)
            || VIEWS.iter().any(|view| view.columns.contains(&word))
    }

    /// Columns that are said to be of a table.
    fn columns(&self, batch: &[Token<'_>], aliases: &BTreeMap<&str, Option<String>>) -> Vec<String> {
        let of_table = |triple: &[Token<'_>]| {
            let [Token::Word(table), Token::Sign('.'), Token::Word(column)] = triple else { return None };
            let own = self.schema.tables.contains_key(*table).then(|| (*table).to_owned());
            let table_named = own.or_else(|| aliases.get(table).cloned().flatten())?;
            (!self.has_column(&table_named, column)).then(|| {
                format!(
                    "`{table}.{column}`: {table_named} has no column of this name{}",
                    source(&table_named)
                )
            })
        };
        batch.windows(3).filter_map(of_table).collect()
    }

    /// `INSERT INTO table (columns) VALUES (…)`.
    fn inserts(&self, batch: &[Token<'_>]) -> Vec<String> {
        let mut found = Vec::new();
        for (at, token) in batch.iter().enumerate() {
            let [into, Token::Word(table), Token::Sign('('), ..] = &batch[at + 1..] else { continue };
            if !token.is("INSERT") || !into.is("INTO") {
                continue;
            }
            let (columns, rest) = list(&batch[at + 3..]);
            found.extend(self.missing(table, &columns));
            if let [values, Token::Sign('('), ..] = rest
                && values.is("VALUES")
            {
                let (given, _) = list(&rest[1..]);
                if given.len() != columns.len() {
                    let (given, columns) = (given.len(), columns.len());
                    found.push(format!("{table} gets {given} values for {columns} columns"));
                }
            }
        }
        found
    }

    fn missing(&self, table: &str, columns: &[&[Token<'_>]]) -> Vec<String> {
        let words = columns.iter().filter_map(|column| column.first()?.word());
        let missing = words.filter(|column| !self.has_column(table, column));
        missing.map(|column| format!("`{column}`: {table} has no column of this name")).collect()
    }

    /// `UPDATE table SET column = …`.
    fn updates(&self, batch: &[Token<'_>]) -> Vec<String> {
        let set = |four: &[Token<'_>]| {
            let [update, Token::Word(table), set, Token::Word(column)] = four else { return None };
            let is_update = update.is("UPDATE") && set.is("SET");
            (is_update && !self.has_column(table, column))
                .then(|| format!("`{column}`: {table} has no column of this name"))
        };
        batch.windows(4).filter_map(set).collect()
    }

    fn calls(&self, batch: &[Token<'_>]) -> Vec<String> {
        let call = |(at, token): (usize, &Token<'_>)| {
            let name = batch.get(at + 1).filter(|_| token.is("EXEC"))?.word()?;
            let parameters = *self.schema.procedures.get(name)?;
            let given = batch[at + 2..].iter().take_while(|token| **token != Token::Sign(';'));
            let given = given.filter(|token| matches!(token, Token::Variable(_))).count();
            (given != parameters)
                .then(|| format!("{name} takes {parameters} parameters, but was given {given}"))
        };
        batch.iter().enumerate().filter_map(call).collect()
    }

    /// Texts that are run as statements have the same words.
    fn run_texts(&self, batch: &[Token<'_>]) -> Vec<String> {
        let mut found = Vec::new();
        for token in batch {
            let Token::Text(text) = token else { continue };
            if STATEMENTS.iter().any(|begin| text.starts_with(begin)) {
                match tokens(text) {
                    Ok(words) => found.extend(self.words(&words, &BTreeMap::new())),
                    Err(mistake) => found.push(mistake),
                }
            }
        }
        found
    }
}

/// Where the columns of a view are listed.
fn source(table: &str) -> String {
    let view = table.strip_prefix("sys.").and_then(|name| VIEWS.iter().find(|view| view.name == name));
    view.map_or_else(String::new, |view| format!(" ({})", view.source))
}

/// The parts of a list in brackets, and what follows it.
fn list<'b, 't>(from: &'b [Token<'t>]) -> (Vec<&'b [Token<'t>]>, &'b [Token<'t>]) {
    let (mut depth, mut begin, mut parts) = (0, 1, Vec::new());
    for (at, token) in from.iter().enumerate() {
        match token {
            Token::Sign('(') => depth += 1,
            Token::Sign(')') if depth == 1 => {
                parts.push(&from[begin..at]);
                return (parts, &from[at + 1..]);
            }
            Token::Sign(')') => depth -= 1,
            Token::Sign(',') if depth == 1 => {
                parts.push(&from[begin..at]);
                begin = at + 1;
            }
            Token::Sign(_) | Token::Word(_) | Token::Variable(_) | Token::Number(_) | Token::Text(_) => {}
        }
    }
    (parts, &[])
}

fn is_of_language(word: &str) -> bool {
    let is = |known: &&str| known.eq_ignore_ascii_case(word);
    RESERVED.iter().any(is) || OTHERS.iter().any(|(_, words)| words.iter().any(is))
}

/// A type of the language, or a table type of ours.
fn is_type(word: &str) -> bool {
    TYPES.contains(&word) || word.ends_with("_rows")
}

/// Parameters without gaps, and variables that are declared where they are first named.
fn variables(batch: &[Token<'_>]) -> Vec<String> {
    let (mut parameters, mut declared, mut found) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    for (at, token) in batch.iter().enumerate() {
        let Token::Variable(name) = *token else { continue };
        if let Some(number) = name.strip_prefix("@P").and_then(|number| number.parse::<usize>().ok()) {
            parameters.insert(number);
        } else if batch.get(at + 1).and_then(|next| next.word()).is_some_and(is_type) {
            declared.insert(name);
        } else if !declared.contains(name) && !SERVERS_OWN.contains(&name) {
            found.push(format!("{name} is not declared"));
        }
    }
    let most = parameters.last().copied().unwrap_or(0);
    found.extend(
        (1..most)
            .filter(|number| !parameters.contains(number))
            .map(|number| format!("@P{number} is missing")),
    );
    found
}

fn properties(batch: &[Token<'_>]) -> Vec<String> {
    let property = |triple: &[Token<'_>]| {
        let [Token::Word(function), Token::Sign('('), Token::Text(asked)] = triple else { return None };
        let (_, known) = PROPERTIES.iter().find(|(name, _)| name.eq_ignore_ascii_case(function))?;
        (!known.contains(asked)).then(|| format!("`{asked}` is no property that {function} is known to have"))
    };
    batch.windows(3).filter_map(property).collect()
}

/// Source: <https://learn.microsoft.com/en-us/sql/t-sql/language-elements/sql-server-utilities-statements-go>.
fn first_of_batch(batch: &[Token<'_>]) -> Option<String> {
    let alone = ["PROCEDURE", "FUNCTION", "TRIGGER", "VIEW"];
    let is_alone = |pair: &[Token<'_>]| pair[0].is("CREATE") && alone.iter().any(|kind| pair[1].is(kind));
    let at = batch.windows(2).position(is_alone)?;
    (at > 0).then(|| {
        "what makes a procedure, function, trigger or view has to be the first of its batch".to_owned()
    })
}

fn closed(batch: &[Token<'_>]) -> Vec<String> {
    let mut found = Vec::new();
    let count = |sign: char| batch.iter().filter(|token| **token == Token::Sign(sign)).count();
    if count('(') != count(')') {
        found.push("brackets are not closed".to_owned());
    }
    let begins = batch.iter().enumerate().filter(|(at, token)| {
        let is_transaction = batch.get(at + 1).is_some_and(|next| next.is("TRANSACTION"));
        (token.is("BEGIN") && !is_transaction) || token.is("CASE")
    });
    let (begins, ends) = (begins.count(), batch.iter().filter(|token| token.is("END")).count());
    if begins != ends {
        found.push(format!("{begins} of BEGIN and CASE and {ends} of END"));
    }
    found
}
