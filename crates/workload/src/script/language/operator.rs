//! Operators of two operands and what they compute.

use serde::{Deserialize, Serialize};

use super::value::{Scalar, Value, Wrong};

/// An operator of two operands; AND and OR are not among these, because they may leave out the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    BitOr,
    BitXor,
    BitAnd,
    ShiftLeft,
    ShiftRight,
    Compare(Comparison),
}

/// How two numbers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Comparison {
    Equal,
    Different,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

impl Comparison {
    /// How it is written, longer ones before those that they begin with.
    pub(super) const WRITTEN: [(&'static str, Self); 7] = [
        ("<>", Self::Different),
        ("!=", Self::Different),
        ("<=", Self::AtMost),
        (">=", Self::AtLeast),
        ("=", Self::Equal),
        ("<", Self::Less),
        (">", Self::Greater),
    ];

    /// How it is written.
    #[must_use]
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::Different => "<>",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
        }
    }

    fn holds<T: PartialOrd>(self, left: T, right: T) -> bool {
        match self {
            Self::Equal => left == right,
            Self::Different => left != right,
            Self::Less => left < right,
            Self::AtMost => left <= right,
            Self::Greater => left > right,
            Self::AtLeast => left >= right,
        }
    }
}

/// Whether so many rows are as expected.
pub(crate) fn as_expected(rows: i64, comparison: Comparison, expected: &Value) -> Result<bool, Wrong> {
    let wrong = || Wrong::new(format!("`\\expect` cannot compare the rows with {expected}: use a number"));
    match expected.scalar() {
        Some(expected @ (Scalar::Integer(_) | Scalar::Double(_))) => {
            compare(comparison, Scalar::Integer(rows), expected)
        }
        Some(Scalar::Null | Scalar::Boolean(_)) | None => Err(wrong()),
    }
}

impl Operator {
    /// What it makes of two operands; NULL if one is.
    #[inline]
    pub(super) fn apply(self, left: Scalar, right: Scalar) -> Result<Scalar, Wrong> {
        if left == Scalar::Null || right == Scalar::Null {
            return Ok(Scalar::Null);
        }
        match self {
            Self::Add => arithmetic("+", left, right, i64::checked_add, |left, right| left + right),
            Self::Subtract => arithmetic("-", left, right, i64::checked_sub, |left, right| left - right),
            Self::Multiply => arithmetic("*", left, right, i64::checked_mul, |left, right| left * right),
            Self::Divide => divide(left, right),
            Self::Remainder => remainder(left, right),
            Self::BitOr => bits(left, right, |left, right| left | right),
            Self::BitXor => bits(left, right, |left, right| left ^ right),
            Self::BitAnd => bits(left, right, |left, right| left & right),
            // Processors take the lowest 6 bits of how far.
            Self::ShiftLeft => bits(left, right, |left, right| left.wrapping_shl(right as u32)),
            Self::ShiftRight => bits(left, right, |left, right| left.wrapping_shr(right as u32)),
            Self::Compare(comparison) => compare(comparison, left, right).map(Scalar::Boolean),
        }
    }
}

fn compare(comparison: Comparison, left: Scalar, right: Scalar) -> Result<bool, Wrong> {
    Ok(match both_whole(left, right)? {
        Some((left, right)) => comparison.holds(left, right),
        None => comparison.holds(left.double()?, right.double()?),
    })
}

/// Two whole numbers; `None` if one is a double, so that they are computed with as doubles.
fn both_whole(left: Scalar, right: Scalar) -> Result<Option<(i64, i64)>, Wrong> {
    if matches!(left, Scalar::Double(_)) || matches!(right, Scalar::Double(_)) {
        return Ok(None);
    }
    Ok(Some((left.integer()?, right.integer()?)))
}

fn arithmetic(
    sign: &str,
    left: Scalar,
    right: Scalar,
    of_whole: fn(i64, i64) -> Option<i64>,
    of_doubles: fn(f64, f64) -> f64,
) -> Result<Scalar, Wrong> {
    match both_whole(left, right)? {
        Some((left, right)) => of_whole(left, right)
            .map(Scalar::Integer)
            .ok_or_else(|| out_of_range(&format!("{left} {sign} {right}"))),
        None => Ok(Scalar::Double(of_doubles(left.double()?, right.double()?))),
    }
}

/// Whole numbers are divided toward zero. A double may be divided by zero.
fn divide(left: Scalar, right: Scalar) -> Result<Scalar, Wrong> {
    if let Some((left, 0)) = both_whole(left, right)? {
        return Err(division_by_zero(left, "/"));
    }
    arithmetic("/", left, right, i64::checked_div, |left, right| left / right)
}

/// What remains of a division toward zero. It is of whole numbers always.
pub(super) fn remainder(left: Scalar, right: Scalar) -> Result<Scalar, Wrong> {
    match (left.integer()?, right.integer()?) {
        (left, 0) => Err(division_by_zero(left, "%")),
        // Where the quotient has no place, nothing remains.
        (left, right) => Ok(Scalar::Integer(left.wrapping_rem(right))),
    }
}

fn bits(left: Scalar, right: Scalar, of_whole: fn(i64, i64) -> i64) -> Result<Scalar, Wrong> {
    Ok(Scalar::Integer(of_whole(left.integer()?, right.integer()?)))
}

/// A result of this is no whole number of 64 bits.
pub(super) fn out_of_range(computed: &str) -> Wrong {
    Wrong::new(format!(
        "bigint out of range: {computed} needs more than 64 bits; convert one of the numbers with double()"
    ))
}

fn division_by_zero(left: i64, sign: &str) -> Wrong {
    Wrong::new(format!("division by zero: {left} {sign} 0; use CASE to check first whether the divisor is 0"))
}
