//! Reference counts that saturate: the kernel's `refcount_t`, in 32 and 64 bits.
//!
//! [`Refcount`] and [`Refcount64`] only count: the object, and how it is freed, are the caller's. ([`Arc`](super::Arc)
//! is a pointer that does both.) If a program forgets references in a loop, a plain counter wraps, and an object that
//! is in use is freed. These leak instead, and report the misuse.
//!
//! # States
//! The stored number is one less than the number of references. Read as a signed number of w bits:
//!
//! | stored | [`read`](Refcount::read) | state |
//! |---|---|---|
//! | −1 | 0 | no reference |
//! | 0 | 1 | one reference |
//! | n, up to 2^(w−1), the smallest number | n + 1, up to [`MAX`](Refcount::MAX), 2^(w−1) + 1 | n + 1 references |
//! | other negative | above `MAX` | saturated; set to [`SATURATED`](Refcount::SATURATED), the middle of the range |
//!
//! With one less stored, the flags of one instruction suffice for one branch. A signed comparison less or equal after
//! an increment means that it came from zero or from saturation; a negative number after a decrement means that it took
//! the last reference, or none. Stored as counted, an increment from zero would set no flag, and each operation would
//! need XADD, which costs several times an INC once LOCK is patched away. The smallest number is a live count because
//! the increment that reaches it overflows and so compares as greater.
//!
//! # Misuse
//! Each of the five [`Event`]s is reported to the process's [hook](on_misuse) and saturates the count: it stays
//! saturated whatever is done to it, and the object is never freed.
//!
//! | event | operations | when |
//! |---|---|---|
//! | [`AddNotZeroOverflow`](Event::AddNotZeroOverflow) | `inc_not_zero`, `add_not_zero` and their forms | the count is saturated or would pass `MAX`; they succeed |
//! | [`AddOverflow`](Event::AddOverflow) | `inc`, `add` | the same |
//! | [`AddUseAfterFree`](Event::AddUseAfterFree) | `inc`, `add` | the count was zero |
//! | [`SubUseAfterFree`](Event::SubUseAfterFree) | `dec_and_test`, `sub_and_test`, `dec_not_one` | fewer references than are given up, or saturated |
//! | [`DecLeak`](Event::DecLeak) | `dec` | the count was one or less: nobody will free the object |
//!
//! Only [`set`](Refcount::set) ends saturation, for a caller that knows of no other users.
//!
//! # Invariants
//! 1. An unconditional operation that finds misuse stores `SATURATED` before it returns. Until then it is *in flight*.
//!    Operations that loop check before they store, and are never in flight.
//! 2. One operation in flight changes the count by at most [`BATCH`]; larger batches loop.
//! 3. **Escape bound.** From `SATURATED` it is 2^(w−2) up to zero and one less down to `MAX`, so a saturated count
//!    becomes live or zero again only if that many single steps, or 2^(w−8) batches of 64, are in flight on it at once.
//!    Each of these has its own stack frame, in a thread or in a signal handler that interrupted one.
//!    - 64 bits: 2^56 frames of at least 8 bytes do not fit in any address space. There is no escape.
//!    - 32 bits: 2^30 steps, or 2^24 batches. Linux has at most 2^22 threads (`PID_MAX_LIMIT`), so *every* thread of
//!      the largest possible process has to be stopped between the same two instructions, in 4 nested signal handlers
//!      for batches and in 256 for single steps, whose frames alone take 500 GB. A program that gives an attacker that
//!      many handlers should use [`Refcount64`].
//! 4. The last store in flight is `SATURATED`, so drift does not accumulate.
//! 5. `dec_and_test` returns `true` to the caller that changed the count from one to zero, by the flags of that
//!    instruction. A later load could find a zero that was left by others' misuse. No unconditional operation, the
//!    kernel's neither, can distinguish an increment from zero in flight from a reference: a put by a caller without a
//!    reference returns `true` at that moment.
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
//! As in the kernel, but for `dec_if_one`: it is acquire, where the kernel relies on a control dependency, which Rust does not
//! have. An increment needs no order, because its caller holds a reference; every use happens before the end. The store of
//! `SATURATED` is relaxed, because the object is never freed.
//!
//! # Cost
//! `inc`, `dec` and `dec_and_test` are one read-modify-write and one branch that is not taken (`lock inc; jle` and
//! `lock sub; js`); `add` and `sub_and_test` are XADD, a comparison and a branch. None of them loops. `*_not_zero*`,
//! `dec_not_one` and batches above [`BATCH`] are loops of compare-and-exchange: each must not store if its condition
//! fails, and others would see an increment from zero before it is undone. Under contention their retries grow with the
//! number of CPUs.
//!
//! # Fork, signals and priorities
//! No operation waits, so each may be used in signal handlers and in a child of fork, where the references of the
//! parent's other threads stay counted. `dec_and_lock` waits as its lock does. The hook runs where the misuse is, also
//! in a handler.
//!
//! # Differences from the kernel
//! - The largest count is 2^(w−1) + 1, two more than `INT_MAX`, because of what is stored.
//! - Every operation saturates. The kernel's `*_not_zero_acquire` return false at `INT_MAX` and when saturated, its
//!   `dec_not_one` detects one of the bad values and lets the others drift, and its batches are unbounded.
//! - Separate methods, `*_old`, return old values instead of a pointer argument.
//!
//! # References
//! Linux `include/linux/refcount.h`, `lib/refcount.c`, `drivers/misc/lkdtm/refcount.c` (whose tests are in
//! `tests/refcount/lkdtm.rs`); Documentation/core-api/refcount-vs-atomic.rst.

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
pub use misuse::{Action, Event, Misuse, count_misuse, misuses, on_misuse};
pub use old_value::Decremented;
