//! What of a log is not sent, by the words of its statements: a text of several is left out as a whole for one of them.

use super::LogFormat;
use super::entry::Left;
use super::sql::{Piece, Pieces};

/// Why a text with these values is not sent, if so.
pub(super) fn unsendable(sql: &str, values: &[Option<String>], format: LogFormat) -> Option<Left> {
    let statements = statements(sql, format);
    if statements.is_empty() {
        return Some(Left::Unsupported);
    }
    let left = statements
        .iter()
        .find_map(|words| of_statement(words, format).or_else(|| of_character_set(words, values, format)))?;
    let is_among = left == Left::CharacterSet && statements.len() > 1;
    Some(if is_among { Left::CharacterSetAmong } else { left })
}

/// A word, a sign or a literal of a statement, in small letters; and how many parentheses are open there.
type Words = Vec<(String, usize)>;

/// The statements of a text that have a word. Those of T-SQL need nothing between them: there all words are one.
pub(super) fn statements(sql: &str, format: LogFormat) -> Vec<Words> {
    let mut all = vec![Words::new()];
    let mut depth = 0_usize;
    for (text, piece) in Pieces::of(sql, format) {
        let word = match piece {
            Piece::Word(word) => word.to_ascii_lowercase(),
            Piece::Other(";") => {
                all.push(Words::new());
                depth = 0;
                continue;
            }
            Piece::Other(sign) => {
                depth = match sign {
                    "(" => depth + 1,
                    ")" => depth.saturating_sub(1),
                    _ => depth,
                };
                sign.to_owned()
            }
            Piece::Literal => text.to_ascii_lowercase(),
            Piece::Place(_) => String::new(),
            Piece::Space | Piece::Remark => continue,
        };
        if let Some(last) = all.last_mut() {
            last.push((word, depth));
        }
    }
    let has_word = |words: &Words| {
        words.iter().any(|(word, _)| {
            word.starts_with(|letter: char| letter.is_alphabetic() || letter == '_' || letter == '@')
        })
    };
    all.retain(has_word);
    all
}

fn of_statement(words: &Words, format: LogFormat) -> Option<Left> {
    let word = |at: usize| words.get(at).map_or("", |(word, _)| word.as_str());
    match format {
        LogFormat::PostgresCsv => match (word(0), word(1)) {
            ("copy", _) => Some(Left::Copy),
            ("alter", "system") => Some(Left::ChangesServer),
            _ => None,
        },
        LogFormat::MariadbGeneral => match word(0) {
            "load" => Some(Left::Copy),
            // A number of the logged server's means somebody else at the target's.
            "kill" | "shutdown" => Some(Left::Unsupported),
            "use" => Some(Left::ChangesDatabase),
            "set" if sets_for_all(words) => Some(Left::ChangesServer),
            _ => None,
        },
        LogFormat::SqlserverEvents => {
            let pairs = || {
                words
                    .iter()
                    .zip(words.iter().skip(1))
                    .map(|((one, _), (two, _))| (one.as_str(), two.as_str()))
            };
            let has = |pair: (&str, &str)| pairs().any(|other| other == pair);
            // Elsewhere it names an index.
            let is_hint = |next: &str| matches!(next, "hint" | "plan");
            let is_use = |at: usize| word(at) == "use" && !is_hint(word(at + 1));
            match word(0) {
                _ if word(0) == "bulk" || has(("bulk", "insert")) => Some(Left::Copy),
                "kill" | "shutdown" => Some(Left::Unsupported),
                _ if (0..words.len()).any(is_use) => Some(Left::ChangesDatabase),
                "reconfigure" => Some(Left::ChangesServer),
                _ if words.iter().any(|(word, _)| word == "sp_configure") => Some(Left::ChangesServer),
                _ if has(("alter", "server")) => Some(Left::ChangesServer),
                _ => None,
            }
        }
    }
}

/// Whether a SET of MySQL has a target that all sessions have: `GLOBAL a`, `@@GLOBAL.a`, `PERSIST a`, also behind others.
fn sets_for_all(words: &Words) -> bool {
    let is_target = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        before.is_some_and(|(word, depth)| *depth == 0 && (at == 1 || word == ","))
    };
    let is_of_all = |word: &str| {
        let name = word.strip_prefix("@@").unwrap_or(word);
        matches!(name, "global" | "persist" | "persist_only")
    };
    // `SET global = 1` would be a variable of a procedure, which no log has.
    words.iter().enumerate().any(|(at, (word, _))| is_of_all(word) && is_target(at))
}

/// Character sets in which the letters of a log are sent as they are: names without `-` and `_`.
const AS_SENT: [&str; 5] = ["utf8", "unicode", "utf8mb3", "utf8mb4", "binary"];

/// Whether a statement sets the character set in which the server reads what this client sends. A replay sends UTF-8.
fn of_character_set(words: &Words, values: &[Option<String>], format: LogFormat) -> Option<Left> {
    let is_client_encoding = |value: &str| plain(value) == "client_encoding";
    let is_as_sent = |name: Option<&(String, usize)>| {
        name.is_some_and(|(name, _)| AS_SENT.contains(&plain(name).replace(['-', '_'], "").as_str()))
    };
    match format {
        LogFormat::SqlserverEvents => None,
        LogFormat::PostgresCsv => {
            let calls = words.windows(3).position(|part| part[0].0 == "set_config" && part[1].0 == "(");
            if let Some(at) = calls {
                let name = &words[at + 2].0;
                let is_value =
                    name.is_empty() && values.iter().flatten().any(|value| is_client_encoding(value));
                let is_set = is_value || is_client_encoding(name) && !is_as_sent(words.get(at + 4));
                // `set_config ( a , b , c )`, with a schema before it or not.
                let is_alone = at <= 3 && words.len() - at == 8;
                let left = if is_alone { Left::CharacterSet } else { Left::CharacterSetAmong };
                return is_set.then_some(left);
            }
            let at = 1 + words
                .get(1)
                .map_or(0, |(word, _)| usize::from(matches!(word.as_str(), "session" | "local")));
            let value = match words.get(at).map_or("", |(word, _)| word.as_str()) {
                _ if words[0].0 != "set" => return None,
                "names" => words.get(at + 1),
                name if is_client_encoding(name) => words.get(at + 2),
                _ => return None,
            };
            (!is_as_sent(value)).then_some(Left::CharacterSet)
        }
        LogFormat::MariadbGeneral if words[0].0 == "set" => {
            let mut targets = words[1..].split(|(word, depth)| word == "," && *depth == 0).peekable();
            let is_alone = words[1..].iter().all(|(word, depth)| word != "," || *depth > 0);
            let is_set = targets.any(|target| character_set(target).is_some_and(|name| !is_as_sent(name)));
            let left = if is_alone { Left::CharacterSet } else { Left::CharacterSetAmong };
            is_set.then_some(left)
        }
        LogFormat::MariadbGeneral => None,
    }
}

/// The name of the character set that an assignment of MySQL's gives the client, if it gives one: `NAMES a`, `CHARACTER SET a`, `CHARSET a`,
/// `SESSION character_set_client = a`, `@@local.character_set_client = a`.
fn character_set(target: &[(String, usize)]) -> Option<Option<&(String, usize)>> {
    let words: Vec<&str> = target.iter().map(|(word, _)| word.as_str()).collect();
    match words.as_slice() {
        ["names" | "charset", ..] => Some(target.get(1)),
        ["character", "set", ..] => Some(target.get(2)),
        ["character_set_client" | "@@character_set_client", ..]
        | ["session" | "local", "character_set_client", ..]
        | ["@@session" | "@@local", ".", "character_set_client", ..] => Some(target.last()),
        _ => None,
    }
}

/// A name or a text without its quotes.
fn plain(name: &str) -> &str {
    let name = name.strip_prefix('e').filter(|rest| rest.starts_with('\'')).unwrap_or(name);
    name.trim_matches(['\'', '"', '`'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_sent_is_known_in_each_statement_of_a_text() {
        let (pg, mysql, events) =
            (LogFormat::PostgresCsv, LogFormat::MariadbGeneral, LogFormat::SqlserverEvents);
        for (sql, format, expected) in [
            ("BEGIN; COPY t FROM STDIN; COMMIT", pg, Some(Left::Copy)),
            ("/* a */ copy (SELECT 1) TO STDOUT", pg, Some(Left::Copy)),
            ("SELECT 'COPY; COPY'", pg, None),
            ("SELECT copy FROM t", pg, None),
            ("SELECT 1; ALTER SYSTEM SET work_mem = '1GB'", pg, Some(Left::ChangesServer)),
            ("-- nothing", pg, Some(Left::Unsupported)),
            ("SET GLOBAL max_connections = 5", mysql, Some(Left::ChangesServer)),
            ("SET @@GLOBAL.max_connections = 5", mysql, Some(Left::ChangesServer)),
            ("SET SESSION a = 1, @@persist.b = 2", mysql, Some(Left::ChangesServer)),
            ("SELECT 1; SET PERSIST a = 1", mysql, Some(Left::ChangesServer)),
            ("/*!40101 SET GLOBAL a = 1 */", mysql, Some(Left::ChangesServer)),
            ("SET @a = @@global.b", mysql, None),
            ("SET @a = if(1, @@global.b, @@global.c)", mysql, None),
            ("SELECT @@GLOBAL.a", mysql, None),
            ("/*!40101 SET NAMES utf8 */", mysql, None),
            ("/*M!100100 INSERT INTO t VALUES (1) */;", mysql, None),
            ("/*!40000 USE shop */", mysql, Some(Left::ChangesDatabase)),
            ("/* SELECT 1 */", mysql, Some(Left::Unsupported)),
            ("SELECT 1; KILL 5", mysql, Some(Left::Unsupported)),
            ("LOAD DATA INFILE 'x' INTO TABLE t", mysql, Some(Left::Copy)),
            ("SELECT a FROM t USE INDEX (i)", mysql, None),
            ("SELECT 1 USE shop SELECT 2", events, Some(Left::ChangesDatabase)),
            ("SELECT 1 OPTION (USE HINT ('X'))", events, None),
            ("SELECT 1 BULK INSERT t FROM 'x'", events, Some(Left::Copy)),
            ("EXEC sp_configure 'a', 1", events, Some(Left::ChangesServer)),
            ("RECONFIGURE", events, Some(Left::ChangesServer)),
        ] {
            assert_eq!(unsendable(sql, &[], format), expected, "{sql}");
        }
    }

    /// Sent in UTF-8 and read as something else, letters that are not ASCII became others.
    #[test]
    fn character_sets_of_clients_are_left_out_unless_they_are_that_of_the_replay() {
        let (pg, mysql) = (LogFormat::PostgresCsv, LogFormat::MariadbGeneral);
        let (alone, among) = (Some(Left::CharacterSet), Some(Left::CharacterSetAmong));
        for (sql, format, expected) in [
            ("SET client_encoding TO 'LATIN1'", pg, alone),
            ("set session client_encoding = latin1", pg, alone),
            ("SET LOCAL \"client_encoding\" TO WIN1252", pg, alone),
            ("SET NAMES 'SJIS'", pg, alone),
            ("SET client_encoding TO DEFAULT", pg, alone),
            ("SET client_encoding TO 'UTF-8'", pg, None),
            ("SET NAMES 'utf8'", pg, None),
            ("SET client_encoding = UNICODE", pg, None),
            ("SELECT set_config('client_encoding', 'LATIN1', false)", pg, alone),
            ("SELECT pg_catalog.set_config(E'client_encoding', 'latin1', true), 1", pg, among),
            ("SELECT set_config('client_encoding', 'UTF8', false)", pg, None),
            ("SELECT pg_catalog.set_config('client_encoding', 'sjis', false)", pg, alone),
            ("SELECT set_config('work_mem', '1MB', false)", pg, None),
            ("BEGIN; SET LOCAL client_encoding TO latin1", pg, among),
            ("SET work_mem = '1MB'", pg, None),
            ("SELECT 'client_encoding'", pg, None),
            ("SET NAMES latin1", mysql, alone),
            ("SET NAMES 'latin1' COLLATE 'latin1_bin'", mysql, alone),
            ("SET CHARACTER SET cp1252", mysql, alone),
            ("SET CHARSET 'sjis'", mysql, alone),
            ("/*!40101 SET NAMES latin1 */", mysql, alone),
            ("/*!40101 SET character_set_client = @saved_cs_client */", mysql, alone),
            ("SET SESSION character_set_client = latin1", mysql, alone),
            ("SET @@session.character_set_client := 'latin1'", mysql, alone),
            ("SET autocommit = 0, NAMES latin1", mysql, among),
            ("SELECT 1; SET NAMES latin1", mysql, among),
            ("SET NAMES utf8mb4 COLLATE utf8mb4_bin", mysql, None),
            ("SET @old = @@character_set_client", mysql, None),
            ("SET character_set_client := utf8mb4", mysql, None),
            ("SET character_set_results = NULL", mysql, None),
            ("SET @@GLOBAL.character_set_client = latin1", mysql, Some(Left::ChangesServer)),
        ] {
            assert_eq!(unsendable(sql, &[], format), expected, "{sql}");
        }
        let values = ["client_encoding", "latin1"].map(|value| Some(value.to_owned()));
        assert_eq!(unsendable("SELECT set_config($1, $2, false)", &values, pg), alone);
    }
}
