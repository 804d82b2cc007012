//! Each thread's record: its reader's words, in memory that is never freed.
//!
//! # States
//! The owner of a record: 0, free; otherwise a thread's id, and above it the generation of the thread's process. [`LATE`]: no destructor will
//! tell of that thread's end, because it registered after its thread-local destructors had run, or still had a section of a domain then.
//!
//! # Invariants
//! 1. A record stays in the list for ever, so that writers can look at it without asking whether its thread lives.
//! 2. A record has a new owner only when no section of its last one is open. A guard that was forgotten keeps its record for ever, and with
//!    it every grace period: a reference from it may be on its way through the program.
//! 3. A thread's own record is changed by that thread alone; and in a child of fork, where the thread is missing, by the one that forked.
//! 4. A thread has one record at a time: sections that its thread-local variables keep open stay in theirs.
//! 5. A child of fork has one reader, the thread that forked, with the sections that it has open. Sections of the parent's other threads are
//!    no sections of the child: what they read, nobody reads there.
//! 6. No lock is held across a fork, so none can stay held in a child: closures are run under a word with the process's generation.
//!
//! # Forks
//! In a child of `_Fork` or clone(2) no handler runs, and in one of fork(3) other handlers may run before. There the first thread settles at
//! its next grace period; until then the parent's sections count, which is safe, and those of new threads count before and after.
//!
//! # Safety
//! 1. Records are never freed.
#![expect(unsafe_code, reason = "records by their address")]

use super::protocol::{HELP, IDLE, IDLE_FENCED, NOBODY, ORPHAN, Reader};
use crate::fence;
use crate::primitive::unpatched::AtomicU64;
use crate::sys::{atfork, errno, fork_generation, thread};
use core::cell::Cell;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicPtr, AtomicU32};
use std::boxed::Box;
use std::thread_local;

/// A record: alone in its lines, since its owner stores to it at each section.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Record {
    pub(super) reader: Reader,
    owner: AtomicU64,
    /// Distinguishes owners, also across forks; above it the generation of the process in which the owner registered.
    serial: AtomicU64,
    next: AtomicPtr<Record>,
}

const LATE: u64 = 1 << 31;
/// The bits of an owner that are its thread's id.
const THREAD: u64 = LATE - 1;
/// Their bits, and a serial's, that are its process's generation.
const PROCESS: u64 = !(u32::MAX as u64);

/// The calling thread as an owner.
fn this_thread(late: u64) -> u64 {
    let generation = u64::from(fork_generation::current()) << 32;
    generation | late | u64::from(thread::id().cast_unsigned())
}

static NO_RECORD: Record = Record::new();
static FIRST: AtomicPtr<Record> = AtomicPtr::new(core::ptr::null_mut());
/// The low half of the next serial.
static SERIAL: AtomicU64 = AtomicU64::new(1);
/// The generation of the process that the records belong to; 0 before the first.
static GENERATION: AtomicU32 = AtomicU32::new(0);
/// In a child: of its ancestors' serials, the one that is left.
static FORKER: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static CURRENT: Cell<Option<&'static Record>> = const { Cell::new(None) };
    static END: End = const { End };
    /// How many sections of domains the thread has open.
    pub(super) static DOMAIN_SECTIONS: Cell<u32> = const { Cell::new(0) };
}

/// Its destructor gives the thread's record back.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        if let Some(record) = CURRENT.get() {
            record.retire();
        }
    }
}

/// All records, newest first.
pub(super) fn all() -> impl Iterator<Item = &'static Record> {
    // Acquire: pairs with the AcqRel in `add`.
    let mut at = FIRST.load(Acquire);
    core::iter::from_fn(move || {
        // SAFETY: null, or a record, which is never freed.
        let record = unsafe { at.as_ref() }?;
        at = record.next.load(Relaxed);
        Some(record)
    })
}

/// The calling thread's record; one without an owner where it has none.
#[inline(always)]
pub(super) fn current() -> &'static Record {
    CURRENT.get().unwrap_or(&NO_RECORD)
}

/// The calling thread's record. Its first call registers the thread.
pub(super) fn registered() -> &'static Record {
    CURRENT.get().unwrap_or_else(|| errno::preserve(register))
}

#[cold]
#[inline(never)]
fn register() -> &'static Record {
    watch();
    let is_late = END.try_with(|_| ()).is_err();
    let me = this_thread(if is_late { LATE } else { 0 });
    let record = all().find(|record| record.claim(me)).unwrap_or_else(|| add(me));
    let serial = SERIAL.fetch_add(1, Relaxed) & u64::from(u32::MAX);
    record.serial.store(me & PROCESS | serial, Relaxed);
    let idle = if fence::is_asymmetric() { IDLE } else { IDLE_FENCED };
    // Release: as in `Reader::leave`, of which a writer sees no store of the last owner's any more.
    record.reader.word.store(idle, Release);
    CURRENT.set(Some(record));
    record
}

fn add(owner: u64) -> &'static Record {
    let record: &'static Record = Box::leak(Box::new(Record::new()));
    record.owner.store(owner, Relaxed);
    let mut first = FIRST.load(Relaxed);
    loop {
        record.next.store(first, Relaxed);
        let new = core::ptr::from_ref(record).cast_mut();
        // AcqRel: pairs with the Acquire in `all`. The thread's first section is after it, so a light fence orders the two.
        match FIRST.compare_exchange(first, new, AcqRel, Relaxed) {
            Ok(_) => return record,
            Err(now) => first = now,
        }
    }
}

impl Record {
    const fn new() -> Self {
        Self {
            reader: Reader {
                word: AtomicU64::new(NOBODY),
                nest: AtomicU64::new(0),
            },
            owner: AtomicU64::new(0),
            serial: AtomicU64::new(0),
            next: AtomicPtr::new(core::ptr::null_mut()),
        }
    }

    /// Whether the record is the caller's from now on.
    fn claim(&self, me: u64) -> bool {
        let owner = self.owner.load(Relaxed);
        // A child of fork may not have settled yet: there an id of its parent's tells nothing.
        let may_have_ended = owner & LATE != 0 && owner & PROCESS == me & PROCESS;
        // Whether it is inside is asked last: a thread that has ended begins no section any more.
        let is_free = owner == 0 || may_have_ended && has_ended(id_of(owner)) && !self.reader.is_inside();
        // Acquire: pairs with the Release in `free`.
        is_free && self.owner.compare_exchange(owner, me, Acquire, Relaxed).is_ok()
    }

    /// The kernel's id of the owner.
    pub(super) fn thread(&self) -> i32 {
        id_of(self.owner.load(Relaxed))
    }

    pub(super) fn serial(&self) -> u64 {
        self.serial.load(Relaxed)
    }

    /// Has the end of the open section help with closures.
    pub(super) fn ask_for_help(&self) {
        self.reader.nest.store(self.reader.nest.load(Relaxed) | HELP, Relaxed);
    }

    /// Gives the record back at the end of its thread, or of its last section (Invariant 2).
    fn retire(&self) {
        if self.reader.is_inside() {
            self.reader.nest.store(self.reader.nest.load(Relaxed) | ORPHAN, Relaxed);
        } else {
            self.give_back();
        }
    }

    /// False where the thread keeps it: a child that it forks knows the thread's sections of domains by this record's serial.
    pub(super) fn give_back(&self) -> bool {
        if DOMAIN_SECTIONS.get() > 0 {
            self.owner.store(self.owner.load(Relaxed) | LATE, Relaxed);
            return false;
        }
        // First: a handler must not find a record that may be another thread's.
        CURRENT.set(None);
        self.free();
        true
    }

    fn free(&self) {
        self.reader.nest.store(0, Relaxed);
        // Release: as in `Reader::leave`.
        self.reader.word.store(NOBODY, Release);
        // Release: pairs with the Acquire in `claim`.
        self.owner.store(0, Release);
    }

    /// In a child of fork: of another thread, which the child does not have. What an ended thread left open stays open, and so does what a
    /// thread of the child's has opened before its first thread came here.
    fn left_behind(&self) {
        let (owner, me) = (self.owner.load(Relaxed), this_thread(0));
        let is_parents = owner != 0 && owner & PROCESS != me & PROCESS;
        if is_parents && self.reader.nest.load(Relaxed) & ORPHAN == 0 {
            // Acquire: as in `claim`, by which another thread may be faster.
            if self.owner.compare_exchange(owner, me, Acquire, Relaxed).is_ok() {
                self.free();
            }
        }
    }

    /// In a child of fork: of the thread that forked, which has a new id.
    fn rename(&self) {
        let late = self.owner.load(Relaxed) & LATE;
        self.owner.store(this_thread(late), Relaxed);
    }
}

/// The kernel's id of an owner.
fn id_of(owner: u64) -> i32 {
    (owner & THREAD) as i32
}

/// Whether the kernel says that a thread of this process has ended. A filter that says so of the caller too is not believed.
fn has_ended(tid: i32) -> bool {
    thread::is_gone(tid) && !thread::is_gone(thread::id())
}

/// Registers the handler. Two threads may both register it; then its second run does nothing.
fn watch() {
    // Acquire: pairs with the Release below.
    if GENERATION.load(Acquire) == 0 {
        // Without memory for it, a child settles later.
        let _ = atfork::register_atfork(None, None, Some(in_child));
        GENERATION.store(fork_generation::current(), Release);
    }
}

/// Before a grace period: does the handler's work where none has run.
pub(super) fn settle() {
    let of_records = GENERATION.load(Relaxed);
    if of_records != 0 && of_records != fork_generation::current() && thread::is_first() {
        in_child();
    }
}

/// Run by a process's first thread alone.
extern "C" fn in_child() {
    let generation = fork_generation::current();
    if GENERATION.load(Relaxed) == generation {
        return;
    }
    let mine = current();
    FORKER.store(mine.serial(), Relaxed);
    // Release: pairs with the Acquire in `is_left_behind`, for the serial.
    GENERATION.store(generation, Release);
    for record in all() {
        if core::ptr::eq(record, mine) {
            record.rename();
        } else {
            record.left_behind();
        }
    }
}

/// Whether a section of a domain belongs to a thread that this process does not have. Not known before a child has settled.
pub(super) fn is_left_behind(serial: u64) -> bool {
    let current = fork_generation::current();
    // Acquire: pairs with the Release in `in_child`.
    GENERATION.load(Acquire) == current && (serial >> 32) as u32 != current && serial != FORKER.load(Relaxed)
}
