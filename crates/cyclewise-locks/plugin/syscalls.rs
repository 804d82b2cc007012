//! System calls: counted, and looked at where they begin threads and programs, end them, or change what lies where.

use crate::blocks;
use crate::exec;
use crate::image;
use crate::layout::{ARCH_X86_64, END_EXITED, END_UNKNOWN};
use crate::maps;
use crate::sys;
use crate::thread;
use crate::words;
use std::sync::atomic::{AtomicBool, Ordering};

/// Numbers of the calls that are looked at.
pub struct Numbers {
    clone: i64,
    execve: i64,
    execveat: i64,
    exit: i64,
    exit_group: i64,
    mmap: i64,
    mremap: i64,
    munmap: i64,
    prctl: i64,
    rt_sigreturn: i64,
    setresuid: i64,
    setreuid: i64,
    setuid: i64,
    shmat: i64,
}

/// Linux's `arch/x86/entry/syscalls/syscall_64.tbl`.
const X86_64: Numbers = Numbers {
    clone: 56,
    execve: 59,
    execveat: 322,
    exit: 60,
    exit_group: 231,
    mmap: 9,
    mremap: 25,
    munmap: 11,
    prctl: 157,
    rt_sigreturn: 15,
    setresuid: 117,
    setreuid: 113,
    setuid: 105,
    shmat: 30,
};

/// Linux's `include/uapi/asm-generic/unistd.h`.
const AARCH64: Numbers = Numbers {
    clone: 220,
    execve: 221,
    execveat: 281,
    exit: 93,
    exit_group: 94,
    mmap: 222,
    mremap: 216,
    munmap: 215,
    prctl: 167,
    rt_sigreturn: 139,
    setresuid: 147,
    setreuid: 145,
    setuid: 146,
    shmat: 196,
};

const CLONE_VM: u64 = 0x100;
const CLONE_VFORK: u64 = 0x4000;
const PR_SET_NAME: u64 = 15;

/// Whether the sites have been told what they executed before the second thread.
static SECOND_THREAD: AtomicBool = AtomicBool::new(false);

/// For the child of a fork.
pub fn begin_again() {
    SECOND_THREAD.store(false, Ordering::Relaxed);
}

fn numbers() -> &'static Numbers {
    match image::RUN.get() {
        Some(run) if run.arch != ARCH_X86_64 => &AARCH64,
        _ => &X86_64,
    }
}

/// A system call is about to be made.
pub fn before(vcpu: u32, number: i64, arguments: [u64; 5]) {
    let known = numbers();
    thread::with(vcpu, |thread| thread.call(number.cast_unsigned()));
    let [first, second, third, fourth, fifth] = arguments;
    if changes_mappings(known, number) {
        maps::changed();
    } else if number == known.clone && begins_thread(first) {
        second_thread(vcpu);
    } else if number == known.rt_sigreturn {
        thread::with(vcpu, |thread| thread.handler_came_back());
    } else if number == known.prctl && first == PR_SET_NAME {
        let mut name = [0; 16];
        let read = sys::peek(blocks::host(second), &mut name);
        thread::with(vcpu, |thread| thread.rename(&name[..read]));
    } else if [known.setresuid, known.setreuid, known.setuid].contains(&number) {
        image::lock().arena.keep_room();
    } else if number == known.exit {
        if thread::end(vcpu) {
            image::set_end(END_EXITED);
        }
    } else if number == known.exit_group {
        image::set_end(END_EXITED);
    } else if number == known.execve {
        exec::attempt(None, first, [second, third], 0);
    } else if number == known.execveat {
        exec::attempt(Some(first), second, [third, fourth], fifth);
    }
}

/// A system call has been made.
pub fn after(number: i64, result: i64) {
    let known = numbers();
    if changes_mappings(known, number) {
        maps::changed();
    } else if number == known.execve || number == known.execveat {
        // Only a call that failed comes back.
        image::set_end(END_UNKNOWN);
    } else if number == known.clone && result < 0 && thread::lock_pool().has_one() {
        // No second thread came of it.
        SECOND_THREAD.store(false, Ordering::Relaxed);
        if let Some(header) = image::lock().header {
            header.second_thread.store(0, Ordering::Relaxed);
        }
    }
}

fn changes_mappings(known: &Numbers, number: i64) -> bool {
    [known.mmap, known.munmap, known.mremap, known.shmat].contains(&number)
}

/// qemu forks where the kernel would share memory until the child executes something.
fn begins_thread(flags: u64) -> bool {
    flags & CLONE_VM != 0 && flags & CLONE_VFORK == 0
}

/// The first thread asks for the second one: what it has executed, it has executed alone.
fn second_thread(vcpu: u32) {
    words::several_threads();
    if SECOND_THREAD.swap(true, Ordering::Relaxed) {
        return;
    }
    thread::with(vcpu, |thread| {
        blocks::lock().sites.second_thread(|site| thread.executed(site))
    });
    if let Some(header) = image::lock().header {
        // Release: pairs with the reader, which then takes what the sites say.
        header.second_thread.store(1, Ordering::Release);
    }
}
