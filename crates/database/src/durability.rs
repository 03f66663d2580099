//! Tables of which a crash may lose committed rows, whatever the settings of their server say.

use record::UnsafeTables;

use crate::Value;

/// Rows of kind and name, in the order of their kinds.
pub(crate) fn unsafe_tables(rows: Vec<Vec<Value>>) -> Vec<UnsafeTables> {
    let mut kinds: Vec<UnsafeTables> = Vec::new();
    for row in rows {
        let [Value::Text(kind), Value::Text(name)] = row.as_slice() else { continue };
        match kinds.iter_mut().find(|known| known.kind == *kind) {
            Some(known) => known.names.push(name.clone()),
            None => kinds.push(UnsafeTables { kind: kind.clone(), names: vec![name.clone()] }),
        }
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_told_by_their_kinds() {
        let row = |kind: &str, name: &str| vec![Value::Text(kind.to_owned()), Value::Text(name.to_owned())];
        let found = unsafe_tables(vec![row("unlogged", "a"), row("temporary", "b"), row("unlogged", "c")]);
        let of = |kind: &str, names: &[&str]| UnsafeTables {
            kind: kind.to_owned(),
            names: names.iter().map(|name| (*name).to_owned()).collect(),
        };
        assert_eq!(found, [of("unlogged", &["a", "c"]), of("temporary", &["b"])]);
    }
}
