//! The events of a small study, told the way a runner tells them.

use std::collections::BTreeMap;

use record::*;

/// When the study began.
pub(crate) fn begin() -> jiff::Timestamp {
    jiff::Timestamp::constant(1_795_246_200, 0)
}

pub(crate) fn manifest(state: State) -> Manifest {
    let planned = |number| PlannedTrial {
        number,
        name: format!("RND4K Q{number}T1"),
        block: 1,
        levels: BTreeMap::from([("outstanding".to_owned(), number.to_string())]),
        configuration: String::new(),
        aa: false,
    };
    Manifest {
        format: FORMAT_VERSION,
        tool_version: "0.1.0".to_owned(),
        title: "A small study".to_owned(),
        slug: "small".to_owned(),
        labels: Labels {
            name: Some("before".to_owned()),
            tags: BTreeMap::from([("disk".to_owned(), "nvme".to_owned())]),
            title: Some("Old controller".to_owned()),
            comment: Some("Firmware 3.1.\nCache off.".to_owned()),
        },
        profile: Some("quick".to_owned()),
        command: vec!["prony".to_owned(), "check".to_owned()],
        working_directory: None,
        run: None,
        seed: 42,
        started: begin().to_string(),
        finished: (state != State::Running).then(|| "2026-11-21T07:32:00Z".to_owned()),
        state,
        reason: None,
        latency_tolerance_ms: Some(20.0),
        expect: None,
        search: None,
        quick: false,
        lab: None,
        disk_bytes: None,
        prices: None,
        percentiles: None,
        design: None,
        resumed: Vec::new(),
        plan: (1..=3).map(planned).collect(),
    }
}

pub(crate) fn environment() -> Environment {
    let unknown = || "not asked in this test".to_owned();
    Environment {
        format: FORMAT_VERSION,
        tool_version: "0.1.0".to_owned(),
        taken: begin().to_string(),
        host: "braked".to_owned(),
        system: Reading::Known("Debian GNU/Linux 12 (bookworm)".to_owned()),
        kernel: "6.1.0".to_owned(),
        cpu: Cpu {
            model: Reading::Known("AMD EPYC".to_owned()),
            usable: 2,
            hypervisor: Some("KVM".to_owned()),
            governor: Reading::Unknown(unknown()),
        },
        memory: Memory { total_bytes: 8 << 30, available_bytes: 7 << 30 },
        volumes: BTreeMap::from([(
            "/data".to_owned(),
            Storage { mount: Reading::Unknown(unknown()), device: Reading::Unknown(unknown()), layout: None },
        )]),
        servers: BTreeMap::new(),
        tuning: None,
        inspected: Vec::new(),
    }
}

pub(crate) fn setup(pacing: Loop) -> Setup {
    Setup::Disk(Box::new(DiskSetup {
        path: "/data".to_owned(),
        block_bytes: 4096,
        read_per_cent: 70.0,
        pattern: "random".to_owned(),
        outstanding: 8,
        threads: 1,
        files: 1,
        file_bytes: 1 << 30,
        region_bytes: 1 << 30,
        cache: CacheMode::Direct,
        flush_every_writes: None,
        compressible_per_cent: 0.0,
        duplicate_per_cent: 0.0,
        written: Written::ByUs,
        pacing,
        engine: DiskEngine::Simulated,
        engine_fallback: None,
        engine_features: vec!["single issuer".to_owned()],
        buffers: BufferUse::Registered,
        timing: "one stamp an I/O".to_owned(),
        affinity: vec![0],
        calibration: Some(Calibration { generator_ns_per_operation: 150.0 }),
        seed: 42,
        content_nonce: 7,
    }))
}

pub(crate) fn trial(number: u32, state: State) -> TrialRecord {
    TrialRecord {
        name: format!("RND4K Q{number}T1"),
        levels: BTreeMap::from([("outstanding".to_owned(), number.to_string())]),
        state,
        reason: (state == State::Skipped).then(|| "latency tolerance passed".to_owned()),
        started: Some("2026-11-21T07:30:05Z".to_owned()),
        parameters: serde_json::json!({ "block": "4KiB", "outstanding": number }),
        target: serde_json::json!({ "paths": ["/data"] }),
        ..TrialRecord::planned(Workload::Disk, number)
    }
}

fn latency(count: u64, from_ns: u64) -> Latency {
    let mut latency = Latency::new();
    (0..count).for_each(|i| latency.record_ns(from_ns + i * 1_000));
    latency
}

pub(crate) fn operation(count: u64, open: bool) -> OperationInterval {
    OperationInterval {
        count,
        errors: 1,
        bytes: count * 4096,
        rows: count * 3,
        due_before: open.then_some(count / 4),
        service: latency(count, 80_000),
        response: open.then(|| latency(count, 90_000)),
        lag: open.then(|| latency(count, 10_000)),
    }
}

/// The phase of each second of a trial.
const PHASES: [Phase; 5] = [Phase::WarmUp, Phase::Measure, Phase::Measure, Phase::Measure, Phase::Drain];

/// The intervals of a trial, each with twenty reads and, but for the last, ten writes.
pub(crate) fn intervals(open: bool) -> Vec<Interval> {
    let interval = |(second, phase): (usize, Phase)| {
        let mut operations = BTreeMap::from([("read".to_owned(), operation(20, open))]);
        let length_s = if phase == Phase::Drain { 0.003_217 } else { 1.000_04 };
        if phase != Phase::Drain {
            operations.insert("write".to_owned(), operation(10, open));
        }
        Interval {
            end_s: second as f64 * 1.000_04 + length_s,
            length_s,
            phase,
            operations,
            gauges: BTreeMap::from([("queue_depth".to_owned(), 7.5)]),
            generator_cpu_us: 900,
            generator_busiest_share: 0.25,
            generator_pauses: None,
        }
    };
    PHASES.into_iter().enumerate().map(interval).collect()
}

pub(crate) fn resources(end_s: f64) -> Resources {
    let machine = MachineLoad { cpu_busy_share: vec![0.5, 0.25], ..MachineLoad::default() };
    Resources { end_s, length_s: 1.0, machine: Some(machine), ..Resources::default() }
}

/// What the runner tells of one trial up to its end; the end itself is the last event.
pub(crate) fn trial_events(number: u32, open: bool) -> Vec<Event> {
    let pacing = if open {
        Loop::Open { rate_per_s: 30.0, poisson: false }
    } else {
        Loop::Closed { think_time_us: 0.0 }
    };
    let mut events = vec![
        Event::Pausing { number, pause_s: 5.0 },
        Event::TrialStarted(trial(number, State::Running)),
        Event::TrialSetUp { number, setup: setup(pacing), placed: Vec::new() },
    ];
    for interval in intervals(open) {
        let end_s = interval.end_s;
        events.push(Event::Interval { number, interval });
        events.push(Event::Resources { number, resources: resources(end_s) });
    }
    let outcome = Outcome::Disk(DiskOutcome::default());
    let ended =
        TrialRecord { setup: Some(setup(pacing)), outcome: Some(outcome), ..trial(number, State::Complete) };
    events.push(Event::TrialFinished(ended));
    events
}

/// A study of a closed trial, an open one, and one that was skipped.
pub(crate) fn events() -> Vec<Event> {
    let mut events = vec![
        Event::StudyStarted { manifest: manifest(State::Running), environment: environment() },
        Event::Preparing(Preparation::new("writing test files", 1 << 30, 1 << 30, Unit::Bytes)),
    ];
    events.extend(trial_events(1, false));
    events.extend(trial_events(2, true));
    events.push(Event::TrialFinished(TrialRecord { started: None, ..trial(3, State::Skipped) }));
    events.push(Event::StudyFinished(manifest(State::Complete)));
    events
}
