//! A process image as records describe it: its threads, its mappings, and where samples fell.

use crate::counts::End;
use cyclewise_bench::sys::perf_record::Mapped;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::rc::Rc;

/// Mappings of an image: a program that compiles as it runs changes its own all the time.
const MAPPINGS: usize = 65_536;
/// Addresses in an image at which samples fell.
const PLACES: usize = 1 << 20;

#[derive(Clone)]
pub(super) struct Image {
    pub(super) pid: u32,
    pub(super) parent: Option<u32>,
    pub(super) program: Option<PathBuf>,
    pub(super) arguments: Vec<String>,
    pub(super) threads: Vec<Seen>,
    pub(super) by_tid: HashMap<u32, usize>,
    pub(super) mappings: Vec<Rc<Mapped>>,
    pub(super) mappings_left_out: u64,
    pub(super) places: HashMap<Place, Fallen>,
    pub(super) places_left_out: u64,
    pub(super) end: End,
    pub(super) alive: HashSet<u32>,
    had_threads: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) tid: u32,
    pub(super) name: String,
    pub(super) begun_ns: u64,
    pub(super) ended_ns: Option<u64>,
}

/// Where samples fell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place {
    pub(super) ip: u64,
    pub(super) exact: bool,
    pub(super) mapping: Option<usize>,
    pub(super) event: usize,
}

/// The weights of samples at a place.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Fallen {
    /// By thread, an index.
    pub(super) by_thread: HashMap<usize, u64>,
    /// Before there was a second thread.
    pub(super) before_threads: u64,
}

impl Image {
    /// A process that has neither threads nor mappings yet.
    pub(super) fn new(pid: u32, parent: Option<u32>) -> Self {
        Self {
            pid,
            parent,
            program: None,
            arguments: Vec::new(),
            threads: Vec::new(),
            by_tid: HashMap::new(),
            mappings: Vec::new(),
            mappings_left_out: 0,
            places: HashMap::new(),
            places_left_out: 0,
            end: End::Unknown,
            alive: HashSet::new(),
            had_threads: false,
        }
    }

    /// The index of a thread, which begins now if it is new.
    pub(super) fn thread(&mut self, tid: u32, name: &str, now_ns: u64) -> usize {
        if let Some(&index) = self.by_tid.get(&tid) {
            return index;
        }
        self.alive.insert(tid);
        self.had_threads |= self.threads.len() == 1;
        self.by_tid.insert(tid, self.threads.len());
        self.threads.push(Seen {
            tid,
            name: name.to_owned(),
            begun_ns: now_ns,
            ended_ns: None,
        });
        self.threads.len() - 1
    }

    /// Adds a mapping; the first one of a file is of the program.
    pub(super) fn map(&mut self, mapped: Mapped) {
        if self.program.is_none() && is_file(&mapped.path) {
            self.program = Some(PathBuf::from(&mapped.path));
        }
        // A change of protection reports the mapping again.
        if self.mappings.last().is_some_and(|last| **last == mapped) {
            return;
        }
        if self.mappings.len() == MAPPINGS {
            self.mappings_left_out += 1;
        } else {
            self.mappings.push(Rc::new(mapped));
        }
    }

    /// The mapping of a file at `ip`, by the latest that covers it.
    pub(super) fn mapping(&self, ip: u64) -> Option<usize> {
        let covers = |m: &Rc<Mapped>| ip >= m.start && ip - m.start < m.length;
        let index = self.mappings.iter().rposition(covers)?;
        is_file(&self.mappings[index].path).then_some(index)
    }

    /// Adds a sample of `weight` by a thread.
    pub(super) fn fall(&mut self, place: Place, thread: usize, weight: u64) {
        if self.places.len() == PLACES && !self.places.contains_key(&place) {
            self.places_left_out += 1;
            return;
        }
        let fallen = self.places.entry(place).or_default();
        *fallen.by_thread.entry(thread).or_default() += weight;
        if !self.had_threads {
            fallen.before_threads += weight;
        }
    }
}

/// Whether a mapping's name is that of a file, and not of generated code.
pub(super) fn is_file(path: &str) -> bool {
    const NONE: [&str; 5] = ["//anon", "/memfd:", "/dev/zero", "/SYSV", "/anon_hugepage"];
    path.starts_with('/') && !NONE.iter().any(|none| path.starts_with(none))
}
