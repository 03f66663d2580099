//! Profiles from their plan to their report, on a device that exists in virtual time only.

use serde_json::Value;

use crate::workbench::Workbench;

/// The text and the document of a profile, measured in moments.
fn measured(profile: &str, options: &[&str]) -> (String, Value) {
    let bench = Workbench::new();
    let short = ["--engine", "simulated", "--duration", "100ms", "--warm-up", "0s", "--cooldown", "0s"];
    let outcome =
        bench.run(&[&["disk", "x", "--profile", profile], &short[..], options].concat()).ended_with(0);
    (outcome.stdout, bench.report_json(&bench.results().unwrap()))
}

#[test]
fn profiles_measure_every_trial_of_their_plan() {
    for (profile, trials, configurations) in
        [("quick", 8, 8), ("cdm3", 40, 8), ("cdm8", 40, 8), ("sqlserver", 12, 12), ("flush", 7, 7)]
    {
        let (text, document) = measured(profile, &[]);
        assert_eq!((&document["state"], &document["profile"]), (&"complete".into(), &profile.into()));
        let states = document["trials"].as_array().unwrap().iter().map(|trial| &trial["state"]);
        assert_eq!(states.filter(|state| *state == "complete").count(), trials, "{profile}");
        let measured = document["configurations"].as_array().unwrap().len();
        assert_eq!(measured, configurations, "{profile}: repeats are taken together");
        let published = text.contains("compared with published figures");
        assert!(published || !matches!(profile, "cdm3" | "sqlserver"), "{profile}:\n{text}");
    }
}

/// At depth N the device answers after N times 100 µs: 16 outstanding stay below 2 ms, 32 do not.
#[test]
fn a_sweep_goes_no_deeper_than_the_tolerance_and_says_where() {
    let (text, document) = measured("sweep", &["--block-size", "8KiB", "--latency-tolerance", "2ms"]);
    let trials = document["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 4 * 9, "four scenarios, 1 to 256 outstanding");
    for trial in trials {
        let depth = trial["levels"]["outstanding"].as_str().unwrap().parse::<u32>().unwrap();
        let (state, reason) = (trial["state"].as_str().unwrap(), trial["reason"].as_str().unwrap_or(""));
        assert_eq!(state, if depth <= 32 { "complete" } else { "skipped" }, "{depth} outstanding");
        assert_eq!(
            reason.contains("at 32 outstanding I/Os, the mean latency exceeded the tolerance of 2ms"),
            depth > 32,
            "{reason}"
        );
    }
    assert_eq!(document["sweeps"].as_array().unwrap().len(), 4);
    assert!(text.contains("32"), "{text}");
}
