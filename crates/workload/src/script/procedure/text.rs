//! The text of a procedure, in the words of each engine.

use database::Dialect;

use super::words::{Transaction, transaction};
use super::{Body, MARK, postgres};
use crate::script::Job;
use crate::script::language::{Step, ValueKind};
use crate::script::program::{GIVEN, Program};

/// A procedure: what makes it, and how it is called.
#[derive(Debug)]
pub(in crate::script) struct Made {
    pub(in crate::script) create: String,
    pub(in crate::script) call: String,
    /// The variables whose values it is called with, in order.
    pub(in crate::script) variables: Vec<usize>,
}

/// What a procedure takes.
#[derive(Debug, Default)]
pub(in crate::script) struct Arguments(Vec<(usize, String)>);

/// A statement of a body, with its line.
#[derive(Debug)]
pub(in crate::script) struct Sql {
    pub(super) line: usize,
    pub(super) text: String,
}

/// A text whose statements stand in the lines that they have in their script, so that a server tells those.
#[derive(Debug)]
pub(super) struct Lines {
    text: String,
    line: usize,
}

impl Lines {
    fn of(head: String) -> Self {
        Self { line: 1 + head.matches('\n').count(), text: head }
    }

    /// Adds what begins in a line; where that is over already, behind what stands there.
    pub(super) fn add(&mut self, line: usize, text: &str) {
        self.text.push(' ');
        while self.line < line {
            self.text.push('\n');
            self.line += 1;
        }
        self.text.push_str(text);
        self.line += text.matches('\n').count();
    }
}

impl Arguments {
    /// The number, from one, of a variable as a value of a type.
    fn number(&mut self, variable: usize, of_type: &str) -> usize {
        let known = self.0.iter().position(|(other, its)| *other == variable && its == of_type);
        1 + known.unwrap_or_else(|| {
            self.0.push((variable, of_type.to_owned()));
            self.0.len() - 1
        })
    }

    /// The statements of a body, in which each place of a variable names what the procedure takes. `type_of` says what the value is taken as:
    /// of the number of a statement, the number of a place in it, and the variable there.
    pub(in crate::script) fn of(
        body: &Body<'_>,
        dialect: Dialect,
        type_of: &dyn Fn(usize, usize, usize) -> String,
    ) -> (Self, Vec<Sql>) {
        let mut all = Self::default();
        let statements = body.statements.iter().enumerate().map(|(number, (line, statement))| {
            let mut places = 0;
            let text = statement.joined(|variable| {
                places += 1;
                spelled(dialect, all.number(variable, &type_of(number, places - 1, variable)))
            });
            Sql { line: *line, text }
        });
        let statements = statements.collect();
        (all, statements)
    }

    fn listed(&self, each: impl Fn(usize, &str) -> String) -> String {
        let all = self.0.iter().enumerate().map(|(at, (_, of_type))| each(at + 1, of_type));
        all.collect::<Vec<String>>().join(", ")
    }
}

/// How the statements of a body name what it takes.
fn spelled(dialect: Dialect, number: usize) -> String {
    match dialect {
        Dialect::Postgres | Dialect::Sqlite | Dialect::ClickHouse | Dialect::DuckDb => format!("${number}"),
        // A name that no column has.
        Dialect::Mysql => format!("prony_value_{number}"),
        Dialect::SqlServer => format!("@prony_value_{number}"),
    }
}

/// The end of a statement, which a remark in its last line would hide.
pub(super) fn ended(sql: &str) -> String {
    let last = sql.rsplit('\n').next().unwrap_or_default();
    let is_remark = last.contains("--") || last.contains('#');
    format!("{sql}{};", if is_remark { "\n" } else { "" })
}

/// The procedure of a body. `schema` stands before its name where that is to be said.
pub(in crate::script) fn made(
    (arguments, statements): (Arguments, &[Sql]),
    name: &str,
    dialect: Dialect,
    schema: Option<&str>,
) -> Made {
    let name = match schema {
        Some(schema) => format!("{}.{}", dialect.quoted(schema), dialect.quoted(name)),
        None => dialect.quoted(name),
    };
    let takes = arguments.listed(|number, of_type| match dialect {
        Dialect::Postgres | Dialect::Sqlite | Dialect::ClickHouse | Dialect::DuckDb => of_type.to_owned(),
        Dialect::Mysql | Dialect::SqlServer => format!("{} {of_type}", spelled(dialect, number)),
    });
    let given = arguments.listed(|number, _| dialect.placeholder(number));
    let (head, end) = match dialect {
        Dialect::Postgres | Dialect::Sqlite | Dialect::ClickHouse | Dialect::DuckDb => {
            let quote = quote(statements);
            let head = format!(
                "CREATE PROCEDURE {name}({takes}) LANGUAGE plpgsql AS {quote} DECLARE prony_row record; BEGIN"
            );
            (head, format!(" END {quote};\nCOMMENT ON PROCEDURE {name} IS {};", dialect.text(MARK)))
        }
        Dialect::Mysql => {
            let comment = dialect.text(MARK);
            (format!("CREATE PROCEDURE {name}({takes}) COMMENT {comment} BEGIN"), " END".to_owned())
        }
        // Parameters without any are no list.
        Dialect::SqlServer => (
            format!("CREATE PROCEDURE {name} {takes} AS BEGIN /* {MARK} */ SET NOCOUNT ON;"),
            " END".to_owned(),
        ),
    };
    let mut lines = Lines::of(head);
    match dialect {
        Dialect::Postgres | Dialect::Sqlite | Dialect::ClickHouse | Dialect::DuckDb => {
            postgres::statements(statements, &mut lines)
        }
        Dialect::Mysql => of_mysql(statements, &mut lines),
        Dialect::SqlServer => statements.iter().for_each(|Sql { line, text }| lines.add(*line, &ended(text))),
    }
    let call = match dialect {
        Dialect::Postgres | Dialect::Mysql | Dialect::Sqlite | Dialect::ClickHouse | Dialect::DuckDb => {
            format!("CALL {name}({given})")
        }
        Dialect::SqlServer => format!("EXEC {name} {given}"),
    };
    let variables = arguments.0.iter().map(|(variable, _)| *variable).collect();
    Made { create: lines.text + &end, call, variables }
}

/// A mark around a body that does not stand in it.
fn quote(statements: &[Sql]) -> String {
    let is_in = |quote: &str| statements.iter().any(|sql| sql.text.contains(quote));
    let mut quote = "$prony$".to_owned();
    while is_in(&quote) {
        quote.insert_str(1, "a_");
    }
    quote
}

/// In a procedure BEGIN begins a block.
fn of_mysql(statements: &[Sql], lines: &mut Lines) {
    for Sql { line, text } in statements {
        match transaction(text, Dialect::Mysql) {
            Transaction::Begins => lines.add(*line, "START TRANSACTION;"),
            Transaction::No | Transaction::Commits | Transaction::RollsBack | Transaction::Other => {
                lines.add(*line, &ended(text));
            }
        }
    }
}

/// What values of a kind are taken as, where the server does not say it.
pub(in crate::script) fn type_of(kind: ValueKind, dialect: Dialect) -> &'static str {
    match (kind, dialect) {
        (ValueKind::Integer, _) => "bigint",
        (ValueKind::Double, Dialect::Mysql) => "double",
        (
            ValueKind::Double,
            Dialect::SqlServer | Dialect::Postgres | Dialect::Sqlite | Dialect::ClickHouse | Dialect::DuckDb,
        ) => "float",
        (ValueKind::None | ValueKind::Any, Dialect::Mysql) => "longtext",
        (ValueKind::None | ValueKind::Any, Dialect::SqlServer) => "nvarchar(max)",
        (
            ValueKind::None | ValueKind::Any,
            Dialect::Postgres | Dialect::Sqlite | Dialect::ClickHouse | Dialect::DuckDb,
        ) => "text",
    }
}

/// Of what kind each variable is, in all scripts: what one sets another may send.
pub(in crate::script) fn kinds(job: &Job, program: &Program) -> Vec<ValueKind> {
    let names = &program.names;
    let mut kinds = vec![ValueKind::None; names.len()];
    let mut is = |variable: Option<usize>, kind: ValueKind| {
        if let Some(variable) = variable {
            kinds[variable] = kinds[variable].or(kind);
        }
    };
    GIVEN.iter().for_each(|name| is(names.find(name), ValueKind::Integer));
    job.defined.iter().for_each(|defined| is(names.find(&defined.name), ValueKind::of_text(&defined.value)));
    if let Some(parameters) = &program.parameters {
        parameters.kinds().for_each(|(variable, kind)| is(Some(variable), kind));
    }
    // Kinds only become wider.
    loop {
        let before = kinds.clone();
        for step in
            program.scripts.iter().flat_map(|drawn| &drawn.script.commands).map(|command| &command.step)
        {
            if let Step::Set { variable, expression } = step {
                kinds[*variable] = kinds[*variable].or(expression.kind(&|of| kinds[of]));
            }
        }
        if kinds == before {
            return kinds;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::language::{Names, Script};
    use crate::script::procedure::name;

    fn text(script: &str, dialect: Dialect) -> (String, String) {
        let mut names = Names::default();
        let script = Script::read("a.sql", script, &mut names).unwrap();
        let body = Body::of(&script, dialect).unwrap();
        let (arguments, statements) = Arguments::of(&body, dialect, &|_, _, _| "bigint".to_owned());
        let made = made((arguments, &statements), &name(0), dialect, None);
        (made.create, made.call)
    }

    const SCRIPT: &str = "\\set a 1\n\\set b 2\nBEGIN;\nUPDATE t SET n = n + :b\n  WHERE id = :a;\nSELECT n FROM t WHERE id = :a; -- why\nCOMMIT;\n";

    #[test]
    fn a_procedure_is_the_statements_of_its_script_in_their_lines() {
        let texts: Vec<String> = [Dialect::Postgres, Dialect::Mysql, Dialect::SqlServer]
            .map(|dialect| text(SCRIPT, dialect))
            .map(|(create, call)| format!("{create}\n-- {call}"))
            .to_vec();
        insta::assert_snapshot!(texts.join("\n\n"));
    }

    #[test]
    fn a_statement_outside_of_a_transaction_is_one_of_its_own_in_postgresql() {
        let (create, _) = text(
            "UPDATE t SET a = 1;\nBEGIN;\nUPDATE t SET a = 2;\nROLLBACK;\nVALUES (1);\n",
            Dialect::Postgres,
        );
        let body = create.split("BEGIN").nth(1).unwrap().split("END $").next().unwrap();
        let body: Vec<&str> = body.split_whitespace().collect();
        let expected = "UPDATE t SET a = 1; COMMIT; UPDATE t SET a = 2; ROLLBACK; FOR prony_row IN VALUES (1) LOOP END LOOP;";
        assert_eq!(body.join(" "), expected);
    }

    #[test]
    fn a_mark_within_a_body_does_not_end_it() {
        let (create, _) = text("SELECT $prony$ $prony$;\n", Dialect::Postgres);
        assert!(create.contains("AS $a_prony$ ") && create.contains("END $a_prony$;"), "{create}");
    }

    #[test]
    fn a_remark_at_the_end_of_a_statement_does_not_hide_its_end() {
        let (create, _) = text("SELECT 1 -- why\n;\nSELECT 2;\n", Dialect::Mysql);
        assert!(create.contains("SELECT 1 -- why\n; "), "{create}");
    }
}
