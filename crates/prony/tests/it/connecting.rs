//! Where a server is and who logs in, from elsewhere than the address.

use std::io::{Read as _, Write as _};
use std::process::Stdio;

use serde_json::Value;

use crate::servers::postgres;
use crate::workbench::{Workbench, json_file};

const SHORT: [&str; 5] = ["--duration", "2s", "--warm-up", "0s", "--json"];

/// What the record of the last run says of its connection.
fn link(bench: &Workbench) -> Value {
    let trial = json_file(bench.results().unwrap().join("trials/0001/trial.json"));
    let text = trial.to_string();
    assert!(!text.contains("secret"), "{text}");
    find(&trial, "link").unwrap()
}

fn find(value: &Value, key: &str) -> Option<Value> {
    match value {
        Value::Object(fields) => {
            fields.get(key).cloned().or_else(|| fields.values().find_map(|value| find(value, key)))
        }
        Value::Array(items) => items.iter().find_map(|value| find(value, key)),
        _ => None,
    }
}

#[test]
fn a_plan_shows_where_the_server_is_and_what_says_so() {
    let bench = Workbench::new();
    let home = bench.write("services.conf", "[plant]\nhost=db7\nport=5433\ndbname=scada\n");
    let services = [("PGSERVICEFILE", home.to_str().unwrap())];
    let planned = ["plan", "historian", "--target", "postgres:///?service=plant", "--duration", "10s"];
    let plan = bench.run_with(&services, &planned).ended_with(0).stdout;
    assert!(plan.contains("1 trial on postgres://db7:5433/scada?service=plant\n"), "{plan}");
    assert!(plan.contains("host from the service plant of"), "{plan}");
    let hosts = [("PGHOST", "a,b"), ("PGPORT", "6000")];
    let planned = ["plan", "historian", "--target", "postgres:///app", "--duration", "10s"];
    let plan = bench.run_with(&hosts, &planned).ended_with(0).stdout;
    assert!(plan.contains("postgres://a:6000,b:6000/app: host from PGHOST, port from PGPORT"), "{plan}");
    bench
        .run_with(
            &services,
            &["plan", "historian", "--target", "postgres:///?service=none", "--duration", "10s"],
        )
        .ended_with(2)
        .says("unknown service `none` in")
        .says("services.conf");
}

/// The first of two hosts has nothing that listens there.
#[test]
fn a_password_is_asked_for_once_at_the_terminal_whatever_is_tried_with_it() {
    let bench = Workbench::new();
    let program = env!("CARGO_BIN_EXE_prony");
    let target = format!(
        "postgres://prony@127.0.0.1:1,127.0.0.1:{}/postgres?password_file=-&target_session_attrs=primary",
        postgres().port()
    );
    let line = format!(
        "{program} historian --target '{target}' --database prony_asked {} >out.json",
        SHORT.join(" ")
    );
    // A question that nobody hears would be waited for without end.
    let mut command = bench.command("timeout");
    command.args(["--foreground", "60", "script", "-qec", &line, "/dev/null"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut keys, mut screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut seen = Vec::new();
    let mut sign = [0];
    while !seen.ends_with(b": ") && screen.read(&mut sign).unwrap() > 0 {
        seen.push(sign[0]);
    }
    keys.write_all(b"secrex\x7ft\n").unwrap();
    screen.read_to_end(&mut seen).unwrap();
    let seen = String::from_utf8_lossy(&seen);
    child.wait().unwrap();
    assert_eq!(seen.matches("Password of prony at 127.0.0.1:1,127.0.0.1:").count(), 1, "{seen}");
    assert!(!seen.contains("secre"), "{seen}");
    let taken = link(&bench)["taken"].to_string();
    assert!(taken.contains("password from the terminal") && taken.contains("of 2 hosts"), "{taken}");
}

#[test]
fn a_password_that_is_to_be_asked_for_without_a_terminal_is_refused_with_the_remedy() {
    let bench = Workbench::new();
    let mut command = bench.command("setsid");
    command.args(["--wait", env!("CARGO_BIN_EXE_prony"), "historian", "--target"]);
    command.arg(format!("postgres://prony@127.0.0.1:{}/postgres?password_file=-", postgres().port()));
    command.args(SHORT);
    crate::workbench::finish(command).ended_with(2).says("needs a terminal: use password_file=FILE");
}
