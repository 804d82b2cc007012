//! Counts with a lock or a pool: `LockRef` in random sequences of operations, by several threads, and with user code that panics;
//! `Rcuref` and its pool.

mod oracle;
mod panics;
mod rcuref;
mod threads;
