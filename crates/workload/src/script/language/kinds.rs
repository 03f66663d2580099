//! Of what kind the values of an expression are, whatever its variables hold: a procedure has to say so of what it is given.

use super::expression::{Expression, Node};
use super::functions::Function;
use super::operator::Operator;
use super::value::Scalar;

/// What values are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ValueKind {
    /// NULL, or none so far.
    #[default]
    None,
    Integer,
    Double,
    /// A text, a truth value, or now one and then another.
    Any,
}

impl ValueKind {
    /// Of what is one of both.
    #[must_use]
    pub(crate) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, kind) | (kind, Self::None) => kind,
            (one, two) if one == two => one,
            (Self::Integer | Self::Double | Self::Any, _) => Self::Any,
        }
    }

    /// Of what comes from outside.
    #[must_use]
    pub(crate) fn of_text(text: &str) -> Self {
        // Digits of others would be lost in a double.
        if text.trim_ascii().parse::<i64>().is_ok() { Self::Integer } else { Self::Any }
    }

    /// Of a sum and its like: whole if both are.
    fn computed(self, other: Self) -> Self {
        match (self, other) {
            (Self::Any, _) | (_, Self::Any) => Self::Any,
            (Self::Double, _) | (_, Self::Double) => Self::Double,
            (Self::Integer, _) | (_, Self::Integer) => Self::Integer,
            (Self::None, Self::None) => Self::None,
        }
    }
}

impl Expression {
    /// Of what kind its values are, if those of variables are so.
    pub(crate) fn kind(&self, of_variable: &dyn Fn(usize) -> ValueKind) -> ValueKind {
        let mut kinds: Vec<ValueKind> = Vec::with_capacity(self.nodes().len());
        for node in self.nodes() {
            kinds.push(kind(node, &kinds, of_variable));
        }
        kinds.pop().unwrap_or_default()
    }
}

fn kind(node: &Node, parts: &[ValueKind], of_variable: &dyn Fn(usize) -> ValueKind) -> ValueKind {
    let all = |indices: &mut dyn Iterator<Item = usize>, add: fn(ValueKind, ValueKind) -> ValueKind| {
        indices.map(|index| parts[index]).fold(ValueKind::None, add)
    };
    match node {
        Node::Constant(Scalar::Null) => ValueKind::None,
        Node::Constant(Scalar::Boolean(_)) => ValueKind::Any,
        Node::Constant(Scalar::Integer(_)) => ValueKind::Integer,
        Node::Constant(Scalar::Double(_)) => ValueKind::Double,
        Node::Variable(variable) => of_variable(*variable),
        Node::Not(_) | Node::And(..) | Node::Or(..) | Node::Is { .. } => ValueKind::Any,
        Node::Operation(operator, left, right) => match operator {
            Operator::Add | Operator::Subtract | Operator::Multiply | Operator::Divide => {
                parts[*left].computed(parts[*right])
            }
            Operator::Remainder
            | Operator::BitOr
            | Operator::BitXor
            | Operator::BitAnd
            | Operator::ShiftLeft
            | Operator::ShiftRight => ValueKind::Integer,
            Operator::Compare(_) => ValueKind::Any,
        },
        Node::Case { branches, otherwise } => {
            let mut values = branches.iter().map(|(_, value)| *value).chain(*otherwise);
            all(&mut values, ValueKind::or)
        }
        Node::Call(function, arguments) => match function {
            Function::Abs | Function::Debug => all(&mut arguments.iter().copied(), ValueKind::or),
            // Whole where all before are, and a double from the first on.
            Function::Extreme(_) => all(&mut arguments.iter().copied(), ValueKind::computed),
            Function::Double
            | Function::Exp
            | Function::Ln
            | Function::Pi
            | Function::Power
            | Function::Sqrt => ValueKind::Double,
            Function::HashFnv1a
            | Function::HashMurmur2
            | Function::Int
            | Function::Mod
            | Function::Permute
            | Function::Random
            | Function::RandomBy(_) => ValueKind::Integer,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::language::Names;

    #[test]
    fn an_expression_is_of_the_kind_of_its_values() {
        for (text, expected) in [
            ("1", ValueKind::Integer),
            ("1.5", ValueKind::Double),
            ("random(1, 100000 * :i)", ValueKind::Integer),
            ("1 + 2 * :i", ValueKind::Integer),
            ("1 + :d", ValueKind::Double),
            ("1 + :t", ValueKind::Any),
            ("7 % 2.0", ValueKind::Integer),
            ("1 < 2", ValueKind::Any),
            ("NOT TRUE", ValueKind::Any),
            ("NULL", ValueKind::None),
            ("NULL + 1", ValueKind::Integer),
            ("CASE WHEN :i > 1 THEN 1 ELSE NULL END", ValueKind::Integer),
            ("CASE WHEN :i > 1 THEN 1 ELSE 2.5 END", ValueKind::Any),
            ("greatest(1, 2.5)", ValueKind::Double),
            ("sqrt(4)", ValueKind::Double),
            ("int(2.5)", ValueKind::Integer),
            ("abs(:d)", ValueKind::Double),
        ] {
            let mut names = Names::default();
            let (i, d) = (names.index("i"), names.index("d"));
            let expression = Expression::read(text, &mut names).unwrap();
            let of_variable = |variable| match variable {
                _ if variable == i => ValueKind::Integer,
                _ if variable == d => ValueKind::Double,
                _ => ValueKind::Any,
            };
            assert_eq!(expression.kind(&of_variable), expected, "{text}");
        }
        assert_eq!(
            ["12", " -3 ", "1.5", "x"].map(ValueKind::of_text).map(|kind| kind == ValueKind::Integer),
            [true, true, false, false]
        );
    }
}
