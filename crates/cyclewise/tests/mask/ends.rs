//! Held signals across fork, exec, the end of a thread and panics.

use crate::common::call;
use crate::common::child::{End, fork, in_child, wait_for};
use crate::common::harness::{Check, checks};
use crate::masking::{COUNT, SEEN, kernel_mask, queue, raise, seen};
use cyclewise::mask::{self, Hold, Info, Signals};
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering::SeqCst;

pub(crate) const CHECKS: &[Check] = checks![
    a_fork_leaves_what_is_recorded_to_the_parent,
    exec_forgets_what_is_recorded,
    what_a_thread_forgot_ends_with_it,
    a_panic_releases,
    a_panic_in_a_handler_aborts,
];

fn a_fork_leaves_what_is_recorded_to_the_parent() {
    let signal = libc::SIGRTMIN();
    Signals::on(signal, &SEEN).unwrap();
    let before = kernel_mask();
    for burst in [1, 40] {
        let hold = mask::hold();
        (0..burst).for_each(|value| queue(signal, value));
        in_child(|| {
            assert!(mask::is_held(), "the child's thread is held as its parent's");
            queue(signal, 99);
            mask::restore(mask::save());
            assert_eq!(seen(), []);
            release_the_parents_hold();
            assert_eq!(seen(), [(signal, 99)], "its own, and none of the parent's");
            assert_eq!(kernel_mask(), before);
        })
        .unwrap();
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
        in_child(|| {
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
        })
        .unwrap();
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
    let child = fork(|| {
        // SAFETY: descriptors of ours.
        unsafe { libc::dup2(writer.as_raw_fd(), 1) };
        // SAFETY: C strings, and a null at the end.
        unsafe { libc::execvp(pointers[0], pointers.as_ptr()) };
        call::_exit(127);
    });
    drop(writer);
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    wait_for(child).unwrap();
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
            // What std says of a panic takes more than its own alternate stack has.
            crate::masking::use_alternate_stack(1 << 20);
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
        assert_eq!(status, Err(End::Signal(libc::SIGABRT)));
    }
}
