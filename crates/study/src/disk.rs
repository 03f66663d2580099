//! Tests of a disk that are added to a study of several.

use disk::{Settings, VerifyProfile};
use load::{Size, Span};

use crate::study::{Configuration, Study};
use crate::work::Given;

/// How long pages are checked, and the largest file for it, so that it is laid out and audited in moments.
const VERIFIED: Span = Span::seconds(30);
const VERIFIED_FILE: Size = Size::mib(128);

impl Study {
    /// Adds a load whose every page is checked: half a minute, or as long as is said.
    pub fn add_verify(&mut self, duration: Option<Span>, file_size: Option<Size>) {
        let settings = Settings {
            verify: Some(VerifyProfile::Quick),
            warm_up: Some(Span::ZERO),
            duration: Some(duration.unwrap_or(VERIFIED)),
            file_size: Some(file_size.map_or(VERIFIED_FILE, |size| size.min(VERIFIED_FILE))),
            ..Settings::default()
        };
        let workload = Given { disk: Some(settings), ..Given::default() };
        let name = "verify".to_owned();
        self.configuration.push(Configuration { name, workload, ..Configuration::default() });
    }
}
