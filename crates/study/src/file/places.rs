//! Places that a study asks for: `$name` at the begin of a path or address is the place that a user named.

use super::{Mistake, StudyFile, given_as_place};
use crate::lab::Laboratory;
use crate::read::{Kind, Node};
use crate::study::Study;

/// Places that a study may ask for.
const PLACES_MAX: usize = 1_000;

/// Where places may stand.
const TARGETS: [&str; 3] = ["target", "configuration", "axis"];

impl StudyFile<'_> {
    /// Puts paths and addresses where `$name` stands for a place.
    pub(super) fn fill_in_places(&self, tree: &mut Node) -> Vec<Mistake> {
        let asked = match tree.get("places").cloned() {
            Some(Node { kind: Kind::Table(asked), .. }) => asked,
            _ => Vec::new(),
        };
        if asked.len() > PLACES_MAX {
            let problem = format!("{} locations exceed the limit of {PLACES_MAX}. Use fewer", asked.len());
            return vec![Mistake { line: None, place: "places".to_owned(), problem }];
        }
        let mut mistakes = self.unknown_places(&asked);
        let whole = tree.clone();
        mistakes.extend(unnamed_places(&whole, &asked));
        for (name, place) in &asked {
            let sign = format!("${name}");
            let text = |key: &str| place.get(key).and_then(Node::text);
            let in_lab = self.lab.as_ref().filter(|_| place.get("lab").is_some());
            let in_lab = in_lab.map(|lab| lab.place(name).display().to_string());
            let given = self.places.get(name).map(String::as_str).or(in_lab.as_deref());
            let Some(given) = given.or_else(|| text("default")) else {
                // A place may have been narrowed away.
                if !stands_for(&whole, &sign) {
                    continue;
                }
                let what = text("what").unwrap_or("it");
                let or_lab = place.get("lab").map_or_else(String::new, |_| {
                    format!(", or let prony create it from loop devices with {}", given_as_place("lab"))
                });
                mistakes.push(Mistake {
                    line: place.line,
                    place: format!("places.{name}"),
                    problem: format!(
                        "missing. Give {what} with {}=PATH_OR_URL{or_lab}",
                        given_as_place(name)
                    ),
                });
                continue;
            };
            for key in TARGETS {
                if let Some(node) = tree.get_mut(key) {
                    node.each_text(&mut |text| fill_in(text, &sign, given));
                }
            }
        }
        mistakes
    }

    /// What is made for the study: of places that say what they are in a laboratory those that nobody named and that it uses.
    pub(super) fn laboratory(&self, study: &Study) -> Option<Laboratory> {
        let lab = self.lab.as_ref()?;
        let text = study.to_toml().ok()?;
        let is_used = |name: &str| {
            let at = lab.place(name).display().to_string();
            text.contains(&format!("{at}\"")) || text.contains(&format!("{at}/"))
        };
        let places =
            study.places.iter().filter(|(name, _)| !self.places.contains_key(*name) && is_used(name));
        let volumes = places.filter_map(|(name, place)| Some(lab.volumes(name, place.lab.as_ref()?)));
        Some(Laboratory { directory: lab.directory.clone(), volume: volumes.flatten().collect() })
    }

    /// A laboratory that is asked for where no place says what it would be.
    pub(super) fn no_laboratory(&self, tree: &Node) -> Option<Mistake> {
        self.lab.as_ref()?;
        let has_one = match tree.get("places") {
            Some(Node { kind: Kind::Table(places), .. }) => {
                places.iter().any(|(_, place)| place.get("lab").is_some())
            }
            _ => false,
        };
        (!has_one).then(|| Mistake {
            line: None,
            place: given_as_place("lab"),
            problem: "no location of this study describes a lab volume. Give a directory for each location, or add \
                 [places.NAME.lab]"
                .to_owned(),
        })
    }

    fn unknown_places(&self, asked: &[(String, Node)]) -> Vec<Mistake> {
        let names: Vec<&str> = asked.iter().map(|(name, _)| name.as_str()).collect();
        let remedy =
            if names.is_empty() { "it has none".to_owned() } else { format!("it has {}", names.join(", ")) };
        let unknown = self.places.keys().filter(|name| !names.contains(&name.as_str()));
        let mistake = |name: &String| Mistake {
            line: None,
            place: given_as_place(name),
            problem: format!("not a location of this study ({remedy})"),
        };
        unknown.map(mistake).collect()
    }
}

/// Signs that stand for no place of the study.
fn unnamed_places(tree: &Node, asked: &[(String, Node)]) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    for key in TARGETS {
        let Some(mut node) = tree.get(key).cloned() else { continue };
        node.each_text(&mut |text| {
            let Some(rest) = text.trim_start_matches("sqlite:").strip_prefix('$') else { return };
            let name = rest.split('/').next().unwrap_or_default();
            if !asked.iter().any(|(own, _)| own == name) {
                mistakes.push(Mistake {
                    line: tree.get(key).and_then(|node| node.line),
                    place: text.clone(),
                    problem: format!("unknown location. Define it as [places.{name}]"),
                });
            }
        });
    }
    mistakes
}

/// Whether a place's sign stands anywhere in a study.
fn stands_for(tree: &Node, sign: &str) -> bool {
    let mut found = false;
    for key in TARGETS {
        if let Some(mut node) = tree.get(key).cloned() {
            node.each_text(&mut |text| {
                let before = text.clone();
                fill_in(text, sign, "");
                found |= *text != before;
            });
        }
    }
    found
}

/// Replaces a place's sign at the begin of a path or address, or of an address' file.
pub(super) fn fill_in(text: &mut String, sign: &str, place: &str) {
    let begin = if text.starts_with("sqlite:") { "sqlite:".len() } else { 0 };
    let rest = text[begin..].strip_prefix(sign).filter(|rest| rest.is_empty() || rest.starts_with('/'));
    if let Some(rest) = rest {
        *text = format!("{}{place}{rest}", &text[..begin]);
    }
}
