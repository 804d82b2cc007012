//! Sites at one place of one file, of all processes together.

use super::{Executed, Form};
use crate::counts::{CodeAddress, Process, Site, Words};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A site of one or several processes.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The offset in the file; for generated code the address in memory.
    pub(super) offset: u64,
    /// Code of the block before the site.
    pub(super) before: Vec<u8>,
    /// Code from the site on.
    pub(super) code: Vec<u8>,
    pub(super) executed: u64,
    pub(super) threads: u32,
    pub(super) words: Words,
    pub(super) before_threads: u64,
    pub(super) distances: [u64; 8],
    /// Executions by rows of callers: of each the file and the offset there, or an address of generated code.
    pub(super) callers: BTreeMap<Vec<CallerPlace>, u64>,
    /// The process that the site was found in first.
    pub(super) pid: u32,
}

/// A file and an offset in it; without a file, a process and an address.
pub(super) type CallerPlace = (Option<PathBuf>, u32, u64);

/// Rows of callers that are kept of a site of a process: what is left is known of fewer executions.
const PATHS: usize = 2048;

impl Place {
    /// The first process's site.
    pub(super) fn new(offset: u64, site: &Site, process: &Process) -> Self {
        let mut place = Self {
            offset,
            before: site.before.clone(),
            code: site.code.clone(),
            executed: 0,
            threads: 0,
            words: Words::default(),
            before_threads: 0,
            distances: [0; 8],
            callers: BTreeMap::new(),
            pid: process.pid,
        };
        place.add(site, process);
        place
    }

    /// Another process's site at the same place.
    pub(super) fn add(&mut self, site: &Site, process: &Process) {
        for path in site.callers.iter().take(PATHS) {
            let callers = path
                .callers
                .iter()
                .map(|caller| caller_place(process, *caller))
                .collect();
            add(self.callers.entry(callers).or_default(), path.executed);
        }
        add(&mut self.executed, site.total());
        let threads = site.executed.iter().filter(|(_, n)| *n > 0).count();
        self.threads = self.threads.saturating_add(u32::try_from(threads).unwrap_or(u32::MAX));
        add(&mut self.words.private, site.words.private);
        add(&mut self.words.shared, site.words.shared);
        add(&mut self.words.unknown, site.words.unknown);
        add(&mut self.before_threads, site.before_threads);
        for (sum, n) in self.distances.iter_mut().zip(site.distances) {
            add(sum, n);
        }
        // The longer of the recordings tells more.
        if site.code.len() > self.code.len() {
            self.code.clone_from(&site.code);
        }
        if site.before.len() > self.before.len() {
            self.before.clone_from(&site.before);
        }
    }
}

/// The file that a site lies in, by its index in the process's mappings, and the offset there.
pub(super) fn file_offset(process: &Process, site: &Site) -> Option<(usize, u64)> {
    offset_in_file(process, site.mapping?, site.address)
}

fn offset_in_file(process: &Process, mapping: u32, address: u64) -> Option<(usize, u64)> {
    let index = mapping as usize;
    let mapping = process.mappings.get(index)?;
    let distance = address.checked_sub(mapping.start)?;
    let offset = mapping.offset.checked_add(distance)?;
    (address < mapping.end).then_some((index, offset))
}

/// Where a call is: it ends where it comes back to.
fn caller_place(process: &Process, caller: CodeAddress) -> CallerPlace {
    let address = caller.address.saturating_sub(1);
    let in_file = caller
        .mapping
        .and_then(|mapping| offset_in_file(process, mapping, address));
    match in_file {
        Some((index, offset)) => (Some(process.mappings[index].path.clone()), 0, offset),
        None => (None, process.pid, address),
    }
}

impl Executed {
    /// Counts executions of an instruction of this form.
    pub(super) fn add(&mut self, form: Form, executed: u64) {
        let sum = match form {
            Form::Lock => &mut self.lock,
            Form::Xchg => &mut self.xchg,
            Form::Lse => &mut self.lse,
            Form::Exclusive => &mut self.exclusive,
            Form::Fence => &mut self.fence,
        };
        add(sum, executed);
    }
}

/// Counts of damaged files are any numbers.
fn add(sum: &mut u64, n: u64) {
    *sum = sum.saturating_add(n);
}
