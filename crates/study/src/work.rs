//! What trials run, whichever workload it is of. This is the one file of the crate that names the workloads: a new one is a line in
//! the list below.

use std::any::Any;

use load::{Around, JobError, Phases, Searched, Span, TargetNeeds, Workload};
use serde::{Deserialize, Serialize};

/// Parameters of a workload as given, and what they come to.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked<W: Workload> {
    /// As given.
    pub settings: W,
    /// What they come to; in a search that of the first step.
    pub job: W::Job,
}

/// A workload that a study can run.
pub trait Known: Workload {
    /// Its parameters among those of all workloads.
    fn given(workload: &Given) -> &Option<Self>;

    /// Its parameters among those of all workloads, to be changed.
    fn given_mut(workload: &mut Given) -> &mut Option<Self>;

    /// What is asked of it, as the work of a trial.
    fn work(asked: Asked<Self>) -> Work;
}

macro_rules! workloads {
    ($($(#[$text:meta])* $variant:ident $name:ident: $settings:ty;)*) => {
        /// What one trial runs.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Work {
            $($(#[$text])* $variant(Box<Asked<$settings>>),)*
        }

        /// Parameters, by workload. A configuration is of the workload whose parameters it gives.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Given {
            $($(#[$text])* #[serde(default, skip_serializing_if = "Option::is_none")] pub $name: Option<$settings>,)*
        }

        $(impl Known for $settings {
            fn given(workload: &Given) -> &Option<Self> {
                &workload.$name
            }

            fn given_mut(workload: &mut Given) -> &mut Option<Self> {
                &mut workload.$name
            }

            fn work(asked: Asked<Self>) -> Work {
                Work::$variant(Box::new(asked))
            }
        })*

        impl Work {
            /// It, whichever workload it is of.
            #[must_use]
            pub fn any(&self) -> &dyn AnyWork {
                match self {
                    $(Self::$variant(asked) => &**asked,)*
                }
            }
        }

        /// Names of all workloads.
        pub(crate) const NAMES: &[&str] = &[$(<$settings as Workload>::NAME),*];

        impl Given {
            /// Names of the workloads that have parameters here.
            pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
                [$((<$settings as Workload>::NAME, self.$name.is_some())),*]
                    .into_iter()
                    .filter_map(|(name, is_given)| is_given.then_some(name))
            }
        }

        /// Has a visitor do what it does with the workload of a name.
        pub(crate) fn with<V: Visitor>(name: &str, visitor: V) -> Option<V::Of> {
            $(if name == <$settings as Workload>::NAME {
                return Some(visitor.of::<$settings>());
            })*
            None
        }
    };
}

workloads! {
    /// A disk test.
    Disk disk: disk::Settings;
    /// A historian, or a search of one.
    Historian historian: workload::historian::Settings;
    /// A load of orders.
    Orders orders: workload::orders::Settings;
    /// A load of scripts.
    Script script: workload::script::Settings;
    /// Reports over messages.
    Reporting reporting: workload::reporting::Settings;
    /// A load on registers.
    Register register: workload::register::Settings;
    /// A trial of a kind of table.
    Tables tables: workload::tables::Settings;
}

/// What can be done with any workload once its type is known.
pub(crate) trait Visitor {
    type Of;

    fn of<W: Known>(self) -> Self::Of;
}

impl Work {
    /// The job of a workload, by its parameters' type; none if it is another one's.
    #[must_use]
    pub fn job<W: Known>(&self) -> Option<&W::Job> {
        self.asked::<W>().map(|asked| &asked.job)
    }

    /// What is asked of a workload; none if it is another one's.
    #[must_use]
    pub fn asked<W: Known>(&self) -> Option<&Asked<W>> {
        self.any().of_its_type().downcast_ref()
    }
}

/// What is known of any work.
pub trait AnyWork {
    /// Its workload.
    fn workload(&self) -> record::Workload;

    /// Warm-up and window.
    fn phases(&self) -> Phases;

    /// Parameters as given.
    fn parameters(&self) -> serde_json::Value;

    /// What they come to, as a text that is the same for the same work.
    fn comes_to(&self) -> String;

    /// Sessions that it has in each of its databases at once, at most.
    fn sessions(&self) -> u32;

    /// It in a line of a plan.
    fn line(&self) -> String;

    /// What it does, against so many databases.
    fn describe(&self, databases: usize) -> String;

    /// Whether names of trials tell their levels.
    fn tells_levels(&self, is_named: bool) -> bool;

    /// What it needs of a target.
    fn needs(&self) -> TargetNeeds;

    /// What a database is loaded with for it before the first trial.
    fn content(&self) -> String;

    /// Whether a trial leaves its database as it found it.
    fn leaves_as_found(&self) -> bool;

    /// What takes time besides its phases.
    fn besides(&self) -> Option<String>;

    /// About how long a trial takes besides its phases, with a database of this dialect.
    fn around(&self, dialect: &str) -> Around;

    /// Why it is left out on a database of this dialect.
    fn lacks(&self, dialect: &str) -> Option<String>;

    /// Whether it goes on while its database is broken on purpose.
    fn endures_faults(&self) -> bool;

    /// Whether it writes to its target.
    fn writes(&self) -> bool;

    /// What a search has to know of it; none where no rate is held.
    fn searched(&self) -> Option<Searched>;

    /// The same at a rate that a search sets, with other times.
    ///
    /// # Errors
    /// When a job cannot have these.
    fn at_rate(&self, rate_per_s: f64, phases: Phases) -> Result<Work, Vec<JobError>>;

    /// The same with another warm-up.
    fn with_warm_up(&self, warm_up: Span) -> Work;

    /// The same with another seed.
    fn with_seed(&self, seed: &dyn Fn(u64) -> u64) -> Work;

    /// Parameters that nothing heeds in all of these.
    fn without_effect(&self, all: &[&Work], is_search: bool) -> Vec<JobError>;

    /// What is asked, by its own type.
    fn of_its_type(&self) -> &dyn Any;
}

impl<W: Known> AnyWork for Asked<W> {
    fn workload(&self) -> record::Workload {
        W::WORKLOAD
    }

    fn phases(&self) -> Phases {
        W::phases(&self.job)
    }

    fn parameters(&self) -> serde_json::Value {
        serde_json::to_value(&self.settings).unwrap_or_default()
    }

    fn sessions(&self) -> u32 {
        W::sessions(&self.job)
    }

    fn comes_to(&self) -> String {
        format!("{} {:?}", W::NAME, self.job)
    }

    fn line(&self) -> String {
        W::line(&self.job)
    }

    fn describe(&self, databases: usize) -> String {
        W::describe(&self.job, databases)
    }

    fn tells_levels(&self, is_named: bool) -> bool {
        W::tells_levels(is_named)
    }

    fn needs(&self) -> TargetNeeds {
        W::needs(&self.job)
    }

    fn content(&self) -> String {
        W::content(&self.job)
    }

    fn leaves_as_found(&self) -> bool {
        W::leaves_as_found()
    }

    fn besides(&self) -> Option<String> {
        W::besides(&self.job)
    }

    fn around(&self, dialect: &str) -> Around {
        W::around(&self.job, dialect)
    }

    fn lacks(&self, dialect: &str) -> Option<String> {
        W::lacks(&self.job, dialect)
    }

    fn endures_faults(&self) -> bool {
        W::endures_faults()
    }

    fn writes(&self) -> bool {
        W::writes(&self.job)
    }

    fn searched(&self) -> Option<Searched> {
        self.settings.searched()
    }

    fn at_rate(&self, rate_per_s: f64, phases: Phases) -> Result<Work, Vec<JobError>> {
        let settings = self.settings.at_rate(rate_per_s, Some(phases));
        let mut job = settings.job()?;
        *W::seed_of(&mut job) = *W::seed_of(&mut self.job.clone());
        Ok(W::work(Self { settings, job }))
    }

    fn with_warm_up(&self, warm_up: Span) -> Work {
        let mut asked = self.clone();
        *asked.settings.warm_up() = Some(warm_up);
        W::phases_of(&mut asked.job).warm_up = warm_up;
        W::work(asked)
    }

    fn with_seed(&self, seed: &dyn Fn(u64) -> u64) -> Work {
        let mut asked = self.clone();
        let own = W::seed_of(&mut asked.job);
        *own = seed(*own);
        W::work(asked)
    }

    fn without_effect(&self, all: &[&Work], is_search: bool) -> Vec<JobError> {
        let same = all.iter().filter_map(|work| work.asked::<W>());
        let asked: Vec<(&W, &W::Job)> = same.map(|asked| (&asked.settings, &asked.job)).collect();
        W::without_effect(&asked, is_search)
    }

    fn of_its_type(&self) -> &dyn Any {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nothing else tells of a workload that is missing in one of the two lists.
    #[test]
    fn every_workload_of_records_can_be_run() {
        assert_eq!(NAMES, record::Workload::ALL.map(record::Workload::name));
    }
}
