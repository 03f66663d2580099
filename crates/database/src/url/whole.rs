//! An address as plain data with everything that it says, its password too. [`Url`] itself cannot be written out, so that this
//! is never stored or shown by chance: who wants it asks for it by `#[serde(with = "whole")]`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Address, Url};
use crate::Fake;
use crate::fake::FakeServer;

pub(crate) fn serialize<S: Serializer>(url: &Url, serializer: S) -> Result<S::Ok, S::Error> {
    url.0.serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Url, D::Error> {
    Address::deserialize(deserializer).map(Url)
}

/// The speed and the faults. What is in a fake's memory does not travel.
impl Serialize for FakeServer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self.fake())
    }
}

impl<'de> Deserialize<'de> for FakeServer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let fake: Result<Fake, _> = text.strip_prefix("fake:").unwrap_or(&text).parse();
        fake.map(Self::new).map_err(serde::de::Error::custom)
    }
}
