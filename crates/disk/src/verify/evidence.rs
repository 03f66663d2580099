//! Collects what was found: counts of all, and of the first ones all that is known. Called only when something is wrong.

use std::collections::BTreeMap;

use record::{Damage, Finding, verify::FINDINGS_MAX};

use super::page::{self, Place, SECTOR, Sector};
use super::sight::{Expected, Sight, map};

/// Bits of a damaged page that are named.
const BITS_TOLD_MAX: usize = 8;
/// Sectors that are shown of a page.
const SECTORS_SHOWN_MAX: usize = 4;
/// A sector that differs in more bits than these is not one of ours that was damaged: it may be somebody's.
const DAMAGED_BITS_MAX: usize = 256;

/// A page, or the piece of a file that an I/O was of.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    pub(crate) path: String,
    pub(crate) offset: u64,
    pub(crate) page: u64,
    pub(crate) bytes: u32,
    pub(crate) at_ns: u64,
}

/// What was found of a page.
pub(crate) struct Found<'a> {
    pub(crate) damage: Damage,
    pub(crate) block: &'a [u8],
    pub(crate) expected: Expected,
    pub(crate) sight: &'a Sight,
    pub(crate) recovered: bool,
    /// Where another page belongs, in words, and what stands there.
    pub(crate) other: Option<String>,
}

/// A finding, with what tells whether two of them are of one fault.
struct Kept {
    finding: Finding,
    place: Option<Place>,
    elsewhere: Option<(Place, u64)>,
}

/// All that was found.
#[derive(Default)]
pub(crate) struct Evidence {
    counts: BTreeMap<Damage, u64>,
    kept: Vec<Kept>,
}

impl Evidence {
    /// Notes an I/O that failed or took too long; what it says can be said anew by the number that is given back.
    pub(crate) fn io(&mut self, damage: Damage, spot: Spot, detail: String) -> Option<usize> {
        *self.counts.entry(damage).or_default() += 1;
        self.keep(Kept { finding: finding(damage, spot, detail), place: None, elsewhere: None })
    }

    /// Says anew what is known of a finding.
    pub(crate) fn tell(&mut self, number: usize, detail: String) {
        self.kept[number].finding.detail = detail;
    }

    /// Notes a page.
    pub(crate) fn page(&mut self, spot: Spot, found: &Found<'_>) {
        *self.counts.entry(found.damage).or_default() += 1;
        let place = found.expected.place;
        let elsewhere = match found.sight {
            Sight::Elsewhere { place, version } => Some((*place, *version)),
            _ => None,
        };
        let header = page::header(found.block);
        let finding = Finding {
            expected: (!found.expected.zero).then_some([found.expected.floor, found.expected.issued]),
            found: match found.sight {
                Sight::Old(version) | Sight::Never(version) | Sight::Elsewhere { version, .. } => {
                    Some(*version)
                }
                _ => None,
            },
            written_ns: header.map(|header| header.wall_ns),
            recovered: found.recovered,
            view: view(found),
            ..finding(found.damage, spot, detail(found))
        };
        self.keep(Kept { finding, place: Some(place), elsewhere });
    }

    fn keep(&mut self, kept: Kept) -> Option<usize> {
        // Twice as many as are told: some are the two ends of one fault.
        (self.kept.len() < 2 * FINDINGS_MAX).then(|| {
            self.kept.push(kept);
            self.kept.len() - 1
        })
    }

    /// A write that went to another page was lost where it belonged: that is one fault, and told where it went.
    pub(crate) fn settle(mut self) -> (BTreeMap<Damage, u64>, Vec<Finding>) {
        let strayed: Vec<(Place, u64)> = self
            .kept
            .iter()
            .filter(|kept| kept.finding.damage == Damage::MisdirectedWrite)
            .filter_map(|kept| kept.elsewhere)
            .collect();
        let before = self.kept.len();
        self.kept.retain(|kept| {
            let of_it = |(place, version): &(Place, u64)| {
                let is_expected = kept.finding.expected.is_some_and(|[_, issued]| *version <= issued);
                kept.place == Some(*place)
                    && is_expected
                    && kept.finding.found.is_some_and(|found| found < *version)
            };
            kept.finding.damage != Damage::LostWrite || !strayed.iter().any(of_it)
        });
        let merged = (before - self.kept.len()) as u64;
        if let Some(lost) = self.counts.get_mut(&Damage::LostWrite) {
            *lost -= merged;
        }
        self.counts.retain(|_, count| *count > 0);
        let findings = self.kept.into_iter().take(FINDINGS_MAX).map(|kept| kept.finding).collect();
        (self.counts, findings)
    }
}

fn finding(damage: Damage, spot: Spot, detail: String) -> Finding {
    let Spot { path, offset, page, bytes, at_ns } = spot;
    let at_s = at_ns as f64 / 1e9;
    let (expected, found, written_ns, recovered, view) = (None, None, None, false, Vec::new());
    Finding { damage, path, offset, page, bytes, at_s, expected, found, written_ns, recovered, detail, view }
}

fn detail(found: &Found<'_>) -> String {
    match found.sight {
        Sight::NotRead(sectors) | Sight::Torn(sectors) | Sight::MayBeTorn(sectors) => {
            format!("sectors {}", map(sectors))
        }
        Sight::Corrupt { bits, .. } if bits.is_empty() => {
            "the file was extended here, so prony expected only zeros".to_owned()
        }
        Sight::Corrupt { bits, version } => corrupt(bits, *version),
        Sight::Elsewhere { .. } => found.other.clone().unwrap_or_default(),
        Sight::Old(version) if found.expected.zero => {
            format!(
                "version {version} was cut off when the file shrank, but it reappeared when the file grew"
            )
        }
        Sight::Old(version) => {
            format!("version {version}, although version {} was acknowledged", found.expected.floor)
        }
        Sight::Never(version) => {
            format!("version {version}, although the last version sent was {}", found.expected.issued)
        }
        Sight::Zero | Sight::OtherRun | Sight::Right(_) => found.damage.meaning().to_owned(),
    }
}

fn corrupt(bits: &[usize], version: u64) -> String {
    let told: Vec<String> =
        bits.iter().take(BITS_TOLD_MAX).map(|bit| format!("{} of byte {}", bit % 8, bit / 8)).collect();
    let more = if bits.len() > BITS_TOLD_MAX { " and others" } else { "" };
    let are = if bits.len() == 1 { "bit differs" } else { "bits differ" };
    format!("{} {are} from version {version}: bit {}{more}", bits.len(), told.join(", "))
}

/// The sectors in which a page is not what it should be: as they are, and as they should be. What is not ours is never shown.
fn view(found: &Found<'_>) -> Vec<String> {
    let Expected { place, issued, zero, .. } = found.expected;
    let version = match found.sight {
        Sight::Corrupt { version, .. } => *version,
        _ => issued,
    };
    let blank = vec![0; found.block.len()];
    let like = |block: &[u8]| page::expected(block, place, version);
    let mut wanted = if zero { blank.clone() } else { like(found.block) };
    // What only the writer knew is taken from the page, unless that is not ours.
    if !zero && bits_between(sector(found.block, 0), sector(&wanted, 0)) > DAMAGED_BITS_MAX {
        wanted = like(&blank);
    }
    // A page of this run that belongs elsewhere is as much ours.
    let own = match found.sight {
        Sight::Elsewhere { place, .. } => *place,
        _ => place,
    };
    let sectors = page::sectors(found.block, own);
    let differing: Vec<usize> =
        (0..sectors.len()).filter(|&number| sector(found.block, number) != sector(&wanted, number)).collect();
    let mut lines = Vec::new();
    for &number in differing.iter().take(SECTORS_SHOWN_MAX) {
        let (is, should) = (sector(found.block, number), sector(&wanted, number));
        lines.push(format!(
            "sector {number} (bytes {}-{}) as it is:",
            number * SECTOR,
            (number + 1) * SECTOR - 1
        ));
        match sectors[number] {
            Sector::Zero => lines.push("  512 zeros".to_owned()),
            Sector::NotRead => lines.push("  not read".to_owned()),
            Sector::Other if bits_between(is, should) > DAMAGED_BITS_MAX => {
                lines.push("  512 bytes that this run did not write (not shown)".to_owned());
            }
            Sector::Version(_) | Sector::Other => lines.extend(hexadecimal(is, number * SECTOR)),
        }
        lines.push(format!("sector {number} as it should be:"));
        lines.extend(hexadecimal(should, number * SECTOR));
    }
    if differing.len() > SECTORS_SHOWN_MAX {
        lines.push(format!("{} more sectors differ", differing.len() - SECTORS_SHOWN_MAX));
    }
    lines
}

fn sector(block: &[u8], number: usize) -> &[u8] {
    &block[number * SECTOR..(number + 1) * SECTOR]
}

fn bits_between(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones() as usize).sum()
}

fn hexadecimal(bytes: &[u8], at: usize) -> impl Iterator<Item = String> {
    bytes.chunks(32).enumerate().map(move |(row, bytes)| {
        let digits: Vec<String> =
            bytes.chunks(4).map(|word| word.iter().map(|byte| format!("{byte:02x}")).collect()).collect();
        format!("  {:05x}  {}", at + row * 32, digits.join(" "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::page::{Header, compose};
    use crate::verify::sight::see;

    fn place(page: u64) -> Place {
        Place { run: 9, file: 0, page }
    }

    fn page_of(page: u64, version: u64) -> Vec<u8> {
        let mut block = vec![0; 2048];
        let header =
            Header { place: place(page), version, job: 0, sequence: 5, wall_ns: 1_000, page_bytes: 2048 };
        compose(&mut block, &header);
        block
    }

    fn spot(page: u64) -> Spot {
        Spot { path: "/data/file".to_owned(), offset: page * 2048, page, bytes: 2048, at_ns: 1_500_000_000 }
    }

    fn note(evidence: &mut Evidence, page: u64, block: &[u8], damage: Damage, issued: u64) {
        let expected =
            Expected { place: place(page), floor: issued, issued, zero: false, may_be_torn: false };
        let sight = see(block, &expected);
        let other = Some("page 7 was written here".to_owned());
        evidence.page(spot(page), &Found { damage, block, expected, sight: &sight, recovered: false, other });
    }

    #[test]
    fn a_strayed_write_is_one_fault_told_where_it_went() {
        let mut evidence = Evidence::default();
        note(&mut evidence, 7, &page_of(7, 2), Damage::LostWrite, 3);
        note(&mut evidence, 8, &page_of(7, 3), Damage::MisdirectedWrite, 5);
        note(&mut evidence, 9, &page_of(9, 1), Damage::LostWrite, 2);
        let (counts, findings) = evidence.settle();
        assert_eq!(counts, BTreeMap::from([(Damage::MisdirectedWrite, 1), (Damage::LostWrite, 1)]));
        let told: Vec<_> =
            findings.iter().map(|finding| (finding.damage, finding.page, finding.found)).collect();
        assert_eq!(told, [(Damage::MisdirectedWrite, 8, Some(3)), (Damage::LostWrite, 9, Some(1))]);
    }

    #[test]
    fn a_flipped_bit_is_shown_and_what_others_wrote_is_not() {
        let mut evidence = Evidence::default();
        let mut flipped = page_of(3, 1);
        flipped[600] ^= 4;
        note(&mut evidence, 3, &flipped, Damage::Corrupt, 1);
        let mut foreign = page_of(4, 1);
        foreign[512..1024].copy_from_slice(&b"secrets ".repeat(64));
        note(&mut evidence, 4, &foreign, Damage::Corrupt, 1);
        let (_, findings) = evidence.settle();
        assert_eq!(findings[0].detail, "1 bit differs from version 1: bit 2 of byte 600");
        assert_eq!(findings[0].view.len(), 2 + 2 * 16, "one sector, as it is and as it should be");
        let view = findings[1].view.join("\n");
        assert!(view.contains("did not write (not shown)"), "{view}");
        assert!(!view.contains("73656372"), "no word of somebody else's: {view}");
        assert_eq!(view.matches("as it is").count(), 1, "{view}");
    }

    #[test]
    fn all_are_counted_and_the_first_are_kept() {
        let mut evidence = Evidence::default();
        for _ in 0..1_000 {
            evidence.io(Damage::Failed, spot(0), "EIO".to_owned());
        }
        let (counts, findings) = evidence.settle();
        assert_eq!((counts[&Damage::Failed], findings.len()), (1_000, FINDINGS_MAX));
    }
}
