//! Where published figures come from. What each workload sets beside its own is its own affair.

use serde::Deserialize;

/// A public document.
#[derive(Debug, Deserialize)]
pub(crate) struct Source {
    title: String,
    /// In a few words, for a sentence; empty where only the whole is told.
    #[serde(default)]
    pub(crate) short: String,
    author: Option<String>,
    date: String,
    pub(crate) engine: Option<String>,
    machine: Option<String>,
}

/// A document in one line.
pub(crate) fn source(source: &Source) -> String {
    let author = source.author.as_ref().map(|author| format!("{author}: ")).unwrap_or_default();
    let machine = source.machine.as_ref().map(|machine| format!(" ({machine})")).unwrap_or_default();
    format!("{author}{}, {}{machine}", source.title, source.date)
}
