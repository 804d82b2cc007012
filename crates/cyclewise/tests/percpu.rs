//! Per-CPU data in whole processes: another registration, none, a filter, a fork, GS, a storm of signals.
//!
//! What is decided once for a process is tried in a child that starts anew: this program, run again with the name of the
//! part in its environment.

#![cfg(target_os = "linux")]

use cyclewise::percpu::{Backend, Counter, FreeList, PerCpu, Reason, Ref, Report, Ring, Slot, Stack, backend};
use std::process::Command;
use std::sync::Mutex;

cyclewise::percpu! {
    static HITS: u64;
    static BY_CID: u64 => Cid;
}

/// The part that a child plays.
const PART: &str = "CYCLEWISE_PERCPU_PART";

/// Runs a test of this program again, alone, as a part, and prints what it printed. An emulator starts no second program of
/// its architecture: then the part is skipped.
fn again(test: &str, part: &str, tunables: &str) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(PART, part)
        .env("GLIBC_TUNABLES", tunables)
        .output();
    let cannot_start = match &output {
        Err(e) => e.raw_os_error() == Some(libc::ENOEXEC),
        // What a child of posix_spawn ends with whose exec fails, where the emulator's vfork is a fork.
        Ok(output) => output.status.code() == Some(127) && output.stdout.is_empty() && output.stderr.is_empty(),
    };
    if cannot_start {
        println!("skipped: {test}: this program runs under an emulator, which cannot start it again");
        return;
    }
    let output = output.unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    print!("{text}");
}

fn part() -> Option<String> {
    std::env::var(PART).ok()
}

/// Threads that add, by both ids, and as much as they added in the sums.
fn nothing_is_lost() {
    // Tests of one process share the words.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock();
    let (before, before_cid) = (HITS.sum(), BY_CID.sum());
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for n in 0..5_000u32 {
                    HITS.add(1);
                    BY_CID.add(1);
                    if n % 32 == 0 {
                        std::thread::yield_now();
                    }
                }
            });
        }
    });
    assert_eq!((HITS.sum() - before, BY_CID.sum() - before_cid), (80_000, 80_000));
    lists_are_exact();
}

/// Threads that count, and take from and give to what is built on per-CPU words: all is there afterwards, once.
fn lists_are_exact() {
    const OBJECTS: u64 = 32;
    let counter = Counter::new(0);
    let (list, stack, ring) = (FreeList::new(), Stack::<Box<u64>, 64>::new(), Ring::<u64, 64>::new());
    for n in 0..OBJECTS {
        list.grow(n).push();
        stack.push(Box::new(n)).unwrap();
        ring.push(n).unwrap();
    }
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (counter, list, stack, ring) = (&counter, &list, &stack, &ring);
            scope.spawn(move || {
                let mut boxes = Vec::new();
                for n in 0..2_000 {
                    counter.add(n);
                    let (node, one, word) = (list.pop(), stack.pop(), ring.pop());
                    if (n + thread) % 32 == 0 {
                        stack.pop_many(&mut boxes, 3);
                        list.pop_all().push();
                        std::thread::yield_now();
                    }
                    stack.push_many(&mut boxes);
                    assert!(boxes.is_empty(), "as many fit as there are");
                    one.map_or(Ok(()), |one| stack.push(one)).unwrap();
                    word.map_or(Ok(()), |word| ring.push(word)).unwrap();
                    drop(node);
                }
            });
        }
    });
    let sorted = |mut all: Vec<u64>| {
        all.sort_unstable();
        all
    };
    let (mut boxes, mut words) = (Vec::new(), Vec::new());
    stack.drain(&mut boxes).unwrap();
    ring.drain(&mut words).unwrap();
    let expected: Vec<u64> = (0..OBJECTS).collect();
    assert_eq!(counter.sum(), 8 * (0..2_000).sum::<i64>());
    assert_eq!(sorted(list.drain().unwrap().map(|node| *node).collect()), expected);
    assert_eq!(sorted(boxes.into_iter().map(|b| *b).collect()), expected);
    assert_eq!(sorted(words), expected);
}

/// Whether the kernel, as it was when this program started, has rseq(2) here. Under qemu-user it has not.
fn kernel_has_rseq() -> bool {
    // SAFETY: a flag that no kernel knows: it fails before it looks at the address.
    unsafe { libc::syscall(libc::SYS_rseq, 0, 0, 1 << 30, 0) };
    std::io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL)
}

#[test]
fn the_backend_is_the_kernels_or_says_why_not() {
    let Report { backend, reason, cid } = cyclewise::percpu::backend();
    println!("{}", cyclewise::percpu::backend());
    if kernel_has_rseq() {
        assert_eq!(backend, Backend::Rseq);
    } else {
        let errno = libc::ENOSYS;
        assert_eq!(
            (backend, reason, cid),
            (Backend::Portable, Reason::Refused { errno }, false)
        );
    }
    nothing_is_lost();
}

/// What runs where the kernel has no rseq(2), as under qemu-user. Elsewhere a filter sees to that, in the test below.
#[test]
fn without_rseq_the_portable_backend_runs() {
    if kernel_has_rseq() {
        println!("skipped: this kernel has rseq(2)");
        return;
    }
    portable_slots_do_all();
    println!("ran without rseq(2): {}", backend());
}

/// In a process without sequences: it is said why, and what threads add, keep and count is exact. All of it is in
/// portable slots: no CPU's has anything.
fn portable_slots_do_all() {
    let errno = libc::ENOSYS;
    let refused = Report {
        backend: Backend::Portable,
        reason: Reason::Refused { errno },
        cid: false,
    };
    let says = |report: Report| {
        assert_eq!(report, refused);
        assert!(report.to_string().contains("rseq(2) says errno 38"), "{report}");
    };
    says(backend());
    nothing_is_lost();
    let (counter, list, ring) = (Counter::new(0), FreeList::new(), Ring::<u64, 64>::new());
    let (users, narrow) = (Ref::new(|| ()), PerCpu::<u16>::new());
    (0..64).for_each(|n| list.grow(n).push());
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (counter, list, ring, users, narrow) = (&counter, &list, &ring, &users, &narrow);
            scope.spawn(move || {
                says(backend());
                for n in 0..500 {
                    assert!(users.try_get_live());
                    counter.add(n);
                    narrow.add(1);
                    drop((list.pop(), list.pop()));
                    // A full ring gives the word back; then another one goes.
                    while ring.push(thread << 32 | n as u64).is_err() {
                        counter.add(i64::from(ring.pop().is_some()) << 40);
                    }
                    counter.add(i64::from(ring.pop().is_some()) << 40);
                    users.put();
                }
            });
        }
    });
    assert_eq!(narrow.sum(), 8 * 500);
    let mut left = Vec::new();
    ring.drain(&mut left).unwrap();
    let popped = 8 * 500 - left.len() as i64;
    assert_eq!(counter.sum(), 8 * (0..500).sum::<i64>() + (popped << 40));
    left.sort_unstable();
    left.dedup();
    assert_eq!(left.len() as i64, 8 * 500 - popped, "a word is there twice");
    let mut nodes: Vec<i32> = list.drain().unwrap().map(|node| *node).collect();
    nodes.sort_unstable();
    assert_eq!(nodes, (0..64).collect::<Vec<_>>());
    let all = HITS.sum();
    let of_cpus = (0..).map_while(Slot::of).map(|slot| HITS.get(slot)).sum::<u64>();
    assert_eq!((of_cpus, all > 0), (0, true), "a CPU's slot was used");
    assert!(users.kill().unwrap() && users.is_zero());
}

#[test]
fn without_libcs_registration_we_register() {
    if part().is_some() {
        if kernel_has_rseq() {
            assert_eq!(
                (backend().backend, backend().reason),
                (Backend::Rseq, Reason::Registered)
            );
        }
        nothing_is_lost();
        // Threads come and go: their areas are used again.
        for _ in 0..40 {
            std::thread::spawn(|| HITS.add(1)).join().unwrap();
        }
        println!("{}", backend());
        return;
    }
    again("without_libcs_registration_we_register", "own", "glibc.pthread.rseq=0");
}

#[test]
fn a_thread_that_another_library_registered_uses_portable_slots() {
    #[repr(align(64))]
    struct Theirs([u32; 16]);

    if part().is_some() {
        if !kernel_has_rseq() {
            return;
        }
        // Ours decides first, on this thread, so the process's state is OWN; then a thread comes that is theirs.
        assert_eq!(backend().reason, Reason::Registered);
        HITS.add(1);
        std::thread::spawn(|| {
            let theirs = Box::leak(Box::new(Theirs([0; 16])));
            theirs.0[1] = u32::MAX;
            // SAFETY: an area that is never freed, with the signature of another library.
            let rc = unsafe { libc::syscall(libc::SYS_rseq, theirs.0.as_mut_ptr(), 32, 0, 0x1234_5678) };
            assert_eq!(rc, 0);
            assert_eq!(
                (backend().backend, backend().reason),
                (Backend::Portable, Reason::Foreign)
            );
            for _ in 0..1000 {
                HITS.add(1);
            }
        })
        .join()
        .unwrap();
        assert_eq!(HITS.sum(), 1001);
        nothing_is_lost();
        return;
    }
    again(
        "a_thread_that_another_library_registered_uses_portable_slots",
        "foreign",
        "glibc.pthread.rseq=0",
    );
}

#[cfg(target_arch = "x86_64")]
mod common;

#[cfg(target_arch = "x86_64")]
#[test]
fn under_a_filter_that_says_enosys_portable_slots_are_used() {
    if part().is_some() {
        common::filter::refuse(libc::SYS_rseq, &[], libc::ENOSYS);
        portable_slots_do_all();
        return;
    }
    again(
        "under_a_filter_that_says_enosys_portable_slots_are_used",
        "filtered",
        "glibc.pthread.rseq=0",
    );
}

/// Some filters say that all went well, and do nothing. An area without ids must not be used.
#[cfg(target_arch = "x86_64")]
#[test]
fn under_a_filter_that_lies_portable_slots_are_used() {
    if part().is_some() {
        common::filter::refuse(libc::SYS_rseq, &[], 0);
        portable_slots_do_all();
        return;
    }
    again(
        "under_a_filter_that_lies_portable_slots_are_used",
        "lied to",
        "glibc.pthread.rseq=0",
    );
}

/// Without the kernel's barrier no CPU's threads can be stopped: a steal is refused, and a reference is shared from the
/// beginning. The same where a filter says that it went well.
#[cfg(target_arch = "x86_64")]
#[test]
fn where_nobody_can_be_stopped_nobody_is_stolen_from() {
    const TEST: &str = "where_nobody_can_be_stopped_nobody_is_stolen_from";
    let Some(part) = part() else {
        again(TEST, "38", "");
        again(TEST, "0", "");
        return;
    };
    common::filter::refuse(libc::SYS_membarrier, &[], part.parse().unwrap());
    let list = FreeList::new();
    list.grow(7).push();
    let refused = Slot::all().filter(|&slot| list.steal(slot).is_err()).count();
    let rings = Ring::<u64, 8>::new();
    assert_eq!(rings.push(7), Ok(()));
    let mut out = Vec::new();
    if backend().backend == Backend::Rseq {
        assert_eq!((refused, list.drain().is_err()), (1, true), "the one that has a node");
        let refusal = rings.drain(&mut out).unwrap_err();
        assert!(refusal.to_string().contains("membarrier"), "{refusal}");
        assert!(out.is_empty());
        println!("{refusal}");
    }
    let released = std::sync::atomic::AtomicUsize::new(0);
    let users = Ref::new(|| {
        released.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    });
    for life in 0..3 {
        assert!(users.try_get_live());
        assert_eq!(users.kill(), Ok(true));
        assert!(!users.try_get_live());
        assert_eq!(released.load(std::sync::atomic::Ordering::Relaxed), life);
        users.put();
        assert_eq!(released.load(std::sync::atomic::Ordering::Relaxed), life + 1);
        assert!(users.reinit());
    }
}

/// The C library says that it registers threads, and has not registered the one that decides.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_thread_that_libc_left_out_is_noticed() {
    if part().is_none() {
        again("a_thread_that_libc_left_out_is_noticed", "left out", "");
        return;
    }
    // SAFETY: a C string.
    let offset = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_offset".as_ptr()) }.cast::<isize>();
    if offset.is_null() || !kernel_has_rseq() {
        println!("skipped: the C library registers no areas, or the kernel has none");
        return;
    }
    // SAFETY: the symbol's type.
    let offset = unsafe { *offset };
    // SAFETY: takes nothing. On x86-64 it is the thread pointer.
    let area = unsafe { libc::pthread_self() }.wrapping_add_signed(offset as i64);
    // SAFETY: takes back what the C library registered; nothing in this thread uses it from now on.
    let rc = unsafe { libc::syscall(libc::SYS_rseq, area, 32, 1, 0x5305_3053) };
    assert_eq!(rc, 0, "{}", std::io::Error::last_os_error());
    assert_eq!(
        (backend().backend, backend().reason),
        (Backend::Portable, Reason::LeftOut)
    );
    nothing_is_lost();
}

/// Where we register, a handler may be a thread's first that uses per-CPU data.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_threads_first_use_may_be_a_handlers() {
    extern "C" fn add(_: i32) {
        HITS.add(1);
    }
    if part().is_none() {
        again(
            "a_threads_first_use_may_be_a_handlers",
            "handler",
            "glibc.pthread.rseq=0",
        );
        return;
    }
    // The process's first use is not for handlers.
    println!("{}", backend());
    HITS.add(0);
    // SAFETY: a handler that uses per-CPU words.
    unsafe { libc::signal(libc::SIGUSR1, add as *const () as usize) };
    for _ in 0..200 {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // SAFETY: a signal to this thread.
                unsafe { libc::raise(libc::SIGUSR1) };
                HITS.add(1);
            });
        });
    }
    assert_eq!(HITS.sum(), 400);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_child_of_a_fork_goes_on_with_copies_of_its_own() {
    fn check() {
        let mine = PerCpu::<u64>::new();
        mine.add(5);
        let stop = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                        HITS.add(1);
                        drop(PerCpu::<u64>::new());
                    }
                });
            }
            for _ in 0..50 {
                let end = common::in_child(|| {
                    // The lock of the areas may have been taken by a thread that is not here.
                    let (before, other) = (HITS.sum(), PerCpu::<u64>::new());
                    for _ in 0..1000 {
                        HITS.add(1);
                        other.add(1);
                        mine.add(1);
                    }
                    assert_eq!((HITS.sum() - before, other.sum(), mine.sum()), (1000, 1000, 1005));
                });
                assert_eq!(end, common::End::Well);
            }
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        assert_eq!(mine.sum(), 5, "the children's were theirs");
    }
    if part().is_none() {
        for tunables in ["", "glibc.pthread.rseq=0"] {
            again("a_child_of_a_fork_goes_on_with_copies_of_its_own", "fork", tunables);
        }
        return;
    }
    check();
}

#[cfg(target_arch = "x86_64")]
#[test]
fn gs_leads_to_this_cpus_copy_and_is_not_inherited() {
    use cyclewise::error::Refusal;
    use cyclewise::percpu::Pinned;
    let v = PerCpu::<u64>::new();
    // SAFETY: takes nothing.
    let cpu = unsafe { libc::sched_getcpu() } as u32;
    // SAFETY: nothing here uses GS.
    let pinned = match unsafe { Pinned::enter(cpu) } {
        Ok(pinned) => pinned,
        Err(refusal) => {
            println!("skipped: {refusal}");
            assert!(matches!(
                refusal,
                Refusal::NoGs | Refusal::GsInUse { .. } | Refusal::System { .. }
            ));
            return;
        }
    };
    assert!(pinned.is_confined());
    // SAFETY: as above; it is refused.
    assert!(matches!(unsafe { Pinned::enter(cpu) }, Err(Refusal::GsInUse { .. })));
    pinned.inc(&v);
    pinned.add(&v, 41);
    // A sequence by rseq on the same CPU's copy mixes with it.
    v.add(100);
    assert_eq!(pinned.read(&v), v.get(pinned.slot()));
    // The child inherits the base and the affinity; it has no `Pinned`, and may make one.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // SAFETY: nothing here uses GS.
            let own = unsafe { Pinned::enter(cpu) }.unwrap();
            own.write(&v, own.add_return(&v, 1));
            own.or(&v, 0);
            own.and(&v, !0);
            let found = own.read(&v);
            assert_eq!(own.cmpxchg(&v, found, found), found);
        });
    });
    assert_eq!(v.sum(), 143);
    drop(pinned);
    // SAFETY: as above. The base is as it was, so it can be had again.
    drop(unsafe { Pinned::enter(cpu) }.unwrap());
}

#[cfg(target_arch = "x86_64")]
#[test]
fn signals_whose_handlers_add_lose_nothing() {
    use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
    /// Handlers that have begun, and that have ended.
    static BEGUN: AtomicU64 = AtomicU64::new(0);
    static SEEN: AtomicU64 = AtomicU64::new(0);
    extern "C" fn add(_: i32) {
        BEGUN.fetch_add(1, SeqCst);
        HITS.add(1 << 32);
        BY_CID.add(1 << 32);
        SEEN.fetch_add(1, SeqCst);
    }
    if part().is_none() {
        for tunables in ["", "glibc.pthread.rseq=0"] {
            again("signals_whose_handlers_add_lose_nothing", "signals", tunables);
        }
        return;
    }
    // SAFETY: a handler that uses atomics and per-CPU words.
    unsafe { libc::signal(libc::SIGALRM, add as *const () as usize) };
    let every = libc::timeval { tv_sec: 0, tv_usec: 50 };
    let timer = libc::itimerval {
        it_interval: every,
        it_value: every,
    };
    // SAFETY: reads one timer.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &timer, std::ptr::null_mut()) };
    let mut mine = 0u64;
    while SEEN.load(SeqCst) < 200 {
        for _ in 0..1000 {
            HITS.add(1);
            BY_CID.add(1);
        }
        mine += 1000;
    }
    let never = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let timer = libc::itimerval {
        it_interval: never,
        it_value: never,
    };
    // SAFETY: reads one timer.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &timer, std::ptr::null_mut()) };
    // Another thread may still be in the handler of the last signal. A look counts that no handler has run into.
    let missing = loop {
        let seen = SEEN.load(SeqCst);
        let expected = mine + (seen << 32);
        let missing = (HITS.sum().wrapping_sub(expected), BY_CID.sum().wrapping_sub(expected));
        if BEGUN.load(SeqCst) == seen {
            break missing;
        }
        std::thread::yield_now();
    };
    assert_eq!(missing, (0, 0));
}
