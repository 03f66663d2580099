//! Reading an expression: the precedence of its operators, and the arguments of its functions.

use super::distance::nearest;
use super::expression::{DEPTH_MAX, Expression, Node};
use super::functions::Function;
use super::lexer::{Token, shown, tokens, too_large};
use super::names::Names;
use super::operator::{Comparison, Operator};
use super::value::Scalar;

type Parsed<T> = Result<T, String>;

/// How tightly an operator binds: greater is tighter.
type Level = u8;
const OR: Level = 1;
const AND: Level = 2;
const NOT: Level = 3;
const IS: Level = 4;
const COMPARISON: Level = 5;
const BITS: Level = 6;
const SUM: Level = 7;
const PRODUCT: Level = 8;
const SIGN: Level = 9;

impl Expression {
    /// Reads a text whole. A mistake is said without its place.
    pub(crate) fn read(text: &str, names: &mut Names) -> Result<Self, String> {
        let mut parser =
            Parser { tokens: tokens(text)?, at: 0, names, nodes: Vec::new(), depths: Vec::new(), within: 0 };
        if parser.tokens.is_empty() {
            return Err("the expression is missing: add one, such as random(1, 10)".to_owned());
        }
        parser.expression(OR)?;
        match parser.tokens.get(parser.at) {
            None => Ok(Self::of(parser.nodes)),
            Some((_, rest)) => Err(format!(
                "`{}` cannot follow a complete expression: put an operator before it, or remove it",
                shown(rest)
            )),
        }
    }
}

struct Parser<'text, 'names> {
    /// With the text from each on.
    tokens: Vec<(Token<'text>, &'text str)>,
    at: usize,
    names: &'names mut Names,
    nodes: Vec<Node>,
    /// Of each node, how many lie below one another from it on.
    depths: Vec<usize>,
    /// How many expressions are being read within one another.
    within: usize,
}

/// What may follow an expression.
enum Infix {
    Or,
    And,
    Is,
    IsNull,
    NotNull,
    Binary(Operator),
}

impl<'text> Parser<'text, '_> {
    /// An expression of operators that bind at least so tightly.
    fn expression(&mut self, least: Level) -> Parsed<usize> {
        self.within += 1;
        check_depth(self.within)?;
        let mut left = self.operand()?;
        let mut is_comparison = false;
        while let Some((infix, level)) = self.infix() {
            if level < least {
                break;
            }
            if is_comparison && level == COMPARISON {
                return Err("a comparison is compared again: put one of the two comparisons in parentheses"
                    .to_owned());
            }
            is_comparison = level == COMPARISON;
            self.at += 1;
            left = self.continued(left, infix, level)?;
        }
        self.within -= 1;
        Ok(left)
    }

    /// An expression and what follows it, whose first token is taken.
    fn continued(&mut self, left: usize, infix: Infix, level: Level) -> Parsed<usize> {
        match infix {
            Infix::Or => {
                let right = self.expression(level + 1)?;
                self.add(Node::Or(left, right))
            }
            Infix::And => {
                let right = self.expression(level + 1)?;
                self.add(Node::And(left, right))
            }
            Infix::Binary(operator) => {
                let right = self.expression(level + 1)?;
                self.add(Node::Operation(operator, left, right))
            }
            Infix::IsNull => self.add(Node::Is { of: left, truth: None, negated: false }),
            Infix::NotNull => self.add(Node::Is { of: left, truth: None, negated: true }),
            Infix::Is => {
                let negated = self.takes_word("not");
                let truth = if self.takes_word("null") {
                    None
                } else if self.takes_word("true") {
                    Some(true)
                } else if self.takes_word("false") {
                    Some(false)
                } else {
                    return Err(self.unexpected("NULL, TRUE or FALSE after IS"));
                };
                self.add(Node::Is { of: left, truth, negated })
            }
        }
    }

    /// What follows an expression here, if anything may.
    fn infix(&self) -> Option<(Infix, Level)> {
        let binary = |operator, level| Some((Infix::Binary(operator), level));
        match self.token()? {
            Token::Sign(sign) => match sign {
                "+" => binary(Operator::Add, SUM),
                "-" => binary(Operator::Subtract, SUM),
                "*" => binary(Operator::Multiply, PRODUCT),
                "/" => binary(Operator::Divide, PRODUCT),
                "%" => binary(Operator::Remainder, PRODUCT),
                "|" => binary(Operator::BitOr, BITS),
                "#" => binary(Operator::BitXor, BITS),
                "&" => binary(Operator::BitAnd, BITS),
                "<<" => binary(Operator::ShiftLeft, BITS),
                ">>" => binary(Operator::ShiftRight, BITS),
                _ => {
                    let comparison = Comparison::WRITTEN.iter().find(|(written, _)| *written == sign)?.1;
                    binary(Operator::Compare(comparison), COMPARISON)
                }
            },
            Token::Word(word) => {
                let (_, infix, level) = [
                    ("or", Infix::Or, OR),
                    ("and", Infix::And, AND),
                    ("is", Infix::Is, IS),
                    ("isnull", Infix::IsNull, IS),
                    ("notnull", Infix::NotNull, IS),
                ]
                .into_iter()
                .find(|(name, ..)| word.eq_ignore_ascii_case(name))?;
                Some((infix, level))
            }
            Token::Integer(_) | Token::Double(_) | Token::Variable(_) => None,
        }
    }

    /// What operators stand between: a value, or an operator of one operand with its own.
    fn operand(&mut self) -> Parsed<usize> {
        let Some(token) = self.token() else {
            return Err(self.unexpected("a value"));
        };
        self.at += 1;
        match token {
            Token::Integer(number) => match i64::try_from(number) {
                Ok(number) => self.add(Node::Constant(Scalar::Integer(number))),
                Err(_) => Err(too_large(&number.to_string())),
            },
            Token::Double(number) => self.add(Node::Constant(Scalar::Double(number))),
            Token::Variable(name) => {
                let variable = self.names.index(name);
                self.add(Node::Variable(variable))
            }
            Token::Word(word) => self.word(word),
            Token::Sign("-") => self.negative(),
            Token::Sign("+") => self.expression(SIGN),
            Token::Sign("~") => {
                let of = self.expression(BITS + 1)?;
                let ones = self.add(Node::Constant(Scalar::Integer(-1)))?;
                self.add(Node::Operation(Operator::BitXor, of, ones))
            }
            Token::Sign("(") => {
                let inner = self.expression(OR)?;
                self.take_sign(")")?;
                Ok(inner)
            }
            Token::Sign(_) => {
                self.at -= 1;
                Err(self.unexpected("a value"))
            }
        }
    }

    /// The negative of what follows: 0 minus it, as pgbench computes it.
    fn negative(&mut self) -> Parsed<usize> {
        let constant = match self.token() {
            Some(Token::Integer(number)) => 0_i64.checked_sub_unsigned(number).map(Scalar::Integer),
            Some(Token::Double(number)) => Some(Scalar::Double(0.0 - number)),
            Some(Token::Variable(_) | Token::Word(_) | Token::Sign(_)) | None => None,
        };
        if let Some(constant) = constant {
            self.at += 1;
            return self.add(Node::Constant(constant));
        }
        let zero = self.add(Node::Constant(Scalar::Integer(0)))?;
        let of = self.expression(SIGN)?;
        self.add(Node::Operation(Operator::Subtract, zero, of))
    }

    /// A value that begins with a word, which is taken.
    fn word(&mut self, word: &str) -> Parsed<usize> {
        match word.to_ascii_lowercase().as_str() {
            "null" => self.add(Node::Constant(Scalar::Null)),
            "true" => self.add(Node::Constant(Scalar::Boolean(true))),
            "false" => self.add(Node::Constant(Scalar::Boolean(false))),
            "not" => {
                let of = self.expression(NOT)?;
                self.add(Node::Not(of))
            }
            "case" => self.case(),
            "and" | "or" | "is" | "isnull" | "notnull" | "when" | "then" | "else" | "end" => {
                self.at -= 1;
                Err(self.unexpected("a value"))
            }
            name => self.call(word, name),
        }
    }

    fn case(&mut self) -> Parsed<usize> {
        let mut branches = Vec::new();
        while self.takes_word("when") {
            let condition = self.expression(OR)?;
            self.take_word("then")?;
            branches.push((condition, self.expression(OR)?));
        }
        if branches.is_empty() {
            return Err(self.unexpected("WHEN after CASE"));
        }
        let otherwise = if self.takes_word("else") { Some(self.expression(OR)?) } else { None };
        self.take_word("end")?;
        self.add(Node::Case { branches, otherwise })
    }

    /// A function's arguments, after its name: as it is written, and in small letters.
    fn call(&mut self, written: &str, name: &str) -> Parsed<usize> {
        let is_call = self.token() == Some(Token::Sign("("));
        let Some(function) = Function::of(name) else {
            return Err(unknown(written, name, is_call));
        };
        if !is_call {
            return Err(format!("`{name}` is a function: give its arguments in parentheses"));
        }
        self.at += 1;
        let mut arguments = Vec::new();
        if self.token() != Some(Token::Sign(")")) {
            arguments.push(self.expression(OR)?);
            while self.token() == Some(Token::Sign(",")) {
                self.at += 1;
                arguments.push(self.expression(OR)?);
            }
        }
        self.take_sign(")")?;
        function.check_arguments(name, arguments.len())?;
        self.add(Node::Call(function, arguments))
    }

    fn token(&self) -> Option<Token<'text>> {
        self.tokens.get(self.at).map(|(token, _)| *token)
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let is_it = matches!(self.token(), Some(Token::Word(here)) if here.eq_ignore_ascii_case(word));
        self.at += usize::from(is_it);
        is_it
    }

    fn take_word(&mut self, word: &str) -> Parsed<()> {
        if self.takes_word(word) { Ok(()) } else { Err(self.unexpected(&word.to_ascii_uppercase())) }
    }

    fn take_sign(&mut self, sign: &'static str) -> Parsed<()> {
        if self.token() == Some(Token::Sign(sign)) {
            self.at += 1;
            Ok(())
        } else {
            Err(self.unexpected(&format!("`{sign}`")))
        }
    }

    fn unexpected(&self, wanted: &str) -> String {
        match self.tokens.get(self.at) {
            Some((_, rest)) => format!("`{}` stands where {wanted} is expected", shown(rest)),
            None => format!("the expression ends where {wanted} is expected"),
        }
    }

    /// One more node, whose parts are there already.
    fn add(&mut self, node: Node) -> Parsed<usize> {
        let depth = 1 + node.parts().map(|part| self.depths[part]).max().unwrap_or(0);
        check_depth(depth)?;
        self.nodes.push(node);
        self.depths.push(depth);
        Ok(self.nodes.len() - 1)
    }
}

fn check_depth(depth: usize) -> Parsed<()> {
    if depth <= DEPTH_MAX {
        return Ok(());
    }
    Err(format!(
        "more than {DEPTH_MAX} operations are nested: split the expression over several \\set commands"
    ))
}

/// A word that is none of the language, as it is written and in small letters.
fn unknown(written: &str, name: &str, is_call: bool) -> String {
    if !is_call {
        return format!("`{written}` is not a value: write a variable as `:{written}`");
    }
    let meant = match nearest(name, Function::names()) {
        Some(meant) => format!("did you mean `{meant}`? "),
        None => String::new(),
    };
    let all: Vec<&str> = Function::names().collect();
    format!("unknown function `{written}`: {meant}Use {}", all.join(", "))
}
