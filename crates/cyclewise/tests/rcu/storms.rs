//! Readers beside a writer that poisons what it frees: nobody reads poison. Under signals whose handlers read, and without membarrier(2).

use crate::common::filter::refuse;
use crate::common::harness::{Check, checks};
use crate::common::length::rounds;
use crate::common::signal;
use cyclewise::fence;
use cyclewise::rcu::{self, Domain, Rcu};
use cyclewise::refs::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::thread;
use std::time::{Duration, Instant};

pub(crate) const CHECKS: &[Check] = checks![
    nobody_reads_what_was_freed,
    nobody_reads_what_was_freed_under_signals,
    nobody_reads_what_was_freed_in_a_domain,
    readers_replace_in_their_sections,
    arcs_are_freed_once,
    updates_are_all_made,
    twin_a_writer_that_does_not_wait_is_caught,
    twin_a_writer_without_a_barrier_is_caught,
];

pub(crate) const SANDBOXED: &[Check] = checks![
    without_membarrier_it_holds,
    with_a_faked_membarrier_it_holds,
    closures_stay_in_order_beside_a_thread_that_is_refused,
];

const ALIVE: u64 = 0x600d_600d;
const POISON: u64 = 0xdead_dead;

/// A value whose memory stays, so that a late reader finds the poison and nothing else.
struct Value(&'static AtomicU64);

impl Value {
    fn new() -> Self {
        // Leaked, and used again by the allocator of `free`.
        Self(free(None))
    }

    fn is_alive(&self) -> bool {
        self.0.load(Relaxed) == ALIVE
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        self.0.store(POISON, Relaxed);
        free(Some(self.0));
    }
}

/// Gives a word back, or takes one. Words are used again after a thousand others.
fn free(word: Option<&'static AtomicU64>) -> &'static AtomicU64 {
    static FREE: std::sync::Mutex<std::collections::VecDeque<&AtomicU64>> =
        std::sync::Mutex::new(std::collections::VecDeque::new());
    let mut free = FREE.lock().unwrap();
    if let Some(word) = word {
        free.push_back(word);
        return word;
    }
    let word = match free.len() {
        1000.. => free.pop_front().unwrap(),
        _ => Box::leak(Box::new(AtomicU64::new(0))),
    };
    word.store(ALIVE, Relaxed);
    word
}

static VALUE: std::sync::OnceLock<Rcu<Value>> = std::sync::OnceLock::new();

fn value() -> &'static Rcu<Value> {
    VALUE.get_or_init(|| Rcu::new(Value::new()))
}

fn time() -> Duration {
    Duration::from_millis(rounds("CYCLEWISE_RCU_MS", 300, 2_000))
}

/// How many readings of three threads found poison, while one writes; ends at the first. Readings nest at times.
fn poisoned(read: impl Fn() -> bool + Sync, write: impl Fn(), time: Duration) -> u64 {
    let (over, poisoned) = (AtomicBool::new(false), AtomicU64::new(0));
    let [reads, writes] = [const { AtomicU64::new(0) }; 2];
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !over.load(Relaxed) {
                    if !read() {
                        poisoned.fetch_add(1, Relaxed);
                    }
                    reads.fetch_add(1, Relaxed);
                }
            });
        }
        let begin = Instant::now();
        while poisoned.load(Relaxed) == 0 && (begin.elapsed() < time || reads.load(Relaxed) < 1000) {
            write();
            writes.fetch_add(1, Relaxed);
        }
        over.store(true, SeqCst);
    });
    println!("{reads:?} readings, {writes:?} replacements");
    poisoned.into_inner()
}

/// Whether the value is alive in the whole of a section, and of one inside.
fn read() -> bool {
    let guard = rcu::read();
    let found = value().load(&guard);
    let inner = rcu::read();
    let other = value().load(&inner);
    let alive = found.is_alive() && other.is_alive();
    drop(guard);
    alive && other.is_alive()
}

fn replace() {
    value().replace(Value::new());
}

fn nobody_reads_what_was_freed() {
    assert_eq!(poisoned(read, replace, time()), 0);
    rcu::barrier();
    assert_eq!(rcu::pending(), 0);
    let replace_and_wait = || {
        replace();
        rcu::synchronize();
    };
    assert_eq!(poisoned(read, replace_and_wait, time()), 0);
}

static IN_HANDLER: AtomicU64 = AtomicU64::new(0);

extern "C" fn handler(_: i32) {
    assert!(read());
    IN_HANDLER.fetch_add(1, Relaxed);
}

/// The handler of a timer that interrupts any thread. All of them have registered: only the children of this one run.
fn nobody_reads_what_was_freed_under_signals() {
    rcu::register();
    let read = || {
        unblock(true);
        let alive = read();
        unblock(false);
        alive && read()
    };
    unblock(false);
    signal::handle(libc::SIGPROF, handler);
    signal::every(libc::SIGPROF, 300);
    assert_eq!(poisoned(read, replace, time()), 0);
    while IN_HANDLER.load(Relaxed) == 0 {
        unblock(true);
    }
}

/// Lets the handler interrupt the calling thread, which has registered, or does not.
fn unblock(open: bool) {
    rcu::register();
    signal::mask(if open { libc::SIG_UNBLOCK } else { libc::SIG_BLOCK }, [libc::SIGPROF]);
}

fn nobody_reads_what_was_freed_in_a_domain() {
    static DOMAIN: Domain = Domain::new();
    let value = Rcu::new_in(&DOMAIN, Value::new());
    let read = || {
        let guard = DOMAIN.read();
        let found = value.load(&guard);
        let alive = found.is_alive();
        if found.0.as_ptr().addr() % 128 == 0 {
            thread::yield_now();
        }
        alive && found.is_alive()
    };
    assert_eq!(poisoned(read, || value.replace(Value::new()), time()), 0);
    DOMAIN.barrier();
    assert_eq!(DOMAIN.pending(), 0);
}

/// Threads that all replace what they read, in the same section: several have batches to run at once. After a barrier nothing is left.
fn readers_replace_in_their_sections() {
    let value = Rcu::new(Value::new());
    let read = || {
        let guard = rcu::read();
        let found = value.load(&guard);
        let was_alive = found.is_alive();
        value.replace(Value::new());
        was_alive && found.is_alive()
    };
    assert_eq!(poisoned(read, || assert!(read()), time()), 0);
    rcu::barrier();
    assert_eq!(rcu::pending(), 0, "closures are lost");
}

fn arcs_are_freed_once() {
    let value = Rcu::<Value, Arc<Value>>::from_pointer(Arc::new(Value::new()));
    let read = || {
        let guard = rcu::read();
        let kept = value.load_arc(&guard);
        drop(guard);
        kept.is_alive()
    };
    assert_eq!(poisoned(read, || value.replace(Arc::new(Value::new())), time()), 0);
}

fn updates_are_all_made() {
    const EACH: u64 = 2000;
    let sum = Rcu::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| (0..EACH).for_each(|_| sum.update(|old| Box::new(old + 1))));
        }
    });
    assert_eq!(*sum.into_inner(), 3 * EACH);
}

/// It frees at once. Ends when a reader finds poison.
fn twin_a_writer_that_does_not_wait_is_caught() {
    let current = std::sync::atomic::AtomicPtr::new(std::ptr::from_ref(free(None)).cast_mut());
    let read = || {
        let _guard = rcu::read();
        // SAFETY: these words are never freed.
        let found = unsafe { &*current.load(SeqCst) };
        (0..10).all(|_| found.load(Relaxed) == ALIVE)
    };
    let write = || {
        let old = current.swap(std::ptr::from_ref(free(None)).cast_mut(), SeqCst);
        // SAFETY: these words are never freed.
        let old: &'static AtomicU64 = unsafe { &*old };
        old.store(POISON, Relaxed);
        free(Some(old));
    };
    assert!(poisoned(read, write, Duration::from_secs(60)) > 0, "never caught");
}

/// The protocol with a word of its own, whose writer looks at the reader without a heavy fence.
fn twin_a_writer_without_a_barrier_is_caught() {
    let one_cpu = thread::available_parallelism().is_ok_and(|n| n.get() == 1);
    if one_cpu || !fence::is_asymmetric() || cfg!(not(target_arch = "x86_64")) {
        println!("skipped: one CPU, no light fences, or an emulator, whose stores may be seen at once");
        return;
    }
    const WORDS: usize = 2;
    let values: [Line; WORDS] = std::array::from_fn(|_| Line(AtomicU64::new(ALIVE)));
    let [inside, current, over, late] = [const { Line(AtomicU64::new(0)) }; 4];
    let writes = |fenced: bool, time: Duration| {
        let begin = Instant::now();
        let mut next = 1;
        while late.0.load(Relaxed) == 0 && begin.elapsed() < time {
            for _ in 0..1000 {
                values[next].0.store(ALIVE, Relaxed);
                current.0.store(next as u64, Relaxed);
                if fenced {
                    fence::heavy();
                }
                while inside.0.load(Acquire) != 0 {
                    std::hint::spin_loop();
                }
                values[1 - next].0.store(POISON, Relaxed);
                next = 1 - next;
            }
        }
        late.0.load(Relaxed)
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            while over.0.load(Relaxed) == 0 {
                inside.0.store(1, Relaxed);
                fence::light();
                let found = &values[current.0.load(Acquire) as usize].0;
                if (0..4).any(|_| found.load(Relaxed) == POISON) {
                    late.0.fetch_add(1, Relaxed);
                }
                inside.0.store(0, Release);
            }
        });
        assert_eq!(writes(true, time()), 0, "with the barrier");
        assert!(writes(false, Duration::from_secs(60)) > 0, "never caught");
        over.0.store(1, Relaxed);
    });
}

/// A line of its own.
#[repr(align(128))]
struct Line(AtomicU64);

fn without_membarrier_it_holds() {
    refuse(libc::SYS_membarrier, &[], libc::ENOSYS);
    nobody_reads_what_was_freed();
    assert!(!cyclewise::fence::is_asymmetric());
    nobody_reads_what_was_freed_under_signals();
    nobody_reads_what_was_freed_in_a_domain();
}

fn with_a_faked_membarrier_it_holds() {
    refuse(libc::SYS_membarrier, &[], 0);
    nobody_reads_what_was_freed();
    assert!(!cyclewise::fence::is_asymmetric());
}

/// A thread whose filter came later takes batches, and can begin no grace period for them.
fn closures_stay_in_order_beside_a_thread_that_is_refused() {
    if !fence::is_asymmetric() {
        println!("skipped: no membarrier(2) here");
        return;
    }
    static ORDER: std::sync::Mutex<Vec<u64>> = std::sync::Mutex::new(Vec::new());
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            refuse(libc::SYS_membarrier, &[], libc::EPERM);
            while !over.load(Relaxed) {
                match rcu::pending() {
                    ..1000 => rcu::defer(|| ()),
                    _ => thread::yield_now(),
                }
            }
        });
        let begin = Instant::now();
        let mut count = 0;
        while begin.elapsed() < time() {
            for n in count..count + 100 {
                rcu::defer(move || ORDER.lock().unwrap().push(n));
            }
            count += 100;
            rcu::barrier();
            let order = ORDER.lock().unwrap();
            if !order.iter().copied().eq(0..count) {
                break;
            }
        }
        over.store(true, SeqCst);
        assert!(count > 0 && ORDER.lock().unwrap().iter().copied().eq(0..count));
    });
}
