//! Meta-commands: what begins with a backslash.

use super::distance::nearest;
use super::expression::Expression;
use super::names::{Names, is_name, is_of_name};
use super::operator::Comparison;
use super::script::Operand;
use super::statement::{Into, Kind};

/// A meta-command. In the place of an expression with a mistake stands NULL, so that what belongs together still does.
#[derive(Debug, PartialEq)]
pub(super) enum Meta {
    Set { variable: usize, expression: Expression },
    Sleep { time: Operand, unit_ns: u64 },
    If(Expression),
    Elif(Expression),
    Else,
    Endif,
    StartPipeline,
    SyncPipeline,
    EndPipeline,
    Into(Into),
    Expect { comparison: Comparison, expression: Expression },
}

/// The words that there are.
const WORDS: [&str; 12] = [
    "set",
    "sleep",
    "if",
    "elif",
    "else",
    "endif",
    "gset",
    "aset",
    "startpipeline",
    "syncpipeline",
    "endpipeline",
    "expect",
];

const NS_PER_US: u64 = 1_000;
const NS_PER_MS: u64 = 1_000_000;
const NS_PER_S: u64 = 1_000_000_000;

/// Reads what stands between its backslash and the end of its line. `None` if it cannot be anything.
pub(super) fn read(text: &str, names: &mut Names, problems: &mut Vec<String>) -> Option<Meta> {
    // A line that goes on in the next has a backslash there.
    let text = text.replace("\\\r\n", " ").replace("\\\n", " ");
    let (word, rest) = first_word(text.trim_ascii_end());
    let lower = word.to_ascii_lowercase();
    match lower.as_str() {
        "set" => set(rest, names, problems),
        "sleep" => sleep(rest, names).map_err(|words| problems.push(words)).ok(),
        "if" => Some(Meta::If(expression(("if", ":x > 0"), rest, names, problems))),
        "elif" => Some(Meta::Elif(expression(("elif", ":x > 0"), rest, names, problems))),
        "expect" => expect(rest, names, problems),
        "gset" => Some(Meta::Into(into(Kind::Gset, rest, problems))),
        "aset" => Some(Meta::Into(into(Kind::Aset, rest, problems))),
        "setrandom" => {
            problems.push(set_random(rest));
            None
        }
        bare => {
            let Some(meta) = without_arguments(bare) else {
                problems.push(unknown(word));
                return None;
            };
            if !rest.is_empty() {
                problems.push(format!("`\\{bare}` accepts no arguments: remove `{rest}`"));
            }
            Some(meta)
        }
    }
}

/// A word, and what follows the blanks after it.
fn first_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(|letter: char| letter.is_ascii_whitespace()).unwrap_or((text, ""));
    (word, rest.trim_ascii())
}

fn without_arguments(word: &str) -> Option<Meta> {
    match word {
        "else" => Some(Meta::Else),
        "endif" => Some(Meta::Endif),
        "startpipeline" => Some(Meta::StartPipeline),
        "syncpipeline" => Some(Meta::SyncPipeline),
        "endpipeline" => Some(Meta::EndPipeline),
        _ => None,
    }
}

/// What stands today for a command of pgbench's before 9.6: `\setrandom NAME LOW HIGH [uniform | gaussian N | exponential N]`.
fn set_random(text: &str) -> String {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let now = match words.as_slice() {
        [name, low, high] | [name, low, high, "uniform"] => format!("\\set {name} random({low}, {high})"),
        [name, low, high, by @ ("gaussian" | "exponential"), parameter] => {
            format!("\\set {name} random_{by}({low}, {high}, {parameter})")
        }
        _ => "\\set NAME random(LOW, HIGH)".to_owned(),
    };
    format!("pgbench removed `\\setrandom` in version 9.6: write `{now}`")
}

fn unknown(word: &str) -> String {
    if matches!(word.to_ascii_lowercase().as_str(), "shell" | "setshell") {
        return format!(
            "`\\{word}` is not supported, because programs cannot run during a measured load: compute the value with \\set, or define the variable"
        );
    }
    let meant = match nearest(word, WORDS) {
        Some(meant) => format!("did you mean `\\{meant}`? "),
        None => String::new(),
    };
    let all: Vec<String> = WORDS.iter().map(|word| format!("\\{word}")).collect();
    format!("unknown meta-command `\\{word}`: {meant}Use {}", all.join(", "))
}

/// The expression of a command, of which an example is given.
fn expression(
    (command, example): (&str, &str),
    text: &str,
    names: &mut Names,
    problems: &mut Vec<String>,
) -> Expression {
    if text.is_empty() {
        problems
            .push(format!("`\\{command}` without an expression: give one, such as \\{command} {example}"));
        return Expression::null();
    }
    Expression::read(text, names).unwrap_or_else(|words| {
        problems.push(remark_behind(text, names).unwrap_or(words));
        Expression::null()
    })
}

/// Where a remark follows what is an expression by itself: pgbench takes none there.
fn remark_behind(text: &str, names: &Names) -> Option<String> {
    let (at, _) = text
        .match_indices("--")
        .find(|(at, _)| Expression::read(&text[..*at], &mut names.clone()).is_ok())?;
    Some(no_remark(&text[at..], "an expression"))
}

fn no_remark(remark: &str, what: &str) -> String {
    format!("the comment `{remark}` cannot follow {what}: write it on a separate line")
}

fn set(text: &str, names: &mut Names, problems: &mut Vec<String>) -> Option<Meta> {
    let (name, rest) = first_word(text);
    if name.is_empty() {
        let words = "`\\set` without a variable: give its name and an expression, such as \\set x 1";
        problems.push(words.to_owned());
        return None;
    }
    if !is_name(name) {
        problems.push(no_name(name));
        if rest.is_empty() {
            return None;
        }
    }
    let expression = expression((&format!("set {name}"), "1"), rest, names, problems);
    Some(Meta::Set { variable: names.index(name), expression })
}

fn no_name(text: &str) -> String {
    match text.strip_prefix(':').filter(|name| is_name(name)) {
        Some(name) => format!(
            "`{text}` stands for the value of a variable, but `\\set` needs the variable's name, `{name}`"
        ),
        None => format!(
            "invalid variable name `{text}`: use letters, digits and underscores, but not a digit first"
        ),
    }
}

fn sleep(text: &str, names: &mut Names) -> Result<Meta, String> {
    let wrong = |what: &str| {
        let command = format!("\\sleep {text}");
        format!("`{}` {what}, such as \\sleep 10 ms or \\sleep :pause us", command.trim_end())
    };
    if let Some(at) = text.find("--") {
        return Err(no_remark(&text[at..], "a time"));
    }
    if let Some(variable) = text.strip_prefix(':') {
        let end = variable.find(|letter| !is_of_name(letter)).unwrap_or(variable.len());
        let (name, unit) = variable.split_at(end);
        if !is_name(name) {
            return Err(wrong("names no variable: give a name and a unit"));
        }
        let unit_ns = unit_ns(unit)?;
        return Ok(Meta::Sleep { time: Operand::Variable(names.index(name)), unit_ns });
    }
    let digits = text.strip_prefix('+').unwrap_or(text);
    let end = digits.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(digits.len());
    let (digits, unit) = digits.split_at(end);
    if digits.is_empty() || unit.starts_with('.') {
        return Err(wrong("has no time: give a whole number and a unit"));
    }
    let unit_ns = unit_ns(unit)?;
    let time = digits.parse().ok().filter(|time: &u64| time.checked_mul(unit_ns).is_some());
    let time = time.ok_or_else(|| wrong("is longer than 584 years: give less"))?;
    Ok(Meta::Sleep { time: Operand::Number(time), unit_ns })
}

fn unit_ns(unit: &str) -> Result<u64, String> {
    match unit.trim_ascii().to_ascii_lowercase().as_str() {
        "us" => Ok(NS_PER_US),
        "ms" => Ok(NS_PER_MS),
        "" | "s" => Ok(NS_PER_S),
        other => Err(format!("unknown unit `{other}` of `\\sleep`: use us, ms or s")),
    }
}

fn into(kind: Kind, text: &str, problems: &mut Vec<String>) -> Into {
    if !text.is_empty() && !is_name(text) {
        problems.push(format!(
            "`\\{} {text}` has an invalid prefix: use letters, digits and underscores, but not a digit first",
            kind.word()
        ));
    }
    Into { kind, prefix: text.to_owned() }
}

fn expect(text: &str, names: &mut Names, problems: &mut Vec<String>) -> Option<Meta> {
    let read = text.strip_prefix("rows").and_then(|rest| {
        let rest = rest.trim_ascii_start();
        let mut signs = Comparison::WRITTEN.iter();
        signs.find_map(|(sign, comparison)| Some((*sign, *comparison, rest.strip_prefix(sign)?)))
    });
    let Some((sign, comparison, rest)) = read else {
        problems.push(format!(
            "`\\expect{}{text}` does not mention rows: write `rows`, one of = <> < <= > >= and a number, such as \\expect rows = 1",
            if text.is_empty() { "" } else { " " }
        ));
        return None;
    };
    let command = format!("expect rows {sign}");
    Some(Meta::Expect { comparison, expression: expression((&command, "1"), rest, names, problems) })
}
