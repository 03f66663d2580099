//! What speaks against figures of a started server: places that are not apart, and limits that did not hold or limit nothing.

use record::{LimitProof, ServerStep, StartedServer};

use super::table::proved;
use super::words::on_one_device;
use crate::format;
use crate::report::Report;
use crate::trial::Trial;
use crate::verdict::doubt::Doubt;
use crate::verdict::{Level, Verdict};

pub(crate) fn doubts(report: &Report) -> Vec<Verdict> {
    let trials = &report.trials;
    let passed = limits(
        trials,
        Level::Warning,
        "limit_passed",
        |proof| !proof.holds(),
        |which| format!("a limit of its server was exceeded ({which})"),
    )
    .map(|verdict| {
        let verdict = verdict.with_effect("the figures are those of a larger limit");
        verdict.with_action("check the kernel's counters of this device, or choose a directory on another")
    });
    let idle = |proof: &LimitProof| proof.holds() && !proof.is_reached();
    let loose = limits(trials, Level::Note, "limit_not_reached", idle, |which| {
        format!("the server did not reach a limit ({which}), so something else is the bottleneck")
    });
    let cached = [still_cached(trials), warm(trials)].into_iter().flatten();
    together(trials).into_iter().chain(not_quiet(trials)).chain(passed).chain(loose).chain(cached).collect()
}

/// Trials whose servers had files in the page cache although these were evicted.
fn still_cached(trials: &[Trial]) -> Option<Verdict> {
    let told = with_cached_files(trials, "files_still_cached", true, |name, server, cache| {
        let kept = "a file system in memory or another program keeps these pages there";
        match reads_are_limited(server) {
            true => format!(
                "{name} had {cache} in the page cache after eviction: {kept}. Reads from the cache bypass the I/O limits of {name}"
            ),
            false => format!(
                "{name} had {cache} in the page cache after eviction: {kept}. Its first reads are not cold"
            ),
        }
    });
    told.map(|verdict| verdict.with_action("place its data on a disk"))
}

/// Trials whose servers were limited with warm caches, as their study asks for it.
fn warm(trials: &[Trial]) -> Option<Verdict> {
    let told = with_cached_files(trials, "files_not_evicted", false, |name, _, cache| {
        format!(
            "{name} had {cache} in the page cache when its limits took effect, and the study keeps these pages (cold = false). Reads from the cache bypass the I/O limits of {name}"
        )
    });
    told.map(|verdict| verdict.with_action("remove cold from its [target.server.NAME] to evict these pages"))
}

fn with_cached_files(
    trials: &[Trial],
    rule: &'static str,
    is_evicted: bool,
    sentence: impl Fn(&str, &StartedServer, &str) -> String,
) -> Option<Verdict> {
    let of_server = |server: &&StartedServer| {
        server.file_cache.is_some_and(|cache| cache.is_evicted == is_evicted && cache.passes_limits())
    };
    let of = |trial: &Trial| trial.started_servers.iter().find(of_server).cloned();
    let server = trials.iter().find_map(of)?;
    let cache = server.file_cache?;
    let cached =
        format!("{} of {} of its files", format::bytes(cache.cached_bytes), format::bytes(cache.files_bytes));
    let name = format!("its server {}", server.name);
    Doubt::plain(Level::Warning, rule, trials, |trial| of(trial).is_some())
        .verdict(format::per_cent, |_| sentence(&name, &server, &cached))
}

fn reads_are_limited(server: &StartedServer) -> bool {
    server.limits.as_ref().is_some_and(|limits| {
        let of_devices =
            |limits: &record::DeviceLimits| limits.reads_per_s.is_some() || limits.read_bytes_per_s.is_some();
        limits.memory_bytes.is_some() || limits.devices.values().any(of_devices)
    })
}

fn together(trials: &[Trial]) -> Option<Verdict> {
    let of = |trial: &Trial| trial.started_servers.iter().flat_map(on_one_device).next();
    let (places, device) = trials.iter().find_map(of)?;
    Doubt::plain(Level::Warning, "servers_on_one_device", trials, |trial| of(trial).is_some()).verdict(
        format::per_cent,
        |_| {
            format!(
                "{places} of its server should be on different devices but are on {device}, so the figures show no gain of placement"
            )
        },
    ).map(|verdict| verdict.with_action("use directories on different devices"))
}

/// Trials before which devices were waited for in vain.
fn not_quiet(trials: &[Trial]) -> Option<Verdict> {
    let of = |trial: &Trial| {
        let mut servers = trial.started_servers.iter();
        servers.find_map(|server| {
            let step = server.steps.iter().find(|step| step.what == ServerStep::NOT_QUIET)?;
            Some((server.name.clone(), step.clone()))
        })
    };
    let (name, step) = trials.iter().find_map(of)?;
    Doubt::plain(Level::Warning, "devices_not_quiet", trials, |trial| of(trial).is_some())
        .verdict(format::per_cent, |_| {
            format!(
                "the devices of its server {name} were not quiet within {}: {}",
                format::duration(step.took_s),
                step.remark.as_deref().unwrap_or("background I/O"),
            )
        })
        .map(|verdict| verdict.with_action("wait longer, and find the programs that use them"))
}

fn limits(
    trials: &[Trial],
    level: Level,
    rule: &'static str,
    is_meant: impl Fn(&LimitProof) -> bool,
    sentence: impl Fn(&str) -> String,
) -> Option<Verdict> {
    let of_server = |server: &StartedServer| {
        let mut proofs = server.limits.iter().flat_map(|limits| &limits.proofs);
        proofs.find(|proof| is_meant(proof)).map(|proof| proved(server, proof))
    };
    let of = |trial: &Trial| trial.started_servers.iter().find_map(of_server);
    let which = trials.iter().find_map(of)?;
    Doubt::plain(level, rule, trials, |trial| of(trial).is_some())
        .verdict(format::per_cent, |_| sentence(&which))
}
