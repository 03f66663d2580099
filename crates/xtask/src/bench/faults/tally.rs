//! What became of the cases of an area, and what was found in those that did not survive.

/// What is wrong after a case; empty if it survived.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<String>);

impl Findings {
    /// Adds what is wrong if it is not as it should be.
    pub(super) fn check(&mut self, is_fine: bool, wrong: impl FnOnce() -> String) {
        if !is_fine {
            self.0.push(wrong());
        }
    }

    pub(super) fn add(&mut self, wrong: impl Into<String>) {
        self.0.push(wrong.into());
    }

    pub(super) fn extend(&mut self, others: impl IntoIterator<Item = String>) {
        self.0.extend(others);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<String> for Findings {
    fn from_iter<T: IntoIterator<Item = String>>(texts: T) -> Self {
        Self(texts.into_iter().collect())
    }
}

impl IntoIterator for Findings {
    type Item = String;
    type IntoIter = std::vec::IntoIter<String>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// Cases of an area.
#[derive(Debug, Default)]
pub(super) struct Tally {
    tried: u32,
    survived: u32,
}

impl Tally {
    /// Counts a case, and prints what is needed to repeat it if it did not survive.
    pub(super) fn count(&mut self, case: &str, findings: Findings) {
        self.tried += 1;
        if findings.is_empty() {
            self.survived += 1;
            return;
        }
        println!("  not survived: {case}");
        for finding in findings {
            println!("    {}", finding.replace('\n', "\n    "));
        }
    }

    pub(super) fn tried(&self) -> u32 {
        self.tried
    }

    pub(super) fn survived(&self) -> u32 {
        self.survived
    }
}
