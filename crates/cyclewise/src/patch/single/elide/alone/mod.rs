//! Whether any other thread can still run code of this program.
//!
//! A joined thread is still listed by the kernel. Linux ends a thread in `do_exit`, which does not return, in this order:
//!
//! 1. `exit_signals` sets PF_EXITING, and nothing ever clears it;
//! 2. `exit_mm` changes the words of the thread's robust list, then zeroes the word that pthread_join(3) waits for and
//!    wakes the joiner;
//! 3. the thread becomes a zombie;
//! 4. `release_task` takes it from the list, as soon as that is no business of a tracer.
//!
//! So when a join returns, PF_EXITING is set, and the later signs may be missing for as long as the thread waits for a
//! CPU. From step 1 on the thread executes nothing in user mode: signals are delivered, restartable sequences restarted
//! and stops by a tracer resumed only on the way back from the kernel, which there is not; a uprobe needs an instruction
//! of the program; the tracer's stop at exit is before step 1. Nor does it create threads.
//!
//! A thread that the kernel made for itself, for io_uring say, never runs code of this program at all ([`proc_stat`] says why).
//! It may be listed for seconds after what it was made for is gone.
//!
//! # Invariants
//! 1. While [`check`] runs with `hooked`, no thread is created but by the kernel for itself: the mode is `SINGLE`, and afterwards none
//!    was being created (Invariant 1 of `elide`). So from the first reading on threads of the program only leave.
//! 2. A thread is in the kernel's list while it is in its count, as `Tasks::exactly` reads it: both change under one lock.
//! 3. Threads whose files were opened before that count was read, and are still there when their flags are read, were there at
//!    the count: a file is of one thread, and another that gets the id of one that has left is not found there. If they are as
//!    many, they were all, and by Invariant 1 there is no other of the program since.
//! 4. If each of these but the caller has PF_EXITING or is the kernel's, none can run code of this program, and none ever will.
//!
//! A list alone may lack a thread that runs: the kernel goes from each thread to the next and stops at one that has just
//! left. That is why it is counted.
//!
//! Without `hooked`, a thread may be created by one that the hooks do not see and that ends meanwhile. Then the caller
//! has to be the only one listed and counted but for the kernel's, which create none of the program, and a joined thread is a reason
//! to refuse until the kernel has let it go.
//!
//! # Memory ordering
//! The flag is read in the kernel, and not in an order of its own. x86-64, the only architecture that elides, keeps a
//! CPU's stores in order, and loads too. What the thread wrote in user mode is older than its flag, so who has read the
//! flag sees it, before the first elided access. The flag is read before the first byte of text is written.
//!
//! # What the kernel still writes
//! Of a thread that was joined, nothing. One that nobody joins may be between steps 1 and 2, where the kernel changes
//! words of locks that the thread held (its robust list, and those with priority inheritance) and the word that
//! set_tid_address(2) named. They are the C library's, which changes them by instructions of its own, none of them a site;
//! others are excluded by the second clause of `enable_single!`. A process that shares the memory (vfork, CLONE_VM) is no
//! thread of this one: it is excluded by the contract or suspends a thread that counts as running.
//!
//! # References
//! Linux kernel/exit.c (`do_exit`, `exit_mm`, `release_task`, `__exit_signal`), kernel/signal.c (`exit_signals`),
//! kernel/fork.c (`mm_release`, `copy_process`), fs/proc/base.c (`proc_task_readdir`, `proc_task_getattr`).

use crate::error::Refusal;
use crate::sys::proc_stat::{self, Life, Thread};
use crate::sys::proc_task;
use alloc::vec::Vec;

/// What the kernel says about this process's threads.
pub(super) trait Tasks {
    /// One of them, whichever gets its id later.
    type Thread;
    /// The ids of those that it lists, the caller's among them.
    fn list(&self) -> Result<Vec<i32>, Refusal>;
    /// How many there are: at least those that run.
    fn count(&self) -> Result<u32, Refusal>;
    /// How many are in the list at one moment. `None` where that cannot be read.
    fn exactly(&self) -> Option<u32>;
    /// The one that has this id now.
    fn open(&self, tid: i32) -> Self::Thread;
    /// What one of them can still do.
    fn life(&self, thread: &Self::Thread) -> Life;
}

/// This process, as /proc describes it.
pub(super) struct ThisProcess;

impl Tasks for ThisProcess {
    type Thread = Thread;

    fn list(&self) -> Result<Vec<i32>, Refusal> {
        proc_task::list()
    }

    fn count(&self) -> Result<u32, Refusal> {
        proc_task::count()
    }

    fn exactly(&self) -> Option<u32> {
        proc_stat::threads()
    }

    fn open(&self, tid: i32) -> Thread {
        Thread::open(tid)
    }

    fn life(&self, thread: &Thread) -> Life {
        thread.life()
    }
}

/// Checks that no thread but the caller, whose id is `own`, can run code of this program (Invariants 1 to 4).
///
/// `hooked`: every thread so far was created by a hook.
///
/// # Errors
/// [`Refusal::OtherThreads`]; others where the kernel cannot be asked.
pub(super) fn check(tasks: &impl Tasks, own: i32, hooked: bool) -> Result<(), Refusal> {
    let mut readings = None;
    loop {
        let listed = tasks.list()?;
        let threads = tasks.count()?;
        if listed == [own] && threads == 1 {
            return Ok(());
        }
        // The count may be one less than the list.
        let threads = threads.max(u32::try_from(listed.len()).unwrap_or(u32::MAX));
        let refusal = Err(Refusal::OtherThreads { threads });
        // A reading is out of date only if a thread has left meanwhile, and no more can leave than there were. One more
        // for those that left before the count. Where even these do not suffice, a filter falsifies the answers.
        let readings = readings.get_or_insert(threads.saturating_add(1));
        if *readings == 0 {
            return refusal;
        }
        *readings -= 1;
        match read_again(tasks, own, &listed) {
            Others::Kernels => return Ok(()),
            Others::Ending if hooked => return Ok(()),
            Others::Ending | Others::Run => return refusal,
            Others::Left => {}
        }
    }
}

/// What a list of threads turned out to be.
enum Others {
    /// All threads, and all but the caller are the kernel's.
    Kernels,
    /// All threads, and all but the caller are the kernel's or ending.
    Ending,
    /// One of them runs, or there is no memory to find out.
    Run,
    /// Out of date.
    Left,
}

fn read_again(tasks: &impl Tasks, own: i32, listed: &[i32]) -> Others {
    let mut opened = Vec::new();
    if opened.try_reserve_exact(listed.len()).is_err() {
        return Others::Run;
    }
    opened.extend(listed.iter().filter(|&&tid| tid != own).map(|&tid| tasks.open(tid)));
    // After they were opened and before their flags (Invariant 3).
    let Some(threads) = tasks.exactly() else {
        return Others::Run;
    };
    let mut ending = false;
    let mut left = threads as usize != listed.len();
    for thread in &opened {
        match tasks.life(thread) {
            Life::Kernels => {}
            Life::Exiting => ending = true,
            Life::Gone => left = true,
            Life::Runs => return Others::Run,
        }
    }
    match (left, ending) {
        (true, _) => Others::Left,
        (_, true) => Others::Ending,
        _ => Others::Kernels,
    }
}

#[cfg(test)]
mod tests;
