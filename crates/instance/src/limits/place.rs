//! Where a group can be made: which version of groups this machine has, where it is mounted, and which group is ours.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::files::read;
use super::scope::{step_aside, stood_in};
use super::{LimitError, Resource, throttle};

/// Which version of the kernel's interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// A hierarchy for each controller.
    One,
    /// One hierarchy.
    Two,
}

/// The directories of one group: one for each controller, or one of all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(super) version: Version,
    /// By the names of controllers.
    directories: Vec<(&'static str, PathBuf)>,
}

/// Controllers of the second version, all in one directory.
const ALL: &str = "";
/// What counts time of processors in the first version.
pub(super) const ACCOUNT: &str = "cpuacct";

impl Resource {
    /// Its controller.
    pub(super) fn controller(self, version: Version) -> &'static str {
        match (self, version) {
            (Self::Memory, _) => "memory",
            (Self::Cpu, _) => "cpu",
            (Self::CpuSet, _) => "cpuset",
            (Self::Io, Version::One) => "blkio",
            (Self::Io, Version::Two) => "io",
        }
    }
}

impl Place {
    /// Where a group of that name can limit all of these.
    pub(super) fn find(root: &Path, name: &str, wanted: &[Resource]) -> Result<Self, LimitError> {
        let machine = Machine::read(root)?;
        let two = machine.second(name, wanted);
        match (two, machine.first(name, wanted)) {
            (Some(Ok(place)), _) | (_, Ok(place)) => Ok(place),
            (Some(Err(error)), Err(_)) => Err(error),
            (None, Err(error)) => Err(error),
        }
    }

    /// The directory in which a resource is limited, if it is one of this group.
    pub(super) fn directory(&self, resource: Resource) -> Option<&Path> {
        self.of_controller(resource.controller(self.version))
    }

    pub(super) fn of_controller(&self, controller: &str) -> Option<&Path> {
        let mut directories = self.directories.iter();
        directories.find(|(of, _)| *of == controller || *of == ALL).map(|(_, directory)| directory.as_path())
    }

    /// Files to which a process is written that joins.
    pub(super) fn members(&self) -> Vec<PathBuf> {
        self.paths().into_iter().map(|directory| directory.join("cgroup.procs")).collect()
    }

    /// As it is told: the first directory is like the others.
    pub(super) fn name(&self) -> String {
        self.directories.first().map(|(_, directory)| directory.display().to_string()).unwrap_or_default()
    }

    /// Makes all of its directories, or none.
    pub(super) fn make(&self) -> Result<(), LimitError> {
        let paths = self.paths();
        for (number, directory) in paths.iter().enumerate() {
            if let Err(error) = make_anew(directory) {
                for made in &paths[..number] {
                    // Nobody is in it, and the error is what is to be told.
                    let _ = fs::remove_dir(made);
                }
                return Err(LimitError::file("make", *directory)(error));
            }
        }
        Ok(())
    }

    pub(super) fn remove(&self) -> Result<(), LimitError> {
        self.paths().into_iter().try_for_each(remove)
    }

    /// Each once: controllers can share a hierarchy.
    pub(super) fn paths(&self) -> Vec<&Path> {
        let mut paths: Vec<&Path> =
            self.directories.iter().map(|(_, directory)| directory.as_path()).collect();
        paths.dedup();
        paths
    }
}

/// One that is there and in which nothing runs was left by a process that is no more, since the name has the number of its process
/// in it. It is not taken up: limits that nobody asked for now would stay, and its counts.
fn make_anew(directory: &Path) -> io::Result<()> {
    match fs::create_dir(directory) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists && !is_used(directory) => {
            fs::remove_dir(directory)?;
            fs::create_dir(directory)
        }
        made => made,
    }
}

/// Removes one directory of a group in which nothing is, if it is there.
pub(super) fn remove(directory: &Path) -> Result<(), LimitError> {
    match std::fs::remove_dir(directory) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(LimitError::file("remove", directory)(error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The uppermost group of a controller's hierarchy of the first version that can be seen, and our own below it, if that is another. None
/// where there is no such hierarchy.
pub(super) fn whole_hierarchy(root: &Path, controller: &str) -> Result<Option<Vec<PathBuf>>, LimitError> {
    let machine = Machine::read(root)?;
    let Some(own) = machine.hierarchy(controller) else { return Ok(None) };
    let mut mounts = machine.mounts.iter();
    let is_it = |controllers: &[String]| controllers.iter().any(|one| one == controller);
    let top = mounts.find(|(version, controllers, ..)| *version == Version::One && is_it(controllers));
    let mut groups: Vec<PathBuf> = top.map(|(.., at)| machine.on_machine(at)).into_iter().collect();
    // A path from a group without a name ends with a separator.
    let own: PathBuf = own.components().collect();
    if !groups.contains(&own) {
        groups.push(own);
    }
    Ok(Some(groups))
}

fn is_used(directory: &Path) -> bool {
    read(&directory.join("cgroup.procs")).is_ok_and(|processes| !processes.trim().is_empty())
}

/// What a machine has of groups.
struct Machine {
    /// Version, controllers (of the first version), the group that is mounted, and where.
    mounts: Vec<(Version, Vec<String>, PathBuf, PathBuf)>,
    /// Controllers and the group in which we are.
    ours: Vec<(Vec<String>, PathBuf)>,
    root: PathBuf,
}

impl Machine {
    fn read(root: &Path) -> Result<Self, LimitError> {
        let mounts = read(&root.join("proc/self/mountinfo"))?;
        let ours = read(&root.join("proc/self/cgroup"))?;
        Ok(Self {
            mounts: mounts.lines().filter_map(mount).collect(),
            ours: ours.lines().filter_map(membership).collect(),
            root: root.to_owned(),
        })
    }

    /// A group below our own in each hierarchy. Those that only count are had where they can be.
    fn first(&self, name: &str, wanted: &[Resource]) -> Result<Place, LimitError> {
        let mut directories = Vec::new();
        for resource in [Resource::Memory, Resource::Cpu, Resource::CpuSet, Resource::Io] {
            let is_wanted = wanted.contains(&resource);
            if resource == Resource::CpuSet && !is_wanted {
                continue;
            }
            let controller = resource.controller(Version::One);
            match self.hierarchy(controller) {
                Some(above) if !is_wanted && !is_writable(&above) => {}
                // Whoever is throttled together with all others stays with them.
                Some(above)
                    if !is_wanted && resource == Resource::Io && !throttle::throttled(&above).is_empty() => {}
                Some(above) => {
                    writable(&above, resource)?;
                    directories.push((controller, above.join(name)));
                }
                None if is_wanted => {
                    return Err(missing(resource, &format!("the kernel's controller `{controller}`")));
                }
                None => {}
            }
        }
        if let Some(above) = self.hierarchy(ACCOUNT).filter(|above| is_writable(above)) {
            directories.push((ACCOUNT, above.join(name)));
        }
        directories.sort_by(|a, b| a.1.cmp(&b.1));
        Ok(Place { version: Version::One, directories })
    }

    /// Our own group in the hierarchy of a controller.
    fn hierarchy(&self, controller: &str) -> Option<PathBuf> {
        let has = |controllers: &[String]| controllers.iter().any(|one| one == controller);
        let (_, _, top, at) = self
            .mounts
            .iter()
            .find(|(version, controllers, ..)| *version == Version::One && has(controllers))?;
        let (_, ours) = self.ours.iter().find(|(controllers, _)| has(controllers))?;
        // A group above what is mounted is not to be seen; then the uppermost is.
        Some(self.on_machine(at).join(ours.strip_prefix(top).unwrap_or(Path::new(""))))
    }

    /// A group in our own or in one above, the nearest that may have groups with these controllers. None if the machine has no
    /// second version, or not with all of these.
    fn second(&self, name: &str, wanted: &[Resource]) -> Option<Result<Place, LimitError>> {
        let (_, _, top, at) = self.mounts.iter().find(|(version, ..)| *version == Version::Two)?;
        let (_, ours) = self.ours.iter().find(|(controllers, _)| controllers.is_empty())?;
        let at = self.on_machine(at);
        let here = at.join(ours.strip_prefix(top).unwrap_or(Path::new("")));
        let all = read(&at.join("cgroup.controllers")).ok()?;
        let lacks = |have: &str| {
            let has = |controller: &str| have.split_whitespace().any(|one| one == controller);
            wanted.iter().copied().find(|resource| !has(resource.controller(Version::Two)))
        };
        if all.trim().is_empty() || lacks(&all).is_some() {
            return None;
        }
        let mut refused = None;
        for above in stood_in(&here).ancestors().take_while(|above| above.starts_with(&at)) {
            match enable(above, wanted, &lacks) {
                Ok(()) => {
                    let directories = vec![(ALL, above.join(name))];
                    return Some(Ok(Place { version: Version::Two, directories }));
                }
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        refused.map(Err)
    }

    fn on_machine(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }
}

/// Lets groups below this one have controllers.
fn enable(
    above: &Path,
    wanted: &[Resource],
    lacks: &impl Fn(&str) -> Option<Resource>,
) -> Result<(), LimitError> {
    let what = |resource: Option<Resource>| resource.or(wanted.first().copied()).unwrap_or(Resource::Memory);
    if let Some(resource) = lacks(&read(&above.join("cgroup.controllers"))?) {
        let controller = resource.controller(Version::Two);
        let why = format!(
            "the controller `{controller}` is not delegated to {}: run as root, or delegate it (`systemctl edit user@.service` with \
             `[Service]` and `Delegate=cpu cpuset io memory`, then log in again)",
            above.display()
        );
        return Err(LimitError::Missing { what: resource.word(), why });
    }
    let control = above.join("cgroup.subtree_control");
    let not_yet = lacks(&read(&control)?);
    writable(above, what(not_yet))?;
    if not_yet.is_some() {
        let words: Vec<String> =
            wanted.iter().map(|resource| format!("+{}", resource.controller(Version::Two))).collect();
        let given = || fs::write(&control, words.join(" "));
        let given = given().or_else(|error| match error.kind() {
            ErrorKind::ResourceBusy if step_aside(above)? => given(),
            _ => Err(error),
        });
        given.map_err(|source| not_given(above, what(not_yet), source))?;
    }
    match lacks(&read(&control)?) {
        None => Ok(()),
        Some(resource) => Err(missing(
            resource,
            &format!(
                "{} (the controller was written to this file, but is still missing there)",
                control.display()
            ),
        )),
    }
}

/// Why groups below this one have no controllers.
fn not_given(above: &Path, what: Resource, source: io::Error) -> LimitError {
    if source.kind() == ErrorKind::ResourceBusy {
        let why = format!(
            "{} contains other processes, so prony cannot create groups with limits in it: start prony in its own group, such as \
            `systemd-run --scope -p Delegate=yes …`",
            above.display()
        );
        return LimitError::Missing { what: what.word(), why };
    }
    LimitError::Rights { what: what.word(), path: above.join("cgroup.subtree_control"), source }
}

fn missing(resource: Resource, what: &str) -> LimitError {
    LimitError::Missing { what: resource.word(), why: format!("{what} is missing") }
}

fn is_writable(directory: &Path) -> bool {
    rustix::fs::access(directory, rustix::fs::Access::WRITE_OK).is_ok()
}

pub(super) fn writable(directory: &Path, resource: Resource) -> Result<(), LimitError> {
    rustix::fs::access(directory, rustix::fs::Access::WRITE_OK).map_err(|error| LimitError::Rights {
        what: resource.word(),
        path: directory.to_owned(),
        source: error.into(),
    })
}

/// A line of `mountinfo` (proc(5)) that is of groups.
fn mount(line: &str) -> Option<(Version, Vec<String>, PathBuf, PathBuf)> {
    let (before, after) = line.split_once(" - ")?;
    let mut before = before.split(' ').skip(3);
    let (top, at) = (before.next()?, before.next()?);
    let mut after = after.split(' ');
    let (kind, options) = (after.next()?, after.nth(1)?);
    let version = match kind {
        "cgroup" => Version::One,
        "cgroup2" => Version::Two,
        _ => return None,
    };
    let controllers = options.split(',').map(str::to_owned).collect();
    Some((version, controllers, PathBuf::from(top), PathBuf::from(at)))
}

/// A line of `/proc/self/cgroup` (cgroups(7)): `4:memory:/a/b`, or `0::/a/b` for the second version.
fn membership(line: &str) -> Option<(Vec<String>, PathBuf)> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (controllers, path) = (parts.next()?, parts.next()?);
    let controllers = controllers.split(',').filter(|one| !one.is_empty()).map(str::to_owned).collect();
    Some((controllers, PathBuf::from(path)))
}
