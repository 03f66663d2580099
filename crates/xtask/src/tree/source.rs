//! A Rust source file, parsed once for all checks.
//!
//! Rules about words look at tokens rather than at text, so that comments and strings may speak of what code
//! may not do, and rather than at syntax, so that what stands in a macro call is seen too.

use std::path::Path;

use anyhow::{Context, Result};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::Finding;

/// A source file of a crate.
pub(crate) struct Source {
    /// Relative to the root: `crates/<crate>/src/…` or `crates/<crate>/tests/…`.
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) syntax: syn::File,
    /// All tokens in order; delimiters of groups are tokens of their own.
    pub(crate) tokens: Vec<Token>,
}

/// One token.
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) line: usize,
    /// Stands in a `tests` directory, in a `#[cfg(test)]` module or in a `#[test]` function.
    pub(crate) in_test: bool,
}

/// Reads every Rust file below `crates/`. One that does not parse is a finding and is left out.
pub(crate) fn read_all(root: &Path) -> Result<(Vec<Source>, Vec<Finding>)> {
    let mut paths = Vec::new();
    collect_paths(root, "crates", &mut paths)?;
    paths.sort();
    let (mut sources, mut findings) = (Vec::new(), Vec::new());
    for path in paths {
        let text =
            std::fs::read_to_string(root.join(&path)).with_context(|| format!("cannot read {path}"))?;
        match Source::parse(&path, &text) {
            Ok(source) => sources.push(source),
            Err(error) => findings.push(Finding::new(&path, error.span().start().line, error.to_string())),
        }
    }
    Ok((sources, findings))
}

impl Source {
    pub(crate) fn parse(path: &str, text: &str) -> syn::Result<Self> {
        let syntax = syn::parse_file(text)?;
        let mut tokens = Vec::new();
        flatten(syn::parse_str(text)?, &mut tokens);
        if path.split('/').nth(2) == Some("tests") {
            tokens.iter_mut().for_each(|token| token.in_test = true);
        } else {
            mark_tests(&mut tokens);
        }
        Ok(Self { path: path.to_owned(), text: text.to_owned(), syntax, tokens })
    }

    /// Directory of the crate below `crates/`.
    pub(crate) fn crate_name(&self) -> &str {
        self.path.split('/').nth(1).unwrap_or_default()
    }

    /// The first token of each place where `pattern` stands.
    pub(crate) fn find<'a>(&'a self, pattern: &'a [&str]) -> impl Iterator<Item = &'a Token> {
        self.tokens.windows(pattern.len()).filter(|window| matches(window, pattern)).map(|window| &window[0])
    }
}

fn matches(window: &[Token], pattern: &[&str]) -> bool {
    window.iter().zip(pattern).all(|(token, text)| token.text == *text)
}

fn collect_paths(root: &Path, directory: &str, paths: &mut Vec<String>) -> Result<()> {
    let entries =
        std::fs::read_dir(root.join(directory)).with_context(|| format!("cannot list {directory}"))?;
    for entry in entries {
        let entry = entry?;
        let path = format!("{directory}/{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect_paths(root, &path, paths)?;
        } else if path.ends_with(".rs") {
            paths.push(path);
        }
    }
    Ok(())
}

fn flatten(stream: TokenStream, tokens: &mut Vec<Token>) {
    let mut push = |text: String, line| tokens.push(Token { text, line, in_test: false });
    for tree in stream {
        let line = tree.span().start().line;
        let TokenTree::Group(group) = tree else {
            push(tree.to_string(), line);
            continue;
        };
        let (open, close) = delimiters(group.delimiter());
        push(open.to_owned(), line);
        let mut inner = Vec::new();
        flatten(group.stream(), &mut inner);
        inner.into_iter().for_each(|token| push(token.text, token.line));
        push(close.to_owned(), group.span_close().start().line);
    }
}

fn delimiters(delimiter: Delimiter) -> (&'static str, &'static str) {
    match delimiter {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::None => ("", ""),
    }
}

/// Marks the items that carry one of the attributes which make test code.
fn mark_tests(tokens: &mut [Token]) {
    const ATTRIBUTES: [&[&str]; 3] = [
        &["#", "[", "test", "]"],
        &["#", "[", "cfg", "(", "test", ")"],
        &["#", "[", "cfg", "(", "all", "(", "test"],
    ];
    for begin in 0..tokens.len() {
        let rest = &tokens[begin..];
        let marked = ATTRIBUTES
            .iter()
            .any(|attribute| rest.len() >= attribute.len() && matches(&rest[..attribute.len()], attribute));
        if marked {
            let end = begin + item_length(rest);
            tokens[begin..end].iter_mut().for_each(|token| token.in_test = true);
        }
    }
}

/// Number of tokens up to the end of the item: the brace that closes its body, or its semicolon.
fn item_length(tokens: &[Token]) -> usize {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate() {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && matches!(token.text.as_str(), "}" | ";") {
            return index + 1;
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleeps(path: &str, text: &str) -> Vec<(usize, bool)> {
        let source = Source::parse(path, text).unwrap();
        source.find(&["sleep", "("]).map(|token| (token.line, token.in_test)).collect()
    }

    #[test]
    fn test_code_ends_where_its_item_ends() {
        let text = "fn a() { sleep(1) }\n\
                    #[cfg(test)]\nmod tests {\n fn b() { sleep(2) }\n}\n\
                    fn c() { sleep(3) }\n\
                    #[test]\nfn d() { sleep(4) }\n";
        assert_eq!(sleeps("crates/load/src/lib.rs", text), [(1, false), (4, true), (6, false), (8, true)]);
    }

    #[test]
    fn all_of_a_file_below_tests_is_test_code() {
        assert_eq!(sleeps("crates/load/tests/a.rs", "fn a() { sleep(1) }"), [(1, true)]);
    }

    #[test]
    fn comments_and_strings_are_no_code_and_macro_arguments_are() {
        let text = "/// sleep(1)\nfn a() { b(\"sleep(2)\"); c!(sleep(3)) }";
        assert_eq!(sleeps("crates/load/src/lib.rs", text), [(2, false)]);
    }
}
