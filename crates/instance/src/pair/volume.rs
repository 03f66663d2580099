//! Volumes of nodes of their own: a node whose volume has no power, no room or hardly answers, while those of the others do. On it lies all
//! that the node is to keep; its socket, its log and who waits for whom are in the pair's directory, and do not fail with it.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ownership::MadeDirectory;

use super::error::PairError;
use super::ground::Seat;
use super::options::PairKind;
use super::processes::Stand;
use super::{Pair, PairOptions};
use crate::breaking::Filling;
use crate::directory::give_to;
use crate::lab::KnownLab;
use crate::power::KnownDirectory;
use crate::process::passable;
use crate::user::User;
use crate::{Entry, InstanceError, LabError, make_directory};

/// Nodes that all lost their power have found what is left of their data by then, or hang.
const BACK_WITHIN: Duration = Duration::from_secs(60);

/// What a node has on a volume of its own. It is removed when this is dropped, unless it is kept.
#[derive(Debug)]
pub(crate) struct OwnVolume {
    /// None while its power is cut: nothing of it may be open then.
    made: Option<MadeDirectory>,
    known: KnownDirectory,
    /// That of the data meanwhile.
    data: Option<KnownDirectory>,
    path: PathBuf,
    stand: Stand,
    is_kept: bool,
}

impl OwnVolume {
    /// In a directory of our own in the user's.
    pub(crate) fn make(
        parent: &Path,
        user: Option<User>,
        entry: Option<&mut Entry>,
    ) -> Result<Self, InstanceError> {
        let made = make_directory(entry, parent)?;
        let path = made.directory().path().to_owned();
        give_to(user, made.directory(), &path)?;
        passable(&path, user)?;
        let gone = || InstanceError::file("look at", &path)(std::io::ErrorKind::NotFound.into());
        let stand = Stand::of(&path)?.ok_or_else(gone)?;
        let known = KnownDirectory::of(&made)?;
        Ok(Self { made: Some(made), known, data: None, path, stand, is_kept: false })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn stand(&self) -> &Stand {
        &self.stand
    }

    /// Held.
    pub(crate) fn directory(&self) -> Result<&ownership::Directory, InstanceError> {
        let away = || InstanceError::file("open", &self.path)(std::io::Error::other("its power is cut"));
        self.made.as_ref().map(MadeDirectory::directory).ok_or_else(away)
    }

    pub(crate) fn keep(&mut self) {
        self.is_kept = true;
    }

    /// Removes all of it, unless it is kept.
    pub(crate) fn clear(&self) -> std::io::Result<()> {
        match &self.made {
            Some(made) if !self.is_kept => made.remove_with_all().map(drop),
            Some(_) => Ok(()),
            None => Err(std::io::Error::other("its power is cut")),
        }
    }

    fn sync(&self) -> Result<(), InstanceError> {
        let synced = rustix::fs::syncfs(self.directory()?);
        synced.map_err(|error| InstanceError::file("sync", &self.path)(error.into()))
    }
}

impl Drop for OwnVolume {
    fn drop(&mut self) {
        // Nobody is left who could be told.
        let _ = self.clear();
    }
}

/// Refuses directories that are not one for each node, or not on volumes of their own, or whose power is to be cut and cannot be.
pub(super) fn refuse(kind: PairKind, options: &PairOptions) -> Result<(), InstanceError> {
    let volumes = options.volumes();
    if volumes.is_empty() {
        return if options.node().loses_power() { Err(no_volume("node1")) } else { Ok(()) };
    }
    let (given, nodes) = (volumes.len(), kind.nodes());
    if given != nodes {
        return Err(PairError::VolumesOf { given, nodes }.into());
    }
    let device = |path: &PathBuf| {
        std::fs::metadata(path).map(|seen| seen.dev()).map_err(InstanceError::file("look at", path))
    };
    let devices = volumes.iter().map(device).collect::<Result<Vec<u64>, _>>()?;
    for (second, own) in devices.iter().enumerate() {
        if let Some(first) = devices[..second].iter().position(|other| other == own) {
            let [first, second] = [first, second].map(|number| volumes[number].clone());
            return Err(PairError::OneVolume { first, second }.into());
        }
    }
    if options.node().loses_power() {
        volumes.iter().try_for_each(|path| KnownLab::with_power_under(path).map(drop))?;
    }
    Ok(())
}

fn no_volume(node: &str) -> InstanceError {
    PairError::NoVolume { node: node.to_owned() }.into()
}

fn of(seat: &Seat) -> Result<&OwnVolume, InstanceError> {
    seat.volume.as_ref().ok_or_else(|| no_volume(seat.name))
}

impl Pair {
    /// Waits until all that nodes have written is on their volumes, where each has one of its own.
    ///
    /// # Errors
    /// They do not keep it.
    pub fn settle(&mut self) -> Result<(), InstanceError> {
        self.ground.nodes.iter().filter_map(|seat| seat.volume.as_ref()).try_for_each(OwnVolume::sync)
    }

    /// Cuts the power of nodes at once: their volumes write nothing any more, and all of their processes end.
    ///
    /// # Errors
    /// There is no such node, or one lies on no laboratory of prony's.
    pub fn cut_power(&mut self, nodes: &[String]) -> Result<(), InstanceError> {
        let numbers = self.numbers(nodes)?;
        let lab = |&number: &usize| Ok(KnownLab::with_power_under(of(&self.ground.nodes[number])?.path())?);
        let labs = numbers.iter().map(lab).collect::<Result<Vec<KnownLab>, InstanceError>>()?;
        // Before it can no longer be looked at.
        numbers.iter().try_for_each(|&number| let_go(&mut self.ground.nodes[number]))?;
        labs.iter().try_for_each(KnownLab::cut_power)?;
        numbers.into_iter().try_for_each(|number| self.ground.nodes[number].kill())
    }

    /// Gives it back: their volumes have what they were asked to keep, and perhaps more, and the nodes are started on that. They may not
    /// yet follow when this returns, but of all nodes one takes writes.
    ///
    /// # Errors
    /// There is no such node, somebody else uses a volume, something of a node is not there any more, or it does not start. Of all nodes
    /// none takes writes in time: then the state of each and the ends of the logs are in the error.
    pub fn restore_power(&mut self, nodes: &[String]) -> Result<(), InstanceError> {
        let numbers = self.numbers(nodes)?;
        let mut restored = Ok(());
        for &number in &numbers {
            // One that stays without power keeps the other from nothing.
            restored = restored.and(restore(&mut self.ground.nodes[number]));
        }
        restored?;
        self.cluster.start_nodes(&mut self.ground, &numbers)?;
        if numbers.len() < self.ground.nodes.len() {
            return Ok(());
        }
        self.wait("back and writable", BACK_WITHIN, &AtomicBool::new(false), |pair| {
            (!pair.primaries().is_empty()).then_some(())
        })
    }

    /// Takes all the room that a node's user may have on its volume.
    ///
    /// # Errors
    /// There is no such node, it has no volume of its own, or as [`crate::Instance::fill`].
    pub fn fill(&mut self, node: &str) -> Result<Filling, InstanceError> {
        let seat = &self.ground.nodes[self.number(node)?];
        Filling::of(of(seat)?.directory()?)
    }

    /// Has the volume of a node answer it so many reads and writes a second, or as it did.
    ///
    /// # Errors
    /// There is no such node, or it was started without a control group for that.
    pub fn throttle(&mut self, node: &str, iops: Option<u64>) -> Result<(), InstanceError> {
        let seat = &self.ground.nodes[self.number(node)?];
        of(seat)?;
        Ok(seat.group.as_ref().ok_or(InstanceError::NotThrottled)?.throttle(iops)?)
    }

    fn numbers(&self, nodes: &[String]) -> Result<Vec<usize>, InstanceError> {
        nodes.iter().map(|node| self.number(node)).collect()
    }
}

/// Has nothing of the volume of a node open any more.
fn let_go(seat: &mut Seat) -> Result<(), InstanceError> {
    let Some(volume) = &mut seat.volume else { return Err(no_volume(seat.name)) };
    volume.data = seat.data.as_ref().map(KnownDirectory::of).transpose()?;
    (volume.made, seat.data) = (None, None);
    Ok(())
}

/// Mounts the volume of a node again, and holds it.
fn restore(seat: &mut Seat) -> Result<(), InstanceError> {
    let Some(volume) = &mut seat.volume else { return Err(no_volume(seat.name)) };
    let lab = KnownLab::without_power_under(&volume.path)?;
    lab.ok_or_else(|| LabError::NoPower { path: volume.path.clone() })?.restore_power()?;
    volume.made = Some(volume.known.open()?);
    seat.data = volume.data.take().map(|data| data.open()).transpose()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Engine, FileSystem, Known, Lab, LabPlace, LabShape, Options, Standing};
    use std::os::unix::fs::PermissionsExt as _;

    const LONG: Duration = Duration::from_secs(120);

    /// One of each kind whose power can be cut: nothing of XFS can even be looked at then. None where they cannot be had.
    fn labs(parent: &Path) -> Option<Vec<Lab>> {
        std::fs::set_permissions(parent, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut labs = Vec::new();
        for file_system in [FileSystem::Ext4, FileSystem::Xfs] {
            let word = file_system.word();
            let place =
                LabPlace { directory: parent.to_owned(), mount_point: parent.join(word), in_memory: true };
            let shape = LabShape { file_system, device_bytes: 768 << 20, ..LabShape::default() };
            match Lab::make(&format!("volume-{word}-{}", std::process::id()), &shape, &place) {
                Ok(lab) => labs.push(lab),
                Err(error) => {
                    eprintln!("not run: nodes on volumes of their own: {error}");
                    return None;
                }
            }
        }
        Some(labs)
    }

    fn left_on(volume: &Path) -> Vec<std::ffi::OsString> {
        let names = std::fs::read_dir(volume).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name != "lost+found").collect()
    }

    #[test]
    fn nodes_lose_their_power_alone_or_at_once_and_come_back_on_what_their_volumes_have() {
        let parent = tempfile::tempdir().unwrap();
        let Some(labs) = labs(parent.path()) else { return };
        let volumes: Vec<PathBuf> = ["ext4", "xfs"].map(|word| parent.path().join(word)).into();
        let name = format!("volumes-{}", std::process::id());
        let node = Options::default().setting("shared_buffers", "16MB").losing_power(true);
        let options = PairOptions::of(node.registered(&name, false)).on_volumes(volumes.clone());
        Pair::look(Engine::Postgres, PairKind::Async, &options).unwrap();
        let mut pair = Pair::start(Engine::Postgres, PairKind::Async, &options).unwrap();
        pair.settle().unwrap();
        let never = AtomicBool::new(false);
        let [first, second] = ["node1", "node2"].map(str::to_owned);
        for cut in [vec![second.clone()], vec![first.clone(), second.clone()]] {
            pair.cut_power(&cut).unwrap();
            let running = pair.nodes().into_iter().filter(|node| node.server_pid.is_some());
            let running: Vec<String> = running.map(|node| node.name).collect();
            assert!(running.iter().all(|node| !cut.contains(node)) && running.len() + cut.len() == 2);
            pair.restore_power(&cut).unwrap();
            pair.wait_until_redundant(LONG, &never).unwrap();
        }
        let filling = pair.fill("node2").unwrap();
        assert!(filling.bytes > 100 << 20, "{filling:?}");
        drop(filling);
        // What its handle cannot remove is known to whoever comes next.
        pair.cut_power(std::slice::from_ref(&second)).unwrap();
        drop(pair);
        let known = || Known::all().unwrap().into_iter().find(|known| known.name == name);
        assert!(left_on(&volumes[0]).is_empty() && known().is_some());
        assert_eq!(known().unwrap().standing(), Standing::Held(std::process::id()));
        let lab = KnownLab::without_power_under(&volumes[1]).unwrap().unwrap();
        lab.restore_power().unwrap();
        assert_eq!(left_on(&volumes[1]).len(), 1);
        labs.into_iter().try_for_each(Lab::remove).unwrap();
        let servers = crate::register::directory("servers").unwrap();
        crate::register::forget(&servers, format!("{name}.json").as_ref()).unwrap();
    }

    #[test]
    fn directories_that_are_no_volumes_of_nodes_are_refused() {
        let parent = tempfile::tempdir().unwrap();
        let told = |volumes: &[&str], options: Options| {
            let volumes = volumes.iter().map(|name| parent.path().join(name)).collect();
            let options = PairOptions::of(options).on_volumes(volumes);
            Pair::look(Engine::Postgres, PairKind::Async, &options).unwrap_err().to_string()
        };
        for name in ["a", "b"] {
            std::fs::create_dir(parent.path().join(name)).unwrap();
        }
        let plain = Options::default;
        assert!(
            told(&["a"], plain()).starts_with("1 directories are given for the data of 2 nodes"),
            "{}",
            told(&["a"], plain())
        );
        let one = told(&["a", "b"], plain());
        assert!(one.contains("are on one volume, but each node of a pair needs its own"), "{one}");
        let none = told(&[], plain().losing_power(true));
        assert!(none.starts_with("node1 has no separate volume"), "{none}");
    }
}
