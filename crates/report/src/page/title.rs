//! What a page is called: what was measured on what, where and when.

use maud::{Markup, html};
use record::Reading;

use crate::format;
use crate::report::Report;

/// A comment of at most this many characters stays in the command line.
const COMMENT_SHORT: usize = 40;
/// Targets that a title names before it counts.
const TARGETS_MOST: usize = 3;

/// A title in two pieces, the second of which may be shown smaller.
pub(crate) struct Title {
    /// The study: `Check`.
    pub(crate) what: String,
    /// `/data, SQLite 3.53.2 on db7 (nvme0n1), 2026-11-21`; as much of it as is recorded.
    pub(crate) on: String,
}

impl Title {
    /// Both pieces.
    pub(crate) fn whole(&self) -> String {
        [self.what.as_str(), &self.on]
            .into_iter()
            .filter(|piece| !piece.is_empty())
            .collect::<Vec<_>>()
            .join(": ")
    }
}

pub(crate) fn of(report: &Report) -> Title {
    let day = report.started.get(..10).map(str::to_owned);
    let on = place(report).into_iter().chain(day).collect::<Vec<String>>().join(", ");
    Title { what: report.title.clone(), on }
}

/// The title of the measurement with its target and machine, without the day: `Disk: /data on db7 (nvme0n1)`.
pub(crate) fn measured(report: &Report) -> String {
    Title { what: report.title.clone(), on: place(report).unwrap_or_default() }.whole()
}

/// The heading of the page: the user's title, or otherwise the title of the measurement.
pub(crate) fn heading(report: &Report) -> String {
    report.labels.title.clone().unwrap_or_else(|| of(report).whole())
}

/// The title of the measurement, as a second line below the user's title. Returns none without a user's title.
pub(crate) fn below(report: &Report) -> Option<String> {
    report.labels.title.as_ref().map(|_| of(report).whole())
}

/// The user's comment, with one paragraph per line.
pub(crate) fn comment(report: &Report) -> Markup {
    html! {
        @if report.labels.comment.is_some() {
            div.comment { @for line in report.labels.comment_lines().filter(|line| !line.trim().is_empty()) { p { (line) } } }
        }
    }
}

/// The command line. `…` stands for the user's comment, which the page shows as text.
pub(crate) fn command(report: &Report) -> String {
    // A short comment could also be the value of another option.
    let is_long = |comment: &&str| comment.chars().count() > COMMENT_SHORT || comment.contains('\n');
    let comment = report.stored_comment.as_deref().filter(is_long);
    let word = |word: &String| {
        let before = comment.and_then(|comment| word.trim_end().strip_suffix(comment)).map(str::trim_end);
        // The comment can follow an option's equals sign.
        match before.filter(|before| before.is_empty() || before.ends_with('=')) {
            Some(before) => format!("{before}…"),
            None => word.clone(),
        }
    };
    format::command_line(&report.command.iter().map(word).collect::<Vec<String>>())
}

/// What was measured and where: `/data, SQLite 3.53.2 on db7 (nvme0n1)`; none where the record has neither.
pub(crate) fn place(report: &Report) -> Option<String> {
    let host = report.environment.as_ref().map(|environment| {
        let devices = devices(report);
        if devices.is_empty() {
            environment.host.clone()
        } else {
            format!("{} ({})", environment.host, listed(devices))
        }
    });
    let targets = Some(targets(report)).filter(|targets| !targets.is_empty()).map(listed);
    match (targets, host) {
        (Some(targets), Some(host)) => Some(format!("{targets} on {host}")),
        (targets, host) => targets.or(host),
    }
}

/// What was loaded, each once.
fn targets(report: &Report) -> Vec<String> {
    let setups = report.trials.iter().filter_map(|trial| Some((trial.shown(), trial.setup.as_ref()?)));
    let directory = report.working_directory.as_deref();
    let named = setups.flat_map(|(shown, setup)| {
        let directory = directory.filter(|_| shown.loads_paths());
        shown.targets(setup).into_iter().map(move |target| absolute(target, directory))
    });
    distinct(named)
}

/// Completes a relative path with the directory in which prony ran: a reader does not know that directory.
fn absolute(path: String, working_directory: Option<&str>) -> String {
    let Some(directory) = working_directory.filter(|_| !path.starts_with('/')) else { return path };
    match path.trim_start_matches("./") {
        "" | "." => directory.to_owned(),
        below => format!("{}/{below}", directory.trim_end_matches('/')),
    }
}

/// The block devices under the targets, each once.
fn devices(report: &Report) -> Vec<String> {
    let volumes = report.environment.iter().flat_map(|environment| environment.volumes.values());
    distinct(volumes.filter_map(|volume| match &volume.device {
        Reading::Known(device) => Some(device.name.clone()),
        Reading::Unknown(_) => None,
    }))
}

fn distinct(all: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for one in all {
        if !kept.contains(&one) {
            kept.push(one);
        }
    }
    kept
}

/// All of few, else the first of them and how many more there are.
fn listed(mut names: Vec<String>) -> String {
    let more = names.len().saturating_sub(TARGETS_MOST);
    names.truncate(TARGETS_MOST);
    let names = names.join(", ");
    if more > 0 { format!("{names} and {more} more") } else { names }
}

#[cfg(test)]
mod tests {
    use super::absolute;

    #[test]
    fn a_target_is_named_by_its_whole_path() {
        for (path, told) in [
            (".", "/srv/db"),
            ("./", "/srv/db"),
            ("./data", "/srv/db/data"),
            ("data", "/srv/db/data"),
            ("/data", "/data"),
            (".hidden", "/srv/db/.hidden"),
            ("../other", "/srv/db/../other"),
        ] {
            assert_eq!(absolute(path.to_owned(), Some("/srv/db")), told);
            assert_eq!(absolute(path.to_owned(), None), path);
        }
    }
}
