//! The study of a single test of a disk, which those of other workloads begin with.

use std::collections::BTreeMap;
use std::path::PathBuf;

use load::Span;
use record::StoppingRule;

use crate::study::{Needs, Order, Study};
use crate::target::Target;
use crate::work::Given;

impl Study {
    /// A study of one trial with default parameters.
    #[must_use]
    pub fn of_disk(paths: Vec<PathBuf>) -> Self {
        Self {
            title: "Disk".to_owned(),
            slug: "disk".to_owned(),
            profile: None,
            seed: 42,
            blocks: 1,
            order: Order::Repeats,
            stop: StoppingRule::Never,
            compare: false,
            reference: None,
            noise_floor: false,
            metric: None,
            percentiles: None,
            smallest: None,
            noise: None,
            thresholds: Vec::new(),
            accept_single: false,
            cool_down: Span::ZERO,
            rest_between_repeats: true,
            first_warm_up: None,
            before: None,
            after: None,
            latency_tolerance: None,
            expect: None,
            steady: None,
            search: None,
            quick: false,
            quick_look: None,
            in_lab: None,
            disk_size: None,
            prices: None,
            places: BTreeMap::new(),
            lab: None,
            needs: Needs::default(),
            published: None,
            target: Target::of_paths(paths),
            workload: Given::default(),
            configuration: Vec::new(),
            axis: Vec::new(),
        }
    }
}
