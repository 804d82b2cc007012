//! Loops around copies of one operation: in machine code, or of calls in Rust.

use crate::arch::{Arena, Body, opaque};
use std::cell::RefCell;
use std::rc::Rc;

/// A loop around copies of one operation.
pub trait Unrolled {
    /// The variant's name.
    fn name(&self) -> &str;
    /// Copies in an iteration of `once`; zero where the slope is over iterations.
    fn copies(&self) -> u32;
    /// Runs `n` iterations of the loop with that many copies.
    fn once(&mut self, n: u64);
    /// Runs `n` iterations of the loop with twice as many.
    fn twice(&mut self, n: u64);
    /// Bytes of one copy, where known.
    fn code_bytes(&self) -> Option<u32> {
        None
    }
}

pub(super) struct Assembled {
    pub(super) body: Body,
    pub(super) arena: Rc<RefCell<Box<Arena>>>,
}

impl Unrolled for Assembled {
    fn name(&self) -> &str {
        self.body.name
    }

    fn copies(&self) -> u32 {
        self.body.copies
    }

    #[inline]
    fn once(&mut self, n: u64) {
        self.body.once.run(n, &mut self.arena.borrow_mut());
    }

    #[inline]
    fn twice(&mut self, n: u64) {
        self.body.twice.run(n, &mut self.arena.borrow_mut());
    }

    fn code_bytes(&self) -> Option<u32> {
        self.body.code_bytes()
    }
}

pub(super) struct Calls<F> {
    pub(super) name: &'static str,
    pub(super) operations: u32,
    /// Bytes of one operation, where known.
    pub(super) bytes: Option<u32>,
    pub(super) call: F,
}

impl<F: FnMut()> Unrolled for Calls<F> {
    fn name(&self) -> &str {
        self.name
    }

    fn copies(&self) -> u32 {
        4 * self.operations
    }

    fn code_bytes(&self) -> Option<u32> {
        self.bytes
    }

    #[inline(never)]
    fn once(&mut self, n: u64) {
        let mut left = n;
        while left > 0 {
            left = opaque(left) - 1;
            (self.call)();
            (self.call)();
            (self.call)();
            (self.call)();
        }
    }

    #[inline(never)]
    fn twice(&mut self, n: u64) {
        let mut left = n;
        while left > 0 {
            left = opaque(left) - 1;
            (self.call)();
            (self.call)();
            (self.call)();
            (self.call)();
            (self.call)();
            (self.call)();
            (self.call)();
            (self.call)();
        }
    }
}
