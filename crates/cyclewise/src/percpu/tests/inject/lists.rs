//! A signal at every step of the counter, the lists, the rings, the stacks and the references. Its handler changes the same object
//! and, every other time, moves the thread: sums and multisets are exact. The twin, a push without a descriptor, loses the handler's pushes.
//!
//! # Safety
//! Only the twin's test uses its words.
#![expect(unsafe_code, reason = "the steps of a sequence without its descriptor")]

use super::{HITS, THEIRS, at_every_point, injecting};
use crate::arch::rseq::injection::unprotected;
use crate::percpu::{Counter, FreeList, Reason, Ref, Ring, Slot, Stack, backend};
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::LazyLock;
use std::vec::Vec;

/// The points that an operation hits whose fast path has `last` of them: with the C library's registration one sequence does
/// it all; else sequences of three steps do.
fn steps_of_a_fast_path(last: u32) -> Vec<u32> {
    match backend().reason {
        Reason::Libc => (1..=last).collect(),
        _ => (1..=3).collect(),
    }
}

static COUNTER: LazyLock<Counter> = LazyLock::new(|| Counter::with_batch(0, 4));

/// The handler's additions move the window at every step of an addition that found room, and of one that moves the window.
#[test]
fn a_counter_is_exact_at_every_step() {
    LazyLock::force(&COUNTER);
    let Some(_guard) = injecting(|| COUNTER.add(3)) else {
        return;
    };
    let mut mine = 0;
    let hit = at_every_point(|| {
        for amount in [1, -3, 3, 0] {
            COUNTER.add(amount);
            mine += amount;
            // By this thread alone, so none is in progress.
            assert!(COUNTER.read().abs_diff(COUNTER.sum()) <= COUNTER.error());
        }
        // An amount of a batch, which goes to the shared sum if it leaves the window.
        COUNTER.add(4);
        mine += 4;
    });
    assert_eq!(hit, [1, 2, 3, 4, 5]);
    assert_eq!(COUNTER.sum(), mine + HITS.load(Relaxed) as i64 * 3);
    in_their_windows(&COUNTER);
}

/// No slot is further from what was shared of it than its window allows.
fn in_their_windows(counter: &Counter) {
    let off = counter.read().abs_diff(counter.sum());
    let used = Slot::all().filter(|&slot| counter.is_used(slot)).count() as u64;
    assert!(off <= 3 * used, "{off} in {used} slots");
}

#[cfg(feature = "percpu-histogram")]
#[test]
fn a_histogram_counts_once_at_every_step() {
    use crate::percpu::Histogram;
    static HISTOGRAM: Histogram = Histogram::new();
    HISTOGRAM.record(1.0);
    let Some(_guard) = injecting(|| HISTOGRAM.record(1.0)) else {
        return;
    };
    let mut mine = 1;
    let hit = at_every_point(|| {
        HISTOGRAM.record_u64(1);
        mine += 1;
    });
    assert_eq!(hit, [1, 2, 3]);
    let counts: Vec<u64> = HISTOGRAM.snapshot().buckets().map(|bucket| bucket.count).collect();
    assert_eq!(counts, [mine + HITS.load(Relaxed)]);
}

/// A total and its window that no sequence protects.
static TWIN_COUNTER: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

#[test]
fn the_twin_of_an_addition_without_a_descriptor_loses_the_handlers() {
    let work = || {
        // SAFETY: words of this test's, and a point that is not active.
        unsafe { unprotected::add_below(TWIN_COUNTER[0].as_ptr(), 3) };
    };
    let Some(_guard) = injecting(work) else { return };
    let mut sum = 0;
    let hit = at_every_point(|| {
        TWIN_COUNTER[0].store(0, Relaxed);
        TWIN_COUNTER[1].store(3 | 0xffff_fffd << 32, Relaxed);
        // SAFETY: words of this test's, and a trap that is handled.
        unsafe { unprotected::add_below(TWIN_COUNTER[0].as_ptr(), 1) };
        sum += TWIN_COUNTER[0].load(Relaxed);
    });
    assert_eq!(hit, [4]);
    let theirs = HITS.load(Relaxed);
    assert_eq!(sum, 72, "and {theirs} additions of the handler are lost");
    assert!(theirs >= 12);
}

static LIST: LazyLock<FreeList<u32>> = LazyLock::new(FreeList::new);

#[test]
fn a_free_list_is_exact_at_every_step() {
    // The handler reorders the list, sometimes through a chain: ABA for a pop that only compares.
    let work = || {
        let (first, second) = (LIST.pop(), LIST.pop());
        if HITS.load(Relaxed).is_multiple_of(4) {
            LIST.pop_all().push();
        }
        drop(first);
        drop(second);
    };
    let nodes: Vec<_> = (0..16).map(|n| LIST.grow(n)).collect();
    drop(nodes);
    let Some(_guard) = injecting(work) else { return };
    let mut steps = 0;
    let hit = at_every_point(|| {
        // Moves leave nodes on other CPUs. Every other step starts with all of them on this one.
        steps += 1;
        if steps % 2 == 0 {
            LIST.drain().unwrap().push();
        }
        let (first, second) = (LIST.pop(), LIST.pop());
        drop(first);
        drop(second);
        LIST.pop_all().push();
    });
    assert_eq!(hit, [1, 2, 3, 4, 5]);
    assert_eq!(crate::percpu::tests::free_list::all(&LIST), (0..16).collect::<Vec<_>>());
}

/// Of sixteen words in a ring or a stack none is lost and none is there twice, whatever interrupts `work`.
fn sixteen_words_stay(work: fn(), drain: fn() -> Vec<u64>, fill: fn(Vec<u64>)) {
    fill((0..16).collect());
    let Some(_guard) = injecting(work) else { return };
    let mut steps = 0;
    let hit = at_every_point(|| {
        // As in the free list's test.
        steps += 1;
        if steps % 2 == 0 {
            fill(drain());
        }
        work();
    });
    assert_eq!(hit, [1, 2, 3, 4, 5, 6]);
    let mut all = drain();
    all.sort_unstable();
    assert_eq!(all, (0..16).collect::<Vec<_>>());
}

static RING: LazyLock<Ring<u64, 64>> = LazyLock::new(Ring::new);

#[test]
fn a_ring_is_exact_at_every_step() {
    let work = || {
        let word = RING.pop();
        let mut words = [0; 3];
        let many = RING.pop_many(&mut words);
        assert!(word.is_none_or(|word| RING.push(word).is_ok()));
        assert_eq!(RING.push_many(&words[..many]), many);
    };
    let drain = || {
        let mut all = Vec::new();
        RING.drain(&mut all).unwrap();
        all
    };
    sixteen_words_stay(work, drain, |all| assert_eq!(RING.push_many(&all), all.len()));
}

static STACK: LazyLock<Stack<u64, 64>> = LazyLock::new(Stack::new);

#[test]
fn a_stack_is_exact_at_every_step() {
    let work = || {
        let word = STACK.pop();
        let mut words = Vec::new();
        STACK.pop_many(&mut words, 3);
        assert!(word.is_none_or(|word| STACK.push(word).is_ok()));
        STACK.push_many(&mut words);
        assert!(words.is_empty());
    };
    let drain = || {
        let mut all = Vec::new();
        STACK.drain(&mut all).unwrap();
        all
    };
    sixteen_words_stay(work, drain, |mut all| {
        STACK.push_many(&mut all);
        assert!(all.is_empty());
    });
}

/// Words of a stack that no sequence protects: count, guard, cells.
static TWIN: [AtomicU64; 80] = [const { AtomicU64::new(0) }; 80];

#[test]
fn the_twin_of_a_push_without_a_descriptor_loses_what_the_handler_pushed() {
    let work = || {
        let n = TWIN[0].load(Relaxed);
        TWIN[2 + n as usize].store(THEIRS, Relaxed);
        TWIN[0].store(n + 1, Relaxed);
    };
    let Some(_guard) = injecting(work) else { return };
    let mut pushed = 0;
    let hit = at_every_point(|| {
        TWIN[0].store(0, Relaxed);
        // SAFETY: words of this test's with room for one more, and a trap that is handled.
        unsafe { unprotected::push(TWIN[0].as_ptr(), 1) };
        pushed += TWIN[0].load(Relaxed);
    });
    assert_eq!(hit, [4, 5]);
    let theirs = HITS.load(Relaxed);
    assert_eq!(pushed, 72, "and {theirs} pushes of the handler are lost");
    assert!(theirs >= 24);
}

static RELEASED: AtomicUsize = AtomicUsize::new(0);
static USERS: LazyLock<Ref<fn()>> = LazyLock::new(|| {
    Ref::new(|| {
        RELEASED.fetch_add(1, Relaxed);
    })
});

/// A kill at every step of a get and of a put. In general a handler must not kill, since it might wait for a portable slot
/// whose holder it interrupted; no thread of this test uses one.
#[test]
fn a_reference_that_is_killed_at_any_step_is_released_by_the_last() {
    LazyLock::force(&USERS);
    let work = || {
        USERS.kill().unwrap();
    };
    let Some(_guard) = injecting(work) else { return };
    let hit = at_every_point(|| {
        let before = RELEASED.load(Relaxed);
        if USERS.try_get_live() {
            assert_eq!(RELEASED.load(Relaxed), before, "released while it is held");
            USERS.put();
        }
        USERS.kill().unwrap();
        assert_eq!(RELEASED.load(Relaxed), before + 1);
        assert!(USERS.is_zero() && USERS.reinit());
    });
    assert_eq!(hit, steps_of_a_fast_path(4));
}
