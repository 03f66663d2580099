//! Texts that users read, against the style guide in CONTRIBUTING.md: literals, help and Markdown.
//!
//! The faults of each place are counted, and the counts are listed. A text may lose faults and never gain any: a count that is not the
//! listed one is a finding. The check looks at words only. It knows no grammar, and finds no clumsy sentence of common words.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use anyhow::{Context, Result};
use serde::Deserialize;
use syn::visit::Visit;

use super::source::Source;
use super::{Finding, WORDS_COUNTED};

/// A longer sentence is read twice.
const WORDS_MOST: usize = 25;
/// A literal with fewer words is a name, a key or a label.
const WORDS_LEAST: usize = 4;
/// Openings that turn a sentence round.
const OPENINGS: [&str; 4] = ["of", "what", "who", "whether"];
/// Words of SQL: texts with two of them are statements, and no sentences.
const SQL: [&str; 13] = [
    "SELECT", "INSERT", "FUNCTION", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER", "FROM", "WHERE", "TABLE",
    "VALUES", "SET",
];
/// Words that begin a statement of SQL.
const SQL_VERBS: [&str; 9] =
    ["CHANGE", "DECLARE", "EXECUTE", "FLUSH", "GRANT", "SHOW", "START", "STOP", "USE"];
/// Crates that print nothing to users.
const INTERNAL: [&str; 1] = ["xtask"];
/// Derives of items whose doc comments clap prints as help.
const HELP_DERIVES: [&str; 5] = ["Args", "Parser", "Subcommand", "ValueEnum", "CommandFactory"];

/// A sentence that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Where the count of it is kept: a crate's literals, its help, or Markdown.
    place: String,
    path: String,
    line: usize,
    /// The fault, and the remedy.
    rule: String,
    text: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}: {}", self.path, self.line, self.rule, self.text)
    }
}

/// Words to avoid, and what to write instead.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Phrase {
    words: Vec<String>,
    r#use: String,
    /// The words are wrong only behind what is counted: `rows a second`, and not `within a second`.
    #[serde(default)]
    is_rate: bool,
}

impl Phrase {
    /// Whether a sentence, with a blank before and behind each word, has these words where they are wrong.
    fn is_in(&self, words: &str, sentence: &str) -> bool {
        let is_wrong =
            |before: &str| !self.is_rate || before.split_whitespace().last().is_some_and(is_counted);
        sentence.match_indices(&format!(" {words} ")).any(|(at, _)| is_wrong(&sentence[..at]))
    }
}

/// Whether a word is a number, a unit or a plural.
fn is_counted(word: &str) -> bool {
    let is_plural = word.ends_with('s') && !["as", "is", "proves", "this", "was"].contains(&word);
    is_plural
        || word.starts_with(|first: char| first.is_ascii_digit())
        || ["gb", "mb", "once", "ten"].contains(&word)
}

/// All rules.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rules {
    phrase: Vec<Phrase>,
}

impl Rules {
    pub(crate) fn read() -> Result<Self> {
        toml::from_str(include_str!("../../words.toml")).context("words.toml")
    }

    /// The faults of one text, each in a few words.
    fn faults(&self, text: &str) -> Vec<String> {
        let mut faults = Vec::new();
        let text = without_code(text);
        for sentence in sentences(&text) {
            let words = words(sentence);
            if words.len() > WORDS_MOST {
                faults.push(format!("{} words in a sentence, at most {WORDS_MOST}", words.len()));
            }
            if sentence.matches(';').count() > 1 {
                faults.push("more than one semicolon in a sentence".to_owned());
            }
            let is_whole = sentence.trim_start().starts_with(char::is_uppercase);
            if let Some(first) = words.first().filter(|first| is_whole && OPENINGS.contains(&first.as_str()))
            {
                faults.push(format!("a sentence that begins with `{first}`"));
            }
            let joined = format!(" {} ", words.join(" "));
            for phrase in &self.phrase {
                let hits = phrase.words.iter().filter(|words| phrase.is_in(words, &joined));
                faults.extend(hits.map(|words| format!("`{words}`: use {}", phrase.r#use)));
            }
            if has_spaced_per_cent(sentence) {
                faults.push("a space before %".to_owned());
            }
        }
        faults
    }
}

/// All faults in the sources and in texts of Markdown, each a path with its text.
pub(crate) fn faults(rules: &Rules, sources: &[Source], markdown: &[(String, String)]) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut add = |place: String, path: &str, line: usize, text: &str| {
        let of_text = rules.faults(text).into_iter().map(|rule| Fault {
            place: place.clone(),
            path: path.to_owned(),
            line,
            rule,
            text: text.split_whitespace().collect::<Vec<_>>().join(" "),
        });
        faults.extend(of_text);
    };
    for source in sources.iter().filter(|source| !INTERNAL.contains(&source.crate_name())) {
        for token in source.texts().filter(|token| !token.in_test && is_prose(&token.text)) {
            add(
                format!("{} literals", source.crate_name()),
                &source.path,
                token.line,
                &unquoted(&token.text),
            );
        }
        for (line, text) in help(source) {
            add(format!("{} help", source.crate_name()), &source.path, line, &text);
        }
    }
    for (path, text) in markdown {
        for (line, paragraph) in paragraphs(text) {
            add("markdown".to_owned(), path, line, &paragraph);
        }
    }
    faults
}

/// Counts that are not the listed ones. `listed` has a place and its count on each line, and `#` before remarks.
pub(crate) fn check(faults: &[Fault], listed: &str) -> Vec<Finding> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for fault in faults {
        *counts.entry(&fault.place).or_default() += 1;
    }
    let mut findings = Vec::new();
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, line) in
        listed.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
    {
        let counted = line.rsplit_once(' ').and_then(|(place, count)| Some((place, count.parse().ok()?)));
        match counted {
            Some((place, count)) => _ = known.insert(place, count),
            None => findings.push(Finding::new(WORDS_COUNTED, index + 1, "no place with a count")),
        }
    }
    let places: BTreeSet<&str> = counts.keys().chain(known.keys()).copied().collect();
    for place in places {
        let (now, then) = (counts.get(place).copied().unwrap_or(0), known.get(place).copied().unwrap_or(0));
        let message = match now.cmp(&then) {
            Ordering::Equal => continue,
            Ordering::Less => format!("{place}: {now} faults, {then} listed: lower the count"),
            Ordering::Greater => {
                format!(
                    "{place}: {now} faults, {then} listed: reword the new text (`cargo xtask words {place}`)"
                )
            }
        };
        findings.push(Finding::new(WORDS_COUNTED, 0, message));
    }
    findings
}

/// Prints the faults of the places that begin with `place`, and the counts of all of them.
pub(crate) fn print(faults: &[Fault], place: &str) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for fault in faults.iter().filter(|fault| fault.place.starts_with(place) || fault.path.starts_with(place))
    {
        println!("{fault}");
        *counts.entry(&fault.place).or_default() += 1;
    }
    println!();
    counts.iter().for_each(|(place, count)| println!("{place} {count}"));
}

/// A literal without its quotes and escapes.
fn unquoted(literal: &str) -> String {
    match syn::parse_str::<syn::LitStr>(literal) {
        Ok(text) => text.value(),
        Err(_) => literal.trim_matches('"').to_owned(),
    }
}

/// Whether a literal is a sentence or a part of one, and not SQL, a shell script or the bytes of a file.
fn is_prose(literal: &str) -> bool {
    let mut words = literal.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_sql = words.clone().filter(|word| SQL.contains(word)).count() > 1
        || literal.contains(";\\n")
        || words.next().is_some_and(|first| SQL_VERBS.contains(&first));
    let is_script = ["\"$", "; do ", "exec ", "=$", "; BEGIN", "; RECONFIGURE", "%={"]
        .iter()
        .any(|mark| literal.contains(mark));
    let is_of_a_file = literal.starts_with('b');
    !is_sql && !is_script && !is_of_a_file && literal.split_whitespace().count() >= WORDS_LEAST
}

/// The text with one word for each piece of code between backticks.
fn without_code(text: &str) -> String {
    let is_code = |index: usize| index % 2 == 1;
    text.split('`').enumerate().map(|(index, part)| if is_code(index) { "code" } else { part }).collect()
}

/// A mark at the end of a sentence has a blank behind it.
fn sentences(text: &str) -> Vec<&str> {
    let pairs = text.char_indices().zip(text.chars().skip(1));
    let ends = pairs.filter(|((_, mark), next)| matches!(mark, '.' | '?' | '!') && next.is_whitespace());
    let mut sentences = Vec::new();
    let mut begin = 0;
    for ((end, _), _) in ends {
        sentences.push(&text[begin..=end]);
        begin = end + 1;
    }
    sentences.push(&text[begin..]);
    sentences
}

/// Words in small letters; a placeholder counts as one, and marks are left out.
fn words(sentence: &str) -> Vec<String> {
    let mark = |letter: char| {
        matches!(letter, ',' | ';' | ':' | '.' | '(' | ')' | '"' | '`' | '*' | '?' | '!' | '„' | '“')
    };
    let words = sentence.split_whitespace().map(|word| word.trim_matches(mark).to_lowercase());
    words.filter(|word| !word.is_empty()).collect()
}

/// `5 %`, also of a placeholder.
fn has_spaced_per_cent(sentence: &str) -> bool {
    sentence.match_indices(" %").any(|(at, _)| {
        sentence[..at].ends_with(|letter: char| letter.is_ascii_digit() || letter == '}')
            && !sentence[at + 2..].starts_with(|letter: char| letter.is_alphanumeric())
    })
}

/// Doc comments that clap prints, each with its line.
fn help(source: &Source) -> Vec<(usize, String)> {
    let mut found = Help(Vec::new());
    found.visit_file(&source.syntax);
    found.0
}

struct Help(Vec<(usize, String)>);

impl Help {
    fn add(&mut self, attributes: &[syn::Attribute]) {
        let mut paragraph = String::new();
        let mut first = 0;
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("doc")) {
            let syn::Meta::NameValue(pair) = &attribute.meta else { continue };
            let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &pair.value else { continue };
            if first == 0 {
                first = text.span().start().line;
            }
            let text = text.value();
            if text.trim().is_empty() && !paragraph.is_empty() {
                self.0.push((first, std::mem::take(&mut paragraph)));
                first = 0;
            }
            paragraph += &text;
        }
        if !paragraph.trim().is_empty() {
            self.0.push((first, paragraph));
        }
    }
}

impl<'ast> Visit<'ast> for Help {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        if is_help(&item.attrs) {
            item.fields.iter().for_each(|field| self.add(&field.attrs));
        }
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        if is_help(&item.attrs) {
            for variant in &item.variants {
                self.add(&variant.attrs);
                variant.fields.iter().for_each(|field| self.add(&field.attrs));
            }
        }
    }
}

/// Whether clap prints the doc comments of an item as help.
fn is_help(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().filter(|attribute| attribute.path().is_ident("derive")).any(|attribute| {
        let syn::Meta::List(list) = &attribute.meta else { return false };
        list.tokens.clone().into_iter().any(|token| HELP_DERIVES.contains(&token.to_string().as_str()))
    })
}

/// Paragraphs, points of lists and cells of tables, without code, each with the line that it begins on.
fn paragraphs(text: &str) -> Vec<(usize, String)> {
    let mut paragraphs: Vec<(usize, String)> = Vec::new();
    let mut is_code = false;
    let mut is_open = false;
    for (index, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        let is_fence = trimmed.starts_with("```") || trimmed.starts_with("~~~");
        is_code ^= is_fence;
        let is_indented = line.starts_with("    ");
        if is_code || is_fence || is_indented || trimmed.is_empty() || trimmed.starts_with('#') {
            is_open = false;
        } else if trimmed.starts_with('|') {
            paragraphs.extend(trimmed.split('|').map(|cell| (index + 1, cell.to_owned())));
            is_open = false;
        } else if is_open && !is_point(trimmed) {
            paragraphs.last_mut().into_iter().for_each(|(_, open)| *open += &format!(" {trimmed}"));
        } else {
            paragraphs.push((index + 1, trimmed.to_owned()));
            is_open = true;
        }
    }
    paragraphs
}

fn is_point(line: &str) -> bool {
    line.starts_with("- ")
        || line.starts_with("* ")
        || line.split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Vec<String> {
        Rules::read().unwrap().faults(text)
    }

    fn found(path: &str, text: &str) -> Vec<(String, usize)> {
        let sources = [Source::parse(path, text).unwrap()];
        let faults = faults(&Rules::read().unwrap(), &sources, &[]);
        faults.into_iter().map(|fault| (fault.place, fault.line)).collect()
    }

    #[test]
    fn plain_english_has_no_fault() {
        for text in [
            "Increase --duration, or look for background load.",
            "p99 varied by 11% (limit 10%). 1,200 IOPS, 300 ms per flush",
            "invalid size `{text}`: use a number and a unit; see --help",
            "write again, not `anew` or `told`",
        ] {
            assert_eq!(rules(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn each_rule_finds_its_fault() {
        let long = "one two ".repeat(13);
        for (text, says) in [
            ("the page tells it to you", "`tells`"),
            ("at most 30 writes a second", "`a second`"),
            ("Of these trials two failed", "begins with `of`"),
            ("busy by 5 % or {share} % of it", "before %"),
            ("one; two; three", "semicolon"),
            (long.as_str(), "26 words"),
            ("that is no size at all", "`is no`"),
            ("so many orders a minute, and", "`a minute`"),
        ] {
            assert!(
                matches!(rules(text).as_slice(), [one] if one.contains(says)),
                "{text}: {:?}",
                rules(text)
            );
        }
    }

    #[test]
    fn one_second_is_not_taken_for_a_rate() {
        for text in ["A second with errors", "so a commit takes 2 ms", "half a second", "this proves a flush"]
        {
            assert_eq!(rules(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn literals_and_help_of_products_are_read_and_tests_and_statements_are_not() {
        let text = "fn a() { b(\"all of it is told here\") }\n#[derive(Debug, Args)] struct A {\n /// Told to all.\n b: u8 }";
        let expected = [("load literals".to_owned(), 1), ("load help".to_owned(), 3)];
        assert_eq!(found("crates/load/src/a.rs", text), expected);
        assert_eq!(found("crates/xtask/src/a.rs", text), []);
        assert_eq!(found("crates/load/tests/a.rs", "fn a() { b(\"all of it is told here\") }"), []);
        for code in [
            "SELECT told FROM a WHERE whose = 1; a; b",
            "STOP told; told; told",
            "while told told; do told; done",
        ] {
            let code = format!("fn a() {{ b(\"{code}\"); c(\"told\") }}");
            assert_eq!(found("crates/load/src/a.rs", &code), [], "{code}");
        }
    }

    #[test]
    fn code_in_markdown_is_not_read_and_paragraphs_are_whole() {
        let text = "# Told\n\nOne line\nand another.\n\n    told\n```\ntold\n```\ntold\n- a point\n- told twice\n| told | b |\n";
        let read = paragraphs(text);
        assert_eq!(read[0], (3, "One line and another.".to_owned()));
        let faults = faults(&Rules::read().unwrap(), &[], &[("a.md".to_owned(), text.to_owned())]);
        assert_eq!(faults.iter().map(|fault| fault.line).collect::<Vec<_>>(), [10, 12, 13]);
    }

    #[test]
    fn counts_only_fall_and_the_list_is_true() {
        let of = |count: usize| {
            let fault = Fault {
                place: "load help".to_owned(),
                path: String::new(),
                line: 1,
                rule: String::new(),
                text: String::new(),
            };
            vec![fault; count]
        };
        let says =
            |count, listed| check(&of(count), listed).iter().map(ToString::to_string).collect::<String>();
        assert_eq!(says(2, "# remark\nload help 2\n"), "");
        assert!(says(3, "load help 2").contains("reword the new text"));
        assert!(says(1, "load help 2").contains("lower the count"));
        assert!(says(0, "load help 2").contains("lower the count"));
        assert!(says(1, "").contains("reword the new text"));
        assert!(says(1, "load help 1\nload help").contains("no place with a count"));
    }
}
