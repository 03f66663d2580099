//! Import circles: files of a crate that use each other in a ring, so that none can be read or changed alone.
//!
//! A re-export is no use. A name that came through one counts for the file that defines it. Test code does not count.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::source::{Source, Token};

/// Larger circles are listed, and the list only shrinks.
const LISTED_FROM: usize = 4;

/// The files of a circle, sorted.
type Circle = Vec<String>;

/// A path of names from the root of a crate.
type Path = Vec<String>;

/// What one file declares.
#[derive(Default)]
struct Module {
    file: String,
    items: BTreeSet<String>,
    imports: Vec<Import>,
}

/// A name that a `use` brings into scope.
struct Import {
    /// None for `*`.
    name: Option<String>,
    path: Path,
    is_exported: bool,
}

/// The other files that each file uses.
type Arrows = BTreeMap<String, BTreeSet<String>>;

/// The modules of a crate by their paths.
type Modules = BTreeMap<Path, Module>;

/// The circles of each crate, the largest first.
fn of(sources: &[Source]) -> BTreeMap<String, Vec<Circle>> {
    let names: BTreeSet<&str> = sources.iter().map(Source::crate_name).collect();
    let circles = |name: &str| {
        let mut circles = circles(&arrows_of(sources, name));
        circles.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        circles
    };
    names.into_iter().map(|name| (name.to_owned(), circles(name))).collect()
}

/// Compares the sizes of the large circles with the list, which has a line for each crate: `report 129 9 7`.
pub(crate) fn check(sources: &[Source], path: &str, listed: &str) -> Vec<Finding> {
    let sizes = |circles: &[Circle]| -> Vec<usize> {
        circles.iter().map(Vec::len).filter(|&files| files >= LISTED_FROM).collect()
    };
    let listed: BTreeMap<&str, Vec<usize>> = listed
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(name, sizes)| (name, sizes.split(' ').filter_map(|size| size.parse().ok()).collect()))
        .collect();
    let mut findings = Vec::new();
    for (name, circles) in of(sources) {
        let (own, known) = (sizes(&circles), listed.get(name.as_str()).cloned().unwrap_or_default());
        if own == known {
            continue;
        }
        let is_larger = |place: usize| own[place] > known.get(place).copied().unwrap_or(0);
        let message = match (0..own.len()).find(|&place| is_larger(place)) {
            Some(place) => format!(
                "{name}: a circle of {} files import each other: {}. Move what they share to a file below them",
                own[place],
                circles[place].join(", ")
            ),
            None => format!("{name}: fewer files import each other. Write `{name} {}`", joined(&own)),
        };
        findings.push(Finding::new(path, 0, message));
    }
    findings
}

/// Prints the circles of a crate, or of all crates.
pub(crate) fn print(sources: &[Source], name: &str) {
    for (of, circles) in of(sources).iter().filter(|(of, _)| name.is_empty() || of.as_str() == name) {
        println!("{of}: {}", joined(&circles.iter().map(Vec::len).collect::<Vec<_>>()));
        for circle in circles {
            println!("  {} files: {}", circle.len(), circle.join(" "));
        }
    }
}

/// Prints what a file uses, and the files that use it; a star marks those of its circle.
pub(crate) fn print_arrows(sources: &[Source], file: &str) {
    let name = file.split('/').nth(1).unwrap_or_default();
    let arrows = arrows_of(sources, name);
    let circles = circles(&arrows);
    let circle = circles.into_iter().find(|circle| circle.iter().any(|one| one == file)).unwrap_or_default();
    let mark = |one: &String| if circle.contains(one) { "*" } else { " " };
    for used in arrows.get(file).into_iter().flatten() {
        println!("{} uses {used}", mark(used));
    }
    for (by, _) in arrows.iter().filter(|(_, used)| used.contains(file)) {
        println!("{} used by {by}", mark(by));
    }
}

/// Which files each file of a crate uses.
fn arrows_of(sources: &[Source], name: &str) -> Arrows {
    let own = |source: &&Source| is_of_program(source) && source.crate_name() == name;
    let sources: Vec<&Source> = sources.iter().filter(own).collect();
    let modules: Modules = sources.iter().map(|source| (path_of(&source.path), module(source))).collect();
    sources.iter().map(|source| (source.path.clone(), uses(source, &modules))).collect()
}

fn joined(sizes: &[usize]) -> String {
    sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(" ")
}

/// True for a file of the library or the program that has code outside of tests.
fn is_of_program(source: &Source) -> bool {
    let is_source = source.path.split('/').nth(2) == Some("src");
    is_source && source.tokens.iter().any(|token| !token.in_test)
}

/// `crates/report/src/chart/axis.rs` is `chart::axis`; the root of a crate is empty.
fn path_of(file: &str) -> Path {
    let mut path: Path = file.trim_end_matches(".rs").split('/').skip(3).map(str::to_owned).collect();
    if path.last().is_some_and(|last| ["lib", "main", "mod"].contains(&last.as_str())) {
        path.pop();
    }
    path
}

fn module(source: &Source) -> Module {
    let here = path_of(&source.path);
    let mut module = Module { file: source.path.clone(), ..Module::default() };
    for item in &source.syntax.items {
        let (attributes, name) = match item {
            syn::Item::Use(item) => {
                if !is_for_tests(&item.attrs) {
                    let is_exported = !matches!(item.vis, syn::Visibility::Inherited);
                    flatten(&item.tree, &mut Vec::new(), &mut |name, path| {
                        module.imports.push(Import { name, path: absolute(path, &here), is_exported });
                    });
                }
                continue;
            }
            syn::Item::Const(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Enum(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Fn(item) => (&item.attrs, Some(&item.sig.ident)),
            syn::Item::Macro(item) => (&item.attrs, item.ident.as_ref()),
            syn::Item::Static(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Struct(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Trait(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Type(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Union(item) => (&item.attrs, Some(&item.ident)),
            // A module in the same file is a part of it.
            syn::Item::Mod(item) if item.content.is_some() => (&item.attrs, Some(&item.ident)),
            _ => continue,
        };
        if let Some(name) = name.filter(|_| !is_for_tests(attributes)) {
            module.items.insert(name.to_string());
        }
    }
    module
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    let is_test = |attribute: &syn::Attribute| match &attribute.meta {
        syn::Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        _ => false,
    };
    attributes.iter().any(is_test)
}

/// Calls back for each name of a `use`.
fn flatten(tree: &syn::UseTree, prefix: &mut Path, found: &mut impl FnMut(Option<String>, &[String])) {
    match tree {
        syn::UseTree::Path(path) => {
            prefix.push(path.ident.to_string());
            flatten(&path.tree, prefix, found);
            prefix.pop();
        }
        syn::UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, prefix, found)),
        syn::UseTree::Glob(_) => found(None, prefix),
        syn::UseTree::Name(name) if name.ident == "self" => found(prefix.last().cloned(), prefix),
        syn::UseTree::Name(name) => {
            let name = name.ident.to_string();
            found(Some(name.clone()), &[&prefix[..], &[name]].concat());
        }
        syn::UseTree::Rename(renamed) => {
            let path = match renamed.ident == "self" {
                true => prefix.clone(),
                false => [&prefix[..], &[renamed.ident.to_string()]].concat(),
            };
            found(Some(renamed.rename.to_string()), &path);
        }
    }
}

/// The path from the root of the crate. What begins with neither of the three words stays relative to the module.
fn absolute(path: &[String], here: &[String]) -> Path {
    let (mut base, mut rest) = (here.to_vec(), path);
    match path.first().map(String::as_str) {
        Some("crate") => (base, rest) = (Path::new(), &path[1..]),
        Some("self") => rest = &path[1..],
        Some("super") => {
            while rest.first().is_some_and(|word| word == "super") {
                base.pop();
                rest = &rest[1..];
            }
        }
        _ => {}
    }
    [&base[..], rest].concat()
}

/// Follows a path through modules and imports to the module whose file defines the item. Returns none for a module itself, and for
/// names of other crates.
fn resolve(path: &[String], modules: &Modules, depth: usize) -> Option<Path> {
    // Two modules may re-export all of each other.
    if depth > 12 {
        return None;
    }
    let mut here = Path::new();
    for (place, name) in path.iter().enumerate() {
        let below = [&here[..], std::slice::from_ref(name)].concat();
        if modules.contains_key(&below) {
            here = below;
            continue;
        }
        let module = modules.get(&here)?;
        if module.items.contains(name) {
            return Some(here);
        }
        let rest = &path[place + 1..];
        let named = module.imports.iter().filter(|import| import.name.as_ref() == Some(name));
        let through = named.map(|import| [&import.path[..], rest].concat());
        let all = module.imports.iter().filter(|import| import.name.is_none());
        let through = through.chain(all.map(|import| [&import.path[..], &path[place..]].concat()));
        let through: Vec<Path> = through.filter(|other| other != path).collect();
        return through.iter().find_map(|other| resolve(other, modules, depth + 1));
    }
    None
}

/// The other files that a file uses.
fn uses(source: &Source, modules: &Modules) -> BTreeSet<String> {
    let here = path_of(&source.path);
    let Some(own) = modules.get(&here) else { return BTreeSet::new() };
    let imported = own.imports.iter().filter(|import| !import.is_exported && import.name.is_some());
    let imported = imported.map(|import| import.path.clone());
    let named = paths(&source.tokens).into_iter().map(|path| match path[0].as_str() {
        "crate" | "self" | "super" => absolute(&path, &here),
        _ => [&here[..], &path[..]].concat(),
    });
    let found = imported
        .chain(named)
        .filter_map(|path| Some(modules.get(&resolve(&path, modules, 0)?)?.file.clone()));
    found.filter(|file| *file != source.path).collect()
}

/// Paths of two names and more outside of `use` and of tests.
fn paths(tokens: &[Token]) -> Vec<Path> {
    let mut paths = Vec::new();
    let mut place = 0;
    while place < tokens.len() {
        if tokens[place].text == "use" {
            place += tokens[place..].iter().position(|token| token.text == ";").unwrap_or(1);
        }
        let (path, next) = path_at(tokens, place);
        if path.len() > 1 && !tokens[place].in_test {
            paths.push(path);
        }
        place = next.max(place + 1);
    }
    paths
}

/// The path that begins at a token, and the token after it.
fn path_at(tokens: &[Token], mut place: usize) -> (Path, usize) {
    let is_name = |place: usize| {
        tokens.get(place).is_some_and(|token| token.text.starts_with(|c: char| c.is_alphabetic() || c == '_'))
    };
    let is_colon = |place: usize| tokens.get(place).is_some_and(|token| token.text == ":");
    let mut path = Path::new();
    while is_name(place) {
        path.push(tokens[place].text.clone());
        place += 1;
        if !(is_colon(place) && is_colon(place + 1) && is_name(place + 2)) {
            break;
        }
        place += 2;
    }
    (path, place)
}

/// Groups of files that reach each other, of two files and more.
fn circles(arrows: &Arrows) -> Vec<Circle> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        arrows.keys().map(|file| (file.as_str(), reach(file, arrows))).collect();
    let mut circles = BTreeSet::new();
    for (file, others) in &reached {
        let back = |other: &&&str| reached.get(**other).is_some_and(|of| of.contains(file));
        let circle: BTreeSet<String> = others.iter().filter(back).map(|other| (*other).to_owned()).collect();
        if circle.len() > 1 {
            circles.insert(circle);
        }
    }
    circles.into_iter().map(|circle| circle.into_iter().collect()).collect()
}

/// All files that a file uses, and those that they use; itself only if it is in a circle.
fn reach<'a>(file: &str, arrows: &'a Arrows) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut waiting: Vec<&'a str> = arrows.get(file).into_iter().flatten().map(String::as_str).collect();
    while let Some(next) = waiting.pop() {
        if reached.insert(next) {
            waiting.extend(arrows.get(next).into_iter().flatten().map(String::as_str));
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(files: &[(&str, &str)]) -> Vec<Source> {
        files.iter().map(|(path, text)| Source::parse(&format!("crates/{path}"), text).unwrap()).collect()
    }

    fn found(files: &[(&str, &str)]) -> Vec<Circle> {
        of(&sources(files)).into_values().flatten().collect()
    }

    const ROOT: (&str, &str) = ("a/src/lib.rs", "mod one; mod two; pub use two::Two;");

    #[test]
    fn files_that_import_each_other_are_a_circle() {
        let one = ("a/src/one.rs", "use crate::two::Two; pub struct One;");
        let two = ("a/src/two.rs", "use super::one::One; pub struct Two(One);");
        let circles = [vec!["crates/a/src/one.rs".to_owned(), "crates/a/src/two.rs".to_owned()]];
        assert_eq!(found(&[ROOT, one, two]), circles);
        let alone = ("a/src/two.rs", "pub struct Two;");
        assert!(found(&[ROOT, one, alone]).is_empty());
        let by_path = ("a/src/two.rs", "pub struct Two; fn f() { let _ = crate::one::One; }");
        assert_eq!(found(&[ROOT, one, by_path]), circles);
        let by_module = ("a/src/two.rs", "use crate::one; pub struct Two; fn f() -> one::One { one::One }");
        assert_eq!(found(&[ROOT, one, by_module]), circles);
    }

    #[test]
    fn a_name_counts_for_the_file_that_defines_it_and_a_re_export_for_nothing() {
        let one = ("a/src/one.rs", "use crate::Two; pub struct One;");
        let two = ("a/src/two.rs", "pub struct Two;");
        assert!(found(&[ROOT, one, two]).is_empty(), "the root only re-exports");
        let root =
            ("a/src/lib.rs", "mod one; mod two; pub use two::*; pub const LIMIT: u32 = 1; use one::One;");
        let two = ("a/src/two.rs", "pub struct Two; fn f() -> u32 { crate::LIMIT }");
        let circle = ["lib", "one", "two"].map(|name| format!("crates/a/src/{name}.rs"));
        assert_eq!(found(&[root, one, two]), [circle]);
    }

    #[test]
    fn tests_and_other_crates_count_for_nothing() {
        let one = (
            "a/src/one.rs",
            "use std::fmt; pub struct One; #[cfg(test)] mod tests { fn f() { crate::two::g() } }",
        );
        let two = ("a/src/two.rs", "use crate::one::One; pub struct Two; pub fn g() {}");
        assert!(found(&[ROOT, one, two]).is_empty());
        let other = ("b/src/lib.rs", "use a::Two; pub struct One;");
        assert!(found(&[ROOT, other, two, ("a/src/one.rs", "pub struct One;")]).is_empty());
    }

    #[test]
    fn the_list_of_large_circles_only_shrinks() {
        let names = ["b", "c", "d", "e"];
        let ring = |files: usize| -> Vec<Source> {
            let file = |place: usize| {
                let next = names[(place + 1) % files];
                let text = format!("use crate::{next}::X as Y; pub struct X;");
                Source::parse(&format!("crates/a/src/{}.rs", names[place]), &text).unwrap()
            };
            (0..files).map(file).collect()
        };
        assert!(check(&ring(4), "list", "a 4\n").is_empty());
        assert!(check(&ring(3), "list", "").is_empty());
        let larger = check(&ring(4), "list", "");
        assert!(larger[0].message.contains("a circle of 4 files"), "{larger:?}");
        let smaller = check(&ring(3), "list", "a 4\n");
        assert!(smaller[0].message.contains("Write `a `"), "{smaller:?}");
    }
}
