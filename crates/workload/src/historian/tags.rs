//! Names of made-up tags, as a plant would have them: `PLANT1.BOILER1.FT101.PV`.
//!
//! Plant, unit, instrument by the letters of ANSI/ISA-5.1 with the number of its loop, and what of the instrument is
//! meant. Length and shared beginnings are those of real names, which is what a database stores and compares.

/// Units that a plant has, each several times.
const UNITS: [&str; 10] =
    ["BOILER", "TURBINE", "REACTOR", "COLUMN", "TANK", "PUMP", "COMPRESSOR", "COOLER", "DRYER", "MIXER"];

/// Units of one kind in a plant.
const UNITS_OF_A_KIND: u32 = 8;

/// Loops of a unit, numbered from 101.
const LOOPS: u32 = 50;

/// Points of a loop: the instrument's letters and its attribute.
///
/// F, T, P, L, A and S are flow, temperature, pressure, level, analysis and speed; T is a transmitter, IC an indicating
/// controller, V a valve, Z a position. PV, SP and OP are measured value, set point and output.
const POINTS: [(&str, &str); 20] = [
    ("FT", "PV"),
    ("TT", "PV"),
    ("PT", "PV"),
    ("LT", "PV"),
    ("AT", "PV"),
    ("ST", "PV"),
    ("FIC", "PV"),
    ("FIC", "SP"),
    ("FIC", "OP"),
    ("TIC", "PV"),
    ("TIC", "SP"),
    ("TIC", "OP"),
    ("PIC", "PV"),
    ("PIC", "SP"),
    ("PIC", "OP"),
    ("LIC", "PV"),
    ("LIC", "SP"),
    ("LIC", "OP"),
    ("FV", "POS"),
    ("SV", "STATE"),
];

/// Name of the tag `index`. Each index has another name, and always the same one.
pub fn name(index: u32) -> String {
    let (rest, point) = (index / POINTS.len() as u32, index as usize % POINTS.len());
    let (rest, number) = (rest / LOOPS, 101 + rest % LOOPS);
    let (rest, unit) = (rest / UNITS.len() as u32, UNITS[rest as usize % UNITS.len()]);
    let (plant, of_kind) = (1 + rest / UNITS_OF_A_KIND, 1 + rest % UNITS_OF_A_KIND);
    let (letters, attribute) = POINTS[point];
    format!("PLANT{plant}.{unit}{of_kind}.{letters}{number}.{attribute}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The index that has this name, found by reading the name; `None` if it has not the form of one.
    fn index_of(name: &str) -> Option<u32> {
        let parts: Vec<&str> = name.split('.').collect();
        let [plant, unit, instrument, attribute] = parts[..] else { return None };
        let plant: u32 = plant.strip_prefix("PLANT")?.parse().ok()?;
        let (unit, of_kind) = split_number(unit)?;
        let (letters, number) = split_number(instrument)?;
        let unit = UNITS.iter().position(|one| *one == unit)? as u32;
        let point = POINTS.iter().position(|one| *one == (letters, attribute))? as u32;
        let units = (plant - 1) * UNITS_OF_A_KIND + (of_kind - 1);
        let loops = (units * UNITS.len() as u32 + unit) * LOOPS + (number - 101);
        loops.checked_mul(POINTS.len() as u32)?.checked_add(point)
    }

    fn split_number(part: &str) -> Option<(&str, u32)> {
        let digits = part.find(|letter: char| letter.is_ascii_digit())?;
        Some((&part[..digits], part[digits..].parse().ok()?))
    }

    #[test]
    fn first_names_are_those_of_one_plant() {
        let names: Vec<String> = [0, 1, 7, 20, 1_000, 4_999, 80_000].map(name).into();
        assert_eq!(
            names,
            [
                "PLANT1.BOILER1.FT101.PV",
                "PLANT1.BOILER1.TT101.PV",
                "PLANT1.BOILER1.FIC101.SP",
                "PLANT1.BOILER1.FT102.PV",
                "PLANT1.TURBINE1.FT101.PV",
                "PLANT1.TANK1.SV150.STATE",
                "PLANT2.BOILER1.FT101.PV",
            ]
        );
    }

    proptest! {
        // An index that can be read from its name is the only one that has it.
        #[test]
        fn each_index_has_a_name_of_its_own(index: u32) {
            let name = name(index);
            prop_assert_eq!(index_of(&name), Some(index), "{}", name);
            prop_assert!(name.len() <= 40 && name.is_ascii(), "{}", name);
        }
    }
}
