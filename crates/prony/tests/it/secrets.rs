//! Passwords of addresses, also of misspelt ones and those of other programs, in every place of the program that can quote a value.

use crate::workbench::{Outcome, Workbench};

const SECRET: &str = "Geheim7x";

/// Forms that are no addresses of ours. What of each is hidden, `record` tests with many more.
const FORMS: [&str; 16] = [
    "postgres:/joe:Geheim7x@h",
    "postgres:joe:Geheim7x@h",
    "joe:Geheim7x@h",
    "joe:my Geheim7x@h",
    "//joe:Geheim7x@h",
    "postgres://joe:Geheim7x",
    "postgres://joe@h?passwd=Geheim7x",
    "host=h user=joe password=Geheim7x",
    "sqlserver://h;user=sa;password=Geheim7x",
    "sqlserver://h%3Buser%3Dsa%3Bpassword%3DGeheim7x",
    "jdbc:postgresql://h/x?user=joe&password=Geheim7x",
    "postgresql+asyncpg://joe:Geheim7x@h/x",
    "Server=h;User ID=sa;Password={my;Geheim7x};Foo=1",
    "POSTGRES://joe:Geheim7x@h/x",
    "mysql://joe:Geheim7x@h/x?useSSL=false&serverTimezone=UTC",
    "postgres%3A%2F%2Fjoe%3AGeheim7x%40h",
];

fn check(form: &str, outcome: &Outcome) {
    let Outcome { code, stdout, stderr } = outcome;
    assert!(*code != Some(0) && *code != Some(101), "{form}: {stdout}{stderr}");
    for text in [stdout, stderr] {
        assert!(!text.contains(SECRET) && !text.contains("Geheim"), "{form}: {text}");
    }
    assert!(stderr.contains("error"), "{form}: {stderr}");
}

/// The line about a file of defaults quoted what the error below it hid.
#[test]
fn no_place_that_can_show_a_value_shows_the_password_of_a_misspelt_address() {
    let bench = Workbench::new();
    for form in FORMS {
        let quoted = toml_text(form);
        bench.write("c.toml", format!("[historian]\ntarget = {quoted}\n[disk]\nname = {quoted}\n"));
        bench.write("s.toml", format!("workload = \"historian\"\n[target]\nurl = {quoted}\n"));
        // Where a key of a file ends, nobody knows who reads the sentence about it.
        let key = if form.contains(' ') { "title2".to_owned() } else { quoted.clone() };
        bench.write("t.toml", format!("workload = \"disk\"\ntitle = {quoted}\n{key} = 1\n"));
        let option = format!("--target={form}");
        for arguments in [
            &["historian", "--target", form][..],
            &["plan", "historian", "--duration", "1s", option.as_str()],
            &["script", "a.sql", option.as_str()],
            &["inspect", option.as_str()],
            &["--config", "c.toml", "historian"],
            &["--config", "c.toml", "disk", "."],
            &["disk", form],
            &["disk", ".", form],
            &["check", form],
            &["report", form],
            &["compare", form, form],
            &["historian", "--target", "fake:", "--source", form],
            &["historian", "--target", "fake:", "--name", form],
            &["historian", "--target", "fake:", "--duration", form],
            &["historian", form],
            &["historian", "--target", "fake:", "--password=Geheim7x"],
            &["study", "plan", "s.toml"],
            &["study", "run", "t.toml"],
            &["study", "run", form],
            &["instance", "stop", form],
            &[form],
        ] {
            check(form, &bench.run(arguments));
        }
        check(form, &bench.run_with(&[("PRONY_TARGET", form)], &["historian"]));
    }
}

fn toml_text(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[test]
fn an_address_of_another_program_is_answered_with_the_one_that_would_do() {
    let bench = Workbench::new();
    for (address, told) in [
        ("postgresql+asyncpg://u:Geheim7@depot/db", "leave out `+asyncpg`: give postgres://u@depot/db"),
        ("jdbc:postgresql://depot:5432/db?user=u&password=Geheim7", "give postgres://u@depot:5432/db"),
        (
            "mysql://u:Geheim7@depot/db?useSSL=false&serverTimezone=UTC",
            "give mysql://u@depot/db?ssl-mode=DISABLED",
        ),
        ("postgresql://u:Geheim7@depot/db?schema=public", "search_path of the role"),
        ("host=depot port=5432 dbname=db user=u password=Geheim7", "give postgres://u@depot:5432/db"),
    ] {
        let outcome = bench.run(&["plan", "historian", "--target", address]).ended_with(2).says(told);
        assert!(!outcome.stderr.contains("Geheim"), "{}", outcome.stderr);
    }
}
