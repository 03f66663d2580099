//! What is broken on purpose while a trial runs: each at its time of the load, on a thread of its own, and mended at its time, or as soon
//! as the load is over.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use record::{FaultDone, Mark, MarkKind, PlannedTrial, Split};
use study::{Fault, FaultKind};

use crate::command::{self, When};

/// How soon a stop is seen.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// How often it is looked at nodes: a look is a program of their own for each.
const WATCH_EVERY: Duration = Duration::from_millis(200);

/// What is done to a server, by whoever can.
pub(crate) trait Breaks: Send {
    /// The load begins under which it will break something.
    ///
    /// # Errors
    /// Why that cannot be prepared.
    fn load_begins(&mut self, _: &Fault) -> Result<(), String> {
        Ok(())
    }

    /// Breaks something. Gives what of, if there are several.
    ///
    /// # Errors
    /// Why it cannot be done.
    fn break_it(&mut self, fault: &Fault) -> Result<Option<String>, String>;

    /// Undoes it.
    ///
    /// # Errors
    /// Why it cannot be undone.
    fn mend(&mut self, fault: &Fault) -> Result<(), String>;
}

/// Looks how the nodes of a server stand, whatever is done to them meanwhile.
pub(crate) trait Watches: Send + Sync {
    /// How they stand now.
    fn stands(&self) -> Stands;
}

/// Who breaks a server, and who looks at its nodes, if there are several.
#[derive(Clone)]
pub(crate) struct Broken {
    pub(crate) by: Arc<Mutex<dyn Breaks>>,
    pub(crate) watch: Option<Arc<dyn Watches>>,
}

/// How the nodes of a server stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stands {
    /// Those that take writes: one, or none while nobody does.
    pub(crate) primaries: Vec<String>,
    /// Whether another one stands by that has all that is acknowledged.
    pub(crate) is_redundant: bool,
    /// Whether whoever decides who takes over holds one of them for gone.
    pub(crate) is_noticed: bool,
}

/// A cluster that somebody else runs: it is looked at as long as the load goes on, whatever is done to it.
pub(crate) struct WatchedCluster {
    pub(crate) name: String,
    /// Who took writes before the load.
    pub(crate) primary: Option<String>,
    pub(crate) watch: Arc<dyn Watches>,
}

/// So many looks in a row must say what one may say by chance, since members are not asked at one moment.
const LOOKS_IN_A_ROW: u32 = 2;

/// Commands that break something, by their names: each does all that it does by itself.
#[derive(Debug)]
pub(crate) struct Commands {
    commands: BTreeMap<String, String>,
    trial: PlannedTrial,
}

impl Commands {
    pub(crate) fn new(commands: BTreeMap<String, String>, trial: PlannedTrial) -> Self {
        Self { commands, trial }
    }
}

impl Breaks for Commands {
    fn break_it(&mut self, fault: &Fault) -> Result<Option<String>, String> {
        let Some(command) = self.commands.get(fault.what.name()) else {
            return Err("the study has no such command".to_owned());
        };
        // A command that was begun is awaited: it may bring back what it took away.
        let stop = AtomicBool::new(false);
        command::run(command, When::Fault, &self.trial, &stop, &mut |_| {})
            .map_err(|error| error.to_string())?;
        Ok(None)
    }

    fn mend(&mut self, _: &Fault) -> Result<(), String> {
        Ok(())
    }
}

/// A fault of a trial, and who does it.
pub(crate) struct Scheduled {
    fault: Fault,
    /// The server, by its name.
    of: String,
    due: Duration,
    broken: Broken,
}

impl Scheduled {
    /// One that is due at a moment between the two that it names, by a draw (0–1).
    pub(crate) fn new(fault: &Fault, of: &str, drawn: f64, broken: Broken) -> Self {
        let [first, last] = fault.at.map(|at| at.ns);
        let due = Duration::from_nanos(first + ((last - first) as f64 * drawn) as u64);
        Self { fault: fault.clone(), of: of.to_owned(), due, broken }
    }
}

/// The faults of a trial that runs.
#[derive(Default)]
pub(crate) struct Faults {
    scheduled: Vec<Scheduled>,
    clusters: Vec<WatchedCluster>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    begun: Option<Instant>,
    is_over: bool,
    done: Vec<FaultDone>,
    marks: Vec<Mark>,
    /// In the order of the clusters.
    clusters: Vec<ClusterStands>,
}

/// What is known of a cluster.
#[derive(Default)]
struct ClusterStands {
    primary: Option<String>,
    /// Looks in a row at which nobody stood by, and at which several took writes.
    alone: u32,
    split: u32,
    /// Those that took writes at once, where no fault is to blame.
    several: Option<String>,
}

/// A step: something is broken, or mended.
#[derive(Clone, Copy, Debug)]
enum Step {
    Break(usize),
    Mend(usize),
}

impl Faults {
    pub(crate) fn new(mut scheduled: Vec<Scheduled>) -> Self {
        scheduled.sort_by_key(|scheduled| scheduled.due);
        let done = |one: &Scheduled| FaultDone {
            asked: one.fault.to_string(),
            of: one.of.clone(),
            due_s: one.due.as_secs_f64(),
            ..FaultDone::default()
        };
        let done = scheduled.iter().map(done).collect();
        let state = Mutex::new(State { done, ..State::default() });
        Self { scheduled, clusters: Vec::new(), state, changed: Condvar::new() }
    }

    /// The same, with clusters that are watched meanwhile.
    pub(crate) fn watching(mut self, clusters: Vec<WatchedCluster>) -> Self {
        let stands = |cluster: &WatchedCluster| ClusterStands {
            primary: cluster.primary.clone(),
            ..ClusterStands::default()
        };
        self.state().clusters = clusters.iter().map(stands).collect();
        self.clusters = clusters;
        self
    }

    /// The load begins.
    pub(crate) fn begin(&self) {
        self.state().begun = Some(Instant::now());
        self.changed.notify_all();
    }

    /// Runs a load, and breaks and mends meanwhile; nothing is left broken behind it.
    pub(crate) fn while_running<T>(&self, stop: &AtomicBool, run: impl FnOnce() -> T) -> T {
        if self.scheduled.is_empty() && self.clusters.is_empty() {
            return run();
        }
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("faults".to_owned());
            let begun = thread.spawn_scoped(scope, || self.go_through(stop));
            if let Err(error) = begun {
                let why =
                    format!("cannot start its thread: {error}. Raise the limit of threads (`ulimit -u`)");
                self.state().done.iter_mut().for_each(|done| done.failed = Some(why.clone()));
            }
            if self.scheduled.iter().any(|scheduled| scheduled.broken.watch.is_some()) {
                // Without a thread nobody sees who takes over: that stays unknown.
                let watch = std::thread::Builder::new().name("nodes".to_owned());
                let _ = watch.spawn_scoped(scope, || self.watch(stop));
            }
            for at in 0..self.clusters.len() {
                // As of nodes.
                let watch = std::thread::Builder::new().name("cluster".to_owned());
                let _ = watch.spawn_scoped(scope, move || self.watch_cluster(at, stop));
            }
            let _over = Over(self);
            run()
        })
    }

    /// What is to be marked and was not told yet.
    pub(crate) fn take_marks(&self) -> Vec<Mark> {
        std::mem::take(&mut self.state().marks)
    }

    /// What became of them.
    pub(crate) fn done(&self) -> Vec<FaultDone> {
        self.state().done.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a moment of the load. Gives whether it came before the load was over, or was to end.
    fn wait_until(&self, moment: Duration, stop: &AtomicBool) -> bool {
        let mut state = self.state();
        loop {
            if state.is_over || stop.load(Ordering::Relaxed) {
                return false;
            }
            let left = state.begun.map(|begun| (begun + moment).saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return true;
            }
            let wait = left.unwrap_or(LOOK_AGAIN).min(LOOK_AGAIN);
            let waited = self.changed.wait_timeout(state, wait);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn go_through(&self, stop: &AtomicBool) {
        let mut steps: Vec<(Duration, Step)> =
            self.scheduled.iter().enumerate().map(|(at, one)| (one.due, Step::Break(at))).collect();
        if self.wait_until(Duration::ZERO, stop) {
            self.prepare();
        }
        while let Some(next) = (0..steps.len()).min_by_key(|&at| steps[at].0) {
            let (moment, step) = steps.swap_remove(next);
            let is_due = self.wait_until(moment, stop);
            match step {
                Step::Break(at) if is_due => {
                    if self.break_one(at) {
                        let lasts = self.scheduled[at]
                            .fault
                            .lasts
                            .map_or(Duration::ZERO, |it| Duration::from_nanos(it.ns));
                        steps.push((self.now() + lasts, Step::Mend(at)));
                    }
                }
                Step::Break(at) => {
                    let why = if stop.load(Ordering::Relaxed) {
                        "the run was stopped before it was due"
                    } else {
                        "the load ended before it was due"
                    };
                    self.state().done[at].failed = Some(why.to_owned());
                }
                Step::Mend(at) => self.mend_one(at),
            }
        }
    }

    /// One that cannot be prepared is not done right: it says so, and is done.
    fn prepare(&self) {
        for (at, Scheduled { fault, broken, .. }) in self.scheduled.iter().enumerate() {
            if let Err(why) = locked(&broken.by).load_begins(fault) {
                self.state().done[at].failed = Some(why);
            }
        }
    }

    /// Looks at the nodes again and again until the load is over.
    fn watch(&self, stop: &AtomicBool) {
        while self.wait_until(self.now() + WATCH_EVERY, stop) {
            self.look();
        }
    }

    /// Looks at a cluster again and again until the load is over.
    fn watch_cluster(&self, at: usize, stop: &AtomicBool) {
        while self.wait_until(self.now() + WATCH_EVERY, stop) {
            let from_s = self.now().as_secs_f64();
            let stands = self.clusters[at].watch.stands();
            self.cluster_seen(at, &stands, (from_s, self.now().as_secs_f64()));
        }
    }

    /// Time since the load began; nothing before that.
    fn now(&self) -> Duration {
        self.state().begun.map_or(Duration::ZERO, |begun| begun.elapsed())
    }

    fn break_one(&self, at: usize) -> bool {
        let Scheduled { fault, broken: Broken { by, .. }, .. } = &self.scheduled[at];
        let begun_s = self.now().as_secs_f64();
        self.mark(at, begun_s, None);
        // Who looks meanwhile knows that it is under way.
        self.state().done[at].begun_s = Some(begun_s);
        let done_to = locked(by).break_it(fault);
        let broken_s = self.now().as_secs_f64();
        let mut state = self.state();
        let done = &mut state.done[at];
        match done_to {
            Ok(node) => {
                done.broken_s = Some(broken_s);
                done.took_writes |= node.is_some() && fault.is_of_primary();
                done.of = node.unwrap_or_else(|| done.of.clone());
                true
            }
            Err(why) => {
                done.failed = Some(why);
                false
            }
        }
    }

    fn mend_one(&self, at: usize) {
        let Scheduled { fault, broken: Broken { by, watch }, .. } = &self.scheduled[at];
        let is_started_again = watch.is_none() && fault.what.ends_servers();
        let mending = Instant::now();
        let mended = locked(by).mend(fault);
        let took_s = mending.elapsed().as_secs_f64();
        let now_s = self.now().as_secs_f64();
        let begun_s = {
            let mut state = self.state();
            let done = &mut state.done[at];
            match mended {
                Ok(()) => {
                    done.mended_s = Some(now_s);
                    done.started_within_s = is_started_again.then_some(took_s);
                }
                Err(why) => done.failed = Some(format!("the fault cannot be undone: {why}")),
            }
            done.begun_s.unwrap_or(now_s)
        };
        self.mark(at, begun_s, Some(now_s));
    }

    fn mark(&self, at: usize, begun_s: f64, end_s: Option<f64>) {
        let what = self.scheduled[at].fault.to_string();
        self.state().marks.push(Mark::planned(MarkKind::Fault, begun_s, end_s, &what));
    }

    /// Looks whether another node took over since something was broken, and whether one stands by again.
    fn look(&self) {
        for (at, scheduled) in self.scheduled.iter().enumerate() {
            let is_awaited = |done: &FaultDone| done.broken_s.is_some() && done.redundant_s.is_none();
            let Some(watch) = scheduled.broken.watch.as_ref().filter(|_| is_awaited(&self.state().done[at]))
            else {
                continue;
            };
            let stands = watch.stands();
            let now_s = self.now().as_secs_f64();
            self.seen(at, &stands, now_s);
        }
    }

    fn seen(&self, at: usize, stands: &Stands, now_s: f64) {
        let mut state = self.state();
        // What an earlier fault came to would be seen at once.
        let is_first =
            state.done[..at].iter().all(|done| done.broken_s.is_none() || done.redundant_s.is_some());
        let done = &mut state.done[at];
        let is_asked = self.scheduled[at].fault.what == FaultKind::Switchover;
        let is_news = stands.is_noticed && is_first && !is_asked && done.noticed_s.is_none();
        if is_news {
            done.noticed_s = Some(now_s);
        }
        // Who stands by was none of those that took writes before.
        let others: Vec<&String> = stands.primaries.iter().filter(|primary| **primary != done.of).collect();
        let mut what = None;
        if let Some(other) = others.first().filter(|_| done.promoted_s.is_none() && done.took_writes) {
            done.promoted_s = Some(now_s);
            what = Some(format!("{other} accepts writes"));
        }
        if stands.primaries.len() > 1 {
            let nodes = stands.primaries.join(" and ");
            if !self.scheduled[at].fault.what.is_of_network() {
                done.failed.get_or_insert_with(|| format!("{nodes} accepted writes at the same time"));
            }
            // Nodes that do not see each other may both take them: what comes of it is measured.
            done.split.get_or_insert(Split { nodes, from_s: now_s, to_s: now_s }).to_s = now_s;
        }
        if stands.is_redundant && done.mended_s.is_some() {
            done.redundant_s = Some(now_s);
        }
        if is_news {
            let what = "a node is considered failed";
            state.marks.push(Mark::planned(MarkKind::Noticed, now_s, Some(now_s), what));
        }
        if let Some(what) = what {
            state.marks.push(Mark::planned(MarkKind::Promotion, now_s, Some(now_s), &what));
        }
    }
}

impl Faults {
    /// What a look at a cluster that lasted so long found: who takes writes, and whether another one stands by. It belongs to the last
    /// fault of the cluster that was begun, if there is one.
    fn cluster_seen(&self, at: usize, stands: &Stands, (from_s, now_s): (f64, f64)) {
        let mut state = self.state();
        let State { done, marks, clusters, .. } = &mut *state;
        let (name, known) = (&self.clusters[at].name, &mut clusters[at]);
        let mut fault = done.iter_mut().rfind(|done| done.of == *name && done.begun_s.is_some());
        known.split = if stands.primaries.len() > 1 { known.split + 1 } else { 0 };
        known.alone = if stands.is_redundant { 0 } else { known.alone + 1 };
        if known.split >= LOOKS_IN_A_ROW {
            let several = format!("{} accepted writes at the same time", stands.primaries.join(" and "));
            let told = fault.as_mut().map_or(&mut known.several, |fault| &mut fault.failed);
            told.get_or_insert(several);
        }
        if let Some(fault) = &mut fault {
            let is_mended = fault.mended_s.is_some_and(|mended_s| from_s >= mended_s);
            match stands.is_redundant {
                true if is_mended => _ = fault.redundant_s.get_or_insert(now_s),
                // A command may return before what it breaks is broken.
                false if known.alone >= LOOKS_IN_A_ROW => fault.redundant_s = None,
                true | false => {}
            }
        }
        let [primary] = stands.primaries.as_slice() else { return };
        if known.primary.replace(primary.clone()).is_none_or(|before| before == *primary) {
            return;
        }
        let planned = fault.is_some();
        if let Some(fault) = fault.filter(|fault| fault.promoted_s.is_none()) {
            (fault.promoted_s, fault.took_writes) = (Some(now_s), true);
            // What was seen of it before was of the one that was.
            fault.redundant_s = fault.redundant_s.filter(|_| stands.is_redundant).map(|_| now_s);
        }
        let what = format!("{primary} accepts writes");
        let mark = Mark::planned(MarkKind::Promotion, now_s, Some(now_s), &what);
        marks.push(Mark { planned, ..mark });
    }

    /// Why a trial failed that nobody broke on purpose, if so.
    pub(crate) fn trouble(&self) -> Option<String> {
        let state = self.state();
        let mut all = self.clusters.iter().zip(&state.clusters);
        all.find_map(|(cluster, stands)| {
            Some(format!("cluster {}: {}", cluster.name, stands.several.as_ref()?))
        })
    }
}

fn locked<'a>(by: &'a Mutex<dyn Breaks + 'static>) -> MutexGuard<'a, dyn Breaks + 'static> {
    by.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says that the load is over, however it ended.
struct Over<'a>(&'a Faults);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.state().is_over = true;
        self.0.changed.notify_all();
    }
}

/// Why a trial failed whose faults were not all done and undone, if so.
pub(crate) fn failed(done: &[FaultDone]) -> Option<String> {
    let failed = done.iter().find_map(|done| Some((done, done.failed.as_ref()?)));
    failed.map(|(done, why)| {
        format!("the fault `{}` of {} was not carried out as requested: {why}", done.asked, done.of)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that remembers what is done to it.
    #[derive(Default)]
    struct Remembers {
        told: Vec<String>,
        refuses: bool,
        stays_broken: bool,
    }

    impl Breaks for Remembers {
        fn break_it(&mut self, fault: &Fault) -> Result<Option<String>, String> {
            self.told.push(format!("break {}", fault.what.name()));
            if self.refuses { Err("it has no disk".to_owned()) } else { Ok(Some("node1".to_owned())) }
        }

        fn mend(&mut self, fault: &Fault) -> Result<(), String> {
            self.told.push(format!("mend {}", fault.what.name()));
            if self.stays_broken { Err("node1 does not answer after 60 s".to_owned()) } else { Ok(()) }
        }
    }

    /// Its second node takes the writes.
    struct Second;

    impl Watches for Second {
        fn stands(&self) -> Stands {
            Stands { primaries: vec!["node2".to_owned()], is_redundant: true, is_noticed: true }
        }
    }

    /// Runs faults under a load that ends once `is_over` says so; what was done to the server, and what is told of it.
    fn ran(
        faults: &[&str],
        refuses: bool,
        is_over: impl Fn(&[FaultDone]) -> bool,
    ) -> (Vec<String>, Vec<FaultDone>, Vec<Mark>) {
        let by = Arc::new(Mutex::new(Remembers { refuses, ..Remembers::default() }));
        let scheduled = faults.iter().map(|text| {
            let broken = Broken { by: Arc::clone(&by) as _, watch: Some(Arc::new(Second)) };
            Scheduled::new(&text.parse().unwrap(), "pg", 0.5, broken)
        });
        let faults = Faults::new(scheduled.collect());
        let mut marks = Vec::new();
        faults.while_running(&AtomicBool::new(false), || {
            faults.begin();
            while !is_over(&faults.done()) {
                std::thread::yield_now();
            }
            marks = faults.take_marks();
        });
        let told = by.lock().unwrap().told.clone();
        (told, faults.done(), marks)
    }

    #[test]
    fn each_is_done_in_its_turn_and_undone_and_who_takes_over_is_told() {
        let is_over = |done: &[FaultDone]| done.iter().all(|one| one.redundant_s.is_some());
        let (told, done, marks) = ran(&["freeze for 30ms at 60ms", "kill at 10ms..30ms"], false, is_over);
        assert_eq!(told, ["break kill", "mend kill", "break freeze", "mend freeze"]);
        let [kill, freeze] = done.as_slice() else { panic!("{done:?}") };
        assert!(kill.noticed_s.is_some() && kill.started_within_s.is_none(), "a node of several: {kill:?}");
        assert_eq!((kill.due_s, kill.of.as_str(), &kill.failed), (0.02, "node1", &None));
        let times = |done: &FaultDone| {
            [done.begun_s, done.broken_s, done.mended_s, done.promoted_s].map(Option::unwrap)
        };
        assert!(times(kill)[0] >= 0.02 && times(kill).windows(2).all(|two| two[0] <= two[1]), "{kill:?}");
        assert!(times(freeze)[2] - times(freeze)[1] >= 0.03, "{freeze:?}");
        let kinds: Vec<MarkKind> = marks.iter().map(|mark| mark.kind).collect();
        assert!(kinds.contains(&MarkKind::Promotion) && marks.iter().all(|mark| mark.planned), "{marks:?}");
        assert_eq!(failed(&done), None);
    }

    #[test]
    fn what_is_broken_when_the_load_ends_is_mended_at_once_and_what_was_to_come_has_failed() {
        let is_over = |done: &[FaultDone]| done[0].broken_s.is_some();
        let (told, done, _) = ran(&["freeze for 1h at 0s", "kill at 30m"], false, is_over);
        assert_eq!(told, ["break freeze", "mend freeze"]);
        assert!(done[0].mended_s.is_some() && done[0].failed.is_none(), "{done:?}");
        let told = failed(&done).unwrap();
        assert!(
            told.contains("`kill at 30m`") && told.contains("the load ended before it was due"),
            "{told}"
        );
    }

    #[test]
    fn a_node_that_does_not_come_back_fails_the_trial_with_why() {
        let by = Arc::new(Mutex::new(Remembers { stays_broken: true, ..Remembers::default() }));
        let broken = Broken { by, watch: None };
        let faults = Faults::new(vec![Scheduled::new(&"kill at 0s".parse().unwrap(), "pg", 0.0, broken)]);
        faults.while_running(&AtomicBool::new(false), || {
            faults.begin();
            while faults.done()[0].failed.is_none() {
                std::thread::yield_now();
            }
        });
        let [done] = faults.done().try_into().unwrap();
        assert_eq!((done.mended_s, done.started_within_s), (None, None));
        let told = failed(&[done]).unwrap();
        assert!(told.ends_with("the fault cannot be undone: node1 does not answer after 60 s"), "{told}");
    }

    #[test]
    fn how_long_a_single_server_took_to_start_again_is_kept() {
        let by = Arc::new(Mutex::new(Remembers::default()));
        let of = |fault: &str| {
            let broken = Broken { by: Arc::clone(&by) as _, watch: None };
            let faults = Faults::new(vec![Scheduled::new(&fault.parse().unwrap(), "pg", 0.0, broken)]);
            faults.while_running(&AtomicBool::new(false), || {
                faults.begin();
                while faults.done()[0].mended_s.is_none() {
                    std::thread::yield_now();
                }
            });
            faults.done().remove(0).started_within_s
        };
        assert!(
            of("kill for 300ms at 0s").is_some_and(|took_s| (0.0..0.3).contains(&took_s)),
            "not its pause"
        );
        assert_eq!(of("freeze for 1ms at 0s"), None);
    }

    #[test]
    fn a_fault_that_cannot_be_done_is_told_and_has_nothing_to_be_undone() {
        let (told, done, _) = ran(&["throttle for 1s at 0s"], true, |done| done[0].failed.is_some());
        assert_eq!(told, ["break throttle"]);
        assert!(failed(&done).unwrap().ends_with("it has no disk"));
    }

    /// What is told of a fault after looks at the nodes of a pair, of which node1 took the writes.
    fn nodes_seen(fault: &str, looks: &[(&[&str], bool)]) -> (FaultDone, Vec<Mark>) {
        let by = Arc::new(Mutex::new(Remembers::default()));
        let broken = Broken { by, watch: Some(Arc::new(Second)) };
        let faults = Faults::new(vec![Scheduled::new(&fault.parse().unwrap(), "pg", 0.0, broken)]);
        {
            let done = &mut faults.state().done[0];
            (done.of, done.took_writes) = ("node1".to_owned(), true);
            (done.begun_s, done.broken_s, done.mended_s) = (Some(1.0), Some(1.0), Some(1.5));
        }
        for (number, &(primaries, is_noticed)) in (2_u32..).zip(looks) {
            let primaries = primaries.iter().map(|name| (*name).to_owned()).collect();
            faults.seen(0, &Stands { primaries, is_redundant: false, is_noticed }, f64::from(number));
        }
        (faults.done().remove(0), faults.take_marks())
    }

    #[test]
    fn that_a_node_is_gone_is_noticed_before_another_takes_over_and_an_order_to_hand_over_is_no_failure() {
        let looks: [(&[&str], bool); 4] = [(&["node1"], false), (&[], true), (&[], true), (&["node2"], true)];
        let (done, marks) = nodes_seen("kill-node at 1s", &looks);
        assert_eq!((done.noticed_s, done.promoted_s), (Some(3.0), Some(5.0)));
        let kinds: Vec<MarkKind> = marks.iter().map(|mark| mark.kind).collect();
        assert_eq!(kinds, [MarkKind::Noticed, MarkKind::Promotion]);
        let (done, _) = nodes_seen("switchover at 1s", &looks);
        assert_eq!((done.noticed_s, done.promoted_s), (None, Some(5.0)));
    }

    #[test]
    fn two_nodes_that_take_writes_fail_the_trial_unless_their_network_was_broken() {
        let looks: [(&[&str], bool); 3] =
            [(&["node1"], false), (&["node1", "node2"], false), (&["node1", "node2"], false)];
        let (done, _) = nodes_seen("kill at 1s", &looks);
        assert_eq!(done.failed.as_deref(), Some("node1 and node2 accepted writes at the same time"));
        assert!(failed(&[done]).unwrap().starts_with("the fault `kill at 1s` of node1 was not carried out"));
        let (done, _) = nodes_seen("cut for 5s at 1s", &looks);
        let split = done.split.unwrap();
        assert_eq!((done.failed, split.from_s, split.to_s), (None, 3.0, 4.0));
    }

    /// What looks at a cluster say, each a tenth of a second after the one before, with a fault of it that was begun at 1 s and done at 2 s.
    fn looked(looks: &[(&[&str], bool)], first_s: f64) -> (FaultDone, Vec<Mark>, Option<String>) {
        let by = Arc::new(Mutex::new(Remembers::default()));
        let broken = Broken { by, watch: None };
        let watched = WatchedCluster {
            name: "prod".to_owned(),
            primary: Some("a".to_owned()),
            watch: Arc::new(Second),
        };
        let scheduled = Scheduled::new(&"cut at 1s".parse().unwrap(), "prod", 0.0, broken);
        let faults = Faults::new(vec![scheduled]).watching(vec![watched]);
        let mut now_s = first_s;
        for (primaries, is_redundant) in looks {
            if now_s >= 1.0 {
                let mut state = faults.state();
                (state.done[0].begun_s, state.done[0].broken_s) = (Some(1.0), Some(2.0));
                state.done[0].mended_s = Some(2.0);
            }
            let primaries = primaries.iter().map(|name| (*name).to_owned()).collect();
            let stands = Stands { primaries, is_redundant: *is_redundant, is_noticed: false };
            faults.cluster_seen(0, &stands, (now_s, now_s + 0.05));
            now_s += 0.1;
        }
        (faults.done().remove(0), faults.take_marks(), faults.trouble())
    }

    #[test]
    fn who_takes_writes_of_a_cluster_after_a_command_is_its_work_and_redundant_is_what_stays_so() {
        let (none, alone): (&[&str], bool) = (&[], false);
        // The command returned before what it breaks was broken.
        let looks = [
            (&["a"][..], true),
            (none, alone),
            (none, alone),
            (&["b"], false),
            (&["b"], true),
            (&["b"], true),
        ];
        let (done, marks, trouble) = looked(&looks, 2.0);
        let rounded = |seconds: Option<f64>| seconds.map(|seconds| (seconds * 100.0).round());
        assert_eq!((rounded(done.promoted_s), rounded(done.redundant_s)), (Some(235.0), Some(245.0)));
        assert!(done.took_writes && done.failed.is_none() && trouble.is_none(), "{done:?}");
        let [mark] = marks.as_slice() else { panic!("{marks:?}") };
        assert_eq!((mark.what.as_str(), mark.planned), ("b accepts writes", true));
        let (done, ..) = looked(&[(&["a"], true), (&["a"], false), (&["a"], true)], 2.0);
        assert_eq!(rounded(done.redundant_s), Some(205.0), "one look may fail by chance");
    }

    #[test]
    fn a_member_that_takes_over_unasked_is_marked_and_two_that_write_fail_the_trial() {
        let (done, marks, _) = looked(&[(&["a"], true), (&["b"], true)], 0.1);
        assert_eq!((done.promoted_s, marks.len(), marks[0].planned), (None, 1, false));
        let both: (&[&str], bool) = (&["a", "b"], false);
        assert_eq!(looked(&[both, (&["a"], true)], 0.1).2, None, "they were not asked at one moment");
        let trouble = looked(&[both, both], 0.1).2;
        assert_eq!(trouble.as_deref(), Some("cluster prod: a and b accepted writes at the same time"));
        let (done, _, trouble) = looked(&[both, both], 2.0);
        assert_eq!(
            (done.failed.as_deref(), trouble),
            (Some("a and b accepted writes at the same time"), None)
        );
    }
}
