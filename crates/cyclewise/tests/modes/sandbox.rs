//! Sandboxes installed before or after single mode is enabled, which refuse calls, fake results, or hide `/proc`: the next
//! thread runs with LOCK, or its creation is refused and the process stays single-threaded.

use crate::common::child::in_child;
use crate::common::cpu::{allowed_cpus, pin};
use crate::common::filter;
use crate::common::harness::{Check, checks};
use crate::common::text::all;
use crate::enable;
use crate::sandboxes::{OPEN, SANDBOXES, Sandbox, cover_proc, pretend_open, pretend_writable_text, refuse_open};
use cyclewise::atomic::{AtomicUsize, Ordering};
use cyclewise::error::Refusal;
use cyclewise::patch::{self, Mode, Prefix, sites, state};
use filter::{If, refuse, refuse_writable_text};

pub(crate) const CHECKS: &[Check] = checks![
    a_late_sandbox_leaves_a_way_to_lock,
    a_late_sandbox_that_kills_is_not_met,
    an_early_sandbox_is_seen_or_endured,
    without_any_way_threads_are_refused,
    a_child_has_a_way_of_its_own,
    twin_a_parents_descriptor_writes_the_parents_text,
    a_child_in_the_sandbox_is_refused,
    a_file_that_took_the_descriptors_number_is_left_alone,
    an_open_that_only_says_so_leaves_standard_input_alone,
    with_lock_in_force_nothing_is_kept,
    confined_mode_is_left_in_a_sandbox,
    confined_mode_is_not_left_without_a_barrier,
    confined_mode_sees_affinities_that_are_lies,
];

static COUNTER: AtomicUsize = AtomicUsize::new(0);

/// Whether a thread could be created. The thread must find LOCK; if it is refused, the process still has one thread.
fn a_thread_runs() -> bool {
    match std::thread::Builder::new().spawn(|| (state().mode, all(Prefix::Lock))) {
        Ok(thread) => {
            assert_eq!(thread.join().unwrap(), (Mode::Locked, true));
            true
        }
        Err(error) => {
            assert_eq!(error.raw_os_error(), Some(libc::EAGAIN));
            assert_eq!(state().mode, Mode::Single);
            COUNTER.inc(Ordering::Relaxed);
            assert_eq!(COUNTER.fetch_sub(1, Ordering::Relaxed), 1);
            false
        }
    }
}

/// Runs `check` in each, in its own child.
fn in_each(sandboxes: &[Sandbox], check: impl Fn(&Sandbox)) {
    let ends_badly = |sandbox: &&Sandbox| in_child(|| check(sandbox)).is_err();
    let bad: Vec<_> = sandboxes.iter().filter(ends_badly).map(|(name, _)| name).collect();
    assert!(bad.is_empty(), "{bad:?}");
}

fn a_late_sandbox_leaves_a_way_to_lock() {
    in_each(SANDBOXES, |(_, sandbox)| {
        enable().unwrap();
        assert!(all(Prefix::Elided));
        sandbox();
        assert!(a_thread_runs(), "refused");
    });
}

/// Sandboxes that kill a process that opens a file, counts threads, makes text writable or sends a barrier: restoring LOCK
/// for a second thread does none of these.
fn a_late_sandbox_that_kills_is_not_met() {
    enable().unwrap();
    for call in [OPEN, libc::SYS_openat, libc::SYS_getdents64, libc::SYS_membarrier] {
        filter::trap(call, &[]);
    }
    filter::trap(libc::SYS_mprotect, &[If::has(2, libc::PROT_EXEC)]);
    assert!(a_thread_runs());
}

/// Where LOCK could be elided, the same way can restore it.
fn an_early_sandbox_is_seen_or_endured() {
    in_each(SANDBOXES, |(name, sandbox)| {
        sandbox();
        let enabled = enable();
        println!("{name}: {enabled:?}");
        let expected = if enabled.is_ok() { Mode::Single } else { Mode::Locked };
        assert_eq!(state().mode, expected);
        assert!(enabled.is_ok() || all(Prefix::Lock));
        assert!(a_thread_runs(), "refused");
    });
}

/// Sandboxes that leave no way: a thread is refused, so none runs while sites are elided.
fn without_any_way_threads_are_refused() {
    let sandboxes: [Sandbox; 4] = [
        ("pwrite and writable text refused", || {
            refuse(libc::SYS_pwrite64, &[], libc::EPERM);
            refuse_writable_text();
        }),
        ("pwrite and writable text only say so", || {
            refuse(libc::SYS_pwrite64, &[], 0);
            pretend_writable_text();
        }),
        ("pread, open and writable text refused", || {
            refuse(libc::SYS_pread64, &[], libc::EPERM);
            refuse_open();
            refuse_writable_text();
        }),
        // A handler could fork while a descriptor is used, and the child would write its parent's text.
        ("blocking of signals only says so, writable text refused", || {
            refuse(libc::SYS_rt_sigprocmask, &[], 0);
            refuse_writable_text();
        }),
    ];
    in_each(&sandboxes, |(_, sandbox)| {
        enable().unwrap();
        sandbox();
        assert!(!a_thread_runs() && !a_thread_runs());
        assert!(all(Prefix::Elided));
    });
    in_each(&sandboxes, |(_, sandbox)| {
        enable().unwrap();
        // A program that will enter such a sandbox does this first.
        patch::lock().unwrap();
        sandbox();
        assert!(a_thread_runs() && a_thread_runs());
    });
}

/// Descriptors that refer to a process's memory.
fn memories() -> Vec<i32> {
    let is_memory = |number: &i32| {
        let path = std::fs::read_link(format!("/proc/self/fd/{number}"));
        path.is_ok_and(|path| path.ends_with("mem") && path.starts_with("/proc"))
    };
    (0..1024).filter(is_memory).collect()
}

/// A child that enters the sandbox itself, like a server's worker, has a descriptor of its own memory, not of its
/// parent's: LOCK is restored in the child and not in the parent.
fn a_child_has_a_way_of_its_own() {
    enable().unwrap();
    assert_eq!(memories().len(), 1);
    in_child(|| {
        assert_eq!((state().mode, all(Prefix::Elided)), (Mode::Single, true));
        assert_eq!(memories().len(), 1, "the parent's memory is within reach");
        refuse_open();
        refuse_writable_text();
        assert!(a_thread_runs());
    })
    .unwrap();
    assert_eq!((state().mode, all(Prefix::Elided)), (Mode::Single, true));
}

/// A child that uses the inherited descriptor without a check.
fn twin_a_parents_descriptor_writes_the_parents_text() {
    use std::os::unix::fs::FileExt;
    let at = sites().next().unwrap().address() as u64;
    let memory = std::fs::File::options()
        .read(true)
        .write(true)
        .open("/proc/self/mem")
        .unwrap();
    let outcome = in_child(|| {
        memory.write_all_at(&[0x3e], at).unwrap();
        assert!(all(Prefix::Lock), "the child's own text is as it was");
    });
    assert_eq!((outcome, all(Prefix::Lock)), (Ok(()), false), "the parent's is not");
    memory.write_all_at(&[0xf0], at).unwrap();
}

/// A parent in the sandbox has no descriptor for its child, whose threads are refused. The parent's are not.
fn a_child_in_the_sandbox_is_refused() {
    enable().unwrap();
    refuse_open();
    refuse_writable_text();
    in_child(|| assert!(!a_thread_runs())).unwrap();
    assert!(all(Prefix::Elided));
    assert!(a_thread_runs());
}

/// A program closes every descriptor and opens files: a file of its own gets our descriptor's number.
fn a_file_that_took_the_descriptors_number_is_left_alone() {
    enable().unwrap();
    let kept = memories();
    // SAFETY: a C string.
    let file = unsafe { libc::memfd_create(c"theirs".as_ptr(), 0) };
    assert!(file >= 0);
    for number in kept.iter().copied().chain(3..1024).filter(|number| *number != file) {
        // SAFETY: replaces only this process's descriptors, on purpose.
        assert_eq!(unsafe { libc::dup2(file, number) }, number);
    }
    // A child closes its parent's descriptor and no other.
    in_child(|| are_open(3..1024)).unwrap();
    refuse_open();
    refuse_writable_text();
    assert!(!a_thread_runs());
    // SAFETY: takes numbers.
    let length = unsafe { libc::lseek(file, 0, libc::SEEK_END) };
    assert_eq!(length, 0, "the file was written to");
    are_open(3..1024);
}

fn are_open(numbers: std::ops::Range<i32>) {
    for number in numbers {
        // SAFETY: takes numbers.
        let flags = unsafe { libc::fcntl(number, libc::F_GETFD) };
        assert!(flags >= 0, "{number} was closed");
    }
}

/// A filter can return 0, which open(2) also returns where standard input was closed.
fn an_open_that_only_says_so_leaves_standard_input_alone() {
    // SAFETY: a C string.
    let file = unsafe { libc::memfd_create(c"input".as_ptr(), 0) };
    // SAFETY: takes numbers.
    assert_eq!(unsafe { libc::dup2(file, 0) }, 0);
    enable().unwrap();
    pretend_open();
    refuse(libc::SYS_pread64, &[], libc::EPERM);
    assert!(a_thread_runs(), "by mprotect");
    assert!(patch::reelide().is_err());
    // SAFETY: takes numbers.
    assert_eq!(unsafe { libc::lseek(0, 0, libc::SEEK_END) }, 0, "written to, or closed");
}

fn with_lock_in_force_nothing_is_kept() {
    assert_eq!(memories(), []);
    enable().unwrap();
    assert_eq!(memories().len(), 1);
    // SAFETY: takes numbers.
    let flags = unsafe { libc::fcntl(memories()[0], libc::F_GETFD) };
    assert_eq!(flags, libc::FD_CLOEXEC, "a program that is started has it");
    patch::lock().unwrap();
    assert_eq!(memories(), []);
    patch::reelide().unwrap();
    assert_eq!(memories().len(), 1);
    assert!(a_thread_runs());
    assert_eq!(memories(), []);
}

/// Threads run, and the mode can be left, although no file can be opened any more.
fn confined_mode_is_left_in_a_sandbox() {
    enable().unwrap();
    // SAFETY: nobody sets affinities here, and no atomics are shared with other processes.
    let guard = unsafe { patch::confined::enter(None) }.unwrap();
    // Affects only threads created from here on, and there are none.
    filter::refuse_proc_mem();
    refuse_writable_text();
    std::thread::spawn(|| assert!(all(Prefix::Elided))).join().unwrap();
    guard.leave().unwrap();
    assert_eq!((state().mode, all(Prefix::Lock)), (Mode::Locked, true));
}

/// Only the barrier makes every CPU fetch LOCK: without it no thread's affinity is widened.
fn confined_mode_is_not_left_without_a_barrier() {
    enable().unwrap();
    let guard = confine().unwrap();
    let cpu = allowed_cpus();
    refuse(libc::SYS_membarrier, &[], libc::EPERM);
    let other = std::thread::spawn(|| std::thread::sleep(std::time::Duration::from_secs(3600)));
    let stuck = guard.leave().unwrap_err();
    assert!(matches!(stuck.refusal, Refusal::System { errno: libc::EPERM, .. }));
    assert_eq!((state().mode, allowed_cpus()), (Mode::Confined, cpu));
    drop((stuck, other));
}

fn confine() -> Result<patch::confined::Guard, Refusal> {
    // SAFETY: nobody sets affinities here, and no atomics are shared with other processes.
    unsafe { patch::confined::enter(None) }
}

/// Threads that are not confined or not listed: LOCK stays, or is restored.
fn confined_mode_sees_affinities_that_are_lies() {
    let early: [Sandbox; 7] = [
        ("sched_setaffinity only says so", || {
            refuse(libc::SYS_sched_setaffinity, &[], 0)
        }),
        ("sched_setaffinity only says so of one CPU", || {
            pin(allowed_cpus()[0]);
            refuse(libc::SYS_sched_setaffinity, &[], 0);
        }),
        ("sched_getaffinity refused", || {
            refuse(libc::SYS_sched_getaffinity, &[], libc::EPERM)
        }),
        ("getdents refused", || refuse(libc::SYS_getdents64, &[], libc::EPERM)),
        ("an empty /proc", cover_proc),
        ("membarrier only says so", || refuse(libc::SYS_membarrier, &[], 0)),
        ("blocking of signals only says so", || {
            refuse(libc::SYS_rt_sigprocmask, &[], 0)
        }),
    ];
    in_each(&early, |(name, sandbox)| {
        enable().unwrap();
        patch::lock().unwrap();
        sandbox();
        let refusal = confine().map(drop).unwrap_err();
        println!("{name}: {refusal}");
        assert_eq!((state().mode, all(Prefix::Lock)), (Mode::Locked, true));
    });
    let late: [Sandbox; 6] = [
        ("sched_setaffinity only says so", || {
            refuse(libc::SYS_sched_setaffinity, &[], 0)
        }),
        ("sched_getaffinity refused", || {
            refuse(libc::SYS_sched_getaffinity, &[], libc::EPERM)
        }),
        ("sched_getaffinity only says so", || {
            refuse(libc::SYS_sched_getaffinity, &[], 0)
        }),
        ("getdents refused", || refuse(libc::SYS_getdents64, &[], libc::EPERM)),
        ("an empty /proc and no writable text", || {
            cover_proc();
            refuse_writable_text();
        }),
        ("blocking of signals refused", || {
            refuse(libc::SYS_rt_sigprocmask, &[], libc::EPERM)
        }),
    ];
    in_each(&late, |(name, sandbox)| {
        enable().unwrap();
        patch::lock().unwrap();
        let guard = confine().unwrap();
        sandbox();
        println!("{name}: {:?}", patch::confined::audit());
        std::thread::spawn(|| patch::confined::check().unwrap()).join().unwrap();
        guard.leave().unwrap();
        assert_eq!((state().mode, all(Prefix::Lock)), (Mode::Locked, true));
    });
}
