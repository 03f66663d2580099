//! What a page is that was read, and what is wrong with it: pure, so that all of it can be tried.

use record::Damage;

use super::page::{self, Place, Sector};

/// What a page may hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected {
    pub(crate) place: Place,
    /// Oldest and newest version that are right.
    pub(crate) floor: u64,
    pub(crate) issued: u64,
    /// Whether zeros are right, and nothing else.
    pub(crate) zero: bool,
    /// Whether a page of several of these versions is right: a write of it failed, or was in flight at a crash.
    pub(crate) may_be_torn: bool,
}

/// What is seen of one read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    /// What it should be; the version, if it has one.
    Right(Option<u64>),
    /// Several versions that may be there together.
    MayBeTorn(Vec<Sector>),
    /// Sectors that were not read.
    NotRead(Vec<Sector>),
    /// Nothing but zeros.
    Zero,
    /// A page of another run.
    OtherRun,
    /// A page of this run that belongs elsewhere.
    Elsewhere { place: Place, version: u64 },
    /// Sectors of several versions.
    Torn(Vec<Sector>),
    /// Not what was written: the bits in which it differs from the version it should be.
    Corrupt { bits: Vec<usize>, version: u64 },
    /// A version that was written over.
    Old(u64),
    /// A version that was never written.
    Never(u64),
}

/// Looks at a page. The order of the questions is one of evidence: what was not read says nothing of the rest.
pub(crate) fn see(block: &[u8], expected: &Expected) -> Sight {
    if expected.zero {
        return see_zero(block, expected);
    }
    let Expected { place, floor, issued, .. } = *expected;
    if let Some(header) = page::whole(block) {
        return match header.version {
            _ if header.place.run != place.run => Sight::OtherRun,
            version if header.place != place => Sight::Elsewhere { place: header.place, version },
            version if version < floor => Sight::Old(version),
            version if version > issued => Sight::Never(version),
            version => Sight::Right(Some(version)),
        };
    }
    see_broken(block, expected)
}

/// Of a page that must be zero.
fn see_zero(block: &[u8], expected: &Expected) -> Sight {
    if block.iter().all(|&byte| byte == 0) {
        return Sight::Right(None);
    }
    let sectors = page::sectors(block, expected.place);
    if sectors.contains(&Sector::NotRead) {
        return Sight::NotRead(sectors);
    }
    match page::header(block) {
        Some(header) if header.place.run != expected.place.run => Sight::OtherRun,
        Some(header) if header.place == expected.place => Sight::Old(header.version),
        Some(header) => Sight::Elsewhere { place: header.place, version: header.version },
        None => Sight::Corrupt { bits: Vec::new(), version: 0 },
    }
}

/// Of a page whose checksums do not hold.
fn see_broken(block: &[u8], expected: &Expected) -> Sight {
    let Expected { place, floor, issued, may_be_torn, .. } = *expected;
    let sectors = page::sectors(block, place);
    if sectors.contains(&Sector::NotRead) {
        return Sight::NotRead(sectors);
    }
    if sectors.iter().all(|sector| *sector == Sector::Zero) {
        return Sight::Zero;
    }
    // A whole header of another place or run, with a body that is damaged: where it came from is what counts.
    if let Some(header) = page::header(block).filter(|header| header.place != place) {
        let is_body_elsewhere =
            page::sectors(block, header.place).iter().all(|sector| *sector != Sector::Other);
        if header.place.run != place.run {
            return Sight::OtherRun;
        }
        if is_body_elsewhere {
            return Sight::Elsewhere { place: header.place, version: header.version };
        }
    }
    let mut kinds = sectors.clone();
    kinds.dedup();
    if kinds.len() > 1 && !sectors.contains(&Sector::Other) {
        let legal = |sector: &Sector| matches!(sector, Sector::Version(of) if (floor..=issued).contains(of));
        let is_legal = may_be_torn && sectors.iter().all(legal);
        return if is_legal { Sight::MayBeTorn(sectors) } else { Sight::Torn(sectors) };
    }
    let version = likeliest(&sectors, issued);
    Sight::Corrupt { bits: page::differing_bits(block, place, version), version }
}

/// The version that a damaged page was: the one of most of its sectors, else the last.
fn likeliest(sectors: &[Sector], issued: u64) -> u64 {
    let count = |version: u64| sectors.iter().filter(|sector| **sector == Sector::Version(version)).count();
    let versions = sectors.iter().filter_map(|sector| match sector {
        Sector::Version(version) => Some(*version),
        Sector::Zero | Sector::NotRead | Sector::Other => None,
    });
    versions.max_by_key(|&version| (count(version), version)).unwrap_or(issued)
}

/// What a first sight comes to, and those of the reads that followed directly: what lasts is on the medium, what recovers was in
/// the reading. None if nothing is wrong.
pub(crate) fn judge(first: &Sight, again: &[Sight]) -> Option<Damage> {
    let recovered = again.iter().any(|sight| matches!(sight, Sight::Right(_)));
    Some(match first {
        Sight::Right(_) | Sight::MayBeTorn(_) => return None,
        Sight::NotRead(_) => Damage::NotRead,
        Sight::Zero => Damage::Zero,
        Sight::OtherRun => Damage::OldData,
        Sight::Elsewhere { .. } if recovered => Damage::MisdirectedRead,
        Sight::Elsewhere { .. } => Damage::MisdirectedWrite,
        Sight::Torn(_) => Damage::Torn,
        Sight::Corrupt { .. } => Damage::Corrupt,
        Sight::Old(_) if recovered => Damage::StaleRead,
        Sight::Old(_) => Damage::LostWrite,
        Sight::Never(_) => Damage::Phantom,
    })
}

/// `0-3 version 7, 4-15 version 6`.
pub(crate) fn map(sectors: &[Sector]) -> String {
    let mut runs: Vec<(usize, usize, Sector)> = Vec::new();
    for (number, sector) in sectors.iter().enumerate() {
        match runs.last_mut() {
            Some((_, last, of)) if of == sector => *last = number,
            _ => runs.push((number, number, *sector)),
        }
    }
    let told = |(first, last, sector): &(usize, usize, Sector)| {
        let which = if first == last { first.to_string() } else { format!("{first}-{last}") };
        let what = match sector {
            Sector::Version(version) => format!("version {version}"),
            Sector::Zero => "zero".to_owned(),
            Sector::NotRead => "not read".to_owned(),
            Sector::Other => "something else".to_owned(),
        };
        format!("{which} {what}")
    };
    runs.iter().map(told).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
#[path = "sight_tests.rs"]
mod tests;
