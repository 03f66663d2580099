//! A page that can tell where it belongs, how often it was written, and whether it is whole.
//!
//! Little endian. The first [`HEADER_BYTES`] are the header; the last eight bytes of each sector are its stamp: the page's
//! version and the number of the sector, which map a page that is of several versions. Everything between is made again from run,
//! place and version alone, so that the bits that differ can be told of a page that is damaged.

use std::sync::OnceLock;

use crate::job::SECTOR_BYTES;
use crate::pattern::Random;

/// Length of the header.
pub(crate) const HEADER_BYTES: usize = 96;
/// Where what the header's own checksum covers ends.
const COVERED_BYTES: usize = 84;
/// Sector, as an index.
pub(crate) const SECTOR: usize = SECTOR_BYTES as usize;
/// Where a sector's stamp begins.
const STAMP_AT: usize = SECTOR - 8;
const MAGIC: u64 = u64::from_le_bytes(*b"pronypg\0");
const FORMAT: u16 = 1;
/// Versions are of so many bits in a stamp.
const STAMP_VERSION: u64 = (1 << 48) - 1;
/// What a sector's stamp is before it is read: a version that is never reached and the number of no sector.
const POISON: u64 = 0xFFFF_5EA1_ED00_DEAD;
/// Words of random bytes that payloads are made of.
const ARENA_WORDS: usize = 8_192;
const WORDS_OF_SECTOR: usize = SECTOR / 8;

/// Where a page belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// The run that wrote it.
    pub(crate) run: u128,
    /// Number of the file among those of the target.
    pub(crate) file: u32,
    /// Number of the page in its region.
    pub(crate) page: u64,
}

/// What the header of a page says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) place: Place,
    /// How often the page was written, from one.
    pub(crate) version: u64,
    /// The thread that wrote it, and the number of that write.
    pub(crate) job: u32,
    pub(crate) sequence: u64,
    /// When it was written, in nanoseconds since 1970.
    pub(crate) wall_ns: u64,
    pub(crate) page_bytes: u32,
}

/// What one sector holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sector {
    /// What this page had in this version.
    Version(u64),
    /// Nothing but zeros.
    Zero,
    /// What stood in memory before it was read.
    NotRead,
    /// Something else.
    Other,
}

/// Makes a whole page.
pub(crate) fn compose(block: &mut [u8], header: &Header) {
    debug_assert!(block.len().is_multiple_of(SECTOR) && block.len() == header.page_bytes as usize);
    let seed = payload_seed(header.place, header.version);
    for (number, sector) in block.chunks_exact_mut(SECTOR).enumerate() {
        fill_sector(sector, number, seed);
        sector[STAMP_AT..].copy_from_slice(&stamp(header.version, number).to_le_bytes());
    }
    write_header(block, header, seed);
}

fn write_header(block: &mut [u8], header: &Header, seed: u64) {
    let Header { place, version, job, sequence, wall_ns, page_bytes } = *header;
    block[0..8].copy_from_slice(&MAGIC.to_le_bytes());
    block[8..10].copy_from_slice(&FORMAT.to_le_bytes());
    block[10..12].copy_from_slice(&(HEADER_BYTES as u16).to_le_bytes());
    block[12..16].copy_from_slice(&page_bytes.to_le_bytes());
    block[16..32].copy_from_slice(&place.run.to_le_bytes());
    block[32..36].copy_from_slice(&place.file.to_le_bytes());
    block[36..40].copy_from_slice(&job.to_le_bytes());
    block[40..48].copy_from_slice(&place.page.to_le_bytes());
    block[48..56].copy_from_slice(&version.to_le_bytes());
    block[56..64].copy_from_slice(&sequence.to_le_bytes());
    block[64..72].copy_from_slice(&wall_ns.to_le_bytes());
    block[72..80].copy_from_slice(&seed.to_le_bytes());
    // The kind of the payload; there is one.
    block[80..84].copy_from_slice(&0u32.to_le_bytes());
    let of_header = crc_fast::crc32_iscsi(&block[..COVERED_BYTES]);
    block[84..88].copy_from_slice(&of_header.to_le_bytes());
    let of_page = crc_fast::crc64_nvme(&block[HEADER_BYTES..]);
    block[88..HEADER_BYTES].copy_from_slice(&of_page.to_le_bytes());
}

fn stamp(version: u64, sector: usize) -> u64 {
    (version & STAMP_VERSION) | (sector as u64) << 48
}

/// Two numbers from the place and version of a page, without a generator's state: what a page holds depends on nothing else.
fn payload_seed(place: Place, version: u64) -> u64 {
    let mut mixed = (place.run as u64) ^ (place.run >> 64) as u64;
    for part in [u64::from(place.file), place.page, version] {
        mixed = mix(mixed ^ part.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    }
    mixed
}

/// SplitMix64's finish. Source: S. Vigna, <https://prng.di.unimi.it/splitmix64.c>.
pub(crate) fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

/// Random words, the same in every run; each sector takes its own piece, mixed with its page's seed.
fn arena() -> &'static [u64] {
    static ARENA: OnceLock<Vec<u64>> = OnceLock::new();
    ARENA.get_or_init(|| {
        let mut random = Random::new(0x70_72_6f_6e_79, 2);
        (0..ARENA_WORDS + WORDS_OF_SECTOR).map(|_| random.next()).collect()
    })
}

fn fill_sector(sector: &mut [u8], number: usize, seed: u64) {
    let key = mix(seed ^ (number as u64) << 1 | 1);
    let begin = key as usize % ARENA_WORDS;
    let words = &arena()[begin..begin + WORDS_OF_SECTOR];
    for (bytes, word) in sector.chunks_exact_mut(8).zip(words) {
        bytes.copy_from_slice(&(word ^ key).to_le_bytes());
    }
}

/// Makes it known later which sectors of a block were not read.
#[inline]
pub(crate) fn poison(block: &mut [u8]) {
    for sector in block.chunks_exact_mut(SECTOR) {
        sector[STAMP_AT..].copy_from_slice(&POISON.to_le_bytes());
    }
}

/// The header of a page that is whole: as it was written, though perhaps not where and when it should have been.
#[inline]
pub(crate) fn whole(block: &[u8]) -> Option<Header> {
    let header = header(block)?;
    let of_page = u64::from_le_bytes(take(block, 88));
    (header.page_bytes as usize == block.len() && crc_fast::crc64_nvme(&block[HEADER_BYTES..]) == of_page)
        .then_some(header)
}

/// The header, if it is whole; nothing is said of the rest.
#[inline]
pub(crate) fn header(block: &[u8]) -> Option<Header> {
    let is_ours = u64::from_le_bytes(take(block, 0)) == MAGIC
        && u16::from_le_bytes(take(block, 8)) == FORMAT
        && crc_fast::crc32_iscsi(&block[..COVERED_BYTES]) == u32::from_le_bytes(take(block, 84));
    is_ours.then(|| Header {
        place: Place {
            run: u128::from_le_bytes(take(block, 16)),
            file: u32::from_le_bytes(take(block, 32)),
            page: u64::from_le_bytes(take(block, 40)),
        },
        version: u64::from_le_bytes(take(block, 48)),
        job: u32::from_le_bytes(take(block, 36)),
        sequence: u64::from_le_bytes(take(block, 56)),
        wall_ns: u64::from_le_bytes(take(block, 64)),
        page_bytes: u32::from_le_bytes(take(block, 12)),
    })
}

#[inline]
fn take<const BYTES: usize>(block: &[u8], at: usize) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    bytes.copy_from_slice(&block[at..at + BYTES]);
    bytes
}

/// What each sector of a page holds, judged by its content and not by its stamp alone.
pub(crate) fn sectors(block: &[u8], place: Place) -> Vec<Sector> {
    block.chunks_exact(SECTOR).enumerate().map(|(number, sector)| sector_at(sector, number, place)).collect()
}

fn sector_at(sector: &[u8], number: usize, place: Place) -> Sector {
    let stamped = u64::from_le_bytes(take(sector, STAMP_AT));
    if stamped == POISON {
        return Sector::NotRead;
    }
    if sector.iter().all(|&byte| byte == 0) {
        return Sector::Zero;
    }
    let version = stamped & STAMP_VERSION;
    let mut expected = [0; SECTOR];
    fill_sector(&mut expected, number, payload_seed(place, version));
    let from = if number == 0 { HEADER_BYTES } else { 0 };
    let is_version = stamped >> 48 == number as u64 && sector[from..STAMP_AT] == expected[from..STAMP_AT];
    // The first sector's header is a part of it.
    let has_header =
        || header(sector).is_some_and(|header| header.place == place && header.version == version);
    if is_version && (number != 0 || has_header()) { Sector::Version(version) } else { Sector::Other }
}

/// The bits in which a page differs from what it held in a version, without what only its writer knew: when, and as which write.
pub(crate) fn differing_bits(block: &[u8], place: Place, version: u64) -> Vec<usize> {
    let expected = expected(block, place, version);
    let differ = |(at, (found, wanted)): (usize, (&u8, &u8))| {
        let differs = found ^ wanted;
        (0..8).filter(move |bit| differs >> bit & 1 == 1).map(move |bit| at * 8 + bit)
    };
    block.iter().zip(&expected).enumerate().flat_map(differ).collect()
}

/// The page as it was in a version, with the writer's own fields as they were found.
pub(crate) fn expected(block: &[u8], place: Place, version: u64) -> Vec<u8> {
    let mut expected = vec![0; block.len()];
    let header = Header {
        place,
        version,
        job: u32::from_le_bytes(take(block, 36)),
        sequence: u64::from_le_bytes(take(block, 56)),
        wall_ns: u64::from_le_bytes(take(block, 64)),
        page_bytes: block.len() as u32,
    };
    compose(&mut expected, &header);
    expected
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn header_of(page: u64, version: u64, page_bytes: u32) -> Header {
        let place = Place { run: 7 << 70 | 5, file: 3, page };
        Header { place, version, job: 1, sequence: 99, wall_ns: 1_700_000_000_000_000_000, page_bytes }
    }

    fn page_of(header: &Header) -> Vec<u8> {
        let mut block = vec![0; header.page_bytes as usize];
        compose(&mut block, header);
        block
    }

    proptest! {
        #[test]
        fn a_page_is_read_back_as_it_was_written(page in 0u64..1 << 40, version in 1u64..1 << 32, sectors in 1u32..=128) {
            let header = header_of(page, version, sectors * 512);
            let block = page_of(&header);
            prop_assert_eq!(whole(&block), Some(header));
            prop_assert!(super::sectors(&block, header.place).iter().all(|sector| *sector == Sector::Version(version)));
            prop_assert_eq!(differing_bits(&block, header.place, version), Vec::<usize>::new());
        }

        #[test]
        fn any_flipped_bit_is_seen_and_told(version in 1u64..100, sectors in 1u32..=16, at in any::<prop::sample::Index>()) {
            let header = header_of(12, version, sectors * 512);
            let mut block = page_of(&header);
            let bit = at.index(block.len() * 8);
            block[bit / 8] ^= 1 << (bit % 8);
            prop_assert_eq!(whole(&block), None);
            // What only the writer knew cannot be made again.
            let writers_own = [36 * 8..40 * 8, 56 * 8..72 * 8].iter().any(|bits| bits.contains(&bit));
            let told = differing_bits(&block, header.place, version);
            if writers_own {
                prop_assert!(told.iter().all(|bit| (84 * 8..88 * 8).contains(bit)), "{told:?}");
            } else {
                prop_assert_eq!(told, vec![bit]);
            }
        }
    }

    #[test]
    fn no_two_sectors_are_alike() {
        let pages = (0..200).flat_map(|page| (1..4).map(move |version| (page, version)));
        let blocks: Vec<Vec<u8>> =
            pages.map(|(page, version)| page_of(&header_of(page, version, 8192))).collect();
        let sectors: HashSet<&[u8]> = blocks.iter().flat_map(|block| block.chunks(512)).collect();
        assert_eq!(sectors.len(), 200 * 3 * 16);
        let bytes = blocks.concat();
        let mut counts = [0.0f64; 256];
        bytes.iter().for_each(|&byte| counts[usize::from(byte)] += 1.0);
        let share = counts.map(|count| count / bytes.len() as f64);
        let entropy: f64 = share.iter().map(|share| -share * share.log2()).sum();
        assert!(entropy > 7.9, "{entropy} bits a byte: it would compress");
    }

    #[test]
    fn what_was_not_read_is_known_by_its_poison() {
        let header = header_of(1, 1, 2048);
        let mut block = page_of(&header);
        poison(&mut block[1024..]);
        assert_eq!(whole(&block), None);
        let found = sectors(&block, header.place);
        assert_eq!(found, [Sector::Version(1), Sector::Version(1), Sector::NotRead, Sector::NotRead]);
    }
}
