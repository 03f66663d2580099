//! What a study knows of a disk test before it runs.

use load::{Around, JobError, Phases, Size, Span, TargetNeeds, Workload};

use crate::{Job, Pattern, Settings};

/// Test files of a quick look.
const QUICK_FILE_SIZE: Size = Size::mib(256);

impl Workload for Settings {
    const WORKLOAD: record::Workload = record::Workload::Disk;
    const TIMES: [&'static str; 2] = ["warm_up", "duration"];
    type Job = Job;

    fn job(&self) -> Result<Job, Vec<JobError>> {
        Job::of(self)
    }

    fn seed(&mut self) -> &mut Option<u64> {
        &mut self.seed
    }

    fn seed_of(job: &mut Job) -> &mut u64 {
        &mut job.seed
    }

    fn phases(job: &Job) -> Phases {
        job.phases
    }

    fn warm_up(&mut self) -> &mut Option<Span> {
        &mut self.warm_up
    }

    fn phases_of(job: &mut Job) -> &mut Phases {
        &mut job.phases
    }

    /// It is calibrated, and its files are opened.
    fn around(_: &Job, _: &str) -> Around {
        Around { load_s: 0.0, trial_s: 0.3 }
    }

    fn needs(job: &Job) -> TargetNeeds {
        // Thread pools name their own files.
        if job.pools.is_empty() && job.needs_files() { TargetNeeds::Paths } else { TargetNeeds::Nothing }
    }

    fn writes(job: &Job) -> bool {
        job.writes() && job.needs_files()
    }

    /// `8KiB random read Q32T1`.
    fn describe(job: &Job, _: usize) -> String {
        if let Some(verify) = &job.verify {
            // Pages are read before updates, and while a log waits for its flush. So the share of reads is not fixed in advance.
            let (size, depth) = (Size(job.block_bytes), job.outstanding);
            return format!("{size} pages verified, {} Q{depth}T{}", verify.profile.name(), job.threads);
        }
        let direction = match job.read_share {
            1.0 => "read".to_owned(),
            0.0 => "write".to_owned(),
            share => format!("{:.0}/{:.0} read/write", share * 100.0, (1.0 - share) * 100.0),
        };
        let pattern = match job.pattern {
            Pattern::Sequential => "sequential".to_owned(),
            Pattern::Random => "random".to_owned(),
            other => other.to_string(),
        };
        let rate =
            job.pacing.rate_per_s().map_or_else(String::new, |rate| format!(" at {}/s", rounded(rate)));
        format!("{} {pattern} {direction} Q{}T{}{rate}", Size(job.block_bytes), job.outstanding, job.threads)
    }

    fn tells_levels(_: bool) -> bool {
        false
    }

    fn line(job: &Job) -> String {
        format!(
            "{:>8}  {:>3.0}% reads  Q{:<3} T{:<3}",
            Size(job.block_bytes).to_string(),
            job.read_share * 100.0,
            job.outstanding,
            job.threads
        )
    }

    fn quick_look(shared: &Self, _: &[&Self]) -> Self {
        let size = shared.file_size.map_or(QUICK_FILE_SIZE, |size| Size(size.0.min(QUICK_FILE_SIZE.0)));
        Self {
            warm_up: Some(Span::microseconds(500_000)),
            duration: Some(Span::seconds(2)),
            file_size: Some(size),
            ..Self::default()
        }
    }

    /// What only writes can heed, where no trial writes.
    fn without_effect(asked: &[(&Self, &Job)], _: bool) -> Vec<JobError> {
        if asked.iter().any(|(_, job)| job.writes()) {
            return Vec::new();
        }
        let given = |settings: &Self| {
            // SQLIO's front end asks for it in general, and names the files themselves as pools.
            let own_files = settings.pools.is_none();
            [
                ("flush_every", settings.flush_every.is_some()),
                ("write_through", settings.write_through == Some(true)),
                ("overwrite", settings.overwrite == Some(true) && own_files),
                ("destroy", settings.destroy.is_some() && own_files),
            ]
        };
        let ignored =
            asked.iter().flat_map(|(settings, _)| given(settings)).filter(|&(_, is_given)| is_given);
        let problem = format!(
            "no effect because nothing is written. Give a share of reads below 100 with {}",
            crate::parameter("read_share")
        );
        ignored.map(|(parameter, _)| JobError { parameter, problem: problem.clone() }).collect()
    }
}
/// A rate as people read it: whole, or three digits.
fn rounded(rate_per_s: f64) -> String {
    if rate_per_s.fract() == 0.0 {
        return rate_per_s.to_string();
    }
    let digits = (2.0 - rate_per_s.abs().log10().floor()).max(0.0) as usize;
    format!("{rate_per_s:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 I/Os an hour were `0.027777777777777776/s` in a name.
    #[test]
    fn rates_are_rounded_to_three_digits() {
        for (rate_per_s, expected) in [
            (100.0 / 3600.0, "0.0278"),
            (5_000.0, "5000"),
            (1_234.5, "1234"),
            (83.333_333, "83.3"),
            (0.5, "0.500"),
        ] {
            assert_eq!(rounded(rate_per_s), expected);
        }
    }
}
