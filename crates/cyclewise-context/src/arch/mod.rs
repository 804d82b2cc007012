//! The assembly of surroundings and operations, and the memory that it works on.
//!
//! # Invariants
//! 1. A [`Position`] is the address of a node of a leaked [`Chain`], each node of which holds the address of a node. A
//!    chain begins on a page, and the rest of its last page is mapped.
//! 2. A [`Lines`] is the address of a leaked page that only its thread uses.
//! 3. A [`Bits`] is the address of a leaked table of [`BITS`] bytes, a power of two.
//!
//! # Safety
//! The instructions read and write the registers named, and the memory of these types.
#![expect(unsafe_code, reason = "calls assembly that works on memory by address")]

#[cfg_attr(target_arch = "aarch64", path = "aarch64.rs")]
#[cfg_attr(target_arch = "x86_64", path = "x86_64.rs")]
pub(crate) mod operations;
mod surroundings;

pub(crate) use surroundings::{adds, adds_in_4_chains, opaque};

use std::cell::UnsafeCell;
use surroundings as isa;

/// Nodes that each hold the address of the next, in a random cycle through all of them.
#[derive(Clone, Copy)]
pub(crate) struct Chain(&'static [UnsafeCell<usize>], usize);

/// A node of a chain.
#[derive(Clone, Copy)]
pub(crate) struct Position(*const usize);

impl Chain {
    /// `nodes` nodes, `stride` bytes apart, a multiple of 64.
    pub(crate) fn new(nodes: usize, stride: usize) -> Self {
        let words = stride / size_of::<usize>();
        // One page more, so that it can begin on one.
        let page = 4096 / size_of::<usize>();
        let memory: Vec<UnsafeCell<usize>> = (0..nodes * words + page).map(|_| UnsafeCell::new(0)).collect();
        let memory = memory.leak();
        let skip = memory.as_ptr().align_offset(4096) % page;
        let chain = Self(&memory[skip..skip + nodes * words], words);
        // Sattolo's algorithm makes one cycle of all nodes.
        let mut order: Vec<usize> = (0..nodes).collect();
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        for i in (1..nodes).rev() {
            order.swap(i, random.below(i));
        }
        for (i, next) in order.into_iter().enumerate() {
            // SAFETY: nobody else knows the memory yet.
            unsafe { *chain.node(i).get() = chain.node(next).get() as usize };
        }
        chain
    }

    fn node(&self, i: usize) -> &UnsafeCell<usize> {
        &self.0[i * self.1]
    }

    /// The first node.
    pub(crate) fn start(self) -> Position {
        Position(self.node(0).get())
    }

    /// All nodes, from the first one on.
    pub(crate) fn nodes(self) -> Vec<Position> {
        let count = self.0.len() / self.1;
        let mut at = self.start();
        let goes_on = |_| {
            let node = at;
            at.follow::<1>();
            node
        };
        (0..count).map(goes_on).collect()
    }
}

impl Position {
    /// Goes on by `N` nodes.
    #[inline(always)]
    pub(crate) fn follow<const N: usize>(&mut self) {
        // SAFETY: Invariant 1.
        unsafe { isa::follow::<N>(&mut self.0) }
    }

    /// The node's address.
    #[cfg(test)]
    pub(crate) fn address(self) -> usize {
        self.0.addr()
    }

    /// Loads another line of the node's page, so that the TLB has it: one between nodes, in the other half of the page, where
    /// no prefetcher takes the node for its neighbour. Where lines are fetched in pairs, another node comes with it.
    #[inline(always)]
    pub(crate) fn touch_page(self) {
        let line = self.0.map_addr(|address| address ^ (2048 | 64));
        // SAFETY: a chain has whole pages (Invariant 1).
        unsafe { isa::load(line) };
    }

    /// Writes the next `nodes` nodes back and drops them from every cache.
    pub(crate) fn evict(mut self, nodes: u64) {
        for _ in 0..nodes {
            let node = self.0;
            self.follow::<1>();
            // SAFETY: a node is mapped memory (Invariant 1).
            unsafe { isa::evict(node) };
        }
        isa::finish_evictions();
    }
}

/// Four lines of one page.
#[derive(Clone, Copy)]
pub(crate) struct Lines(*mut u64);

#[repr(C, align(4096))]
struct Page([u64; 512]);

impl Lines {
    pub(crate) fn new() -> Self {
        let page: &'static mut Page = Box::leak(Box::new(Page([1; 512])));
        Self(page.0.as_mut_ptr())
    }

    /// Loads 32 words, which nothing waits for.
    #[inline(always)]
    pub(crate) fn load_32(self) {
        // SAFETY: Invariant 2.
        unsafe { isa::load_32(self.0) }
    }

    /// Stores to sixteen words, four in each line.
    #[inline(always)]
    pub(crate) fn store_16(self, value: u64) {
        // SAFETY: Invariant 2.
        unsafe { isa::store_16(self.0, value) }
    }

    /// Loads, increments and stores one word eight times, with three additions beside each.
    #[inline(always)]
    pub(crate) fn load_add_store_8(self, beside: &mut [u64; 3], one: u64) {
        // SAFETY: Invariant 2.
        unsafe { isa::load_add_store_8(self.0, beside, one) }
    }
}

/// Bytes of a table of random bits: as many outcomes of a branch, more than predictors learn.
const BITS: usize = 1 << 18;

/// Random bits, one a byte.
#[derive(Clone, Copy)]
pub(crate) struct Bits(*const u8);

impl Bits {
    pub(crate) fn new() -> Self {
        let mut random = Random(0xd1b5_4a32_d192_ed03);
        let table: Vec<u8> = (0..BITS).map(|_| (random.next() >> 63) as u8).collect();
        Self(table.leak().as_ptr())
    }

    /// A branch that depends on the bit at `index`, which moves on.
    #[inline(always)]
    pub(crate) fn branch(self, index: &mut u64, sum: &mut u64, one: u64) {
        // SAFETY: Invariant 3.
        unsafe { isa::branch::<BITS>(self.0, index, sum, one) }
    }
}

/// splitmix64 (G. Steele and others, 2014): the same chains and bits in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }
}

/// Makes the compiler assume that all memory is read, through this address.
#[inline(always)]
pub(crate) fn observe<T: ?Sized>(at: *const T) {
    // SAFETY: no instruction. No nomem: all stores must be done before it.
    unsafe { core::arch::asm!("/* {0} */", in(reg) at.cast::<u8>(), options(nostack, preserves_flags)) };
}

/// A word of one thread, in the second half of its own page: away from the page offsets of the surroundings' memory,
/// which a CPU that compares the lower twelve bits of addresses first would take for the same word.
#[repr(C, align(4096))]
pub(crate) struct Word {
    before: [u64; 256],
    word: UnsafeCell<u64>,
}

impl Word {
    pub(crate) fn new(value: u64) -> &'static Self {
        Box::leak(Box::new(Self {
            before: [0; 256],
            word: UnsafeCell::new(value),
        }))
    }

    #[inline(always)]
    fn get(&self) -> *mut u64 {
        self.word.get()
    }
}
