//! Every sequence of one word and of `CurrentSlot`, run with an area that is not registered and holds the ids that the test
//! writes. So their effects without interruption are also tested under an emulator without rseq(2), and for CPUs that this
//! machine does not have.
//!
//! # Safety
//! Areas and variables belong to the test, and one thread uses them.
#![expect(unsafe_code, reason = "words by address, and areas that the test writes")]

mod lists;

use crate::arch::rseq::Area;
use crate::arch::rseq::by_cpu;
use crate::arch::{Cid, Cpu, Id, Outcome};
use crate::percpu::word::Bits;
use crate::percpu::{Guard, NEVER, PerCpu, Slot, Zeroed};
use core::ptr::{self, NonNull};
use core::sync::atomic::Ordering::Relaxed;
use std::boxed::Box;

/// `struct rseq`, with these ids.
pub(super) fn area(cpu: u32, cid: u32) -> Area {
    let words = Box::leak(Box::new([0u64; 16]));
    words[0] = u64::from(cpu) << 32;
    words[3] = u64::from(cid);
    Area::at(NonNull::from(words).cast())
}

pub(super) const CPU: u32 = 5;
pub(super) const CID: u32 = 2;

fn narrow<W: Bits + Zeroed + core::fmt::Debug, I: Id>(number: u32, of: impl Fn(u64) -> W) {
    let (area, v) = (area(CPU, CID), PerCpu::<W>::new());
    let (at, copy) = (v.as_ptr(), v.slot_ptr(Slot::from_id(number).unwrap()));
    // SAFETY: the test's own words and area.
    assert_eq!(unsafe { area.id::<I>() }, number);
    // SAFETY: the test's own words and area.
    let now = || unsafe { W::load(copy) };
    // SAFETY: the test's own words and area.
    unsafe { W::write::<I, false>(area, at, of(0xf1f2_f3f4_f5f6_f7f8)) };
    assert_eq!(now(), of(0xf1f2_f3f4_f5f6_f7f8));
    // SAFETY: the test's own words and area.
    assert_eq!(unsafe { W::read::<I>(area, at) }, now());
    // SAFETY: the test's own words and area.
    unsafe { W::add::<I, false>(area, at, of(!0)) };
    assert_eq!(now(), of(0xf1f2_f3f4_f5f6_f7f7));
    // SAFETY: the test's own words and area.
    unsafe { W::add::<I, true>(area, at, of(9)) };
    // SAFETY: the test's own words and area.
    unsafe { W::and::<I>(area, at, of(0x0f)) };
    assert_eq!(now(), of(0));
    // SAFETY: the test's own words and area.
    unsafe { W::or::<I>(area, at, of(0x8000_0000_8000_8080)) };
    // SAFETY: the test's own words and area.
    assert_eq!(unsafe { W::xchg::<I>(area, at, of(6)) }, of(0x8000_0000_8000_8080));
    // SAFETY: the test's own words and area. A failed compare stores nothing.
    assert_eq!(unsafe { W::cmpxchg::<I>(area, at, of(7), of(8)) }, of(6));
    assert_eq!(now(), of(6));
    // SAFETY: the test's own words and area.
    assert_eq!(unsafe { W::cmpxchg::<I>(area, at, of(6), of(!0)) }, of(6));
    // SAFETY: the test's own words and area.
    assert_eq!(unsafe { W::add_return::<I>(area, at, of(3)) }, of(2));
    // SAFETY: the test's own words and area.
    unsafe { W::write::<I, true>(area, at, of(2)) };
    for slot in Slot::all().filter(|slot| slot.number() != number) {
        // SAFETY: the test's own words and area.
        assert_eq!(unsafe { W::load(v.slot_ptr(slot)) }, of(0), "{slot:?}");
    }
    assert_eq!(now(), of(2));
}

fn every_width<I: Id>(number: u32) {
    narrow::<u8, I>(number, |bits| bits as u8);
    narrow::<u16, I>(number, |bits| bits as u16);
    narrow::<u32, I>(number, |bits| bits as u32);
    narrow::<u64, I>(number, |bits| bits);
}

#[test]
fn each_operation_changes_the_copy_of_its_id() {
    every_width::<Cpu>(CPU);
    every_width::<Cid>(CID);
}

/// The words that the sequences of several steps use.
struct Words {
    area: Area,
    v: u64,
    v2: u64,
    to: [u64; 3],
}

/// Runs one on `v` and `v2` for this CPU and guard. Returns its outcome and all words.
fn set(cpu: u32, guard: &Guard, run: impl Fn(&mut Words, u32, *const u64) -> Outcome) -> (Outcome, [u64; 5]) {
    let mut words = Words {
        area: area(CPU, CID),
        v: 10,
        v2: 20,
        to: [0; 3],
    };
    let outcome = run(&mut words, cpu, guard.word().as_ptr());
    let [a, b, c] = words.to;
    (outcome, [words.v, words.v2, a, b, c])
}

/// Checks the effect of one, and that it changes nothing for another CPU, with its guard set, or if a compare fails.
fn each<I: Id>(
    here: u32,
    expect_fails: bool,
    done: [u64; 5],
    run: impl Fn(&mut Words, u32, *const u64, u64) -> Outcome,
) {
    const BEFORE: [u64; 5] = [10, 20, 0, 0, 0];
    let shut = Guard::new();
    shut.word().store(1, Relaxed);
    let with = |expect: u64| {
        let run = &run;
        move |words: &mut Words, cpu: u32, guard: *const u64| run(words, cpu, guard, expect)
    };
    assert_eq!(set(here, &NEVER, with(10)), (Outcome::Done, done));
    assert_eq!(set(here + 1, &NEVER, with(10)), (Outcome::Moved, BEFORE));
    assert_eq!(set(here, &shut, with(10)), (Outcome::Stopped, BEFORE));
    if expect_fails {
        assert_eq!(set(here, &NEVER, with(11)), (Outcome::Ne, BEFORE));
    }
}

fn every_set<I: Id>(here: u32) {
    // SAFETY: the test's own words and area.
    each::<I>(here, true, [7, 20, 0, 0, 0], |w, cpu, guard, expect| unsafe {
        by_cpu::load_cbne_store::<I, false>(w.area, cpu, guard, &mut w.v, expect, 7)
    });
    // SAFETY: the test's own words and area.
    each::<I>(here, true, [7, 20, 0, 0, 0], |w, cpu, guard, expect| unsafe {
        by_cpu::load_cbne_store::<I, true>(w.area, cpu, guard, &mut w.v, expect, 7)
    });
    // SAFETY: the test's own words and area.
    each::<I>(here, false, [13, 20, 0, 0, 0], |w, cpu, guard, _| unsafe {
        by_cpu::load_add_store::<I>(w.area, cpu, guard, &mut w.v, 3)
    });
    // SAFETY: the test's own words and area.
    each::<I>(here, true, [7, 8, 0, 0, 0], |w, cpu, guard, expect| unsafe {
        by_cpu::load_cbne_store_store::<I, false>(w.area, cpu, guard, &mut w.v, expect, &mut w.v2, 8, 7)
    });
    // SAFETY: the test's own words and area.
    each::<I>(here, true, [7, 8, 0, 0, 0], |w, cpu, guard, expect| unsafe {
        by_cpu::load_cbne_store_store::<I, true>(w.area, cpu, guard, &mut w.v, expect, &mut w.v2, 8, 7)
    });
    // SAFETY: the test's own words and area. Here the first compare may fail, below the second.
    each::<I>(here, true, [7, 20, 0, 0, 0], |w, cpu, guard, expect| unsafe {
        by_cpu::load_cbne_load_cbne_store::<I>(w.area, cpu, guard, &mut w.v, expect, &w.v2, 20, 7)
    });
    // SAFETY: the test's own words and area.
    each::<I>(here, true, [7, 20, 0, 0, 0], |w, cpu, guard, expect| unsafe {
        by_cpu::load_cbne_load_cbne_store::<I>(w.area, cpu, guard, &mut w.v, 10, &w.v2, expect + 10, 7)
    });
    let from = [1, 2, 3];
    // SAFETY: the test's own words and area.
    each::<I>(here, true, [7, 20, 1, 2, 3], |w, cpu, guard, expect| unsafe {
        by_cpu::load_cbne_memcpy_store::<I, false>(
            w.area,
            cpu,
            guard,
            &mut w.v,
            expect,
            w.to.as_mut_ptr(),
            from.as_ptr(),
            3,
            7,
        )
    });
    // SAFETY: the test's own words and area. Copies no words.
    each::<I>(here, true, [7, 20, 0, 0, 0], |w, cpu, guard, expect| unsafe {
        by_cpu::load_cbne_memcpy_store::<I, true>(
            w.area,
            cpu,
            guard,
            &mut w.v,
            expect,
            w.to.as_mut_ptr(),
            from.as_ptr(),
            0,
            7,
        )
    });
    // Through a table: `at` points to two words, and the second points to `v2`.
    // SAFETY: the test's own words and area.
    each::<I>(here, false, [10, 24, 0, 0, 0], |w, cpu, guard, _| unsafe {
        let table = [0, (&raw mut w.v2).expose_provenance() as u64];
        let at = (&raw const table).expose_provenance() as u64;
        by_cpu::load_add_load_load_add_store::<I>(w.area, cpu, guard, &at, 8, 4)
    });
    // A pop from a list of two, whose next pointer is the second word of a node.
    let (mut popped, node) = (0, [77u64, 99]);
    let first = ptr::from_ref(&node).expose_provenance() as u64;
    // SAFETY: the test's own words and area.
    let pop = |list: &mut u64, popped: &mut u64| unsafe {
        by_cpu::load_cbeq_store_add_load_store::<I>(area(CPU, CID), here, NEVER.word().as_ptr(), list, 0, 8, popped)
    };
    let mut list = first;
    assert_eq!((pop(&mut list, &mut popped), list, popped), (Outcome::Done, 99, first));
    list = 0;
    assert_eq!((pop(&mut list, &mut popped), list), (Outcome::Ne, 0));
}

#[test]
fn several_steps_end_as_their_pseudo_code_says() {
    every_set::<Cpu>(CPU);
    every_set::<Cid>(CID);
}
