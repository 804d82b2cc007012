//! Confined mode broken from outside, as by `taskset -ap`: it is detected and reported, and LOCK is restored.

use crate::common::call;
use crate::common::child::in_child;
use crate::common::cpu::{allowed_cpus, cpus_of, set_affinity};
use crate::common::dl;
use crate::common::filter;
use crate::common::harness::{Check, checks};
use crate::common::length::rounds;
use crate::common::sanitizer::is_asan;
use crate::common::text::all;
use crate::single::thrd_create;
use cyclewise::atomic::{AtomicU64, Ordering};
use cyclewise::error::Refusal;
use cyclewise::patch::confined::{self, Guard, audit, check};
use cyclewise::patch::{self, Mode, Prefix, state};
use std::ffi::c_void;
use std::sync::atomic;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

pub(crate) const CHECKS: &[Check] = checks![
    leaving_says_that_a_thread_was_let_out,
    a_thread_on_another_cpu_says_so_itself,
    a_flip_of_a_key_looks,
    a_thread_with_an_affinity_of_its_own_has_lock,
    twin_a_thread_that_moves_itself_finds_no_lock,
    a_dropped_guard_leaves_the_answer_to_check,
    a_cpuset_that_takes_the_cpu_away_is_seen,
    a_thread_that_cannot_be_widened_keeps_no_other,
    a_recycled_id_is_another_thread,
    nothing_is_seen_where_nothing_was_done,
    twin_updates_are_lost_and_a_look_too_late_sees_nothing,
];

cyclewise::static_key! {
    static KEY: StaticKey = false;
}

/// How often the twin tries to lose an update.
const TRIES: u32 = 600;

fn enter(cpu: usize) -> Guard {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let _ = crate::enable();
        patch::lock().unwrap();
    });
    // SAFETY: the checks break the contract on purpose. Values that may have lost updates are used only to count the lost.
    let entered = || unsafe { confined::enter(Some(cpu as u32)) };
    // On a busy machine a creator may wait seconds for its CPU. The check's alarm ends a loop that never succeeds.
    let mut outcomes = std::iter::repeat_with(entered);
    outcomes
        .find(|outcome| !matches!(outcome, Err(Refusal::Unstable)))
        .unwrap()
        .unwrap()
}

/// Sets the process's affinity to two CPUs and returns them; prints a skip where there is only one.
fn two_cpus() -> Option<(usize, usize)> {
    let cpus = allowed_cpus();
    if cpus.len() < 2 {
        println!("skipped: one CPU, so no thread can leave it");
        return None;
    }
    let two = (cpus[0], cpus[1]);
    // Otherwise leaving the mode widens to more CPUs where there are more.
    set_affinity(0, &[two.0, two.1]).unwrap();
    Some(two)
}

/// Sets the affinity of a thread, or of all of the calling process's, from another process.
fn taskset(thread: Option<i32>, cpus: &[usize]) {
    let parent = std::process::id();
    in_child(|| {
        let tasks = std::fs::read_dir(format!("/proc/{parent}/task")).unwrap();
        let ids = tasks.map(|task| task.unwrap().file_name().to_str().unwrap().parse().unwrap());
        for id in ids.filter(|id| thread.is_none_or(|only| only == *id)) {
            match set_affinity(id, cpus) {
                // A thread that has ended may still be listed for a moment.
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                set => set.unwrap(),
            }
        }
    })
    .unwrap();
}

type Look = fn() -> Result<(), Refusal>;

/// A second thread, which runs the checks it is sent.
struct Second {
    id: i32,
    tell: Option<Sender<Look>>,
    answers: Receiver<Result<(), Refusal>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Second {
    fn new() -> Self {
        let (tell, told) = channel::<Look>();
        let (answer, answers) = channel();
        let (say, said) = channel();
        let thread = std::thread::spawn(move || {
            say.send(call::gettid()).unwrap();
            for ask in told {
                answer.send(ask()).unwrap();
            }
        });
        Self {
            id: said.recv().unwrap(),
            tell: Some(tell),
            answers,
            thread: Some(thread),
        }
    }

    fn ask(&self, ask: Look) -> Result<(), Refusal> {
        self.tell.as_ref().unwrap().send(ask).unwrap();
        self.answers.recv().unwrap()
    }
}

impl Drop for Second {
    fn drop(&mut self) {
        self.tell = None;
        self.thread.take().unwrap().join().unwrap();
    }
}

/// Leaving the mode reports the thread that moved, and the returned guard has nothing left to undo.
fn left_as_broken(guard: Guard, thread: i32) {
    let stuck = guard.leave().unwrap_err();
    assert_eq!(stuck.refusal, Refusal::LetOut { thread });
    assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
    let again = enter(allowed_cpus()[0]);
    assert_eq!((check(), audit()), (Ok(()), Ok(())), "errors of an earlier mode");
    stuck.guard.leave().unwrap();
    assert_eq!(state().mode, Mode::Confined, "the mode of another guard");
    again.leave().unwrap();
}

fn leaving_says_that_a_thread_was_let_out() {
    let Some((cpu, other)) = two_cpus() else { return };
    let second = Second::new();
    let guard = enter(cpu);
    assert_eq!((check(), audit()), (Ok(()), Ok(())));
    taskset(Some(second.id), &[cpu, other]);
    assert!(all(Prefix::Elided), "no check has run");
    left_as_broken(guard, second.id);
    // An affinity set from outside stays.
    taskset(None, &[cpu, other]);
    let guard = enter(cpu);
    taskset(None, &[cpu, other]);
    let stuck = guard.leave().unwrap_err();
    assert!(matches!(stuck.refusal, Refusal::LetOut { .. }));
    assert_eq!(allowed_cpus(), [cpu, other]);
}

fn a_thread_on_another_cpu_says_so_itself() {
    let Some((cpu, other)) = two_cpus() else { return };
    let second = Second::new();
    let guard = enter(cpu);
    assert_eq!(second.ask(check), Ok(()));
    taskset(Some(second.id), &[other]);
    let thread = second.id;
    assert_eq!(check(), Ok(()), "this thread is on the mode's CPU");
    assert_eq!(second.ask(check), Err(Refusal::LetOut { thread }));
    assert!(all(Prefix::Lock), "LOCK is restored as soon as it is detected");
    assert_eq!(state().mode, Mode::Confined);
    assert_eq!(
        (check(), audit()),
        (Err(Refusal::LetOut { thread }), Err(Refusal::LetOut { thread }))
    );
    // The affinity is restored, and still reported.
    taskset(Some(second.id), &[cpu]);
    left_as_broken(guard, second.id);
}

fn a_flip_of_a_key_looks() {
    let Some((cpu, other)) = two_cpus() else { return };
    let second = Second::new();
    let guard = enter(cpu);
    KEY.enable().unwrap();
    assert!(all(Prefix::Elided) && KEY.is_enabled());
    taskset(Some(second.id), &[cpu, other]);
    KEY.disable().unwrap();
    assert!(all(Prefix::Lock) && !KEY.is_enabled());
    assert_eq!(check(), Err(Refusal::LetOut { thread: second.id }));
    left_as_broken(guard, second.id);
}

unsafe extern "C" {
    fn pthread_attr_setaffinity_np(attributes: *mut Attributes, size: usize, cpus: *const libc::cpu_set_t) -> i32;
    fn pthread_setattr_default_np(attributes: *const Attributes) -> i32;
}
type Attributes = libc::pthread_attr_t;
type Start = extern "C" fn(*mut c_void) -> *mut c_void;
type Create = unsafe extern "C" fn(*mut libc::pthread_t, *const Attributes, Start, *mut c_void) -> i32;

/// Attributes with the affinity of one CPU.
fn attributes_for(cpu: usize) -> Attributes {
    // SAFETY: all zeroes is an empty set.
    let mut cpus = unsafe { std::mem::zeroed::<libc::cpu_set_t>() };
    // SAFETY: below CPU_SETSIZE.
    unsafe { libc::CPU_SET(cpu, &mut cpus) };
    let mut attributes = std::mem::MaybeUninit::uninit();
    // SAFETY: room for one.
    assert_eq!(unsafe { libc::pthread_attr_init(attributes.as_mut_ptr()) }, 0);
    // SAFETY: initialized above, and one set of the given size.
    let rc = unsafe { pthread_attr_setaffinity_np(attributes.as_mut_ptr(), size_of_val(&cpus), &cpus) };
    assert_eq!(rc, 0);
    // SAFETY: initialized above.
    unsafe { attributes.assume_init() }
}

/// Sites without LOCK that the thread finds, and its CPU, in the numbers of [`seen_by`].
extern "C" fn look(_: *mut c_void) -> *mut c_void {
    let cpu = call::sched_getcpu() as usize;
    std::ptr::without_provenance_mut(state().elided << 16 | cpu)
}

/// The same as C11's function has it.
extern "C" fn look_by_c11(argument: *mut c_void) -> i32 {
    look(argument).addr() as i32
}

/// Creates a thread, and says what it found.
fn seen_by(create: impl FnOnce(*mut libc::pthread_t) -> i32) -> (usize, usize) {
    let (mut id, mut found) = (0, std::ptr::null_mut());
    assert_eq!(create(&raw mut id), 0);
    // SAFETY: created above, joined once.
    assert_eq!(unsafe { libc::pthread_join(id, &raw mut found) }, 0);
    (found.addr() >> 16, found.addr() & 0xffff)
}

/// By attributes, by the default ones, by C11's function, and past the hooks.
fn a_thread_with_an_affinity_of_its_own_has_lock() {
    let Some((cpu, other)) = two_cpus() else { return };
    let next = dl::symbol(libc::RTLD_NEXT, c"pthread_create");
    // SAFETY: the C library's function of that name.
    let next = unsafe { std::mem::transmute::<*mut c_void, Create>(next) };
    let attributes = attributes_for(other);
    let by = |create: Create, attributes| {
        // SAFETY: a place for the id, attributes or none, and a function of the right type.
        seen_by(|id| unsafe { create(id, attributes, look, std::ptr::null_mut()) })
    };
    let by_default = || {
        // SAFETY: initialized attributes.
        assert_eq!(unsafe { pthread_setattr_default_np(&raw const attributes) }, 0);
    };
    let ways: [&dyn Fn() -> (usize, usize); 4] = [
        &|| by(libc::pthread_create, &raw const attributes),
        &|| {
            by_default();
            by(libc::pthread_create, std::ptr::null())
        },
        &|| {
            by_default();
            // SAFETY: a place for the id, and a function of the right type.
            seen_by(|id| unsafe { thrd_create(id, look_by_c11, std::ptr::null_mut()) })
        },
        &|| by(next, &raw const attributes),
    ];
    // AddressSanitizer's runtime gives up where a thread is joined that it has not seen created: those of the last two.
    let seen = if is_asan() { 2 } else { ways.len() };
    for (number, create) in ways.iter().enumerate().take(seen) {
        let outcome = in_child(|| {
            let guard = enter(cpu);
            assert!(all(Prefix::Elided));
            assert_eq!(create().0, 0, "sites without LOCK beside a thread elsewhere");
            assert_eq!((state().mode, state().elided), (Mode::Confined, 0));
            assert_eq!((check(), audit()), (Ok(()), Ok(())));
            guard.leave().unwrap();
            assert_eq!((check(), state().mode), (Ok(()), Mode::Locked));
            if number == 0 {
                enter(cpu).leave().unwrap();
            }
        });
        assert_eq!(outcome, Ok(()), "way {number}");
    }
}

/// The twin: an affinity that the thread sets itself, which the contract excludes, is later than the hook.
fn twin_a_thread_that_moves_itself_finds_no_lock() {
    extern "C" fn move_and_look(other: *mut c_void) -> *mut c_void {
        set_affinity(0, &[other.addr()]).unwrap();
        look(other)
    }
    let Some((cpu, other)) = two_cpus() else { return };
    let guard = enter(cpu);
    let argument = std::ptr::without_provenance_mut(other);
    // SAFETY: a place for the id, no attributes, and a function of the right type.
    let seen = seen_by(|id| unsafe { libc::pthread_create(id, std::ptr::null(), move_and_look, argument) });
    assert!(seen.0 > 0 && seen.1 == other);
    guard.leave().unwrap();
}

fn a_dropped_guard_leaves_the_answer_to_check() {
    let Some((cpu, other)) = two_cpus() else { return };
    let guard = enter(cpu);
    taskset(None, &[cpu, other]);
    drop(guard);
    assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
    assert_eq!(check(), Err(Refusal::LetOut { thread: call::gettid() }));
    enter(cpu).leave().unwrap();
    assert_eq!(check(), Ok(()));
}

/// The process is moved to a cpuset (version 1 or 2) without the mode's CPU.
fn a_cpuset_that_takes_the_cpu_away_is_seen() {
    let Some((cpu, other)) = two_cpus() else { return };
    let Some(cpuset) = Cpuset::alone(other) else { return };
    let guard = enter(cpu);
    if cpuset.take_in() {
        assert_eq!(allowed_cpus(), [other]);
        assert_eq!(check(), Err(Refusal::LetOut { thread: call::gettid() }));
        left_as_broken_elsewhere(guard);
    } else {
        guard.leave().unwrap();
    }
}

fn left_as_broken_elsewhere(guard: Guard) {
    let stuck = guard.leave().unwrap_err();
    assert_eq!(stuck.refusal, Refusal::LetOut { thread: call::gettid() });
    assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
}

/// A cpuset of one CPU, and its parent.
struct Cpuset(std::path::PathBuf);

impl Cpuset {
    fn alone(cpu: usize) -> Option<Self> {
        let root = std::path::Path::new("/sys/fs/cgroup/cpuset");
        let this = Self(root.join(format!("cyclewise-{}", std::process::id())));
        let made = std::fs::create_dir(&this.0)
            .and_then(|()| std::fs::copy(root.join("cpuset.mems"), "/dev/null"))
            .and_then(|_| std::fs::write(this.0.join("cpuset.mems"), std::fs::read(root.join("cpuset.mems"))?))
            .and_then(|()| std::fs::write(this.0.join("cpuset.cpus"), cpu.to_string()));
        match made {
            Ok(()) => Some(this),
            Err(error) => {
                println!("skipped: no cpuset here: {error}");
                None
            }
        }
    }

    /// Moves the calling process there.
    fn take_in(&self) -> bool {
        let moved = std::fs::write(self.0.join("cgroup.procs"), std::process::id().to_string());
        moved
            .inspect_err(|error| println!("skipped: no move to a cpuset: {error}"))
            .is_ok()
    }
}

impl Drop for Cpuset {
    fn drop(&mut self) {
        let _ = std::fs::write("/sys/fs/cgroup/cpuset/cgroup.procs", std::process::id().to_string());
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// As if its cpuset had been removed: here a filter on the leaving thread refuses the call.
fn a_thread_that_cannot_be_widened_keeps_no_other() {
    let Some((cpu, other)) = two_cpus() else { return };
    let threads = [Second::new(), Second::new(), Second::new()];
    let guard = enter(cpu);
    let refused = filter::If::is(0, threads[0].id as u32);
    filter::refuse(libc::SYS_sched_setaffinity, &[refused], libc::EINVAL);
    guard.leave().unwrap();
    assert_eq!(allowed_cpus(), [cpu, other]);
    assert_eq!(threads.each_ref().map(|thread| cpus_of(thread.id).len()), [1, 2, 2]);
}

/// A pinned thread ends inside the mode, and a new one gets its id: it gets the affinity that new threads get.
fn a_recycled_id_is_another_thread() {
    const RECYCLE: &str = "/proc/sys/kernel/ns_last_pid"; // kernel/pid_namespace.c
    let Some((cpu, other)) = two_cpus() else { return };
    // A pid namespace and a /proc of its own.
    if call::unshare(libc::CLONE_NEWPID | libc::CLONE_NEWNS) != 0 {
        return println!("skipped: no pid namespace here: {}", std::io::Error::last_os_error());
    }
    in_child(|| {
        let mount = |kind: *const libc::c_char, at: &std::ffi::CStr, flags| {
            // SAFETY: C strings, or null where the flags want none.
            unsafe { libc::mount(kind, at.as_ptr(), kind, flags, std::ptr::null()) }
        };
        let alone = mount(std::ptr::null(), c"/", libc::MS_REC | libc::MS_PRIVATE);
        if alone != 0 || mount(c"proc".as_ptr(), c"/proc", 0) != 0 || !std::path::Path::new(RECYCLE).exists() {
            return println!("skipped: no /proc of its own: {}", std::io::Error::last_os_error());
        }
        for confined_to in [cpu, other] {
            let stays = Second::new();
            set_affinity(stays.id, &[cpu]).unwrap();
            let first = Second::new();
            set_affinity(first.id, &[cpu]).unwrap();
            let number = first.id;
            let guard = enter(confined_to);
            drop(first);
            // Longer than the kernel's resolution of thread start times.
            std::thread::sleep(Duration::from_millis(50));
            let again = loop {
                // A joined thread may still be listed for a moment.
                std::fs::write(RECYCLE, (number - 1).to_string()).unwrap();
                let thread = Second::new();
                if thread.id == number {
                    break thread;
                }
            };
            guard.leave().unwrap();
            assert_eq!(cpus_of(again.id), [cpu, other], "the newcomer");
            assert_eq!(cpus_of(stays.id), [cpu], "the thread that stayed");
        }
    })
    .unwrap();
}

/// Runs the checks while the mode is entered and left on every CPU, and threads are created.
fn nothing_is_seen_where_nothing_was_done() {
    let wanted = rounds("CYCLEWISE_FLIPS", 250, 1000) as usize;
    // On a busy machine entering often meets threads being created, so fewer rounds must do.
    const ENOUGH: (usize, Duration) = (10, Duration::from_secs(20));
    let started = Instant::now();
    let is_enough = |rounds: usize| rounds >= wanted || (rounds >= ENOUGH.0 && started.elapsed() > ENOUGH.1);
    let cpus = allowed_cpus();
    let over = atomic::AtomicBool::new(false);
    let looks = atomic::AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !over.load(atomic::Ordering::SeqCst) {
                    assert_eq!(check(), Ok(()));
                    assert_eq!(audit(), Ok(()));
                    std::thread::scope(|scope| {
                        scope.spawn(|| assert_eq!(check(), Ok(())));
                    });
                    looks.fetch_add(1, atomic::Ordering::SeqCst);
                }
            });
        }
        let mut round = 0;
        while !is_enough(round) || !is_enough(looks.load(atomic::Ordering::SeqCst) as usize) {
            enter(cpus[round % cpus.len()]).leave().unwrap();
            round += 1;
        }
        over.store(true, atomic::Ordering::SeqCst);
    });
}

/// What the checks are for, and what they miss: affinities that were restored before the first check.
fn twin_updates_are_lost_and_a_look_too_late_sees_nothing() {
    let Some((cpu, other)) = two_cpus() else { return };
    let lost = (0..TRIES).any(|_| {
        let (total, over) = (AtomicU64::new(0), atomic::AtomicBool::new(false));
        let (say, said) = channel();
        let (added, guard) = std::thread::scope(|scope| {
            let add = || {
                say.send(call::gettid()).unwrap();
                let mut added = 0;
                while !over.load(atomic::Ordering::Relaxed) {
                    total.inc(Ordering::Relaxed);
                    added += 1;
                }
                added
            };
            let threads = [scope.spawn(add), scope.spawn(add)];
            let (_, apart) = (said.recv().unwrap(), said.recv().unwrap());
            let guard = enter(cpu);
            taskset(Some(apart), &[other]);
            std::thread::sleep(Duration::from_millis(50));
            taskset(Some(apart), &[cpu]);
            over.store(true, atomic::Ordering::Relaxed);
            (threads.map(|thread| thread.join().unwrap()).iter().sum::<u64>(), guard)
        });
        assert!(guard.leave().is_ok());
        let kept = total.load(Ordering::Relaxed);
        println!("{} of {added} increments were lost", added - kept);
        added != kept
    });
    assert!(lost, "no update was lost in {TRIES} tries");
}
