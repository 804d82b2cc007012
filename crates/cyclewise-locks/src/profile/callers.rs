//! Functions and lines of the callers of sites.
//!
//! Each file is opened once, so that what is wanted of it is collected before.

use super::place::{CallerPlace, Place};
use super::{Caller, SiteProfile};
use crate::class::is_primitive;
use crate::image::{Frame, Image, PerfMap};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// A site whose callers have no names yet.
pub(super) struct Unfinished {
    pub(super) site: SiteProfile,
    pub(super) callers: BTreeMap<Vec<CallerPlace>, u64>,
    /// Whether it lies in a library, or in a function of one that the table knows, whatever is inlined into it.
    pub(super) is_of_library: bool,
    /// Whether who pays is its caller whatever it is called: it is the C library's, or all that a function without a name does, as
    /// AArch64's outlined atomics are.
    pub(super) is_called: bool,
}

/// Rows of callers that a profile keeps whole of a site.
const MOST: usize = 32;
/// Further ones, of which it keeps no more than the line that pays.
const MOST_SHORT: usize = 512;

/// What is wanted of files, and what was found.
#[derive(Default)]
pub(super) struct Callers {
    wanted: BTreeMap<PathBuf, BTreeSet<u64>>,
    named: HashMap<CallerPlace, Frame>,
    maps: HashMap<u32, PerfMap>,
}

impl Callers {
    pub(super) fn want<'a>(&mut self, places: impl Iterator<Item = &'a Place>) {
        for (path, _, offset) in places.flat_map(|place| place.callers.keys()).flatten() {
            if let Some(path) = path {
                self.wanted.entry(path.clone()).or_default().insert(*offset);
            }
        }
    }

    /// The files of which something is wanted.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        self.wanted.keys().cloned().collect()
    }

    /// Names what is wanted of one file.
    pub(super) fn name(&mut self, path: &Path, image: &Image) {
        for offset in self.wanted.remove(path).unwrap_or_default() {
            let frames = image
                .address(offset)
                .map_or_else(Vec::new, |address| image.frames(address));
            if let Some(frame) = shown(&frames) {
                self.named.insert((Some(path.to_owned()), 0, offset), frame.clone());
            }
        }
    }

    /// The function of generated code, if its program wrote a map.
    pub(super) fn generated(&mut self, pid: u32, address: u64) -> Vec<Frame> {
        let map = self.maps.entry(pid).or_insert_with(|| PerfMap::of_process(pid));
        let function = map.name(address).map(str::to_owned);
        let frame = |function| Frame {
            function,
            file: None,
            line: None,
        };
        function.map(frame).into_iter().collect()
    }

    /// The sites with their callers: of those that are some caller's line.
    pub(super) fn complete(&mut self, sites: Vec<Unfinished>) -> Vec<SiteProfile> {
        let complete = |mut of: Unfinished| {
            if of.is_called || is_called_for(&of.site, of.is_of_library) {
                of.site.callers = self.of_site(of.callers);
            }
            of.site
        };
        sites.into_iter().map(complete).collect()
    }

    fn of_site(&mut self, paths: BTreeMap<Vec<CallerPlace>, u64>) -> Vec<Caller> {
        // Rows that differ in addresses may be the same in lines.
        let mut rows: BTreeMap<Vec<Frame>, u64> = BTreeMap::new();
        for (places, executed) in paths {
            let frames: Vec<Frame> = places.iter().map_while(|place| self.frame(place)).collect();
            if !frames.is_empty() {
                let sum = rows.entry(frames).or_default();
                *sum = sum.saturating_add(executed);
            }
        }
        let mut rows: Vec<Caller> = rows
            .into_iter()
            .map(|(frames, executed)| Caller { frames, executed })
            .collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.executed));
        let seldom = rows.split_off(rows.len().min(MOST));
        rows.extend(shortened(seldom));
        rows
    }

    fn frame(&mut self, place: &CallerPlace) -> Option<Frame> {
        match place {
            (Some(path), _, offset) => Some(self.named.get(place).cloned().unwrap_or_else(|| Frame {
                function: format!("{}+{offset:#x}", path.file_name().unwrap_or_default().display()),
                file: None,
                line: None,
            })),
            (None, pid, address) => self.generated(*pid, *address).pop(),
        }
    }
}

/// Rows up to the line that pays: who calls that is left out.
fn shortened(rows: Vec<Caller>) -> Vec<Caller> {
    let mut sums: BTreeMap<Vec<Frame>, u64> = BTreeMap::new();
    for Caller { mut frames, executed } in rows {
        if let Some(pays) = frames.iter().position(|frame| !is_primitive(&frame.function)) {
            frames.truncate(pays + 1);
        }
        let sum = sums.entry(frames).or_default();
        *sum = sum.saturating_add(executed);
    }
    let rows = sums.into_iter().map(|(frames, executed)| Caller { frames, executed });
    let mut rows: Vec<Caller> = rows.collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.executed));
    rows.truncate(MOST_SHORT);
    rows
}

/// The frame that is shown of those that were inlined into each other: the innermost that is no library's.
fn shown(frames: &[Frame]) -> Option<&Frame> {
    let own = |frame: &&Frame| !frame.is_of_library() && !is_primitive(&frame.function);
    frames.iter().find(own).or(frames.last())
}

/// Whether who pays for the site is its caller: it is in a lock's, an allocator's or a reference count's function, which a library has.
fn is_called_for(site: &SiteProfile, is_of_library: bool) -> bool {
    let of_library = is_of_library
        || site
            .frames
            .iter()
            .all(|frame| frame.file.is_none() || frame.is_of_library());
    of_library && site.frames.last().is_some_and(|frame| is_primitive(&frame.function))
}

#[cfg(test)]
mod tests {
    use super::{Callers, MOST, is_called_for};
    use crate::image::Frame;
    use crate::record::made_up;

    #[test]
    fn of_many_rows_all_have_the_line_that_pays() {
        let place = |file: &str, offset| (Some(file.into()), 0, offset);
        // Two lines lock, and each of them is called from a hundred others.
        let paths = (0..200).map(|n| (vec![place("app", n % 2), place("app", 100 + n)], 1 + u64::from(n < 40)));
        let rows = Callers::default().of_site(paths.collect());
        assert_eq!(rows.iter().map(|row| row.executed).sum::<u64>(), 240);
        let lengths: Vec<_> = rows.iter().map(|row| row.frames.len()).collect();
        assert_eq!(lengths, [vec![2; MOST], vec![1; 2]].concat());
    }

    #[test]
    fn of_a_librarys_lock_the_caller_pays_and_of_ones_own_function_oneself() {
        let mut site = made_up::rust().profile.sites[2].clone();
        let mut asked = |function: &str, file: &str, is_of_library| {
            site.frames = vec![Frame {
                function: function.to_owned(),
                file: (!file.is_empty()).then(|| file.to_owned()),
                line: None,
            }];
            is_called_for(&site, is_of_library)
        };
        assert!(asked("pthread_mutex_lock", "./nptl/pthread_mutex_lock.c", true));
        assert!(asked("pthread_mutex_lock", "", false), "no sources, so nobody's own");
        assert!(
            !asked("lock_table", "src/table.rs", false),
            "a lock of std is inlined there"
        );
        assert!(!asked("insert", "", true), "no such function");
    }
}
