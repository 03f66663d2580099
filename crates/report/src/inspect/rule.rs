//! Rules as data, and what a rule looks at: facts by their names, with units taken into account. What is not known matches no rule.

use record::{Device, Environment, FactRow, InspectedServer, Layout, MountPoint, Reading, Storage, Tuning};

use super::Severity;

/// One piece of advice that may be given.
pub(super) struct Rule {
    /// A word that stays the same between versions.
    pub(super) name: &'static str,
    pub(super) severity: Severity,
    /// Why it matters.
    pub(super) why: &'static str,
    /// Where that is said: the product's own documentation, by title and section.
    pub(super) source: &'static str,
    /// What is wrong, if it is.
    pub(super) find: fn(&Subject<'_>) -> Option<Found>,
}

/// What is wrong, and what to do.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    pub(super) found: String,
    pub(super) remedy: String,
}

/// Something that was found.
pub(super) fn found(found: impl Into<String>, remedy: impl Into<String>) -> Option<Found> {
    Some(Found { found: found.into(), remedy: remedy.into() })
}

/// Something that was found, if it is wrong.
pub(super) fn found_if(is_wrong: bool, what: impl Into<String>, remedy: impl Into<String>) -> Option<Found> {
    is_wrong.then(|| Found { found: what.into(), remedy: remedy.into() })
}

/// What a rule is asked about: a machine, one of its volumes, or a server.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) environment: &'a Environment,
    pub(super) volume: Option<&'a Storage>,
    pub(super) server: Option<&'a InspectedServer>,
}

/// A value that was read; none where it is not known.
pub(super) fn known<T>(reading: &Reading<T>) -> Option<&T> {
    reading.known()
}

impl<'a> Subject<'a> {
    pub(super) fn tuning(&self) -> Option<&'a Tuning> {
        self.environment.tuning.as_ref()
    }

    pub(super) fn mount(&self) -> Option<&'a MountPoint> {
        known(&self.volume?.mount)
    }

    pub(super) fn device(&self) -> Option<&'a Device> {
        known(&self.volume?.device)
    }

    pub(super) fn layout(&self) -> Option<&'a Layout> {
        self.volume?.layout.as_ref()
    }

    /// Whether the file system has this option.
    pub(super) fn has_option(&self, option: &str) -> bool {
        self.mount().is_some_and(|mount| mount.options.split(',').any(|one| one == option))
    }

    /// Whether it is one of these file systems.
    pub(super) fn is_file_system(&self, names: &[&str]) -> bool {
        self.mount().is_some_and(|mount| names.contains(&mount.file_system.as_str()))
    }

    /// Kernel names of the disks that requests are queued for.
    pub(super) fn disks(&self) -> Vec<&'a str> {
        match self.layout().map_or(&[][..], |layout| &layout.members) {
            [] => self.device().map(|device| device.name.as_str()).into_iter().collect(),
            members => members.iter().map(String::as_str).collect(),
        }
    }

    /// A command for each disk: a value into a file of its queue.
    pub(super) fn queue_command(&self, value: &str, file: &str) -> String {
        let each = |name: &&str| format!("echo {value} > /sys/block/{}/queue/{file}", name.replace('/', "!"));
        self.disks().iter().map(each).collect::<Vec<String>>().join("; ")
    }

    /// The rows of a table of facts; none where it was not told.
    pub(super) fn rows(&self, table: &str) -> &'a [FactRow] {
        self.server.and_then(|server| server.facts.get(table)).map_or(&[], Vec::as_slice)
    }

    /// The only row of a table of facts.
    pub(super) fn row(&self, table: &str) -> Option<&'a FactRow> {
        self.rows(table).first()
    }

    fn of_name(&self, table: &str, name: &str) -> Option<&'a FactRow> {
        self.rows(table)
            .iter()
            .find(|row| row.get("name").is_some_and(|known| known.eq_ignore_ascii_case(name)))
    }

    /// A setting as the server spells it.
    pub(super) fn setting(&self, name: &str) -> Option<&'a str> {
        self.of_name("settings", name)?.get("value").map(String::as_str)
    }

    /// Whether a setting is that of the role or the database of the session that asked, and not the server's.
    pub(super) fn is_of_session(&self, name: &str) -> bool {
        let source = self.of_name("settings", name).map(|row| text(row, "source"));
        source.is_some_and(|source| ["database", "user", "database user"].contains(&source))
    }

    /// A setting that is a number, in the server's unit.
    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.setting(name)?.trim().parse().ok()
    }

    /// A setting that is a size, in bytes: those of MariaDB and MySQL have no unit, those of PostgreSQL one such as `8kB`.
    pub(super) fn bytes(&self, name: &str) -> Option<f64> {
        let row = self.of_name("settings", name)?;
        let unit_bytes = row.get("unit").map_or(Some(1.0), |unit| unit_bytes(unit))?;
        let value: f64 = row.get("value")?.trim().parse().ok()?;
        (value >= 0.0).then_some(value * unit_bytes)
    }

    /// A counter.
    pub(super) fn counter(&self, name: &str) -> Option<f64> {
        figure(self.of_name("status", name)?, "value")
    }

    /// Whether a setting is known and is this, whatever its capitals.
    pub(super) fn is(&self, name: &str, value: &str) -> bool {
        self.setting(name).is_some_and(|known| known.eq_ignore_ascii_case(value))
    }

    /// Whether a setting is known and off.
    pub(super) fn is_off(&self, name: &str) -> bool {
        ["off", "0", "no", "false"].iter().any(|off| self.is(name, off))
    }

    /// Whether a setting is known and on.
    pub(super) fn is_on(&self, name: &str) -> bool {
        ["on", "1", "yes", "true"].iter().any(|on| self.is(name, on))
    }

    /// Bytes of memory of the machine that the server runs on, where that is this one.
    pub(super) fn memory(&self) -> Option<f64> {
        let total = self.environment.memory.total_bytes;
        self.server.filter(|server| server.here && total > 0).map(|_| total as f64)
    }

    /// The volume of something of the server.
    pub(super) fn volume_of(&self, what: &str) -> Option<&'a Storage> {
        self.environment.volumes.get(self.server?.volumes.get(what)?)
    }

    /// The device of the server's data.
    pub(super) fn data_device(&self) -> Option<&'a Device> {
        known(&self.volume_of("data")?.device)
    }

    /// Whether the server's data lies on a device that is known not to spin.
    pub(super) fn is_on_ssd(&self) -> bool {
        self.data_device().is_some_and(|device| known(&device.rotational) == Some(&false))
    }

    /// The device that this and the data of the server lie on, if it is one.
    pub(super) fn shared_with_data(&self, what: &str) -> Option<&'a str> {
        let other = known(&self.volume_of(what)?.device)?;
        self.data_device().filter(|data| data.name == other.name).map(|data| data.name.as_str())
    }
}

/// A figure of a row.
pub(super) fn figure(row: &FactRow, column: &str) -> Option<f64> {
    row.get(column)?.trim().parse().ok()
}

/// A text of a row; empty where there is none.
pub(super) fn text<'a>(row: &'a FactRow, column: &str) -> &'a str {
    row.get(column).map_or("", String::as_str)
}

/// Bytes of a unit as PostgreSQL writes it: `8kB` is 8,192.
fn unit_bytes(unit: &str) -> Option<f64> {
    let digits = unit.bytes().take_while(u8::is_ascii_digit).count();
    let (count, unit) = unit.split_at(digits);
    let count = if count.is_empty() { 1.0 } else { count.parse().ok()? };
    let bytes = match unit {
        "B" => 1.0,
        "kB" => 1024.0,
        "MB" => 1024.0 * 1024.0,
        "GB" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    Some(count * bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_settings_are_bytes() {
        for (unit, bytes) in [("8kB", Some(8192.0)), ("kB", Some(1024.0)), ("16MB", Some(16_777_216.0))] {
            assert_eq!(unit_bytes(unit), bytes, "{unit}");
        }
        for unit in ["ms", "min", "", "8"] {
            assert_eq!(unit_bytes(unit), None, "{unit}");
        }
    }
}
