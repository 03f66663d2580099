//! Where a PLC is, and what is polled of it: `HOST[:PORT][/UNIT][?first=NUMBER][&registers=holding|input]`.

use std::fmt;

/// Port of Modbus TCP where an address has none.
const PORT: u16 = 502;

/// Unit of a PLC that is behind no gateway (Modbus Messaging on TCP/IP 1.0b, 4.4.2.1).
const UNIT: u8 = 255;

/// A PLC, and the registers that are polled of it. It is displayed as `HOST:PORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlcAddress {
    /// A name or an address, IPv6 without its brackets.
    pub(super) host: String,
    pub(super) port: u16,
    /// The unit behind a gateway. A PLC of its own mostly takes any.
    pub(super) unit: u8,
    /// The first register.
    pub(crate) first: u16,
    pub(super) registers: Registers,
}

/// Which registers are polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registers {
    /// Holding registers.
    Holding,
    /// Input registers.
    Input,
}

impl Registers {
    /// Those that a PLC may have in their place.
    pub(super) fn other(self) -> Self {
        match self {
            Self::Holding => Self::Input,
            Self::Input => Self::Holding,
        }
    }
}

impl fmt::Display for Registers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Holding => "holding",
            Self::Input => "input",
        })
    }
}

impl PlcAddress {
    /// Reads an address without `modbus://`.
    ///
    /// # Errors
    /// What is wrong with it, and what to give.
    pub(crate) fn of(given: &str) -> Result<Self, String> {
        let (place, options) = match given.split_once('?') {
            Some((place, options)) => (place, Some(options)),
            None => (given, None),
        };
        let (place, unit) = match place.split_once('/') {
            Some((place, unit)) => (place, Some(unit)),
            None => (place, None),
        };
        let (host, port) = host_and_port(place).ok_or("use HOST[:PORT][/UNIT], such as 10.0.0.7:502/3")?;
        let unit = match unit {
            None | Some("") => UNIT,
            Some(unit) => {
                unit.parse().map_err(|_| format!("unit `{unit}` must be a number from 0 to 255"))?
            }
        };
        let mut address = Self { host, port, unit, first: 0, registers: Registers::Holding };
        for option in options.into_iter().flat_map(|options| options.split('&')) {
            match option.split_once('=') {
                Some(("first", first)) => {
                    address.first = first
                        .parse()
                        .map_err(|_| format!("first register `{first}` must be a number from 0 to 65535"))?;
                }
                Some(("registers", "holding")) => address.registers = Registers::Holding,
                Some(("registers", "input")) => address.registers = Registers::Input,
                _ => return Err(format!("unknown option `{option}`; give first=NUMBER or registers=input")),
            }
        }
        Ok(address)
    }
}

fn host_and_port(given: &str) -> Option<(String, u16)> {
    let (host, port) = if let Some(bracketed) = given.strip_prefix('[') {
        match bracketed.split_once(']')? {
            (host, "") => (host, None),
            (host, port) => (host, Some(port.strip_prefix(':')?)),
        }
    } else {
        match given.split_once(':') {
            // A second colon makes it an IPv6 address without brackets, which cannot have a port.
            Some((host, port)) if !port.contains(':') => (host, Some(port)),
            _ => (given, None),
        }
    };
    let port = match port {
        Some(port) => port.parse().ok().filter(|port| *port != 0)?,
        None => PORT,
    };
    let is_host = !host.is_empty() && !host.contains(|letter: char| letter.is_whitespace() || letter == '@');
    is_host.then(|| (host.to_owned(), port))
}

impl fmt::Display for PlcAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_port_502_if_they_have_none() {
        for (given, expected) in [
            ("plc7", "plc7:502"),
            ("10.0.0.7", "10.0.0.7:502"),
            ("10.0.0.7:5020", "10.0.0.7:5020"),
            ("[::1]:5020", "[::1]:5020"),
            ("[::1]", "[::1]:502"),
            ("fe80::7", "[fe80::7]:502"),
        ] {
            let address = PlcAddress::of(given).unwrap();
            assert_eq!(address.to_string(), expected, "{given}");
            assert_eq!(
                (address.unit, address.first, address.registers),
                (255, 0, Registers::Holding),
                "{given}"
            );
        }
        for wrong in [
            "",
            ":502",
            "plc:",
            "plc:0",
            "plc:x",
            "plc:65536",
            "[::1",
            "[::1]x",
            "[]:5",
            "a b",
            "u@plc",
            "/3",
        ] {
            assert!(PlcAddress::of(wrong).unwrap_err().contains("HOST[:PORT][/UNIT]"), "{wrong}");
        }
    }

    /// The unit was always 255 and the first register always 0, so that devices behind a gateway could not be polled.
    #[test]
    fn a_unit_and_registers_can_be_given() {
        let read = |given: &str| {
            PlcAddress::of(given)
                .map(|address| (address.to_string(), address.unit, address.first, address.registers))
        };
        let at = |unit, first, registers| Ok(("plc:5020".to_owned(), unit, first, registers));
        assert_eq!(read("plc:5020/3"), at(3, 0, Registers::Holding));
        assert_eq!(read("plc:5020/0?first=100"), at(0, 100, Registers::Holding));
        assert_eq!(read("plc:5020/3?first=100&registers=input"), at(3, 100, Registers::Input));
        assert_eq!(read("plc:5020?registers=holding"), at(255, 0, Registers::Holding));
        for (wrong, problem) in [
            ("plc/256", "unit `256`"),
            ("plc/x", "unit `x`"),
            ("plc/3/4", "unit `3/4`"),
            ("plc?first=65536", "first register `65536`"),
            ("plc?unit=3", "unknown option `unit=3`"),
            ("plc?registers=coils", "unknown option"),
        ] {
            assert!(PlcAddress::of(wrong).unwrap_err().contains(problem), "{wrong}");
        }
    }
}
