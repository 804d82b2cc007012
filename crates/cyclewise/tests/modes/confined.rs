//! Confined mode under load, and its twin: the same load, elided on two CPUs, loses updates.
//!
//! `CYCLEWISE_FLIPS` sets how often the mode is entered and left; a million takes some minutes.

use crate::common::child::{End, in_child, with_two_threads};
use crate::common::cpu::{allowed_cpus, pin, run_before_others};
use crate::common::filter;
use crate::common::harness::{Check, checks};
use crate::common::length::{is_long, rounds};
use crate::common::ring;
use crate::common::sanitizer::is_asan;
use crate::common::text::poke;
use cyclewise::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use cyclewise::error::Refusal;
use cyclewise::patch::{self, Mode, Prefix, confined, sites, state};
use std::sync::atomic;
use std::time::Duration;

/// How often the twin tries to lose updates.
const TRIES: u32 = 100;
/// Divisor of the flips where each waits for the scheduler's tick.
const SLOWER: u64 = 100;
/// How long the mode is kept now and then, so that the load runs in each mode.
const REST: Duration = Duration::from_micros(50);
/// How often a signal arrives meanwhile.
const SIGNAL_EVERY_US: i64 = 200;
/// Enough threads to keep two CPUs busy while one of them flips.
const THREADS: u64 = 3;

pub(crate) const CHECKS: &[Check] = checks![
    entering_confines_and_elides,
    threads_created_inside_are_confined_and_widened,
    a_pinned_thread_stays_pinned,
    a_refusal_names_the_call,
    a_thread_that_seems_confined_is_confined,
    a_thread_of_io_uring_may_be_elsewhere,
    a_membarrier_that_is_not_made_is_refused,
    threads_created_while_the_mode_is_left_are_widened,
    another_namespaces_proc_is_refused,
    a_fork_that_had_begun_before_the_mode,
    beside_threads_one_call_writes_one_page,
    twin_alone_one_call_writes_several_pages,
    a_second_guard_is_refused,
    a_forgotten_guard_has_a_way_out,
    a_cpu_that_is_not_there_is_refused,
    a_guard_that_cannot_leave_keeps_the_mode,
    a_child_forked_inside_is_alone,
    helpers_of_the_c_library_are_refused,
    without_hooks_there_is_no_mode,
    a_child_forked_during_a_change_goes_on,
    no_update_is_lost_while_the_mode_flips,
    twin_elided_on_two_cpus_loses_updates,
];

/// Has thread creation watched, with LOCK in force.
fn watch() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        // SAFETY: these checks create threads through the C library only.
        let _ = unsafe { crate::enable() };
        patch::lock().unwrap();
    });
}

fn enter(cpu: Option<usize>) -> Result<confined::Guard, Refusal> {
    watch();
    // SAFETY: only the library sets affinities in the mode, and no atomics are shared with other processes.
    let entered = || unsafe { confined::enter(cpu.map(|cpu| cpu as u32)) };
    // A busy machine may leave a creator waiting for its CPU for seconds.
    let mut outcomes = std::iter::repeat_with(entered).take(100);
    outcomes
        .find(|outcome| !matches!(outcome, Err(Refusal::Unstable)))
        .unwrap_or(Err(Refusal::Unstable))
}

fn all(prefix: Prefix) -> bool {
    sites().all(|site| site.prefix() == prefix)
}

fn entering_confines_and_elides() {
    let before = allowed_cpus();
    for &cpu in &before {
        let guard = enter(Some(cpu)).unwrap();
        assert_eq!(guard.cpu() as usize, cpu);
        assert_eq!((allowed_cpus(), state().mode), (vec![cpu], Mode::Confined));
        assert!(all(Prefix::Elided));
        guard.leave().unwrap();
        assert_eq!((allowed_cpus(), state().mode), (before.clone(), Mode::Locked));
        assert!(all(Prefix::Lock));
    }
    drop(enter(None).unwrap());
    assert_eq!((allowed_cpus(), state().mode), (before, Mode::Locked));
}

fn threads_created_inside_are_confined_and_widened() {
    let before = allowed_cpus();
    let (ask, asked) = std::sync::mpsc::channel::<()>();
    let (answer, answers) = std::sync::mpsc::channel();
    let guard = enter(None).unwrap();
    let cpu = guard.cpu() as usize;
    let thread = std::thread::spawn(move || {
        for () in asked {
            answer.send(allowed_cpus()).unwrap();
        }
    });
    ask.send(()).unwrap();
    assert_eq!(answers.recv().unwrap(), [cpu]);
    guard.leave().unwrap();
    ask.send(()).unwrap();
    assert_eq!(answers.recv().unwrap(), before);
    drop(ask);
    thread.join().unwrap();
}

/// It never runs code of this program. `leaving_says_that_a_thread_was_let_out` is the twin, with a thread of the program.
fn a_thread_of_io_uring_may_be_elsewhere() {
    let [here, elsewhere, ..] = allowed_cpus()[..] else {
        return println!("skipped: this needs two CPUs");
    };
    let Some(before) = ring::polled(Some(elsewhere)) else {
        return;
    };
    let guard = enter(Some(here)).unwrap();
    let inside = ring::polled(Some(elsewhere));
    assert!(inside.is_some());
    let set = |tid: i32| {
        // SAFETY: all zeroes is a set.
        let mut cpus = unsafe { std::mem::zeroed::<libc::cpu_set_t>() };
        // SAFETY: the kernel writes one set.
        unsafe { libc::sched_getaffinity(tid, size_of_val(&cpus), &raw mut cpus) };
        // SAFETY: a CPU that the process may use, and a set.
        unsafe { libc::CPU_ISSET(elsewhere, &cpus) }
    };
    let listed = || {
        let names = std::fs::read_dir("/proc/self/task").unwrap();
        names.map(|name| name.unwrap().file_name().to_str().unwrap().parse::<i32>().unwrap())
    };
    // They move there by themselves when they first run.
    while listed().filter(|&tid| set(tid)).count() < 2 {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(confined::audit(), Ok(()));
    guard.leave().unwrap();
    assert_eq!(state().mode, Mode::Locked);
    drop((before, inside));
}

/// A thread that was pinned to the mode's CPU stays pinned to it afterwards.
fn a_pinned_thread_stays_pinned() {
    let cpus = allowed_cpus();
    let (ask, asked) = std::sync::mpsc::channel::<()>();
    let (answer, answers) = std::sync::mpsc::channel();
    let pinned_to = cpus[0];
    let thread = std::thread::spawn(move || {
        pin(pinned_to);
        answer.send(allowed_cpus()).unwrap();
        for () in asked {
            answer.send(allowed_cpus()).unwrap();
        }
    });
    assert_eq!(answers.recv().unwrap(), [cpus[0]]);
    for &cpu in &cpus {
        enter(Some(cpu)).unwrap().leave().unwrap();
        ask.send(()).unwrap();
        assert_eq!(answers.recv().unwrap(), [cpus[0]]);
    }
    drop(ask);
    thread.join().unwrap();
}

/// A refusal names the call that failed.
fn a_refusal_names_the_call() {
    watch();
    for (number, call) in [
        (libc::SYS_sched_setaffinity, "sched_setaffinity"),
        // The affinity is read before it is set, so each call is refused in turn.
        (libc::SYS_sched_getaffinity, "sched_getaffinity"),
    ] {
        filter::refuse(number, &[], libc::EPERM);
        let errno = libc::EPERM;
        assert_eq!(enter(None).unwrap_err(), Refusal::System { call, errno });
        assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
    }
}

/// The kernel omits CPUs that are offline and may come online. So the affinity is set whatever the kernel reports.
fn a_thread_that_seems_confined_is_confined() {
    watch();
    let cpu = allowed_cpus()[0];
    pin(cpu);
    filter::refuse(libc::SYS_sched_setaffinity, &[], libc::EPERM);
    let refusal = enter(Some(cpu)).unwrap_err();
    assert!(
        matches!(refusal, Refusal::System { errno: libc::EPERM, .. }),
        "{refusal}"
    );
    assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
}

/// A filter may fake the kernel's result, even after the mode was entered and left without a filter.
fn a_membarrier_that_is_not_made_is_refused() {
    watch();
    enter(None).unwrap().leave().unwrap();
    filter::refuse(libc::SYS_membarrier, &[], 0);
    let refusal = enter(None).unwrap_err();
    let expected = Refusal::System {
        call: "membarrier, which a filter answers with 0,",
        errno: libc::ENOSYS,
    };
    assert_eq!(refusal, expected);
    assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
}

/// Repeats its body 4 times.
macro_rules! four_times {
    ($($body:tt)*) => { $($body)* $($body)* $($body)* $($body)* };
}

/// A thousand sites one after the other, so that some are on adjacent pages wherever the linker puts this: an addition
/// takes at least 8 bytes.
#[inline(never)]
fn adds_on_several_pages(word: &AtomicU64) {
    four_times! { four_times! { four_times! { four_times! { four_times! { word.fetch_add(1, Ordering::Relaxed); } } } } }
}

/// Refuses to write more than a page in one call, and the other way to write text. Returns whether the writer would make
/// such a call where it is alone: its calls end at each eighth page, and the kernel chooses where the program lies.
fn refuse_several_pages() -> bool {
    let word = AtomicU64::new(0);
    adds_on_several_pages(&word);
    assert_eq!(word.load(Ordering::Relaxed), 1024);
    let mut pages: Vec<_> = sites().map(|site| site.address() / 4096).collect();
    pages.sort_unstable();
    let adjacent: Vec<_> = pages.windows(2).filter(|pair| pair[1] == pair[0] + 1).collect();
    assert!(!adjacent.is_empty(), "no adjacent pages");
    let longer = filter::If::AtLeast { arg: 2, value: 4097 };
    filter::refuse(libc::SYS_pwrite64, &[longer], libc::EIO);
    filter::refuse_writable_text();
    adjacent.iter().any(|pair| pair[0] / 8 == pair[1] / 8)
}

/// Bytes between sites are written back as they were read. Beside other threads, which may change text without the lock,
/// those are a page's at most.
fn beside_threads_one_call_writes_one_page() {
    watch();
    with_two_threads(|| {
        refuse_several_pages();
        let guard = enter(None).unwrap();
        assert!(all(Prefix::Elided));
        guard.leave().unwrap();
        assert!(all(Prefix::Lock));
    });
}

/// Where no other thread runs, several pages are written in one call, which the same filter refuses.
fn twin_alone_one_call_writes_several_pages() {
    watch();
    let several = refuse_several_pages();
    match enter(None) {
        Err(Refusal::System { call: "mprotect", .. }) => assert!(several),
        Err(refusal) => panic!("{refusal}"),
        Ok(guard) => {
            assert!(!several, "the filter met no such call");
            guard.leave().unwrap();
        }
    }
    assert!(all(Prefix::Lock));
}

/// A thread whose creator was confined when it called `clone`, but no longer when the thread appeared.
fn threads_created_while_the_mode_is_left_are_widened() {
    let rounds = if is_long() { 2_000 } else { 400 };
    const CROWD: usize = 8;
    watch();
    let before = allowed_cpus();
    // Otherwise it would wait until the creator is not creating a thread.
    run_before_others();
    for round in 0..rounds {
        let left = std::sync::RwLock::new(());
        std::thread::scope(|scope| {
            let guard = enter(Some(before[round % before.len()])).unwrap();
            let leaving = left.write().unwrap();
            let creator = scope.spawn(|| {
                let look = |_| {
                    scope.spawn(|| {
                        drop(left.read().unwrap());
                        allowed_cpus()
                    })
                };
                (0..CROWD).map(look).collect::<Vec<_>>()
            });
            std::thread::sleep(REST * (1 + round as u32 % 8));
            guard.leave().unwrap();
            let crowd = creator.join().unwrap();
            drop(leaving);
            for thread in crowd {
                assert_eq!(thread.join().unwrap(), before);
            }
        });
    }
}

/// In a child in its own pid namespace with the parent's `/proc`: the ids listed there are of another namespace, so none
/// of the threads can be confined.
fn another_namespaces_proc_is_refused() {
    watch();
    // SAFETY: takes flags; this process has one thread.
    let rc = unsafe { libc::unshare(libc::CLONE_NEWPID) };
    // SAFETY: takes flags; this process has one thread.
    if rc != 0 && unsafe { libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWPID) } != 0 {
        println!("skipped: no pid namespaces here: {}", std::io::Error::last_os_error());
        return;
    }
    in_child(|| {
        let cpus = allowed_cpus();
        assert_eq!(enter(None).unwrap_err(), Refusal::ForeignProc);
        assert_eq!(patch::reelide(), Err(Refusal::ForeignProc));
        assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
        assert_eq!(allowed_cpus(), cpus);
    })
    .unwrap();
}

/// A fork does not return to atfork handlers that it has already passed.
fn a_fork_that_had_begun_before_the_mode() {
    static FORKING: atomic::AtomicBool = atomic::AtomicBool::new(false);
    static ENTERED: atomic::AtomicBool = atomic::AtomicBool::new(false);
    fn wait_for(flag: &atomic::AtomicBool) {
        while !flag.load(atomic::Ordering::SeqCst) {
            std::thread::sleep(Duration::from_micros(100));
        }
    }
    extern "C" fn in_the_middle_of_fork() {
        FORKING.store(true, atomic::Ordering::SeqCst);
        wait_for(&ENTERED);
    }
    watch();
    // SAFETY: a function that takes nothing.
    let rc = unsafe { libc::pthread_atfork(Some(in_the_middle_of_fork), None, None) };
    assert_eq!(rc, 0);
    std::thread::scope(|scope| {
        let forker = scope.spawn(|| in_child(|| assert_eq!(state().mode, Mode::Single)));
        wait_for(&FORKING);
        let guard = enter(None).unwrap();
        ENTERED.store(true, atomic::Ordering::SeqCst);
        assert_eq!(forker.join().unwrap(), Ok(()));
        guard.leave().unwrap();
    });
}

fn a_second_guard_is_refused() {
    let guard = enter(None).unwrap();
    let refusal = enter(None).unwrap_err();
    assert_eq!(refusal, Refusal::WrongMode);
    assert_eq!(state().mode, Mode::Confined);
    guard.leave().unwrap();
    drop(enter(None).unwrap());
}

fn a_forgotten_guard_has_a_way_out() {
    let before = allowed_cpus();
    assert_eq!(confined::leave(), Err(Refusal::WrongMode));
    std::mem::forget(enter(None).unwrap());
    assert_eq!(enter(None).unwrap_err(), Refusal::WrongMode);
    confined::leave().unwrap();
    assert_eq!((allowed_cpus(), state().mode), (before, Mode::Locked));
    assert_eq!(confined::leave(), Err(Refusal::WrongMode));
    // A guard that was not forgotten after all is none of the next entry.
    let stale = enter(None).unwrap();
    confined::leave().unwrap();
    let guard = enter(None).unwrap();
    drop(stale);
    assert_eq!(state().mode, Mode::Confined);
    guard.leave().unwrap();
    assert_eq!(state().mode, Mode::Locked);
}

fn a_cpu_that_is_not_there_is_refused() {
    let before = allowed_cpus();
    for cpu in [1023, 1 << 20] {
        let refusal = enter(Some(cpu)).unwrap_err();
        assert!(
            matches!(
                refusal,
                Refusal::System {
                    errno: libc::EINVAL,
                    ..
                }
            ),
            "{refusal}"
        );
        assert_eq!(
            (allowed_cpus(), state().mode, state().elided),
            (before.clone(), Mode::Locked, 0)
        );
    }
}

fn a_guard_that_cannot_leave_keeps_the_mode() {
    let guard = enter(None).unwrap();
    let cpu = guard.cpu() as usize;
    let at = sites().next().unwrap().address();
    poke(at, &[0xcc]);
    let stuck = guard.leave().unwrap_err();
    assert!(
        matches!(
            stuck.refusal,
            Refusal::Breakpoint { .. } | Refusal::UnexpectedByte { .. }
        ),
        "{}",
        stuck.refusal
    );
    assert_eq!((allowed_cpus(), state().mode), (vec![cpu], Mode::Confined));
    drop(stuck);
    assert_eq!((allowed_cpus(), state().mode), (vec![cpu], Mode::Confined));
    poke(at, &[0x3e]);
    let again = enter(None).unwrap();
    assert_eq!(again.cpu() as usize, cpu);
    again.leave().unwrap();
    assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
}

fn a_child_forked_inside_is_alone() {
    let before = allowed_cpus();
    let guard = enter(None).unwrap();
    let mut guard = Some(guard);
    in_child(|| {
        assert_eq!((state().mode, state().elided), (Mode::Single, state().sites));
        std::thread::spawn(|| assert!(all(Prefix::Lock))).join().unwrap();
        guard.take().unwrap().leave().unwrap();
        assert_eq!((allowed_cpus(), state().mode), (before.clone(), Mode::Locked));
    })
    .unwrap();
    assert!(all(Prefix::Elided));
    guard.unwrap().leave().unwrap();
    assert_eq!(allowed_cpus(), before);
}

fn helpers_of_the_c_library_are_refused() {
    watch();
    let before = allowed_cpus();
    // SAFETY: an empty list. The C library may keep a thread for it, which is what the check needs.
    unsafe { libc::lio_listio(libc::LIO_NOWAIT, std::ptr::null_mut(), 0, std::ptr::null_mut()) };
    assert_eq!(enter(None).unwrap_err(), Refusal::HelperThreads);
    assert_eq!(
        (allowed_cpus(), state().mode, state().elided),
        (before, Mode::Locked, 0)
    );
}

fn without_hooks_there_is_no_mode() {
    // SAFETY: only the library sets affinities in the mode, and no atomics are shared with other processes.
    let refusal = unsafe { confined::enter(None) }.unwrap_err();
    assert_eq!(refusal, Refusal::NotEnabled);
    assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
}

/// A child forked at any point of a change has a valid mode, creates threads with LOCK, and can change the mode.
fn a_child_forked_during_a_change_goes_on() {
    /// Exit status of a child that was forked while the mode was in force.
    const INSIDE: Result<(), End> = Err(End::Exit(3));
    watch();
    let stop = atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for change in 0_u32.. {
                let guard = enter(None).unwrap();
                // A fork waits for a change of the text to end, so few forks fall between two changes in quick succession.
                if change % 4 == 0 {
                    std::thread::sleep(Duration::from_micros(200));
                }
                guard.leave().unwrap();
                if stop.load(atomic::Ordering::Relaxed) {
                    break;
                }
            }
        });
        let mut outcomes = Vec::new();
        while outcomes.len() < 300 || !outcomes.contains(&INSIDE) {
            let outcome = in_child(|| {
                let mode = state().mode;
                assert!(mode != Mode::Confined, "the affinity may be older than the text");
                assert!(mode == Mode::Single || all(Prefix::Lock), "elided while locked");
                // A thread that ends takes a lock of AddressSanitizer's allocator, which another may have held at the fork.
                if !is_asan() {
                    std::thread::spawn(|| assert!(all(Prefix::Lock))).join().unwrap();
                }
                enter(None).unwrap().leave().unwrap();
                assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
                // SAFETY: ends the child; its status tells when it was forked.
                unsafe { libc::_exit(if mode == Mode::Single { 3 } else { 0 }) };
            });
            assert!(outcome == Ok(()) || outcome == INSIDE, "{outcome:?}");
            outcomes.push(outcome);
        }
        stop.store(true, atomic::Ordering::Relaxed);
        let inside = outcomes.iter().filter(|outcome| **outcome == INSIDE).count();
        println!(
            "{inside} of {} children were forked while the mode was in force",
            outcomes.len()
        );
    });
}

/// Sets the stop flag when dropped, also by a panic: a scope waits for its threads.
struct Stop<'a>(&'a atomic::AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, atomic::Ordering::Relaxed);
    }
}

/// A counter for every kind of site.
#[derive(Default)]
struct Load {
    stop: atomic::AtomicBool,
    byte: AtomicU8,
    short: AtomicU16,
    xadd: AtomicU32,
    exchanged: AtomicU64,
    effect: AtomicUsize,
    tested: AtomicUsize,
    bits: AtomicU64,
    /// Rounds done, counted without sites.
    rounds: atomic::AtomicU64,
    /// Batches of rounds that ended on another CPU than the previous batch.
    moves: atomic::AtomicU64,
}

impl Load {
    /// Runs rounds until the stop flag is set. Each adds one to every counter; only this thread uses `bit`.
    fn work(&self, bit: u32) {
        let mut cpu = -1;
        while !self.stop.load(atomic::Ordering::Relaxed) {
            self.rounds(bit);
            // SAFETY: takes nothing.
            let now = unsafe { libc::sched_getcpu() };
            if now != cpu {
                self.moves.fetch_add(1, atomic::Ordering::Relaxed);
            }
            cpu = now;
        }
    }

    /// Creates threads that do a few rounds each, until the stop flag is set; returns how many.
    fn create(&self, stop: &atomic::AtomicBool) -> u64 {
        let mut created = 0;
        while !stop.load(atomic::Ordering::Relaxed) {
            std::thread::scope(|scope| scope.spawn(|| self.rounds(THREADS as u32)).join()).unwrap();
            created += 1;
        }
        created
    }

    /// A batch of rounds, counted without sites.
    fn rounds(&self, bit: u32) {
        for _ in 0..32 {
            self.byte.fetch_add(1, Ordering::Relaxed);
            self.short.inc(Ordering::Relaxed);
            self.xadd.fetch_sub(1, Ordering::Relaxed);
            self.exchanged
                .fetch_update(Ordering::AcqRel, Ordering::Relaxed, |n| Some(n + 1))
                .unwrap();
            self.effect.add(3, Ordering::Relaxed);
            self.tested.add_negative(1, Ordering::Relaxed);
            self.bits.xor(1 << bit, Ordering::Relaxed);
        }
        self.rounds.fetch_add(32, atomic::Ordering::Relaxed);
    }

    /// Runs the load, pinned to `cpus` in turn where given, until `beside` returns; returns how many kinds lost updates.
    fn lost_beside(cpus: Option<&[usize]>, beside: impl FnOnce(&Load)) -> (u64, Self) {
        let load = Self::default();
        std::thread::scope(|scope| {
            for bit in 0..THREADS as u32 {
                let load = &load;
                scope.spawn(move || {
                    if let Some(cpus) = cpus {
                        pin(cpus[bit as usize % cpus.len()]);
                    }
                    load.work(bit);
                });
            }
            let _stop = Stop(&load.stop);
            beside(&load);
        });
        let rounds = load.rounds.load(atomic::Ordering::Relaxed);
        let differences = [
            u64::from(load.byte.load(Ordering::Relaxed) ^ rounds as u8),
            u64::from(load.short.load(Ordering::Relaxed) ^ rounds as u16),
            u64::from(load.xadd.load(Ordering::Relaxed).wrapping_neg() ^ rounds as u32),
            rounds - load.exchanged.load(Ordering::Relaxed),
            3 * rounds - load.effect.load(Ordering::Relaxed) as u64,
            rounds - load.tested.load(Ordering::Relaxed) as u64,
            // The number of rounds is even, so every bit is restored.
            load.bits.load(Ordering::Relaxed),
        ];
        (differences.iter().filter(|&&d| d != 0).count() as u64, load)
    }
}

/// Signals handled, counted with a site and without one.
static SIGNALLED: (AtomicU64, atomic::AtomicU64) = (AtomicU64::new(0), atomic::AtomicU64::new(0));

extern "C" fn on_alarm(_: i32) {
    SIGNALLED.0.inc(Ordering::Relaxed);
    SIGNALLED.1.fetch_add(1, atomic::Ordering::Relaxed); // Read when the handling threads are joined.
}

/// Sends SIGALRM to the process again and again, or no more; any thread but the calling one gets it.
fn alarm_the_others(every_us: i64) {
    // SAFETY: all zeroes is a valid set.
    let mut set = unsafe { std::mem::zeroed::<libc::sigset_t>() };
    // SAFETY: a local set, and a valid signal.
    assert_eq!(unsafe { libc::sigaddset(&mut set, libc::SIGALRM) }, 0);
    // SAFETY: reads the set.
    let rc = unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut()) };
    assert_eq!(rc, 0);
    // SAFETY: the handler only counts.
    unsafe { libc::signal(libc::SIGALRM, on_alarm as *const () as usize) };
    let every = libc::timeval {
        tv_sec: 0,
        tv_usec: every_us,
    };
    let timer = libc::itimerval {
        it_interval: every,
        it_value: every,
    };
    // SAFETY: a valid interval.
    let rc = unsafe { libc::setitimer(libc::ITIMER_REAL, &timer, std::ptr::null_mut()) };
    assert_eq!(rc, 0);
}

fn no_update_is_lost_while_the_mode_flips() {
    let mut flips = rounds("CYCLEWISE_FLIPS", 10_000, 100_000);
    let cpus = allowed_cpus();
    if cpus.len() < 2 {
        println!("skipped: one CPU, so threads never run in parallel");
        return;
    }
    let start = std::time::Instant::now();
    watch();
    let (lost, load) = Load::lost_beside(None, |load| {
        let stop = atomic::AtomicBool::new(false);
        let created = std::thread::scope(|scope| {
            let creator = scope.spawn(|| load.create(&stop));
            alarm_the_others(SIGNAL_EVERY_US);
            let stopping = Stop(&stop);
            if !run_before_others() {
                println!("SCHED_FIFO is not allowed here: {SLOWER} times fewer flips");
                flips /= SLOWER;
            }
            // As many as requested, and more where a busy machine seldom runs the threads.
            let ran = || {
                let moves = load.moves.load(atomic::Ordering::Relaxed);
                moves > flips / 100 && SIGNALLED.1.load(atomic::Ordering::Relaxed) > 0
            };
            let mut flip = 0;
            while flip < flips || !ran() {
                if flip == flips / 20 {
                    // Most of a change's time is waiting for creators to pause, so not every change has creators.
                    stop.store(true, atomic::Ordering::Relaxed);
                }
                let guard = enter(Some(cpus[flip as usize % cpus.len()])).unwrap();
                if flip % 16 == 0 {
                    std::thread::sleep(REST);
                }
                guard.leave().unwrap();
                if flip % 16 == 8 {
                    std::thread::sleep(REST);
                }
                flip += 1;
            }
            alarm_the_others(0);
            drop(stopping);
            creator.join().unwrap()
        });
        println!("{created} threads were created meanwhile");
    });
    let moves = load.moves.load(atomic::Ordering::Relaxed);
    let rounds = load.rounds.load(atomic::Ordering::Relaxed);
    let signals = SIGNALLED.1.load(atomic::Ordering::Relaxed);
    println!(
        "{flips} flips in {:.1?}, {rounds} rounds, {moves} moves between CPUs, {signals} signals",
        start.elapsed()
    );
    assert_eq!(lost, 0, "kinds of site that lost updates");
    assert_eq!(SIGNALLED.0.load(Ordering::Relaxed), signals, "updates lost by handlers");
    assert_eq!((allowed_cpus(), state().mode), (cpus, Mode::Locked));
}

fn twin_elided_on_two_cpus_loses_updates() {
    let cpus = allowed_cpus();
    if cpus.len() < 2 {
        println!("skipped: one CPU, so nothing can be lost");
        return;
    }
    // Pinned to different CPUs and retried: a busy machine may run the threads on one CPU for a while.
    let mut most = 0;
    for _ in 0..TRIES {
        let (lost, load) = Load::lost_beside(Some(&cpus), |_| {
            sites().for_each(|site| poke(site.address(), &[0x3e]));
            std::thread::sleep(Duration::from_millis(100));
            sites().for_each(|site| poke(site.address(), &[0xf0]));
        });
        most = most.max(lost);
        if lost >= 5 {
            let rounds = load.rounds.load(atomic::Ordering::Relaxed);
            println!("{lost} of 7 kinds of site lost updates in {rounds} rounds");
            return;
        }
    }
    panic!("the harness does not detect lost updates: {most} kinds at most");
}
