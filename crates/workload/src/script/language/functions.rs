//! Functions of expressions.

use serde::{Deserialize, Serialize};

use super::chance::{Chance, Range};
use super::hashes::{fnv1a, murmur2, permuted};
use super::operator::{out_of_range, remainder};
use super::value::{Scalar, Wrong};

/// A function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Function {
    Abs,
    /// Gives its argument back; pgbench prints it as well.
    Debug,
    Double,
    Exp,
    /// One of any number of arguments.
    Extreme(Extreme),
    HashFnv1a,
    HashMurmur2,
    Int,
    Ln,
    Mod,
    Permute,
    Pi,
    Power,
    Random,
    /// A number of a distribution with a parameter.
    RandomBy(Distribution),
    Sqrt,
}

/// Which of several numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Extreme {
    Greatest,
    Least,
}

/// A distribution with a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Distribution {
    Exponential,
    Gaussian,
    Zipfian,
}

/// Most arguments of any function that takes so many as it has and no more.
pub(super) const ARGUMENTS_MAX: usize = 3;

const FUNCTIONS: [(&str, Function); 21] = [
    ("abs", Function::Abs),
    ("debug", Function::Debug),
    ("double", Function::Double),
    ("exp", Function::Exp),
    ("greatest", Function::Extreme(Extreme::Greatest)),
    ("hash", Function::HashMurmur2),
    ("hash_fnv1a", Function::HashFnv1a),
    ("hash_murmur2", Function::HashMurmur2),
    ("int", Function::Int),
    ("least", Function::Extreme(Extreme::Least)),
    ("ln", Function::Ln),
    ("mod", Function::Mod),
    ("permute", Function::Permute),
    ("pi", Function::Pi),
    ("pow", Function::Power),
    ("power", Function::Power),
    ("random", Function::Random),
    ("random_exponential", Function::RandomBy(Distribution::Exponential)),
    ("random_gaussian", Function::RandomBy(Distribution::Gaussian)),
    ("random_zipfian", Function::RandomBy(Distribution::Zipfian)),
    ("sqrt", Function::Sqrt),
];

impl Function {
    /// What a name stands for.
    #[must_use]
    pub(super) fn of(name: &str) -> Option<Self> {
        let found = FUNCTIONS.iter().find(|(known, _)| name.eq_ignore_ascii_case(known));
        found.map(|(_, function)| *function)
    }

    /// All names.
    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        FUNCTIONS.into_iter().map(|(name, _)| name)
    }

    /// The fewest and the most arguments.
    fn arguments(self) -> (usize, usize) {
        match self {
            Self::Pi => (0, 0),
            Self::Abs | Self::Debug | Self::Double | Self::Exp | Self::Int | Self::Ln | Self::Sqrt => (1, 1),
            Self::HashFnv1a | Self::HashMurmur2 => (1, 2),
            Self::Extreme(_) => (1, usize::MAX),
            Self::Mod | Self::Power | Self::Random => (2, 2),
            Self::Permute => (2, ARGUMENTS_MAX),
            Self::RandomBy(_) => (ARGUMENTS_MAX, ARGUMENTS_MAX),
        }
    }

    /// Whether it takes so many arguments.
    #[must_use]
    pub(super) fn takes(self, count: usize) -> bool {
        let (fewest, most) = self.arguments();
        (fewest..=most).contains(&count)
    }

    /// Says how many arguments it takes, if not so many.
    pub(super) fn check_arguments(self, name: &str, count: usize) -> Result<(), String> {
        if self.takes(count) {
            return Ok(());
        }
        let takes = match self.arguments() {
            (0, 0) => "no argument".to_owned(),
            (1, 1) => "1 argument".to_owned(),
            (fewest, usize::MAX) => format!("{fewest} argument or more"),
            (fewest, most) if fewest == most => format!("{fewest} arguments"),
            (fewest, most) => format!("{fewest} or {most} arguments"),
        };
        Err(format!("`{name}` needs {takes}, but was given {count}"))
    }

    /// What it gives for as many arguments as it takes; NULL if one is, but for `debug`, where that is the same.
    pub(super) fn call(self, arguments: &[Scalar], chance: &mut Chance) -> Result<Scalar, Wrong> {
        if arguments.contains(&Scalar::Null) {
            return Ok(Scalar::Null);
        }
        let argument = |index: usize| arguments.get(index).copied().unwrap_or(Scalar::Null);
        let (first, second) = (argument(0), argument(1));
        let of_double = |of: fn(f64) -> f64| Ok(Scalar::Double(of(first.double()?)));
        match self {
            Self::Debug => Ok(first),
            Self::Abs => absolute(first),
            Self::Int => first.integer().map(Scalar::Integer),
            Self::Double => of_double(|double| double),
            Self::Exp => of_double(f64::exp),
            Self::Ln => of_double(f64::ln),
            Self::Sqrt => of_double(f64::sqrt),
            Self::Pi => Ok(Scalar::Double(std::f64::consts::PI)),
            Self::Power => Ok(Scalar::Double(first.double()?.powf(second.double()?))),
            Self::Mod => remainder(first, second),
            Self::HashFnv1a => hash(fnv1a, first, second, chance),
            Self::HashMurmur2 => hash(murmur2, first, second, chance),
            Self::Permute => permute(first, second, argument(2), chance),
            Self::Random => Ok(Scalar::Integer(chance.uniform(range(first, second)?))),
            Self::RandomBy(distribution) => {
                distribution.draw(range(first, second)?, argument(2).double()?, chance)
            }
            Self::Extreme(extreme) => arguments.iter().try_fold(first, |best, next| extreme.of(best, *next)),
        }
    }
}

impl Extreme {
    /// One of two numbers; NULL if one is. It is a double if one is.
    pub(super) fn of(self, left: Scalar, right: Scalar) -> Result<Scalar, Wrong> {
        if left == Scalar::Null || right == Scalar::Null {
            return Ok(Scalar::Null);
        }
        Ok(match (left, right, self) {
            (Scalar::Integer(left), Scalar::Integer(right), Self::Greatest) => {
                Scalar::Integer(left.max(right))
            }
            (Scalar::Integer(left), Scalar::Integer(right), Self::Least) => Scalar::Integer(left.min(right)),
            (left, right, _) => {
                let (left, right) = (left.double()?, right.double()?);
                // Beside what is no number, the second one counts.
                let is_left = if self == Self::Least { left < right } else { left > right };
                Scalar::Double(if is_left { left } else { right })
            }
        })
    }
}

impl Distribution {
    /// A number of a range, if the parameter is within its bounds.
    fn draw(self, range: Range, parameter: f64, chance: &mut Chance) -> Result<Scalar, Wrong> {
        let (name, is_fit, bounds) = match self {
            Self::Exponential => ("exponential", parameter > 0.0, "be greater than 0"),
            Self::Gaussian => ("gaussian", parameter >= 2.0, "be at least 2.0"),
            Self::Zipfian => {
                ("zipfian", (1.001..=1_000.0).contains(&parameter), "be in the range [1.001, 1000]")
            }
        };
        if !is_fit || parameter.is_infinite() {
            let parameter = Scalar::Double(parameter);
            return Err(Wrong::new(format!("the {name} parameter must {bounds}, but is {parameter}")));
        }
        Ok(Scalar::Integer(match self {
            Self::Exponential => chance.exponential(range, parameter),
            Self::Gaussian => chance.gaussian(range, parameter),
            Self::Zipfian => chance.zipfian(range, parameter),
        }))
    }
}

fn absolute(number: Scalar) -> Result<Scalar, Wrong> {
    match number {
        Scalar::Integer(number) => {
            number.checked_abs().map(Scalar::Integer).ok_or_else(|| out_of_range(&format!("abs({number})")))
        }
        Scalar::Double(_) | Scalar::Boolean(_) | Scalar::Null => Ok(Scalar::Double(number.double()?.abs())),
    }
}

fn hash(of: fn(i64, i64) -> i64, number: Scalar, seed: Scalar, chance: &Chance) -> Result<Scalar, Wrong> {
    Ok(Scalar::Integer(of(number.integer()?, seed_or_default(seed, chance)?)))
}

/// The seed that is given, or else the client's. NULL stands for none here: where it is given, nothing is computed.
fn seed_or_default(seed: Scalar, chance: &Chance) -> Result<i64, Wrong> {
    if seed == Scalar::Null { Ok(chance.default_seed) } else { seed.integer() }
}

fn permute(number: Scalar, size: Scalar, seed: Scalar, chance: &Chance) -> Result<Scalar, Wrong> {
    let (number, size) = (number.integer()?, size.integer()?);
    if size <= 0 {
        return Err(Wrong::new(format!("the size given to permute must be greater than 0, but is {size}")));
    }
    Ok(Scalar::Integer(permuted(number, size, seed_or_default(seed, chance)?)))
}

/// Numbers from one to another, both included.
fn range(low: Scalar, high: Scalar) -> Result<Range, Wrong> {
    let (low, high) = (low.integer()?, high.integer()?);
    if low > high {
        return Err(Wrong::new(format!(
            "empty range given to random: {low} to {high}; give the lower number first"
        )));
    }
    let count = high.checked_sub(low).and_then(|count| count.checked_add(1));
    let count = count.ok_or_else(|| {
        Wrong::new(format!("random range is too large: {low} to {high}; give at most {} numbers", i64::MAX))
    })?;
    Ok(Range { low, count })
}
