//! What scripts do to the durability of their commits: tables that a crash empties, and what they set for their sessions.
//!
//! Scripts are looked through by words, and not understood: a table that only a function of the database names is not found.

use record::Server;

/// The server, with what its commits promise to these scripts.
pub(super) fn as_used(mut server: Server, scripts: &[&str]) -> Server {
    let scripts: Vec<Vec<String>> = scripts.iter().map(|text| words(text)).collect();
    let used = |name: &str| scripts.iter().flatten().any(|word| word.eq_ignore_ascii_case(name));
    let mut told = Vec::new();
    for kind in &server.unsafe_tables {
        let names: Vec<&str> = kind.names.iter().map(String::as_str).filter(|name| used(name)).collect();
        if !names.is_empty() {
            told.push(format!("{} is {}, and a crash may empty it", names.join(", "), kind.kind));
            server.is_durable &= kind.kind == TEMPORARY;
        }
    }
    if scripts.iter().any(|words| sets_commits_off(words)) {
        told.push(
            "a script sets synchronous_commit = off, so the last commits may be lost in a crash".to_owned(),
        );
        server.is_durable = false;
    }
    if scripts.iter().any(|words| makes(words, &["unlogged"])) {
        told.push("a script creates unlogged tables, which a crash empties".to_owned());
        server.is_durable = false;
    }
    if scripts.iter().any(|words| makes(words, &["temp", "temporary"])) {
        told.push("a script creates temporary tables, which end with their session".to_owned());
    }
    for words in told {
        server.durability = format!("{}, but {words}", server.durability);
    }
    server
}

/// Tables that nobody expects to survive.
const TEMPORARY: &str = "temporary";

/// Words and names, in small letters but for what stands in quotes.
fn words(text: &str) -> Vec<String> {
    let is_word = |sign: char| sign.is_alphanumeric() || matches!(sign, '_' | '$');
    text.split(|sign| !is_word(sign)).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// `SET [SESSION | LOCAL] synchronous_commit {TO | =} off`, `set_config('synchronous_commit', 'off', …)`.
fn sets_commits_off(words: &[String]) -> bool {
    words.iter().enumerate().filter(|(_, word)| *word == "synchronous_commit").any(|(at, _)| {
        let before = at.checked_sub(1).and_then(|at| words.get(at)).map_or("", String::as_str);
        let mut after = words[at + 1..].iter().map(String::as_str).skip_while(|word| *word == "to");
        ["set", "session", "local", "set_config"].contains(&before)
            && after.next().is_some_and(|value| ["off", "0", "no", "false"].contains(&value))
    })
}

/// `CREATE [GLOBAL | LOCAL] KIND TABLE`, `SELECT … INTO KIND`.
fn makes(words: &[String], kinds: &[&str]) -> bool {
    words.iter().enumerate().filter(|(_, word)| kinds.contains(&word.as_str())).any(|(at, _)| {
        let before: Vec<&str> = words[at.saturating_sub(2)..at].iter().map(String::as_str).collect();
        matches!(before[..], [.., "create" | "into"] | ["create", "global" | "local"])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::UnsafeTables;

    fn server() -> Server {
        let tables =
            |kind: &str, name: &str| UnsafeTables { kind: kind.to_owned(), names: vec![name.to_owned()] };
        Server {
            version: "PostgreSQL 15.18".to_owned(),
            durability: "each commit waits".to_owned(),
            is_durable: true,
            settings: Vec::new(),
            data_directory: None,
            log_directory: None,
            link: None,
            services: Vec::new(),
            unsafe_tables: vec![tables("unlogged", "Tank"), tables("temporary", "sums")],
        }
    }

    fn check(script: &str, is_durable: bool, told: &str) {
        let used = as_used(server(), &["SELECT 1;", script]);
        assert_eq!(used.is_durable, is_durable, "{script}: {}", used.durability);
        assert!(used.durability.ends_with(told), "{script}: {}", used.durability);
    }

    /// An unlogged table was said to be as durable as any other.
    #[test]
    fn what_scripts_use_and_set_is_told_of_their_durability() {
        let unlogged = "each commit waits, but Tank is unlogged, and a crash may empty it";
        check("UPDATE tank SET n = n + 1 WHERE id = 1;", false, unlogged);
        check("UPDATE \"Tank\" SET n = 1", false, unlogged);
        check("UPDATE tanks SET n = n + 1 WHERE id = 1;", true, "each commit waits");
        check("INSERT INTO sums VALUES (1)", true, "sums is temporary, and a crash may empty it");
        for off in [
            "SET synchronous_commit = off;",
            "BEGIN; set local synchronous_commit TO 'off'; COMMIT",
            "SELECT set_config('synchronous_commit', 'off', false)",
        ] {
            check(off, false, "so the last commits may be lost in a crash");
        }
        check("SET synchronous_commit = local", true, "each commit waits");
        check("SHOW synchronous_commit; SELECT 'off'", true, "each commit waits");
        check("CREATE UNLOGGED TABLE x (i int)", false, "which a crash empties");
        check("CREATE LOCAL TEMP TABLE x (i int)", true, "which end with their session");
        check("SELECT 1 AS i INTO TEMPORARY x", true, "which end with their session");
    }
}
