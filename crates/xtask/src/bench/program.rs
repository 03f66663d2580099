//! Programs of one benchmark, which print their figure.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::workspace::line_of;

/// The number that a program prints.
pub(super) fn number(command: &mut Command) -> Result<f64> {
    let [number] = numbers(command)?;
    Ok(number)
}

/// The numbers that a program prints, which are as many as are wanted.
pub(super) fn numbers<const COUNT: usize>(command: &mut Command) -> Result<[f64; COUNT]> {
    let text = output(command)?;
    let numbers: Option<Vec<f64>> = text.split_whitespace().map(|word| word.parse().ok()).collect();
    let wanted = numbers.and_then(|numbers| numbers.try_into().ok());
    wanted.with_context(|| format!("`{}` printed `{}`", line_of(command), text.trim()))
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
