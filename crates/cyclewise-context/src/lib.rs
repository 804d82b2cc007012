//! Loops of operations in surroundings: what the lab measures to find what an operation adds to the code around it.
//!
//! A loop repeats its surroundings and the operation [`COPIES`] times in an iteration: surroundings, operation, surroundings,
//! operation and so on. Surroundings are assembly that no compiler merges or moves. An operation is assembly or a call of
//! the library that is inlined between them. Beside each loop stands the one of the surroundings alone, of the same shape.
//! The difference of their times is what the operation adds.
//!
//! This is a package of its own because its functions are many and the optimizer's: its tests look at them, and nothing
//! waits for them to be compiled.
//!
//! # Cost
//! Making a [`Matrix`] writes a buffer of some times the second-level cache. Its memory is never freed.
#![deny(unsafe_code)]
#![allow(missing_docs, reason = "where a name says what it is")]

mod arch;
mod cell;
mod operations;
mod surroundings;

pub use cell::{COPIES, Loop};
pub use operations::{Operation, Skipped};
pub use surroundings::{CacheSizes, Column};

/// The loops of every operation in every kind of surroundings.
pub struct Matrix {
    pub columns: Vec<Column>,
    /// The operations; their loops are in the order of the columns.
    pub operations: Vec<Operation>,
    /// Operations that this machine lacks.
    pub skipped: Vec<Skipped>,
}

impl Matrix {
    /// The loops for a machine with these caches.
    pub fn new(caches: CacheSizes) -> Self {
        let surroundings = surroundings::Surroundings::new(caches);
        let (operations, skipped) = operations::all(&surroundings);
        Self {
            columns: surroundings.columns(),
            operations,
            skipped,
        }
    }
}
