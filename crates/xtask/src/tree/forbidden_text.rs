//! Text that no file of the tree may contain, because it is true on one machine only.

use super::Finding;

/// A text and why it must not be there. The texts are put together here, so that this file passes too.
const FORBIDDEN: [(&str, &str); 4] = [
    (concat!("/ho", "me/"), "a path of one workplace: use a relative path or a made-up one"),
    (concat!("://cra", "tes.io"), "an address of the registry: name the crate instead"),
    (concat!("index.cra", "tes.io"), "an address of the registry: name the crate instead"),
    (concat!("static.cra", "tes.io"), "an address of the registry: name the crate instead"),
];

/// Written by cargo, with the registry as source of each package.
const EXEMPT: &str = "Cargo.lock";

pub(crate) fn check(path: &str, text: &str) -> Vec<Finding> {
    if path == EXEMPT {
        return Vec::new();
    }
    let lines = text.lines().enumerate();
    lines.flat_map(|(index, line)| check_line(path, index + 1, line)).collect()
}

fn check_line<'a>(path: &'a str, number: usize, line: &'a str) -> impl Iterator<Item = Finding> + 'a {
    FORBIDDEN
        .iter()
        .filter(|(text, _)| line.contains(text))
        .map(move |(text, why)| Finding::new(path, number, format!("contains `{text}`, {why}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_forbidden_text_is_found_on_its_line() {
        for (text, _) in FORBIDDEN {
            let found = check("README.md", &format!("first\nsee {text}x\n"));
            assert_eq!(found.iter().map(|finding| finding.line).collect::<Vec<_>>(), [2], "{text}");
        }
    }

    #[test]
    fn the_lock_file_may_name_the_registry() {
        assert_eq!(check("Cargo.lock", FORBIDDEN[2].0), []);
    }

    #[test]
    fn ordinary_text_is_not_found() {
        assert_eq!(check("README.md", "go home/or stay; crates and io"), []);
    }
}
