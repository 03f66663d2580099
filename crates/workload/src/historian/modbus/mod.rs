//! Polls a PLC over Modbus TCP: reads its holding or input registers and finds those that have changed.
//!
//! One connection, one request at a time, at most 125 registers each, from the first register of its address on. When to poll and when to try
//! again after a failure is the caller's affair; what was read before a failure is kept, so that afterwards only what
//! has changed meanwhile is a change.

mod address;

use std::io;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_modbus::client::{Client, Context, tcp};
use tokio_modbus::{ExceptionCode, Request, Response, Slave};

pub use self::address::{PlcAddress, Registers};
use crate::historian::parameter;
use crate::plc::{READ_REGISTERS_MAX, REGISTERS_MAX};

/// How long a PLC may take to connect, and to answer each request.
pub const TIME_LIMIT: Duration = Duration::from_secs(2);

/// Reads all registers of a PLC again and again.
pub struct Poller {
    address: PlcAddress,
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
    #[error("`{given}` cannot be the address of a PLC: {problem}")]
    Address {
        /// What was given.
        given: String,
        /// What is wrong with it.
        problem: String,
    },
    /// No PLC has that many registers.
    #[error("a PLC cannot have {given} registers starting at register {first}: use 1 to {most}, because Modbus addresses end at 65535",
        most = REGISTERS_MAX - u32::from(*first))]
    Registers {
        /// What was asked for.
        given: u32,
        /// The first of them.
        first: u16,
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
    #[error("unit {unit} of the PLC {address} refuses {registers} registers {first} to {last} with {told}; {remedy}",
        unit = address.unit, registers = address.registers, told = named(*exception), remedy = remedy(*exception, address))]
    Refused {
        /// Where it is and what was asked of it.
        address: PlcAddress,
        /// First register of the request.
        first: u32,
        /// Last register of the request.
        last: u32,
        /// Its answer.
        exception: ExceptionCode,
    },
    /// It answers with another number of registers than it was asked for.
    #[error("the PLC {address} was asked for {asked} registers starting at {first}, but returned {answered}")]
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
    /// Connects to a PLC at `HOST[:PORT][/UNIT][?first=NUMBER&registers=input]`; nothing is read yet.
    ///
    /// # Errors
    /// The address or the number of registers is none, or there is no connection within 2 s.
    pub async fn connect(address: &str, registers: u32) -> Result<Self, PollError> {
        let address = PlcAddress::of(address)
            .map_err(|problem| PollError::Address { given: address.to_owned(), problem })?;
        if !(1..=REGISTERS_MAX - u32::from(address.first)).contains(&registers) {
            return Err(PollError::Registers { given: registers, first: address.first });
        }
        let context = None;
        let [current, previous, reading] = [(); 3].map(|()| Vec::with_capacity(registers as usize));
        let mut poller = Self { address, context, registers, current, previous, reading };
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
        self.context = Some(tcp::attach_slave(stream, Slave(self.address.unit)));
        Ok(())
    }

    /// Reads all registers and returns their values, by address from the first on.
    ///
    /// # Errors
    /// The PLC is gone, silent or refuses. Then the values read before stay the last ones, and unless it refused, the
    /// next poll fails until [`Self::reconnect`].
    pub async fn poll(&mut self) -> Result<&[u16], PollError> {
        self.read_all().await?;
        std::mem::swap(&mut self.previous, &mut self.current);
        std::mem::swap(&mut self.current, &mut self.reading);
        Ok(&self.current)
    }

    /// Reads all registers as [`Self::poll`] does, and forgets their values: a refusal is known before a load begins.
    ///
    /// # Errors
    /// Those of [`Self::poll`].
    pub async fn probe(&mut self) -> Result<(), PollError> {
        self.read_all().await
    }

    async fn read_all(&mut self) -> Result<(), PollError> {
        self.reading.clear();
        for offset in (0..self.registers).step_by(usize::from(READ_REGISTERS_MAX)) {
            let count = (self.registers - offset).min(u32::from(READ_REGISTERS_MAX)) as u16;
            let words = self.read(u32::from(self.address.first) + offset, count).await?;
            self.reading.extend(words);
        }
        Ok(())
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
        let request = match self.address.registers {
            Registers::Holding => Request::ReadHoldingRegisters(first as u16, count),
            Registers::Input => Request::ReadInputRegisters(first as u16, count),
        };
        let answer = timeout(TIME_LIMIT, context.call(request)).await;
        let action = || format!("answer a request for registers {first} to {last}");
        let response = match answer {
            Err(_) => return Err(PollError::TooSlow { address, action: action() }),
            Ok(Err(error)) => return Err(PollError::Lost { address, reason: reason(&error) }),
            Ok(Ok(response)) => response,
        };
        // What was answered in form leaves the connection as good as it was.
        self.context = Some(context);
        let words = match (response, self.address.registers) {
            (Ok(Response::ReadHoldingRegisters(words)), Registers::Holding)
            | (Ok(Response::ReadInputRegisters(words)), Registers::Input) => words,
            (Ok(_), _) => {
                return Err(PollError::Lost {
                    address,
                    reason: "the PLC answered a different request".to_owned(),
                });
            }
            (Err(exception), _) => {
                return Err(PollError::Refused { address: self.address.clone(), first, last, exception });
            }
        };
        if words.len() == usize::from(count) {
            return Ok(words);
        }
        Err(PollError::Incomplete { address, first, asked: count, answered: words.len() })
    }
}

impl std::fmt::Debug for Poller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { address, registers, .. } = self;
        let unit = address.unit;
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

/// The library says of a closed connection only what the last failed system call was, if there was one.
fn reason(error: &tokio_modbus::Error) -> String {
    match error {
        tokio_modbus::Error::Transport(error) if matches!(error.raw_os_error(), Some(0 | 11)) => {
            "it was closed by the PLC".to_owned()
        }
        tokio_modbus::Error::Transport(_) | tokio_modbus::Error::Protocol(_) => error.to_string(),
    }
}

/// An exception by its number, and by its name if it has one.
#[expect(clippy::wildcard_enum_match_arm, reason = "all other kinds are treated alike")]
fn named(exception: ExceptionCode) -> String {
    match exception {
        ExceptionCode::Custom(code) => format!("exception {code}, which Modbus does not define"),
        known => format!("exception {} ({known})", u8::from(known)),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "all other kinds are treated alike")]
fn remedy(exception: ExceptionCode, address: &PlcAddress) -> String {
    let PlcAddress { unit, registers, .. } = address;
    let other = registers.other();
    match exception {
        ExceptionCode::IllegalFunction => {
            format!("the PLC has no {registers} registers: poll modbus://{address}/{unit}?registers={other}")
        }
        ExceptionCode::IllegalDataAddress => format!(
            "some of these registers do not exist: give the first existing one, modbus://{address}/{unit}?first=NUMBER, or use fewer \
            with {}, or poll ?registers={other}",
            parameter("tags")
        ),
        ExceptionCode::IllegalDataValue => {
            format!(
                "the PLC does not allow reading so many registers at once: use fewer with {}",
                parameter("tags")
            )
        }
        ExceptionCode::GatewayPathUnavailable | ExceptionCode::GatewayTargetDevice => {
            format!("the gateway does not reach unit {unit}: give another one, modbus://{address}/UNIT")
        }
        _ => "a later attempt may succeed".to_owned(),
    }
}

#[cfg(test)]
mod tests;
