//! The page: sections of tables, in Markdown.

use std::fmt;

pub(crate) const HEAD: &str = "# What the statistics claim, and how it was tried\n\n\
    Made by `cargo xtask bench statistics`, which feeds simulated data, whose truth is known, to the functions that judge\n\
    measurements. The data are models of servers, not servers. The seed of a data set is made of the name of its cell and its number.\n";

/// What one family of claims came to.
pub(crate) struct Section {
    /// What is claimed, and how the data were made: a paragraph.
    pub(crate) about: &'static str,
    pub(crate) tables: Vec<Table>,
}

/// Rows of cells under a caption that says what a cell is, and of how many data sets.
pub(crate) struct Table {
    pub(crate) caption: String,
    pub(crate) head: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl fmt::Display for Section {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "\n{}", self.about)?;
        self.tables.iter().try_for_each(|table| write!(formatter, "\n{table}"))
    }
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = |cells: &[String]| writeln!(formatter, "| {} |", cells.join(" | "));
        line(&self.head)?;
        line(&vec!["---".to_owned(); self.head.len()])?;
        self.rows.iter().try_for_each(|row| line(row))?;
        writeln!(formatter, "\n{}", self.caption)
    }
}
