//! A thread that keeps a clock, for programs in which no reader should.

use super::now::Clock;
use super::source::Source;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use core::time::Duration;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// How often the thread looks: a quarter of the longest segment, so that it is there before a reader has to be.
const PERIOD: Duration = Duration::from_millis(1);

/// A running thread; it ends when this is dropped.
///
/// While it runs, segments get their successors in time however seldom the clock is read, and
/// [`Clock::recent`] is one load of a time that is about a millisecond old.
///
/// Where the source panics the thread ends, and `recent` is `now` from then on.
///
/// A child of fork(3) has no such thread: there `recent` is `now` until it starts one of its own, and dropping this does
/// nothing.
pub struct Upkeep {
    stop: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    /// The process that has the thread.
    process: u32,
}

impl Upkeep {
    /// Starts a thread that keeps `clock`, once in a millisecond.
    ///
    /// # Errors
    /// What std says where it cannot make a thread; out of memory.
    pub fn start<S: Source + Sync + 'static>(clock: &'static Clock<S>) -> std::io::Result<Self> {
        #[cfg(target_os = "linux")]
        crate::sys::atfork::zero_in_child(&clock.recent_ns).map_err(|_| std::io::ErrorKind::OutOfMemory)?;
        let (stop, stopped) = sync_channel(0);
        let thread = std::thread::Builder::new().name("clock".into()).spawn(move || {
            let _last = Zero(&clock.recent_ns);
            loop {
                clock.refresh();
                // Relaxed: one number.
                clock.recent_ns.store(clock.now().as_nanos(), Relaxed);
                if stopped.recv_timeout(PERIOD) != Err(RecvTimeoutError::Timeout) {
                    break;
                }
            }
        })?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
            process: std::process::id(),
        })
    }
}

/// Stores 0 when the thread ends, also where the source panics: what was written last would be the time for ever.
struct Zero(&'static AtomicU64);

impl Drop for Zero {
    fn drop(&mut self) {
        // Relaxed: one number.
        self.0.store(0, Relaxed);
    }
}

impl Drop for Upkeep {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // Forked. The thread is not here, and may have held the channel's lock.
            core::mem::forget((self.stop.take(), self.thread.take()));
            return;
        }
        // Hanging up is the signal.
        self.stop = None;
        // Its source may own this, and drop it: then it ends by itself.
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != std::thread::current().id()
        {
            // It has nothing to say, and its panic would be ours.
            let _ = thread.join();
        }
    }
}
