//! Which instruction a sample means, and the basic block around it.
//!
//! An exact sample (Intel PEBS with its instruction's address, AMD IBS) has the address of the instruction. Any other comes late: the
//! counter overflows, and the interrupt is taken some instructions on. The rule for these: **the nearest locked instruction at or before
//! the sample's address, within the function**. A sample that was taken after the end of the function, or after a jump back to before the
//! instruction, finds none, or a wrong one where a function has several. What finds none is left out and counted.

use crate::counts::Arch;
use crate::decode::{Step, What, decode};
use std::ops::Range;

/// Bytes behind a block that are kept with it: what follows an instruction tells what it is for.
const BEHIND: u64 = 32;

/// A function's bytes, and the address of the first.
#[derive(Clone, Copy)]
pub(super) struct Function<'a> {
    pub(super) arch: Arch,
    pub(super) start: u64,
    pub(super) bytes: &'a [u8],
}

impl Function<'_> {
    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    /// Its instructions in a row, also behind bytes that are none.
    fn steps(&self) -> impl Iterator<Item = Step> + '_ {
        let mut at = self.start;
        std::iter::from_fn(move || {
            let rest = self
                .bytes
                .get((at - self.start) as usize..)
                .filter(|rest| !rest.is_empty())?;
            let step = decode(self.arch, rest, at);
            at = step.end().max(at + 1);
            Some(step)
        })
    }

    /// The locked instruction that a sample at `ip` means.
    pub(super) fn meant(&self, ip: u64, exact: bool) -> Option<u64> {
        if exact {
            // Decoded from there: data between instructions may have led the others astray.
            let bytes = self.bytes.get(usize::try_from(ip.checked_sub(self.start)?).ok()?..)?;
            return is_locked(&decode(self.arch, bytes, ip)).then_some(ip);
        }
        let before = self.steps().take_while(|step| step.address <= ip);
        before.filter(is_locked).last().map(|step| step.address)
    }

    /// From the start of the basic block of the instruction at `site` to its end and some bytes more.
    pub(super) fn block(&self, site: u64) -> Range<u64> {
        let ends = || self.steps().filter(Step::ends_block);
        let starts = ends().flat_map(|step| [Some(step.end()), step.target()]).flatten();
        let start = starts.filter(|start| (self.start..=site).contains(start)).max();
        let end = ends()
            .find(|step| step.address >= site)
            .map_or(self.end(), |step| step.end());
        start.unwrap_or(self.start)..(end + BEHIND).min(self.end())
    }
}

/// Whether the events count it: a fence is locked only where it has a word.
fn is_locked(step: &Step) -> bool {
    matches!(step.what, What::Locked(locked) if locked.place.is_some())
}

#[cfg(test)]
mod tests;
