//! Runs one batch in a database and prints its rows, a line each, with tabs between the columns: for `cargo xtask test-sqlserver`.
//!
//! `run_sql ADDRESS TEXT`

use database::{Session, Url, Value};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, address, text] = arguments.as_slice() else { return Err("give an address and a text".into()) };
    let url: Url = address.parse()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let rows = runtime.block_on(async {
        let mut session = Session::open(&url).await?;
        if text.trim_start().to_ascii_uppercase().starts_with("SELECT") {
            return session.query(text, &[]).await;
        }
        session.script(text).await.map(|()| Vec::new())
    })?;
    for row in rows {
        let cells: Vec<String> = row.iter().map(shown).collect();
        #[expect(clippy::print_stdout, reason = "what it is asked for")]
        {
            println!("{}", cells.join("\t"));
        }
    }
    Ok(())
}

fn shown(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::I64(number) => number.to_string(),
        other => format!("{other:?}"),
    }
}
