//! `prony plc`: a simulated PLC, until it is interrupted.

use workload::plc;

use crate::arguments::Plc;
use crate::exit::{Exit, Failure};
use crate::interrupt;

pub(crate) fn run(plc: &Plc) -> Result<Exit, Failure> {
    let stop = interrupt::flag_on_signal()?;
    let plc = plc::Plc::bind(&plc.settings).map_err(Failure::usage)?;
    tell!("serving modbus://{} (press Ctrl-C to stop)", plc.address());
    plc.serve(&stop).map_err(Failure::runtime)?;
    Ok(Exit::Pass)
}
