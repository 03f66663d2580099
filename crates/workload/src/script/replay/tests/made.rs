//! Logs that are made of statements at random are read back, and whatever else a file holds is accounted for.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;

/// What a statement of a made log is.
#[derive(Clone, Debug)]
struct Made {
    gap_ms: u32,
    session: u8,
    sql: String,
    values: Vec<Option<String>>,
}

fn made() -> impl Strategy<Value = Vec<Made>> {
    let value = prop::option::of("[ -~é\n]{0,8}")
        .prop_filter("what looks cut", |value| !value.as_ref().is_some_and(|value| value.ends_with("...")));
    // Some of their statements are left out by their words, which chance can write too.
    let is_word_left_out = |text: &str| {
        let text = text.to_lowercase();
        ["use", "copy", "load", "kill", "bulk"].iter().any(|word| text.contains(word))
    };
    let rest = "[a-zA-Z0-9 ,;=<>'\"\\\\()\n_é-]{0,40}"
        .prop_filter("what is left out", move |rest| !is_word_left_out(rest));
    let one = (0_u32..900, 0_u8..4, rest, prop::collection::vec(value, 0..3));
    let one = one.prop_map(|(gap_ms, session, rest, values)| {
        let places: String = (1..=values.len()).fold(String::new(), |mut places, place| {
            let _ = write!(places, "${place} ");
            places
        });
        Made { gap_ms, session, sql: format!("SELECT {places}{rest}"), values }
    });
    prop::collection::vec(one, 1..30)
}

fn stamp(ms: u64) -> String {
    format!("2024-01-15 10:{:02}:{:02}.{:03} CET", ms / 60_000, ms / 1_000 % 60, ms % 1_000)
}

fn expected(made: &[Made]) -> Sessions<'_> {
    let mut sessions: Vec<(u8, Vec<_>)> = Vec::new();
    let mut ms = -i64::from(made[0].gap_ms);
    for one in made {
        ms += i64::from(one.gap_ms);
        let statement = (ms, one.sql.as_str(), one.values.iter().map(Option::as_deref).collect());
        match sessions.iter_mut().find(|(session, _)| *session == one.session) {
            Some((_, statements)) => statements.push(statement),
            None => sessions.push((one.session, vec![statement])),
        }
    }
    sessions.into_iter().map(|(_, statements)| statements).collect()
}

proptest! {
    #[test]
    fn a_csvlog_that_is_written_is_read_back(made in made(), noise in prop::collection::vec(0_usize..30, 0..5)) {
        let mut text = String::new();
        let mut ms = 0_u64;
        for (number, one) in made.iter().enumerate() {
            ms += u64::from(one.gap_ms);
            let session = format!("s.{}", one.session);
            let listed: Vec<String> = one.values.iter().enumerate().map(|(place, value)| {
                let value = value.as_ref().map_or("NULL".to_owned(), |value| format!("'{}'", value.replace('\'', "''")));
                format!("${} = {value}", place + 1)
            }).collect();
            let (message, detail) = match listed.is_empty() {
                true => (format!("statement: {}", one.sql), String::new()),
                false => (format!("execute <unnamed>: {}", one.sql), format!("parameters: {}", listed.join(", "))),
            };
            let line = csv("00.000", &session, &message, &detail);
            text.push_str(&line.replacen("2024-01-15 10:00:00.000 UTC", &stamp(ms), 1));
            if noise.contains(&number) {
                text.push_str(&csv("00.000", "x.1", "checkpoint starting: time", ""));
            }
        }
        let log = read(&text);
        // What has places of quotes within quotes is still read as it was; only what has places in it needs values.
        prop_assert_eq!(sent(&log), expected(&made));
        adds_up(&log);
        let written: serde_json::Value = serde_json::to_value(&log).unwrap();
        prop_assert_eq!(serde_json::from_value::<Log>(written).unwrap(), log);
    }

    #[test]
    fn a_general_log_that_is_written_is_read_back(made in made()) {
        // A line without a time and without a command goes on with the statement before it.
        let mut text = String::new();
        let mut ms = 0_u64;
        for one in &made {
            ms += u64::from(one.gap_ms);
            let stamp = stamp(ms).replacen(' ', "T", 1).replace(" CET", "000Z");
            let _ = writeln!(text, "{stamp}\t{:5} Query\t{}", one.session, one.sql);
        }
        let log = read(&text);
        let expected = expected(&made);
        let texts = |of: &Sessions<'_>| -> Vec<Vec<(i64, String)>> {
            of.iter().map(|session| session.iter().map(|(ms, sql, _)| (*ms, (*sql).to_owned())).collect()).collect()
        };
        prop_assert_eq!(texts(&sent(&log)), texts(&expected));
        adds_up(&log);
    }

    #[test]
    fn events_that_are_written_are_read_back(made in made()) {
        let mut text = String::new();
        let mut ms = 0_u64;
        for one in &made {
            ms += u64::from(one.gap_ms);
            let sql = one.sql.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\n', "&#x0A;");
            let line = event("sql_batch_completed", "00.000", &one.session.to_string(), "batch_text", &sql, 2_000);
            let stamp = stamp(ms + 2).replacen(' ', "T", 1).replace(" CET", "Z");
            text.push_str(&line.replacen("2024-01-15T10:00:00.000Z", &stamp, 1));
        }
        let log = read(&text);
        let texts = |of: &Sessions<'_>| -> Vec<Vec<(i64, String)>> {
            of.iter().map(|session| session.iter().map(|(ms, sql, _)| (*ms, (*sql).to_owned())).collect()).collect()
        };
        prop_assert_eq!(texts(&sent(&log)), texts(&expected(&made)));
        adds_up(&log);
    }

    #[test]
    fn whatever_a_file_holds_its_entries_are_sent_or_left_out(
        pieces in prop::collection::vec(prop_oneof![
            Just(MARIADB.to_owned()),
            Just(csv("00.000", "a.1", "statement: SELECT 1", "")),
            Just(event("sql_batch_completed", "00.000", "53", "batch_text", "SELECT 1", 0)),
            "[ -~\t\n\"]{0,60}",
        ], 0..6),
        cut in 0_usize..2_000,
        format in prop::option::of(prop_oneof![
            Just(LogFormat::PostgresCsv), Just(LogFormat::MariadbGeneral), Just(LogFormat::SqlserverEvents)
        ]),
    ) {
        let text = pieces.concat();
        let cut = text.len().saturating_sub(cut % (text.len() / 2 + 1));
        match read_as(&text[..cut], format, None) {
            Ok(log) => adds_up(&log),
            Err(words) => prop_assert!(!words.is_empty()),
        }
    }
}
