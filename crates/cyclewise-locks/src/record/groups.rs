//! Sums of sites: by line of code, by function, by class, by family.
//!
//! # Invariants
//! 1. Each site is in one group of a grouping, so that the groups' executions add up to those of all sites.

use crate::class::is_primitive;
use crate::counts::Words;
use crate::profile::{Caller, Class, Frame, Profile, SiteProfile};
use std::collections::BTreeMap;

/// Sites that have something in common.
#[derive(Clone, Debug, PartialEq)]
pub struct Group<'a, K> {
    /// What they have in common.
    pub key: K,
    /// The sites, the most often executed first.
    pub sites: Vec<&'a SiteProfile>,
    pub executed: u64,
    /// The most threads that executed one of them.
    pub threads: u32,
    /// Executions by how words were used.
    pub words: Words,
}

/// A line of code, or the nearest that is known of where a site is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The function; where none is known, the file and the address.
    pub function: String,
    /// The source file; empty where it is not known.
    pub file: String,
    /// The line; 0 where it is not known.
    pub line: u32,
}

impl Place {
    fn of_frame(frame: &Frame) -> Self {
        Self {
            function: frame.function.clone(),
            file: frame.file.clone().unwrap_or_default(),
            line: frame.line.unwrap_or_default(),
        }
    }

    /// `src/tree.rs:42`; empty where no file is known.
    pub fn line_of_code(&self) -> String {
        match (self.file.as_str(), self.line) {
            ("", _) => String::new(),
            (file, 0) => file.to_owned(),
            (file, line) => format!("{file}:{line}"),
        }
    }
}

/// Where a site is, for its owner: the innermost frame that is no library's inlined code, or else the function it lies in.
///
/// The innermost frame of `Arc::clone` in somebody's loop is a line of `core`, which tells nobody where the clone is.
pub fn place(site: &SiteProfile) -> Place {
    let own = |frame: &&Frame| frame.file.is_some() && !frame.is_of_library();
    match site.frames.iter().find(own).or(site.frames.last()) {
        Some(frame) => Place::of_frame(frame),
        None => Place {
            function: format!("{}+{:#x}", file_name(&site.module), site.address),
            file: String::new(),
            line: 0,
        },
    }
}

/// The last part of a path.
fn file_name(path: &str) -> &str {
    path.rsplit('/').find(|part| !part.is_empty()).unwrap_or(path)
}

/// A sum of counts, which are any numbers where a document was damaged.
fn sum(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

/// Executions of all sites.
pub fn executed(profile: &Profile) -> u64 {
    sum(profile.sites.iter().map(|site| site.executed))
}

/// The sites by what `key` says of each, the groups that were executed most first.
pub fn by<'a, K: Ord + Clone>(profile: &'a Profile, key: impl Fn(&SiteProfile) -> K) -> Vec<Group<'a, K>> {
    grouped(profile.sites.iter().map(|site| (key(site), site, site.executed)))
}

/// The lines of code, each with its class and family: what one line does in two ways is two lines. For the function of a lock, an allocator
/// or a reference count that a library has, the line is its caller's, as far as that is known.
pub fn by_line(profile: &Profile) -> Vec<Group<'_, (Place, Class, Option<String>)>> {
    grouped(profile.sites.iter().flat_map(|site| {
        let key = |place: Place| (place, site.class, site.family.clone());
        let mut left = site.executed;
        let mut parts: Vec<_> = Vec::new();
        for caller in &site.callers {
            // Counts of a damaged document may be more than there are.
            let executed = caller.executed.min(left);
            left -= executed;
            parts.push((key(payer(caller)), site, executed));
        }
        if left > 0 || parts.is_empty() {
            parts.push((key(place(site)), site, left));
        }
        parts
    }))
}

/// Who pays for a call: the innermost caller that is no such function itself.
fn payer(caller: &Caller) -> Place {
    let frames = &caller.frames;
    let payer = frames.iter().find(|frame| !is_primitive(&frame.function));
    payer
        .or(frames.last())
        .map_or_else(|| Place::of_frame(&Frame::default()), Place::of_frame)
}

fn grouped<'a, K: Ord>(parts: impl Iterator<Item = (K, &'a SiteProfile, u64)>) -> Vec<Group<'a, K>> {
    let mut groups: BTreeMap<K, Vec<(&SiteProfile, u64)>> = BTreeMap::new();
    for (key, site, executed) in parts {
        groups.entry(key).or_default().push((site, executed));
    }
    let mut groups: Vec<_> = groups.into_iter().map(|(key, parts)| group(key, parts)).collect();
    // Stable, so that of equal groups the first by its key is first.
    groups.sort_by_key(|group| std::cmp::Reverse(group.executed));
    groups
}

fn group<K>(key: K, mut parts: Vec<(&SiteProfile, u64)>) -> Group<'_, K> {
    parts.sort_by_key(|(_, executed)| std::cmp::Reverse(*executed));
    // Of a part of a site's executions as many are private as of all.
    let words = |of: fn(&Words) -> u64| {
        let share = |(site, executed): &(&SiteProfile, u64)| match (*executed, site.executed) {
            (part, whole) if part == whole => of(&site.words),
            (part, whole) => (of(&site.words) as f64 * part as f64 / whole as f64) as u64,
        };
        sum(parts.iter().map(share))
    };
    let mut sites: Vec<&SiteProfile> = parts.iter().map(|(site, _)| *site).collect();
    sites.dedup_by(|a, b| std::ptr::eq(*a, *b));
    Group {
        executed: sum(parts.iter().map(|(_, executed)| *executed)),
        threads: sites.iter().map(|site| site.threads).max().unwrap_or(0),
        words: Words {
            private: words(|w| w.private),
            shared: words(|w| w.shared),
            unknown: words(|w| w.unknown),
        },
        key,
        sites,
    }
}

/// A function and what called it.
#[derive(Clone, Debug, PartialEq)]
pub struct CallTree {
    /// The function, or the line that calls.
    pub place: Place,
    pub executed: u64,
    /// Who called it, the most frequent first.
    pub callers: Vec<CallTree>,
}

/// The functions of locks, allocators and reference counts that were executed most, with so many levels of callers.
pub fn call_trees(profile: &Profile, levels: usize) -> Vec<CallTree> {
    let mut roots: BTreeMap<String, Vec<(&[Frame], u64)>> = BTreeMap::new();
    for site in profile.sites.iter().filter(|site| !site.callers.is_empty()) {
        // The function that is called, whatever is inlined into it.
        let function = site
            .frames
            .last()
            .map_or_else(|| place(site).function, |frame| frame.function.clone());
        let rows = roots.entry(function).or_default();
        rows.extend(site.callers.iter().map(|caller| (&caller.frames[..], caller.executed)));
    }
    let root = |(function, rows): (String, Vec<(&[Frame], u64)>)| CallTree {
        place: Place {
            function,
            file: String::new(),
            line: 0,
        },
        executed: sum(rows.iter().map(|(_, executed)| *executed)),
        callers: callers(&rows, levels),
    };
    let mut trees: Vec<CallTree> = roots.into_iter().map(root).collect();
    trees.sort_by_key(|tree| std::cmp::Reverse(tree.executed));
    trees
}

fn callers(rows: &[(&[Frame], u64)], levels: usize) -> Vec<CallTree> {
    let mut by_frame: BTreeMap<&Frame, Vec<(&[Frame], u64)>> = BTreeMap::new();
    for (frames, executed) in rows {
        if let Some((first, rest)) = frames.split_first().filter(|_| levels > 0) {
            by_frame.entry(first).or_default().push((rest, *executed));
        }
    }
    let tree = |(frame, rows): (&Frame, Vec<(&[Frame], u64)>)| CallTree {
        place: Place::of_frame(frame),
        executed: sum(rows.iter().map(|(_, executed)| *executed)),
        // What wraps such a function is no level of its own.
        callers: callers(&rows, levels - usize::from(!is_primitive(&frame.function))),
    };
    let mut trees: Vec<CallTree> = by_frame.into_iter().map(tree).collect();
    trees.sort_by_key(|tree| std::cmp::Reverse(tree.executed));
    trees
}

#[cfg(test)]
mod tests {
    use super::super::made_up;
    use super::*;

    #[test]
    fn every_grouping_adds_up_to_all_executions() {
        for locks in [made_up::rust(), made_up::cplusplus(), made_up::aarch64()] {
            let profile = &locks.profile;
            let all = executed(profile);
            let sums = [
                by(profile, |s| s.class).iter().map(|g| g.executed).sum::<u64>(),
                by(profile, |s| s.family.clone()).iter().map(|g| g.executed).sum(),
                by_line(profile).iter().map(|g| g.executed).sum(),
            ];
            assert_eq!(sums, [all; 3]);
            // The twin: a grouping that loses a site is noticed.
            assert_ne!(by_line(profile).iter().skip(1).map(|g| g.executed).sum::<u64>(), all);
            assert!(by_line(profile).is_sorted_by(|a, b| a.executed >= b.executed));
        }
    }

    /// A lock's site with callers, in the file of a library.
    fn called() -> Profile {
        let frame = |function: &str, line| Frame {
            function: function.to_owned(),
            file: Some(format!("{function}.c")),
            line: Some(line),
        };
        let row = |frames: &[(&str, u32)], executed| Caller {
            frames: frames.iter().map(|(function, line)| frame(function, *line)).collect(),
            executed,
        };
        let mut profile = made_up::cplusplus().profile;
        let site = &mut profile.sites[0];
        site.frames = vec![frame("pthread_mutex_lock", 48)];
        site.callers = vec![
            row(&[("g_mutex_lock", 7), ("push", 10), ("loop", 1), ("main", 2)], 60_000),
            row(&[("push", 10), ("main", 3)], 20_000),
        ];
        profile
    }

    #[test]
    fn of_a_librarys_lock_the_line_is_the_callers_and_what_is_left_its_own() {
        let profile = called();
        let lines: Vec<_> = by_line(&profile)
            .iter()
            .map(|g| (g.key.0.line_of_code(), g.executed, g.words.private))
            .collect();
        let own = |line: &str, n| (line.to_owned(), n, n);
        assert_eq!(
            lines,
            [own("push.c:10", 80_000), own("pthread_mutex_lock.c:48", 10_000)]
        );
        assert_eq!(
            by_line(&profile).iter().map(|g| g.executed).sum::<u64>(),
            executed(&profile)
        );
    }

    #[test]
    fn a_tree_has_so_many_levels_and_wrappers_are_none() {
        let text = |levels| {
            fn add(trees: &[CallTree], depth: usize, out: &mut String) {
                for tree in trees {
                    out.push_str(&format!(
                        "{}{} {}\n",
                        " ".repeat(depth),
                        tree.place.function,
                        tree.executed
                    ));
                    add(&tree.callers, depth + 1, out);
                }
            }
            let mut out = String::new();
            add(&call_trees(&called(), levels), 0, &mut out);
            out
        };
        let two =
            "pthread_mutex_lock 80000\n g_mutex_lock 60000\n  push 60000\n   loop 60000\n push 20000\n  main 20000\n";
        assert_eq!(text(2), two);
        assert_eq!(
            text(1),
            "pthread_mutex_lock 80000\n g_mutex_lock 60000\n  push 60000\n push 20000\n"
        );
        assert!(text(0).lines().count() == 1);
    }

    #[test]
    fn a_line_of_a_library_is_told_by_the_line_that_it_was_inlined_into() {
        let site = &made_up::rust().profile.sites[0];
        assert!(site.frames[0].file.as_ref().unwrap().contains("/library/core/"));
        let found = place(site);
        assert_eq!(
            (found.function.as_str(), found.line_of_code().as_str()),
            ("graph::Walk::next", "src/graph.rs:118")
        );
        let only = |n: usize| SiteProfile {
            frames: site.frames[..n].to_vec(),
            ..site.clone()
        };
        assert_eq!(place(&only(2)).function, "<alloc::sync::Arc<T> as Clone>::clone");
        assert_eq!(place(&only(0)).function, format!("walk+{:#x}", site.address));
    }
}
