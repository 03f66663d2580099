//! Reads a study file: layers (a quick look, the command line) over it, places filled in, and all of its mistakes at once,
//! each with its line.

mod places;

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use toml::Value;

use crate::effect;
use crate::lab::GivenLab;
use crate::mistake::{Place, StudyError, StudyErrors};
use crate::plan::Plan;
use crate::quick;
use crate::read::{self, Kind, Node, Step, dotted};
use crate::study::Study;

/// A study file and what a command line lays over it.
#[derive(Clone, Debug, Default)]
pub struct StudyFile<'a> {
    /// Name of the study, for results and messages: that of the file without its ending.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Whether times are to be shortened.
    pub quick: bool,
    /// Paths and addresses for the places that the study asks for, by their names.
    pub places: BTreeMap<String, String>,
    /// Where places that say what they are in a laboratory are made as one, unless they are named.
    pub lab: Option<GivenLab>,
    /// Parameters that replace those of the file, by their dotted keys. One that an axis varies narrows it.
    pub set: Vec<(String, Value)>,
}

/// Something wrong with a study file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Line of the file, from 1; none if it came from the command line or is nowhere in particular.
    pub line: Option<usize>,
    /// Key, or what it is about.
    pub place: String,
    /// What is wrong, and what to do.
    pub problem: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, place, problem } = self;
        if let Some(line) = line {
            write!(f, "line {line}: ")?;
        }
        if place.is_empty() { f.write_str(problem) } else { write!(f, "{place}: {problem}") }
    }
}

/// How the command line gives a place.
fn given_as_place(name: &str) -> String {
    format!("--location {name}")
}

impl StudyFile<'_> {
    /// The study, checked up to its plan.
    ///
    /// # Errors
    /// All mistakes at once, in the order of their lines.
    pub fn study(&self) -> Result<Study, Vec<Mistake>> {
        let mut tree = parsed(self.text)?;
        let quick_look = tree.get("quick_look").cloned();
        let in_lab = tree.get("in_lab").cloned();
        let mut mistakes = Vec::new();
        if let Some(look) = quick_look.clone() {
            // Read whether it is used or not: a mistake in it is one.
            let mut layered = tree.clone();
            lay(&mut layered, look);
            self.read(layered, &mut mistakes);
        }
        if let Some(layer) = in_lab.filter(|_| self.lab.is_some()) {
            lay(&mut tree, layer);
        }
        if self.quick {
            match quick_look {
                Some(look) => lay(&mut tree, look),
                None => self.hasten(&mut tree),
            }
            tree.lay(Node::at_key("quick", Value::Boolean(true)));
        }
        let as_written = tree.clone();
        mistakes.extend(lay_given(&mut tree, &self.set));
        mistakes.extend(self.no_laboratory(&tree));
        let whole = tree.clone();
        let study = self.read(tree, &mut mistakes);
        if let Some(study) = study.as_ref().filter(|_| mistakes.is_empty()) {
            let is_narrowed = |key: &str| self.set.iter().any(|(set, _)| set == key);
            let idle = effect::single_levels(study, &is_narrowed).into_iter();
            mistakes.extend(idle.map(|error| told(&whole, error)));
            mistakes.extend(self.set_for_nothing(&as_written, study));
        }
        mistakes.iter_mut().for_each(|mistake| self.head(mistake));
        mistakes
            .sort_by(|a, b| (a.line.is_none(), a.line, &a.place).cmp(&(b.line.is_none(), b.line, &b.place)));
        mistakes.dedup();
        let others = mistakes.len().saturating_sub(MISTAKES_MAX);
        if others > 0 {
            mistakes.truncate(MISTAKES_MAX);
            mistakes.push(more_than(MISTAKES_MAX));
        }
        match study {
            Some(mut study) if mistakes.is_empty() => {
                study.lab = self.laboratory(&study);
                // What is stored is what was run.
                (study.quick_look, study.in_lab, study.places) = (None, None, BTreeMap::new());
                Ok(study)
            }
            _ => Err(mistakes),
        }
    }

    /// Lays a quick look of ours over a file that has none. A file with mistakes is left as it is, since it will not run.
    fn hasten(&self, tree: &mut Node) {
        let Some(study) = self.read(tree.clone(), &mut Vec::new()) else { return };
        let look = quick::look(&study);
        for (key, value) in look.laid {
            tree.lay(Node::at_key(&key, value));
        }
        let configurations = tree.get_mut("configuration").map(Node::elements_mut).unwrap_or_default();
        for configuration in configurations {
            for key in &look.times {
                let path: Vec<Step> = key.split('.').map(|part| Step::Key(part.to_owned())).collect();
                configuration.remove(&path);
            }
        }
    }

    /// A mistake in what the command line gave stands under that.
    fn head(&self, mistake: &mut Mistake) {
        let place = &mistake.place;
        let is_of = |key: &str| {
            place.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        if mistake.line.is_none() && self.set.iter().any(|(key, _)| is_of(key)) {
            mistake.place = format!("--set {place}");
        }
    }

    /// Keys of the command line that something else wins over.
    fn set_for_nothing(&self, as_written: &Node, study: &Study) -> Vec<Mistake> {
        let mut mistakes = Vec::new();
        for (position, (key, _)) in self.set.iter().enumerate() {
            let problem = if key.split('.').next() == Some("quick_look") {
                Some(
                    "no effect: --set overrides the study, also in a quick run. Set the key itself, without `quick_look`".to_owned(),
                )
            } else if study.axis.iter().any(|axis| axis.key == *key) {
                None
            } else {
                let mut without = as_written.clone();
                let mut others = self.set.clone();
                others.remove(position);
                lay_given(&mut without, &others);
                let without = self.read(without, &mut Vec::new());
                without.and_then(|without| effect::without_effect(study, &without, key))
            };
            mistakes.extend(problem.map(|problem| Mistake {
                line: None,
                place: format!("--set {key}"),
                problem,
            }));
        }
        mistakes
    }

    /// Reads a study out of a tree, as far as that goes.
    fn read(&self, mut tree: Node, mistakes: &mut Vec<Mistake>) -> Option<Study> {
        let missing = self.fill_in_places(&mut tree);
        // A place that is missing is told by itself, and not by what it makes of an address.
        let is_complete = missing.is_empty();
        mistakes.extend(missing);
        let whole = tree.clone();
        let mut removed: Vec<Vec<Step>> = Vec::new();
        let mut study = loop {
            match Study::deserialize(&tree) {
                Ok(study) => break study,
                Err(wrong) => {
                    let is_place = tree.nearest(&wrong.path).text().is_some_and(|text| text.contains('$'));
                    if is_complete || !is_place {
                        let (line, place, problem) = read::told(&tree, &wrong);
                        mistakes.push(Mistake { line, place, problem });
                    }
                    // The whole is read again for each.
                    if mistakes.len() > MISTAKES_MAX || !tree.remove(&wrong.path) {
                        return None;
                    }
                    removed.push(wrong.path);
                }
            }
        };
        if study.title.is_empty() {
            study.title = self.name.to_owned();
        }
        if study.slug.is_empty() {
            study.slug = self.name.to_owned();
        }
        if let Err(StudyErrors(errors)) = Plan::of(&study) {
            // What was taken out above is told already, and so is what is missing because of it.
            let is_new = |place: &Place| !removed.iter().any(|path| is_about(place, path));
            let new = errors.into_iter().filter(|error| is_new(&error.place));
            mistakes.extend(new.map(|error| told(&whole, error)));
        }
        Some(study)
    }
}

/// The document, or up to so many mistakes in what is no TOML.
fn parsed(text: &str) -> Result<Node, Vec<Mistake>> {
    Node::parse(text).map_err(|errors| {
        let mistake = |error: read::SyntaxError| Mistake {
            line: Some(error.line),
            place: String::new(),
            problem: error.problem,
        };
        let first = errors.into_iter().take(MISTAKES_MAX + 1).map(mistake);
        let mut mistakes: Vec<Mistake> = first.collect();
        if mistakes.len() > MISTAKES_MAX {
            mistakes[MISTAKES_MAX] = more_than(MISTAKES_MAX);
        }
        mistakes
    })
}

/// Lays what the command line gave over the file. What a configuration sets itself would win over it in silence.
fn lay_given(tree: &mut Node, set: &[(String, Value)]) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    // Laid as one: what is said of a database holds for the one that is given beside it, in whatever order.
    let mut given = Node::table(Vec::new());
    for (key, value) in set {
        let configurations = tree.get_mut("configuration").map(Node::elements_mut).unwrap_or_default();
        let mut own: Vec<&str> = Vec::new();
        for configuration in configurations {
            if let Some(axes) = configuration.get_mut("axis") {
                narrow(axes, key, value);
            }
            if configuration.at(key).is_some() {
                own.push(configuration.get("name").and_then(Node::text).unwrap_or("without a name"));
            }
        }
        if !own.is_empty() {
            mistakes.push(Mistake {
                line: None,
                place: format!("--set {key}"),
                problem: format!(
                    "no effect in {}, because the file sets another value there. Change the value in the file",
                    own.join(", ")
                ),
            });
        }
        let narrowed = tree.get_mut("axis").is_some_and(|axes| narrow(axes, key, value));
        if !narrowed {
            lay(&mut given, Node::at_key(key, value.clone()));
        }
    }
    lay(tree, given);
    mistakes
}

/// Lays a layer over a study.
fn lay(tree: &mut Node, upper: Node) {
    let says_more =
        upper.at("target.database").is_some_and(|database| matches!(database.kind, Kind::Table(_)));
    // Of a database that is written as its place alone.
    if says_more
        && let Some(database) = tree.get_mut("target").and_then(|target| target.get_mut("database"))
        && database.text().is_some()
    {
        let place = database.clone();
        database.kind = Kind::Table(vec![("at".to_owned(), place)]);
    }
    forget_of_another(tree, &upper);
    tree.lay(upper);
}

/// What may happen to a database was said of that alone, and not of another that a layer gives in its place.
fn forget_of_another(tree: &mut Node, upper: &Node) {
    let said = |node: &Node, key: &str| node.at(key).and_then(Node::text).map(str::to_owned);
    for (table, places) in [("target.database", &["at", "name"][..]), ("target", &["url", "database"])] {
        let is_other = places.iter().any(|place| {
            let key = format!("{table}.{place}");
            said(tree, &key).zip(said(upper, &key)).is_some_and(|(lower, upper)| lower != upper)
        });
        if is_other {
            for key in ["existing", "keep", "load"] {
                let path: Vec<Step> =
                    table.split('.').chain([key]).map(|part| Step::Key(part.to_owned())).collect();
                tree.remove(&path);
            }
        }
    }
}

/// Mistakes that are told; more are the same one again and again, or no study at all.
const MISTAKES_MAX: usize = 100;
fn more_than(told: usize) -> Mistake {
    let problem = format!("more than {told} mistakes. Fix these first");
    Mistake { line: None, place: String::new(), problem }
}

/// Narrows the axis of a key to one level, if there is one.
fn narrow(axes: &mut Node, key: &str, value: &Value) -> bool {
    let axis = axes.elements_mut().iter_mut().find(|axis| axis.get("key").and_then(Node::text) == Some(key));
    let Some(axis) = axis else { return false };
    axis.take("reference");
    axis.take("names");
    axis.lay(Node::at_key("levels", Value::Array(vec![value.clone()])));
    true
}

/// A mistake of a study, where it stands in its file.
fn told(tree: &Node, StudyError { place, problem }: StudyError) -> Mistake {
    Mistake { line: line_of(tree, &place), place: place.to_string(), problem }
}

/// Whether a place in a study is what a path leads to, or lies in it, or holds it.
fn is_about(place: &Place, path: &[Step]) -> bool {
    let removed = dotted(path);
    let within = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    match place {
        Place::Key(key) => within(&removed, key) || within(key, &removed),
        Place::Axis(key) => within(key, &removed),
        Place::Configuration(_) => false,
        Place::Parameter { name, .. } => {
            let last =
                path.iter().rev().find_map(|step| if let Step::Key(key) = step { Some(key) } else { None });
            last == Some(name)
        }
    }
}

/// Line of what a mistake in a study is about.
fn line_of(tree: &Node, place: &Place) -> Option<usize> {
    let all = |list: &str| tree.get(list).map(Node::elements).unwrap_or_default();
    let named = |list: &[Node], key: &str, name: &str| {
        let of_list = list.iter().find_map(|entry| entry.get(key).filter(|node| node.text() == Some(name)));
        of_list.and_then(|node| node.line)
    };
    let own_axes = || all("configuration").iter().filter_map(|configuration| configuration.get("axis"));
    let axis = |key: &str| {
        named(all("axis"), "key", key)
            .or_else(|| own_axes().find_map(|axes| named(axes.elements(), "key", key)))
    };
    match place {
        // The key itself, or the nearest table that would hold it.
        Place::Key(key) => {
            let ends: Vec<usize> = key.match_indices('.').map(|(end, _)| end).chain([key.len()]).collect();
            ends.into_iter().rev().find_map(|end| tree.at(&key[..end])).and_then(|node| node.line)
        }
        Place::Axis(key) => axis(key),
        Place::Configuration(name) => named(all("configuration"), "name", name),
        Place::Parameter { workload, name } => {
            let key = format!("workload.{workload}.{name}");
            let mut given = [tree].into_iter().chain(all("configuration"));
            given.find_map(|given| given.at(&key)).and_then(|node| node.line).or_else(|| axis(&key))
        }
    }
}

#[cfg(test)]
mod tests;
