//! Words of an expression: numbers, variables, names and signs.

use super::names::{is_of_name, name_length};

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Token<'a> {
    /// Without a sign, so that the greatest is one that only a negative number has.
    Integer(u64),
    Double(f64),
    /// Without its colon.
    Variable(&'a str),
    /// The name of a function, or a word of the language.
    Word(&'a str),
    Sign(&'static str),
}

/// Signs, longer ones before those that they begin with.
const SIGNS: [&str; 21] = [
    "<<", ">>", "<=", ">=", "<>", "!=", "+", "-", "*", "/", "%", "=", "<", ">", "|", "#", "&", "~", "(", ")",
    ",",
];

/// Each token of a text with the text from it on.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token<'_>, &str)>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_ascii_start();
    while !rest.is_empty() {
        let (token, length) = token(rest)?;
        tokens.push((token, rest));
        rest = rest[length..].trim_ascii_start();
    }
    Ok(tokens)
}

/// What a text begins with, and its bytes.
fn token(text: &str) -> Result<(Token<'_>, usize), String> {
    if let Some(variable) = text.strip_prefix(':') {
        return match name_length(variable) {
            0 => {
                Err(format!("`{}` names no variable: a name is letters, digits and underscores", shown(text)))
            }
            length => Ok((Token::Variable(&variable[..length]), length + 1)),
        };
    }
    let number = number_length(text);
    if number > 0 {
        return Ok((self::number(&text[..number])?, number));
    }
    let word = name_length(text);
    if word > 0 {
        return Ok((Token::Word(&text[..word]), word));
    }
    let sign = SIGNS.into_iter().find(|sign| text.starts_with(sign));
    sign.map(|sign| (Token::Sign(sign), sign.len())).ok_or_else(|| {
        let letter = text.chars().next().unwrap_or(' ');
        format!("`{letter}` has no meaning in an expression: remove it")
    })
}

fn number(text: &str) -> Result<Token<'_>, String> {
    if text.bytes().all(|digit| digit.is_ascii_digit()) {
        /// The lowest bigint without its sign.
        const GREATEST: u64 = i64::MIN.unsigned_abs();
        let number = text.parse().ok().filter(|&number| number <= GREATEST);
        return number.map(Token::Integer).ok_or_else(|| too_large(text));
    }
    let number: f64 = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
    if number.is_finite() {
        Ok(Token::Double(number))
    } else {
        Err(format!("{text} is too large for a double: the greatest is {:e}", f64::MAX))
    }
}

/// A number is none of 64 bits.
pub(super) fn too_large(text: &str) -> String {
    format!(
        "{text} is too large for a bigint: the greatest is {}; a double has a point, such as {text}.0",
        i64::MAX
    )
}

/// Bytes of the number that a text begins with: digits, a point and more digits, an exponent.
fn number_length(text: &str) -> usize {
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(0);
    let mut length = whole;
    if text[length..].starts_with('.') {
        let fraction = digits(length + 1);
        if whole + fraction == 0 {
            return 0;
        }
        length += 1 + fraction;
    }
    if length > 0 && text[length..].starts_with(['e', 'E']) {
        let sign = usize::from(text[length + 1..].starts_with(['+', '-']));
        let exponent = digits(length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    length
}

/// The beginning of a text, up to what cannot be of the same word.
pub(super) fn shown(text: &str) -> &str {
    let mut letters = text.char_indices();
    let Some((_, first)) = letters.next() else { return text };
    let is_word = first == ':' || is_of_name(first);
    let end = letters.find(|(_, letter)| !is_word || !is_of_name(*letter));
    end.map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Token<'_>> {
        tokens(text).unwrap().into_iter().map(|(token, _)| token).collect()
    }

    #[test]
    fn numbers_are_read_whole() {
        for (text, token) in [
            ("0", Token::Integer(0)),
            ("9223372036854775808", Token::Integer(1 << 63)),
            ("1.5", Token::Double(1.5)),
            ("1.", Token::Double(1.0)),
            (".25", Token::Double(0.25)),
            ("1e3", Token::Double(1_000.0)),
            ("1.5E-3", Token::Double(0.0015)),
            (".5e+1", Token::Double(5.0)),
        ] {
            assert_eq!(read(text), [token], "{text}");
        }
        assert_eq!(read("1e"), [Token::Integer(1), Token::Word("e")]);
        assert!(tokens("9223372036854775809").unwrap_err().contains("too large for a bigint"));
        assert!(tokens("1e400").unwrap_err().contains("too large for a double"));
    }

    #[test]
    fn signs_are_read_as_long_as_they_are() {
        let expected = ["<<", "<=", "<>", "<", ">>", ">=", ">", "!=", "|", "|"].map(Token::Sign);
        assert_eq!(read("<<<=<> < >>>=> !=||"), expected);
    }

    #[test]
    fn variables_and_words_have_names() {
        assert_eq!(read(":größe+ln"), [Token::Variable("größe"), Token::Sign("+"), Token::Word("ln")]);
        assert!(tokens(":1").unwrap_err().contains("`:1` names no variable"));
        assert!(tokens("1 ; 2").unwrap_err().contains("`;` has no meaning"));
        assert!(tokens(".").unwrap_err().contains("`.`"));
    }
}
