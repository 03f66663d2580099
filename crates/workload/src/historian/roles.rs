//! The roles of a trial: what each does once it is connected.

use std::sync::Arc;
use std::time::Duration;

use super::job::{Maintenance, Readers};
use super::maintenance::Maintainer;
use super::reader::Reader;
use super::running::Running;
use super::source::Source;
use super::writer::Writer;
use crate::TrialError;
use crate::clock::Clock;
use crate::threads::{Gate, Threads, Worker};

/// Time between two looks at the size of the database.
const SIZES_INTERVAL: Duration = Duration::from_secs(10);

/// What a role does.
#[derive(Debug)]
pub(crate) enum Role {
    Source(Box<Source>),
    Writer,
    Reader(Readers),
    Maintainer(Maintenance),
    /// Looks at the size of the database.
    Sampler,
}

/// What a role is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    Source,
    Writer,
    Reader,
    Maintainer,
    Sampler,
}

/// Starts every role.
///
/// # Errors
/// When a thread cannot be had.
pub(crate) fn start(
    running: &Arc<Running>,
    roles: Vec<Role>,
    simulated: bool,
) -> Result<Threads<Name>, TrialError> {
    let ending = Arc::clone(running);
    let mut threads = Threads::new(simulated, move || ending.end());
    for role in roles {
        let running = Arc::clone(running);
        threads.start(role.name(), move |gate| role.play(running, gate))?;
    }
    Ok(threads)
}

impl Name {
    fn word(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Writer => "writer",
            Self::Reader => "reader",
            Self::Maintainer => "maintenance",
            Self::Sampler => "sizes",
        }
    }
}

impl Worker for Name {
    fn thread(&self) -> String {
        format!("historian-{}", self.word())
    }

    fn called(&self) -> String {
        format!("the {}", self.word())
    }

    fn use_fewer(&self) -> &'static str {
        "use fewer writers, or "
    }

    /// Looking at sizes is not part of the load.
    fn makes_load(&self) -> bool {
        *self != Self::Sampler
    }
}

impl Role {
    fn name(&self) -> Name {
        match self {
            Self::Source(_) => Name::Source,
            Self::Writer => Name::Writer,
            Self::Reader(_) => Name::Reader,
            Self::Maintainer(_) => Name::Maintainer,
            Self::Sampler => Name::Sampler,
        }
    }

    async fn play(self, running: Arc<Running>, gate: Gate<Name>) -> Result<(), TrialError> {
        tokio::select! {
            biased;
            result = self.act(&running, gate) => result,
            () = running.over.wait() => Ok(()),
        }
    }

    async fn act(self, running: &Arc<Running>, gate: Gate<Name>) -> Result<(), TrialError> {
        if let Self::Source(mut source) = self {
            source.connect().await?;
            let Some(clock) = gate.pass().await else { return Ok(()) };
            return source.run(running, clock).await;
        }
        let session = running.session().await?;
        let Some(clock) = gate.pass().await else { return Ok(()) };
        let running = Arc::clone(running);
        match self {
            Self::Source(_) => {}
            Self::Writer => Writer::new(running, clock, session).run().await,
            Self::Reader(readers) => Reader::new(running, readers, clock, session).run().await,
            Self::Maintainer(maintenance) => {
                Maintainer::new(running, maintenance, clock, session).run().await
            }
            Self::Sampler => sample_sizes(&running, clock, session).await,
        }
        Ok(())
    }
}

/// Looks at the sizes of the database again and again until the load ends.
async fn sample_sizes(running: &Running, clock: Clock, session: database::Session) {
    let mut session = Some(session);
    loop {
        let sizes = match &mut session {
            Some(session) => session.sizes().await,
            None => match running.session().await {
                Ok(opened) => session.insert(opened).sizes().await,
                Err(error) => Err(error),
            },
        };
        match sizes {
            Ok(sizes) => running.measured().sizes.push((clock.now_ns(), sizes)),
            // Sizes are missing while the database is away, which the outage tells.
            Err(_) => session = None,
        }
        tokio::select! {
            () = tokio::time::sleep(SIZES_INTERVAL) => {}
            () = running.load_over.wait() => return,
        }
    }
}
