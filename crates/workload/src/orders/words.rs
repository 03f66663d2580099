//! Words that titles and names are made of: made-up ones, each an upper-case ASCII token.
//!
//! Syllables are put together, so that the words can be pronounced, are none of a language, and no full-text index takes
//! one for a word without meaning. The beginnings of a list are of one length: no two combinations make the same word.

use std::sync::LazyLock;

/// 1,000 words of titles.
pub static TITLE_WORDS: LazyLock<Vec<String>> =
    LazyLock::new(|| combined(&[&TITLE_BEGINNINGS, &TITLE_MIDDLES, &TITLE_ENDINGS]));

/// 200 first names of actors.
pub static FIRST_NAMES: LazyLock<Vec<String>> =
    LazyLock::new(|| combined(&[&FIRST_BEGINNINGS, &FIRST_ENDINGS]));

/// 200 last names of actors.
pub static LAST_NAMES: LazyLock<Vec<String>> = LazyLock::new(|| combined(&[&LAST_BEGINNINGS, &LAST_ENDINGS]));

const TITLE_BEGINNINGS: [&str; 10] = ["BAR", "CAL", "DOR", "FEN", "GAL", "HUR", "KEL", "LOR", "MIR", "TAN"];
const TITLE_MIDDLES: [&str; 10] = ["BA", "DE", "GI", "LO", "MU", "NA", "RE", "SI", "TO", "VU"];
const TITLE_ENDINGS: [&str; 10] = ["N", "RIA", "STON", "LIS", "DOR", "VANE", "MER", "SKET", "TH", "KA"];

const FIRST_BEGINNINGS: [&str; 20] = [
    "ALB", "BER", "CAR", "DAN", "ELV", "FER", "GIL", "HEL", "ISM", "JOR", "KAR", "LEN", "MIR", "NOR", "OLV",
    "PAL", "ROS", "SIL", "TAM", "VER",
];
const FIRST_ENDINGS: [&str; 10] = ["A", "EN", "IA", "IN", "INA", "O", "ON", "ORA", "US", "ETTE"];

const LAST_BEGINNINGS: [&str; 20] = [
    "BRAN", "CROW", "DEAN", "ELMS", "FARN", "GREN", "HALL", "IVER", "KEST", "LANG", "MARL", "NEWT", "OAKS",
    "PEND", "RAVE", "STAN", "THOR", "WALT", "WEST", "YARD",
];
const LAST_ENDINGS: [&str; 10] = ["BY", "DALE", "ER", "FORD", "HAM", "LEY", "MAN", "SON", "TON", "WICK"];

/// Every combination of one syllable of each list, the last list turning fastest.
fn combined(lists: &[&[&str]]) -> Vec<String> {
    lists.iter().fold(vec![String::new()], |words, syllables| {
        words
            .iter()
            .flat_map(|word| syllables.iter().map(move |syllable| format!("{word}{syllable}")))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Four letters are what a full-text index takes at least on some engine.
    #[test]
    fn lists_have_so_many_distinct_upper_case_words_of_four_to_thirteen_letters() {
        for (list, count) in [(&TITLE_WORDS, 1_000), (&FIRST_NAMES, 200), (&LAST_NAMES, 200)] {
            assert_eq!(list.len(), count);
            assert_eq!(list.iter().collect::<HashSet<_>>().len(), count, "some words are the same");
            for word in list.iter() {
                let is_token = word.bytes().all(|byte| byte.is_ascii_uppercase());
                assert!(is_token && (4..=13).contains(&word.len()), "{word}");
            }
        }
    }
}
