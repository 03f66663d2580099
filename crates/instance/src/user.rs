//! As whom a server runs: as ourselves, or, when we are root, as a user that can do no harm.

use crate::InstanceError;

/// A user without privileges, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

impl User {
    /// The user to change to, or `None` if we are not root and stay who we are.
    pub(crate) fn unprivileged(preferred: &'static str) -> Result<Option<Self>, InstanceError> {
        if !rustix::process::geteuid().is_root() {
            return Ok(None);
        }
        let accounts =
            std::fs::read_to_string("/etc/passwd").map_err(InstanceError::file("read", "/etc/passwd"))?;
        Self::find(&accounts, preferred)
            .or_else(|| Self::find(&accounts, "nobody"))
            .map(Some)
            .ok_or(InstanceError::NoUnprivilegedUser { user: preferred })
    }

    /// Looks a name up in the text of `/etc/passwd`. One that is root by another name is not found.
    fn find(accounts: &str, name: &str) -> Option<Self> {
        accounts.lines().find_map(|line| {
            let mut fields = line.split(':');
            if fields.next() != Some(name) {
                return None;
            }
            let (uid, gid) = (fields.nth(1)?.parse().ok()?, fields.next()?.parse().ok()?);
            (uid != 0).then_some(Self { uid, gid })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCOUNTS: &str = "root:x:0:0:root:/root:/bin/bash\n\
                            mysql2:x:7:8::/:/bin/false\n\
                            mysql:x:103:112:MySQL,,,:/nonexistent:/bin/false\n\
                            toor:x:0:0::/:/bin/sh\n\
                            broken:x:\n";

    #[test]
    fn an_account_is_found_by_its_whole_name() {
        assert_eq!(User::find(ACCOUNTS, "mysql"), Some(User { uid: 103, gid: 112 }));
        assert_eq!(User::find(ACCOUNTS, "mysq"), None);
    }

    #[test]
    fn root_under_any_name_and_broken_lines_are_not_found() {
        for name in ["root", "toor", "broken", ""] {
            assert_eq!(User::find(ACCOUNTS, name), None, "{name}");
        }
    }
}
