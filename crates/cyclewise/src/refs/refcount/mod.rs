//! Reference counts that saturate: the kernel's `refcount_t`, in 32 and 64 bits.
//!
//! [`Refcount`] and [`Refcount64`] count references to something and nothing else: what is counted, and how it is freed,
//! is the caller's. (For a pointer that does both see [`Arc`](super::Arc).) A program that forgets references in a loop
//! makes a plain counter wrap, and then something is freed that is still in use. Here it leaks instead, for good, and
//! the misuse is reported.
//!
//! # States
//! What is stored is one less than the number of references. Read as a signed number of the width, w bits:
//!
//! | stored | [`read`](Refcount::read) | state |
//! |---|---|---|
//! | −1 | 0 | no reference |
//! | 0 | 1 | one reference |
//! | up to 2^(w−1), the smallest number | up to [`MAX`](Refcount::MAX), 2^(w−1) + 1 | so many and one references |
//! | other negative | above `MAX` | saturated; put to [`SATURATED`](Refcount::SATURATED), the middle of the range |
//!
//! One less, because then the flags of one instruction tell everything that has to be told, by one branch. An increment
//! that is less or equal, as signed numbers go, came from zero or from saturation; a decrement that leaves a negative
//! number was of the last reference, or of none. Stored as it is counted, an increment from zero would set no flag, and
//! each operation would need XADD, which costs several times an INC once LOCK is patched away. The smallest number
//! belongs to the live ones because the increment that reaches it overflows and so compares as greater.
//!
//! # Misuse
//! Five [`Event`]s, each reported to the process's [hook](on_misuse) and each ending in the same way: the count is
//! saturated and stays so, whatever is done to it, and what it counts is never freed.
//!
//! | event | operations | when |
//! |---|---|---|
//! | [`AddNotZeroOverflow`](Event::AddNotZeroOverflow) | `inc_not_zero`, `add_not_zero` and their forms | the count is saturated or would pass `MAX`; they succeed |
//! | [`AddOverflow`](Event::AddOverflow) | `inc`, `add` | the same |
//! | [`AddUseAfterFree`](Event::AddUseAfterFree) | `inc`, `add` | the count was zero |
//! | [`SubUseAfterFree`](Event::SubUseAfterFree) | `dec_and_test`, `sub_and_test`, `dec_not_one` | fewer references than are given up, or saturated |
//! | [`DecLeak`](Event::DecLeak) | `dec` | the count was one or less: nobody was told to free |
//!
//! [`set`](Refcount::set) alone ends saturation, since it is for whoever knows that there are no other users.
//!
//! # Invariants
//! 1. An unconditional operation that finds misuse stores `SATURATED` before it returns. Between the two it is *in
//!    flight*. Operations that loop look before they store, and never are.
//! 2. One operation in flight moves the count by at most [`BATCH`]; what adds or takes more loops.
//! 3. **Escape bound.** From `SATURATED` it is 2^(w−2) up to zero and one less down to `MAX`, so a saturated count is
//!    live or zero again only if so many single steps, or 2^(w−8) batches of 64, are in flight on it at the same time.
//!    Each of these has a stack frame to itself, in a thread or in a signal handler that interrupted one.
//!    - 64 bits: 2^56 frames of 8 bytes and more do not fit in any address space. There is no escape.
//!    - 32 bits: 2^30 steps, or 2^24 batches. Linux has at most 2^22 threads (`PID_MAX_LIMIT`), so *every* thread
//!      of the largest possible process has to be stopped between the same two instructions, in 4 signal handlers
//!      nested in each other for batches and in 256 for single steps, whose frames alone are 500 GB.
//!      A program that grants an attacker that many handlers wants [`Refcount64`].
//! 4. The last store in flight is `SATURATED`, so the distance does not add up over time.
//! 5. `dec_and_test` says `true` to whoever changed the count from one to zero, by the flags of that very instruction.
//!    A later look could find a zero that others' misuse left there. What no unconditional operation can tell apart, the
//!    kernel's neither: an increment from zero in flight and a reference. A put by somebody who has none, just then,
//!    is told that it was the last.
//!
//! # Memory ordering
//! | operations | ordering |
//! |---|---|
//! | `read`, `set`, `inc`, `add`, `inc_not_zero`, `add_not_zero` | relaxed |
//! | `set_release` | release |
//! | `*_acquire` | acquire where they succeed |
//! | `dec`, `dec_not_one` | release |
//! | `dec_and_test`, `sub_and_test`, `dec_if_one` | release, and acquire where they hit zero |
//!
//! As in the kernel: an increment needs no order, since who increments holds a reference. Decrements are release and the
//! last is acquire, so every use happens before the end. `dec_if_one` is acquire beyond the kernel's own table, where a
//! control dependency stands in, which Rust does not have. The store of `SATURATED` is relaxed: what is never freed need
//! not be ordered before it.
//!
//! # Cost
//! `inc`, `dec` and `dec_and_test` are one read-modify-write and one branch that is not taken (`lock inc; jle` and
//! `lock sub; js`); `add` and `sub_and_test` are XADD, a comparison and a branch. None of them loops. Those that stay
//! loops of compare-and-exchange are `*_not_zero*`, `dec_not_one` and batches above [`BATCH`]: each must not store where
//! its condition fails, and an increment of a count that is zero cannot be taken back before others see it. Under
//! contention their retries grow with the number of CPUs.
//!
//! # Fork, signals and priorities
//! No operation waits, so each may be done in signal handlers and in a child of fork, where the references of threads that
//! it has not got stay counted. `dec_and_lock` waits as the lock does that it is given. The hook is called where the misuse
//! is, in a handler too.
//!
//! # Differences from the kernel
//! - The largest count is 2^(w−1) + 1, two more than `INT_MAX`, because of what is stored.
//! - Every operation saturates. The kernel's `*_not_zero_acquire` return false at `INT_MAX` and when saturated, its
//!   `dec_not_one` knows one of the bad values and lets the others drift, and its batches are unbounded.
//! - Old values are returned by forms of their own, `*_old`, and not through a pointer.
//!
//! # References
//! Linux `include/linux/refcount.h`, `lib/refcount.c`, `drivers/misc/lkdtm/refcount.c` (whose tests are in
//! `tests/refcount_lkdtm.rs`); Documentation/core-api/refcount-vs-atomic.rst.

mod counter;
mod decrement;
mod increment;
mod lock;
mod misuse;
mod old_value;
#[cfg(all(test, loom))]
mod tests;

pub use counter::{BATCH, Refcount, Refcount64};
pub(super) use misuse::report;
pub use misuse::{Action, Event, Misuse, misuses, on_misuse};
pub use old_value::Decremented;
