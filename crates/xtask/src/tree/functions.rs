//! Functions stay short, and the long ones get fewer.
//!
//! The lines between the braces of a body count, comments and empty ones too: what is counted is how far one
//! has to look. A function that holds another one holds its lines.

use std::collections::BTreeSet;

use syn::visit::{self, Visit};

use super::source::Source;
use super::{Finding, LONG_FUNCTIONS};

/// A body with more lines must be listed.
const LISTED_OVER_LINES: usize = 50;
/// No body has more lines.
const LINES_MAX: usize = 70;

/// `tolerated` is the text of the list: a `path::name` a line, `#` before remarks.
pub(crate) fn check(sources: &[Source], tolerated: &str) -> Vec<Finding> {
    let tolerated: BTreeSet<&str> =
        tolerated.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let long: Vec<Function> = sources.iter().flat_map(long_functions).collect();
    let long_names: BTreeSet<String> = long.iter().map(Function::listed_name).collect();

    let too_long = long.iter().filter_map(|function| {
        let listed = tolerated.contains(function.listed_name().as_str());
        function.fault(listed).map(|fault| Finding::new(&function.path, function.line, fault))
    });
    let obsolete = tolerated.iter().filter(|name| !long_names.contains(**name)).map(|name| {
        let message =
            format!("`{name}` is gone or is not over {LISTED_OVER_LINES} lines any more: remove its line");
        Finding::new(LONG_FUNCTIONS, 0, message)
    });
    too_long.chain(obsolete).collect()
}

/// A function with more lines than need no listing.
struct Function {
    path: String,
    /// With the type or trait that it belongs to.
    name: String,
    line: usize,
    lines: usize,
}

impl Function {
    fn listed_name(&self) -> String {
        format!("{}::{}", self.path, self.name)
    }

    fn fault(&self, listed: bool) -> Option<String> {
        let Self { name, lines, .. } = self;
        if *lines > LINES_MAX {
            Some(format!(
                "`{name}` has {lines} lines, the limit is {LINES_MAX}: split what decides from what computes"
            ))
        } else if !listed {
            Some(format!(
                "`{name}` has {lines} lines and is not in {LONG_FUNCTIONS}, which only shrinks: \
                 bring it to {LISTED_OVER_LINES} lines"
            ))
        } else {
            None
        }
    }
}

fn long_functions(source: &Source) -> Vec<Function> {
    let mut bodies = Bodies::default();
    bodies.visit_file(&source.syntax);
    bodies
        .found
        .into_iter()
        .filter(|(_, _, lines)| *lines > LISTED_OVER_LINES)
        .map(|(name, line, lines)| Function { path: source.path.clone(), name, line, lines })
        .collect()
}

/// Collects name, line and number of lines of each function with a body.
#[derive(Default)]
struct Bodies {
    /// The type or trait around the current function.
    owner: Option<String>,
    found: Vec<(String, usize, usize)>,
}

impl Bodies {
    fn add(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let name = match &self.owner {
            Some(owner) => format!("{owner}::{}", signature.ident),
            None => signature.ident.to_string(),
        };
        let (open, close) =
            (body.brace_token.span.open().start().line, body.brace_token.span.close().end().line);
        self.found.push((name, signature.ident.span().start().line, close.saturating_sub(open + 1)));
    }

    fn within(&mut self, owner: Option<String>, visit: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.owner, owner);
        visit(self);
        self.owner = outer;
    }
}

impl<'ast> Visit<'ast> for Bodies {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.within(None, |bodies| {
            bodies.add(&item.sig, &item.block);
            visit::visit_item_fn(bodies, item);
        });
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        self.within(type_name(&item.self_ty), |bodies| visit::visit_item_impl(bodies, item));
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.within(Some(item.ident.to_string()), |bodies| visit::visit_item_trait(bodies, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.add(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(body) = &item.default {
            self.add(&item.sig, body);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

fn type_name(of: &syn::Type) -> Option<String> {
    match of {
        syn::Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        syn::Type::Reference(reference) => type_name(&reference.elem),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "crates/disk/src/lib.rs";

    fn function(lines: usize) -> String {
        format!("fn run() {{\n{}}}\n", "    step();\n".repeat(lines))
    }

    fn findings(text: &str, tolerated: &str) -> Vec<String> {
        check(&[Source::parse(PATH, text).unwrap()], tolerated).iter().map(ToString::to_string).collect()
    }

    fn assert_one(found: &[String], part: &str) {
        assert!(found.len() == 1 && found[0].contains(part), "{part}: {found:?}");
    }

    #[test]
    fn fifty_lines_need_no_listing() {
        assert_eq!(findings(&function(50), ""), [""; 0]);
    }

    #[test]
    fn a_new_long_function_is_found() {
        assert_one(&findings(&function(51), ""), "`run` has 51 lines and is not in");
    }

    #[test]
    fn a_listed_long_function_is_tolerated_up_to_the_limit() {
        let list = format!("# remark\n\n{PATH}::run\n");
        assert_eq!(findings(&function(70), &list), [""; 0]);
        assert_one(&findings(&function(71), &list), "the limit is 70");
    }

    #[test]
    fn a_line_of_the_list_goes_when_its_function_is_short() {
        assert_one(&findings(&function(50), &format!("{PATH}::run")), "remove its line");
    }

    #[test]
    fn methods_are_found_with_their_owner() {
        for owner in ["impl<T> Ring<T>", "impl Engine for Ring", "trait Ring"] {
            assert_one(&findings(&format!("{owner} {{\n{}}}\n", function(60)), ""), "`Ring::run` has 60");
        }
    }

    #[test]
    fn functions_in_modules_and_functions_are_found() {
        assert_one(&findings(&format!("mod tests {{\n{}}}\n", function(60)), ""), "`run` has 60");
        let outer = format!("fn outer() {{\n{}}}\n", function(55));
        assert_eq!(findings(&outer, "").len(), 2, "both are long");
    }
}
