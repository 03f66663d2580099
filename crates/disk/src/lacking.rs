//! What the machine lacks of what a job asks for: known before anything is touched.

use crate::job::Job;

/// On fewer CPUs the kernel's submission thread takes the time that the load needs: fio fell to 15 k IOPS on two.
const KERNEL_SUBMISSION_CPUS_MIN: usize = 4;

/// What the machine lacks of what a job asks for, if anything. Touches nothing.
pub(crate) fn lacking(job: &Job) -> Option<String> {
    let usable = crate::affinity::usable_cpus();
    let mut asked = job
        .affinity
        .iter()
        .chain(job.pools.iter().filter_map(|pool| pool.affinity.as_ref()))
        .flat_map(|cpus| &cpus.0);
    if let Some(cpu) = asked.find(|cpu| !usable.contains(cpu)) {
        return Some(format!("affinity: CPU {cpu} is not available to this process. It may use {usable:?}"));
    }
    if let Some(lack) = crate::memory::lack(job) {
        return Some(lack);
    }
    let cpus = usable.len();
    (job.kernel_submission && cpus < KERNEL_SUBMISSION_CPUS_MIN).then(|| {
        format!(
            "kernel_submission (SQPOLL) needs {KERNEL_SUBMISSION_CPUS_MIN} CPUs, but this process has \
             {cpus}. Remove it"
        )
    })
}
