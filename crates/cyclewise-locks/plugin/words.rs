//! Whether a word is used by one thread or by more, by the locked instructions that use it.
//!
//! A word that another thread made, or touched at the end, is still one thread's: see `layout::is_shared`.
//!
//! A word's executions are shared or private only once its life has ended, since a second thread may still come. Until then a
//! table has them by site. A life ends where a count in the word has come to zero and the next locked instruction finds a value
//! that zero cannot have become: a plain store, which is not seen here, has begun another. A lock that goes from 0 to 1 and back
//! lives on.
//!
//! # Safety
//! 1. Memory that a program's instruction has just written is there until its next system call, as long as it has one thread.
//! 2. A part of the table is used by whoever holds its lock, or by a thread that is alone. A thread that starts the second one has
//!    said so before, and neither of both comes to the table without the lock from then on. The child of a fork is alone.
#![allow(unsafe_code, reason = "reads the program's memory, and shares a table")]

use crate::block::Use;
use crate::decode::Step;
use crate::image;
use crate::layout::{
    PASSES, Tally, WORD_PASSED, WORD_SECOND, WORD_SHARED, WORD_ZERO, Word, WordSite, WordTable, is_shared,
};
use crate::lines;
use crate::memory::{Placed, bump, link};
use crate::sys;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Parts of the table, each with a lock of its own.
const SHARDS: usize = 64;
/// Words that a part begins with.
const SMALL: u32 = 16;
/// Words that a part has room for: half a million in all, 100 MB. The executions on further words are of words not known.
const LARGE: u32 = 1 << 13;

/// How far from its place a word is looked for; the executions on a word that finds no room there are of words not known.
const REACH: usize = 64;

/// `Word::thread` of a word whose life is to begin.
const NOBODY: u32 = u32::MAX;

struct Shard {
    table: Option<&'static WordTable>,
    words: &'static [Word],
    /// The words' addresses again, side by side: a search reads few cache lines.
    addresses: Vec<u64>,
    used: usize,
}

impl Shard {
    const EMPTY: Self = Self {
        table: None,
        words: &[],
        addresses: Vec::new(),
        used: 0,
    };
}

/// A part, and its lock. One thread alone does without the lock, which would cost it as much as the search.
struct Part {
    lock: Mutex<()>,
    shard: UnsafeCell<Shard>,
}

// SAFETY: one thread at a time uses the shard (Invariant 2).
unsafe impl Sync for Part {}

static TABLE: [Part; SHARDS] = [const {
    Part {
        lock: Mutex::new(()),
        shard: UnsafeCell::new(Shard::EMPTY),
    }
}; SHARDS];

/// Whether a second thread may take memory away.
static SEVERAL: AtomicBool = AtomicBool::new(false);

/// The process has, or is about to have, a second thread.
pub fn several_threads() {
    // Relaxed: whoever starts a thread sees its own store, and the thread begins after it.
    SEVERAL.store(true, Ordering::Relaxed);
}

/// Whether it has.
#[inline]
pub fn are_several_threads() -> bool {
    SEVERAL.load(Ordering::Relaxed)
}

/// All parts, locked.
pub fn lock_all() -> Vec<Guard> {
    TABLE.iter().map(|part| Guard(part, lock(&part.lock))).collect()
}

/// A locked part.
pub struct Guard(
    &'static Part,
    #[allow(dead_code, reason = "held")] MutexGuard<'static, ()>,
);

impl Guard {
    /// For the child of a fork: no words.
    pub fn begin_again(&mut self) {
        // SAFETY: the child has one thread, which is here (Invariant 2).
        unsafe { *self.0.shard.get() = Shard::EMPTY };
    }
}

/// For the child of a fork: one thread.
pub fn begin_again() {
    SEVERAL.store(false, Ordering::Relaxed);
}

fn lock(mutex: &'static Mutex<()>) -> MutexGuard<'static, ()> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A site's access to memory.
#[derive(Clone, Copy)]
pub struct Access {
    /// The site.
    pub site: &'static Use,
    /// Where, as the program sees it.
    pub address: u64,
    /// Where, as this process sees it.
    pub host: u64,
    /// How many bytes.
    pub bytes: usize,
}

/// A thread, as far as its use of words goes.
pub trait Thread {
    /// Its index in the image.
    fn index(&self) -> u32;
    /// What it counts of a site, on behalf of words too.
    fn tally(&mut self, site: u32) -> &'static Tally;
}

/// A word was used.
pub fn used(thread: &mut impl Thread, access: &Access) {
    let address = access.address;
    // Only what adds can tell that a count has come to zero.
    let value = match access.site.found.step {
        Step::None => None,
        _ => read(access.host, access.bytes),
    };
    let hash = hash(address);
    let part = &TABLE[(hash >> 58) as usize];
    let _held = are_several_threads().then(|| lock(&part.lock));
    // SAFETY: the lock is held, or this is the only thread; nothing below comes here again (Invariant 2).
    let shard = unsafe { &mut *part.shard.get() };
    let Some(word) = shard.find(address, hash) else {
        return;
    };
    note(word, thread.index(), access);
    visit(word, thread, access.site, value, access.bytes);
}

/// Counts a use of the address.
fn note(word: &Word, thread: u32, access: &Access) {
    bump(&word.executed, 1);
    let threads = word.threads.load(Ordering::Relaxed);
    word.threads.store(threads | 1 << (thread % 64), Ordering::Relaxed);
    word.last_site.store(access.site.site, Ordering::Relaxed);
    if are_several_threads() {
        lines::used(word, thread, access.address);
    }
}

fn hash(address: u64) -> u64 {
    (address >> 2).wrapping_mul(0x9e37_79b9_7f4a_7c15) // Fibonacci hashing: Knuth, volume 3, 6.4.
}

fn visit(word: &Word, thread: &mut impl Thread, site: &Use, value: Option<u64>, bytes: usize) {
    let bits = u32::try_from(bytes * 8).unwrap_or(64);
    let mut state = word.state.load(Ordering::Relaxed);
    if state & WORD_ZERO != 0 {
        if value.is_some_and(|v| !site.found.step.from_zero(v, bits)) {
            end_life(word, thread);
            word.thread.store(NOBODY, Ordering::Relaxed);
            state = 0;
        }
        state &= !WORD_ZERO;
    }
    let owner = word.thread.load(Ordering::Relaxed);
    if owner == NOBODY {
        word.thread.store(thread.index(), Ordering::Relaxed);
        word.by_second.store(0, Ordering::Relaxed);
    } else if state & WORD_SHARED == 0 {
        state = passed(word, thread, state, owner);
    }
    if value == Some(0) {
        state |= WORD_ZERO;
    }
    word.state.store(state, Ordering::Relaxed);
    if state & WORD_SHARED != 0 {
        bump(&thread.tally(site.site).shared, 1);
        return;
    }
    // The entries that are used come first; where there is none left, how the word is used stays unknown.
    let mut entries = word.sites.iter();
    let entry = entries.find(|e| e.count.load(Ordering::Relaxed) == 0 || e.site.load(Ordering::Relaxed) == site.site);
    if let Some(WordSite { site: known, count }) = entry {
        known.store(site.site, Ordering::Relaxed);
        count.store(count.load(Ordering::Relaxed).saturating_add(1), Ordering::Relaxed);
    }
}

/// The state of a word that is not shared yet when a thread comes: whose it was last, and how often it was passed.
fn passed(word: &Word, thread: &mut impl Thread, mut state: u32, owner: u32) -> u32 {
    let by_second = word.by_second.load(Ordering::Relaxed);
    let is_second = owner != thread.index();
    if is_second != (state & WORD_SECOND != 0) {
        state = (state ^ WORD_SECOND) + WORD_PASSED;
    }
    let is_third = is_second && by_second > 0 && word.second.load(Ordering::Relaxed) != thread.index();
    if is_third || state / WORD_PASSED > PASSES {
        flush(word, thread, true);
        return WORD_SHARED | state & WORD_ZERO;
    }
    if is_second {
        word.second.store(thread.index(), Ordering::Relaxed);
        word.by_second.store(by_second.saturating_add(1), Ordering::Relaxed);
    }
    state
}

/// A life ends of a word that was not passed often.
fn end_life(word: &Word, thread: &mut impl Thread) {
    let kept = word
        .sites
        .iter()
        .map(|entry| u64::from(entry.count.load(Ordering::Relaxed)))
        .sum();
    let by_second = word.by_second.load(Ordering::Relaxed);
    flush(word, thread, is_shared(kept, u64::from(by_second)));
}

/// Gives the executions that a word has kept to their sites.
fn flush(word: &Word, thread: &mut impl Thread, is_shared: bool) {
    for WordSite { site, count } in &word.sites {
        // The word's part of the table is this thread's, so that nothing is lost between the two.
        let executed = count.load(Ordering::Relaxed);
        if executed == 0 {
            return;
        }
        count.store(0, Ordering::Relaxed);
        let tally = thread.tally(site.load(Ordering::Relaxed));
        bump(
            if is_shared { &tally.shared } else { &tally.private },
            u64::from(executed),
        );
    }
}

impl Shard {
    /// The word's entry; a new one is nobody's.
    fn find(&mut self, address: u64, hash: u64) -> Option<&'static Word> {
        if self.is_full() {
            self.grow();
        }
        let at = self.place(address, hash)?;
        let word = &self.words[at];
        if self.addresses[at] == 0 {
            // A table that cannot grow stays open enough for short searches.
            if self.is_full() {
                return None;
            }
            self.addresses[at] = address;
            word.address.store(address, Ordering::Relaxed);
            word.thread.store(NOBODY, Ordering::Relaxed);
            self.used += 1;
        }
        Some(word)
    }

    fn is_full(&self) -> bool {
        self.used * 4 >= self.addresses.len() * 3
    }

    /// Where the word is, or where it can be.
    fn place(&self, address: u64, hash: u64) -> Option<usize> {
        let len = self.addresses.len();
        let start = (hash >> 32) as usize;
        // The length is a power of two.
        (0..len.min(REACH))
            .map(|step| (start + step) & (len - 1))
            .find(|at| [0, address].contains(&self.addresses[*at]))
    }

    #[cold]
    fn grow(&mut self) {
        let capacity = match u32::try_from(self.addresses.len()) {
            Ok(0) => SMALL,
            Ok(len) if len < LARGE => len * 2,
            _ => return,
        };
        let mut image = image::lock();
        let (Placed { record, offset }, words) = image.arena.words(capacity);
        image.tell_loss();
        record.capacity.store(capacity, Ordering::Relaxed);
        let old_words = std::mem::replace(&mut self.words, words);
        self.addresses = vec![0; words.len()];
        self.used = 0;
        for word in old_words {
            let address = word.address.load(Ordering::Relaxed);
            let place = || self.place(address, hash(address));
            if let Some(at) = (address != 0).then(place).flatten() {
                copy(word, &words[at]);
                self.addresses[at] = address;
                self.used += 1;
            }
        }
        if let Some(old) = self.table {
            old.replaced.store(1, Ordering::Relaxed);
        }
        if let Some(header) = image.header {
            link(&header.words, &record.next, offset);
        }
        self.table = Some(record);
    }
}

fn copy(word: &Word, to: &Word) {
    for (to, from) in [
        (&to.thread, &word.thread),
        (&to.state, &word.state),
        (&to.second, &word.second),
        (&to.by_second, &word.by_second),
        (&to.last_site, &word.last_site),
    ] {
        to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
    }
    for (to, from) in [
        (&to.address, &word.address),
        (&to.executed, &word.executed),
        (&to.threads, &word.threads),
        (&to.soon_same, &word.soon_same),
        (&to.soon_beside, &word.soon_beside),
    ] {
        to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
    }
    for (from, to) in word.sites.iter().zip(&to.sites) {
        to.site.store(from.site.load(Ordering::Relaxed), Ordering::Relaxed);
        to.count.store(from.count.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

/// What a word holds.
fn read(host: u64, bytes: usize) -> Option<u64> {
    if are_several_threads() {
        // Another thread may have given the memory back since.
        let mut value = [0; 8];
        let is_whole = sys::peek(host, value.get_mut(..bytes)?) == bytes;
        return is_whole.then(|| u64::from_le_bytes(value));
    }
    Some(match bytes {
        1 => load::<u8>(host).into(),
        2 => load::<u16>(host).into(),
        4 => load::<u32>(host).into(),
        8 => load::<u64>(host),
        _ => return None,
    })
}

/// An integer of the program, at any address.
fn load<T: Copy>(host: u64) -> T {
    let from = std::ptr::with_exposed_provenance::<T>(host as usize);
    // SAFETY: the instruction wrote an integer of this size there, and this is the program's only thread (Invariant 1).
    unsafe { from.read_unaligned() }
}
