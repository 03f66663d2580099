//! Where a target was found to be: what was asked for is what a study file says, and this is what answered.

use serde::{Deserialize, Serialize};

use crate::Reading;

/// One of the things that a trial loads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Placed {
    /// A directory, file or device.
    Path {
        /// As it was given.
        path: String,
        /// What it lies on.
        on: Reading<Volume>,
    },
    /// A database.
    Database {
        /// Its name on its server, or its file.
        database: String,
        /// Address of the server without a password.
        address: String,
        /// Engine: `sqlite`, `postgres`, `mysql`, `fake`.
        engine: String,
        /// Product and version of the server.
        version: String,
        /// Where its data lies.
        data: Reading<Volume>,
        /// Where its log lies.
        log: Reading<Volume>,
    },
}

/// A directory or file of this machine, and what it lies on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Volume {
    /// The directory or file.
    pub path: String,
    /// Where its file system is mounted.
    pub mount: Reading<String>,
    /// Kernel name of the device that it lies on.
    pub device: Reading<String>,
    /// Type of its file system, such as `ext4`, where that is known; records of before do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system: Option<String>,
}
