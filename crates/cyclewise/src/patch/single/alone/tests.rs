//! The check against a model of the kernel's list of threads, whose threads end at random between any two of its steps,
//! and checks that are broken on purpose.

use super::{Tasks, check};
use crate::error::Refusal;
use crate::sys::proc_stat::Life;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

/// How far a thread is. The order is that of `do_exit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Runs,
    /// PF_EXITING is set.
    Exiting,
    /// The joiner was woken.
    Joined,
    Zombie,
    /// It is no longer counted. The lock of `Tasks::exactly` is held.
    Uncounted,
    /// It is no longer listed, and the lock is released.
    Left,
}

const PHASES: [Phase; 6] = [
    Phase::Runs,
    Phase::Exiting,
    Phase::Joined,
    Phase::Zombie,
    Phase::Uncounted,
    Phase::Left,
];

impl Phase {
    fn next(self) -> Self {
        PHASES[(self as usize + 1).min(PHASES.len() - 1)]
    }
}

const OWN: i32 = 1;

/// A process whose threads are `(id, phase)`, in the kernel's order. The caller is among them and stays.
struct Kernel {
    threads: RefCell<Vec<(i32, Phase)>>,
    random: Cell<u64>,
    /// Whether threads that run create others.
    grows: bool,
    /// The phase from which on `life` says that a thread ends.
    sign: Phase,
    /// Whether `exactly` is the count that is read without the lock.
    without_lock: bool,
    /// How often a thread that is ending has been reported.
    ending_seen: Cell<u32>,
}

impl Kernel {
    fn new(seed: u64, others: &[Phase]) -> Self {
        let mut threads: Vec<_> = others
            .iter()
            .enumerate()
            .map(|(i, &phase)| (OWN + 1 + i as i32, phase))
            .collect();
        threads.insert((seed % (others.len() as u64 + 1)) as usize, (OWN, Phase::Runs));
        Self {
            threads: RefCell::new(threads),
            random: Cell::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            grows: false,
            sign: Phase::Exiting,
            without_lock: false,
            ending_seen: Cell::new(0),
        }
    }

    fn below(&self, bound: u64) -> u64 {
        let mut x = self.random.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.random.set(x);
        (x >> 33) % bound
    }

    /// What other CPUs do between two steps of the caller.
    fn others_go_on(&self) {
        while self.below(2) == 0 {
            let mut threads = self.threads.borrow_mut();
            let chosen = self.below(threads.len() as u64) as usize;
            let (tid, phase) = threads[chosen];
            if tid == OWN {
                continue;
            }
            if phase == Phase::Runs && self.grows && self.below(2) == 0 {
                let newest = threads.iter().map(|&(tid, _)| tid).max().unwrap();
                threads.push((newest + 1, Phase::Runs));
            }
            // Under the lock one thread leaves at a time.
            let locked = threads.iter().any(|&(_, phase)| phase == Phase::Uncounted);
            if phase.next() != Phase::Uncounted || !locked {
                threads[chosen].1 = phase.next();
            }
        }
    }

    fn phase(&self, tid: i32) -> Option<Phase> {
        let threads = self.threads.borrow();
        threads
            .iter()
            .find(|&&(t, phase)| t == tid && phase != Phase::Left)
            .map(|&(_, phase)| phase)
    }

    fn counted(&self) -> u32 {
        let threads = self.threads.borrow();
        threads.iter().filter(|(_, phase)| *phase < Phase::Uncounted).count() as u32
    }

    fn another_runs(&self) -> bool {
        self.threads
            .borrow()
            .iter()
            .any(|&(tid, phase)| tid != OWN && phase == Phase::Runs)
    }
}

impl Tasks for Kernel {
    /// `proc_task_readdir`: from each thread to the next, and not further than one that has left.
    fn list(&self) -> Result<Vec<i32>, Refusal> {
        let mut listed = Vec::new();
        let mut at = None;
        loop {
            let next = {
                let threads = self.threads.borrow();
                let start = at.map_or(0, |at| {
                    threads.iter().position(|&(tid, _)| Some(tid) == Some(at)).unwrap() + 1
                });
                threads[start..]
                    .iter()
                    .find(|(_, phase)| *phase != Phase::Left)
                    .map(|&(tid, _)| tid)
            };
            let Some(tid) = next else { break };
            self.others_go_on();
            if self.phase(tid).is_none() {
                break;
            }
            listed.push(tid);
            self.others_go_on();
            if self.phase(tid).is_none() {
                break;
            }
            at = Some(tid);
        }
        // The real list does the same: a list that ends early may lack the caller.
        if !listed.contains(&OWN) {
            listed.push(OWN);
        }
        listed.sort_unstable();
        Ok(listed)
    }

    fn count(&self) -> Result<u32, Refusal> {
        self.others_go_on();
        Ok(self.counted())
    }

    fn exactly(&self) -> Option<u32> {
        self.others_go_on();
        if !self.without_lock {
            for (_, phase) in self.threads.borrow_mut().iter_mut() {
                if *phase == Phase::Uncounted {
                    *phase = Phase::Left;
                }
            }
        }
        Some(self.counted())
    }

    fn life(&self, tid: i32) -> Life {
        self.others_go_on();
        match self.phase(tid) {
            None => Life::Gone,
            Some(phase) if phase >= self.sign => {
                self.ending_seen.set(self.ending_seen.get() + 1);
                Life::Exiting
            }
            Some(_) => Life::Runs,
        }
    }
}

type Check = fn(&Kernel) -> Result<(), Refusal>;

fn ours(kernel: &Kernel) -> Result<(), Refusal> {
    check(kernel, OWN, true)
}

/// Whether `check` elides beside a thread that runs, in one of `tries` processes of up to five threads.
fn is_unsound(tries: u64, check: Check, change: fn(&mut Kernel)) -> bool {
    (1..=tries).any(|seed| {
        let others: Vec<_> = (0..1 + seed % 4)
            .map(|i| PHASES[((seed >> (3 * i)) % 5) as usize])
            .collect();
        let mut kernel = Kernel::new(seed, &others);
        change(&mut kernel);
        check(&kernel).is_ok() && kernel.another_runs()
    })
}

/// How often `check` refuses after every other thread was joined.
fn refused_after_join(tries: u64, change: fn(&mut Kernel)) -> u32 {
    let mut refused = 0;
    for seed in 1..=tries {
        let others: Vec<_> = (0..1 + seed % 4)
            .map(|i| PHASES[2 + ((seed >> (2 * i)) % 3) as usize])
            .collect();
        let mut kernel = Kernel::new(seed, &others);
        change(&mut kernel);
        refused += u32::from(ours(&kernel).is_err());
    }
    refused
}

const TRIES: u64 = 50_000;

#[test]
fn nothing_elides_beside_a_thread_that_runs() {
    assert!(!is_unsound(TRIES, ours, |_| ()));
}

#[test]
fn a_joined_thread_is_no_reason_to_refuse() {
    assert_eq!(refused_after_join(TRIES, |_| ()), 0);
    // The model reports threads that are ending, or this would prove nothing.
    let kernel = Kernel::new(1, &[Phase::Joined; 4]);
    ours(&kernel).unwrap();
    assert!(kernel.ending_seen.get() > 0);
}

/// The twin: the zombie's state, and absence from the list, come after the joiner was woken.
#[test]
fn twin_a_sign_that_comes_later_refuses_after_a_join() {
    assert!(refused_after_join(TRIES, |kernel| kernel.sign = Phase::Zombie) > 0);
    assert!(refused_after_join(TRIES, |kernel| kernel.sign = Phase::Left) > 0);
}

/// The twin of counting: a list may end at a thread that has just left, before one that runs.
#[test]
fn twin_a_list_that_is_not_counted_misses_one_that_runs() {
    let uncounted: Check = |kernel| {
        let listed = kernel.list()?;
        let ended = listed.iter().all(|&tid| tid == OWN || kernel.life(tid) != Life::Runs);
        ended.then_some(()).ok_or(Refusal::OtherThreads { threads: 2 })
    };
    assert!(is_unsound(TRIES, uncounted, |_| ()));
}

/// The twin of the count's lock: a thread that is listed and no longer counted hides one that runs.
#[test]
fn twin_a_count_without_the_lock_misses_one_that_runs() {
    assert!(is_unsound(50 * TRIES, ours, |kernel| kernel.without_lock = true));
}

/// The twin of Invariant 1: a thread that creates another and ends. Where that can happen, `hooked` is false.
#[test]
fn twin_a_thread_that_creates_past_the_hooks_is_missed() {
    assert!(is_unsound(TRIES, ours, |kernel| kernel.grows = true));
    let unhooked: Check = |kernel| check(kernel, OWN, false);
    assert!(!is_unsound(TRIES, unhooked, |kernel| kernel.grows = true));
}

/// A thread that leaves is taken from the folder's count first, and from the list last.
#[test]
fn a_refusal_counts_every_thread_that_is_listed() {
    struct OneLess;
    impl Tasks for OneLess {
        fn list(&self) -> Result<Vec<i32>, Refusal> {
            Ok(Vec::from([OWN, 2]))
        }
        fn count(&self) -> Result<u32, Refusal> {
            Ok(1)
        }
        fn exactly(&self) -> Option<u32> {
            Some(2)
        }
        fn life(&self, _: i32) -> Life {
            Life::Runs
        }
    }
    for hooked in [true, false] {
        assert_eq!(check(&OneLess, OWN, hooked), Err(Refusal::OtherThreads { threads: 2 }));
    }
}

#[test]
fn answers_that_never_agree_are_refused() {
    /// Lists a thread that is never there, as behind a filter that refuses to open its line.
    struct Ghost;
    impl Tasks for Ghost {
        fn list(&self) -> Result<Vec<i32>, Refusal> {
            Ok(Vec::from([OWN, 2]))
        }
        fn count(&self) -> Result<u32, Refusal> {
            Ok(2)
        }
        fn exactly(&self) -> Option<u32> {
            Some(2)
        }
        fn life(&self, _: i32) -> Life {
            Life::Gone
        }
    }
    assert_eq!(check(&Ghost, OWN, true), Err(Refusal::OtherThreads { threads: 2 }));
}
