//! Eliding as soon as other threads cannot run, each check in its own process: joined threads that the kernel still lists
//! are no reason to refuse, and threads whose work is done but that still run are one.
//!
//! `CYCLEWISE_JOINS` sets how many threads are created, joined and followed by eliding.

use crate::common::call;
use crate::common::child::{self, wait_for};
use crate::common::filter;
use crate::common::harness::{Check, checks};
use crate::common::length::rounds;
use crate::common::ring;
use crate::common::signal;
use crate::common::until;
use crate::enable;
use cyclewise::atomic::{AtomicUsize, Ordering};
use cyclewise::error::Refusal;
use cyclewise::patch::{self, Mode, Prefix, sites, state};
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::os::unix::thread::JoinHandleExt;
use std::sync::atomic::{AtomicBool, AtomicI32};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

static COUNTER: AtomicUsize = AtomicUsize::new(0);

pub(crate) const CHECKS: &[Check] = checks![
    a_joined_thread_is_no_refusal,
    many_joined_threads_are_no_refusal,
    twin_later_signs_come_after_the_join,
    a_name_is_no_flag,
    a_thread_of_io_uring_is_no_refusal,
    twin_a_thread_that_blocks_signals_is_a_refusal,
    a_thread_that_still_runs_destructors_is_a_refusal,
    a_scope_does_not_wait_for_the_end,
    no_update_is_lost_beside_threads_that_end,
    a_main_thread_that_has_ended_is_no_refusal,
    a_main_thread_that_has_ended_needs_no_membarrier,
    older_threads_that_leave_do_not_hide_the_caller,
    a_thread_stopped_at_its_exit_is_a_refusal_and_a_zombie_is_none,
];

fn elided() -> bool {
    state().mode == Mode::Single && sites().all(|site| site.prefix() == Prefix::Elided)
}

fn refused(outcome: Result<(), Refusal>) -> bool {
    match outcome {
        Ok(()) => false,
        Err(Refusal::OtherThreads { .. }) => true,
        Err(other) => panic!("{other}"),
    }
}

/// The state and the flags of a thread, as proc_pid_stat(5) has them; `None` where it is not listed.
fn state_and_flags(tid: i32) -> Option<(char, u64)> {
    let line = std::fs::read(format!("/proc/self/task/{tid}/stat")).ok()?;
    let line = String::from_utf8_lossy(&line).into_owned();
    let mut fields = line[line.rfind(')')? + 2..].split(' ');
    Some((fields.next()?.chars().next()?, fields.nth(5)?.parse().ok()?))
}

fn joins() -> u32 {
    rounds("CYCLEWISE_JOINS", 2_000, 10_000) as u32
}

/// Joins by polling, which finds the thread still in the kernel's exit more often than to be woken does.
fn poll<T>(thread: JoinHandle<T>) {
    let thread = thread.into_pthread_t();
    // SAFETY: a thread that is neither joined nor detached, and not joined again.
    while unsafe { libc::pthread_tryjoin_np(thread, std::ptr::null_mut()) } != 0 {
        // Not spinning: the thread may need this CPU.
        thread::yield_now();
    }
}

fn a_joined_thread_is_no_refusal() {
    enable().unwrap();
    let begun = Instant::now();
    for round in 0..joins() {
        let thread = thread::spawn(|| COUNTER.inc(Ordering::Relaxed));
        if round % 2 == 0 {
            thread.join().unwrap();
        } else {
            poll(thread);
        }
        patch::reelide().unwrap_or_else(|refusal| panic!("thread {round}: {refusal}"));
        COUNTER.inc(Ordering::Relaxed);
    }
    assert_eq!(COUNTER.load(Ordering::Relaxed), 2 * joins() as usize);
    println!("{} threads joined, none a refusal, in {:.1?}", joins(), begun.elapsed());
}

/// They end at once, and are in all phases of their end when the last join returns.
fn many_joined_threads_are_no_refusal() {
    enable().unwrap();
    for _ in 0..20 {
        let barrier = std::sync::Arc::new(std::sync::Barrier::new(100));
        let wait = |_| {
            let barrier = barrier.clone();
            thread::spawn(move || barrier.wait())
        };
        for thread in (0..100).map(wait).collect::<Vec<_>>() {
            thread.join().unwrap();
        }
        patch::reelide().unwrap();
        assert!(elided());
    }
}

/// The kernel lists it while the ring is open, and for some time after that.
fn a_thread_of_io_uring_is_no_refusal() {
    let Some(ring) = ring::polled(None) else { return };
    let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
    assert!(threads() > 1);
    enable().unwrap();
    assert!(elided() && threads() > 1);
    let beside = thread::spawn(|| state().elided).join().unwrap();
    assert_eq!(beside, 0);
    patch::reelide().unwrap();
    assert!(elided());
    patch::lock().unwrap();
    drop(ring);
    patch::reelide().unwrap();
    assert!(elided());
}

/// The twin: a thread of the program that blocks what those of the kernel block.
fn twin_a_thread_that_blocks_signals_is_a_refusal() {
    enable().unwrap();
    let (blocks, blocked) = mpsc::channel();
    let (end, ended) = mpsc::channel::<()>();
    let other = thread::spawn(move || {
        signal::mask(libc::SIG_BLOCK, signal::EVERY);
        blocks.send(()).unwrap();
        ended.recv().unwrap_err();
    });
    blocked.recv().unwrap();
    assert!(refused(patch::reelide()));
    drop(end);
    other.join().unwrap();
    patch::reelide().unwrap();
}

/// A thread whose end takes the kernel milliseconds after its joiner was woken: a file of its own goes with it.
fn with_a_large_file() {
    const SIZE: libc::off_t = 32 << 20;
    // A container may refuse any of these. Then the end is short, and its late signs are seen less often.
    if call::unshare(libc::CLONE_FILES) != 0 {
        return;
    }
    // SAFETY: a C string.
    let file = unsafe { libc::memfd_create(c"joined".as_ptr(), 0) };
    if file >= 0 {
        // SAFETY: takes numbers.
        unsafe { libc::posix_fallocate(file, 0, SIZE) };
    }
}

/// What other signs say when a join has returned: the state of a zombie, and absence from the list. Whether they are seen to
/// be late depends on the machine; that eliding does not wait for them does not.
fn twin_later_signs_come_after_the_join() {
    enable().unwrap();
    let (mut listed, mut no_zombie) = (0, 0);
    let rounds = 50;
    for _ in 0..rounds {
        let (send, receive) = mpsc::channel();
        let thread = thread::spawn(move || {
            with_a_large_file();
            send.send(call::gettid())
        });
        let tid = receive.recv().unwrap();
        poll(thread);
        if let Some((state, flags)) = state_and_flags(tid) {
            listed += 1;
            no_zombie += u32::from(!matches!(state, 'Z' | 'X'));
            assert_ne!(flags & 4, 0, "PF_EXITING came after the join");
        }
        patch::reelide().unwrap();
        assert!(elided());
    }
    println!("of {rounds} joined threads, {listed} were still listed, {no_zombie} of them not as zombies");
}

/// A name may look like the rest of the kernel's line.
fn a_name_is_no_flag() {
    enable().unwrap();
    for name in [c") X 4 4 4 4 4 4", c"(((", c")))) 4 4", c"\n1 (x) Z 4", c""] {
        let (told, tell) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let thread = thread::spawn(move || {
            // SAFETY: a C string.
            unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) };
            told.send(()).unwrap();
            ended.recv()
        });
        tell.recv().unwrap();
        assert!(refused(patch::reelide()), "{name:?}");
        drop(end);
        let _ = thread.join();
        // SAFETY: a C string.
        unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) };
        patch::reelide().unwrap();
        assert!(elided());
    }
}

/// Announces itself when the thread runs its destructors, and waits there.
struct Lingers;

static LINGERS: AtomicBool = AtomicBool::new(false);
static LET_GO: AtomicBool = AtomicBool::new(false);

impl Drop for Lingers {
    fn drop(&mut self) {
        LINGERS.store(true, Ordering::SeqCst);
        until(|| LET_GO.load(Ordering::SeqCst));
        COUNTER.inc(Ordering::Relaxed);
    }
}

thread_local! {
    static LINGERING: Lingers = const { Lingers };
}

/// Elides again when a thread that nobody joins has ended.
fn reelide_soon() {
    let begun = Instant::now();
    while refused(patch::reelide()) {
        assert!(begun.elapsed() < Duration::from_secs(600), "the thread never ended");
        thread::yield_now();
    }
}

fn lingers_and_is_let_go() {
    until(|| LINGERS.load(Ordering::SeqCst));
    for _ in 0..100 {
        assert!(refused(patch::reelide()), "it runs its destructors");
        assert!(!elided());
    }
    LET_GO.store(true, Ordering::SeqCst);
    reelide_soon();
    assert_eq!(COUNTER.load(Ordering::Relaxed), 1);
}

fn a_thread_that_still_runs_destructors_is_a_refusal() {
    enable().unwrap();
    let (send, receive) = mpsc::channel();
    drop(thread::spawn(move || {
        LINGERING.with(|_| ());
        send.send(call::gettid()).unwrap();
    }));
    let tid = receive.recv().unwrap();
    lingers_and_is_let_go();
    assert!(state_and_flags(tid).is_none_or(|(_, flags)| flags & 4 != 0));
}

fn a_scope_does_not_wait_for_the_end() {
    enable().unwrap();
    thread::scope(|scope| drop(scope.spawn(|| LINGERING.with(|_| ()))));
    lingers_and_is_let_go();
}

/// Detached threads add up to their last instruction, in destructors; this one adds as soon as it may elide.
fn no_update_is_lost_beside_threads_that_end() {
    struct Adds;
    impl Drop for Adds {
        fn drop(&mut self) {
            (0..100).for_each(|_| COUNTER.inc(Ordering::Relaxed));
        }
    }
    thread_local! {
        static ADDS: Adds = const { Adds };
    }
    enable().unwrap();
    let rounds = joins().min(10_000) as usize / 10;
    for _ in 0..rounds {
        for _ in 0..2 {
            drop(thread::spawn(|| ADDS.with(|_| ())));
        }
        reelide_soon();
        (0..100).for_each(|_| COUNTER.inc(Ordering::Relaxed));
    }
    assert_eq!(COUNTER.load(Ordering::Relaxed), rounds * 300);
}

/// Ends the process where `work` panics or returns true: the status of one whose first thread has ended is else the last's.
fn decide(work: impl FnOnce() -> bool) {
    let status = match std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)) {
        Ok(false) => return,
        Ok(true) => 0,
        Err(_) => 101,
    };
    call::_exit(status);
}

/// Ends the calling thread, which is the first, as soon as another runs `work`: that begins when this one is a zombie.
fn end_beside(work: impl FnOnce() + Send + 'static) {
    let first = call::gettid();
    let after = move || {
        wait_for_zombie(first);
        work();
        true
    };
    thread::spawn(move || decide(after));
    end_first();
}

fn wait_for_zombie(first: i32) {
    until(|| state_and_flags(first).unwrap().0 == 'Z');
}

fn end_first() {
    // SAFETY: ends this thread and nothing else. Nothing on its stack is used by another.
    unsafe { libc::syscall(libc::SYS_exit, 101) };
}

fn a_main_thread_that_has_ended_is_no_refusal() {
    enable().unwrap();
    end_beside(|| {
        for _ in 0..100 {
            patch::reelide().unwrap();
            assert!(elided());
            thread::spawn(|| assert!(!elided())).join().unwrap();
        }
    });
}

cyclewise::static_key! {
    static ASKS_AGAIN: StaticKey = false;
}

/// The kernel counts it for as long as the process lives. The key is the twin: a change that asks for that count wants a
/// membarrier.
fn a_main_thread_that_has_ended_needs_no_membarrier() {
    if !filter::are_allowed() {
        return println!("skipped: seccomp filters are refused here");
    }
    enable().unwrap();
    // The thread that stays inherits it.
    filter::refuse(libc::SYS_membarrier, &[], libc::ENOSYS);
    end_beside(|| {
        for _ in 0..100 {
            patch::reelide().unwrap();
            assert!(elided());
            assert!(!ASKS_AGAIN.is_enabled());
            let refusal = ASKS_AGAIN.enable().unwrap_err();
            assert!(refusal.to_string().contains("membarrier"), "{refusal}");
            thread::spawn(|| assert!(!elided())).join().unwrap();
        }
    });
}

/// The kernel's list begins with the oldest thread, and ends early at one that has just left. So each caller here is the
/// youngest: it creates one that ends at once, and the next caller, and ends.
fn older_threads_that_leave_do_not_hide_the_caller() {
    static FIRST: AtomicI32 = AtomicI32::new(0);

    fn go_on(rounds: u32, older: [JoinHandle<()>; 2], own: mpsc::Receiver<JoinHandle<()>>) -> bool {
        wait_for_zombie(FIRST.load(Ordering::SeqCst));
        older.into_iter().for_each(poll);
        patch::reelide().unwrap_or_else(|refusal| panic!("{rounds} rounds before the end: {refusal}"));
        assert!(elided());
        if rounds > 0 {
            begin(rounds - 1, [thread::spawn(|| ()), own.recv().unwrap()]);
        }
        rounds == 0
    }

    fn begin(rounds: u32, older: [JoinHandle<()>; 2]) {
        let (send, receive) = mpsc::channel();
        send.send(thread::spawn(move || decide(|| go_on(rounds, older, receive))))
            .unwrap();
    }

    enable().unwrap();
    FIRST.store(call::gettid(), Ordering::SeqCst);
    begin(joins().min(10_000) / 5, [(); 2].map(|()| thread::spawn(|| ())));
    end_first();
}

fn send(pipe: &mut PipeWriter, number: i32) {
    pipe.write_all(&number.to_ne_bytes()).unwrap();
}

fn receive(pipe: &mut PipeReader) -> i32 {
    let mut number = [0; 4];
    pipe.read_exact(&mut number).unwrap();
    i32::from_ne_bytes(number)
}

/// A tracer stops the thread before its flag is set, and leaves it a zombie for as long as it likes.
fn a_thread_stopped_at_its_exit_is_a_refusal_and_a_zombie_is_none() {
    if !child::may_trace() {
        return println!("skipped: ptrace is refused here");
    }
    let (mut from_tracee, mut to_tracer) = pipe().unwrap();
    let (mut from_tracer, mut to_tracee) = pipe().unwrap();
    let tracee = child::fork(|| {
        enable().unwrap();
        let mut to_thread = to_tracer.try_clone().unwrap();
        let thread = thread::spawn(move || {
            send(&mut to_thread, call::gettid());
            // The tracer is attached.
            receive(&mut from_tracer);
            from_tracer
        });
        static TID: AtomicI32 = AtomicI32::new(0);
        // Until the thread is in the tracer's stop.
        while TID.load(Ordering::SeqCst) == 0 {
            let listed = std::fs::read_dir("/proc/self/task").unwrap();
            let ids = listed.map(|entry| entry.unwrap().file_name().to_str().unwrap().parse().unwrap());
            let stopped =
                |&tid: &i32| tid != call::gettid() && state_and_flags(tid).is_some_and(|(state, _)| state == 't');
            TID.store(ids.into_iter().find(stopped).unwrap_or(0), Ordering::SeqCst);
            thread::yield_now();
        }
        let tid = TID.load(Ordering::SeqCst);
        for _ in 0..100 {
            assert!(refused(patch::reelide()), "a tracer may still do anything with it");
        }
        send(&mut to_tracer, tid);
        drop(thread.join().unwrap());
        patch::reelide().unwrap();
        assert!(elided());
        // The sign that comes too late: the tracer has not waited for it, so it stays in the list.
        assert!(state_and_flags(tid).is_some_and(|(_, flags)| flags & 4 != 0));
        send(&mut to_tracer, tid);
    });
    // So that reading fails where the child has.
    drop(to_tracer);
    let tid = receive(&mut from_tracee);
    let trace = |request, data: i32| {
        // SAFETY: requests that take numbers.
        let rc = unsafe { libc::ptrace(request, tid, 0, libc::c_long::from(data)) };
        assert_eq!(rc, 0, "{}", std::io::Error::last_os_error());
    };
    trace(libc::PTRACE_SEIZE, libc::PTRACE_O_TRACEEXIT);
    send(&mut to_tracee, 0);
    let mut status = 0;
    // SAFETY: writes one integer.
    assert_eq!(unsafe { libc::waitpid(tid, &raw mut status, libc::__WALL) }, tid);
    assert_eq!(status >> 8, libc::SIGTRAP | libc::PTRACE_EVENT_EXIT << 8);
    assert_eq!(receive(&mut from_tracee), tid);
    trace(libc::PTRACE_CONT, 0);
    assert_eq!(receive(&mut from_tracee), tid);
    // SAFETY: writes one integer. Only now the thread leaves the list.
    assert_eq!(unsafe { libc::waitpid(tid, &raw mut status, libc::__WALL) }, tid);
    assert_eq!(wait_for(tracee), Ok(()));
}
