//! A clock that says what its readings are ordered with, follows CLOCK_MONOTONIC, and never steps back.
//!
//! [`Instant`] has the interface of std's, and reads the CPU's counter where that can be trusted: the kernel's own way,
//! without what the vDSO needs for other clocks. What is ordered with what is a type ([`order`]). The rate is learnt
//! while the clock is read and followed as NTP slews it, without a thread. Where the counter cannot be trusted the clock is
//! the kernel's, and [`Clock::status`] says why.
//!
//! ```
//! use cyclewise::clock::Instant;
//!
//! let start = Instant::now();
//! assert!(start.elapsed() < std::time::Duration::from_secs(3600));
//! ```
//!
//! # States
//! 1. *Starting.* Nothing is known: readers get the kernel's clock. One of them examines the CPU and the kernel, and
//!    reads an anchor. From a millisecond later on, whoever reads has the counter's rate, and nobody has waited. No rate
//!    is used before later anchors have confirmed it, because a jump of the counter would be in it.
//! 2. *Counter.* Readings are a segment's: counter, multiply, shift, add. In the last quarter of a segment one of the
//!    readers, and no other waits for it, reads the kernel's clock and writes the next. Segments last as long as the rate has
//!    been watched, 4 ms at most. A clock that nobody has read for that long is back in the first state for a
//!    reading or two, but with a rate.
//! 3. *Kernel.* For good: no counter, not invariant, another clock source, or unsteady too often.
//!
//! What the kernel keeps time by is looked up at the start and every 16 s. Where there is no descriptor or no memory left to look,
//! the clock stays in its state and looks again a second later. Where the file may not be read (a sandbox that came later), the
//! clock is the kernel's from then on, because nobody would tell that the kernel has given the counter up.
//!
//! # Invariants
//! `clock/timeline.rs` argues why no reader on any thread steps back. Two things are outside of it. Where the counter
//! itself goes back by less than the age of the current segment, nobody can tell from one reading, and readers on any
//! thread may see it until the counter is where it was, 4 ms at most; [`order::PerTask`] keeps each thread from it. The same
//! is so where it goes back by up to a microsecond more, which the counters of two CPUs may be apart. (A segment is as
//! much longer than 4 ms as the counter was taken to be faster than it is, because it jumped ahead by the same share, to a
//! thousandth, in both parts of the time over which its rate was learnt.) The kernel's own clock has the same limit at its
//! last tick. And where the kernel changes the rate of its clock by more than 977 ppm from one anchor to the next, what a
//! gap's readers got may be above what the segment after it begins with, by that excess times 0.1 ms.
//!
//! # Memory ordering
//! That of [`order`]'s types, and nothing else: no reading publishes or acquires the program's own data.
//!
//! # Sandboxes
//! clock_gettime(2) has to be allowed where the kernel's clock source is not one that the vDSO reads; where it is refused
//! there, the clock stands still at the last time that it had. A machine whose vDSO reads the counter needs no system call.
//!
//! # Priorities
//! No reader waits for another, so none waits for one of a lower priority (`clock/try_lock.rs`).
//!
//! # After fork, in signal handlers
//! No reader waits or changes errno, so a handler may read whatever it interrupted. A child that was forked while another
//! thread held the clock's lock has the kernel's clock from the next segment on: right, and as slow as that. An upkeep
//! thread is its process's, and a child has none. Of [`order::PerTask`] the first reading of a thread may allocate where
//! this crate is in a library that was loaded at run time.
//!
//! # References
//! Linux kernel/time/timekeeping.c, lib/vdso/gettimeofday.c, arch/x86/include/asm/tsc.h (rdtsc_ordered).

#[cfg(not(loom))]
mod anchor;
#[cfg(not(loom))]
mod discipline;
#[cfg(not(loom))]
mod instant;
#[cfg(all(feature = "std", not(loom)))]
mod mock;
#[cfg(not(loom))]
mod now;
#[cfg(not(loom))]
pub mod order;
mod reason;
#[cfg(any(not(loom), test))]
mod segment;
#[cfg(any(not(loom), test))]
mod slot;
#[cfg(any(not(loom), test))]
mod slow_path;
#[cfg(not(loom))]
mod source;
#[cfg(not(loom))]
mod status;
#[cfg(not(loom))]
mod system;
#[cfg(not(loom))]
mod ticks;
#[cfg(any(not(loom), test))]
mod timeline;
#[cfg(not(loom))]
mod try_lock;
#[cfg(not(loom))]
mod update;
#[cfg(all(feature = "std", not(loom)))]
mod upkeep;

#[cfg(test)]
mod tests;

#[cfg(not(loom))]
pub use instant::{Instant, Reading};
#[cfg(all(feature = "std", not(loom)))]
pub use mock::Mock;
#[cfg(not(loom))]
pub use now::Clock;
#[cfg(all(feature = "std", not(loom)))]
pub use order::PerTask;
#[cfg(not(loom))]
pub use order::{Bracketed, DependentLoad, LoadOrdered, Order};
pub use reason::{ClocksourceName, Reason};
#[cfg(not(loom))]
pub use source::Source;
#[cfg(not(loom))]
pub use status::{Mode, Status};
#[cfg(not(loom))]
pub use system::System;
#[cfg(not(loom))]
pub use ticks::Ticks;
#[cfg(all(feature = "std", not(loom)))]
pub use upkeep::Upkeep;
