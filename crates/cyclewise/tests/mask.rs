//! The soft mask with real signals: what is held, when it is delivered, and what fork, exec, exit and panics make of it.
//!
//! Handlers are state of the process, so each check has a process of its own.

mod process;

use cyclewise::error::Refusal;
use cyclewise::mask::{self, Hold, Info, Masked, Polled, Queue, Signals, Woken};
use process::in_child;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

static COUNT: AtomicU32 = AtomicU32::new(0);
static FLAG: AtomicBool = AtomicBool::new(false);
static SEEN: Masked<Queue<64>> = Masked::new(Queue::new());

macro_rules! checks {
    ($($name:ident),* $(,)?) => { &[$((stringify!($name), $name)),*] };
}

fn main() {
    process::run(checks![
        an_open_thread_is_interrupted_at_once,
        a_held_one_at_the_release,
        holds_nest_and_end_in_any_order,
        save_and_restore_are_the_kernels,
        values_come_in_order_and_whole,
        standard_signals_are_merged,
        what_the_ring_has_no_room_for_the_kernel_keeps,
        a_handler_is_held_too,
        who_was_there_before_is_called_at_once,
        a_handler_for_once_is_called_once,
        who_wanted_no_zombies_gets_none,
        faults_and_others_are_refused,
        a_handler_taken_off_is_gone,
        errno_is_kept,
        a_fork_leaves_what_is_recorded_to_the_parent,
        exec_forgets_what_is_recorded,
        what_a_thread_forgot_ends_with_it,
        a_panic_releases,
        a_panic_in_a_handler_aborts,
        a_masked_value_is_not_taken_twice,
        a_masked_value_is_shared_by_threads_and_handlers,
        calls_are_restarted_or_interrupted,
        a_wait_is_not_slept_through,
        a_wait_sees_descriptors_and_the_time,
    ]);
}

fn raise(signal: i32) {
    // SAFETY: a signal to this thread.
    assert_eq!(unsafe { libc::raise(signal) }, 0);
}

/// A real-time signal with a value to this thread.
fn queue(signal: i32, value: usize) {
    let value = libc::sigval {
        sival_ptr: std::ptr::without_provenance_mut(value),
    };
    // SAFETY: takes nothing.
    let this = unsafe { libc::pthread_self() };
    loop {
        // SAFETY: takes numbers.
        match unsafe { libc::pthread_sigqueue(this, signal, value) } {
            0 => break,
            // The limit of queued signals is the user's: another program may have all of it for a while.
            libc::EAGAIN => std::thread::yield_now(),
            errno => panic!("pthread_sigqueue: errno {errno}"),
        }
    }
}

fn seen() -> Vec<(i32, usize)> {
    let hold = mask::hold();
    let mut seen = SEEN.lock(&hold);
    std::iter::from_fn(|| seen.pop())
        .map(|info| (info.signal(), info.value()))
        .collect()
}

fn kernel_mask() -> Vec<i32> {
    let mut set = std::mem::MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: null asks only; writes one set.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), set.as_mut_ptr()) };
    // SAFETY: filled.
    let set = unsafe { set.assume_init() };
    // SAFETY: a set and a number.
    (1..=64)
        .filter(|&s| unsafe { libc::sigismember(&raw const set, s) } == 1)
        .collect()
}

fn an_open_thread_is_interrupted_at_once() {
    Signals::on(libc::SIGUSR1, &COUNT).unwrap();
    Signals::on(libc::SIGUSR2, &FLAG).unwrap();
    raise(libc::SIGUSR1);
    assert_eq!((COUNT.load(SeqCst), FLAG.load(SeqCst)), (1, false));
    raise(libc::SIGUSR2);
    assert!(FLAG.load(SeqCst) && !mask::is_held());
}

fn a_held_one_at_the_release() {
    Signals::on(libc::SIGUSR1, &COUNT).unwrap();
    let hold = mask::hold();
    assert!(mask::is_held() && !mask::is_pending());
    raise(libc::SIGUSR1);
    assert_eq!(COUNT.load(SeqCst), 0);
    assert!(mask::is_pending());
    drop(hold);
    assert_eq!(COUNT.load(SeqCst), 1);
    assert!(!mask::is_held() && !mask::is_pending());
}

fn holds_nest_and_end_in_any_order() {
    Signals::on(libc::SIGUSR1, &COUNT).unwrap();
    let (first, second, third) = (mask::hold(), mask::hold(), mask::hold());
    raise(libc::SIGUSR1);
    drop(first);
    drop(third);
    assert_eq!(COUNT.load(SeqCst), 0);
    drop(second);
    assert_eq!(COUNT.load(SeqCst), 1);
}

fn save_and_restore_are_the_kernels() {
    Signals::on(libc::SIGUSR1, &COUNT).unwrap();
    let outer = mask::save();
    let inner = mask::save();
    assert!(!outer.are_held() && inner.are_held());
    raise(libc::SIGUSR1);
    mask::restore(inner);
    assert_eq!(COUNT.load(SeqCst), 0, "restoring held does nothing");
    let guard = mask::hold();
    mask::restore(outer);
    assert_eq!(COUNT.load(SeqCst), 0, "a guard keeps its hold");
    drop(guard);
    assert_eq!(COUNT.load(SeqCst), 1);
}

fn is_ours(info: &Info, _: &Hold) {
    // SAFETY: takes nothing.
    let user = unsafe { libc::getuid() };
    let ours = info.sender() as u32 == std::process::id() && info.user() == user;
    FLAG.store(ours && info.code() == libc::SI_QUEUE, SeqCst);
}

fn values_come_in_order_and_whole() {
    let (low, high) = (libc::SIGRTMIN(), libc::SIGRTMIN() + 3);
    Signals::on(low, &SEEN).unwrap();
    Signals::on(high, &SEEN).unwrap();
    let hold = mask::hold();
    for (signal, value) in [(high, 1), (low, 2), (low, 3), (high, usize::MAX)] {
        queue(signal, value);
    }
    assert_eq!(seen(), []);
    drop(hold);
    // In the order in which the kernel delivered them, which one thread that sends to itself sees.
    assert_eq!(seen(), [(high, 1), (low, 2), (low, 3), (high, usize::MAX)]);
    // SAFETY: asks for numbers and stores.
    unsafe { Signals::call(low + 1, is_ours) }.unwrap();
    let hold = mask::hold();
    queue(low + 1, 0);
    drop(hold);
    assert!(FLAG.load(SeqCst), "the record is the kernel's");
}

fn standard_signals_are_merged() {
    Signals::on(libc::SIGUSR1, &COUNT).unwrap();
    let hold = mask::hold();
    for _ in 0..5 {
        raise(libc::SIGUSR1);
    }
    drop(hold);
    assert_eq!(COUNT.load(SeqCst), 1);
    raise(libc::SIGUSR1);
    assert_eq!(COUNT.load(SeqCst), 2);
}

fn what_the_ring_has_no_room_for_the_kernel_keeps() {
    let signal = libc::SIGRTMIN();
    Signals::on(signal, &SEEN).unwrap();
    Signals::on(libc::SIGUSR1, &COUNT).unwrap();
    let before = kernel_mask();
    for round in 1..4 {
        let hold = mask::hold();
        (0..50).for_each(|value| queue(signal, value));
        raise(libc::SIGUSR1);
        assert_eq!(kernel_mask(), [libc::SIGUSR1, signal], "ours are blocked and no others");
        let overflows = mask::overflows();
        drop(hold);
        assert!(overflows > 0);
        assert!(seen().into_iter().eq((0..50).map(|value| (signal, value))));
        assert_eq!(COUNT.load(SeqCst), round);
        assert_eq!(kernel_mask(), before);
    }
}

/// How often the nested handler ran while it must not, and whether it ran at all.
static NESTED: AtomicU32 = AtomicU32::new(0);

fn a_handler_is_held_too() {
    Signals::on(libc::SIGUSR2, &COUNT).unwrap();
    let handler = |_: &Info, _: &Hold| {
        let before = COUNT.load(SeqCst);
        raise(libc::SIGUSR2);
        drop(mask::hold());
        NESTED.fetch_add(COUNT.load(SeqCst) - before, SeqCst);
    };
    // SAFETY: raise is async-signal-safe.
    unsafe { Signals::call(libc::SIGUSR1, handler) }.unwrap();
    raise(libc::SIGUSR1);
    assert_eq!(COUNT.load(SeqCst), 1, "in the kernel's frame");
    let hold = mask::hold();
    raise(libc::SIGUSR1);
    drop(hold);
    assert_eq!((COUNT.load(SeqCst), NESTED.load(SeqCst)), (2, 0), "in a release");
}

static CONTEXTS: AtomicU32 = AtomicU32::new(0);

extern "C" fn earlier(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel's information.
    let told = unsafe { (*info).si_signo };
    CONTEXTS.fetch_add(u32::from(told == signal && !context.is_null()), SeqCst);
}

extern "C" fn plain(_: i32) {
    CONTEXTS.fetch_add(100, SeqCst);
}

fn install(signal: i32, function: usize, flags: i32) {
    let action = libc::sigaction {
        sa_sigaction: function,
        // SAFETY: all zeroes is an empty set.
        sa_mask: unsafe { std::mem::zeroed() },
        sa_flags: flags,
        sa_restorer: None,
    };
    // SAFETY: one action, of the type its flags say.
    let rc = unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) };
    assert_eq!(rc, 0);
}

fn installed(signal: i32) -> libc::sigaction {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: null asks only; writes one action.
    let rc = unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) };
    assert_eq!(rc, 0);
    // SAFETY: written.
    unsafe { action.assume_init() }
}

fn who_was_there_before_is_called_at_once() {
    install(libc::SIGUSR1, earlier as *const () as usize, libc::SA_SIGINFO);
    install(libc::SIGUSR2, plain as *const () as usize, 0);
    Signals::on(libc::SIGUSR1, &COUNT).unwrap();
    Signals::on(libc::SIGUSR2, &COUNT).unwrap();
    let hold = mask::hold();
    raise(libc::SIGUSR1);
    raise(libc::SIGUSR2);
    assert_eq!((CONTEXTS.load(SeqCst), COUNT.load(SeqCst)), (101, 0));
    drop(hold);
    assert_eq!((CONTEXTS.load(SeqCst), COUNT.load(SeqCst)), (101, 2));
}

fn a_handler_for_once_is_called_once() {
    install(libc::SIGUSR2, plain as *const () as usize, libc::SA_RESETHAND);
    Signals::on(libc::SIGUSR2, &COUNT).unwrap();
    raise(libc::SIGUSR2);
    raise(libc::SIGUSR2);
    assert_eq!((CONTEXTS.load(SeqCst), COUNT.load(SeqCst)), (100, 2));
    // The kernel would have put the default in its place by then, and so do we.
    Signals::off(libc::SIGUSR2).unwrap();
    assert_eq!(installed(libc::SIGUSR2).sa_sigaction, libc::SIG_DFL);
    // One that has not been called is still to be.
    install(libc::SIGUSR2, plain as *const () as usize, libc::SA_RESETHAND);
    Signals::on(libc::SIGUSR2, &COUNT).unwrap();
    Signals::off(libc::SIGUSR2).unwrap();
    raise(libc::SIGUSR2);
    assert_eq!(CONTEXTS.load(SeqCst), 200);
}

/// A child that has exited: whether it waits to be waited for.
fn leaves_a_zombie() -> bool {
    // SAFETY: one thread; the child only ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: ends the child.
        unsafe { libc::_exit(0) };
    }
    loop {
        // SAFETY: the status is not wanted. Without zombies it waits for the child to end, and then says ECHILD.
        let rc = unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
        match (rc, std::io::Error::last_os_error().raw_os_error()) {
            (-1, Some(libc::EINTR)) => {}
            (-1, error) => {
                assert_eq!(error, Some(libc::ECHILD));
                return false;
            }
            _ => return true,
        }
    }
}

fn who_wanted_no_zombies_gets_none() {
    let flags = libc::SA_NOCLDWAIT | libc::SA_NOCLDSTOP;
    install(libc::SIGCHLD, plain as *const () as usize, flags);
    let is_heeded = !leaves_a_zombie();
    Signals::on(libc::SIGCHLD, &COUNT).unwrap();
    assert_eq!(installed(libc::SIGCHLD).sa_flags & flags, flags);
    if is_heeded {
        assert!(!leaves_a_zombie(), "somebody's handler has asked for none");
    } else {
        println!("skipped: zombies; an emulator has them whatever is asked for");
    }
    Signals::off(libc::SIGCHLD).unwrap();
    // The twin: who asked for nothing has them.
    install(libc::SIGCHLD, plain as *const () as usize, 0);
    Signals::on(libc::SIGCHLD, &COUNT).unwrap();
    assert!(leaves_a_zombie());
}

fn faults_and_others_are_refused() {
    for signal in [
        libc::SIGSEGV,
        libc::SIGBUS,
        libc::SIGFPE,
        libc::SIGILL,
        libc::SIGTRAP,
        libc::SIGSYS,
    ] {
        assert_eq!(Signals::on(signal, &COUNT), Err(Refusal::Fault { signal }));
    }
    for signal in [libc::SIGKILL, libc::SIGSTOP, 0, -1, 32, 65, i32::MAX, i32::MIN] {
        let errno = libc::EINVAL;
        assert_eq!(Signals::on(signal, &COUNT), Err(Refusal::Signal { signal, errno }));
    }
    let signal = libc::SIGUSR1;
    assert_eq!(Signals::off(signal), Err(Refusal::SignalNotOurs { signal }));
    Signals::on(signal, &COUNT).unwrap();
    assert_eq!(Signals::on(signal, &FLAG), Err(Refusal::SignalTaken { signal }));
    install(signal, libc::SIG_IGN, 0);
    assert_eq!(Signals::off(signal), Err(Refusal::SignalNotOurs { signal }));
}

fn a_handler_taken_off_is_gone() {
    let signal = libc::SIGUSR2;
    install(signal, plain as *const () as usize, 0);
    for round in 1..4 {
        Signals::on(signal, &COUNT).unwrap();
        raise(signal);
        assert_eq!((COUNT.load(SeqCst), CONTEXTS.load(SeqCst)), (round, 200 * round - 100));
        let hold = mask::hold();
        Signals::off(signal).unwrap();
        raise(signal);
        drop(hold);
        assert_eq!((COUNT.load(SeqCst), CONTEXTS.load(SeqCst)), (round, 200 * round));
    }
}

fn errno_is_kept() {
    let handler = |_: &Info, _: &Hold| {
        // SAFETY: a descriptor that is none.
        unsafe { libc::close(-1) };
    };
    // SAFETY: close is async-signal-safe.
    unsafe { Signals::call(libc::SIGUSR1, handler) }.unwrap();
    // SAFETY: this thread's own.
    let errno = || unsafe { libc::__errno_location() };
    // SAFETY: this thread's own.
    unsafe { *errno() = 77 };
    raise(libc::SIGUSR1);
    let hold = mask::hold();
    raise(libc::SIGUSR1);
    drop(hold);
    // SAFETY: this thread's own.
    assert_eq!(unsafe { *errno() }, 77);
}

fn a_fork_leaves_what_is_recorded_to_the_parent() {
    let signal = libc::SIGRTMIN();
    Signals::on(signal, &SEEN).unwrap();
    let before = kernel_mask();
    for burst in [1, 40] {
        let hold = mask::hold();
        (0..burst).for_each(|value| queue(signal, value));
        let child = in_child(|| {
            assert!(mask::is_held(), "the child's thread is held as its parent's");
            queue(signal, 99);
            mask::restore(mask::save());
            assert_eq!(seen(), []);
            release_the_parents_hold();
            assert_eq!(seen(), [(signal, 99)], "its own, and none of the parent's");
            assert_eq!(kernel_mask(), before);
        });
        assert_eq!(child, 0);
        drop(hold);
        assert!(seen().into_iter().eq((0..burst).map(|value| (signal, value))));
        assert_eq!(kernel_mask(), before);
    }
}

/// What dropping the copy of the parent's guard does, which the child's closure cannot move out.
fn release_the_parents_hold() {
    let guard = mask::hold();
    // SAFETY: a guard has no size; the copy stands for the one in the parent's frame, which the child never drops.
    let copy: Hold = unsafe { std::mem::transmute_copy(&guard) };
    drop(guard);
    drop(copy);
}

fn exec_forgets_what_is_recorded() {
    // A small burst leaves the mask alone; a large one leaves in it what the kernel keeps, as the documentation says.
    for (burst, kept) in [(1, false), (40, true)] {
        let status = in_child(|| {
            let signal = libc::SIGRTMIN() + 1;
            Signals::on(signal, &SEEN).unwrap();
            std::mem::forget(mask::hold());
            (0..burst).for_each(|value| queue(signal, value));
            let out = exec_output(&["grep", "Sig", "/proc/self/status"]);
            let set = |name: &str| {
                let line = out.lines().find(|line| line.starts_with(name)).unwrap();
                u64::from_str_radix(line.split_whitespace().last().unwrap(), 16).unwrap() >> (signal - 1) & 1
            };
            // An emulator keeps its guest's mask to itself, and what is executed here is not its guest.
            if cfg!(target_arch = "x86_64") {
                assert_eq!(set("SigBlk") == 1, kept, "{out}");
            } else {
                println!("skipped: the mask after exec, which qemu-user does not hand on");
            }
            assert_eq!(set("SigCgt"), 0, "{out}");
        });
        assert_eq!(status, 0);
    }
}

/// Forks by hand and calls exec under the hold: std's Command would reset the mask.
fn exec_output(words: &[&str]) -> String {
    use std::io::Read;
    let (mut reader, writer) = std::io::pipe().unwrap();
    let words: Vec<_> = words
        .iter()
        .map(|word| std::ffi::CString::new(*word).unwrap())
        .collect();
    let mut pointers: Vec<_> = words.iter().map(|word| word.as_ptr()).collect();
    pointers.push(std::ptr::null());
    // SAFETY: one thread; the child only duplicates a descriptor and calls exec.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: descriptors of ours.
        unsafe { libc::dup2(writer.as_raw_fd(), 1) };
        // SAFETY: C strings, and a null at the end.
        unsafe { libc::execvp(pointers[0], pointers.as_ptr()) };
        // SAFETY: ends the child.
        unsafe { libc::_exit(127) };
    }
    drop(writer);
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    // SAFETY: our child; the status is not wanted.
    unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
    text
}

fn what_a_thread_forgot_ends_with_it() {
    Signals::on(libc::SIGUSR1, &COUNT).unwrap();
    let thread = std::thread::spawn(|| {
        std::mem::forget(mask::hold());
        raise(libc::SIGUSR1);
        assert!(mask::is_pending());
    });
    thread.join().unwrap();
    assert_eq!(COUNT.load(SeqCst), 0);
    // Another thread, maybe in the same memory, begins open; and a guard that is not forgotten delivers at the end.
    let thread = std::thread::spawn(|| {
        assert!(!mask::is_held() && !mask::is_pending());
        let _hold = mask::hold();
        raise(libc::SIGUSR1);
    });
    thread.join().unwrap();
    assert_eq!(COUNT.load(SeqCst), 1);
}

fn a_panic_releases() {
    Signals::on(libc::SIGUSR1, &COUNT).unwrap();
    let caught = std::panic::catch_unwind(|| {
        let _outer = mask::hold();
        let _inner = mask::hold();
        raise(libc::SIGUSR1);
        std::panic::resume_unwind(Box::new(()));
    });
    assert!(caught.is_err() && !mask::is_held());
    assert_eq!(COUNT.load(SeqCst), 1);
}

fn a_panic_in_a_handler_aborts() {
    for held in [false, true] {
        let status = in_child(|| {
            // SAFETY: it does not return.
            unsafe {
                Signals::call(libc::SIGUSR1, |_: &Info, _: &Hold| {
                    std::panic::resume_unwind(Box::new(()))
                })
            }
            .unwrap();
            let hold = held.then(mask::hold);
            raise(libc::SIGUSR1);
            drop(hold);
        });
        assert_eq!(status, 128 + libc::SIGABRT);
    }
}

fn a_masked_value_is_not_taken_twice() {
    let value = Masked::new(7);
    let hold = mask::hold();
    let mut guard = value.lock(&hold);
    *guard += 1;
    let twice = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(value.lock(&hold))));
    assert!(twice.is_err());
    drop(guard);
    assert_eq!(*value.lock(&hold), 8);
    assert_eq!(value.into_inner(), 8);
}

static SUM: Masked<(u64, u64)> = Masked::new((0, 0));

fn a_masked_value_is_shared_by_threads_and_handlers() {
    const EACH: u64 = 3000;
    let handler = |_: &Info, hold: &Hold| {
        let mut sum = SUM.lock(hold);
        sum.0 += 1;
        std::hint::black_box(&mut *sum);
        sum.1 += 1;
    };
    // SAFETY: the lock's other takers hold signals, so the thread that is interrupted never has it.
    unsafe { Signals::call(libc::SIGRTMIN(), handler) }.unwrap();
    let work = || {
        for _ in 0..EACH {
            queue(libc::SIGRTMIN(), 0);
            let hold = mask::hold();
            let mut sum = SUM.lock(&hold);
            queue(libc::SIGRTMIN(), 0);
            sum.0 += 1;
            std::hint::black_box(&mut *sum);
            sum.1 += 1;
            assert_eq!(sum.0, sum.1);
        }
    };
    std::thread::scope(|scope| (0..3).for_each(|_| drop(scope.spawn(work))));
    let hold = mask::hold();
    assert_eq!(*SUM.lock(&hold), (9 * EACH, 9 * EACH));
}

/// Signals the thread once it sleeps in the call whose number is given.
fn signal_when_asleep(thread: i32, signal: i32) {
    let path = format!("/proc/self/task/{thread}/stat");
    loop {
        let stat = std::fs::read_to_string(&path).unwrap();
        // The state follows the name, which is in brackets.
        if stat.rsplit_once(')').unwrap().1.starts_with(" S") {
            break;
        }
        std::thread::yield_now();
    }
    let process = std::process::id();
    // SAFETY: takes numbers.
    let rc = unsafe { libc::syscall(libc::SYS_tgkill, process, thread, signal) };
    assert_eq!(rc, 0);
}

static SIGNALLED: AtomicUsize = AtomicUsize::new(0);

fn calls_are_restarted_or_interrupted() {
    Signals::on(libc::SIGUSR1, &COUNT).unwrap();
    Signals::on_interrupting(libc::SIGUSR2, &COUNT).unwrap();
    // SAFETY: takes nothing.
    let thread = unsafe { libc::gettid() };
    let (reader, writer) = std::io::pipe().unwrap();
    let read = || {
        let mut byte = 0u8;
        // SAFETY: one byte of ours.
        let rc = unsafe { libc::read(reader.as_raw_fd(), (&raw mut byte).cast(), 1) };
        (rc, std::io::Error::last_os_error().raw_os_error().unwrap_or(0))
    };
    for held in [false, true] {
        let hold = held.then(mask::hold);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                signal_when_asleep(thread, libc::SIGUSR2);
                while SIGNALLED.swap(0, SeqCst) == 0 {
                    std::thread::yield_now();
                }
                signal_when_asleep(thread, libc::SIGUSR1);
                // Asleep again, or on its way there: either way the byte comes after the signal.
                let mut writer = &writer;
                std::io::Write::write_all(&mut writer, &[1]).unwrap();
            });
            assert_eq!(read(), (-1, libc::EINTR));
            SIGNALLED.store(1, SeqCst);
            assert_eq!(read().0, 1, "restarted");
        });
        drop(hold);
    }
    assert_eq!(COUNT.load(SeqCst), 4);
}

fn a_wait_is_not_slept_through() {
    Signals::on(libc::SIGUSR1, &COUNT).unwrap();
    // SAFETY: takes nothing.
    let thread = unsafe { libc::gettid() };
    let before = kernel_mask();
    let hold = mask::hold();
    // Recorded just before: it does not sleep.
    raise(libc::SIGUSR1);
    assert_eq!(hold.wait(&mut [], None), Ok(Woken::Signal));
    assert_eq!(COUNT.load(SeqCst), 0, "the hold stays in force");
    drop(hold);
    assert_eq!(COUNT.load(SeqCst), 1);
    // While it sleeps.
    let hold = mask::hold();
    std::thread::scope(|scope| {
        scope.spawn(|| signal_when_asleep(thread, libc::SIGUSR1));
        assert_eq!(hold.wait(&mut [], None), Ok(Woken::Signal));
    });
    assert_eq!(kernel_mask(), before);
    drop(hold);
    assert_eq!(COUNT.load(SeqCst), 2);
    // More than there is room for: the kernel goes on keeping it.
    Signals::on(libc::SIGRTMIN(), &SEEN).unwrap();
    let hold = mask::hold();
    (0..40).for_each(|value| queue(libc::SIGRTMIN(), value));
    let blocked = kernel_mask();
    assert_eq!(hold.wait(&mut [], None), Ok(Woken::Signal));
    assert_eq!(kernel_mask(), blocked);
    drop(hold);
    assert_eq!(seen().len(), 40);
    assert_eq!(kernel_mask(), before);
}

fn a_wait_sees_descriptors_and_the_time() {
    let (reader, writer) = std::io::pipe().unwrap();
    let hold = mask::hold();
    let mut polled = [
        Polled::new(reader.as_fd(), libc::POLLIN),
        Polled::new(writer.as_fd(), libc::POLLOUT),
    ];
    assert_eq!(
        hold.wait(&mut polled[..1], Some(Duration::from_millis(1))),
        Ok(Woken::Timeout)
    );
    assert_eq!(hold.wait(&mut polled, Some(Duration::MAX)), Ok(Woken::Ready(1)));
    assert_eq!(polled.map(|polled| polled.happened()), [0, libc::POLLOUT]);
    // A handler of somebody else's ends it too, and says so.
    install(libc::SIGUSR2, plain as *const () as usize, 0);
    // SAFETY: takes nothing.
    let thread = unsafe { libc::gettid() };
    std::thread::scope(|scope| {
        scope.spawn(|| signal_when_asleep(thread, libc::SIGUSR2));
        assert_eq!(hold.wait(&mut [], None), Ok(Woken::Interrupted));
    });
    assert_eq!(CONTEXTS.load(SeqCst), 100);
}
