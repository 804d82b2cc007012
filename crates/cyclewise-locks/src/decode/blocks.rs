//! Basic blocks around a site, and the mix of their instructions.

use super::step::{Step, What};
use serde::{Deserialize, Serialize};

/// The instructions of the basic blocks around a site, without the site, by what they do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mix {
    /// Arithmetic, moves between registers, address computations.
    pub arithmetic: u32,
    pub loads: u32,
    pub stores: u32,
    /// Other locked instructions.
    pub locked: u32,
    /// Branches, calls, returns.
    pub branches: u32,
}

/// The straight code around a site: what comes before it in a row, the site, and what comes after it.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Instructions before the site, in the order of addresses.
    pub before: Vec<Step>,
    /// The site, and what stands after it.
    pub after: Vec<Step>,
}

/// The mix of the blocks around a site: its own, and the one that its own one continues with where no branch is taken.
///
/// The block before belongs to it too, where the site's own is shorter than eight instructions: a mix of two
/// instructions says little about what the CPU has to do at the same time.
pub fn mix_around(block: &Block) -> Mix {
    let mut mix = Mix::default();
    let mut ends = 0;
    for (n, step) in block.before.iter().rev().enumerate() {
        if step.ends_block() {
            ends += 1;
            if ends > 1 || n >= SHORT || !falls_through(step) {
                break;
            }
        }
        if n >= LONG {
            break;
        }
        add(&mut mix, step);
    }
    ends = 0;
    for (n, step) in block.after.iter().skip(1).take(LONG).enumerate() {
        add(&mut mix, step);
        if step.ends_block() {
            ends += 1;
            if ends > 1 || n >= SHORT || !falls_through(step) {
                break;
            }
        }
    }
    mix
}

/// How many instructions a block has to have to be looked at alone.
const SHORT: usize = 8;

/// How many instructions are looked at on each side.
const LONG: usize = 64;

fn falls_through(step: &Step) -> bool {
    matches!(step.what, What::Branch { .. } | What::BranchOn { .. })
}

fn add(mix: &mut Mix, step: &Step) {
    use super::step::Operand::Mem;
    match step.what {
        What::Move { from: Mem(_), .. } | What::LoadExclusive { .. } => mix.loads += 1,
        What::Store { .. } => mix.stores += 1,
        What::Modify { .. } => {
            mix.loads += 1;
            mix.stores += 1;
            mix.arithmetic += 1;
        }
        What::Compute { a, b, .. } | What::Select { a, b, .. } => {
            mix.arithmetic += 1;
            mix.loads += u32::from(matches!(a, Mem(_)) || matches!(b, Mem(_)));
        }
        What::Move { .. } | What::Set { .. } | What::Pause => mix.arithmetic += 1,
        What::Branch { .. }
        | What::BranchOn { .. }
        | What::Jump(_)
        | What::Call(_)
        | What::Return
        | What::Trap
        | What::SystemCall => mix.branches += 1,
        What::Locked(_) => mix.locked += 1,
        What::Other { loads, stores, .. } => {
            mix.loads += u32::from(loads);
            mix.stores += u32::from(stores);
            mix.arithmetic += u32::from(!loads && !stores);
        }
        What::Invalid => {}
    }
}
