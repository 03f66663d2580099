//! What prony's statistics claim, tried on data whose truth is known: coverage, false claims, power. Prints the page
//! `docs/statistics.md`; `cargo xtask bench statistics` writes it there.
//!
//! A section is a file that gives [`Section`]s; each cell of a table tells over how many data sets it was taken. The seed of a
//! data set is made of the names of section and cell and of its number alone, so that a table is the same again.
//!
//! An argument prints only the sections whose title contains it.

#![allow(clippy::print_stdout, reason = "what it prints is what it is for")]

mod curves;
mod effects;
mod history;
mod looks;
mod noise;
mod one_trial;
mod page;
mod percentiles;
mod queues;
mod scaling;
mod search;
mod server;
mod sessions;
mod sets;
mod shapes;
mod states;
mod warnings;
mod wild;

use page::Section;

/// A section by its title.
type Titled = (&'static str, fn() -> Section);

const SECTIONS: [Titled; 14] = [
    ("One trial", one_trial::section),
    ("Percentiles of one trial", percentiles::section),
    ("Warnings of one trial", warnings::section),
    ("Two states", states::section),
    ("Sustainable rate", search::section),
    ("Shapes", shapes::section),
    ("Queues", queues::section),
    ("Scaling", scaling::section),
    ("Effects", effects::section),
    ("Families and outlying blocks", wild::section),
    ("Runs from different times", sessions::section),
    ("Looks", looks::section),
    ("Change points of a history", history::section),
    ("Watched histories", history::watched_section),
];

fn main() {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    print!("{}", page::HEAD);
    for (title, section) in SECTIONS {
        if title.contains(&wanted) {
            print!("\n## {title}\n{}", section());
        }
    }
}
