//! Expressions and what they come to.

use std::sync::Arc;

use proptest::prelude::*;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::chance::Chance;
use super::expression::{DEPTH_MAX, Expression};
use super::names::{Names, Variables};
use super::value::Value;

/// Variables that the expressions of these tests may use.
const VARIABLES: [(&str, &str); 7] = [
    ("five", "5"),
    ("half", "0.5"),
    ("yes", "yes"),
    ("off", "off"),
    ("nothing", "null"),
    ("word", "abc"),
    ("huge", "9e99"),
];

/// The value with its type, as pgbench's `debug` prints it.
fn value(text: &str) -> Result<String, String> {
    let mut names = Names::default();
    let expression = Expression::read(text, &mut names)?;
    let stored: Expression = serde_json::from_str(&serde_json::to_string(&expression).unwrap()).unwrap();
    assert_eq!(stored, expression);
    let mut variables = Variables::new(Arc::new(names.clone()));
    for (name, text) in VARIABLES {
        if let Some(variable) = names.find(name) {
            variables.set(variable, Value::Text(text.to_owned()));
        }
    }
    let come_to = |expression: &Expression| {
        let mut chance = Chance { random: Xoshiro256PlusPlus::seed_from_u64(1), default_seed: 5432 };
        expression.value(&variables, &mut chance).map_err(|wrong| wrong.to_string())
    };
    let value = come_to(&expression);
    let mut five = Variables::new(Arc::new(names.clone()));
    names.find("five").into_iter().for_each(|variable| five.set(variable, Value::Integer(5)));
    for fixed in [&variables, &five] {
        let folded = come_to(&expression.folded(fixed));
        // Not a number is not even itself.
        assert_eq!(format!("{folded:?}"), format!("{value:?}"), "{text}");
    }
    let value = value?;
    Ok(match &value {
        Value::Null => "null".to_owned(),
        Value::Boolean(_) => format!("boolean {value}"),
        Value::Integer(_) => format!("int {value}"),
        Value::Double(_) => format!("double {value}"),
        Value::Text(_) => format!("text {value}"),
    })
}

#[test]
fn what_is_fixed_is_worked_out_once() {
    let mut names = Names::default();
    let expression =
        Expression::read("random(1, 100000 * :scale) + :other + 1 / (:scale - 10)", &mut names).unwrap();
    let mut fixed = Variables::new(Arc::new(names.clone()));
    fixed.set(names.find("scale").unwrap(), Value::Text("10".to_owned()));
    let constants = |of: &Expression| format!("{:?}", of.nodes()).matches("Constant").count();
    // The variable where it stands twice, the product and the difference; what is divided by that is told each time.
    assert_eq!((constants(&expression), constants(&expression.folded(&fixed))), (4, 8));
}

fn assert_values(table: &[(&str, &str)]) {
    for (text, expected) in table {
        assert_eq!(value(text).as_deref(), Ok(*expected), "{text}");
    }
}

/// `pgbench` of PostgreSQL 15 prints the same for each of these, in all tables of this file.
#[test]
fn numbers_are_computed_with() {
    assert_values(&[
        ("1", "int 1"),
        ("-1", "int -1"),
        ("+1", "int 1"),
        ("- - 1", "int 1"),
        ("-(-1)", "int 1"),
        ("9223372036854775807", "int 9223372036854775807"),
        ("-9223372036854775808", "int -9223372036854775808"),
        ("1.0", "double 1"),
        (".5", "double 0.5"),
        ("1e3", "double 1000"),
        ("-0.0", "double 0"),
        ("1 + 2", "int 3"),
        ("1 + 2.0", "double 3"),
        ("7 - 10", "int -3"),
        ("3 * 4", "int 12"),
        ("7 / 2", "int 3"),
        ("-7 / 2", "int -3"),
        ("7 / 2.0", "double 3.5"),
        ("7 % 3", "int 1"),
        ("-7 % 3", "int -1"),
        ("7 % -3", "int 1"),
        ("7.6 % 3", "int 2"),
        ("-9223372036854775808 % -1", "int 0"),
        ("1.0 / 0", "double Infinity"),
        ("1 / 3.0", "double 0.333333333333333"),
        ("1e20", "double 1e+20"),
        ("5 | 2", "int 7"),
        ("6 & 3", "int 2"),
        ("6 # 3", "int 5"),
        ("~5", "int -6"),
        ("~~5", "int 5"),
        ("1 << 4", "int 16"),
        ("-16 >> 2", "int -4"),
        ("1 << 64", "int 1"),
        ("1 << -1", "int -9223372036854775808"),
        ("-1 >> 70", "int -1"),
        ("--1", "int 1"),
        ("5 # -3", "int -8"),
        ("7 & -2", "int 6"),
        ("0.0 / 0", "double NaN"),
        ("2.5 | 0", "int 2"),
        ("3.5 | 0", "int 4"),
    ]);
}

#[test]
fn operators_bind_as_tightly_as_in_pgbench() {
    assert_values(&[
        ("1 + 2 * 3", "int 7"),
        ("(1 + 2) * 3", "int 9"),
        ("2 * 3 % 4", "int 2"),
        ("10 - 3 - 2", "int 5"),
        ("100 / 10 / 2", "int 5"),
        ("-2 * 3", "int -6"),
        ("- 2 - 3", "int -5"),
        ("2 * -3", "int -6"),
        ("~1 + 2", "int -4"),
        ("~1 & 3", "int 2"),
        ("-~1", "int 2"),
        ("1 | 2 + 4", "int 7"),
        ("1 << 2 + 1", "int 8"),
        ("1 << 2 << 1", "int 8"),
        ("6 & 3 | 8", "int 10"),
        ("8 | 6 & 3", "int 2"),
        ("5 # 1 << 1", "int 8"),
        ("1 + 1 = 2", "boolean true"),
        ("1 | 2 = 3", "boolean true"),
        ("1 < 2 AND 2 < 3", "boolean true"),
        ("NOT 1 > 2", "boolean true"),
        ("NOT true OR true", "boolean true"),
        ("NOT (true OR true)", "boolean false"),
        ("true OR true AND false", "boolean true"),
        ("(true OR true) AND false", "boolean false"),
        ("false AND true OR true", "boolean true"),
        ("1 < 2 IS TRUE", "boolean true"),
        ("NOT NULL IS NULL", "boolean false"),
        ("1 = 2 IS FALSE", "boolean true"),
        ("1 IS NULL OR 2 IS NOT NULL", "boolean true"),
    ]);
}

#[test]
fn comparisons_and_tests_give_booleans() {
    assert_values(&[
        ("1 = 1.0", "boolean true"),
        ("1 <> 2", "boolean true"),
        ("1 != 1", "boolean false"),
        ("2 >= 2", "boolean true"),
        ("2 <= 1", "boolean false"),
        ("2 > 1.5", "boolean true"),
        ("-1 < 0", "boolean true"),
        ("true IS TRUE", "boolean true"),
        ("true IS NOT FALSE", "boolean true"),
        ("false IS TRUE", "boolean false"),
        ("1 IS TRUE", "boolean false"),
        ("1 IS NOT TRUE", "boolean true"),
        ("NULL IS NULL", "boolean true"),
        ("NULL IS NOT NULL", "boolean false"),
        ("NULL ISNULL", "boolean true"),
        ("1 NOTNULL", "boolean true"),
        ("NULL IS TRUE", "boolean false"),
        ("null Is nOT True", "boolean true"),
        ("NULL IS NULL IS TRUE", "boolean true"),
    ]);
}

#[test]
fn null_makes_null_of_most() {
    assert_values(&[
        ("NULL", "null"),
        ("NULL + 1", "null"),
        ("1 / NULL", "null"),
        ("NULL = NULL", "null"),
        ("NULL < 1", "null"),
        ("-NULL", "null"),
        ("~NULL", "null"),
        ("NOT NULL", "null"),
        ("abs(NULL)", "null"),
        ("debug(NULL)", "null"),
        ("greatest(1, NULL, 3)", "null"),
        ("random(1, NULL)", "null"),
        ("hash(NULL)", "null"),
        ("hash(1, NULL)", "null"),
        ("permute(1, 2, NULL)", "null"),
        ("TRUE AND NULL", "null"),
        ("FALSE AND NULL", "boolean false"),
        ("TRUE OR NULL", "boolean true"),
        ("FALSE OR NULL", "null"),
        ("NULL AND TRUE", "null"),
        ("NULL OR FALSE", "null"),
        ("NULL AND NULL", "null"),
        // In SQL these would be FALSE and TRUE; pgbench looks at nothing after a NULL.
        ("NULL AND FALSE", "null"),
        ("NULL OR TRUE", "null"),
        ("NULL AND 1", "null"),
        ("CASE WHEN NULL THEN 1 ELSE 2 END", "int 2"),
    ]);
}

#[test]
fn a_condition_chooses_and_what_is_not_chosen_is_not_computed() {
    assert_values(&[
        ("CASE WHEN true THEN 1 ELSE 2 END", "int 1"),
        ("CASE WHEN false THEN 1 END", "null"),
        ("case when 0 then 1 when 0.0 then 2 when -1 then 3 else 4 end", "int 3"),
        ("CASE WHEN true THEN 1 ELSE 1 / 0 END", "int 1"),
        ("CASE WHEN 1 > 2 THEN 1 / 0 ELSE 2.5 END", "double 2.5"),
        ("CASE WHEN CASE WHEN true THEN false END THEN 1 ELSE 2 END + 1", "int 3"),
        ("false AND 1 / 0 = 1", "boolean false"),
        ("true OR 1 / 0 = 1", "boolean true"),
        ("true OR 1 AND 2", "boolean true"),
    ]);
}

#[test]
fn functions_are_computed() {
    assert_values(&[
        ("abs(-3)", "int 3"),
        ("ABS(-3.5)", "double 3.5"),
        ("debug(5 + 1)", "int 6"),
        ("double(5432)", "double 5432"),
        ("int(5.4 + 3.8)", "int 9"),
        ("int(2.5)", "int 2"),
        ("int(-2.5)", "int -2"),
        ("greatest(5, 4, 3, 2)", "int 5"),
        ("greatest(5, 4.5)", "double 5"),
        ("least(5, 4, 3, 2.1)", "double 2.1"),
        ("least(7)", "int 7"),
        ("mod(54, 32)", "int 22"),
        ("exp(1.0)", "double 2.71828182845905"),
        ("exp(0)", "double 1"),
        ("ln(2.718281828459045)", "double 1"),
        ("ln(0)", "double -Infinity"),
        ("pi()", "double 3.14159265358979"),
        ("pow(2.0, 10)", "double 1024"),
        ("power(2, -1)", "double 0.5"),
        ("sqrt(2.0)", "double 1.4142135623731"),
        ("sqrt(4)", "double 2"),
        ("sqrt(-1)", "double NaN"),
        ("exp(1000)", "double Infinity"),
        ("mod(7.6, 3)", "int 2"),
        ("random(7, 7)", "int 7"),
        ("random_zipfian(7, 7, 1.5)", "int 7"),
        ("random_exponential(7, 7, 1.5)", "int 7"),
        ("random_gaussian(7, 7, 2)", "int 7"),
        ("permute(5, 1)", "int 0"),
    ]);
}

#[test]
fn variables_count_as_what_their_text_says() {
    assert_values(&[
        (":five", "int 5"),
        (":five*:five", "int 25"),
        ("-:five", "int -5"),
        (":half + :five", "double 5.5"),
        (":yes", "boolean true"),
        ("NOT :off", "boolean true"),
        (":nothing IS NULL", "boolean true"),
        (":huge", "double 9e+99"),
    ]);
}

#[test]
fn what_cannot_be_computed_says_why() {
    for (text, words) in [
        ("9223372036854775807 + 1", "bigint out of range: 9223372036854775807 + 1"),
        ("-9223372036854775808 - 1", "bigint out of range: -9223372036854775808 - 1"),
        ("-(-9223372036854775808)", "bigint out of range: 0 - -9223372036854775808"),
        ("9223372036854775807 * 2", "bigint out of range: 9223372036854775807 * 2"),
        ("-9223372036854775808 / -1", "bigint out of range: -9223372036854775808 / -1"),
        ("abs(-9223372036854775808)", "bigint out of range: abs(-9223372036854775808)"),
        ("int(1e19)", "bigint out of range: 1e+19 cannot be converted"),
        (":huge | 1", "bigint out of range: 9e+99"),
        ("1 / 0", "division by zero: 1 / 0"),
        ("5 % 0", "division by zero: 5 % 0"),
        ("mod(5, 0)", "division by zero: 5 % 0"),
        ("true + 1", "true is not a number"),
        ("true = true", "true is not a number"),
        ("greatest(true)", "true is not a number"),
        ("abs(false)", "false is not a number"),
        ("1 AND true", "1 is not a boolean"),
        ("false OR 0.5", "0.5 is not a boolean"),
        ("NOT 1", "1 is not a boolean"),
        ("random(5, 4)", "empty range given to random: 5 to 4"),
        ("random(-9223372036854775808, 0)", "random range is too large"),
        ("random_exponential(1, 9, 0)", "the exponential parameter must be greater than 0, but is 0"),
        ("random_gaussian(1, 9, 1.99)", "the gaussian parameter must be at least 2.0, but is 1.99"),
        ("random_gaussian(9, 1, 1.99)", "empty range given to random: 9 to 1"),
        ("random_zipfian(1, 9, 1)", "the zipfian parameter must be in the range [1.001, 1000], but is 1"),
        ("random_zipfian(1, 9, 1000.5)", "but is 1000.5"),
        ("random_gaussian(1, 9, 1.0 / 0)", "but is Infinity"),
        ("random_zipfian(1, 9, 0.0 / 0)", "but is NaN"),
        ("permute(1, 0)", "the size given to permute must be greater than 0, but is 0"),
        (":unknown + 1", "variable `unknown` has no value: \\set it before, or define it"),
        (":word", "variable `word` is `abc`, but an expression accepts only a bigint"),
    ] {
        let wrong = value(text).unwrap_err();
        assert!(wrong.contains(words), "{text}: {wrong}");
    }
}

#[test]
fn what_is_no_expression_says_why() {
    for (text, words) in [
        ("", "the expression is missing"),
        ("  ", "the expression is missing"),
        ("1 +", "the expression ends where a value is expected"),
        ("(1", "the expression ends where `)` is expected"),
        ("1)", "`)` cannot follow a complete expression"),
        ("1 2", "`2` cannot follow a complete expression"),
        ("1 :abc", "`:abc` cannot follow"),
        ("* 1", "`*` stands where a value is expected"),
        ("1 + AND", "`AND` stands where a value is expected"),
        ("1 < 2 < 3", "a comparison is compared again"),
        ("1 = 2 <> 3", "a comparison is compared again"),
        ("1 IS 2", "`2` stands where NULL, TRUE or FALSE after IS is expected"),
        ("x", "`x` is not a value: write a variable as `:x`"),
        ("Größe", "`Größe` is not a value: write a variable as `:Größe`"),
        ("random", "`random` is a function"),
        ("rand(1, 2)", "unknown function `rand`: did you mean `random`? Use abs, debug, "),
        ("Rand(1, 2)", "unknown function `Rand`: did you mean `random`?"),
        ("sinus(1)", "unknown function `sinus`: Use abs"),
        ("random(1)", "`random` needs 2 arguments, but was given 1"),
        ("pi(1)", "`pi` needs no argument, but was given 1"),
        ("abs()", "`abs` needs 1 argument, but was given 0"),
        ("hash(1, 2, 3)", "`hash` needs 1 or 2 arguments, but was given 3"),
        ("permute(1)", "`permute` needs 2 or 3 arguments, but was given 1"),
        ("greatest()", "`greatest` needs 1 argument or more, but was given 0"),
        ("random(1, 2", "the expression ends where `)` is expected"),
        ("random(1,)", "`)` stands where a value is expected"),
        ("CASE 1 WHEN 1 THEN 2 END", "`1` stands where WHEN after CASE is expected"),
        ("CASE WHEN 1 ELSE 2 END", "`ELSE` stands where THEN is expected"),
        ("CASE WHEN 1 THEN 2", "the expression ends where END is expected"),
        ("9223372036854775808", "9223372036854775808 is too large for a bigint"),
        ("1 - 9223372036854775808", "9223372036854775808 is too large for a bigint"),
        ("1 + 'a'", "`'` has no meaning in an expression"),
        ("1;", "`;` has no meaning in an expression"),
        (":", "`:` names no variable"),
    ] {
        let wrong = value(text).unwrap_err();
        assert!(wrong.contains(words), "{text}: {wrong}");
    }
}

#[test]
fn what_is_too_deep_for_the_stack_is_refused() {
    let within =
        |depth: usize, open: &str, close: &str| format!("{}1{}", open.repeat(depth), close.repeat(depth));
    for (open, close) in
        [("(", ")"), ("abs(", ")"), ("- ", ""), ("NOT ", ""), ("case when ", " then 1 end"), ("", " + 1")]
    {
        let wrong = value(&within(100_000, open, close)).unwrap_err();
        assert!(wrong.contains("operations are nested"), "{open}: {wrong}");
    }
    assert_eq!(value(&within(DEPTH_MAX - 1, "(", ")")).as_deref(), Ok("int 1"));
    assert_eq!(value(&within(DEPTH_MAX - 1, "abs(", ")")).as_deref(), Ok("int 1"));
    assert_eq!(value(&within(DEPTH_MAX - 1, "", " + 1")).as_deref(), Ok("int 200"));
    let many = vec!["1"; 100_000].join(", ");
    assert_eq!(value(&format!("greatest({many})")).as_deref(), Ok("int 1"));
}

#[test]
fn nodes_that_make_no_expression_are_refused() {
    for (stored, words) in [
        ("[]", "is empty"),
        (r#"[{"Not":0}]"#, "uses an operand that comes after it"),
        (r#"[{"And":[1,2]},{"Variable":0},{"Variable":0}]"#, "uses an operand that comes after it"),
        (r#"[{"Call":["Abs",[]]}]"#, "too few or too many arguments"),
    ] {
        let error = serde_json::from_str::<Expression>(stored).unwrap_err().to_string();
        assert!(error.contains(words), "{stored}: {error}");
    }
}

#[test]
fn the_same_seed_draws_the_same_numbers() {
    let text = "random(1, 1000000) * 1000000 + random_gaussian(1, 1000000, 2.5)";
    assert_eq!(value(text), value(text));
}

proptest! {
    #[test]
    fn reading_never_panics(text: String) {
        let _ = value(&text);
    }

    /// Words in any order are read, and computed if they make an expression.
    #[test]
    fn words_in_any_order_are_read_or_refused(
        words in proptest::collection::vec(proptest::sample::select(vec![
            "1", "0", "2.5", ":five", ":nothing", ":yes", "NULL", "true", "+", "-", "*", "/", "%", "<", "=", "|", "~", "<<",
            "(", ")", ",", "AND", "OR", "NOT", "IS", "ISNULL", "CASE", "WHEN", "THEN", "ELSE", "END", "abs(", "random(",
            "greatest(", "hash(", "permute(", "9223372036854775807",
        ]), 1..12)
    ) {
        let _ = value(&words.join(" "));
    }

    /// Whole numbers are computed with as Rust computes with wider ones.
    #[test]
    fn sums_and_products_are_exact(left: i64, right: i64) {
        for (sign, exact) in [
            ("+", i128::from(left) + i128::from(right)),
            ("-", i128::from(left) - i128::from(right)),
            ("*", i128::from(left) * i128::from(right)),
        ] {
            let computed = value(&format!("{left} {sign} {right}"));
            match i64::try_from(exact) {
                Ok(exact) => prop_assert_eq!(computed, Ok(format!("int {exact}"))),
                Err(_) => prop_assert!(computed.unwrap_err().contains("bigint out of range")),
            }
        }
    }
}
