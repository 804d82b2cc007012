//! Far more threads than CPUs: mutual exclusion holds, no thread hangs, deadlines are kept.

use crate::common::child::HANG_S;
use crate::common::cpu::{allowed_cpus, pin};
use crate::common::futex::Counting;
use crate::common::length::rounds;
use crate::room::{Room, random, spin_for};
use crate::stress::{alarm, unlock};
use cyclewise::lock::{Futex, RawSpinLock};
use lock_api::{RawMutex, RawMutexFair, RawMutexTimed};
use std::cell::Cell;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

const THREADS: u64 = 64;

/// The crowd's lock operations: some unlock fairly, some wait with a deadline.
pub(crate) trait Lock: RawMutex + Send + Sync + 'static {
    fn lock_for(&self, timeout: Duration) -> bool;
    fn unlock_fair(&self);
}

impl Lock for RawSpinLock<Counting> {
    fn lock_for(&self, _: Duration) -> bool {
        self.lock();
        true
    }

    fn unlock_fair(&self) {
        // SAFETY: each caller holds it.
        unsafe { RawMutexFair::unlock_fair(self) };
    }
}

impl Lock for RawSpinLock<Futex> {
    fn lock_for(&self, timeout: Duration) -> bool {
        self.try_lock_for(timeout)
    }

    fn unlock_fair(&self) {
        // SAFETY: each caller holds it.
        unsafe { RawMutexFair::unlock_fair(self) };
    }
}

/// Lets the calling thread run only when its CPU is otherwise idle, so that it is preempted at any point.
fn idle() {
    // SAFETY: all zeroes is a valid parameter block, of priority 0. Its fields are not the same in every C library.
    let parameter: libc::sched_param = unsafe { std::mem::zeroed() };
    // The system call, because musl's function always fails.
    // SAFETY: one parameter block, of the calling thread.
    let rc = unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, libc::SCHED_IDLE, &raw const parameter) };
    assert_eq!(rc, 0, "every thread may lower itself");
}

/// 64 threads on two CPUs for some seconds: a quarter of them hold the lock for long and are preempted there.
/// If the machine was frozen meanwhile, the crowd continues until it is `enough`.
pub(crate) fn crowd<L: Lock>(enough: fn() -> bool) {
    let seconds = rounds("CYCLEWISE_LOCK_SECONDS", 1, 2);
    let (lock, room, stop) = (L::INIT, Room::default(), AtomicBool::new(false));
    let cpus = allowed_cpus();
    let two = &cpus[..cpus.len().min(2)];
    let visits: u64 = thread::scope(|scope| {
        let (lock, room, stop) = (&lock, &room, &stop);
        let member = move |number: u64| {
            pin(two[number as usize % two.len()]);
            let idles = number % 4 == 3;
            if idles {
                idle();
            }
            let state = Cell::new(number + 1);
            let mut visits = 0;
            while !stop.load(Relaxed) {
                alarm();
                let dice = random(&state);
                let timeout = Duration::from_micros(dice >> 8 & 0x3ff);
                let locked = match dice % 4 {
                    0 => lock.lock_for(timeout),
                    1 => lock.try_lock(),
                    _ => {
                        lock.lock();
                        true
                    }
                };
                if !locked {
                    continue;
                }
                visits += 1;
                room.visit(|| {
                    if idles {
                        spin_for(Duration::from_micros(dice >> 20 & 0xff));
                    }
                });
                match dice >> 4 & 7 {
                    0 => lock.unlock_fair(),
                    _ => unlock(lock),
                }
                // Work outside the lock, so that the SCHED_IDLE threads wait for a CPU.
                if dice >> 30 & 0x3f == 0 {
                    spin_for(Duration::from_micros(200));
                }
            }
            visits
        };
        let threads: Vec<_> = (0..THREADS).map(|number| scope.spawn(move || member(number))).collect();
        let begun = Instant::now();
        while begun.elapsed().as_secs() < seconds || !enough() && begun.elapsed().as_secs() < HANG_S.into() {
            thread::sleep(Duration::from_millis(10));
        }
        stop.store(true, Relaxed);
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    println!("  {visits} visits in {seconds} s");
    assert!(!room.trespass.load(SeqCst), "two were inside at once");
    assert_eq!(room.visits.load(SeqCst), visits, "visits were lost");
    assert!(!lock.is_locked());
}

/// A lock without mutual exclusion, and visitors that wait for each other inside.
pub(crate) fn twin_two_inside_are_seen() {
    let (room, both) = (Room::default(), Barrier::new(2));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                room.visit(|| {
                    both.wait();
                })
            });
        }
    });
    assert!(room.trespass.load(SeqCst), "two were inside");
    assert_eq!(room.visits.load(SeqCst), 1, "of two visits one was lost");
}

/// Waiters with short deadlines among waiters without one, at a lock that is rarely free.
pub(crate) fn a_deadline_is_kept() {
    alarm();
    let (lock, room) = (RawSpinLock::<Futex>::INIT, Room::default());
    let (locked, late) = (AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        for number in 0..12_u64 {
            let (lock, room, locked, late) = (&lock, &room, &locked, &late);
            scope.spawn(move || {
                let state = Cell::new(number + 1);
                for _ in 0..200 {
                    let timeout = Duration::from_micros(random(&state) & 0x1ff);
                    let until = Instant::now() + timeout;
                    if number % 3 == 0 {
                        lock.lock();
                    } else if !lock.try_lock_until(until) {
                        assert!(Instant::now() >= until, "gave up before its time");
                        late.fetch_add(1, Relaxed);
                        continue;
                    }
                    locked.fetch_add(1, Relaxed);
                    room.visit(|| spin_for(Duration::from_micros(50)));
                    unlock(lock);
                }
            });
        }
    });
    assert_eq!(locked.load(Relaxed) + late.load(Relaxed), 12 * 200);
    assert_eq!(room.visits.load(SeqCst), locked.load(Relaxed));
    assert!(!room.trespass.load(SeqCst));
    // Nobody is left in the queue, and no place is reserved.
    assert!(lock.try_lock());
    unlock(&lock);
}

/// On one CPU, with LOCK elided: spinning there is useless, and every thread gets its turn.
#[cfg(all(target_arch = "x86_64", target_env = "gnu", not(target_feature = "crt-static")))]
pub(crate) fn confined() {
    use cyclewise::patch::{self, confined};
    alarm();
    // SAFETY: this check creates threads through the C library only.
    let _ = unsafe { cyclewise::enable_single!() };
    patch::lock().unwrap();
    // SAFETY: only the library sets affinities in the mode, and no atomics are shared with other processes.
    let guard = unsafe { confined::enter(None) }.unwrap();
    assert_eq!(patch::state().mode, patch::Mode::Confined);
    let (lock, room) = (RawSpinLock::<Futex>::INIT, Room::default());
    let (lock, room) = (&lock, &room);
    thread::scope(|scope| {
        for number in 0..4 {
            scope.spawn(move || {
                for round in 0..2000 {
                    lock.lock();
                    room.visit(|| {
                        // Now and then another thread gets the CPU inside the section.
                        if (round + number) % 64 == 0 {
                            thread::yield_now();
                        }
                    });
                    unlock(lock);
                }
            });
        }
    });
    assert_eq!(room.visits.load(SeqCst), 8000);
    assert!(!room.trespass.load(SeqCst));
    guard.leave().map_err(|stuck| stuck.refusal).unwrap();
}
