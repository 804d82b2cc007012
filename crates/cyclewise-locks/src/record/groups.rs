//! Sums of sites: by line of code, by function, by class, by family.
//!
//! # Invariants
//! 1. Each site is in one group of a grouping, so that the groups' executions add up to those of all sites.

use crate::counts::Words;
use crate::profile::{Class, Frame, Profile, SiteProfile};
use std::collections::BTreeMap;

/// Sites that have something in common.
#[derive(Clone, Debug, PartialEq)]
pub struct Group<'a, K> {
    /// What they have in common.
    pub key: K,
    /// The sites, the most often executed first.
    pub sites: Vec<&'a SiteProfile>,
    /// Executions of all.
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
    /// `src/tree.rs:42`; empty where no file is known.
    pub fn line_of_code(&self) -> String {
        match (self.file.as_str(), self.line) {
            ("", _) => String::new(),
            (file, 0) => file.to_owned(),
            (file, line) => format!("{file}:{line}"),
        }
    }
}

/// Folders of sources that come with a compiler or a package manager: the code that is inlined into people's own.
const LIBRARIES: &[&str] = &[
    "/rustc/",
    "/rustlib/src/",
    "/library/core/src/",
    "/library/alloc/src/",
    "/library/std/src/",
    "/.cargo/registry/",
    "/include/c++/",
    "/usr/include/",
    "/lib/gcc/",
    "/go/src/",
];

/// Where a site is, for its owner: the innermost frame that is no library's inlined code, or else the function it lies in.
///
/// The innermost frame of `Arc::clone` in somebody's loop is a line of `core`, which tells nobody where the clone is.
pub fn place(site: &SiteProfile) -> Place {
    let own = |frame: &&Frame| {
        let file = frame.file.as_deref();
        file.is_some_and(|file| !LIBRARIES.iter().any(|library| file.contains(library)))
    };
    match site.frames.iter().find(own).or(site.frames.last()) {
        Some(frame) => Place {
            function: frame.function.clone(),
            file: frame.file.clone().unwrap_or_default(),
            line: frame.line.unwrap_or_default(),
        },
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
    let mut groups: BTreeMap<K, Vec<&SiteProfile>> = BTreeMap::new();
    for site in &profile.sites {
        groups.entry(key(site)).or_default().push(site);
    }
    let mut groups: Vec<_> = groups.into_iter().map(|(key, sites)| group(key, sites)).collect();
    // Stable, so that of equal groups the first by its key is first.
    groups.sort_by_key(|group| std::cmp::Reverse(group.executed));
    groups
}

/// The lines of code, each with its class and family: what one line does in two ways is two lines.
pub fn by_line(profile: &Profile) -> Vec<Group<'_, (Place, Class, Option<String>)>> {
    by(profile, |site| (place(site), site.class, site.family.clone()))
}

fn group<K>(key: K, mut sites: Vec<&SiteProfile>) -> Group<'_, K> {
    sites.sort_by_key(|site| std::cmp::Reverse(site.executed));
    let sum = |of: fn(&SiteProfile) -> u64| self::sum(sites.iter().map(|site| of(site)));
    Group {
        executed: sum(|site| site.executed),
        threads: sites.iter().map(|site| site.threads).max().unwrap_or(0),
        words: Words {
            private: sum(|site| site.words.private),
            shared: sum(|site| site.words.shared),
            unknown: sum(|site| site.words.unknown),
        },
        key,
        sites,
    }
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
