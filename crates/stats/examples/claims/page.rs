//! The page: sections of tables, in Markdown.

use std::fmt;

pub(crate) const HEAD: &str = "# Statistics: claims and how they were tested\n\n\
    `cargo xtask bench statistics` writes this page. The command feeds simulated data to the functions that judge\n\
    measurements. The true values behind the data are known. Unless a table says otherwise, the data come from models of servers and\n\
    not from real servers. The text under each table gives the number of data sets per cell. Each data set has its own seed: the FNV-1a\n\
    hash of the cell's name and the data set's number. The command therefore writes the same tables each time.\n";

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
