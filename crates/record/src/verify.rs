//! What a disk test found that checks each page it reads: damage, I/Os that took too long, and how much was looked at.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Most findings that are kept with all they tell; of the others the number.
pub const FINDINGS_MAX: usize = 64;
/// Parts that a file's map has at most.
pub const MAP_PARTS_MAX: usize = 64;

/// What is wrong with a page, or with an I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Damage {
    /// An I/O failed.
    Failed,
    /// Bytes were answered that were never read.
    NotRead,
    /// Nothing but zeros.
    Zero,
    /// What stood there before this run.
    OldData,
    /// Another page was read.
    MisdirectedRead,
    /// Another page was written here.
    MisdirectedWrite,
    /// Parts of several writes.
    Torn,
    /// Bytes that nobody wrote.
    Corrupt,
    /// An older version was read, and the right one when it was read again.
    StaleRead,
    /// An older version stands where a newer one was acknowledged.
    LostWrite,
    /// A version that was never written.
    Phantom,
    /// An I/O took longer than it may.
    Stalled,
}

impl Damage {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Failed,
        Self::NotRead,
        Self::Zero,
        Self::OldData,
        Self::MisdirectedRead,
        Self::MisdirectedWrite,
        Self::Torn,
        Self::Corrupt,
        Self::StaleRead,
        Self::LostWrite,
        Self::Phantom,
        Self::Stalled,
    ];

    /// Whether it is of a page's content.
    #[must_use]
    pub fn is_of_content(self) -> bool {
        !matches!(self, Self::Failed | Self::Stalled)
    }

    /// What it means, after a page's name.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Failed => "the I/O was answered with an error",
            Self::NotRead => "the read was answered, but these bytes were not read",
            Self::Zero => "it holds nothing but zeros: its writes were lost, or it was discarded",
            Self::OldData => "it holds what stood there before this run",
            Self::MisdirectedRead => "another page was read in its place; read again, it was right",
            Self::MisdirectedWrite => "another page was written in its place",
            Self::Torn => "it holds parts of several writes",
            Self::Corrupt => "it holds bytes that nobody wrote",
            Self::StaleRead => "an older version was read; read again, it was right",
            Self::LostWrite => "a write was acknowledged, but the device returns an older version",
            Self::Phantom => "it holds a version that was never written",
            Self::Stalled => "the I/O took longer than it may",
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Failed => "I/O error",
            Self::NotRead => "bytes not read",
            Self::Zero => "zero",
            Self::OldData => "old data",
            Self::MisdirectedRead => "misdirected read",
            Self::MisdirectedWrite => "misdirected write",
            Self::Torn => "torn",
            Self::Corrupt => "corrupt",
            Self::StaleRead => "stale read",
            Self::LostWrite => "lost write",
            Self::Phantom => "phantom",
            Self::Stalled => "stalled",
        })
    }
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Class.
    pub damage: Damage,
    /// File or device.
    pub path: String,
    /// First byte of the page, or of the I/O.
    pub offset: u64,
    /// Number of the page in what is verified of the file.
    pub page: u64,
    /// Bytes of the page, or of the I/O.
    pub bytes: u32,
    /// When it was found, in seconds since the load began.
    pub at_s: f64,
    /// Versions that were right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<[u64; 2]>,
    /// The version that was found, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<u64>,
    /// When what was found was written, in nanoseconds since 1970, as its header says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_ns: Option<u64>,
    /// Whether a read that followed directly found it right.
    #[serde(default)]
    pub recovered: bool,
    /// What else is known: the sectors' map, the bits that differ, where the other page belongs, the error.
    pub detail: String,
    /// The page in hexadecimal, as it is and as it should be, where they differ and are ours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub view: Vec<String>,
}

/// Most I/Os that took longer than a second that are kept with their times; of the others the number.
pub const LATE_MAX: usize = 256;

/// An I/O that took longer than a second, or than it may.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Late {
    /// When it was sent, in seconds since the load began.
    pub sent_s: f64,
    /// When it was answered; none if it was not.
    pub answered_s: Option<f64>,
    /// Whether it took longer than it may.
    pub is_stalled: bool,
}

/// How much of a file was looked at, and where damage is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileMap {
    /// File or device.
    pub path: String,
    /// First page of what the map is of, and their number.
    pub first: u64,
    /// Pages.
    pub pages: u64,
    /// Pages that were checked at least once.
    pub checked: u64,
    /// Of equal parts of it: pages in which damage was found.
    pub damaged: Vec<u64>,
    /// Of the same parts: how often a page of it was checked on average, 255 at most.
    pub checks: Vec<f64>,
}

/// What verifying came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Verified {
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Pages that were written and whose writes were acknowledged, each as often as it was written, without those that were laid out
    /// before the load.
    pub written: u64,
    /// Pages that were read and checked, each as often as it was read.
    pub read: u64,
    /// Pages there are.
    pub pages: u64,
    /// Pages that were checked at least once.
    pub checked: u64,
    /// How often the page was checked that was checked least, 255 at most.
    pub checks_least: u64,
    /// Audits: times that all pages were read one after the other.
    pub audits: u64,
    /// Whether the last one was made after the load, to its end.
    pub is_audited: bool,
    /// Times that files were cut off and grew again.
    pub resized: u64,
    /// How long an I/O may take, in seconds.
    pub stall_s: f64,
    /// I/Os that took longer than that, and longer than a second.
    pub stalls: u64,
    /// I/Os that took longer than a second.
    pub slow: u64,
    /// The first of these, in the order in which they were sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late: Vec<Late>,
    /// What was found, by class.
    pub damage: BTreeMap<Damage, u64>,
    /// The first of what was found.
    pub findings: Vec<Finding>,
    /// Files.
    pub map: Vec<FileMap>,
}

impl Verified {
    /// Pages whose content was not what it should be.
    #[must_use]
    pub fn damaged(&self) -> u64 {
        self.damage.iter().filter(|(damage, _)| damage.is_of_content()).map(|(_, count)| count).sum()
    }

    /// I/Os that were answered with errors.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.damage.get(&Damage::Failed).copied().unwrap_or(0)
    }

    /// Whether anything is wrong: damage, errors, or I/Os that took longer than they may.
    #[must_use]
    pub fn is_faulty(&self) -> bool {
        self.damage.values().any(|&count| count > 0)
    }

    /// `4,812,334 pages written and read, 0 damaged, 0 stalls over 15 s, 2 over 1 s`, with what else failed.
    #[must_use]
    pub fn sentence(&self) -> String {
        let mut parts = vec![
            format!("{} pages written and read", grouped(self.written + self.read)),
            format!("{} damaged{}", grouped(self.damaged()), self.classes()),
            format!("{} over {} s", counted(self.stalls, "stall", "stalls"), self.stall_s),
        ];
        parts.extend((self.stall_s != 1.0).then(|| format!("{} over 1 s", grouped(self.slow))));
        parts.extend((self.failed() > 0).then(|| counted(self.failed(), "I/O error", "I/O errors")));
        parts.join(", ")
    }

    /// ` (1 torn, 2 lost write)`.
    fn classes(&self) -> String {
        let of_content = self.damage.iter().filter(|(damage, _)| damage.is_of_content());
        let told: Vec<String> =
            of_content.map(|(damage, count)| format!("{} {damage}", grouped(*count))).collect();
        if told.is_empty() { String::new() } else { format!(" ({})", told.join(", ")) }
    }

    /// What is wrong, in a clause; none where nothing is.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        let damaged = self.damaged();
        let pages = (damaged > 0).then(|| {
            format!("{} not what was written{}", counted(damaged, "page is", "pages are"), self.classes())
        });
        let failed = (self.failed() > 0).then(|| format!("{} failed", counted(self.failed(), "I/O", "I/Os")));
        let stalled = (self.stalls > 0)
            .then(|| format!("{} took longer than {} s", counted(self.stalls, "I/O", "I/Os"), self.stall_s));
        let parts: Vec<String> = [pages, failed, stalled].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// Adds what another thread found.
    pub fn add(&mut self, other: Self) {
        let first = self.pages == 0;
        self.page_bytes = other.page_bytes;
        self.written += other.written;
        self.read += other.read;
        self.pages += other.pages;
        self.checked += other.checked;
        self.checks_least =
            if first { other.checks_least } else { self.checks_least.min(other.checks_least) };
        self.audits = if first { other.audits } else { self.audits.min(other.audits) };
        self.is_audited = other.is_audited && (first || self.is_audited);
        self.resized += other.resized;
        self.stall_s = other.stall_s;
        self.stalls += other.stalls;
        self.slow += other.slow;
        self.late.extend(other.late);
        self.late.sort_by(|a, b| a.sent_s.total_cmp(&b.sent_s));
        self.late.truncate(LATE_MAX);
        for (damage, count) in other.damage {
            *self.damage.entry(damage).or_default() += count;
        }
        self.findings.extend(other.findings);
        self.findings.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        self.findings.truncate(FINDINGS_MAX);
        self.map.extend(other.map);
        self.map.sort_by(|a, b| (&a.path, a.first).cmp(&(&b.path, b.first)));
    }
}

fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// `4,812,334`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let grouped: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|digits| std::str::from_utf8(digits).ok()).collect();
    grouped.join(",")
}

impl Finding {
    /// All that is known of it, for whoever made the storage: lines of text.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![
            format!("{}: {}", self.damage, self.damage.meaning()),
            format!("file      {}", self.path),
            format!("offset    {} (page {} of {} bytes)", self.offset, self.page, self.bytes),
            format!("found     {:.3} s after the load began", self.at_s),
        ];
        lines.extend(self.expected.map(|[oldest, newest]| {
            if oldest == newest {
                format!("expected  version {newest}")
            } else {
                format!("expected  version {oldest} to {newest}: no write after {oldest} was acknowledged")
            }
        }));
        lines.extend(self.found.map(|version| format!("holds     version {version}")));
        lines.extend(
            self.written_ns
                .map(|ns| format!("written   {} ns after 1970-01-01T00:00:00Z, its header says", ns)),
        );
        if self.damage.is_of_content() {
            let again = if self.recovered {
                "right when it was read again directly"
            } else {
                "the same when it was read again directly"
            };
            lines.push(format!("again     {again}"));
        }
        lines.push(format!("detail    {}", self.detail));
        lines.extend((!self.view.is_empty()).then(String::new));
        lines.extend(self.view.iter().cloned());
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pages: u64, checks_least: u64, damage: &[(Damage, u64)]) -> Verified {
        let damage = damage.iter().copied().collect();
        Verified { pages, checked: pages, checks_least, is_audited: true, damage, ..Verified::default() }
    }

    #[test]
    fn threads_add_up_and_the_least_is_of_all() {
        let mut all = Verified::default();
        let late = |sent_s| Late { sent_s, answered_s: None, is_stalled: true };
        let of_one = of(10, 3, &[(Damage::Torn, 1), (Damage::Stalled, 2)]);
        all.add(Verified { late: vec![late(4.0), late(9.0)], ..of_one });
        let of_other = of(20, 1, &[(Damage::Torn, 2), (Damage::Failed, 4)]);
        all.add(Verified { late: vec![late(7.0)], ..of_other });
        assert_eq!(all.late.iter().map(|late| late.sent_s).collect::<Vec<_>>(), [4.0, 7.0, 9.0]);
        assert_eq!((all.pages, all.checks_least, all.is_audited), (30, 1, true));
        assert_eq!((all.damaged(), all.failed(), all.damage[&Damage::Stalled]), (3, 4, 2));
        let all_in_words =
            Verified { written: 4_000_000, read: 812_334, stall_s: 15.0, stalls: 2, slow: 3, ..all.clone() };
        assert_eq!(
            all_in_words.sentence(),
            "4,812,334 pages written and read, 3 damaged (3 torn), 2 stalls over 15 s, 3 over 1 s, 4 I/O errors"
        );
        assert_eq!(
            all_in_words.fault().unwrap(),
            "3 pages are not what was written (3 torn); 4 I/Os failed; 2 I/Os took longer than 15 s"
        );
        assert_eq!(of(9, 1, &[]).fault(), None);
        all.add(Verified { is_audited: false, ..of(5, 0, &[]) });
        assert!(!all.is_audited && all.checks_least == 0 && all.is_faulty());
    }
}
