//! What one thread counts. Each writes its own records, so that no count is lost and none needs a locked instruction.
//!
//! # Invariants
//! 1. `base` is the number of instructions executed before the current block.
//! 2. A block that is left in its middle has been counted whole. That is put right where a site left it: see [`Thread::left`].
//!    A block that another instruction's fault leaves stays counted whole.
//!
//! # Safety
//! 1. The emulator gives each thread a number, and no other thread has it until the thread has made its last system call. So what
//!    is found by the number is used by one thread at a time.
//! 2. A thread's callbacks do not call each other.
#![allow(unsafe_code, reason = "finds a thread's counts by its number")]

use crate::block::{Block, Use};
use crate::callers::{Callers, Paths};
use crate::decode::{Flow, Form};
use crate::image;
use crate::layout::{self, CALLS, COUNTS, Call, CallBlock, CountBlock, SiteBlock, TALLIES, Tally};
use crate::memory::bump;
use crate::sys;
use crate::words::{self, Access, Thread as _};
use std::cell::Cell;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Threads of one image; further ones are not counted.
pub const LIMIT: u32 = 65_536;
/// System calls whose place is remembered; both architectures have fewer.
const NUMBERS: usize = 1024;

type Tallies = Vec<Option<&'static SiteBlock>>;

/// What threads share.
pub struct Pool {
    /// How many threads there have been.
    begun: u32,
    /// How many there are.
    alive: u32,
    /// Tallies and paths of threads that have ended, for those that begin.
    free: Vec<(Tallies, Paths)>,
}

static POOL: Mutex<Pool> = Mutex::new(Pool {
    begun: 0,
    alive: 0,
    free: Vec::new(),
});

/// Locks what threads share. Inside it is the image's lock only.
pub fn lock_pool() -> MutexGuard<'static, Pool> {
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pool {
    /// Whether there has been no second thread.
    pub fn has_one(&self) -> bool {
        self.begun <= 1
    }

    /// For the child of a fork: one thread, which has not begun, and no records.
    pub fn begin_again(&mut self) {
        (self.begun, self.alive) = (0, 0);
        self.free.clear();
    }
}

/// Threads that are found at once: a call for each block has no time for a thread-local variable of a shared object.
const NEAR: usize = 4096;

/// The threads by their numbers.
static THREADS: [AtomicPtr<Thread>; NEAR] = [const { AtomicPtr::new(std::ptr::null_mut()) }; NEAR];
/// How many of them have been used.
static USED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// A thread whose number is too large. Numbers grow while threads begin before others end.
    static FAR: Cell<*mut Thread> = const { Cell::new(std::ptr::null_mut()) };
}

/// Lets the calling thread, whose number is `vcpu`, count.
#[inline]
pub fn with<R>(vcpu: u32, f: impl FnOnce(&mut Thread) -> R) -> R {
    let mut thread = THREADS
        .get(vcpu as usize)
        .map_or(std::ptr::null_mut(), |slot| slot.load(Ordering::Relaxed));
    if thread.is_null() {
        thread = find_slow(vcpu);
    }
    // SAFETY: from a box that only `take` takes back, and this thread's alone (Invariants 1, 2).
    f(unsafe { &mut *thread })
}

#[cold]
fn find_slow(vcpu: u32) -> *mut Thread {
    if let Some(slot) = THREADS.get(vcpu as usize) {
        let thread = Box::into_raw(Thread::begin());
        slot.store(thread, Ordering::Relaxed);
        USED.fetch_max(vcpu as usize + 1, Ordering::Relaxed);
        return thread;
    }
    if FAR.get().is_null() {
        FAR.set(Box::into_raw(Thread::begin()));
    }
    FAR.get()
}

/// Takes the calling thread's counts out of the table.
fn take(vcpu: u32) -> Option<Box<Thread>> {
    let thread = match THREADS.get(vcpu as usize) {
        Some(slot) => slot.swap(std::ptr::null_mut(), Ordering::Relaxed),
        None => FAR.replace(std::ptr::null_mut()),
    };
    // SAFETY: from `Box::into_raw`, and no longer in the table; the thread's own callbacks are the only ones that had it
    // (Invariants 1, 2).
    (!thread.is_null()).then(|| unsafe { Box::from_raw(thread) })
}

/// The calling thread executes nothing more; says whether it was the last one.
pub fn end(vcpu: u32) -> bool {
    let ended = take(vcpu);
    let mut pool = lock_pool();
    let Some(mut thread) = ended else {
        return pool.alive == 0;
    };
    thread.keep_name();
    let tallies = std::mem::take(&mut thread.tallies);
    pool.free.push((tallies, std::mem::take(&mut thread.callers.paths)));
    pool.alive = pool.alive.saturating_sub(1);
    pool.alive == 0
}

/// For the child of a fork: the calling thread, which is the only one, begins anew in the child's file. What the parent's threads
/// had is left where it is.
pub fn begin_again() {
    let used = USED.swap(0, Ordering::Relaxed).min(NEAR);
    for slot in &THREADS[..used] {
        slot.store(std::ptr::null_mut(), Ordering::Relaxed);
    }
    FAR.set(std::ptr::null_mut());
}

/// A thread, and its records.
pub struct Thread {
    record: &'static layout::Thread,
    index: u32,
    counts: Vec<Option<&'static CountBlock>>,
    tallies: Tallies,
    calls: Vec<Option<&'static Call>>,
    call_block: Option<(&'static CallBlock, usize)>,
    base: u64,
    /// The last block's last instruction: its address and its size.
    tail: (u64, u8),
    /// Whether it repeats itself.
    tail_repeats: bool,
    /// Where the last locked instruction was, in instructions from the start.
    last_locked: Option<u64>,
    locked_since_call: u64,
    /// The site whose store is to come.
    pending: Option<Pending>,
    /// What the last block's end does to the calls.
    flow: Flow,
    callers: Callers,
}

/// A site that has begun.
#[derive(Clone, Copy)]
struct Pending {
    site: &'static Use,
    /// Where it is, in instructions from the start.
    at: u64,
}

impl Thread {
    #[cold]
    fn begin() -> Box<Self> {
        let (index, (tallies, paths)) = {
            let mut pool = lock_pool();
            pool.alive += 1;
            pool.begun = pool.begun.saturating_add(1);
            (pool.begun - 1, pool.free.pop().unwrap_or_default())
        };
        if index > 0 {
            words::several_threads();
        }
        let mut image = image::lock();
        let record = if index < LIMIT {
            image.add(
                |header| &header.threads,
                |thread: &layout::Thread| &thread.next,
                |thread| {
                    thread.index.store(index, Ordering::Relaxed);
                    thread.tid.store(sys::thread_number(), Ordering::Relaxed);
                    if let Some(run) = image::RUN.get() {
                        image::store_bytes(&thread.name, &image::current_name(run));
                    }
                },
            )
        } else {
            if let Some(header) = image.header {
                header.threads_refused.fetch_add(1, Ordering::Relaxed);
            }
            image.arena.record::<layout::Thread>().record
        };
        drop(image);
        Box::new(Self {
            record,
            index,
            counts: Vec::new(),
            tallies,
            calls: Vec::new(),
            call_block: None,
            base: 0,
            tail: (0, 0),
            tail_repeats: false,
            last_locked: None,
            locked_since_call: 0,
            pending: None,
            flow: Flow::Next,
            callers: Callers::with(paths),
        })
    }

    /// A block begins.
    #[inline]
    pub fn block(&mut self, block: &Block) {
        if let Some(pending) = self.pending.take() {
            self.left(pending, block);
        }
        let mut instructions = u64::from(block.instructions);
        if self.flow != Flow::Next && block.first != self.tail.0 {
            self.callers.went(self.flow, block.first);
        }
        self.flow = block.flow;
        if block.first == self.tail.0 {
            if block.first_size > self.tail.1 {
                self.not_executed(1);
            } else if self.tail_repeats {
                // The emulator executes each repetition by entering the instruction again; the first one was counted.
                instructions -= 1;
            }
        }
        let count = &self.record.instructions;
        self.base = count.load(Ordering::Relaxed);
        count.store(self.base + instructions, Ordering::Relaxed);
        self.tail = block.tail;
        self.tail_repeats = block.tail_repeats;
    }

    /// The last `instructions` of the block before were not executed.
    ///
    /// One was not where qemu 7.2 counts an instruction that would cross into the next page with the block before it, of which
    /// it shows the first bytes, and executes it in a block of its own. The whole instruction is longer than what was shown.
    #[cold]
    fn not_executed(&self, instructions: u64) {
        let count = &self.record.instructions;
        count.store(
            count.load(Ordering::Relaxed).saturating_sub(instructions),
            Ordering::Relaxed,
        );
    }

    /// A block begins, and the site before it has not stored: it faulted, or the emulator left it to execute it with all
    /// other threads stopped, as it does with an unaligned locked instruction. Either way it has not been executed yet.
    ///
    /// A store-exclusive that fails does not store, so that one has been executed, unless it is what begins now.
    #[cold]
    fn left(&mut self, pending: Pending, block: &Block) {
        let site = pending.site;
        if site.found.form == Form::Exclusive {
            if block.first != site.address {
                return;
            }
            take_one(self.count(site.site));
        }
        self.not_executed(u64::from(site.from));
        // What was at the block's end has not been reached.
        self.tail = (0, 0);
        self.tail_repeats = false;
        self.flow = Flow::Next;
    }

    /// A site begins. It has been executed when it has stored; a fence, and a store-exclusive, at once.
    #[inline]
    pub fn site(&mut self, site: &'static Use) {
        let form = site.found.form;
        if form == Form::Fence {
            bump(self.count(site.site), 1);
            return;
        }
        let at = self.base + u64::from(site.at);
        if form == Form::Exclusive {
            self.executed_site(site, at);
        }
        self.pending = Some(Pending { site, at });
    }

    /// The site has stored: for the first time in this execution, or, where it stores two words, again.
    #[inline]
    pub fn accessed(&mut self, access: Access) {
        let site = access.site;
        let Some(pending) = self.pending.take_if(|p| p.site.site == site.site) else {
            return;
        };
        if site.found.form != Form::Exclusive {
            self.executed_site(site, pending.at);
        }
        words::used(self, &access);
    }

    #[inline]
    fn executed_site(&mut self, site: &Use, at: u64) {
        bump(self.count(site.site), 1);
        let bucket = bucket(self.last_locked.map(|last| at.wrapping_sub(last)));
        bump(&self.tally(site.site).distances[bucket], 1);
        self.last_locked = Some(at);
        self.locked_since_call += 1;
        self.callers.executed(site.site);
    }

    /// A system call.
    pub fn call(&mut self, number: u64) {
        let locked = std::mem::take(&mut self.locked_since_call);
        if let Some(call) = self.find_call(number) {
            bump(&call.calls, 1);
            bump(&call.locked, locked);
        }
    }

    /// A signal's handler has come back.
    pub fn handler_came_back(&mut self) {
        self.callers.handler_came_back();
    }

    /// The thread's new name.
    pub fn rename(&self, name: &[u8]) {
        let name = name.split(|b| *b == 0).next().unwrap_or_default();
        for (at, to) in self.record.name.iter().enumerate().take(15) {
            to.store(name.get(at).copied().unwrap_or(0), Ordering::Relaxed);
        }
    }

    /// How often the thread has executed the site.
    pub fn executed(&self, site: u32) -> u64 {
        let block = self.counts.get(site as usize / COUNTS).copied().flatten();
        block.map_or(0, |b| b.counts[site as usize % COUNTS].load(Ordering::Relaxed))
    }

    #[inline]
    fn count(&mut self, site: u32) -> &'static AtomicU64 {
        let at = site as usize / COUNTS;
        if let Some(Some(block)) = self.counts.get(at) {
            return &block.counts[site as usize % COUNTS];
        }
        self.count_slow(site)
    }

    #[cold]
    fn count_slow(&mut self, site: u32) -> &'static AtomicU64 {
        let at = site as usize / COUNTS;
        if self.counts.len() <= at {
            self.counts.resize(at + 1, None);
        }
        let record = self.record;
        let block = image::lock().add(
            |_| &record.counts,
            |block: &CountBlock| &block.next,
            |block| block.first.store((at * COUNTS) as u64, Ordering::Relaxed),
        );
        self.counts[at] = Some(block);
        &block.counts[site as usize % COUNTS]
    }

    fn find_call(&mut self, number: u64) -> Option<&'static Call> {
        let at = usize::try_from(number).ok().filter(|n| *n < NUMBERS)?;
        if self.calls.is_empty() {
            self.calls.resize(NUMBERS, None);
        }
        if self.calls[at].is_none() {
            let (block, used) = match self.call_block {
                Some((block, used)) if used < CALLS => (block, used),
                _ => {
                    let record = self.record;
                    let block = image::lock().add(|_| &record.calls, |block: &CallBlock| &block.next, |_| {});
                    (block, 0)
                }
            };
            self.call_block = Some((block, used + 1));
            block.calls[used].number.store(number, Ordering::Relaxed);
            self.calls[at] = Some(&block.calls[used]);
        }
        self.calls[at]
    }

    /// Another thread may have named this one.
    fn keep_name(&self) {
        let name = sys::thread_name();
        if image::RUN.get().is_some_and(|run| name != run.own_name) {
            self.rename(&name);
        }
    }
}

impl words::Thread for Thread {
    fn index(&self) -> u32 {
        self.index
    }

    fn tally(&mut self, site: u32) -> &'static Tally {
        let at = site as usize / TALLIES;
        if self.tallies.len() <= at {
            self.tallies.resize(at + 1, None);
        }
        let block = self.tallies[at].get_or_insert_with(|| {
            image::lock().add(
                |header| &header.blocks,
                |block: &SiteBlock| &block.next,
                |block| block.first.store((at * TALLIES) as u64, Ordering::Relaxed),
            )
        });
        &block.tallies[site as usize % TALLIES]
    }
}

fn take_one(count: &AtomicU64) {
    count.store(count.load(Ordering::Relaxed).saturating_sub(1), Ordering::Relaxed);
}

/// Which of the eight classes a distance is in.
fn bucket(distance: Option<u64>) -> usize {
    match distance {
        Some(distance @ ..512) => (distance / 8).checked_ilog2().map_or(0, |log| log as usize + 1),
        _ => 7,
    }
}

#[cfg(test)]
mod tests {
    use super::bucket;

    #[test]
    fn classes_of_distances() {
        let table = [
            (Some(0), 0),
            (Some(1), 0),
            (Some(7), 0),
            (Some(8), 1),
            (Some(15), 1),
            (Some(16), 2),
            (Some(255), 5),
            (Some(256), 6),
            (Some(511), 6),
            (Some(512), 7),
            (Some(u64::MAX), 7),
            (None, 7),
        ];
        for (distance, class) in table {
            assert_eq!(bucket(distance), class, "{distance:?}");
        }
    }
}
