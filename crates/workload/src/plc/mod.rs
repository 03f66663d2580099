//! A simulated PLC, served over Modbus TCP: thousands of registers, some of which change each second.
//!
//! Values follow from seed and time alone, and are computed when they are read: a PLC that nobody reads does nothing.
//! Registers can be read (function codes 3 and 4) and nothing else; writing, coils and inputs are refused as a PLC
//! refuses what it has not.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio_modbus::server::Service;
use tokio_modbus::server::tcp::{Server, accept_tcp_connection};
use tokio_modbus::{ExceptionCode, Request, Response};

use self::walk::Walk;

mod walk;

/// Registers that an address of 16 bits can name.
pub const REGISTERS_MAX: u32 = 65_536;

/// Registers that one request may read (Modbus Application Protocol 1.1b3, 6.3).
pub const READ_REGISTERS_MAX: u16 = 125;

/// How often a server looks whether it shall stop, and how long it waits when the system has no connection to give.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Parameters of a simulated PLC.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
pub struct Settings {
    /// Address to listen on; port 0 selects a free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:5020")]
    pub listen: SocketAddr,

    /// Number of registers, from address 0
    #[arg(long, value_name = "NUMBER", default_value_t = 5_000, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub registers: u32,

    /// Registers that change per second, in turn [default: all]
    ///
    /// Use 0 for none.
    #[arg(long, value_name = "NUMBER")]
    pub changes_per_s: Option<u32>,

    /// Seed of the values
    #[arg(long, value_name = "NUMBER", default_value_t = 42)]
    pub seed: u64,
}

/// Why a PLC cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum PlcError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}; {remedy}", remedy = remedy(source))]
    Listen {
        /// The address that was asked for.
        address: SocketAddr,
        /// Why it failed.
        source: io::Error,
    },
    /// No PLC has that many registers.
    #[error("a PLC cannot have {given} registers: give 1 to 65536, which is what a Modbus address can name")]
    Registers {
        /// What was asked for.
        given: u32,
    },
    /// The system refuses what a server needs.
    #[error("cannot serve on {address}: {source}")]
    Serve {
        /// The address that is listened on.
        address: SocketAddr,
        /// Why it failed.
        source: io::Error,
    },
}

/// Time since a PLC was switched on.
type Elapsed = Arc<dyn Fn() -> Duration + Send + Sync>;

/// A simulated PLC. It listens from [`Self::bind`] on, and answers while [`Self::serve`] runs.
pub struct Plc {
    listener: TcpListener,
    address: SocketAddr,
    registers: Registers,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 5_020)),
            registers: 5_000,
            changes_per_s: None,
            seed: 42,
        }
    }
}

impl Plc {
    /// Listens, and switches the PLC on: its values change from now on.
    ///
    /// # Errors
    /// The address cannot be listened on, or there are no registers or too many.
    pub fn bind(settings: &Settings) -> Result<Self, PlcError> {
        let begin = Instant::now();
        Self::bind_with_clock(settings, move || begin.elapsed())
    }

    /// As [`Self::bind`], with the time since the PLC was switched on as the caller has it.
    ///
    /// # Errors
    /// As [`Self::bind`].
    pub fn bind_with_clock(
        settings: &Settings,
        elapsed: impl Fn() -> Duration + Send + Sync + 'static,
    ) -> Result<Self, PlcError> {
        if !(1..=REGISTERS_MAX).contains(&settings.registers) {
            return Err(PlcError::Registers { given: settings.registers });
        }
        let fault = |source| PlcError::Listen { address: settings.listen, source };
        let listener = TcpListener::bind(settings.listen).map_err(fault)?;
        let address = listener.local_addr().map_err(fault)?;
        let changes_per_s = settings.changes_per_s.unwrap_or(settings.registers);
        let walk = Walk::new(settings.seed, settings.registers, changes_per_s);
        Ok(Self { listener, address, registers: Registers { walk, elapsed: Arc::new(elapsed) } })
    }

    /// Where it listens, with the port that it really has.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The values of all registers at this moment.
    pub fn values(&self) -> Vec<u16> {
        let elapsed = (self.registers.elapsed)();
        (0..self.registers.walk.registers())
            .map(|register| self.registers.walk.value(register, elapsed))
            .collect()
    }

    /// Answers clients until `stop` is set, which is noticed within some milliseconds; then their connections are
    /// closed. What a client does wrong ends its connection at most.
    ///
    /// # Errors
    /// The system refuses what a server needs. No client can cause it.
    pub fn serve(&self, stop: &AtomicBool) -> Result<(), PlcError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let fault = |source| PlcError::Serve { address: self.address, source };
        runtime.map_err(fault)?.block_on(async {
            let server = self.server().map_err(fault)?;
            let stopped = async {
                while !stop.load(Ordering::Relaxed) {
                    tokio::time::sleep(LOOK_AGAIN).await;
                }
            };
            tokio::select! {
                () = self.answer(&server) => {}
                () = stopped => {}
            }
            Ok(())
        })
    }

    fn server(&self) -> io::Result<Server> {
        let listener = self.listener.try_clone()?;
        listener.set_nonblocking(true)?;
        Ok(Server::new(tokio::net::TcpListener::from_std(listener)?))
    }

    /// Never ends. The server would end with an error when a client is gone before it is accepted, or when there are
    /// more clients than files may be open: both pass.
    async fn answer(&self, server: &Server) {
        let on_connected = |stream: tokio::net::TcpStream, client| {
            let service = self.registers.clone();
            async move {
                // A small answer shall not wait for another one. Without it, it is only slower.
                let _ = stream.set_nodelay(true);
                accept_tcp_connection(stream, client, |_| Ok(Some(service.clone())))
            }
        };
        loop {
            let _ = server.serve(&on_connected, |_| ()).await;
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }
}

impl std::fmt::Debug for Plc {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plc").field("address", &self.address).field("walk", &self.registers.walk).finish()
    }
}

/// What answers the requests of a client.
#[derive(Clone)]
struct Registers {
    walk: Walk,
    elapsed: Elapsed,
}

impl Registers {
    /// In the order of checks that the protocol prescribes: quantity first, then address.
    fn read(&self, first: u16, count: u16) -> Result<Vec<u16>, ExceptionCode> {
        if !(1..=READ_REGISTERS_MAX).contains(&count) {
            return Err(ExceptionCode::IllegalDataValue);
        }
        let registers = u32::from(first)..u32::from(first) + u32::from(count);
        if registers.end > self.walk.registers() {
            return Err(ExceptionCode::IllegalDataAddress);
        }
        let elapsed = (self.elapsed)();
        Ok(registers.map(|register| self.walk.value(register, elapsed)).collect())
    }
}

impl Service for Registers {
    type Request = Request<'static>;
    type Response = Response;
    type Exception = ExceptionCode;
    type Future = std::future::Ready<Result<Response, ExceptionCode>>;

    #[expect(clippy::wildcard_enum_match_arm, reason = "other requests of Modbus are not served")]
    fn call(&self, request: Self::Request) -> Self::Future {
        std::future::ready(match request {
            Request::ReadHoldingRegisters(first, count) => {
                self.read(first, count).map(Response::ReadHoldingRegisters)
            }
            Request::ReadInputRegisters(first, count) => {
                self.read(first, count).map(Response::ReadInputRegisters)
            }
            _ => Err(ExceptionCode::IllegalFunction),
        })
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "all other kinds are treated alike")]
fn remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::AddrInUse => "give another port, or port 0 for a free one",
        io::ErrorKind::PermissionDenied => "give a port from 1024 on",
        io::ErrorKind::AddrNotAvailable => "give an address of this machine, such as 127.0.0.1 or 0.0.0.0",
        _ => "give another address",
    }
}

#[cfg(test)]
mod tests;
