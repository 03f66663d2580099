//! Calls of procedures: `EXECUTE name @P1, @P2 OUTPUT` is sent as a call and not as a statement that makes one, so that the
//! server parses nothing.

/// A call with its parameters in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call<'s> {
    pub(super) procedure: &'s str,
    /// Of each parameter whether the procedure changes it.
    pub(super) outputs: Vec<bool>,
}

impl<'s> Call<'s> {
    /// The call that a statement is; none if it is something else, or more than that.
    pub(super) fn of(sql: &'s str) -> Option<Self> {
        let sql = sql.trim().trim_end_matches(';').trim_end();
        let (verb, rest) = sql.split_once(char::is_whitespace)?;
        if !verb.eq_ignore_ascii_case("EXEC") && !verb.eq_ignore_ascii_case("EXECUTE") {
            return None;
        }
        let rest = rest.trim_start();
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (procedure, parameters) = rest.split_at(end);
        let is_name = |sign: char| sign.is_alphanumeric() || matches!(sign, '_' | '.' | '[' | ']');
        if procedure.is_empty() || !procedure.chars().all(is_name) {
            return None;
        }
        let mut outputs = Vec::new();
        if !parameters.trim().is_empty() {
            for (index, parameter) in parameters.split(',').enumerate() {
                let mut words = parameter.split_whitespace();
                let number = words.next()?.strip_prefix("@P")?.parse::<usize>().ok()?;
                if number != index + 1 {
                    return None;
                }
                let output = words.next();
                let is_output = output.is_some_and(|word| {
                    word.eq_ignore_ascii_case("OUTPUT") || word.eq_ignore_ascii_case("OUT")
                });
                if (output.is_some() && !is_output) || words.next().is_some() {
                    return None;
                }
                outputs.push(is_output);
            }
        }
        Some(Self { procedure, outputs })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_what_is_nothing_but_a_call_is_one() {
        let call = |procedure, outputs: &[bool]| Some(Call { procedure, outputs: outputs.to_vec() });
        for (sql, expected) in [
            ("EXECUTE purchase @P1, @P2, @P3 OUTPUT", call("purchase", &[false, false, true])),
            ("exec dbo.[login]\n  @P1,\n  @P2 out;\n", call("dbo.[login]", &[false, true])),
            ("EXEC tidy", call("tidy", &[])),
            ("EXEC tidy @P2, @P1", None),
            ("EXEC tidy @name = @P1", None),
            ("EXEC tidy @P1; SELECT 1", None),
            ("EXEC tidy 'x'", None),
            ("EXEC @r = tidy @P1", None),
            ("EXEC (@P1)", None),
            ("EXEC ('SELECT 1')", None),
            ("SELECT @P1", None),
            ("EXEC", None),
        ] {
            assert_eq!(Call::of(sql), expected, "{sql}");
        }
    }

    proptest! {
        #[test]
        fn no_statement_breaks_the_reader(sql in "(EXEC )?\\PC{0,30}") {
            let _ = Call::of(&sql);
        }
    }
}
