//! The source of a clock: its counter, and the kernel's clocks that it is compared with.

use super::Reason;

/// A counter and the kernel's clocks.
///
/// The machine's is [`System`](super::System); tests drive a [`Mock`](super::Mock) by hand. An implementation must
/// ensure that the counter does not go back from one read to a later one, on any thread, unless that is the fault to be
/// detected; nor may [`monotonic_ns`](Self::monotonic_ns).
///
/// Any method may panic: the reading unwinds, the clock's lock is released, and the next reading goes on as if the
/// unwound one had not been made. A method may read the clock that called it, if that recursion ends: the inner reading
/// does not get the lock.
pub trait Source {
    /// Ticks, unordered.
    fn bare(&self) -> u64;
    /// Ticks, after every earlier load.
    fn load_ordered(&self) -> u64;
    /// Ticks, after every earlier load and before every later one.
    fn dependent_load(&self) -> u64;
    /// Ticks, after every earlier instruction and before every later one.
    fn bracketed(&self) -> u64;
    /// CLOCK_MONOTONIC, load-ordered.
    fn monotonic_ns(&self) -> u64;
    /// CLOCK_MONOTONIC_RAW.
    fn raw_ns(&self) -> u64;
    /// CLOCK_BOOTTIME.
    fn boottime_ns(&self) -> u64;
    /// Checks by every available means whether the counter can be trusted. Called at the start and every few seconds.
    ///
    /// # Errors
    /// Why it cannot. The counter is then not used any more; after [`NotExamined`](Reason::NotExamined) this is called
    /// again a second later.
    fn examine(&self) -> Result<(), Reason>;
    /// A number that changes when a hypervisor has moved the machine; `None` if there is none, or not at this moment.
    fn disruptions(&self) -> Option<u64> {
        None
    }
    /// The larger of `ns` and what this last returned on the same thread; `ns` if CLOCK_MONOTONIC was set back since, as where the process
    /// entered another time namespace.
    #[cfg(feature = "std")]
    fn raise_floor(&self, ns: u64) -> u64;
}
