//! Scripts of T-SQL as their batches: what stands between lines of `GO` goes to the server as one.
//!
//! `GO` is a word of the tools that send scripts, and no statement: a server that got it would refuse it. Some statements have to be
//! the first of their batch. Source: <https://learn.microsoft.com/en-us/sql/t-sql/language-elements/sql-server-utilities-statements-go>.

/// The batches of a script, each without the lines around it that separate it; none is empty. A line with a number after `GO` has the
/// batch before it that many times.
#[must_use]
pub fn batches(script: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut begin, mut at) = (0, 0);
    let mut within = Within::Nothing;
    for line in script.split_inclusive('\n') {
        let times = if within == Within::Nothing { separates(line) } else { None };
        match times {
            Some(times) => {
                add(&mut found, &script[begin..at], times);
                begin = at + line.len();
            }
            None => within = within.after(line),
        }
        at += line.len();
    }
    add(&mut found, &script[begin..], 1);
    found
}

fn add<'s>(found: &mut Vec<&'s str>, batch: &'s str, times: usize) {
    let batch = batch.trim();
    if !batch.is_empty() {
        found.extend(std::iter::repeat_n(batch, times));
    }
}

/// How often the batch before a line is to be run, if the line ends one.
fn separates(line: &str) -> Option<usize> {
    let line = line.split("--").next().unwrap_or_default();
    let mut words = line.split_whitespace();
    if !words.next()?.eq_ignore_ascii_case("go") {
        return None;
    }
    let times = words.next().map_or(Some(1), |times| times.parse().ok());
    times.filter(|_| words.next().is_none())
}

/// What the begin of a line stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    Nothing,
    /// A text or a name, up to this sign.
    Quotes(char),
    /// Comments, which may stand in each other: so many.
    Comments(u32),
}

impl Within {
    fn after(self, line: &str) -> Self {
        let mut within = self;
        let mut signs = line.chars().peekable();
        while let Some(sign) = signs.next() {
            let next = signs.peek().copied();
            let pair = (sign, next.unwrap_or_default());
            let before = within;
            within = match (before, pair) {
                (Self::Nothing, ('-', '-')) => return Self::Nothing,
                (Self::Nothing, ('/', '*')) => Self::Comments(1),
                (Self::Comments(depth), ('/', '*')) => Self::Comments(depth + 1),
                (Self::Comments(1), ('*', '/')) => Self::Nothing,
                (Self::Comments(depth), ('*', '/')) => Self::Comments(depth - 1),
                (Self::Nothing, ('\'' | '"', _)) => Self::Quotes(sign),
                (Self::Nothing, ('[', _)) => Self::Quotes(']'),
                // Two of them are one within, which comes to the same here.
                (Self::Quotes(end), (sign, _)) if sign == end => Self::Nothing,
                (within, _) => within,
            };
            let opens = pair == ('/', '*') && !matches!(before, Self::Quotes(_));
            if opens || (pair == ('*', '/') && matches!(before, Self::Comments(_))) {
                signs.next();
            }
        }
        within
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_batch_ends_at_a_line_of_go_and_nowhere_else() {
        for (script, expected) in [
            ("SELECT 1", vec!["SELECT 1"]),
            ("SELECT 1\nGO\nSELECT 2\ngo\n", vec!["SELECT 1", "SELECT 2"]),
            ("GO\nGO\n \n GO \r\nSELECT 1\r\nGo\r\n", vec!["SELECT 1"]),
            ("a\nGO 3\nb", vec!["a", "a", "a", "b"]),
            ("a\nGO -- the end of a\nb", vec!["a", "b"]),
            ("SELECT go\nFROM go\n", vec!["SELECT go\nFROM go"]),
            ("SELECT 'it''s\nGO\n'\nGO\nb", vec!["SELECT 'it''s\nGO\n'", "b"]),
            ("SELECT [a\nGO\n], \"b\nGO\n\"", vec!["SELECT [a\nGO\n], \"b\nGO\n\""]),
            ("/* a /* b */\nGO\n*/ c\nGO\nd", vec!["/* a /* b */\nGO\n*/ c", "d"]),
            ("a -- it's\nGO\nb", vec!["a -- it's", "b"]),
            ("GO away\nGO 2 3\na", vec!["GO away\nGO 2 3\na"]),
            ("a /*/ b\nGO\n*/ c", vec!["a /*/ b\nGO\n*/ c"]),
            ("", vec![]),
        ] {
            assert_eq!(batches(script), expected, "{script:?}");
        }
    }

    proptest! {
        #[test]
        fn what_was_joined_by_go_is_parted_again(parts in prop::collection::vec("[A-F ,;()=@0-9\n]{0,30}[A-F]", 0..6)) {
            let script = parts.join("\nGO\n");
            let expected: Vec<&str> = parts.iter().map(|part| part.trim()).collect();
            prop_assert_eq!(batches(&script), expected);
        }

        #[test]
        fn no_sign_is_lost_but_the_lines_of_go(script in "[-A-C'\"/*\\[\\] \nGO]{0,60}") {
            let signs = |text: &str| text.chars().filter(|sign| !sign.is_whitespace() && !"GO".contains(*sign)).collect::<String>();
            // A comment may follow the word.
            prop_assume!(!script.contains("--"));
            prop_assert_eq!(signs(&batches(&script).concat()), signs(&script));
        }
    }
}
