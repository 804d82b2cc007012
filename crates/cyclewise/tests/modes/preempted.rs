//! A thread stopped exactly at a site: why the elided prefix is a DS override and not a NOP.
//!
//! Random preemption is too rare for a test. Here a child is traced and single-stepped to the first byte of a site. The
//! byte is changed, one step is made, and LOCK is restored as by another thread's creation.

use crate::common::call;
use crate::common::child::{fork, trace_me};
use crate::common::harness::{Check, checks};
use cyclewise::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicUsize, Ordering};
use cyclewise::patch::sites;
use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic};
use std::collections::BTreeSet;
use std::os::unix::fs::FileExt;

pub(crate) const CHECKS: &[Check] = checks![
    a_nop_leaves_a_thread_behind_the_lock,
    the_ds_override_leaves_no_place_to_stop,
    every_site_is_one_step_in_both_states,
];

static COUNTER: AtomicUsize = AtomicUsize::new(40);
const LOCK: u8 = 0xf0;
const DS: u8 = 0x3e;
const NOP: u8 = 0x90;

/// A forked child of ours, stopped before it runs its body.
struct Child {
    id: i32,
    memory: std::fs::File,
}

impl Child {
    /// The child exits with what `body` returns.
    fn start(body: fn() -> i32) -> Self {
        let id = fork(|| {
            trace_me();
            call::raise(libc::SIGSTOP);
            let status = body();
            call::_exit(status);
        });
        let path = format!("/proc/{id}/mem");
        let memory = std::fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
        let child = Self { id, memory };
        assert!(libc::WIFSTOPPED(child.wait()), "tracing is not allowed here");
        child
    }

    fn wait(&self) -> i32 {
        let mut status = 0;
        // SAFETY: our child, not reaped yet.
        assert_eq!(unsafe { libc::waitpid(self.id, &mut status, 0) }, self.id);
        status
    }

    fn at(&self) -> usize {
        let mut registers = std::mem::MaybeUninit::<libc::user_regs_struct>::zeroed();
        // SAFETY: the child is stopped; one block of registers.
        let rc = unsafe { libc::ptrace(libc::PTRACE_GETREGS, self.id, 0, registers.as_mut_ptr()) };
        assert_eq!(rc, 0);
        // SAFETY: filled by the kernel; any bits are registers.
        unsafe { registers.assume_init() }.rip as usize
    }

    /// Executes one instruction; returns the next address, or none if the child has exited with 0.
    fn step(&self) -> Option<usize> {
        // SAFETY: the child is stopped.
        assert_eq!(unsafe { libc::ptrace(libc::PTRACE_SINGLESTEP, self.id, 0, 0) }, 0);
        let status = self.wait();
        if libc::WIFEXITED(status) {
            assert_eq!(libc::WEXITSTATUS(status), 0, "the child's own check failed");
            return None;
        }
        assert!(libc::WIFSTOPPED(status) && libc::WSTOPSIG(status) == libc::SIGTRAP);
        Some(self.at())
    }

    /// Steps until a site is next; returns its address, or none if the child has exited with 0.
    fn to_site(&self, sites: &BTreeSet<usize>) -> Option<usize> {
        loop {
            let at = self.step()?;
            if sites.contains(&at) {
                return Some(at);
            }
        }
    }

    fn finish(&self) {
        // SAFETY: the child is stopped.
        assert_eq!(unsafe { libc::ptrace(libc::PTRACE_CONT, self.id, 0, 0) }, 0);
        let status = self.wait();
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0);
    }

    fn write(&self, at: usize, byte: u8) {
        self.memory.write_all_at(&[byte], at as u64).unwrap();
    }

    fn decode(&self, at: usize) -> Instruction {
        let mut bytes = [0; 15];
        self.memory.read_exact_at(&mut bytes, at as u64).unwrap();
        Decoder::with_ip(64, &bytes, at as u64, DecoderOptions::NONE).decode()
    }
}

fn all_sites() -> BTreeSet<usize> {
    sites().map(|site| site.address()).collect()
}

fn add_two() -> i32 {
    i32::from(COUNTER.fetch_add(2, Ordering::SeqCst) != 40 || COUNTER.load(Ordering::SeqCst) != 42)
}

fn a_nop_leaves_a_thread_behind_the_lock() {
    let child = Child::start(add_two);
    let site = child.to_site(&all_sites()).unwrap();
    let locked = child.decode(site);
    assert_eq!((locked.mnemonic(), locked.has_lock_prefix()), (Mnemonic::Xadd, true));

    child.write(site, NOP);
    assert_eq!(child.step(), Some(site + 1), "a NOP is an instruction of its own");
    child.write(site, LOCK);
    // LOCK is restored everywhere and other threads run, but this thread's next instruction has no LOCK.
    let next = child.decode(child.at());
    assert_eq!((next.mnemonic(), next.has_lock_prefix()), (Mnemonic::Xadd, false));
    assert_eq!(
        child.step(),
        Some(site + locked.len()),
        "the unlocked operation was executed"
    );
    child.finish();
}

fn the_ds_override_leaves_no_place_to_stop() {
    let child = Child::start(add_two);
    let site = child.to_site(&all_sites()).unwrap();
    let locked = child.decode(site);

    child.write(site, DS);
    let elided = child.decode(site);
    assert_eq!((elided.mnemonic(), elided.len()), (locked.mnemonic(), locked.len()));
    assert!(!elided.has_lock_prefix());
    // Preempted before it: LOCK is restored, and the instruction executes with LOCK.
    child.write(site, LOCK);
    child.write(site, DS);
    assert_eq!(
        child.step(),
        Some(site + locked.len()),
        "prefix and operation are one instruction"
    );
    child.finish();
}

/// One instruction of each form, in several widths.
fn every_form() -> i32 {
    let relaxed = Ordering::Relaxed;
    let (byte, short, word) = (AtomicU8::new(1), AtomicU16::new(1), AtomicU32::new(1));
    let (flag, mut target) = (AtomicBool::new(true), 0);
    let pointer = AtomicPtr::new(&raw mut target);
    byte.inc(relaxed);
    byte.fetch_or(4, relaxed);
    short.add(7, relaxed);
    short.dec(relaxed);
    word.sub(1, relaxed);
    word.and(3, relaxed);
    word.xor(1, relaxed);
    flag.not(relaxed);
    word.store(1, Ordering::SeqCst);
    COUNTER.or(1, relaxed);
    let mut wrong = pointer
        .compare_exchange(&raw mut target, std::ptr::null_mut(), relaxed, relaxed)
        .is_err();
    wrong |= COUNTER.sub_and_test(1, relaxed) | COUNTER.inc_negative(relaxed) | COUNTER.add_negative(1, relaxed);
    wrong |= COUNTER.dec_and_test(relaxed) | COUNTER.dec_not_positive(relaxed);
    let left = (
        byte.load(relaxed),
        short.load(relaxed),
        word.load(relaxed),
        flag.load(relaxed),
    );
    i32::from(wrong || left != (6, 7, 1, false) || COUNTER.load(relaxed) != 40)
}

fn every_site_is_one_step_in_both_states() {
    for prefix in [LOCK, DS] {
        let child = Child::start(every_form);
        let sites = all_sites();
        for &site in &sites {
            child.write(site, prefix);
        }
        let mut reached = BTreeSet::new();
        let mut at = child.at();
        loop {
            let length = sites.contains(&at).then(|| child.decode(at).len());
            let Some(next) = child.step() else { break };
            if let Some(length) = length {
                reached.insert(at);
                assert_eq!(next, at + length, "stopped inside the instruction at {at:#x}");
            }
            at = next;
        }
        assert!(reached.len() >= 14, "{} sites were reached", reached.len());
    }
}
