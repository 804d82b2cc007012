//! A soft mask: signals held off for the price of two stores, and not of two system calls.
//!
//! Userspace's `local_irq_save` is pthread_sigmask, which enters the kernel at each end. Here the kernel is not told. A
//! thread sets a flag of its own; a signal that comes meanwhile does interrupt it, but the function that the kernel calls
//! sees the flag, writes down the signal, and returns. The release sees that something is written down, and runs the
//! handlers then. Nearly always nothing is, and a hold and its release are two stores, two loads and branches.
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
//! drop(hold); // What came meanwhile is handled here.
//! # assert!(oldest.is_none());
//! # Ok::<(), cyclewise::error::Refusal>(())
//! ```
//!
//! # What is held
//! Signals whose handlers were registered with [`Signals`]; each once and in the order in which the kernel delivered
//! it, with its value; real-time signals each one, the others merged as the kernel merges those that are pending. Its
//! handler runs on the same thread, before the last release returns. Handlers that others have installed run as ever. A default
//! action (SIGTERM with no handler, SIGSTOP) does not wait, and no fault does.
//!
//! Where a signal comes that there is no more room for, the kernel is asked to keep it: it is blocked in earnest until the
//! release ([`overflows`] counts that). Until then the thread's real mask has those signals in it: do not save it, spawn
//! a thread or call exec inside such a hold, for each of them takes a copy of it.
//!
//! # Calls that block
//! A signal that is held still interrupts a blocking system call. With [`Signals::on`] the kernel goes on with those that
//! can be restarted (read, write, wait, futex, ..), and the handler waits for the release for as long as that takes. The
//! rest (poll, epoll_wait, nanosleep, ..: signal(7) lists them) fail with EINTR. With [`Signals::on_interrupting`] all
//! fail with EINTR. To sleep inside a hold there is [`Hold::wait`], which no signal slips past.
//!
//! # fork, exec, exit, panic
//! - **fork**: the child's thread is held as its parent's is, and nothing is recorded: that is the parent's, as what is
//!   pending in the kernel is. `_Fork`, vfork and bare clone(2) do not tell us: their children must not release. A
//!   [`Masked`] that another thread has at the fork is lost to the child, which is told so. Handlers may be registered and
//!   taken off in the child, and in fork handlers.
//! - **exec**: what is recorded is gone, as is every handler. What the kernel keeps for want of room is blocked still in the new
//!   program, as any mask is: release first.
//! - **The end of a thread** drops its guards, which run the handlers. Of a guard that was forgotten what is recorded is
//!   gone, as a signal pending for a thread is when it ends.
//! - **dlclose** of an object that has registered handlers leaves it mapped: they are called as before.
//! - **A panic** under a hold drops the guard as it unwinds: handlers run then. A panic out of a handler aborts.
//!
//! # Sandboxes
//! A filter (seccomp) that comes later has to allow rt_sigprocmask, rt_tgsigqueueinfo, futex and rt_sigreturn. Without
//! rt_sigprocmask what the kernel was asked to keep stays blocked after the release, and [`Hold::wait`] refuses; without
//! rt_tgsigqueueinfo signals for which there was no room come without their values, and without tgkill too they are
//! [`lost`]. Nothing waits for ever for a call that is refused.
//!
//! # References
//! Linux arch/powerpc/include/asm/hw_irq.h (`irq_soft_mask`, `irq_happened`); FreeBSD sigfastblock(2); signal(7),
//! signal-safety(7).

#[cfg(doctest)]
mod compile_fail;
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
mod thread_mask;
mod wait;
mod waiters;

pub use handler::Handler;
pub use hold::{Flags, Hold, hold, is_held, is_pending, lost, overflows, restore, save};
pub use masked::{Masked, MaskedGuard};
pub use siginfo::Info;
pub use signal_queue::Queue;
pub use signals::Signals;
pub use wait::{Polled, Woken};
