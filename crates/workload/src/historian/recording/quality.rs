//! What the numbers and words of a column of qualities mean, which differs from program to program.

use serde::{Deserialize, Serialize};

use crate::historian::parameter;

/// Quality of a value by the numbers of OPC (OPC DA 3.0, 6.8: the two upper bits).
pub(super) const GOOD: u8 = 192;
pub(super) const UNCERTAIN: u8 = 64;
pub(super) const BAD: u8 = 0;

/// What qualities mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Qualities {
    /// OPC DA, 0 to 255: from 192 good, 64 to 191 uncertain, the rest bad.
    Opc,
    /// Status codes of OPC UA with 32 bits: 0 is good.
    OpcUa,
    /// A flag: 1, true or valid is good; 0, false or invalid is bad.
    Flag,
    /// An error number: 0 is good, all others are bad.
    Error,
}

/// A quality that was understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quality {
    /// By the numbers of OPC.
    pub(super) of_opc: u8,
    /// Whether it is a number whose meaning nobody gave.
    pub(super) is_guessed: bool,
}

/// Reads a quality, by what the user says of them. None where it is no quality.
pub(super) fn of(text: &[u8], meaning: Option<Qualities>) -> Option<Quality> {
    let words: [(&[u8], u8); 4] = [(b"", GOOD), (b"good", GOOD), (b"uncertain", UNCERTAIN), (b"bad", BAD)];
    let word = words.iter().find(|(word, _)| text.eq_ignore_ascii_case(word));
    if let Some((_, of_opc)) = word {
        return Some(Quality { of_opc: *of_opc, is_guessed: false });
    }
    let text = std::str::from_utf8(text).ok()?;
    let good = |is_good: bool| if is_good { GOOD } else { BAD };
    let of_opc = match meaning {
        None | Some(Qualities::Opc) => text.parse().ok()?,
        Some(Qualities::OpcUa) => of_status_code(text)?,
        Some(Qualities::Flag) => match text.to_ascii_lowercase().as_str() {
            "1" | "true" | "valid" | "yes" | "ok" => GOOD,
            "0" | "false" | "invalid" | "no" => BAD,
            _ => return None,
        },
        Some(Qualities::Error) => good(text.parse::<i64>().ok()? == 0),
    };
    Some(Quality { of_opc, is_guessed: meaning.is_none() })
}

/// The two upper bits of a status code (OPC UA part 4, 7.39), decimal or hexadecimal; some programs write it with a sign.
fn of_status_code(text: &str) -> Option<u8> {
    let code = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => match text.parse::<i64>().ok()? {
            code if code < 0 => i32::try_from(code).ok()? as u32,
            code => u32::try_from(code).ok()?,
        },
    };
    Some(match code >> 30 {
        0 => GOOD,
        1 => UNCERTAIN,
        _ => BAD,
    })
}

/// Why numbers of which none is good by OPC are not taken for OPC's, with the remedy.
pub(super) fn readings(number: u8) -> String {
    let of_opc = if number < UNCERTAIN { "bad" } else { "uncertain" };
    let flag = match number {
        0 => ", or bad as a flag",
        1 => ", or good as a flag",
        _ => "",
    };
    let error = if number == 0 { "good" } else { "bad" };
    let [opc, ua, as_flag, as_error] =
        ["opc", "opc-ua", "flag", "error"].map(|value| parameter("quality").of(value).to_string());
    format!(
        "this quality is {of_opc} as OPC DA{flag}, {error} as an error number, or good as an OPC UA status code. No line has a good \
        OPC DA value, 192 or more. Give the kind with {opc}, {as_flag}, {as_error} or {ua}"
    )
}

/// What to give in place of a quality that is none.
pub(super) fn remedy(meaning: Option<Qualities>) -> String {
    let words = "good, uncertain or bad, or nothing";
    match meaning {
        None => format!(
            "give a quality from 0 to 255, or {words}; for numbers and flags of other programs, specify their meaning with {}",
            parameter("quality")
        ),
        Some(Qualities::Opc) => format!("give a quality from 0 to 255, or {words}"),
        Some(Qualities::OpcUa) => format!("give a status code of OPC UA, or {words}"),
        Some(Qualities::Flag) => format!("give 1 or 0, true or false, valid or invalid, or {words}"),
        Some(Qualities::Error) => format!("give the number of an error, or {words}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_program_has_its_own_numbers() {
        let read = |text: &str, meaning| of(text.as_bytes(), meaning).map(|quality| quality.of_opc);
        for (text, opc, ua, flag, error) in [
            ("", Some(192), Some(192), Some(192), Some(192)),
            ("BAD", Some(0), Some(0), Some(0), Some(0)),
            ("0", Some(0), Some(192), Some(0), Some(192)),
            ("1", Some(1), Some(192), Some(192), Some(0)),
            ("192", Some(192), Some(192), None, Some(0)),
            ("2147483648", None, Some(0), None, Some(0)),
            ("0x40000000", None, Some(64), None, None),
            ("-2147483648", None, Some(0), None, Some(0)),
            ("valid", None, None, Some(192), None),
            ("False", None, None, Some(0), None),
            ("gut", None, None, None, None),
        ] {
            let found = [Qualities::Opc, Qualities::OpcUa, Qualities::Flag, Qualities::Error]
                .map(|meaning| read(text, Some(meaning)));
            assert_eq!(found, [opc, ua, flag, error], "{text}");
            assert_eq!(read(text, None), opc, "{text}");
        }
    }
}
