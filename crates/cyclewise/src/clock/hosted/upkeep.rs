//! A thread that updates a clock, for programs whose readers should not.

use crate::clock::now::Clock;
use crate::clock::recent::{OF_PROCESS, Recent};
use crate::clock::source::Source;
use crate::sys::cancellation::held_off;
use crate::sys::fork_generation;
use alloc::vec::Vec;
use core::ptr::NonNull;
use core::time::Duration;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// The period of the thread: a quarter of the longest segment, so that it updates before a reader has to.
const PERIOD: Duration = Duration::from_millis(1);

/// Memory that has to be there before std is asked for a thread: several times what it allocates.
const ROOM: usize = 16 << 10;

/// A thread that updates a clock; it ends when this is dropped.
///
/// While it runs, segments get their successors in time however seldom the clock is read, and [`Clock::recent`] is one
/// load of a time about a millisecond old.
///
/// A clock may have several. When one of them ends, `recent` is `now` until another has written, a millisecond later.
///
/// The thread blocks every signal but those of faults (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS).
///
/// If the source panics, the thread ends and `recent` is `now` from then on.
///
/// A child of fork(3) does not have the thread: there `recent` is `now` until the child starts its own, and dropping
/// this does nothing. The same holds for a child of `_Fork` or of clone(2), which runs no atfork handlers, by the
/// [process's clock](Clock::process) where the kernel has MADV_WIPEONFORK and pages of 4 KiB; otherwise `recent` stands still in it.
///
/// # Examples
/// ```
/// use cyclewise::clock::{Clock, Upkeep};
///
/// let upkeep = Upkeep::start(Clock::process())?;
/// // A load: the time of about a millisecond ago at most.
/// let recent = Clock::process().recent();
/// assert!(recent <= Clock::process().now());
/// drop(upkeep);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Upkeep {
    stop: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    /// The generation of the process in which the thread runs.
    process: u32,
}

impl Upkeep {
    /// Starts a thread that updates `clock` every millisecond.
    ///
    /// # Errors
    /// std's error if the thread cannot be created, as by a caller under SCHED_DEADLINE without SCHED_FLAG_RESET_ON_FORK; out of memory. (What std allocates to create a thread, less than 16 KiB, is asked
    /// for first, since std aborts without it. It does so still where another thread takes that memory in between.)
    pub fn start<S: Source + Sync + 'static>(clock: &'static Clock<S>) -> std::io::Result<Self> {
        let recent = clock.recent_word();
        crate::sys::atfork::zero_in_child(&recent.0).map_err(|_| std::io::ErrorKind::OutOfMemory)?;
        // For children without atfork handlers. Where the kernel does not, theirs is the last time written.
        fork_generation::wipe_in_children(NonNull::from(&OF_PROCESS).cast());
        let mut room = Vec::<u8>::new();
        room.try_reserve_exact(ROOM)
            .map_err(|_| std::io::ErrorKind::OutOfMemory)?;
        // Or the compiler removes an allocation that nobody uses.
        drop(core::hint::black_box(room));
        let (stop, stopped) = sync_channel(0);
        // The thread inherits the mask. What is sent to the process is for the program's own threads; faults stay open. Where a filter
        // refuses, the thread has its creator's mask.
        let _blocked = crate::sys::signal_mask::block_signals();
        let thread = std::thread::Builder::new().name("clock".into()).spawn(move || {
            let _last = Abandon(recent);
            loop {
                clock.refresh();
                recent.publish(|| clock.now().as_nanos());
                if stopped.recv_timeout(PERIOD) != Err(RecvTimeoutError::Timeout) {
                    break;
                }
            }
        })?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
            process: fork_generation::current(),
        })
    }
}

/// Says that the thread ends, also by a panic of the source: otherwise `recent` would return the last time written for
/// ever.
struct Abandon(&'static Recent);

impl Drop for Abandon {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

impl Drop for Upkeep {
    fn drop(&mut self) {
        // Not by the pid: in a pid namespace of its own, a child may have its parent's.
        if self.process != fork_generation::current() {
            // In a child of fork: the thread does not exist here, and may have held the channel's lock.
            core::mem::forget((self.stop.take(), self.thread.take()));
            return;
        }
        // Closing the channel stops the thread.
        self.stop = None;
        // Its source may own this and drop it on the thread itself, which then ends without a join.
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != std::thread::current().id()
        {
            // Ignores a panic of the thread, which would become ours.
            let _ = held_off(|| thread.join());
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::clock::Mock;
    use std::boxed::Box;

    /// What a drop decides by. It does not stop or join the thread of another generation, whatever that one's pid was.
    #[test]
    fn an_upkeep_of_another_generation_is_not_joined() {
        for is_ours in [false, true] {
            let clock: &'static Clock<Mock> = Box::leak(Box::new(Clock::new(Mock::new(1_000_000_000))));
            let mut upkeep = Upkeep::start(clock).unwrap();
            while !clock.recent.is_kept() {
                std::thread::yield_now();
            }
            if !is_ours {
                upkeep.process = !upkeep.process;
            }
            drop(upkeep);
            // A thread that was joined has abandoned the word: the twin, in the same process.
            assert_eq!(clock.recent.is_kept(), !is_ours);
        }
    }
}
