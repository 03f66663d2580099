//! Polls a PLC over Modbus TCP: reads its holding registers and finds those that have changed.
//!
//! One connection, one request at a time, at most 125 registers each, from address 0 on. When to poll and when to try
//! again after a failure is the caller's affair; what was read before a failure is kept, so that afterwards only what
//! has changed meanwhile is a change.

use std::io;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_modbus::client::{Client, Context, tcp};
use tokio_modbus::{ExceptionCode, Request, Response, Slave};

use crate::plc::{READ_REGISTERS_MAX, REGISTERS_MAX};

/// Port of Modbus TCP where an address has none.
pub const PORT: u16 = 502;

/// How long a PLC may take to connect, and to answer each request.
pub const TIME_LIMIT: Duration = Duration::from_secs(2);

/// Reads all registers of a PLC again and again.
pub struct Poller {
    address: Address,
    unit: u8,
    /// `None` after a failure, when an answer may still be on its way that belongs to no request.
    context: Option<Context>,
    registers: u32,
    current: Vec<u16>,
    /// Empty before the second poll.
    previous: Vec<u16>,
    /// Filled by the poll that goes on, so that a failure leaves nothing half read behind.
    reading: Vec<u16>,
}

/// Why a PLC cannot be polled. [`Self::is_worth_retrying`] tells whether waiting may help.
#[derive(Debug, thiserror::Error)]
pub enum PollError {
    /// The address is none.
    #[error("`{given}` is no address of a PLC: give a host or HOST:PORT, such as 10.0.0.7:502")]
    Address {
        /// What was given.
        given: String,
    },
    /// No PLC has that many registers.
    #[error("a PLC cannot have {given} registers: give 1 to 65536, which is what a Modbus address can name")]
    Registers {
        /// What was asked for.
        given: u32,
    },
    /// There is no connection.
    #[error("cannot connect to the PLC {address}: {source}; is it on, and does it serve Modbus TCP?")]
    Unreachable {
        /// Host and port.
        address: String,
        /// Why it failed.
        source: io::Error,
    },
    /// It does not answer.
    #[error("the PLC {address} did not {action} within {limit_s} s", limit_s = TIME_LIMIT.as_secs())]
    TooSlow {
        /// Host and port.
        address: String,
        /// What it did not do.
        action: String,
    },
    /// The connection is gone, or what came over it cannot be understood.
    #[error("the connection to the PLC {address} was lost: {reason}")]
    Lost {
        /// Host and port.
        address: String,
        /// What happened.
        reason: String,
    },
    /// It answers that it cannot do what was asked.
    #[error("the PLC {address} refuses registers {first} to {last}: {exception}; {remedy}", remedy = remedy(*exception))]
    Refused {
        /// Host and port.
        address: String,
        /// First register of the request.
        first: u32,
        /// Last register of the request.
        last: u32,
        /// Its answer.
        exception: ExceptionCode,
    },
    /// It answers with another number of registers than it was asked for.
    #[error("the PLC {address} was asked for {asked} registers from {first} on and answered with {answered}")]
    Incomplete {
        /// Host and port.
        address: String,
        /// First register of the request.
        first: u32,
        /// Registers that were asked for.
        asked: u16,
        /// Registers that came.
        answered: usize,
    },
}

impl Poller {
    /// Connects to a PLC at `HOST` or `HOST:PORT`; nothing is read yet. `unit` is the unit behind a gateway; a PLC of
    /// its own mostly takes any (255 by the specification).
    ///
    /// # Errors
    /// The address or the number of registers is none, or there is no connection within 2 s.
    pub async fn connect(address: &str, registers: u32, unit: u8) -> Result<Self, PollError> {
        if !(1..=REGISTERS_MAX).contains(&registers) {
            return Err(PollError::Registers { given: registers });
        }
        let address = Address::of(address).ok_or_else(|| PollError::Address { given: address.to_owned() })?;
        let context = None;
        let [current, previous, reading] = [(); 3].map(|()| Vec::with_capacity(registers as usize));
        let mut poller = Self { address, unit, context, registers, current, previous, reading };
        poller.reconnect().await?;
        Ok(poller)
    }

    /// Connects again after a failure. What was read last is kept.
    ///
    /// # Errors
    /// There is no connection within 2 s.
    pub async fn reconnect(&mut self) -> Result<(), PollError> {
        self.context = None;
        let connected =
            timeout(TIME_LIMIT, TcpStream::connect((self.address.host.as_str(), self.address.port))).await;
        let address = self.address.to_string();
        let stream = connected
            .map_err(|_| PollError::TooSlow {
                address: address.clone(),
                action: "accept a connection".to_owned(),
            })?
            .map_err(|source| PollError::Unreachable { address, source })?;
        // A small request shall not wait for another one. Without it, it is only slower.
        let _ = stream.set_nodelay(true);
        self.context = Some(tcp::attach_slave(stream, Slave(self.unit)));
        Ok(())
    }

    /// Reads all registers and returns their values, by address from 0 on.
    ///
    /// # Errors
    /// The PLC is gone, silent or refuses. Then the values read before stay the last ones, and unless it refused, the
    /// next poll fails until [`Self::reconnect`].
    pub async fn poll(&mut self) -> Result<&[u16], PollError> {
        self.reading.clear();
        for first in (0..self.registers).step_by(usize::from(READ_REGISTERS_MAX)) {
            let count = (self.registers - first).min(u32::from(READ_REGISTERS_MAX)) as u16;
            let words = self.read(first, count).await?;
            self.reading.extend(words);
        }
        std::mem::swap(&mut self.previous, &mut self.current);
        std::mem::swap(&mut self.current, &mut self.reading);
        Ok(&self.current)
    }

    /// Registers, with their values, that the last successful poll found changed since the successful one before it.
    /// After the first these are all; before it there are none.
    pub fn changes(&self) -> impl Iterator<Item = (u32, u16)> + '_ {
        let before = |register: usize| self.previous.get(register);
        let all = self.current.iter().enumerate();
        all.filter(move |(register, value)| before(*register) != Some(value))
            .map(|(register, value)| (register as u32, *value))
    }

    /// Where the PLC is, as `HOST:PORT`.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    async fn read(&mut self, first: u32, count: u16) -> Result<Vec<u16>, PollError> {
        let address = self.address.to_string();
        let last = first + u32::from(count) - 1;
        // Taken out, so that it is gone if the caller gives this poll up half way: the answer that is then on its way
        // would be taken for that of the next request.
        let Some(mut context) = self.context.take() else {
            return Err(PollError::Lost { address, reason: "it was not connected again".to_owned() });
        };
        let answer =
            timeout(TIME_LIMIT, context.call(Request::ReadHoldingRegisters(first as u16, count))).await;
        let action = || format!("answer a request for registers {first} to {last}");
        let response = match answer {
            Err(_) => return Err(PollError::TooSlow { address, action: action() }),
            Ok(Err(error)) => return Err(PollError::Lost { address, reason: reason(&error) }),
            Ok(Ok(response)) => response,
        };
        // What was answered in form leaves the connection as good as it was.
        self.context = Some(context);
        match response {
            Ok(Response::ReadHoldingRegisters(words)) if words.len() == usize::from(count) => Ok(words),
            Ok(Response::ReadHoldingRegisters(words)) => {
                Err(PollError::Incomplete { address, first, asked: count, answered: words.len() })
            }
            Ok(_) => Err(PollError::Lost { address, reason: "it answered another request".to_owned() }),
            Err(exception) => Err(PollError::Refused { address, first, last, exception }),
        }
    }
}

impl std::fmt::Debug for Poller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { address, unit, registers, .. } = self;
        let is_connected = self.context.is_some();
        write!(f, "Poller({registers} registers of unit {unit} at {address}, connected: {is_connected})")
    }
}

impl PollError {
    /// Whether the same may succeed later, after [`Poller::reconnect`]. If not, the address or the number of registers
    /// is wrong and stays so.
    pub fn is_worth_retrying(&self) -> bool {
        match self {
            Self::Address { .. } | Self::Registers { .. } | Self::Incomplete { .. } => false,
            Self::Unreachable { .. } | Self::TooSlow { .. } | Self::Lost { .. } => true,
            Self::Refused { exception, .. } => !matches!(
                exception,
                ExceptionCode::IllegalFunction
                    | ExceptionCode::IllegalDataAddress
                    | ExceptionCode::IllegalDataValue
            ),
        }
    }
}

/// Host and port of a PLC.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Address {
    /// A name or an address, IPv6 without its brackets.
    host: String,
    port: u16,
}

impl Address {
    fn of(given: &str) -> Option<Self> {
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
        let is_host = !host.is_empty()
            && !host.contains(|letter: char| letter.is_whitespace() || "/@".contains(letter));
        is_host.then(|| Self { host: host.to_owned(), port })
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

/// The library says of a closed connection only what the last failed system call was, if there was one.
fn reason(error: &tokio_modbus::Error) -> String {
    match error {
        tokio_modbus::Error::Transport(error) if matches!(error.raw_os_error(), Some(0 | 11)) => {
            "it was closed by the PLC".to_owned()
        }
        tokio_modbus::Error::Transport(_) | tokio_modbus::Error::Protocol(_) => error.to_string(),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "kinds of errors of others, of which the rest are alike")]
fn remedy(exception: ExceptionCode) -> &'static str {
    match exception {
        ExceptionCode::IllegalFunction => "it has no holding registers to read",
        ExceptionCode::IllegalDataAddress => "poll fewer registers",
        ExceptionCode::IllegalDataValue => "it does not let so many be read at once",
        ExceptionCode::GatewayPathUnavailable | ExceptionCode::GatewayTargetDevice => {
            "the gateway does not reach the unit"
        }
        _ => "it may be able to later",
    }
}

#[cfg(test)]
mod tests;
