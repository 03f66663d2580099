//! Each class of damage, made by hand and by chance.

use super::*;
use crate::verify::page::{Header, SECTOR, compose, poison};
use proptest::prelude::*;

const RUN: u128 = 0xABCD << 64 | 17;

fn place(page: u64) -> Place {
    Place { run: RUN, file: 0, page }
}

fn page_of(place: Place, version: u64, sectors: usize) -> Vec<u8> {
    let mut block = vec![0; sectors * SECTOR];
    let header = Header {
        place,
        version,
        job: 2,
        sequence: 40 + version,
        wall_ns: version,
        page_bytes: block.len() as u32,
    };
    compose(&mut block, &header);
    block
}

fn at(floor: u64, issued: u64) -> Expected {
    Expected { place: place(5), floor, issued, zero: false, may_be_torn: false }
}

fn damage(block: &[u8], expected: &Expected) -> Option<Damage> {
    let sight = see(block, expected);
    judge(&sight, &[sight.clone(), sight.clone()])
}

#[test]
fn each_class_is_told_from_the_others() {
    let right = page_of(place(5), 7, 16);
    let mut torn = right.clone();
    torn[..4 * SECTOR].copy_from_slice(&page_of(place(5), 6, 16)[..4 * SECTOR]);
    let mut flipped = right.clone();
    flipped[1_234] ^= 0x10;
    let mut half = right.clone();
    poison(&mut half[8 * SECTOR..]);
    let other_run = page_of(Place { run: RUN + 1, ..place(5) }, 7, 16);
    let cases: [(&str, Vec<u8>, Option<Damage>); 9] = [
        ("as written", right, None),
        ("half of it", half, Some(Damage::NotRead)),
        ("zeros", vec![0; 16 * SECTOR], Some(Damage::Zero)),
        ("another run's", other_run, Some(Damage::OldData)),
        ("another page", page_of(place(6), 7, 16), Some(Damage::MisdirectedWrite)),
        ("two versions", torn, Some(Damage::Torn)),
        ("a bit", flipped, Some(Damage::Corrupt)),
        ("an older version", page_of(place(5), 6, 16), Some(Damage::LostWrite)),
        ("a version to come", page_of(place(5), 8, 16), Some(Damage::Phantom)),
    ];
    for (what, block, wanted) in cases {
        assert_eq!(damage(&block, &at(7, 7)), wanted, "{what}");
    }
}

#[test]
fn what_recovers_was_in_the_reading() {
    let (old, elsewhere) = (Sight::Old(3), Sight::Elsewhere { place: place(9), version: 1 });
    let right = Sight::Right(Some(4));
    assert_eq!(judge(&old, &[old.clone(), right.clone()]), Some(Damage::StaleRead));
    assert_eq!(judge(&old, &[old.clone(), old.clone()]), Some(Damage::LostWrite));
    assert_eq!(judge(&elsewhere, &[right]), Some(Damage::MisdirectedRead));
    assert_eq!(judge(&elsewhere, std::slice::from_ref(&elsewhere)), Some(Damage::MisdirectedWrite));
}

#[test]
fn a_torn_page_is_mapped_and_a_corrupt_one_names_its_bits() {
    let mut torn = page_of(place(5), 7, 8);
    torn[3 * SECTOR..5 * SECTOR].fill(0);
    let Sight::Torn(sectors) = see(&torn, &at(7, 7)) else { panic!("{:?}", see(&torn, &at(7, 7))) };
    assert_eq!(map(&sectors), "0-2 version 7, 3-4 zero, 5-7 version 7");
    let mut flipped = page_of(place(5), 7, 8);
    flipped[1_000] ^= 0x81;
    assert_eq!(see(&flipped, &at(7, 7)), Sight::Corrupt { bits: vec![8_000, 8_007], version: 7 });
    let mut stamp = page_of(place(5), 7, 8);
    stamp[2 * SECTOR - 8] ^= 1;
    assert_eq!(
        see(&stamp, &at(7, 7)),
        Sight::Corrupt { bits: vec![(2 * SECTOR - 8) * 8], version: 7 },
        "a flipped bit of a stamp makes no other version"
    );
}

#[test]
fn after_a_failed_write_both_versions_are_right_and_so_is_a_mixture() {
    let doubtful = Expected { may_be_torn: true, ..at(6, 7) };
    for version in [6, 7] {
        assert_eq!(damage(&page_of(place(5), version, 4), &doubtful), None);
    }
    let mut torn = page_of(place(5), 7, 4);
    torn[..SECTOR].copy_from_slice(&page_of(place(5), 6, 4)[..SECTOR]);
    assert_eq!(damage(&torn, &doubtful), None);
    assert_eq!(damage(&torn, &at(7, 7)), Some(Damage::Torn));
    torn[..SECTOR].copy_from_slice(&page_of(place(5), 5, 4)[..SECTOR]);
    assert_eq!(damage(&torn, &doubtful), Some(Damage::Torn), "but not with an older one");
}

#[test]
fn what_grew_is_zero() {
    let grown = Expected { zero: true, ..at(3, 3) };
    assert_eq!(damage(&vec![0; 2048], &grown), None);
    assert_eq!(
        damage(&page_of(place(5), 3, 4), &grown),
        Some(Damage::LostWrite),
        "what was cut off came back"
    );
    assert_eq!(damage(&page_of(place(8), 3, 4), &grown), Some(Damage::MisdirectedWrite));
    assert_eq!(damage(&vec![1; 2048], &grown), Some(Damage::Corrupt));
}

proptest! {
    #[test]
    fn no_foreign_page_passes_for_right(block in prop::collection::vec(any::<u8>(), 2048..=2048)) {
        prop_assert!(damage(&block, &at(1, 9)).is_some());
    }

    /// Any mixture of sectors of two versions is torn, whichever of them the header is of.
    #[test]
    fn any_mixture_is_torn(of_new in prop::collection::vec(any::<bool>(), 16..=16), old in 1u64..6) {
        let (newer, older) = (page_of(place(5), 7, 16), page_of(place(5), old, 16));
        let mut block = newer;
        for (number, _) in of_new.iter().enumerate().filter(|(_, is_new)| !**is_new) {
            let sector = number * SECTOR..(number + 1) * SECTOR;
            block[sector.clone()].copy_from_slice(&older[sector]);
        }
        let new_ones = of_new.iter().filter(|is_new| **is_new).count();
        let wanted = match new_ones {
            0 => Some(Damage::LostWrite),
            16 => None,
            _ => Some(Damage::Torn),
        };
        prop_assert_eq!(damage(&block, &at(7, 7)), wanted);
    }

    #[test]
    fn any_flipped_bit_is_corrupt(at_bit in any::<prop::sample::Index>()) {
        let mut block = page_of(place(5), 7, 16);
        let bit = at_bit.index(block.len() * 8);
        block[bit / 8] ^= 1 << (bit % 8);
        prop_assert_eq!(damage(&block, &at(7, 7)), Some(Damage::Corrupt));
    }
}
