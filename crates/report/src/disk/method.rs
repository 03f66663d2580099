//! How the figures of a disk came to be.

use record::Loop;

use crate::comparison::method::{self, KNEE};
use crate::disk::storage::Storage;
use crate::disk::{class, published};
use crate::report::Report;
use crate::trial::Trial;

const CLOSED: &str = "Closed loop: each thread keeps its outstanding I/Os in flight and sends the next one when one is \
    answered. It shows the performance for a fixed number of clients, not for a fixed rate.";

const OPEN: &str = "Open loop: each I/O has a planned time that does not depend on earlier answers. Response time is completion − \
planned time. Service time is completion − sending. Lag is sending − planned time. I/Os that were never sent are counted.";

const TIMED: &str = "Each latency is the time of one I/O, from its submission to its completion as the load thread sees it. The \
settings say where prony takes the time stamps. A rate is the number of operations completed in the measured window, divided by its \
length. Warm-up and drain do not count.";

const REPEATED: &str = "The interval over repeated trials is Student's t interval of the means of the repeats. It assumes that the repeats \
are independent: nothing lasts from one trial to the next. “Best” is the best repeat, the figure that CrystalDiskMark prints.";

const ROUNDS: &str = "The steady state over rounds is judged on the last five rounds by the same rule. The matrix is the mean of these rounds.";

const CPU_TIME: &str = "CPU time is the user and system time of the load threads. The CPU time of the whole machine is next to it, \
because the kernel does part of an I/O's work outside the threads.";

const CLASSES: &str = "The storage class is the one with the published page-read figures closest, by ratio, to those measured. A page read longer than half a revolution at 15,000 rpm indicates a rotating disk. Rates up to 600 MB/s fit SATA. A volume is throttled if reads and writes of several sizes queue and all level off at the same rate, within 3%. Published loads had other threads, files and queue depths, so a class is only an order of \
magnitude. A durable write that is faster than its medium suggests a cache, but does not prove it. A rate that falls to a plateau \
suggests a limit in the same way. Times of flash cells are from Micron's technical note TN-29-19 (NAND Flash 101, 2006). The commit \
figure is for one flush after the other, of a block of up to 8 KiB. Sessions that share a flush reach higher rates.";

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
