//! Where the code around a site is read from: what was recorded, and the file.

use crate::counts::Arch;
use crate::decode::{Step, What, decode};
use std::cell::RefCell;
use std::collections::HashMap;

/// Reads code at addresses of a file's own, or of memory.
pub trait ReadCode {
    /// Up to `length` bytes from `address` on; fewer where there are no more, none where there is nothing.
    fn read(&self, address: u64, length: usize) -> Option<Vec<u8>>;
}

impl ReadCode for () {
    fn read(&self, _: u64, _: usize) -> Option<Vec<u8>> {
        None
    }
}

/// The code that a site's class is read from.
pub struct Code<'a> {
    arch: Arch,
    /// Recorded bytes, and where they begin.
    recorded: (u64, Vec<u8>),
    file: Option<&'a dyn ReadCode>,
    /// Instructions that were decoded already: paths meet again and again.
    steps: RefCell<HashMap<u64, Option<Step>>>,
    /// What was read of the file last, and where it begins.
    window: RefCell<(u64, Vec<u8>)>,
}

/// How much of the file is read at once, in bytes: most paths stay in it.
const WINDOW: u64 = 512;

/// The longest instruction of x86-64.
const LONGEST: usize = 15;

impl<'a> Code<'a> {
    /// Code that was recorded from `start` on, and a file that has the rest.
    pub fn new(arch: Arch, start: u64, recorded: Vec<u8>, file: Option<&'a dyn ReadCode>) -> Self {
        Self {
            arch,
            recorded: (start, recorded),
            file,
            steps: RefCell::default(),
            window: RefCell::default(),
        }
    }

    pub fn arch(&self) -> Arch {
        self.arch
    }

    pub fn step(&self, address: u64) -> Option<Step> {
        if let Some(step) = self.steps.borrow().get(&address) {
            return *step;
        }
        let step = self.decode(address);
        self.steps.borrow_mut().insert(address, step);
        step
    }

    fn decode(&self, address: u64) -> Option<Step> {
        let (start, bytes) = &self.recorded;
        let at = usize::try_from(address.wrapping_sub(*start)).unwrap_or(usize::MAX);
        if let Some(rest) = bytes.get(at..).filter(|r| !r.is_empty()) {
            let step = decode(self.arch, rest, address);
            // What was recorded may end in the middle of an instruction.
            if step.what != What::Invalid && usize::from(step.length) <= rest.len() {
                return Some(step);
            }
        }
        let file = self.file?;
        let mut window = self.window.borrow_mut();
        let has_it = |window: &(u64, Vec<u8>)| {
            let at = usize::try_from(address.checked_sub(window.0)?).ok()?;
            (at + LONGEST <= window.1.len()).then_some(at)
        };
        let at = match has_it(&window) {
            Some(at) => at,
            None => {
                // Some before it, too: what leads to a site is decoded next. What is read may end before the address is
                // reached, where there is a gap.
                let from = address.saturating_sub(WINDOW / 4);
                let wide = file
                    .read(from, WINDOW as usize)
                    .filter(|bytes| bytes.len() as u64 >= address - from + LONGEST as u64);
                let (from, bytes) = match wide {
                    Some(bytes) => (from, bytes),
                    None => (address, file.read(address, WINDOW as usize)?),
                };
                *window = (from, bytes);
                usize::try_from(address - from).ok()?
            }
        };
        let step = decode(self.arch, window.1.get(at..)?, address);
        (step.what != What::Invalid).then_some(step)
    }

    /// Instructions in a row from `from` up to `to`, where they meet it; none where they do not.
    pub fn row(&self, from: u64, to: u64) -> Option<Vec<Step>> {
        let mut steps = Vec::new();
        let mut at = from;
        while at < to {
            let step = self.step(at)?;
            at = step.end();
            steps.push(step);
        }
        (at == to).then_some(steps)
    }

    /// Instructions that lead to `site` in a row: from the function's start where that is near, else from so far back that
    /// decoding has found the boundaries, else from `block`, where the recorded block starts.
    pub fn leading(&self, site: u64, block: u64, function: Option<u64>) -> Vec<Step> {
        let near = site.saturating_sub(FAR);
        if let Some(row) = function
            .filter(|f| *f >= near && *f < site)
            .and_then(|f| self.row(f, site))
        {
            return row;
        }
        let lower = function.unwrap_or(0);
        if self.file.is_some() {
            for back in BACK {
                let from = site.saturating_sub(back).max(lower);
                let aligned = if self.arch == Arch::Aarch64 { from & !3 } else { from };
                for shift in 0..LONGEST as u64 {
                    let Some(row) = aligned.checked_add(shift).and_then(|a| self.row(a, site)) else {
                        continue;
                    };
                    // A row that does not meet the block's start decodes something else than what was executed.
                    if block >= site || row.iter().any(|s| s.address == block) {
                        return row;
                    }
                }
            }
        }
        self.row(block, site).unwrap_or_default()
    }
}

/// From how far back a function is decoded from its start.
const FAR: u64 = 1024;

/// Otherwise from how far back: x86-64 code finds its boundaries within a few instructions.
const BACK: [u64; 3] = [160, 80, 40];
