//! Signal handlers at every system call of a change of the text. One handler forks: parent and child each finish the change
//! in their own text, although a descriptor of `/proc/self/mem` opened before the fork refers to the parent's memory in
//! both. The other creates a thread: writes that need a single-threaded process do not happen after it.

use crate::common::call;
use crate::common::child::{self, HANG_S, in_child, trace_me, wait_for};
use crate::common::cpu::allowed_cpus;
use crate::common::harness::{Check, checks};
use crate::common::length::is_long;
use crate::common::signal;
use crate::common::text::all;
use cyclewise::error::Refusal;
use cyclewise::patch::{self, Mode, Prefix, confined, sites, state};
use std::ffi::c_void;
use std::os::unix::fs::FileExt;
use std::ptr::null_mut;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, Ordering::SeqCst};
use std::time::Duration;

pub(crate) const CHECKS: &[Check] = checks![
    a_fork_while_lock_goes_is_no_writer_of_its_parent,
    a_fork_while_lock_comes_is_no_writer_of_its_parent,
    a_fork_while_confined_mode_is_left_widens_no_parent,
    a_fork_while_confined_mode_is_entered_widens_no_parent,
    twin_a_child_that_has_its_parents_list_widens_the_parent,
    a_thread_that_a_handler_creates_sees_no_half_of_a_key,
    twin_a_thread_that_was_there_is_seen_at_the_same_write,
    twin_a_descriptor_from_before_the_fork_writes_the_parent,
];

static COUNTER: cyclewise::atomic::AtomicUsize = cyclewise::atomic::AtomicUsize::new(0);

fn enable() -> Result<(), Refusal> {
    COUNTER.inc(SeqCst);
    crate::enable()
}

/// A word shared between processes, on its own page.
static SHARED: AtomicPtr<AtomicU32> = AtomicPtr::new(null_mut());

fn share_a_word() {
    let (protection, flags) = (
        libc::PROT_READ | libc::PROT_WRITE,
        libc::MAP_SHARED | libc::MAP_ANONYMOUS,
    );
    // SAFETY: a new mapping at any address.
    let page = unsafe { libc::mmap(null_mut(), 4096, protection, flags, -1, 0) };
    assert!(page != libc::MAP_FAILED);
    SHARED.store(page.cast(), SeqCst);
}

fn shared() -> &'static AtomicU32 {
    // SAFETY: `share_a_word` mapped it and never unmaps it; zeroes are a valid atomic.
    unsafe { &*SHARED.load(SeqCst) }
}

/// Set once the parent has finished its change and what follows it.
const OVER: u32 = 1;

/// The result of the handler's fork; -1 before.
static PID: AtomicI32 = AtomicI32::new(-1);

/// `_Fork`, which handlers may call and which calls no atfork handlers, where the C library has it (glibc 2.34).
static FORK: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

fn find_fork() {
    // SAFETY: a C string.
    FORK.store(unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"_Fork".as_ptr()) }, SeqCst);
}

fn fork() -> i32 {
    let found = FORK.load(SeqCst);
    if found.is_null() {
        // SAFETY: there is one thread, and the child does what it likes.
        return unsafe { libc::fork() };
    }
    // SAFETY: `_Fork` takes nothing and returns a number.
    let found = unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn() -> i32>(found) };
    // SAFETY: there is one thread, and the child does what it likes.
    unsafe { found() }
}

/// Forks once. The child stays in the handler until the parent has finished the change.
extern "C" fn forks_once(_: i32) {
    if PID.load(SeqCst) >= 0 {
        return;
    }
    let pid = fork();
    PID.store(pid, SeqCst);
    if pid == 0 {
        call::alarm(HANG_S);
        while shared().load(SeqCst) != OVER {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// The change that a signal interrupts, and its inverse.
#[derive(Clone, Copy)]
struct Change {
    before: fn() -> Result<(), Refusal>,
    change: fn() -> Result<(), Refusal>,
    after: fn() -> Result<(), Refusal>,
    /// What stands everywhere after `after`.
    stands: Prefix,
}

cyclewise::static_key! {
    static KEY: StaticKey = false;
}

extern "C" fn sleeps(_: *mut c_void) -> *mut c_void {
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}

/// Creates a thread that never ends.
extern "C" fn creates(_: i32) {
    let mut id = 0;
    // SAFETY: room for an id, and a function that takes nothing.
    let rc = unsafe { libc::pthread_create(&raw mut id, std::ptr::null(), sleeps, null_mut()) };
    assert_eq!(rc, 0);
}

/// The body of a traced process: flips a key between two stops.
fn flips() {
    // The first flip finds the lists and files, and warms up the allocator.
    KEY.enable().unwrap();
    KEY.disable().unwrap();
    signal::handle(libc::SIGUSR1, creates);
    stop();
    KEY.enable().unwrap();
    stop();
    assert!(KEY.is_enabled());
}

/// The body of a traced process: the change, between two stops, and then a check of whose text the child wrote.
fn changes(it: Change) {
    enable().unwrap();
    (it.before)().unwrap();
    share_a_word();
    signal::handle(libc::SIGUSR1, forks_once);
    stop();
    let changed = (it.change)();
    if PID.load(SeqCst) == 0 {
        // The child's change may be refused, because its process id differs. It is never left half done.
        let found = state();
        assert!(found.elided == 0 || found.elided == found.sites && found.mode != Mode::Locked);
        // The mode it fails to leave is its parent's.
        let _ = leave();
        std::thread::spawn(|| assert!(all(Prefix::Lock))).join().unwrap();
        return;
    }
    changed.unwrap();
    stop();
    (it.after)().unwrap();
    assert!(all(it.stands));
    shared().store(OVER, SeqCst);
    let pid = PID.load(SeqCst);
    if pid > 0 {
        assert_eq!(wait_for(pid), Ok(()), "the child's own check failed");
    }
    assert!(all(it.stands), "the child has written its parent's text");
    assert_eq!(confined::audit(), Ok(()), "the child has widened its parent's thread");
}

fn stop() {
    call::raise(libc::SIGSTOP);
}

struct Traced(i32);

impl Traced {
    /// Forks a child that runs `body`, and waits for its first stop.
    fn start(body: impl FnOnce()) -> Self {
        let pid = child::fork(|| {
            trace_me();
            body();
        });
        let traced = Self(pid);
        assert_eq!(
            traced.wait(),
            Stop::Signal(libc::SIGSTOP),
            "tracing is not allowed here"
        );
        // SAFETY: the child is stopped.
        let rc = unsafe { libc::ptrace(libc::PTRACE_SETOPTIONS, pid, 0, libc::PTRACE_O_TRACESYSGOOD) };
        assert_eq!(rc, 0);
        traced
    }

    fn go(&self, how: libc::c_uint, signal: i32) -> Stop {
        // SAFETY: the child is stopped.
        assert_eq!(unsafe { libc::ptrace(how, self.0, 0, libc::c_long::from(signal)) }, 0);
        self.wait()
    }

    /// Continues it from a stop to its end, delivering all signals except those by which it stops itself.
    fn finish(&self, mut stop: Stop) -> Stop {
        while let Stop::Signal(signal) = stop {
            stop = self.go(libc::PTRACE_CONT, if signal == libc::SIGSTOP { 0 } else { signal });
        }
        stop
    }

    /// Whether it is at a call that writes to a file at an offset, while it has more than one thread.
    fn writes_beside_a_thread(&self) -> bool {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.0)).unwrap().count();
        self.call() == libc::SYS_pwrite64 && threads > 1
    }

    /// The system call at which it stopped.
    #[cfg(target_arch = "x86_64")]
    fn call(&self) -> libc::c_long {
        let mut registers = std::mem::MaybeUninit::<libc::user_regs_struct>::zeroed();
        // SAFETY: the child is stopped; one block of registers.
        let rc = unsafe { libc::ptrace(libc::PTRACE_GETREGS, self.0, 0, registers.as_mut_ptr()) };
        assert_eq!(rc, 0);
        // SAFETY: any bits are registers.
        unsafe { registers.assume_init() }.orig_rax.cast_signed()
    }

    /// No check runs on other architectures.
    #[cfg(not(target_arch = "x86_64"))]
    fn call(&self) -> libc::c_long {
        -1
    }

    fn wait(&self) -> Stop {
        let mut status = 0;
        // SAFETY: our child, and room for its status.
        assert_eq!(unsafe { libc::waitpid(self.0, &raw mut status, 0) }, self.0);
        if !libc::WIFSTOPPED(status) {
            return Stop::End(status);
        }
        match libc::WSTOPSIG(status) {
            signal if signal == libc::SIGTRAP | 0x80 => Stop::Call,
            signal => Stop::Signal(signal),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// At the start or the end of a system call.
    Call,
    Signal(i32),
    End(i32),
}

/// Sends a signal, whose handler forks, at the start and at the end of each system call of the change, each time in a new process. The handler
/// calls fork(3), and then `_Fork` in the same places; in the short form fork(3) at starts and `_Fork` at ends.
fn at_every_call(it: Change) {
    let stride = if is_long() { 1 } else { 2 };
    at_stops((0..).step_by(stride), it);
    find_fork();
    at_stops((stride - 1..).step_by(stride), it);
}

/// Sends the signal at these stops, as far as there are any.
fn at_stops(stops: impl Iterator<Item = usize>, it: Change) {
    let mut calls = 0;
    for at in stops {
        let traced = Traced::start(|| changes(it));
        let mut stop = Stop::Call;
        for _ in 0..=at {
            stop = traced.go(libc::PTRACE_SYSCALL, 0);
            if stop != Stop::Call {
                break;
            }
        }
        let inside = stop == Stop::Call;
        if inside {
            assert_eq!(call::kill(traced.0, libc::SIGUSR1), 0);
            stop = traced.go(libc::PTRACE_CONT, 0);
        }
        assert_eq!(traced.finish(stop), Stop::End(0), "a signal at stop {at}");
        if !inside {
            break;
        }
        calls += 1;
    }
    // Open, query, write and read back: at least these calls.
    assert!(calls >= 4, "{calls}");
}

fn a_fork_while_lock_goes_is_no_writer_of_its_parent() {
    at_every_call(Change {
        before: patch::lock,
        change: patch::reelide,
        after: patch::lock,
        stands: Prefix::Lock,
    });
}

fn a_fork_while_lock_comes_is_no_writer_of_its_parent() {
    at_every_call(Change {
        before: patch::reelide,
        change: patch::lock,
        after: patch::reelide,
        stands: Prefix::Elided,
    });
}

static GUARD: Mutex<Option<confined::Guard>> = Mutex::new(None);

fn enter() -> Result<(), Refusal> {
    // SAFETY: only the library sets affinities in the mode, and no atomics are shared with other processes.
    let guard = unsafe { confined::enter(None) }?;
    *GUARD.lock().unwrap() = Some(guard);
    Ok(())
}

fn leave() -> Result<(), Refusal> {
    let guard = GUARD.lock().unwrap().take();
    guard.map_or(Ok(()), |guard| guard.leave().map_err(|stuck| stuck.refusal))
}

fn a_fork_while_confined_mode_is_left_widens_no_parent() {
    at_every_call(Change {
        before: enter,
        change: leave,
        after: enter,
        stands: Prefix::Elided,
    });
}

fn a_fork_while_confined_mode_is_entered_widens_no_parent() {
    at_every_call(Change {
        before: patch::lock,
        change: enter,
        after: || leave().and_then(|()| enter()),
        stands: Prefix::Elided,
    });
}

/// Leaving as it was before it blocked signals: the check detects it.
fn twin_a_child_that_has_its_parents_list_widens_the_parent() {
    let all = allowed_cpus();
    if all.len() < 2 {
        println!("skipped: one CPU");
        return;
    }
    enable().unwrap();
    enter().unwrap();
    let parent = call::getpid();
    let widens = || {
        // SAFETY: all zeroes is an empty set.
        let mut set = unsafe { std::mem::zeroed::<libc::cpu_set_t>() };
        for &cpu in &all {
            // SAFETY: below CPU_SETSIZE.
            unsafe { libc::CPU_SET(cpu, &mut set) };
        }
        // SAFETY: one set of the size that is passed.
        assert_eq!(unsafe { libc::sched_setaffinity(parent, size_of_val(&set), &set) }, 0);
    };
    in_child(widens).unwrap();
    assert_eq!(confined::audit(), Err(Refusal::LetOut { thread: parent }));
}

/// Flips a key, with a signal at the stop `at`. Returns whether there was such a stop, and whether text was written
/// through the kernel while another thread existed. The kernel may write a key's five-byte sites in any order.
fn is_written_beside_a_thread(at: usize) -> Option<bool> {
    let traced = Traced::start(flips);
    let (mut stop, mut calls, mut sent, mut written) = (Stop::Call, 0, false, false);
    loop {
        let signal = match stop {
            Stop::Signal(signal) => signal,
            _ => 0,
        };
        stop = traced.go(libc::PTRACE_SYSCALL, signal);
        match stop {
            Stop::Call if calls == at => {
                assert_eq!(call::kill(traced.0, libc::SIGUSR1), 0);
                sent = true;
            }
            Stop::Call => {}
            Stop::Signal(libc::SIGSTOP) => break,
            Stop::Signal(_) => {}
            Stop::End(status) => panic!("ended too early: {status}"),
        }
        if stop == Stop::Call {
            calls += 1;
            written |= traced.writes_beside_a_thread();
        }
    }
    assert_eq!(traced.finish(stop), Stop::End(0));
    sent.then_some(written)
}

fn a_thread_that_a_handler_creates_sees_no_half_of_a_key() {
    let stops = (0..).map_while(|at| is_written_beside_a_thread(at).map(|written| assert!(!written, "stop {at}")));
    assert!(stops.count() >= 8);
}

/// The same check of a process that already has another thread when it writes.
fn twin_a_thread_that_was_there_is_seen_at_the_same_write() {
    let traced = Traced::start(|| {
        creates(0);
        let memory = std::fs::OpenOptions::new().write(true).open("/proc/self/mem").unwrap();
        stop();
        let byte = 0_u8;
        memory.write_all_at(&[1], (&raw const byte).addr() as u64).unwrap();
    });
    let mut seen = false;
    while traced.go(libc::PTRACE_SYSCALL, 0) == Stop::Call {
        seen |= traced.writes_beside_a_thread();
    }
    assert!(seen);
}

/// The change as it was before it blocked signals.
fn twin_a_descriptor_from_before_the_fork_writes_the_parent() {
    COUNTER.inc(SeqCst);
    let at = sites().next().unwrap().address() as u64;
    let memory = std::fs::OpenOptions::new().write(true).open("/proc/self/mem").unwrap();
    in_child(|| memory.write_all_at(&[0x3e], at).unwrap()).unwrap();
    assert!(!all(Prefix::Lock), "the check does not see what a child has written");
}
