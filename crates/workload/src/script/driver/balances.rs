//! What pgbench's tables hold before a load, and whether they agree after it.

use database::{Error, Lease};
use record::{Balances, Parameter};

use crate::TrialError;
use crate::script::Job;
use crate::script::builtin::{Builtin, Sums, Tables, agree, standing};

/// Before the load.
#[derive(Debug)]
pub(super) struct Before {
    /// Size of the tables.
    pub(super) scale: u32,
    /// None where files of the user's may change the tables too.
    sums: Option<Sums>,
    scripts: Vec<Builtin>,
}

impl Before {
    /// Looks, if there are built-in scripts.
    pub(super) async fn of(job: &Job, lease: &Lease) -> Result<Option<Self>, TrialError> {
        let scripts: Vec<Builtin> =
            job.builtin.iter().filter(|one| one.weight > 0).map(|one| one.builtin).collect();
        if scripts.is_empty() {
            return Ok(None);
        }
        let mut session = lease.session().await?;
        let Tables::Of(scale) = standing(&mut session).await? else {
            return Err(TrialError::Load(format!(
                "pgbench's tables do not exist: give {}, or create them with `pgbench -i`",
                Parameter::new("workload.script.initialise").of("true")
            )));
        };
        let others = job.files.iter().any(|file| file.weight > 0);
        let sums = if others { None } else { Some(Sums::read(&mut session).await?) };
        Ok(Some(Self { scale, sums, scripts }))
    }

    /// What changed since, and what is wrong with it; none where that says nothing.
    pub(super) async fn compared(&self, lease: &Lease) -> Result<Option<(Balances, Option<String>)>, Error> {
        let Some(before) = self.sums else { return Ok(None) };
        let changed = Sums::read(&mut lease.session().await?).await?.since(before);
        let Sums { accounts, tellers, branches, history } = changed;
        let balances = Balances { accounts, tellers, branches, history };
        Ok(Some((balances, agree(changed, &self.scripts).err())))
    }
}
