//! Modules that need each other in a circle can only be read together, so circles stay small.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::{Finding, read};

/// The most files in one cycle.
const MOST: usize = 3;

pub(super) fn findings(files: &[PathBuf]) -> Vec<Finding> {
    let mut crates: BTreeMap<String, BTreeMap<PathBuf, String>> = BTreeMap::new();
    for file in files
        .iter()
        .filter(|file| file.extension().is_some_and(|e| e == "rs"))
    {
        let parts = file.to_str().and_then(|path| path.split_once("/src/"));
        if let Some((name, path)) = parts {
            crates
                .entry(name.to_owned())
                .or_default()
                .insert(path.into(), read(file));
        }
    }
    crates
        .iter()
        .filter_map(|(name, modules)| finding(name, modules))
        .collect()
}

fn finding(name: &str, modules: &BTreeMap<PathBuf, String>) -> Option<Finding> {
    let cycle = largest_cycle(&edges(modules));
    if cycle.len() <= MOST {
        return None;
    }
    let files: Vec<_> = cycle
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    let (many, files) = (files.len(), files.join(", "));
    let what = format!("{many} files need each other in a circle, at most {MOST} may: {files}");
    Some(Finding::new(format!("{name}/src"), what))
}

type Edges<'m> = BTreeMap<&'m Path, BTreeSet<&'m Path>>;

/// Which files a file names in its `use crate::…` and `use super::…`, outside its tests. The root of
/// the crate names everybody, so it is left out.
fn edges(modules: &BTreeMap<PathBuf, String>) -> Edges<'_> {
    let named = |path: &[&str]| {
        (1..=path.len()).rev().find_map(|length| {
            let module: PathBuf = path.get(..length)?.iter().collect();
            [module.with_extension("rs"), module.join("mod.rs")]
                .into_iter()
                .find_map(|file| Some(modules.get_key_value(&file)?.0.as_path()))
        })
    };
    let of_file = |(file, text): (&'_ PathBuf, &String)| {
        let paths = used(text);
        let own = own_path(file);
        let found = paths.iter().filter_map(|path| {
            let above = path.iter().take_while(|part| *part == "super").count();
            let rest = path.iter().skip(above.max(1)).map(String::as_str);
            let base = if above == 0 {
                &[]
            } else {
                own.get(..own.len().checked_sub(above)?)?
            };
            named(&base.iter().copied().chain(rest).collect::<Vec<_>>())
        });
        found.filter(|found| *found != file.as_path()).collect()
    };
    modules
        .iter()
        .map(|module| (module.0.as_path(), of_file(module)))
        .collect()
}

/// The names of a file's module, from the root of the crate.
fn own_path(file: &Path) -> Vec<&str> {
    let mut names: Vec<&str> = file.iter().filter_map(|part| part.to_str()).collect();
    let last = names.pop().unwrap_or_default().trim_end_matches(".rs");
    names.extend((!matches!(last, "mod" | "lib" | "main")).then_some(last));
    names
}

/// The paths that begin with `crate` or `super`, each whole: `use crate::{a, b::c};` has two.
fn used(text: &str) -> Vec<Vec<String>> {
    let tests = text.find("#[cfg(test)]\nmod ").unwrap_or(text.len());
    let mut paths = Vec::new();
    // Also those of `pub(crate) use`.
    for line in text.get(..tests).unwrap_or_default().split_inclusive(';') {
        let code = line
            .rsplit_once("\nuse ")
            .or_else(|| line.rsplit_once(") use "));
        let tree = code.map_or(line.trim_start_matches("use "), |(_, tree)| tree);
        let tree: String = tree.trim_end_matches(';').split_whitespace().collect();
        if tree.starts_with("crate::") || tree.starts_with("super::") {
            expand(&tree, &mut paths);
        }
    }
    paths
}

/// The paths of a tree of `use`: from the innermost braces outwards, each name in them is put behind
/// what stands before them.
fn expand(tree: &str, paths: &mut Vec<Vec<String>>) {
    let inner = tree.rfind('{').and_then(|open| {
        let (before, rest) = (tree.get(..open)?, tree.get(open + 1..)?);
        let (names, after) = rest.split_once('}')?;
        Some((before, names, after))
    });
    let Some((before, names, after)) = inner else {
        paths.extend(
            tree.split(',')
                .map(|path| path.split("::").map(str::to_owned).collect()),
        );
        return;
    };
    let begin = before.rfind(['{', ',']).map_or(0, |at| at + 1);
    let (before, path) = before.split_at_checked(begin).unwrap_or((before, ""));
    let names = names.split(',').filter(|name| !name.is_empty());
    let whole: Vec<_> = names.map(|name| format!("{path}{name}")).collect();
    expand(&format!("{before}{}{after}", whole.join(",")), paths);
}

/// The largest set of files each of which leads to each other.
fn largest_cycle<'m>(edges: &Edges<'m>) -> Vec<&'m Path> {
    let reached = |from: &'m Path| {
        let mut reached = BTreeSet::new();
        let mut next = vec![from];
        while let Some(file) = next.pop() {
            let new = edges.get(file).into_iter().flatten();
            next.extend(new.filter(|file| reached.insert(**file)));
        }
        reached
    };
    let all: BTreeMap<&Path, BTreeSet<&Path>> =
        edges.keys().map(|file| (*file, reached(file))).collect();
    let cycle = |(file, reached): (&&'m Path, &BTreeSet<&'m Path>)| -> Vec<&'m Path> {
        let back = |other: &&&Path| all.get(**other).is_some_and(|there| there.contains(*file));
        reached.iter().filter(back).copied().collect()
    };
    all.iter()
        .map(cycle)
        .max_by_key(Vec::len)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modules(files: &[(&str, &str)]) -> BTreeMap<PathBuf, String> {
        files
            .iter()
            .map(|(file, text)| (file.into(), (*text).to_owned()))
            .collect()
    }

    #[test]
    fn paths_are_found_in_every_form_of_use() {
        let text = "use std::fmt;\npub(crate) use crate::a::{\n    B, c::{d, E as F},\n};\n\
                    use super::super::g;\n// use crate::no;\n#[cfg(test)]\nmod tests {\n    use crate::t;\n}\n";
        let joined: Vec<_> = used(text).iter().map(|path| path.join("::")).collect();
        assert_eq!(
            joined,
            [
                "crate::a::B",
                "crate::a::c::d",
                "crate::a::c::EasF",
                "super::super::g"
            ]
        );
    }

    #[test]
    fn a_cycle_that_is_too_long_is_named_with_its_files() {
        let long = [
            ("lib.rs", "use crate::a;"),
            ("a.rs", "use crate::b::B;\nuse crate::lone;\n"),
            ("b.rs", "use crate::c::one::One;\n"),
            ("c/mod.rs", "use crate::Root;"),
            ("c/one.rs", "use super::two::{Two};\n"),
            ("c/two.rs", "use super::super::a::A;\nuse super::C;\n"),
            ("lone.rs", ""),
        ];
        let said = finding("crates/x", &modules(&long)).unwrap();
        assert_eq!(
            (said.place.as_str(), said.what.as_str()),
            (
                "crates/x/src",
                "4 files need each other in a circle, at most 3 may: a.rs, b.rs, c/one.rs, c/two.rs"
            )
        );
        assert!(finding("crates/x", &modules(&long[..4])).is_none());
        assert!(finding("crates/x", &modules(&[])).is_none());
    }
}
