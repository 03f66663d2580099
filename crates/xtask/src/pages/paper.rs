//! How many sheets of paper a page takes.

use anyhow::{Result, ensure};

/// Pages with the sheets that they may take at most.
const SHEETS_MOST: [(&str, usize); 2] = [("check", 6), ("sheet", 1)];

/// The sheets that a page may take, if their number is limited.
pub(super) fn limit(page: &str) -> Option<usize> {
    SHEETS_MOST.iter().find(|(name, _)| *name == page).map(|(_, most)| *most)
}

/// What is wrong with a page of which `pdf` is the print.
pub(super) fn fault(pdf: &[u8], most: usize) -> Result<Option<String>> {
    let number = sheets_in(pdf);
    ensure!(number > 0, "the PDF file of Chromium has no sheet");
    Ok((number > most).then(|| format!("it takes {number} sheets of paper, and may take {most}")))
}

/// Chromium describes each sheet in an object of its own, in clear text; `/Type /Pages` is a list of them.
fn sheets_in(pdf: &[u8]) -> usize {
    const SHEET: &[u8] = b"/Type /Page";
    let is_sheet = |at: &[u8]| at.starts_with(SHEET) && at.get(SHEET.len()) != Some(&b's');
    (0..pdf.len()).filter(|at| is_sheet(&pdf[*at..])).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Chromium 156 writes it.
    const PDF: &[u8] =
        b"%PDF-1.4\n1 0 obj\n<</Type /Page\n/Resources <<>>>>\nendobj\n2 0 obj\n<</Type /Page\n>>\nendobj\n\
                         3 0 obj\n<</Type /Pages\n/Count 2\n/Kids [1 0 R 2 0 R]>>\nendobj\n";

    #[test]
    fn sheets_are_counted_and_lists_of_them_are_not() {
        assert_eq!(sheets_in(PDF), 2);
        assert_eq!(fault(PDF, 2).unwrap(), None);
        assert_eq!(fault(PDF, 1).unwrap().unwrap(), "it takes 2 sheets of paper, and may take 1");
    }

    #[test]
    fn a_file_without_sheets_is_an_error() {
        assert!(fault(b"%PDF-1.4\n", 6).is_err());
    }
}
