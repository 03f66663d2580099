//! The file of passwords of libpq: <https://www.postgresql.org/docs/current/libpq-pgpass.html>.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// What a file of passwords has for a login.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    Password(String),
    Nothing,
    /// Why it was not read, in words: others can read it.
    Ignored(String),
}

/// The password of host, port, database and user: of the first line that fits.
pub(super) fn look_up(file: &Path, wanted: [&str; 4]) -> Found {
    let Ok(metadata) = std::fs::metadata(file) else { return Found::Nothing };
    if !metadata.is_file() {
        return Found::Ignored(format!("ignored {}: not a regular file", file.display()));
    }
    if metadata.mode() & 0o077 != 0 {
        let shown = file.display();
        return Found::Ignored(format!(
            "{shown} was not read: others can read it, so run `chmod 600 {shown}`"
        ));
    }
    match std::fs::read_to_string(file) {
        Ok(text) => password(&text, wanted).map_or(Found::Nothing, Found::Password),
        Err(error) => Found::Ignored(format!("{} was not read: {error}", file.display())),
    }
}

fn password(text: &str, wanted: [&str; 4]) -> Option<String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(fields).find_map(|fields| {
        let (password, named) = fields.split_last().filter(|(_, named)| named.len() == 4)?;
        let fits = named.iter().zip(wanted).all(|(field, wanted)| field.is_any() || field.text == wanted);
        (fits && !password.text.is_empty()).then(|| password.text.clone())
    })
}

/// A part of a line.
#[derive(Default)]
struct Field {
    text: String,
    /// Whether a sign of it stands there as it is: an asterisk is a name then.
    is_escaped: bool,
}

impl Field {
    fn is_any(&self) -> bool {
        self.text == "*" && !self.is_escaped
    }
}

/// What stands between colons; a backslash takes the sign behind it as it is. The fifth goes to the end of the line.
fn fields(line: &str) -> Vec<Field> {
    let mut fields = vec![Field::default()];
    let mut signs = line.chars();
    while let Some(sign) = signs.next() {
        let is_last = fields.len() == 5;
        let Some(field) = fields.last_mut() else { break };
        match sign {
            '\\' => {
                field.text.extend(signs.next());
                field.is_escaped = true;
            }
            ':' if !is_last => fields.push(Field::default()),
            _ => field.text.push(sign),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let text = "# host:port:database:user:password\n\
                    db:5432:app:ann:first\n\
                    db:*:*:ann:with\\:colon:and\\\\backslash\n\
                    \\*:*:*:*:of an asterisk\n\
                    short:line\n\
                    *:*:*:bob:any\n";
        let of = |wanted| password(text, wanted);
        assert_eq!(of(["db", "5432", "app", "ann"]).as_deref(), Some("first"));
        assert_eq!(of(["db", "5433", "app", "ann"]).as_deref(), Some("with:colon:and\\backslash"));
        assert_eq!(of(["else", "1", "x", "bob"]).as_deref(), Some("any"));
        assert_eq!(of(["else", "1", "x", "ann"]), None);
    }
}
