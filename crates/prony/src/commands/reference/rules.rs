//! The page of warnings: the text of each rule, as in `prony explain`.

use std::fmt::Write as _;

use super::escaped;

pub(super) fn page() -> String {
    let mut text = "# Warnings and notes\n\nReports end each warning with its rule in brackets, such as \\[noisy\\]. \
                    `prony explain noisy` prints the text below. [Inspect](../inspect.md) has the rules of settings.\n"
        .to_owned();
    for rule in report::rules::all() {
        let _ = write!(
            text,
            "\n## {} {{#{}}}\n\nRule `{}`. {}\n",
            rule.name,
            rule.id,
            rule.id,
            escaped(&rule.means)
        );
        let parts = [
            ("Computed", Some(&rule.computed)),
            ("Source", rule.source.as_ref()),
            ("Do", rule.action.as_ref()),
        ];
        for (label, part) in parts {
            if let Some(part) = part {
                let _ = write!(text, "\n- **{label}**: {}", escaped(part));
            }
        }
        text.push('\n');
    }
    text
}
