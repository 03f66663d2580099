//! A quick look at a study that has no quick look of its own: fewer blocks, shorter times, smaller files.

use load::{Size, Span};

use crate::expand;
use crate::study::{Study, Workload};

/// Blocks of a quick look: one to see, one to see whether it comes again.
const BLOCKS: u32 = 2;
/// Test files of a quick look.
const FILE_SIZE: Size = Size::mib(256);

impl Study {
    /// Shortens the study to a quick look, and says so.
    pub(crate) fn quicken(&mut self) {
        self.quick = true;
        self.blocks = self.blocks.min(BLOCKS);
        self.cool_down = Span::ZERO;
        if self.search.is_some() {
            self.search = Some(crate::Search::quick());
        }
        let shared = &mut self.workload;
        shorten(shared);
        let disk = &mut shared.disk;
        disk.warm_up = Some(Span::microseconds(500_000));
        disk.duration = Some(Span::seconds(2));
        disk.file_size = Some(disk.file_size.map_or(FILE_SIZE, |size| Size(size.0.min(FILE_SIZE.0))));
        self.configuration.iter_mut().for_each(|configuration| shorten(&mut configuration.workload));
        // What no trial reads would be refused.
        let measures_disks =
            expand::points(self).is_ok_and(|points| points.iter().any(|point| point.work.disk().is_some()));
        if !measures_disks {
            self.workload.disk = disk::Settings::default();
        }
    }
}

/// Shortens what a workload says of its times.
fn shorten(workload: &mut Workload) {
    (workload.disk.warm_up, workload.disk.duration) = (None, None);
    if let Some(historian) = &mut workload.historian {
        historian.warm_up = Some(Span::seconds(4));
        historian.duration = Some(Span::seconds(10));
    }
    if let Some(orders) = &mut workload.orders {
        orders.warmup_time = Some(Span::seconds(2));
        orders.run_time = Some(Span::seconds(8));
    }
}
