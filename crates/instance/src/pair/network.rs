//! A network of a pair's own, so that it can fail: each node is in a network namespace, with one link to a switch that joins the nodes
//! and the witness, and one to clients. What is cut is a link at the switch: packets vanish, as they do with a cable that is pulled, and
//! nobody is told.
//!
//! network_namespaces(7), veth(4), ip-netns(8), tc-netem(8). The addresses are those set apart for benchmarks (RFC 2544), and reach no
//! other machine.

use std::ffi::OsStr;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use super::error::PairError;
use crate::process::{command, spawn};
use crate::{InstanceError, program};

/// Where `ip` keeps namespaces by their names.
const NAMESPACES: &str = "/run/netns";
/// Where the kernel lists links by their names.
const LINKS: &str = "/sys/class/net";
/// What the names of ours begin with.
const PREFIX: &str = "prony-";
/// Signs of a pair's directory that its namespaces and links are called by: the names of links have room for 15.
const SIGNS: usize = 8;
const SWITCH: &str = "switch";
/// What a node's ends of its links are called.
const TO_NODES: &str = "nodes";
const TO_CLIENTS: &str = "clients";

/// All addresses: 198.18.0.0/15.
pub(crate) const ADDRESSES: &str = "198.18.0.0/15";
const FIRST: u32 = u32::from_be_bytes([198, 18, 0, 0]);
/// Addresses of a pair: the lower half is for clients, two for each node, the upper for nodes.
const OF_PAIR: u32 = 64;
const PAIRS: u32 = (1 << 17) / OF_PAIR;

/// What a network must be able to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NetworkNeed {
    /// There need be none: nodes are on loopback.
    #[default]
    None,
    /// Its links can be cut.
    Cut,
    /// They can also be slow.
    Delay,
}

/// The network of a pair. It is removed when this is dropped, unless it is left.
#[derive(Debug)]
pub(crate) struct Network {
    /// What its parts are called by.
    id: String,
    base: u32,
    links: Vec<&'static str>,
    is_left: bool,
}

/// The place of a node in a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// What is entered by whatever is to run there.
    pub(crate) namespace: PathBuf,
    /// As other nodes reach it.
    pub(crate) of_nodes: Ipv4Addr,
    /// As clients reach it.
    pub(crate) of_clients: Ipv4Addr,
}

impl Network {
    /// Makes one for the pair in a directory, without nodes.
    ///
    /// # Errors
    /// We are not root, a program is missing, or the kernel lacks something: what, and what brings it.
    pub(crate) fn make(home: &Path, need: NetworkNeed) -> Result<Option<Self>, InstanceError> {
        if need == NetworkNeed::None {
            return Ok(None);
        }
        if !rustix::process::geteuid().is_root() {
            let why = "only root can create network namespaces: run prony as root, or omit the fault";
            return Err(PairError::NoNetwork { why: why.to_owned() }.into());
        }
        let id = id_of(home);
        let base = free(&id)?;
        let network = Self { id, base, links: Vec::new(), is_left: false };
        let switch = network.name(SWITCH);
        run("ip", &["netns", "add", &switch])?;
        run("ip", &["-n", &switch, "link", "add", SWITCH, "type", "bridge"])?;
        run("ip", &["-n", &switch, "link", "set", SWITCH, "up"])?;
        if need == NetworkNeed::Delay {
            network.look_for_delays()?;
        }
        Ok(Some(network))
    }

    /// Whether the kernel can hold packets back.
    fn look_for_delays(&self) -> Result<(), InstanceError> {
        let switch = self.name(SWITCH);
        let delayed =
            said("tc", &["-n", &switch, "qdisc", "add", "dev", SWITCH, "root", "netem", "delay", "1ms"])?;
        delayed.map(drop).map_err(|error| {
            let why = format!(
                "the kernel cannot delay packets ({error}): load the kernel module sch_netem, or omit the delay"
            );
            PairError::NoNetwork { why }
        })?;
        run("tc", &["-n", &switch, "qdisc", "del", "dev", SWITCH, "root"])
    }

    fn name(&self, of: &str) -> String {
        format!("{PREFIX}{}-{of}", self.id)
    }

    /// Our own end of a node's link to clients.
    fn end(&self, number: u32) -> String {
        format!("pr{}{number}", self.id)
    }

    /// Gives a node its place.
    pub(crate) fn join(&mut self, node: &'static str) -> Result<Link, InstanceError> {
        let number = self.links.len() as u32;
        let (namespace, switch, end) = (self.name(node), self.name(SWITCH), self.end(number));
        let ours = Ipv4Addr::from(self.base + 2 * number);
        let of_clients = Ipv4Addr::from(self.base + 2 * number + 1);
        let of_nodes = Ipv4Addr::from(self.base + OF_PAIR / 2 + 1 + number);
        let (ours, theirs) = (format!("{ours}/31"), format!("{of_clients}/31"));
        let among_nodes = format!("{of_nodes}/27");
        self.links.push(node);
        run("ip", &["netns", "add", &namespace])?;
        for words in [
            &["-n", &namespace, "link", "set", "lo", "up"][..],
            &["link", "add", &end, "type", "veth", "peer", "name", TO_CLIENTS, "netns", &namespace],
            &["addr", "add", &ours, "dev", &end],
            &["link", "set", &end, "up"],
            &["-n", &namespace, "addr", "add", &theirs, "dev", TO_CLIENTS],
            &["-n", &namespace, "link", "set", TO_CLIENTS, "up"],
            &[
                "-n", &switch, "link", "add", node, "type", "veth", "peer", "name", TO_NODES, "netns",
                &namespace,
            ],
            &["-n", &switch, "link", "set", node, "master", SWITCH, "up"],
            &["-n", &namespace, "addr", "add", &among_nodes, "dev", TO_NODES],
            &["-n", &namespace, "link", "set", TO_NODES, "up"],
        ] {
            run("ip", words)?;
        }
        Ok(Link { namespace: Path::new(NAMESPACES).join(namespace), of_nodes, of_clients })
    }

    /// Takes a node from the others and the witness. Clients still reach it.
    pub(crate) fn cut(&self, node: &str) -> Result<(), InstanceError> {
        run("ip", &["-n", &self.name(SWITCH), "link", "set", node, "nomaster"])
    }

    /// Gives it back to them.
    pub(crate) fn join_again(&self, node: &str) -> Result<(), InstanceError> {
        run("ip", &["-n", &self.name(SWITCH), "link", "set", node, "master", SWITCH])
    }

    /// Takes it from clients, or gives it back.
    pub(crate) fn set_clients(&self, node: &str, reach_it: bool) -> Result<(), InstanceError> {
        let state = if reach_it { "up" } else { "down" };
        run("ip", &["-n", &self.name(node), "link", "set", TO_CLIENTS, state])
    }

    /// Has each packet between it and the others take so much longer.
    pub(crate) fn delay(&self, node: &str, by: Duration) -> Result<(), InstanceError> {
        let by = format!("{}us", by.as_micros());
        for (namespace, end) in [(self.name(SWITCH), node), (self.name(node), TO_NODES)] {
            // What a fast network has under way in that time must have room.
            run(
                "tc",
                &[
                    "-n", &namespace, "qdisc", "add", "dev", end, "root", "netem", "delay", &by, "limit",
                    "100000",
                ],
            )?;
        }
        Ok(())
    }

    /// And no longer.
    pub(crate) fn undelay(&self, node: &str) -> Result<(), InstanceError> {
        for (namespace, end) in [(self.name(SWITCH), node), (self.name(node), TO_NODES)] {
            run("tc", &["-n", &namespace, "qdisc", "del", "dev", end, "root"])?;
        }
        Ok(())
    }

    /// Leaves it for whoever removes the pair by its directory.
    pub(crate) fn leave(&mut self) {
        self.is_left = true;
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        if !self.is_left {
            // Nobody is left who could be told; what is left has the name of a pair that is gone.
            let _ = remove(&self.id);
        }
    }
}

/// Removes the network of the pair in a directory, if it has one.
pub(crate) fn remove_of(home: &Path) -> Result<(), InstanceError> {
    remove(&id_of(home))
}

/// The kernel removes a link with its namespace, at a time of its own: what is gone when it is looked at again was removed.
fn remove(id: &str) -> Result<(), InstanceError> {
    if id.len() < SIGNS {
        // No directory of a pair: a shorter name could begin as that of somebody else's link.
        return Ok(());
    }
    let own = format!("{PREFIX}{id}-");
    let names = names_in(NAMESPACES, &own).into_iter();
    let deleted = names
        .map(|name| unless_gone(Path::new(NAMESPACES), &name, run("ip", &["netns", "del", &name])))
        .fold(Ok(()), Result::and);
    // A namespace is there as long as something runs in it; our ends of its links are not to be.
    let links = names_in(LINKS, &format!("pr{id}")).into_iter();
    links
        .map(|name| unless_gone(Path::new(LINKS), &name, run("ip", &["link", "del", &name])))
        .fold(deleted, Result::and)
}

/// The names in a directory of the kernel that begin so.
fn names_in(directory: &str, begin: &str) -> Vec<String> {
    let names = std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.filter_map(|name| name.into_string().ok()).filter(|name| name.starts_with(begin)).collect()
}

/// The outcome of a removal; one that failed is none if somebody else removed the same.
fn unless_gone(
    directory: &Path,
    name: &str,
    removed: Result<(), InstanceError>,
) -> Result<(), InstanceError> {
    // The name of a link in /sys leads nowhere while the link is being removed.
    let is_there = || directory.join(name).symlink_metadata().is_ok();
    removed.or_else(|error| if is_there() { Err(error) } else { Ok(()) })
}

/// Signs of a directory's name, which nobody can foresee.
fn id_of(home: &Path) -> String {
    let name = home.file_name().and_then(OsStr::to_str).unwrap_or_default();
    name.trim_start_matches(PREFIX).chars().filter(char::is_ascii_alphanumeric).take(SIGNS).collect()
}

/// The first of addresses of which this machine has none.
fn free(id: &str) -> Result<u32, InstanceError> {
    let taken = taken(&output("ip", &["-4", "-o", "addr", "show"])?);
    let start = u32::from_str_radix(id, 16).unwrap_or_default() % PAIRS;
    let all = (0..PAIRS).map(|number| FIRST + (start + number) % PAIRS * OF_PAIR);
    let is_free = |base: &u32| !taken.iter().any(|address| (*base..*base + OF_PAIR).contains(address));
    all.into_iter().find(is_free).ok_or_else(|| {
        let why = format!("all addresses of {ADDRESSES} are taken: remove what has them (`ip addr`)");
        PairError::NoNetwork { why }.into()
    })
}

/// Addresses in lines such as `2: eth0    inet 10.1.2.3/24 brd 10.1.2.255 scope global eth0`.
fn taken(lines: &str) -> Vec<u32> {
    let address = |line: &str| {
        let (_, rest) = line.split_once(" inet ")?;
        let address = rest.split([' ', '/']).next()?;
        address.parse::<Ipv4Addr>().ok().map(u32::from)
    };
    lines.lines().filter_map(address).collect()
}

fn run(program: &'static str, words: &[&str]) -> Result<(), InstanceError> {
    output(program, words).map(drop)
}

fn output(program: &'static str, words: &[&str]) -> Result<String, InstanceError> {
    said(program, words)?.map_err(|why| PairError::NoNetwork { why }.into())
}

/// What a program says, or how it failed.
fn said(program: &'static str, words: &[&str]) -> Result<Result<String, String>, InstanceError> {
    let mut running = command(&program::of_network(program)?, None, None)?;
    running.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let failed = |said: &str| format!("`{program} {}` failed: {}", words.join(" "), said.trim());
    Ok(match spawn(running).and_then(std::process::Child::wait_with_output) {
        Ok(ended) if ended.status.success() => Ok(String::from_utf8_lossy(&ended.stdout).into_owned()),
        Ok(ended) => Err(failed(&String::from_utf8_lossy(&ended.stderr))),
        Err(error) => Err(failed(&error.to_string())),
    })
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::*;

    #[test]
    fn a_network_is_called_by_its_pairs_directory() {
        assert_eq!(id_of(Path::new("/var/tmp/prony-0123456789ab")), "01234567");
    }

    #[test]
    fn addresses_of_the_machine_are_read_from_its_lines() {
        let lines = "1: lo    inet 127.0.0.1/8 scope host lo\\  valid_lft forever\n\
                     7: pr1    inet 198.18.0.66/31 scope global pr1\n8: x    inet6 ::1/128 scope host\n";
        assert_eq!(taken(lines), [Ipv4Addr::LOCALHOST, Ipv4Addr::new(198, 18, 0, 66)].map(u32::from));
    }

    fn within(link: &Link) -> std::process::Command {
        let perl = Path::new("/usr/bin/perl");
        crate::process::command_in_session(perl, None, None, Some(&link.namespace)).unwrap()
    }

    /// A service that answers each byte with it, in a namespace.
    fn echo(link: &Link) -> std::process::Child {
        const SCRIPT: &str = "use Socket; socket(S, PF_INET, SOCK_STREAM, 0); setsockopt(S, SOL_SOCKET, SO_REUSEADDR, 1); \
                              bind(S, sockaddr_in(7007, INADDR_ANY)) && listen(S, 9) or die; $| = 1; print \"up\\n\"; \
                              while (accept(C, S)) { if (!fork) { while (sysread(C, $b, 1)) { syswrite(C, $b) } exit } }";
        let mut perl = within(link);
        perl.args(["-e", SCRIPT]).stdout(Stdio::piped());
        let mut child = spawn(perl).unwrap();
        let mut up = [0; 3];
        child.stdout.as_mut().unwrap().read_exact(&mut up).unwrap();
        child
    }

    /// Whether a connection to it is answered.
    fn answers(address: Ipv4Addr) -> bool {
        let limit = Duration::from_millis(1_500);
        let Ok(mut stream) = std::net::TcpStream::connect_timeout(&(address, 7007).into(), limit) else {
            return false;
        };
        stream.set_read_timeout(Some(limit)).unwrap();
        stream.write_all(b"x").is_ok() && stream.read_exact(&mut [0]).is_ok()
    }

    /// The same as another node sees it.
    fn answers_to(from: &Link, address: Ipv4Addr) -> bool {
        let script = format!(
            "use IO::Socket::INET; my $s = IO::Socket::INET->new(PeerAddr => '{address}:7007', Timeout => 1.5) or exit 1"
        );
        let mut perl = within(from);
        perl.args(["-e", &script]);
        spawn(perl).unwrap().wait().unwrap().success()
    }

    #[test]
    fn links_are_cut_and_joined_again_and_nothing_is_left() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("not run: networks of pairs, which only root may make");
            return;
        }
        let home = PathBuf::from(format!("/nowhere/prony-{:08x}", std::process::id()));
        let mut network = match Network::make(&home, NetworkNeed::Cut) {
            Ok(network) => network.unwrap(),
            Err(error) => {
                eprintln!("not run: networks of pairs: {error}");
                return;
            }
        };
        let (one, two) = (network.join("node1").unwrap(), network.join("node2").unwrap());
        let mut services = [echo(&one), echo(&two)];
        assert!(answers(one.of_clients) && answers(two.of_clients));
        assert!(answers_to(&one, two.of_nodes) && answers_to(&two, one.of_nodes));
        network.cut("node2").unwrap();
        assert!(!answers_to(&one, two.of_nodes) && !answers_to(&two, one.of_nodes));
        assert!(answers(two.of_clients), "clients still reach it");
        network.set_clients("node2", false).unwrap();
        assert!(!answers(two.of_clients) && answers(one.of_clients));
        network.set_clients("node2", true).unwrap();
        network.join_again("node2").unwrap();
        assert!(answers(two.of_clients) && answers_to(&one, two.of_nodes));
        for service in &mut services {
            service.kill().unwrap();
            service.wait().unwrap();
        }
        network.leave();
        drop(network);
        assert!(
            Path::new(NAMESPACES).read_dir().unwrap().flatten().any(|one| is_of(&one.file_name(), &home))
        );
        remove_of(&home).unwrap();
        assert!(
            !Path::new(NAMESPACES).read_dir().unwrap().flatten().any(|one| is_of(&one.file_name(), &home))
        );
        let links = output("ip", &["-o", "link", "show"]).unwrap();
        assert!(!links.contains(&format!("pr{}", id_of(&home))), "{links}");
    }

    #[test]
    fn packets_are_held_back_or_what_is_missing_for_that_is_said() {
        let home = PathBuf::from(format!("/nowhere/prony-{:08x}", u32::MAX - std::process::id()));
        match Network::make(&home, NetworkNeed::Delay) {
            Ok(network) => {
                let mut network = network.unwrap();
                network.join("node1").unwrap();
                for _ in 0..2 {
                    network.delay("node1", Duration::from_millis(5)).unwrap();
                    network.undelay("node1").unwrap();
                }
            }
            Err(error) => {
                let error = error.to_string();
                eprintln!("not run: packets that are held back: {error}");
                let reasons = ["sch_netem", "only root", "failed:"];
                assert!(reasons.iter().any(|reason| error.contains(reason)), "{error}");
            }
        }
        assert!(!Path::new(NAMESPACES).join(format!("{PREFIX}{}-{SWITCH}", id_of(&home))).exists());
    }

    /// The kernel took a link away between the look and the removal, and a pair stayed until a second try.
    #[test]
    fn what_is_gone_was_removed() {
        let place = tempfile::tempdir().unwrap();
        let failed = || Err(PairError::NoNetwork { why: "Cannot find device".to_owned() }.into());
        assert!(unless_gone(place.path(), "pr01234567", failed()).is_ok());
        std::fs::write(place.path().join("pr01234567"), "").unwrap();
        assert!(unless_gone(place.path(), "pr01234567", failed()).is_err());
        assert!(unless_gone(place.path(), "pr01234567", Ok(())).is_ok());
    }

    #[test]
    fn a_directory_that_is_no_pairs_has_no_network() {
        assert!(remove_of(Path::new("/")).is_ok() && remove_of(Path::new("/prony-1")).is_ok());
    }

    fn is_of(name: &OsStr, home: &Path) -> bool {
        name.to_str().unwrap().starts_with(&format!("{PREFIX}{}", id_of(home)))
    }
}
