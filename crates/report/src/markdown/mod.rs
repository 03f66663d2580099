//! What a run or a comparison came to as GitHub's Markdown, fit for a comment on a change: the answer, how far to trust it, and the
//! tables that carry it. What is longer than a comment may be is left out from the end, and counted.
//!
//! Text that others wrote is data here as everywhere: none of it makes a format, a link, a mention of somebody or a cell of its own.

mod of_study;
#[cfg(test)]
mod tests;

use record::shown;

use crate::section::Block;
use crate::table::Table;

/// GitHub takes 65,536 characters in a comment; what closes a table or says what was left out has the rest.
const CHARACTERS_MOST: usize = 60_000;
/// A text that others wrote is cut behind so many characters.
const TEXT_MOST: usize = 1_000;
/// Divides what would else be a mention, a reference or a link; it is not shown.
const NOTHING: &str = "<!-- -->";

/// A document that is being written.
pub(crate) struct Markdown {
    text: String,
    /// Characters that there is still room for.
    room: usize,
    /// Pieces that there was no room for.
    left_out: usize,
}

impl Markdown {
    /// A document under a heading.
    pub(crate) fn under(heading: &str) -> Self {
        let mut markdown = Self { text: String::new(), room: CHARACTERS_MOST, left_out: 0 };
        markdown.piece(&format!("### {}\n\n", escaped(heading)));
        markdown
    }

    /// A paragraph, of a word in bold and a sentence.
    pub(crate) fn labelled(&mut self, label: &str, sentence: &str) {
        self.piece(&format!("**{label}** {}\n\n", ended(sentence)));
    }

    /// Sentences that have their full stops.
    pub(crate) fn closed_list(&mut self, sentences: &[String]) {
        for sentence in sentences {
            self.piece(&format!("- {}\n", begun(&escaped(sentence))));
        }
        self.text.push('\n');
    }

    /// A paragraph.
    pub(crate) fn paragraph(&mut self, sentence: &str) {
        self.piece(&format!("{}\n\n", begun(&ended(sentence))));
    }

    /// Adds a line of the user's text as a paragraph, complete and without an added full stop.
    pub(crate) fn line(&mut self, line: &str) {
        if !line.trim().is_empty() {
            self.piece(&format!("{}\n\n", begun(&literal(shown(line).trim()))));
        }
    }

    /// Commands, a line each, as code.
    pub(crate) fn commands(&mut self, commands: &[String]) {
        let lines: String = commands.iter().map(|command| format!("    {}\n", shown(command))).collect();
        self.piece(&format!("{lines}\n"));
    }

    /// A paragraph in small letters.
    pub(crate) fn small(&mut self, sentence: &str) {
        self.piece(&format!("<sub>{}</sub>\n\n", ended(sentence)));
    }

    /// A list; of a single sentence a paragraph.
    pub(crate) fn list(&mut self, sentences: &[String]) {
        match sentences {
            [] => {}
            [only] => self.paragraph(only),
            several => {
                several.iter().for_each(|sentence| self.piece(&format!("- {}\n", begun(&ended(sentence)))));
                self.text.push('\n');
            }
        }
    }

    /// A table under its title.
    pub(crate) fn table(&mut self, table: &Table) {
        if !table.rows.is_empty() {
            self.piece(&format!("**{}**\n\n", escaped(&table.title)));
            self.grid(table);
        }
    }

    /// A table without its title.
    pub(crate) fn grid(&mut self, table: &Table) {
        if table.rows.is_empty() {
            return;
        }
        let line = |cells: &mut dyn Iterator<Item = String>| {
            cells.map(|cell| format!("| {cell} ")).collect::<String>() + "|\n"
        };
        let head = line(&mut table.columns.iter().map(|column| escaped(&column.head)));
        let rule = line(&mut table.columns.iter().map(|c| if c.text { "---" } else { "---:" }.to_owned()));
        if !self.fits(&(head.clone() + &rule)) {
            self.left_out += 1;
            return;
        }
        self.piece(&(head + &rule));
        let mut rows = table.rows.iter().map(|row| line(&mut row.cells.iter().map(|cell| escaped(cell))));
        let mut more = 0;
        for row in rows.by_ref() {
            if !self.fits(&row) {
                more = 1 + rows.count();
                break;
            }
            self.piece(&row);
        }
        self.text.push('\n');
        if more > 0 {
            self.text.push_str(&format!("{more} more rows are omitted: a comment has a maximum length.\n\n"));
            self.room = 0;
        }
    }

    /// What is shown only when it is asked for.
    pub(crate) fn folded(&mut self, summary: &str, inside: impl FnOnce(&mut Self)) {
        let head = format!("<details><summary>{}</summary>\n\n", html(&cut(&shown(summary))));
        if !self.fits(&head) {
            self.left_out += 1;
            return;
        }
        self.piece(&head);
        inside(self);
        self.text.push_str("</details>\n\n");
    }

    /// Tables and sentences as a report has them: what had to hold first, then the table that all others explain, then the others,
    /// folded.
    pub(crate) fn blocks(&mut self, blocks: &[Block]) {
        let rank = |block: &&Block| match block {
            Block::Outcomes { .. } => 0,
            Block::Main { .. } => 1,
            _ => 2,
        };
        let mut ordered: Vec<&Block> = blocks.iter().collect();
        ordered.sort_by_key(rank);
        ordered.into_iter().for_each(|block| self.block(block));
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Outcomes { table, .. } => self.table(table),
            Block::Main { table, legend } => {
                self.grid(table);
                if !legend.is_empty() {
                    self.small(legend);
                }
            }
            Block::Table(table) | Block::Beside { table, .. } | Block::Folded { table, .. } => {
                self.folded(&table.title, |inside| inside.grid(table));
            }
            Block::OnPage { .. } => {}
            Block::Remark(sentence) => self.paragraph(sentence),
            Block::Notes { sentences, sources } => {
                sentences.iter().chain(sources).for_each(|sentence| self.paragraph(sentence));
            }
        }
    }

    /// The whole.
    pub(crate) fn finish(mut self) -> String {
        if self.left_out > 0 {
            let pieces = crate::format::counted(self.left_out, "more part is", "more parts are");
            self.text.push_str(&format!("{pieces} omitted: a comment has a maximum length.\n"));
        }
        self.text.trim_end().to_owned() + "\n"
    }

    fn fits(&self, piece: &str) -> bool {
        piece.chars().count() <= self.room
    }

    fn piece(&mut self, piece: &str) {
        if !self.fits(piece) {
            self.left_out += 1;
            return;
        }
        self.room -= piece.chars().count();
        self.text.push_str(piece);
    }
}

/// A sentence with its full stop.
fn ended(sentence: &str) -> String {
    escaped(sentence.trim_end_matches('.')) + "."
}

/// A text as the begin of a paragraph, where `1.` and `-` begin a list and `=` a heading.
fn begun(text: &str) -> String {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    match text[digits..].chars().next() {
        Some('.' | ')') if digits > 0 => format!("{}\\{}", &text[..digits], &text[digits..]),
        Some('-' | '+' | '=') if digits == 0 => format!("\\{text}"),
        _ => text.to_owned(),
    }
}

/// One line of text without any meaning to Markdown, HTML or GitHub.
pub(crate) fn escaped(text: &str) -> String {
    literal(&cut(shown(text).trim()))
}

/// Escapes a text for Markdown. It is then shown unchanged.
fn literal(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' | '!' => escaped.extend(['\\', c]),
            '#' => {
                escaped.push_str("\\#");
                escaped.push_str(NOTHING);
            }
            '@' => {
                escaped.push('@');
                escaped.push_str(NOTHING);
            }
            // `://` begins an address, and `:word:` is a picture.
            ':' if rest.peek().is_some_and(|&next| next.is_ascii_graphic() && !is_time(&escaped, next)) => {
                escaped.push(':');
                escaped.push_str(NOTHING);
            }
            '.' if escaped.to_ascii_lowercase().ends_with("www") => {
                escaped.push_str(NOTHING);
                escaped.push('.');
            }
            plain => escaped.push(plain),
        }
    }
    escaped
}

/// Whether a colon stands within a time of the day.
fn is_time(before: &str, next: char) -> bool {
    before.ends_with(|c: char| c.is_ascii_digit()) && next.is_ascii_digit()
}

/// One line of text within HTML.
fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('@', &format!("@{NOTHING}"))
}

/// As much of a text as a comment has room for beside others.
fn cut(text: &str) -> String {
    match text.char_indices().nth(TEXT_MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
