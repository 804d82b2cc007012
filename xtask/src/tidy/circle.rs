//! Modules that stand beside each other depend on each other one way: what is above can be read, tested and moved without what uses it.
//!
//! Between packages cargo sees to it. What only tests have may name any module, and a module and those inside it are one room; any other circle
//! of files is one of the modules beside each other that they are in. Folders of a `lib.rs` or a `main.rs` are looked at, of examples too.

use super::names::Name;
use super::source::Source;
use super::tree::Tree;
use super::{Finding, Rule};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const RULE: Rule = Rule { name: "circle", check };

/// The names of modules, from their root.
type Path = Vec<String>;

fn check(tree: &Tree) -> Vec<Finding> {
    let of_root = |s: &'_ Source| {
        ["/lib.rs", "/main.rs"]
            .iter()
            .find_map(|end| Some(s.path.strip_suffix(end)?.to_owned()))
    };
    let roots: BTreeSet<String> = tree.sources().iter().filter_map(of_root).collect();
    let mut findings = Vec::new();
    for root in &roots {
        for (room, edges) in &Package::read(tree.sources(), root).edges {
            for circle in circles(edges) {
                let (file, line, name) = &edges[&circle[0]][&circle[1]];
                let within = if room.is_empty() {
                    String::new()
                } else {
                    format!(" in `{}`", room.join("::"))
                };
                let what = format!("`{}` go in a circle{within}, here by `{name}`", circle.join("`, `"));
                let fix = "move what they share below both, or pass it in";
                findings.push(Finding::new(file, *line, what, fix));
            }
        }
    }
    findings
}

/// Where a module names another: file, line, and the name.
type Place = (String, usize, String);

/// For each module, those beside it that it names.
type Edges = BTreeMap<String, BTreeMap<String, Place>>;

#[derive(Default)]
struct Package {
    modules: BTreeSet<Path>,
    /// What a module's file imports, by the name that it gets there.
    aliases: BTreeMap<Path, BTreeMap<String, Path>>,
    /// By the module that both are in.
    edges: BTreeMap<Path, Edges>,
}

impl Package {
    /// Of the files below the folder of a library's or a program's root.
    fn read(sources: &[Source], root: &str) -> Self {
        let below = sources.iter().filter_map(|s| Some((s.module_in(root)?, s)));
        let sources: Vec<(Path, &Source)> = below.collect();
        let mut package = Self {
            modules: sources.iter().map(|(own, _)| own.clone()).collect(),
            ..Self::default()
        };
        for (own, source) in &sources {
            for name in source.names.all.iter().filter(|n| !n.in_test && n.inside.is_empty()) {
                if let (Some(binding), Some(path)) = (&name.binding, package.absolute(name, own)) {
                    package
                        .aliases
                        .entry(own.clone())
                        .or_default()
                        .insert(binding.clone(), path);
                }
            }
        }
        for (own, source) in &sources {
            for name in source.names.all.iter().filter(|n| !n.in_test) {
                if let Some(target) = package.absolute(name, own).and_then(|path| package.module_of(path)) {
                    package.note(own, &target, (source.path.clone(), name.line, name.text()));
                }
            }
        }
        package
    }

    /// The path from the package's root; `None` if it leaves the package.
    fn absolute(&self, name: &Name, own: &Path) -> Option<Path> {
        let mut at: Path = own.iter().chain(&name.inside).cloned().collect();
        let mut segments = &name.segments[..];
        match segments[0].as_str() {
            "crate" => at.clear(),
            "self" => {}
            "super" => {
                at.pop();
            }
            first => {
                at.push(first.to_owned());
                self.modules.contains(&at).then_some(())?;
            }
        }
        segments = &segments[1..];
        for segment in segments {
            match segment.as_str() {
                "super" => {
                    at.pop();
                }
                "self" | "*" => {}
                _ => at.push(segment.clone()),
            }
        }
        Some(at)
    }

    /// The module that a path leads to, through what modules import.
    fn module_of(&self, mut path: Path) -> Option<Path> {
        // Imports may lead to imports, and a glob in a circle.
        for _ in 0..8 {
            let known = (0..=path.len()).rev().find(|&n| self.modules.contains(&path[..n]))?;
            let next = path
                .get(known)
                .and_then(|item| self.aliases.get(&path[..known])?.get(item));
            match next {
                Some(imported) if imported[..] != path[..] => path = imported.clone(),
                _ => return Some(path[..known].to_vec()),
            }
        }
        None
    }

    fn note(&mut self, own: &Path, target: &Path, place: Place) {
        let common = own.iter().zip(target).take_while(|(a, b)| a == b).count();
        if let (Some(from), Some(to)) = (own.get(common), target.get(common)) {
            self.edges
                .entry(own[..common].to_vec())
                .or_default()
                .entry(from.clone())
                .or_default()
                .entry(to.clone())
                .or_insert(place);
        }
    }
}

/// The shortest circle through each module that is in one and in none of those before.
fn circles(edges: &Edges) -> Vec<Vec<String>> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for start in edges.keys() {
        if seen.contains(start) {
            continue;
        }
        if let Some(circle) = circle_through(start, edges) {
            seen.extend(circle.iter().cloned());
            found.push(circle);
        }
    }
    found
}

/// Breadth first, so the shortest.
fn circle_through(start: &String, edges: &Edges) -> Option<Vec<String>> {
    let mut from: BTreeMap<&String, &String> = BTreeMap::new();
    let mut queue = std::collections::VecDeque::from([start]);
    while let Some(at) = queue.pop_front() {
        for next in edges.get(at).into_iter().flat_map(BTreeMap::keys) {
            if next == start {
                let mut circle = vec![at.clone()];
                while let Some(before) = from.get(&circle[circle.len() - 1]) {
                    circle.push((*before).clone());
                }
                circle.reverse();
                return Some(circle.into_iter().chain([start.clone()]).collect());
            }
            if next != start && !from.contains_key(next) {
                from.insert(next, at);
                queue.push_back(next);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::tidy::testing::check;

    fn lab(files: &[(&str, &str)]) -> Vec<String> {
        check(
            &RULE,
            &[&[("crates/lab/src/lib.rs", "//! L.\nmod a;\nmod b;\n")], files].concat(),
        )
    }

    #[test]
    fn one_way_is_allowed_and_tests_may_look_back() {
        let good = [
            (
                "crates/lab/src/a.rs",
                "//! A.\npub struct Noun;\n#[cfg(test)]\nmod tests { use crate::b::work; }\n",
            ),
            (
                "crates/lab/src/b/mod.rs",
                "//! B.\nmod part;\nuse crate::a::Noun;\nuse part::Piece;\n",
            ),
            (
                "crates/lab/src/b/part.rs",
                "//! P.\nuse super::Whole;\nuse crate::a::Noun;\n",
            ),
        ];
        assert_eq!(lab(&good), [""; 0]);
    }

    #[test]
    fn a_circle_is_named_where_it_begins() {
        let bad = lab(&[
            ("crates/lab/src/a.rs", "//! A.\nuse crate::b::work;\n"),
            ("crates/lab/src/b.rs", "//! B.\nuse super::a::Noun;\n"),
        ]);
        assert_eq!(
            bad,
            [
                "crates/lab/src/a.rs:2: circle: `a`, `b`, `a` go in a circle, here by `crate::b::work`; move what they share below both, or pass it in"
            ]
        );
    }

    #[test]
    fn a_circle_inside_a_room_is_seen_through_the_names_that_the_room_imports() {
        let bad = lab(&[
            ("crates/lab/src/b/mod.rs", "//! B.\nmod x;\nmod y;\npub use x::X;\n"),
            ("crates/lab/src/b/x.rs", "//! X.\nuse super::y::Y;\n"),
            ("crates/lab/src/b/y.rs", "//! Y.\nuse super::X;\n"),
        ]);
        assert_eq!(
            bad,
            [
                "crates/lab/src/b/x.rs:2: circle: `x`, `y`, `x` go in a circle in `b`, here by `super::y::Y`; move what they share below both, or pass it in"
            ]
        );
    }

    #[test]
    fn a_circle_outside_of_src_is_named_where_a_root_is() {
        let mut files = vec![
            ("crates/lab/plugin/x.rs", "//! X.\nuse crate::y::Y;\n"),
            ("crates/lab/plugin/y.rs", "//! Y.\nuse crate::x::X;\n"),
        ];
        assert_eq!(lab(&files), [""; 0], "the twin: files of no program");
        files.push(("crates/lab/plugin/main.rs", "//! M.\nmod x;\nmod y;\n"));
        assert!(lab(&files)[0].starts_with("crates/lab/plugin/x.rs:2: circle: `x`, `y`, `x` go in a circle"));
    }
}
