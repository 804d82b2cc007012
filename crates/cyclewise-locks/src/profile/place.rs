//! Sites at one place of one file, of all processes together.

use super::{Executed, Form};
use crate::counts::{Process, Site, Words};

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
}

impl Place {
    /// The first process's site.
    pub(super) fn new(offset: u64, site: &Site) -> Self {
        let mut place = Self {
            offset,
            before: site.before.clone(),
            code: site.code.clone(),
            executed: 0,
            threads: 0,
            words: Words::default(),
            before_threads: 0,
            distances: [0; 8],
        };
        place.add(site);
        place
    }

    /// Another process's site at the same place.
    pub(super) fn add(&mut self, site: &Site) {
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
    let index = site.mapping? as usize;
    let mapping = process.mappings.get(index)?;
    let distance = site.address.checked_sub(mapping.start)?;
    let offset = mapping.offset.checked_add(distance)?;
    (site.address < mapping.end).then_some((index, offset))
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
