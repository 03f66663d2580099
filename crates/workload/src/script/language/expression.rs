//! Expressions: their form, and their evaluation.
//!
//! An expression is a list of nodes that name their parts by index, so that neither its depth nor its length makes a stored one
//! deep. Evaluation allocates for a mistake only.

use rand_core::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::chance::Chance;
use super::functions::{ARGUMENTS_MAX, Extreme, Function};
use super::names::Variables;
use super::operator::Operator;
use super::value::{Scalar, Value, Wrong};

/// How many operations may lie within one another: each takes a piece of the stack.
pub(super) const DEPTH_MAX: usize = 200;

/// An expression that was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "Vec<Node>", try_from = "Vec<Node>")]
pub(crate) struct Expression {
    /// The last is the whole. Each comes after its parts.
    nodes: Vec<Node>,
}

/// A value or an operation; its operands by their indices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Node {
    Constant(Scalar),
    Variable(usize),
    Not(usize),
    And(usize, usize),
    Or(usize, usize),
    /// Whether it is TRUE or FALSE, or NULL.
    Is {
        of: usize,
        truth: Option<bool>,
        negated: bool,
    },
    Operation(Operator, usize, usize),
    /// Conditions with their values.
    Case {
        branches: Vec<(usize, usize)>,
        otherwise: Option<usize>,
    },
    Call(Function, Vec<usize>),
}

impl Expression {
    /// Of nodes that come after their parts.
    #[must_use]
    pub(super) fn of(nodes: Vec<Node>) -> Self {
        Self { nodes }
    }

    /// Each after its parts; the last is the whole.
    #[must_use]
    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// What stands where a mistake was.
    #[must_use]
    pub(super) fn null() -> Self {
        Self::of(vec![Node::Constant(Scalar::Null)])
    }

    /// What it comes to.
    #[inline]
    pub(crate) fn value(&self, variables: &Variables, chance: &mut Chance) -> Result<Value, Wrong> {
        self.scalar(variables, chance).map(Value::from)
    }

    /// Whether it holds, as a condition: numbers other than 0 do, NULL does not.
    #[inline]
    pub(crate) fn holds(&self, variables: &Variables, chance: &mut Chance) -> Result<bool, Wrong> {
        self.scalar(variables, chance).map(Scalar::is_true)
    }

    /// The same where these variables keep the values that they have here: what can be worked out now is not worked out each time. What
    /// is wrong stays as it is, and is told when it is asked for.
    #[must_use]
    pub(super) fn folded(&self, fixed: &Variables) -> Self {
        let mut nodes = self.nodes.clone();
        // Nobody draws.
        let mut chance = Chance { random: Xoshiro256PlusPlus::seed_from_u64(0), default_seed: 0 };
        for at in 0..nodes.len() {
            // Functions are left as they are: some draw, and ask for a seed.
            let is_known = !matches!(nodes[at], Node::Call(..))
                && nodes[at].parts().all(|part| matches!(nodes[part], Node::Constant(_)));
            let mut evaluation = Evaluation { nodes: &nodes, variables: fixed, chance: &mut chance };
            if is_known && let Ok(known) = evaluation.at(at) {
                nodes[at] = Node::Constant(known);
            }
        }
        Self::of(nodes)
    }

    fn scalar(&self, variables: &Variables, chance: &mut Chance) -> Result<Scalar, Wrong> {
        Evaluation { nodes: &self.nodes, variables, chance }.at(self.nodes.len() - 1)
    }
}

impl From<Expression> for Vec<Node> {
    fn from(expression: Expression) -> Self {
        expression.nodes
    }
}

/// Nodes that make no expression are refused: evaluation trusts them.
impl TryFrom<Vec<Node>> for Expression {
    type Error = &'static str;

    fn try_from(nodes: Vec<Node>) -> Result<Self, Self::Error> {
        let mut depths: Vec<usize> = Vec::with_capacity(nodes.len());
        for node in &nodes {
            if let Node::Call(function, arguments) = node
                && !function.takes(arguments.len())
            {
                return Err("a function of an expression has too few or too many arguments");
            }
            let below: Option<Vec<usize>> = node.parts().map(|part| depths.get(part).copied()).collect();
            let below = below.ok_or("an expression uses an operand that comes after it")?;
            let depth = 1 + below.into_iter().max().unwrap_or(0);
            if depth > DEPTH_MAX {
                return Err("an expression is too deep");
            }
            depths.push(depth);
        }
        if nodes.is_empty() { Err("an expression is empty") } else { Ok(Self { nodes }) }
    }
}

/// Up to two operands, pairs of them, and a list.
type Parts<'node> = ([Option<usize>; 2], &'node [(usize, usize)], &'node [usize]);

impl Node {
    /// Its operands.
    pub(super) fn parts(&self) -> impl Iterator<Item = usize> {
        let (two, pairs, list): Parts<'_> = match self {
            Self::Constant(_) | Self::Variable(_) => ([None, None], &[], &[]),
            Self::Not(of) | Self::Is { of, .. } => ([Some(*of), None], &[], &[]),
            Self::And(left, right) | Self::Or(left, right) | Self::Operation(_, left, right) => {
                ([Some(*left), Some(*right)], &[], &[])
            }
            Self::Case { branches, otherwise } => ([*otherwise, None], branches, &[]),
            Self::Call(_, arguments) => ([None, None], &[], arguments),
        };
        let pairs = pairs.iter().flat_map(|(condition, value)| [*condition, *value]);
        two.into_iter().flatten().chain(pairs).chain(list.iter().copied())
    }
}

/// One evaluation.
struct Evaluation<'a> {
    nodes: &'a [Node],
    variables: &'a Variables,
    chance: &'a mut Chance,
}

impl Evaluation<'_> {
    fn at(&mut self, index: usize) -> Result<Scalar, Wrong> {
        match &self.nodes[index] {
            Node::Constant(scalar) => Ok(*scalar),
            Node::Variable(variable) => self.variables.scalar(*variable),
            Node::Operation(operator, left, right) => {
                let left = self.operand(*left)?;
                operator.apply(left, self.operand(*right)?)
            }
            Node::Not(of) => match self.operand(*of)? {
                Scalar::Null => Ok(Scalar::Null),
                of @ (Scalar::Boolean(_) | Scalar::Integer(_) | Scalar::Double(_)) => {
                    Ok(Scalar::Boolean(!of.boolean()?))
                }
            },
            Node::And(left, right) => self.logical(*left, *right, false),
            Node::Or(left, right) => self.logical(*left, *right, true),
            Node::Is { of, truth, negated } => {
                let wanted = truth.map_or(Scalar::Null, Scalar::Boolean);
                Ok(Scalar::Boolean((self.operand(*of)? == wanted) != *negated))
            }
            Node::Case { branches, otherwise } => self.case(branches, *otherwise),
            Node::Call(Function::Extreme(extreme), arguments) => self.extreme(*extreme, arguments),
            Node::Call(function, arguments) => self.call(*function, arguments),
        }
    }

    /// What is there already needs no evaluation of its own.
    #[inline]
    fn operand(&mut self, index: usize) -> Result<Scalar, Wrong> {
        let Node::Constant(scalar) = &self.nodes[index] else { return self.at(index) };
        Ok(*scalar)
    }

    /// AND or OR: the second operand is left out where the first decides.
    fn logical(&mut self, left: usize, right: usize, decides: bool) -> Result<Scalar, Wrong> {
        let left = self.operand(left)?;
        if left == Scalar::Null || left.boolean()? == decides {
            return Ok(left);
        }
        let right = self.operand(right)?;
        if right != Scalar::Null {
            right.boolean()?;
        }
        Ok(right)
    }

    fn case(&mut self, branches: &[(usize, usize)], otherwise: Option<usize>) -> Result<Scalar, Wrong> {
        for (condition, value) in branches {
            if self.operand(*condition)?.is_true() {
                return self.operand(*value);
            }
        }
        otherwise.map_or(Ok(Scalar::Null), |value| self.operand(value))
    }

    /// Of any number of arguments, at least one. The first is compared with itself, which tells whether it is a number.
    fn extreme(&mut self, extreme: Extreme, arguments: &[usize]) -> Result<Scalar, Wrong> {
        let mut best = None;
        for &argument in arguments {
            let next = self.operand(argument)?;
            best = Some(extreme.of(best.unwrap_or(next), next)?);
        }
        Ok(best.unwrap_or(Scalar::Null))
    }

    fn call(&mut self, function: Function, arguments: &[usize]) -> Result<Scalar, Wrong> {
        let mut values = [Scalar::Null; ARGUMENTS_MAX];
        for (value, &argument) in values.iter_mut().zip(arguments) {
            *value = self.operand(argument)?;
        }
        function.call(&values[..arguments.len()], self.chance)
    }
}
