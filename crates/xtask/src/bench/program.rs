//! Programs of one benchmark, which print their figure.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::workspace::line_of;

/// The number that a program prints.
pub(super) fn number(command: &mut Command) -> Result<f64> {
    let text = output(command)?;
    text.trim().parse().with_context(|| format!("`{}` printed `{}`", line_of(command), text.trim()))
}

/// What a program that succeeds prints.
pub(super) fn output(command: &mut Command) -> Result<String> {
    let line = line_of(command);
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("cannot start `{line}`"))?;
    if !output.status.success() {
        bail!("`{line}` ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    ensure!(!output.stdout.is_empty(), "`{line}` printed nothing");
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
