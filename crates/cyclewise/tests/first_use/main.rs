//! The first use of each thing that a signal handler may use, in a handler that interrupts the allocator: there no memory can be had,
//! from Rust's allocator or C's. And what has to say that there is no memory, without any.
//!
//! The program has the C library's allocator under its own names. Each check is alone in its process, so that its use is the first.

#![cfg_attr(
    not(target_env = "gnu"),
    allow(dead_code, unused_imports, reason = "the allocator's other names are glibc's")
)]

#[cfg(target_env = "gnu")]
mod allocator;
#[path = "../common/mod.rs"]
mod common;

use common::child::{End, in_child};
use common::harness::{self, checks};
use common::signal::{self, raise};
use cyclewise::clock::{
    AfterStores, Bracketed, Clock, Instant, LoadOrdered, PerTask, Ticks, UnixAnchor, Upkeep, WallClock,
};
use cyclewise::error::Refusal;
use cyclewise::lock::SpinLock;
use cyclewise::mask::{self, Masked, Polled, Signals};
use cyclewise::percpu::{self, Counter, FreeList, PerCpu, Pinned, Ref, Ring, Slot, Stack};
use cyclewise::refs::rcuref::{Pool, Rcuref};
use cyclewise::refs::refcount::Refcount64;
use cyclewise::refs::{Arc, LockRef, Refcount};
use std::cell::Cell;
use std::hint::black_box;
use std::os::fd::AsFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

thread_local! {
    /// The thread's next allocation is interrupted by SIGUSR1.
    static INTERRUPT: Cell<bool> = const { Cell::new(false) };
    /// An allocation was interrupted, and so has the allocator's locks.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}
/// There is no memory.
static EMPTY: AtomicBool = AtomicBool::new(false);

static OPERATION: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());
static RAN: AtomicBool = AtomicBool::new(false);

extern "C" fn handler(_: i32) {
    // SAFETY: `in_handler` stored a function of this type.
    let operation = unsafe { std::mem::transmute::<*mut (), fn()>(OPERATION.load(SeqCst)) };
    operation();
    RAN.store(INSIDE.get(), SeqCst);
}

/// Runs `operation` in a handler that has interrupted an allocation.
fn in_handler(operation: fn()) {
    OPERATION.store(operation as *mut (), SeqCst);
    signal::handle(libc::SIGUSR1, handler);
    INTERRUPT.set(true);
    black_box(Box::new(1u64));
    assert!(RAN.load(SeqCst));
}

/// The same where the backend was chosen before, as the documents of `percpu` ask.
fn in_handler_of_percpu(operation: fn()) {
    println!("{}", percpu::backend());
    in_handler(operation);
}

cyclewise::percpu! {
    static HITS: u64;
    static BY_CID: u64 => Cid;
}
cyclewise::static_key! { static KEY: StaticKey = false; }
static COUNTER: Counter = Counter::new(0);
static WITH_BATCH: Counter = Counter::with_batch(0, 64);
static LOCK: SpinLock<u32> = SpinLock::new(0);
static ENTRY: LockRef<u32> = LockRef::new(1);
static POOL: OnceLock<Pool<u32>> = OnceLock::new();
static KEPT: OnceLock<PerCpu<u64>> = OnceLock::new();
static MASKED: Masked<u32> = Masked::new(0);
static ARC: OnceLock<Arc<u32>> = OnceLock::new();
static NOTED: AtomicU32 = AtomicU32::new(0);

fn counter_add() {
    in_handler_of_percpu(|| COUNTER.add(1));
    assert_eq!(COUNTER.sum(), 1);
}

fn counter_of_a_batch() {
    in_handler_of_percpu(|| WITH_BATCH.add(1 << 40));
    assert_eq!(WITH_BATCH.sum(), 1 << 40);
}

fn counter_try_allocate() {
    in_handler_of_percpu(|| COUNTER.try_allocate().unwrap());
}

fn counter_batch_and_compare() {
    in_handler_of_percpu(|| assert!(COUNTER.batch() >= 32 && COUNTER.compare(1 << 40).is_lt() && COUNTER.sum() == 0));
}

fn percpu_statics() {
    in_handler_of_percpu(|| {
        HITS.add(1);
        BY_CID.add_return(1);
    });
    assert_eq!((HITS.sum(), BY_CID.sum()), (1, 1));
}

fn percpu_variables_come_and_go() {
    in_handler_of_percpu(|| PerCpu::<u64>::try_new().unwrap().add(1));
}

fn percpu_structures() {
    in_handler_of_percpu(|| {
        let (stack, ring, list) = (Stack::<u64, 4>::new(), Ring::<u64, 4>::new(), FreeList::<u64>::new());
        stack.push(1).unwrap();
        ring.push(1).unwrap();
        assert!(list.pop().is_none());
        // Moved: they may be in another slot.
        assert!(stack.pop().is_none_or(|n| n == 1) && ring.pop().is_none_or(|n| n == 1));
    });
}

fn percpu_reference() {
    in_handler_of_percpu(|| {
        let reference = Ref::try_new(|| ()).unwrap();
        assert!(reference.try_get());
        reference.put();
    });
}

/// A thread's first use, where the process has used them.
fn percpu_on_a_new_thread() {
    println!("{}", percpu::backend());
    let variable = PerCpu::<u64>::new();
    KEPT.set(variable).unwrap();
    let use_all = || {
        COUNTER.inc();
        HITS.add(1);
        KEPT.get().unwrap().add(1);
    };
    std::thread::spawn(move || in_handler(use_all)).join().unwrap();
    assert_eq!((COUNTER.sum(), HITS.sum(), KEPT.get().unwrap().sum()), (1, 1, 1));
}

fn percpu_pinned() {
    KEPT.set(PerCpu::new()).unwrap();
    in_handler_of_percpu(|| {
        let variable = KEPT.get().unwrap();
        // SAFETY: nothing else in this thread uses GS.
        match unsafe { Pinned::enter(0) } {
            Ok(pinned) => pinned.inc(variable),
            Err(_) => variable.add(1),
        }
    });
    assert_eq!(KEPT.get().unwrap().sum(), 1);
}

fn percpu_slots() {
    in_handler_of_percpu(|| assert!(Slot::all().count() > 0));
}

fn clock_now() {
    in_handler(|| assert!(Instant::now() <= Instant::now()));
}

fn stamps() {
    in_handler(|| {
        let (from, to) = (Ticks::<PerTask>::read(), Ticks::<AfterStores>::read());
        let clock = Clock::process();
        black_box((
            clock.between(from, to),
            clock.reading::<Bracketed>(),
            clock.ticks::<LoadOrdered>(),
        ));
        black_box(
            clock
                .conversion()
                .map(|conversion| (conversion.time(from), conversion.error(to))),
        );
    });
}

fn clock_of_others() {
    in_handler(|| {
        let clock = Clock::process();
        black_box((clock.recent(), clock.status(), clock.now_as::<PerTask>()));
        black_box((UnixAnchor::new(), WallClock::new().now(), Instant::<PerTask>::read()));
        clock.refresh();
    });
}

fn locks() {
    in_handler(|| {
        *LOCK.lock() += 1;
        let other = LockRef::new(1);
        other.get();
        *other.lock() += 1;
    });
}

/// Another thread has each lock for a while.
fn locks_that_are_waited_for() {
    let taken = std::sync::Barrier::new(2);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let hold = mask::hold();
            let (_lock, _entry, _masked) = (LOCK.lock(), ENTRY.lock(), MASKED.lock(&hold));
            taken.wait();
            std::thread::sleep(Duration::from_millis(20));
        });
        taken.wait();
        in_handler(|| {
            ENTRY.get();
            *LOCK.lock() += 1;
            *ENTRY.lock() += 1;
            let hold = mask::hold();
            assert!(MASKED.try_lock_for(&hold, Duration::from_nanos(1)).is_none() || *LOCK.lock() == 1);
            *MASKED.lock(&hold) += 1;
        });
    });
}

fn counts() {
    ARC.set(Arc::new(1)).unwrap();
    in_handler(|| {
        let arc = ARC.get().unwrap();
        let weak = Arc::downgrade(&arc.clone());
        assert!(weak.upgrade().is_some_and(|arc| *arc == 1));
        let (count, rcuref) = (Refcount::new(1), Rcuref::new());
        count.inc();
        black_box((count.read(), rcuref.get()));
        // Misuse, which saturates.
        Refcount::new(0).inc();
        Refcount64::new(0).inc();
    });
}

fn pools() {
    POOL.get_or_init(|| Pool::new(4));
    in_handler(|| {
        let pool = POOL.get().unwrap();
        let entry = pool.insert(1).unwrap();
        assert!(pool.get(entry.key()).is_some_and(|entry| *entry == 1));
    });
}

fn masked() {
    in_handler(|| {
        let hold = mask::hold();
        *MASKED.lock(&hold) += 1;
        assert!(mask::is_held() && mask::lost() == 0);
    });
}

fn a_deferred_signal() {
    Signals::on(libc::SIGUSR2, &NOTED).unwrap();
    in_handler(|| {
        let hold = mask::hold();
        raise(libc::SIGUSR2);
        assert_eq!(NOTED.load(SeqCst), 0);
        drop(hold);
        assert_eq!(NOTED.load(SeqCst), 1);
    });
}

fn keys() {
    in_handler(|| assert!(!KEY.is_enabled()));
}

/// The twin: what asked for the number of CPUs before.
fn twin_an_allocation_in_the_handler_is_caught() {
    let asks = || in_handler(|| drop(black_box(Box::new(2u64))));
    assert_eq!(in_child(asks), Err(End::Signal(libc::SIGABRT)));
    let opens = || in_handler(|| drop(std::thread::available_parallelism()));
    assert_eq!(in_child(opens), Err(End::Signal(libc::SIGABRT)));
}

/// Runs `ask` without memory: the allocator has none, and no mapping is made.
fn without_memory<T>(ask: impl FnOnce() -> T) -> T {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: writes one limit.
    assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) }, 0);
    let none = libc::rlimit { rlim_cur: 0, ..limit };
    // SAFETY: reads one limit.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const none) }, 0);
    EMPTY.store(true, SeqCst);
    let answer = ask();
    EMPTY.store(false, SeqCst);
    // SAFETY: reads one limit.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
    answer
}

/// Whether the limit is kept. The user-mode emulator keeps it for no program, and then there is a line.
fn mappings_are_refused() -> bool {
    let page = without_memory(|| {
        // SAFETY: a new mapping, wherever there is room.
        unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                4096,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        }
    });
    let refused = page == libc::MAP_FAILED;
    if !refused {
        println!("skipped: RLIMIT_AS is not kept here");
    }
    refused
}

fn without_memory_errors_are_returned() {
    if !mappings_are_refused() {
        return;
    }
    let backend = percpu::backend();
    let counter = without_memory(|| COUNTER.try_allocate());
    let (call, errno) = ("mmap", libc::ENOMEM);
    assert!(
        [Refusal::System { call, errno }, Refusal::NoMemory].contains(&counter.unwrap_err()),
        "{backend}"
    );
    assert!(without_memory(PerCpu::<u64>::try_new).is_err());
    assert!(without_memory(|| Signals::on(libc::SIGUSR2, &NOTED)).is_err());
    let kept = String::from("kept");
    // SAFETY: the closure is async-signal-safe.
    let called =
        without_memory(|| unsafe { Signals::call(libc::SIGUSR2, move |_, _| assert_eq!(black_box(&kept), "kept")) });
    assert!(called.is_err());
    let started = without_memory(|| Upkeep::start(Clock::process()));
    assert_eq!(started.map(drop).unwrap_err().kind(), std::io::ErrorKind::OutOfMemory);
    let (input, hold) = (std::io::stdin(), mask::hold());
    let mut polled = [Polled::new(input.as_fd(), libc::POLLIN)];
    assert_eq!(
        without_memory(|| hold.wait(&mut polled, Some(Duration::ZERO))),
        Err(Refusal::NoMemory)
    );
    drop(hold);
    // With memory all go on.
    COUNTER.add(1);
    Signals::on(libc::SIGUSR2, &NOTED).unwrap();
    drop(Upkeep::start(Clock::process()).unwrap());
    assert_eq!(COUNTER.sum(), 1);
}

/// A static has no error to return: it says why, and then what `Box::new` says.
fn a_static_without_memory_says_why() {
    if !mappings_are_refused() {
        return;
    }
    let mut ends = [0; 2];
    // SAFETY: writes two descriptors.
    assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
    let child = || {
        percpu::backend();
        // SAFETY: standard error becomes the pipe.
        unsafe { libc::dup2(ends[1], 2) };
        without_memory(|| HITS.add(1));
    };
    assert_eq!(in_child(child), Err(End::Signal(libc::SIGABRT)));
    let mut said = [0u8; 1024];
    // SAFETY: writes at most the buffer's length.
    let n = unsafe { libc::read(ends[0], said.as_mut_ptr().cast(), said.len()) };
    let said = String::from_utf8_lossy(&said[..n as usize]).into_owned();
    let why = "cyclewise: no memory for static first_use::HITS of 8 bytes for each CPU: mmap failed with errno 12; raise the limits on address space";
    assert!(said.contains(why), "{said}");
}

/// What LeakSanitizer would know as regions of roots, if its runtime were this.
static ROOTS: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

#[unsafe(no_mangle)]
extern "C" fn __lsan_register_root_region(at: *const u8, length: usize) {
    ROOTS[0].store(at.addr(), SeqCst);
    ROOTS[1].store(length, SeqCst);
}

#[unsafe(no_mangle)]
extern "C" fn __lsan_unregister_root_region(at: *const u8, length: usize) {
    assert_eq!(ROOTS.each_ref().map(|word| word.swap(0, SeqCst)), [at.addr(), length]);
}

fn leak_sanitizer_looks_into_variables() {
    let mapped = {
        let first = PerCpu::<u64>::new();
        let slots = Slot::all().map(|slot| first.slot_ptr(slot).addr());
        let [from, length] = ROOTS.each_ref().map(|word| word.load(SeqCst));
        assert!(
            slots.clone().all(|at| (from..from + length).contains(&at)),
            "{from:#x} {length:#x}"
        );
        from
    };
    // Its chunk was unmapped with it.
    assert!(mapped != 0 && ROOTS[0].load(SeqCst) == 0);
}

fn main() {
    if !cfg!(target_env = "gnu") {
        harness::skip("no glibc, whose allocator has second names");
    }
    harness::run(checks![
        counter_add,
        counter_of_a_batch,
        counter_try_allocate,
        counter_batch_and_compare,
        percpu_statics,
        percpu_variables_come_and_go,
        percpu_structures,
        percpu_reference,
        percpu_on_a_new_thread,
        percpu_pinned,
        percpu_slots,
        clock_now,
        stamps,
        clock_of_others,
        locks,
        locks_that_are_waited_for,
        counts,
        pools,
        masked,
        a_deferred_signal,
        keys,
        twin_an_allocation_in_the_handler_is_caught,
        without_memory_errors_are_returned,
        a_static_without_memory_says_why,
        leak_sanitizer_looks_into_variables,
    ]);
}
