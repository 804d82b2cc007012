//! Where a clock gets its ticks, and what it holds them against.

use super::Reason;

/// A counter, and the kernel's clocks beside it.
///
/// The machine's is [`System`](super::System), and [`Mock`](super::Mock) is one that tests move by hand. What is asked of
/// an implementation: the counter does not go back from one read to a later one, on any thread, but where that is the
/// fault to be noticed; neither does [`monotonic_ns`](Self::monotonic_ns).
///
/// Any method may panic: the reading unwinds, the clock's lock is given back, and the next reading goes on as if the
/// unwound one had not been. A method may read the clock that called it, as long as that ends: the reading inside gets no
/// lock.
pub trait Source {
    /// Ticks, when the CPU likes.
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
    /// Whether the counter can be trusted, by all that can be asked. Asked at the start and every few seconds.
    ///
    /// # Errors
    /// Why not. Then the counter is not read any more, but for [`NotExamined`](Reason::NotExamined), after which this is
    /// asked again a second later.
    fn examine(&self) -> Result<(), Reason>;
    /// A number that changes when a hypervisor has moved the machine; `None` where nobody says, or not at this moment.
    fn disruptions(&self) -> Option<u64> {
        None
    }
    /// The larger of `ns` and what this returned to the thread before.
    #[cfg(feature = "std")]
    fn raise_floor(&self, ns: u64) -> u64;
}
