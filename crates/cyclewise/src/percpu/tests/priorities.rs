//! A thread of a real-time policy waits for one of the default policy on the same CPU: the waiter leaves the CPU to the holder.
//! The twin waits with sched_yield, and takes most of the CPU.
//!
//! The waiter's CPU time is compared with the time that it waited: a busy machine changes both.

use crate::percpu::allocator::Locked;
use crate::percpu::slots::LockedSlot;
use crate::sys::affinity::CpuSet;
use crate::sys::for_tests::sched_setscheduler::become_fifo;
use crate::sys::for_tests::thread_cpu_ns;
use core::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::Instant;

/// The holder's CPU time.
const WORK_NS: u64 = 30_000_000;

/// The waiter's CPU time while it waited, and how long it waited, in nanoseconds. `None` if the policy or the affinity is refused.
fn while_another_has_it<T>(take: fn() -> T, wait: fn(&AtomicBool)) -> Option<(u64, u64)> {
    // Two at once would share the CPU, and one would wait forever while the other does not sleep.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    let all = CpuSet::current().ok()?;
    let cpu = (0..1024)
        .filter(|&cpu| all.has(cpu))
        .find_map(|cpu| CpuSet::one(cpu).ok())?;
    let (taken, given_back) = (Barrier::new(2), AtomicBool::new(false));
    thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            taken.wait();
            if cpu.apply().is_err() || !become_fifo() {
                return None;
            }
            let (before, begun) = (thread_cpu_ns(), Instant::now());
            wait(&given_back);
            Some((thread_cpu_ns() - before, begun.elapsed().as_nanos() as u64))
        });
        scope.spawn(|| {
            let it = take();
            let confined = cpu.apply();
            taken.wait();
            let before = thread_cpu_ns();
            while confined.is_ok() && thread_cpu_ns() - before < WORK_NS {}
            given_back.store(true, SeqCst);
            drop(it);
        });
        waiter.join().unwrap()
    })
}

fn leaves_the_cpu<T>(take: fn() -> T, wait: fn(&AtomicBool)) {
    match while_another_has_it(take, wait) {
        None => std::println!("skipped: SCHED_FIFO is not allowed"),
        Some((used, waited)) => {
            std::println!("the waiter took {used} ns of the CPU, in {waited} ns");
            assert!(
                used < waited / 4,
                "the waiter took {used} ns of the CPU, in {waited} ns"
            );
        }
    }
}

#[test]
fn a_waiter_for_the_areas_leaves_the_cpu_to_the_holder() {
    // With signals blocked, like every holder.
    let take = || {
        (
            crate::percpu::registration::block_signals().unwrap(),
            Locked::take().unwrap(),
        )
    };
    leaves_the_cpu(take, |_| drop(crate::percpu::PerCpu::<u64>::new()));
}

#[test]
fn a_waiter_for_a_slot_leaves_the_cpu_to_the_holder() {
    leaves_the_cpu(
        || LockedSlot::wait(7).unwrap(),
        |_| drop(LockedSlot::wait_for(7, u64::MAX).unwrap()),
    );
}

#[test]
fn the_twin_that_yields_takes_most_of_the_cpu() {
    let twin = |given_back: &AtomicBool| {
        let before = thread_cpu_ns();
        // Gives up in case the kernel never takes the CPU from such a thread (sched_rt_runtime_us is -1).
        while !given_back.load(SeqCst) && thread_cpu_ns() - before < 4 * WORK_NS {
            thread::yield_now();
        }
    };
    match while_another_has_it(|| (), twin) {
        None => std::println!("skipped: SCHED_FIFO is not allowed"),
        Some((used, waited)) => assert!(used > waited / 4, "{used} of {waited}"),
    }
}

/// A wait for a slot whose holder does not release it ends with a refusal.
#[test]
fn a_wait_past_its_limit_is_refused() {
    let held = LockedSlot::wait(9).unwrap();
    let refused = thread::spawn(|| LockedSlot::wait_for(9, 3_000_000).err())
        .join()
        .unwrap();
    let refusal = refused.expect("it is held");
    assert!(std::format!("{refusal}").contains("per-CPU slot"), "{refusal}");
    drop(held);
    assert!(LockedSlot::wait_for(9, 0).is_ok());
}
