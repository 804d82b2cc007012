//! What the callbacks of a translated block are given: the block, or one of its sites.

use crate::decode::{Decoded, Flow};

/// What is known of a block when it is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    /// Its address.
    pub first: u64,
    /// The address and the size of its last instruction.
    pub tail: (u64, u8),
    /// How many instructions it has.
    pub instructions: u32,
    /// The size of the first one.
    pub first_size: u8,
    /// Whether the last one is a string instruction that repeats itself.
    pub tail_repeats: bool,
    /// Whether the last one calls or goes back.
    pub flow: Flow,
}

/// A site as one block has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Use {
    /// The site.
    pub site: u32,
    /// Its address.
    pub address: u64,
    /// Instructions of the block before it.
    pub at: u32,
    /// Instructions of the block from it on.
    pub from: u32,
    /// What it is.
    pub found: Decoded,
}
