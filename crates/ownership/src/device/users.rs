//! What uses a device or a file: mounts, swap, and what is built upon it or shares what it is built upon.

use std::fs::File;
use std::io;

use super::loops::{Loop, Thing};
use super::system::{Number, System, device_at};

impl System {
    /// What uses a device, its partitions or the disk whose partition it is, and what would be destroyed with it: what else
    /// stands on the same ground.
    #[must_use]
    pub fn users_of_device(&self, number: Number) -> Vec<String> {
        let loops = self.loops();
        let overlapping = self.overlapping(number);
        let mut users = Vec::new();
        for &number in &overlapping {
            users.extend(self.mounts_and_swap_of(Thing::Device(number)));
            users.extend(self.holders(number).iter().map(|name| format!("part of {name}")));
        }
        for &number in &overlapping {
            users.extend(upon(&loops, Thing::Device(number)).map(|over| format!("backing {}", over.name)));
        }
        users.extend(self.users_of_ground(number, &loops));
        users.sort();
        users.dedup();
        users
    }

    /// What uses a file as a device.
    ///
    /// # Errors
    /// When the file cannot be looked at.
    pub fn users_of_file(&self, file: &File) -> io::Result<Vec<String>> {
        let stat = rustix::fs::fstat(file)?;
        let thing = Thing::File { device: Number::of_raw(stat.st_dev), inode: stat.st_ino };
        let mut users: Vec<String> =
            upon(&self.loops(), thing).map(|over| format!("backing {}", over.name)).collect();
        users.extend(self.mounts_and_swap_of(thing));
        Ok(users)
    }

    /// What else uses what a device stands on, down to the disk or file below all.
    fn users_of_ground(&self, number: Number, loops: &[Loop]) -> Vec<String> {
        let mut users = Vec::new();
        let mut known = vec![Thing::Device(number)];
        let mut from = 0;
        while let Some(&Thing::Device(above)) = known.get(from) {
            from += 1;
            let name = self.disk_name(above);
            for ground in self.grounds(above, name.as_deref(), loops) {
                let parts = match ground {
                    Thing::Device(number) => {
                        self.overlapping(number).into_iter().map(Thing::Device).collect()
                    }
                    Thing::File { .. } => vec![ground],
                };
                for part in parts {
                    users.extend(
                        self.mounts_and_swap_of(part).map(|user| format!("on a device that is {user}")),
                    );
                    let others = upon(loops, part).filter(|over| Some(&over.name) != name.as_ref());
                    users.extend(others.map(|over| format!("on what {} stands on too", over.name)));
                }
                if matches!(ground, Thing::Device(_)) && !known.contains(&ground) {
                    known.push(ground);
                }
            }
        }
        users
    }

    /// What a device stands on: the file or device of a loop, the parts of an array or a volume.
    fn grounds(&self, number: Number, name: Option<&str>, loops: &[Loop]) -> Vec<Thing> {
        let own = loops.iter().filter(|one| Some(one.name.as_str()) == name);
        let slaves = self.slaves(number).into_iter().map(Thing::Device);
        own.flat_map(|one| one.stands_on.iter().copied()).chain(slaves).collect()
    }

    fn mounts_and_swap_of(&self, thing: Thing) -> impl Iterator<Item = String> {
        let mut users = Vec::new();
        if let Thing::Device(number) = thing {
            for line in self.read("proc/self/mountinfo").lines() {
                users.extend(self.mount_of(line, number).map(|place| format!("mounted at {place}")));
            }
        }
        for line in self.read("proc/swaps").lines().skip(1) {
            let Some(path) = line.split_whitespace().next().map(unescaped) else { continue };
            if Thing::at(&self.place(&path)) == Some(thing) {
                users.push(format!("swap space {path}"));
            }
        }
        users.into_iter()
    }

    /// Where a line of mountinfo says that a device is mounted. File systems over several devices have a number of their own,
    /// and tell the device by its path only.
    fn mount_of(&self, line: &str, number: Number) -> Option<String> {
        let (mount, source) = line.split_once(" - ")?;
        let fields: Vec<&str> = mount.split(' ').collect();
        let [_, _, device, _, place, ..] = fields[..] else { return None };
        let source = source.split(' ').nth(1).map(unescaped).filter(|source| source.starts_with("/dev/"));
        let by_source = || source.and_then(|source| device_at(&self.place(&source)));
        (Number::parse(device) == Some(number) || by_source() == Some(number)).then(|| unescaped(place))
    }
}

fn upon(loops: &[Loop], thing: Thing) -> impl Iterator<Item = &Loop> {
    loops.iter().filter(move |one| one.stands_on.contains(&thing))
}

/// A path of /proc, in which blanks and other characters are octal numbers (proc(5)).
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut left = text.as_bytes();
    while let Some((&byte, rest)) = left.split_first() {
        let digits = rest.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()).filter(|_| byte == b'\\');
        bytes.push(escaped.unwrap_or(byte));
        left = if escaped.is_some() { &rest[3..] } else { rest };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
