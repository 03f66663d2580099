//! Reads a TOML document into typed values, with the lines and the paths of what is wrong, and says it in the words of a user.

mod tree;
mod value;

use serde::de::DeserializeOwned;
use toml::Value;

pub(crate) use tree::{Kind, Node, Step, SyntaxError};
pub(crate) use value::{Problem, Wrong};

/// What is wrong, where: the line, the place and the problem.
pub(crate) fn told(tree: &Node, wrong: &Wrong) -> (Option<usize>, String, String) {
    let place = dotted(&wrong.path);
    let node = tree.nearest(&wrong.path);
    let (place, problem) = match &wrong.problem {
        Problem::UnknownKey(known) => {
            let given = wrong.path.last().map(|step| dotted(std::slice::from_ref(step))).unwrap_or_default();
            let parent = dotted(&wrong.path[..wrong.path.len().saturating_sub(1)]);
            let problem =
                elsewhere(&parent, &given).unwrap_or_else(|| unknown(&given, &of_today(&parent, known)));
            (place, problem)
        }
        Problem::Missing(key) => (
            if place.is_empty() { (*key).to_owned() } else { format!("{place}.{key}") },
            "missing".to_owned(),
        ),
        Problem::Other(problem) => (place, problem.clone()),
    };
    (node.line, place, problem)
}

/// Why a parameter cannot have a value.
pub(crate) enum Unfit {
    /// There is no such parameter.
    Key(String),
    /// It cannot have this value.
    Value(String),
}

/// What is wrong with one parameter of a type, given by its dotted key.
pub(crate) fn wrong_in<T: DeserializeOwned>(key: &str, value: &Value) -> Option<Unfit> {
    let tree = Node::at_key(key, value.clone());
    let wrong = T::deserialize(&tree).err()?;
    Some(match &wrong.problem {
        Problem::UnknownKey(_) if wrong.path.len() <= key.split('.').count() => {
            Unfit::Key(told(&tree, &wrong).2)
        }
        _ => Unfit::Value(told(&tree, &wrong).2),
    })
}

/// How far a name may be from another one to be taken for a slip of the pen.
const SLIP: f64 = 0.7;
/// A longer name is none that anybody meant, and takes long to be compared.
const NAME_BYTES_MAX: usize = 100;

/// Keys of an older spelling, which are read and not proposed: where, and which.
const OLDER: [(&str, &[&str]); 1] =
    [("target", &["url", "existing", "keep", "store", "postgres", "mariadb"])];

/// The keys that somebody who writes a file today is to write.
fn of_today<'a>(parent: &str, known: &[&'a str]) -> Vec<&'a str> {
    let older = OLDER.iter().find(|(place, _)| *place == parent).map_or(&[][..], |(_, keys)| keys);
    known.iter().copied().filter(|key| !older.contains(key)).collect()
}

/// What stands elsewhere in a file than a command line suggests.
fn elsewhere(parent: &str, given: &str) -> Option<String> {
    (parent == "target" && given == "managed").then(|| {
        "unknown key. A managed server has its own table: [target.server.pg] with engine = \"postgres\" or \
         \"mariadb\", and data, log, memory and so on"
            .to_owned()
    })
}

fn unknown(given: &str, known: &[&str]) -> String {
    if given.len() > NAME_BYTES_MAX {
        return format!("unknown key. Keys here: {}", known.join(", "));
    }
    match likely(given, known.iter().copied()) {
        Some(nearest) => format!("unknown key. Did you mean `{nearest}`?"),
        None => format!("unknown key. Keys here: {}", known.join(", ")),
    }
}

/// The name that was meant, if one is near enough: a slip of the keys, or a part of the name.
pub(crate) fn likely<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let likeness = |name: &&str| strsim::normalized_damerau_levenshtein(given, name);
    let nearest = known.max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(&nearest) >= SLIP || nearest.contains(given) || given.contains(nearest)).then_some(nearest)
}

/// `axis[1].levels`, counted from 1 as people do.
pub(crate) fn dotted(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Key(key) if text.is_empty() => text.push_str(key),
            Step::Key(key) => text = format!("{text}.{key}"),
            Step::Index(index) => text = format!("{text}[{}]", index + 1),
        }
    }
    text
}
