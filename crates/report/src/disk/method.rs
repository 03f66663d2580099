//! How the figures of a disk came to be.

use record::Loop;

use crate::comparison::method::{self, KNEE};
use crate::disk::storage::Storage;
use crate::disk::{class, published};
use crate::report::Report;
use crate::trial::Trial;

const CLOSED: &str = "Closed loop: each thread keeps its outstanding I/Os in flight and sends the next one when one is \
    answered. It says what so many clients get, not what happens at a rate that does not wait.";

const OPEN: &str = "Open loop: I/Os are due at times that do not depend on answers. Response time is completion − due time, \
    service time completion − sending, lag sending − due time. What was due and not sent is counted.";

const TIMED: &str = "What is timed is one I/O, from its submission to its completion as the load thread sees it; see the \
    settings for where the time stamps are taken. Rates are operations completed in the measured window over \
    its length; warm-up and drain make no figures.";

const REPEATED: &str = "The interval over repeated trials is Student's, over the means of the repeats, and takes them to be independent, which trials that \
    run one after the other are where nothing lasts from one to the next. “Best” is \
    the best repeat, the figure that CrystalDiskMark prints.";

const ROUNDS: &str = "Steady state over rounds is judged on the last five rounds by the same rule; the matrix is the mean of \
    these rounds.";

const CPU_TIME: &str = "CPU time is that of the load threads, user and system, and, beside it, of the whole machine, since the \
    kernel does part of an I/O's work outside the threads.";

const CLASSES: &str = "A class of storage is the one whose published figures are nearest, by their ratio, to the pages that are read; a disk \
    that turns is told by a page that takes longer than half a turn at 15,000 rpm, SATA by the 600 MB/s that it carries, a \
    volume that is throttled by reads and writes of several sizes that end within 3% of one rate and wait for it. Published \
    loads had other threads, files and outstanding I/Os, so that a class is an order of magnitude. A durable write that \
    takes less than its medium can is a sign of a cache, and no proof; so is a rate that falls to a plateau of a limit. Flash cells are \
    given the times of Micron's technical note TN-29-19 (NAND Flash 101, 2006). What commits allow is one flush after the other, of a \
    block of 8 KiB or less; sessions that share a flush reach more.";

pub(crate) fn paragraphs(report: &Report) -> Vec<String> {
    let loops = || report.disks().filter_map(Trial::disk).map(|disk| disk.pacing);
    let closed = loops().any(|pacing| matches!(pacing, Loop::Closed { .. }));
    let open = loops().any(|pacing| matches!(pacing, Loop::Open { .. }));
    let knee = !report.disk.sweeps.is_empty() && !method::along_numbers(report);
    let held = [
        (closed, CLOSED),
        (open, OPEN),
        (true, TIMED),
        (super::repeats(report), REPEATED),
        (knee, KNEE),
        (report.disk.steady_state.is_some(), ROUNDS),
        (true, CPU_TIME),
    ];
    let mut told: Vec<String> =
        held.into_iter().filter(|(holds, _)| *holds).map(|(_, text)| text.to_owned()).collect();
    if let Some(library) = Storage::of(report).and_then(|_| published::library()) {
        told.push(format!("{CLASSES} Published: {}.", class::sources(library).join("; ")));
    }
    told
}
