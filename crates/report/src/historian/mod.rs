//! What a report says of a historian: records, searches for the rate that is held, rows of a flush, purges and growth.

pub(crate) mod chart;
pub(crate) mod doubt;
pub(crate) mod facts;
pub(crate) mod finding;
pub(crate) mod flush;
mod model;
pub(crate) mod page;
pub(crate) mod published;
pub(crate) mod search_chart;
pub(crate) mod table;

pub use flush::{FlushPoint, FlushSeries};
pub(crate) use model::mean_gauge;
pub(crate) use model::{DATABASE_BYTES, LOG_BYTES, OFFERED};
pub use model::{Historian, Maintenance, Reads, Storage};
pub use published::{
    FlushComparison, Growth, HistorianComparison, OurFlush, OurRate, Placement, RealProject,
};
