//! Which known word was meant by one that is not known.

/// The known word that is fewest letters away from this one, if they are few for its length, or that begins with it.
#[must_use]
pub(super) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // What is longer than any of ours by far is none of them, and takes long to compare.
    const LENGTH_MAX: usize = 40;
    if word.is_empty() || word.len() > LENGTH_MAX {
        return None;
    }
    let word = word.to_lowercase();
    let limit = word.chars().count().div_ceil(3);
    let away = |known: &str| if known.starts_with(&word) { 1 } else { distance(&word, known) };
    let nearest = known.into_iter().map(|known| (away(known), known)).min_by_key(|(away, _)| *away)?;
    (nearest.0 <= limit).then_some(nearest.1)
}

/// How many letters must be put in, taken out or replaced: V. I. Levenshtein, 1965.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (index, letter) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_counted() {
        for (from, to, away) in [("", "abc", 3), ("abc", "", 3), ("kitten", "sitting", 3), ("set", "set", 0)]
        {
            assert_eq!(distance(from, to), away, "{from} {to}");
        }
    }

    #[test]
    fn a_word_that_is_like_none_means_none() {
        let known = ["sleep", "set", "endif", "endpipeline"];
        for (word, meant) in [
            ("sleeep", Some("sleep")),
            ("SLEEP", Some("sleep")),
            ("endf", Some("endif")),
            ("endp", Some("endpipeline")),
            ("include", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, known), meant, "{word}");
        }
        assert_eq!(nearest(&"s".repeat(100_000), known), None);
    }
}
