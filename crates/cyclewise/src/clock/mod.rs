//! A clock that follows CLOCK_MONOTONIC, never steps back, and states in a type what its readings are ordered with.
//!
//! [`Instant`] has std's interface and reads the CPU's counter while that can be trusted: as the vDSO does, without the
//! vDSO's support for other clocks. A type ([`order`]) says what a reading is ordered with. Readers learn the rate and
//! follow it as NTP slews it; no thread is needed. If the counter cannot be trusted, the clock reads the kernel's, and
//! [`Clock::status`] says why.
//!
//! ```
//! use cyclewise::clock::Instant;
//!
//! let start = Instant::now();
//! assert!(start.elapsed() < std::time::Duration::from_secs(3600));
//! ```
//!
//! # States
//! 1. *Starting.* The rate is unknown and readers get the kernel's clock. One of them examines the CPU and the kernel,
//!    and takes an *anchor*: a reading of the kernel's clock between two of the counter. A millisecond later readers
//!    know the counter's rate, and none has waited. A rate is used only after later anchors have confirmed it, because
//!    a jump of the counter would distort it.
//! 2. *Counter.* A reading is a point of a *segment*, a linear piece of the timeline: counter, multiply, shift, add. In
//!    the last quarter of a segment one reader takes an anchor and writes the next segment. A
//!    segment lasts as long as the rate has been observed, 4 ms at most. A clock that nobody has read for that long is
//!    in the first state again for a reading or two, but with a rate.
//! 3. *Kernel*, permanently: no counter, a counter that is not invariant, another clock source, or too many faults.
//!
//! The kernel's clock source is checked at the start and every 16 s. If there is no descriptor or no memory for the
//! check, the clock keeps its state and checks again a second later. If the file may not be read (a sandbox that was
//! entered later), the clock becomes the kernel's, because it would not learn that the kernel has stopped trusting the
//! counter.
//!
//! # Invariants
//! `clock/timeline/mod.rs` proves that no reader on any thread steps back, with three exceptions. First, a counter that goes
//! back by less than the age of the current segment: one reading cannot show that, and readers on any thread may see it
//! until the counter has caught up, for 4 ms at most; [`order::PerTask`] protects each thread from it. The same holds
//! for up to a microsecond more, by which the counters of two CPUs may differ. (A segment is longer than 4 ms by the
//! share by which the rate was overestimated, which takes jumps ahead by the same share, to a thousandth, in both
//! halves of the time over which it was learnt.) The kernel's own clock has the same limit at its last tick. Second, if
//! the kernel changes the rate of its clock by more than 977 ppm between two anchors, a reader in a gap may get more
//! than the next segment begins with, by that excess times 0.1 ms. And where the kernel's clock itself goes back by more than 0.1 s,
//! readings follow it.
//!
//! # Time namespaces
//! CLOCK_MONOTONIC jumps where the process enters another time namespace (setns), in a child of a process that has done
//! `unshare(CLONE_NEWTIME)`, and where a process is restored from a checkpoint. Readings are of the old time until the end of the
//! current segment, 4 ms at most, and of the new one from then on, also if that is lower. Back by less than 0.1 s, the clock stands still
//! until the kernel's has caught up. The fault that is recorded is [`Reason::CounterJumped`]: the clock cannot tell the two apart.
//!
//! # Memory ordering
//! As the types in [`order`] say. No reading publishes or acquires the program's own data.
//!
//! # Sandboxes
//! clock_gettime(2) has to be allowed if the kernel's clock source is not one that the vDSO reads; if it is refused,
//! the clock stands still. With a clock source that the vDSO reads, no system call is needed.
//!
//! # Priorities, fork and signals
//! No reader waits for another (`clock/try_lock.rs`) or changes errno, so threads of any priority may read the clock, and so may a signal
//! handler whatever it interrupted. A child forked
//! while another thread held the clock's lock reads the kernel's clock from the next segment on: correct, but slower.
//! An [`Upkeep`] thread does not exist in a child. The first reading of [`order::PerTask`] on a thread may allocate if
//! this crate is in a library that was loaded at run time.
//!
//! # References
//! Linux kernel/time/timekeeping.c, lib/vdso/gettimeofday.c, arch/x86/include/asm/tsc.h (rdtsc_ordered).

mod anchor;
mod conversion;
mod discipline;
#[cfg(feature = "std")]
mod hosted;
mod instant;
mod now;
pub mod order;
mod readings;
mod reason;
mod recent;
mod segment;
mod slot;
mod slow_path;
mod source;
mod status;
mod system;
mod ticks;
mod timeline;
#[cfg(feature = "tracing")]
pub mod tracing;
mod try_lock;
mod unix;
mod update;
mod updater;

#[cfg(all(test, feature = "std", not(loom)))]
mod tests;

pub use conversion::{Conversion, ConvertedTime};
#[cfg(feature = "std")]
pub use hosted::{Mock, PerTask, Upkeep};
pub use instant::{Instant, Reading};
pub use now::Clock;
pub use order::{AfterStores, Bracketed, DependentLoad, LoadOrdered, Order};
pub use reason::{ClocksourceName, Reason};
pub use source::Source;
pub use status::{Mode, Status};
pub use system::System;
pub use ticks::Ticks;
pub use unix::{UnixAnchor, WallClock};
