//! The soft mask: defers signal handlers for the price of two stores, without a system call.
//!
//! Userspace's `local_irq_save` is pthread_sigmask, which enters the kernel at each end. Here a thread sets a flag of its own.
//! A signal that arrives meanwhile does interrupt the thread, but the function that the kernel calls sees the flag, records
//! the signal, and returns. The release finds the record and runs the handler. Usually there is none, and a hold and its
//! release are two stores, two loads and branches.
//!
//! ```
//! use cyclewise::mask::{self, Masked, Queue, Signals};
//!
//! static JOURNAL: Masked<Queue<64>> = Masked::new(Queue::new());
//!
//! Signals::on(libc::SIGUSR1, &JOURNAL)?;
//! let hold = mask::hold();
//! // No handler runs on this thread here.
//! let oldest = JOURNAL.lock(&hold).pop();
//! drop(hold); // Handlers of signals that arrived meanwhile run here.
//! # assert!(oldest.is_none());
//! # Ok::<(), cyclewise::error::Refusal>(())
//! ```
//!
//! # What is held
//! Signals with a handler registered through [`Signals`]. Each is delivered once, with its value, in the order in which
//! the kernel delivered it. Every real-time signal is kept; others are merged, as the kernel merges pending ones. The
//! handler runs on the same thread, before the last release returns. Foreign handlers (those not registered here) run
//! at once, as always. A default action (SIGTERM without a handler, SIGSTOP) is not deferred, and no fault is.
//!
//! When the room for records runs out, the kernel keeps the signal: it is blocked in the thread's real mask until the
//! release ([`overflows`] counts this). Do not save that mask, spawn a thread or call exec inside such a hold: each
//! copies it. Valgrind does not do that: further real-time signals of the hold are [`lost`], and counted.
//!
//! # Calls that block
//! A held signal still interrupts a blocking system call. With [`Signals::on`] the kernel restarts calls that can be
//! restarted (read, write, wait, futex, ..), and the handler waits for the release, however long the call takes. The
//! others (poll, epoll_wait, nanosleep, ..: see signal(7)) fail with EINTR. With [`Signals::on_interrupting`] all fail
//! with EINTR. To sleep inside a hold without missing a signal, use [`Hold::wait`].
//!
//! # fork, exec, exit, panic
//! - **fork**: the child's thread is held as its parent's is, without its records: they belong to the parent, as
//!   signals pending in the kernel do. `_Fork`, vfork and bare clone(2) run no atfork handlers: their children must not
//!   release. A [`Masked`] that another thread owns at the fork is never free in the child, and the child can tell.
//!   Handlers may be registered and removed in the child and in atfork handlers.
//! - **exec**: records and handlers are gone. Signals that the kernel keeps for lack of room stay blocked in the new
//!   program, as any mask does: release first.
//! - **Thread exit** drops the thread's guards, which runs the handlers. If a guard was forgotten, its records are
//!   dropped, as signals pending for a thread are.
//! - **dlclose** of an object that registered handlers, or contains one, leaves it mapped: they are still called.
//! - **A panic** under a hold drops the guard while unwinding, so handlers run then. A panic out of a handler ends the process.
//!
//! # Sandboxes
//! A filter (seccomp) installed later must allow rt_sigprocmask, rt_tgsigqueueinfo, futex and rt_sigreturn. Without
//! rt_sigprocmask, signals that the kernel keeps stay blocked after the release, and [`Hold::wait`] refuses. Without
//! rt_tgsigqueueinfo, signals for which there was no room lose their values; without tgkill as well, they are [`lost`].
//! A refused call is never waited for forever.
//!
//! # Static TLS
//! A thread's flag and records are in static TLS, where a handler finds them without a call of malloc. A shared object that uses this
//! module and is loaded by dlopen(3) takes about 300 bytes there: 160 are the flag and the records, and 80 of the others are std's. All
//! thread-local words of such an object lie there. glibc keeps 1664 bytes for such objects, enough for five. The next one is refused:
//! "cannot allocate memory in static TLS block". Then load objects at the start (link or preload them), share one copy of this crate, or
//! set `GLIBC_TUNABLES=glibc.rtld.optional_static_tls=4096`.
//!
//! # References
//! Linux arch/powerpc/include/asm/hw_irq.h (`irq_soft_mask`, `irq_happened`); FreeBSD sigfastblock(2); signal(7),
//! signal-safety(7).

mod delivery;
mod fork;
mod handler;
mod hold;
mod masked;
mod pending_ring;
mod registry;
mod registry_lock;
mod siginfo;
mod signal_queue;
mod signals;
#[cfg(test)]
mod tests;
mod this_thread;
mod thread_mask;
mod wait;
mod waiters;

pub use handler::Handler;
pub use hold::{Flags, hold, is_held, is_pending, lost, overflows, restore, save};
pub use masked::{Masked, MaskedGuard};
pub use siginfo::Info;
pub use signal_queue::Queue;
pub use signals::Signals;
#[doc(hidden)]
pub use this_thread::__offset;
pub use this_thread::Hold;
pub use wait::{Polled, Woken};
