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
    mark_test_modules(&mut sources);
    Ok((sources, findings))
}

/// Marks the files of modules that are declared for tests alone, and of the modules in them.
fn mark_test_modules(sources: &mut [Source]) {
    let modules: Vec<String> = sources.iter().flat_map(Source::test_modules).collect();
    for source in sources {
        let stem = source.path.trim_end_matches(".rs");
        let is_of = |module: &String| {
            stem == module || stem.strip_prefix(module).is_some_and(|rest| rest.starts_with('/'))
        };
        if modules.iter().any(is_of) {
            source.tokens.iter_mut().for_each(|token| token.in_test = true);
        }
    }
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

    /// Modules with files of their own that are declared under `#[cfg(test)]`: paths without `.rs`.
    fn test_modules(&self) -> Vec<String> {
        let (directory, file) = self.path.rsplit_once('/').unwrap_or_default();
        let stem = file.trim_end_matches(".rs");
        let below = match stem {
            "lib" | "main" | "mod" => directory.to_owned(),
            stem => format!("{directory}/{stem}"),
        };
        let modules = self.syntax.items.iter().filter_map(|item| match item {
            syn::Item::Mod(module) if module.content.is_none() => Some(module),
            _ => None,
        });
        modules
            .filter(|module| module.attrs.iter().any(is_for_tests))
            .map(|module| match module.attrs.iter().find_map(path_of) {
                Some(path) => {
                    format!("{directory}/{}", path.trim_end_matches(".rs").trim_end_matches("/mod"))
                }
                None => format!("{below}/{}", module.ident),
            })
            .collect()
    }

    /// Literals of text that are no documentation.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &Token> {
        let is_documentation = |index: usize| {
            index >= 2 && self.tokens[index - 1].text == "=" && self.tokens[index - 2].text == "doc"
        };
        let texts = self.tokens.iter().enumerate().filter(move |(index, _)| !is_documentation(*index));
        texts.map(|(_, token)| token).filter(|token| token.text.len() > 1 && token.text.ends_with(['"', '#']))
    }

    /// The tokens of a name that is imported from a module in a list: `fs::{self, write}`.
    pub(crate) fn find_in_lists<'a>(&'a self, module: &'a str, name: &'a str) -> Vec<&'a Token> {
        let begins = |window: &[Token]| matches(window, &[module, ":", ":", "{"]);
        let lists = self.tokens.windows(4).enumerate().filter(|(_, window)| begins(window));
        let of_list = |begin: usize| {
            let list = self.tokens[begin + 4..].iter().take_while(|token| token.text != "}");
            list.filter(|token| token.text == name)
        };
        lists.flat_map(|(begin, _)| of_list(begin)).collect()
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

fn is_for_tests(attribute: &syn::Attribute) -> bool {
    let syn::Meta::List(list) = &attribute.meta else { return false };
    let words: Vec<String> = list.tokens.clone().into_iter().map(|token| token.to_string()).collect();
    list.path.is_ident("cfg") && words == ["test"]
}

/// The file that an attribute `path` names.
fn path_of(attribute: &syn::Attribute) -> Option<String> {
    let syn::Meta::NameValue(pair) = &attribute.meta else { return None };
    let syn::Expr::Lit(literal) = &pair.value else { return None };
    let syn::Lit::Str(text) = &literal.lit else { return None };
    pair.path.is_ident("path").then(|| text.value())
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
    fn files_of_modules_for_tests_are_test_code() {
        let parent = "#[cfg(test)]\nmod a;\n#[cfg(test)]\n#[path = \"b_tests.rs\"]\nmod b;\nmod c;\n\
                      #[cfg(test)]\n#[path = \"d_tests/mod.rs\"]\nmod d;";
        let text = "fn f() { sleep(1) }";
        let files = ["lib.rs", "a.rs", "a/deep.rs", "b_tests.rs", "c.rs", "ab.rs", "b.rs", "d_tests/deep.rs"];
        let mut sources: Vec<Source> = files
            .iter()
            .map(|file| {
                let text = if *file == "lib.rs" { parent } else { text };
                Source::parse(&format!("crates/load/src/{file}"), text).unwrap()
            })
            .collect();
        mark_test_modules(&mut sources);
        let is_test = |source: &Source| source.tokens.iter().all(|token| token.in_test);
        let marked: Vec<bool> = sources.iter().map(is_test).collect();
        assert_eq!(marked, [false, true, true, true, false, false, false, true]);
    }

    #[test]
    fn texts_are_literals_but_no_documentation() {
        let source =
            Source::parse("crates/load/src/lib.rs", "/// one\nfn a() { b(\"two\", r#\"three\"#, 4, 'f') }");
        let texts: Vec<String> = source.unwrap().texts().map(|token| token.text.clone()).collect();
        assert_eq!(texts, ["\"two\"", "r#\"three\"#"]);
    }

    #[test]
    fn comments_and_strings_are_no_code_and_macro_arguments_are() {
        let text = "/// sleep(1)\nfn a() { b(\"sleep(2)\"); c!(sleep(3)) }";
        assert_eq!(sleeps("crates/load/src/lib.rs", text), [(2, false)]);
    }
}
