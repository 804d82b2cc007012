//! The memory of a run grows with its threads, not with their square: every allocated byte is counted.

use cyclewise_sim::machine::Arbiter;
use cyclewise_sim::{Job, Length, Machine, Topology, Workload, simulate};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, counting what each thread holds and the most it has held.
struct Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

fn add(size: usize) {
    HELD.set(HELD.get() + size.cast_signed());
    MOST.set(MOST.get().max(HELD.get()));
}

// SAFETY: forwards every call to System.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller's contract is System's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.set(HELD.get() - layout.size().cast_signed());
        // SAFETY: the caller's contract is System's.
        unsafe { System.dealloc(pointer, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most bytes that `work` holds at a time.
fn most_bytes(work: impl FnOnce()) -> isize {
    let before = HELD.get();
    MOST.set(before);
    work();
    MOST.get() - before
}

const MEGABYTE: isize = 1_000_000;

/// The memory of one operation per thread, with one thread per core.
fn of_threads(workload: Workload, arbiter: Arbiter, threads: u32) -> isize {
    let mut machine = Machine::plain(Topology::new(8, 16, threads / 128, 1));
    machine.line.arbiter = arbiter;
    let job = Job {
        retry_limit: Some(15),
        length: Length::operations(0, u64::from(threads)),
        ..Job::new(workload, threads)
    };
    most_bytes(|| assert!(simulate(&machine, &job).is_ok()))
}

/// Twice the threads take at most this many times the memory: 4 would be quadratic.
const MOST_GROWTH: f64 = 3.0;

fn grows_with_the_square(half: isize, whole: isize) -> bool {
    whole as f64 > MOST_GROWTH * half as f64
}

#[test]
fn four_thousand_threads_take_less_than_two_hundred_megabytes() {
    let rounds = Arbiter::Batch { stay: 64 };
    for workload in [
        Workload::OpenReadClose,
        Workload::OpenReadCloseThreads,
        Workload::LockMcs,
        Workload::LockQueued,
        Workload::PercpuCounter,
    ] {
        for arbiter in [Arbiter::Fifo, rounds] {
            let whole = of_threads(workload, arbiter, 4096);
            assert!(whole < 200 * MEGABYTE, "{workload} {arbiter:?}: {whole} bytes");
            let half = of_threads(workload, arbiter, 2048);
            assert!(
                !grows_with_the_square(half, whole),
                "{workload} {arbiter:?}: {half} {whole}"
            );
        }
    }
}

/// A list of all threads for each thread is what the test above must detect.
#[test]
fn quadratic_memory_is_detected() {
    let lists = |threads: usize| most_bytes(|| drop(vec![vec![0_u32; threads]; threads]));
    let (half, whole) = (lists(500), lists(1000));
    assert!(whole >= 4_000_000, "{whole}");
    assert!(grows_with_the_square(half, whole), "{half} {whole}");
}
