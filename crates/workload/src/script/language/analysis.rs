//! What is known of a script before it runs: expressions that fail every time they are reached, and whether a statement is sent at all.
//!
//! Commands only jump forward, so that one pass over them is enough. Nothing here draws a random number that counts.

use std::collections::BTreeMap;

use rand_core::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::chance::Chance;
use super::expression::{Expression, Node};
use super::functions::Function;
use super::operator::Operator;
use super::script::{Script, Step};
use super::value::{Scalar, Value, Wrong};

/// What is known of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Known {
    /// It is this one, every time.
    Exactly(Constant),
    /// A whole number that differs from time to time.
    Integer,
    /// Nothing.
    Nothing,
}

/// A value that is the same every time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Constant(Scalar);

/// What is known of variables, by their numbers. Of others nothing is known.
pub(crate) type KnownVariables = BTreeMap<usize, Known>;

/// What is known of a script before it runs.
#[derive(Debug, Default)]
pub(crate) struct Analysis {
    /// Lines of expressions that fail every time they are reached, and why.
    pub(crate) mistakes: Vec<(usize, String)>,
    /// Whether some way through the script sends a statement.
    pub(crate) sends: bool,
    /// Statements that every way through the script sends: indices of commands.
    pub(crate) always_sent: Vec<usize>,
}

impl Known {
    /// A value that is the same every time; nothing of a text that is no number, which only an expression cannot take.
    pub(crate) fn of(value: &Value) -> Self {
        value.scalar().map_or(Self::Nothing, |scalar| Self::Exactly(Constant(scalar)))
    }

    fn exactly(scalar: Scalar) -> Self {
        Self::Exactly(Constant(scalar))
    }

    fn is_integer(self) -> bool {
        matches!(self, Self::Integer | Self::Exactly(Constant(Scalar::Integer(_))))
    }
}

/// Looks through a script that begins with these variables. The variables of a result are unknown behind its statement.
pub(crate) fn analyse(script: &Script, names: &super::Names, variables: &KnownVariables) -> Analysis {
    let mut analysis = Analysis::default();
    // What is known before each command; none where no way leads.
    let mut before: Vec<Option<KnownVariables>> = vec![None; script.commands.len() + 1];
    before[0] = Some(variables.clone());
    // Up to here some way may pass over what stands between.
    let mut optional_until = 0;
    for (at, command) in script.commands.iter().enumerate() {
        let Some(mut known) = before[at].take() else { continue };
        let mut mistake = |wrong: Wrong| analysis.mistakes.push((command.line, wrong.to_string()));
        match &command.step {
            Step::Set { variable, expression } => {
                let value = value(expression, &known).map_err(&mut mistake).unwrap_or(Known::Nothing);
                known.insert(*variable, value);
            }
            Step::Branch { condition, otherwise } => match value(condition, &known).map_err(&mut mistake) {
                Ok(Known::Exactly(Constant(scalar))) if scalar.is_true() => {}
                Ok(Known::Exactly(_)) => {
                    reach(&mut before[*otherwise], known);
                    continue;
                }
                Ok(Known::Integer | Known::Nothing) | Err(()) => {
                    optional_until = optional_until.max(*otherwise);
                    reach(&mut before[*otherwise], known.clone());
                }
            },
            Step::Jump(to) => {
                if at < optional_until {
                    optional_until = optional_until.max(*to);
                }
                reach(&mut before[*to], known);
                continue;
            }
            Step::Expect { expression, .. } => _ = value(expression, &known).map_err(&mut mistake),
            Step::Sql(statement) => {
                analysis.sends = true;
                if at >= optional_until {
                    analysis.always_sent.push(at);
                }
                if let Some(then) = &statement.then {
                    known.retain(|variable, _| !names.name(*variable).starts_with(&then.prefix));
                }
            }
            Step::Sleep { .. } | Step::StartPipeline | Step::SyncPipeline | Step::EndPipeline => {}
        }
        reach(&mut before[at + 1], known);
    }
    analysis
}

/// A way leads to a command, with what is known on it. What differs from another way is not known.
fn reach(before: &mut Option<KnownVariables>, known: KnownVariables) {
    match before {
        None => *before = Some(known),
        Some(before) => before.retain(|variable, value| match known.get(variable) {
            Some(other) if other == value => true,
            Some(other) if other.is_integer() && value.is_integer() => {
                *value = Known::Integer;
                true
            }
            Some(_) | None => false,
        }),
    }
}

/// What an expression comes to, as far as it is known.
///
/// # Errors
/// Why it fails, whatever is not known.
fn value(expression: &Expression, variables: &KnownVariables) -> Result<Known, Wrong> {
    let nodes = expression.nodes();
    Looking { nodes, variables }.at(nodes.len() - 1)
}

struct Looking<'a> {
    nodes: &'a [Node],
    variables: &'a KnownVariables,
}

impl Looking<'_> {
    fn at(&self, index: usize) -> Result<Known, Wrong> {
        match &self.nodes[index] {
            Node::Constant(scalar) => Ok(Known::exactly(*scalar)),
            Node::Variable(variable) => Ok(self.variables.get(variable).copied().unwrap_or(Known::Nothing)),
            Node::Operation(operator, left, right) => operation(*operator, self.at(*left)?, self.at(*right)?),
            Node::Not(of) => match self.at(*of)? {
                Known::Exactly(Constant(Scalar::Null)) => Ok(Known::exactly(Scalar::Null)),
                Known::Exactly(Constant(of)) => Ok(Known::exactly(Scalar::Boolean(!of.boolean()?))),
                Known::Integer | Known::Nothing => Ok(Known::Nothing),
            },
            Node::And(left, right) => self.logical(*left, *right, false),
            Node::Or(left, right) => self.logical(*left, *right, true),
            Node::Is { of, truth, negated } => {
                let wanted = truth.map_or(Scalar::Null, Scalar::Boolean);
                Ok(match self.at(*of)? {
                    Known::Exactly(Constant(of)) => {
                        Known::exactly(Scalar::Boolean((of == wanted) != *negated))
                    }
                    Known::Integer | Known::Nothing => Known::Nothing,
                })
            }
            Node::Case { branches, otherwise } => self.case(branches, *otherwise),
            Node::Call(function, arguments) => {
                let arguments: Result<Vec<Known>, Wrong> =
                    arguments.iter().map(|argument| self.at(*argument)).collect();
                call(*function, &arguments?)
            }
        }
    }

    /// AND or OR. The second operand counts only where the first is known and does not decide.
    fn logical(&self, left: usize, right: usize, decides: bool) -> Result<Known, Wrong> {
        let Known::Exactly(Constant(left)) = self.at(left)? else { return Ok(Known::Nothing) };
        if left == Scalar::Null || left.boolean()? == decides {
            return Ok(Known::exactly(left));
        }
        let right = self.at(right)?;
        if let Known::Exactly(Constant(right)) = right
            && right != Scalar::Null
        {
            right.boolean()?;
        }
        Ok(right)
    }

    /// A value counts only where every condition up to its own is known.
    fn case(&self, branches: &[(usize, usize)], otherwise: Option<usize>) -> Result<Known, Wrong> {
        for (condition, value) in branches {
            match self.at(*condition)? {
                Known::Exactly(Constant(condition)) if condition.is_true() => return self.at(*value),
                Known::Exactly(_) => {}
                Known::Integer | Known::Nothing => return Ok(Known::Nothing),
            }
        }
        otherwise.map_or(Ok(Known::exactly(Scalar::Null)), |value| self.at(value))
    }
}

fn operation(operator: Operator, left: Known, right: Known) -> Result<Known, Wrong> {
    if let (Known::Exactly(Constant(left)), Known::Exactly(Constant(right))) = (left, right) {
        return operator.apply(left, right).map(Known::exactly);
    }
    if !left.is_integer() || !right.is_integer() || matches!(operator, Operator::Compare(_)) {
        return Ok(Known::Nothing);
    }
    // Whatever number is divided.
    if let (Operator::Divide | Operator::Remainder, Known::Exactly(Constant(zero @ Scalar::Integer(0)))) =
        (operator, right)
    {
        operator.apply(Scalar::Integer(1), zero)?;
    }
    Ok(Known::Integer)
}

fn call(function: Function, arguments: &[Known]) -> Result<Known, Wrong> {
    // What is drawn here is not used.
    let mut chance = Chance { random: Xoshiro256PlusPlus::seed_from_u64(0), default_seed: 0 };
    let exact: Option<Vec<Scalar>> = arguments
        .iter()
        .map(|argument| match argument {
            Known::Exactly(Constant(scalar)) => Some(*scalar),
            Known::Integer | Known::Nothing => None,
        })
        .collect();
    match (function, exact) {
        (Function::Random | Function::RandomBy(_), Some(exact)) => {
            let drawn = function.call(&exact, &mut chance)?;
            Ok(if drawn == Scalar::Null { Known::exactly(Scalar::Null) } else { Known::Integer })
        }
        (Function::RandomBy(_), None) => {
            let [low, high, parameter] = arguments else { return Ok(Known::Nothing) };
            if !low.is_integer() || !high.is_integer() {
                return Ok(Known::Nothing);
            }
            if let Known::Exactly(Constant(parameter)) = parameter {
                // A range that is never wrong, so that the parameter alone can be.
                function.call(&[Scalar::Integer(1), Scalar::Integer(1), *parameter], &mut chance)?;
                return Ok(Known::Integer);
            }
            Ok(Known::Nothing)
        }
        (Function::Random, None) => {
            Ok(if arguments.iter().all(|known| known.is_integer()) { Known::Integer } else { Known::Nothing })
        }
        // Their seed may be the client's.
        (Function::HashFnv1a | Function::HashMurmur2 | Function::Permute, Some(exact)) => {
            let made = function.call(&exact, &mut chance)?;
            Ok(if made == Scalar::Null { Known::exactly(Scalar::Null) } else { Known::Integer })
        }
        (_, Some(exact)) => function.call(&exact, &mut chance).map(Known::exactly),
        (_, None) => Ok(Known::Nothing),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::language::Names;

    fn analysed(text: &str, variables: &[(&str, Known)]) -> Analysis {
        let mut names = Names::default();
        let script = Script::read("a.sql", text, &mut names).unwrap();
        let known = variables.iter().map(|(name, known)| (names.index(name), *known)).collect();
        analyse(&script, &names, &known)
    }

    fn mistakes(text: &str) -> Vec<(usize, String)> {
        analysed(text, &[("client_id", Known::Integer)]).mistakes
    }

    #[test]
    fn expressions_that_fail_every_time_are_known() {
        for (expression, words) in [
            ("random(9, 1)", "empty range"),
            ("random_zipfian(1, 500, 0.8)", "zipfian parameter"),
            ("random_gaussian(1, 9, 1.5)", "gaussian parameter"),
            ("random_exponential(1, 9, 0)", "exponential parameter"),
            ("random_gaussian(1, :client_id, 1.5)", "gaussian parameter"),
            ("7 / 0", "zero"),
            ("random(1, 9) % (3 - 3)", "zero"),
            ("9223372036854775807 + 1", "out of range"),
            ("permute(1, 0)", "permute"),
            ("CASE WHEN 1 = 1 THEN 7 / 0 ELSE 1 END", "zero"),
            ("TRUE AND 1 / 0 = 1", "zero"),
            ("greatest(1, 7 / 0)", "zero"),
        ] {
            let told = mistakes(&format!("\\set pump 3\n\\set tank {expression}\nSELECT :tank;\n"));
            assert!(matches!(&told[..], [(2, why)] if why.contains(words)), "{expression}: {told:?}");
        }
    }

    #[test]
    fn expressions_that_may_succeed_are_left_to_the_load() {
        for expression in [
            "random(1, :client_id)",
            "7 / :client_id",
            ":unknown / 0",
            "CASE WHEN :client_id = 0 THEN 1 ELSE 7 / 0 END",
            ":client_id = 0 OR 7 / 0 = 1",
            "random_zipfian(1, 500, 1.2)",
            "random(NULL, 1)",
            "hash(1, 2) + permute(3, 7)",
        ] {
            let told = mistakes(&format!("\\set tank {expression}\nSELECT :tank;\n"));
            assert_eq!(told, [], "{expression}");
        }
    }

    #[test]
    fn values_are_known_through_variables_and_not_behind_a_result() {
        assert_eq!(mistakes("\\set n 0\n\\set a 7 / :n\nSELECT 1;\n").len(), 1);
        assert_eq!(mistakes("\\set n 0\nSELECT 1 AS n \\gset\n\\set a 7 / :n\n").len(), 0);
        assert_eq!(mistakes("\\set n 0\nSELECT 1 AS n \\gset p_\n\\set a 7 / :n\n").len(), 1);
        let either = "\\set n 0\n\\if :client_id = 0\n\\set n 1\n\\endif\n\\set a 7 / :n\nSELECT 1;\n";
        assert_eq!(mistakes(either).len(), 0, "one of two ways is right");
        let defined = [("n", Known::of(&Value::Text("0".to_owned())))];
        assert_eq!(analysed("\\set a 7 / :n\nSELECT 1;\n", &defined).mistakes.len(), 1);
    }

    #[test]
    fn statements_of_a_branch_are_not_always_sent() {
        let text = "SELECT 0;\n\\if :client_id = 0\nSELECT 2;\n\\elif :client_id = 1\nSELECT 5;\n\\else\nSELECT 7;\n\\endif\nSELECT 8;\n";
        let variables = [("client_id", Known::Integer)];
        assert_eq!(analysed(text, &variables).always_sent, [0, 8]);
        let text = text.replace(":client_id", "1");
        // The conditions are known: those before, of the second branch, and behind.
        assert_eq!(analysed(&text, &variables).always_sent, [0, 5, 8]);
    }

    #[test]
    fn a_statement_is_sent_only_where_a_way_leads_to_it() {
        for (text, sends) in [
            ("SELECT 1;\n", true),
            ("\\set tank random(1, 40)\n", false),
            ("\\sleep 1 ms\n", false),
            ("\\if false\nSELECT 1;\n\\endif\n", false),
            ("\\set a 1\n\\if :a > 2\nSELECT 1;\n\\elif :a > 1\nSELECT 2;\n\\endif\n", false),
            ("\\set a 1\n\\if :a > 2\nSELECT 1;\n\\else\nSELECT 2;\n\\endif\n", true),
            ("\\if :client_id > 2\nSELECT 1;\n\\endif\n", true),
            ("\\if true\n\\set a 1\n\\else\nSELECT 1;\n\\endif\n", false),
        ] {
            let analysis = analysed(text, &[("client_id", Known::Integer)]);
            assert_eq!(analysis.sends, sends, "{text}");
        }
    }
}
