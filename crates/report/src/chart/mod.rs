//! Charts as inline SVG, drawn once for light, dark and print: colours are CSS variables of the page.
//!
//! Lines are labelled where they end; what colours mean that stand for something else, a legend says. Each chart carries a title and a description for those who
//! do not see it, and its figures as a table. A chart draws what the model holds and computes no figure.

pub(crate) mod aligned;
pub(crate) mod canvas;
pub(crate) mod frame;
pub(crate) mod gain;
pub(crate) mod heat;
pub(crate) mod histogram;
pub(crate) mod label;
pub(crate) mod machine;
pub(crate) mod over_time;
pub(crate) mod readings;
pub(crate) mod reduce;
pub(crate) mod scale;
pub(crate) mod stack;
pub(crate) mod strip;

pub(crate) use histogram::histogram;
pub(crate) use reduce::spans;

use self::canvas::Ink;
use crate::table::Table;
use crate::trial::Trial;

/// A drawn chart and what stands around it.
pub(crate) struct Chart {
    /// Heading above it.
    pub(crate) heading: String,
    /// The `<svg>` element.
    pub(crate) svg: String,
    /// What the colours mean that no text of the drawing says.
    pub(crate) legend: Vec<Key>,
    /// What a reader must know to read it.
    pub(crate) caption: String,
    /// Its figures.
    pub(crate) table: Table,
}

/// An entry of a legend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) ink: Ink,
    pub(crate) text: String,
}

impl Key {
    pub(crate) fn new(ink: Ink, text: impl Into<String>) -> Self {
        Self { ink, text: text.into() }
    }
}

/// The entries, one for each ink. Returns no entries for fewer than two inks.
pub(crate) fn legend(entries: impl IntoIterator<Item = Key>) -> Vec<Key> {
    let keys = by_ink(entries);
    if keys.len() < 2 { Vec::new() } else { keys }
}

/// The entries in the order of their first occurrence. Texts with the same ink share one entry.
pub(crate) fn by_ink(entries: impl IntoIterator<Item = Key>) -> Vec<Key> {
    let mut keys: Vec<(Ink, Vec<String>)> = Vec::new();
    for entry in entries {
        match keys.iter_mut().find(|(ink, _)| *ink == entry.ink) {
            Some((_, texts)) if !texts.contains(&entry.text) => texts.push(entry.text),
            Some(_) => {}
            None => keys.push((entry.ink, vec![entry.text])),
        }
    }
    keys.into_iter().map(|(ink, texts)| Key::new(ink, texts.join(" or "))).collect()
}

/// The colour of a kind of operation, the same in all charts of its workload.
fn ink_of(trial: &Trial, kind: &str) -> Ink {
    Ink::Series(trial.shown().ink(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_legend_has_each_colour_once() {
        let key = |series, text: &str| Key::new(Ink::Series(series), text);
        let keys = legend([key(0, "answered"), key(1, "no answer"), key(1, "outage"), key(0, "answered")]);
        assert_eq!(keys, [key(0, "answered"), key(1, "no answer or outage")]);
        assert!(legend([key(0, "alone"), key(0, "alone")]).is_empty());
    }
}
