//! Starts, places, limits, breaks and stops database servers in directories of their own, on free ports of loopback; and makes
//! laboratories of loop devices for them.
//!
//! A server keeps its own defaults of durability (fsync, flush at commit), so that what it acknowledges is what it would
//! acknowledge elsewhere; only the making of its empty data directory skips them. It runs as an unprivileged user when
//! we are root, dies with this process, and its directory is removed with its handle. Nothing here speaks a database's
//! protocol beyond knowing that the server answers.

mod breaking;
mod clickhouse;
mod clock;
mod configuration;
mod directory;
mod error;
mod instance;
mod lab;
mod limits;
mod mariadb;
mod mysql;
mod mysqld;
mod options;
mod pair;
mod placement;
mod port;
mod postgres;
mod power;
mod process;
mod program;
mod proxy;
mod register;
mod server;
mod shared_memory;
mod tds_messages;
mod tds_server;
mod user;

pub use breaking::Filling;
pub use clickhouse::ClickHouse;
pub use error::InstanceError;
pub use instance::{Engine, Instance};
pub use lab::{FileSystem, KnownLab, Lab, LabError, LabPlace, LabShape, Raid, Throttle, lab_mount_point};
pub use limits::{Device, DeviceLimit, DeviceUsage, Group, GroupUse, Lifter, LimitError, Limits, Usage};
pub use mariadb::MariaDb;
pub use mysql::MySql;
pub use options::Options;
pub use pair::{
    Failover, NetworkNeed, Node, Pair, PairError, PairKind, PairOptions, Part, Seen, Timeout, TimeoutUnit,
    Watch,
};
pub use placement::{CachedBytes, CachedFiles};
pub use postgres::Postgres;
pub use proxy::Proxy;
pub(crate) use register::{Entry, Place, make_directory};
pub use register::{Known, KnownNode, Standing};
pub use tds_server::TdsServer;
