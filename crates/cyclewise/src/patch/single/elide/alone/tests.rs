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
/// How many places the kernel's own threads fill at most.
const MOST: usize = 8;

#[derive(Clone, Copy)]
struct Thread {
    id: i32,
    phase: Phase,
    /// Whether the kernel made it for itself.
    kernels: bool,
}

/// A process and its threads, in the kernel's order; their places are not used again. The caller is among them and stays.
struct Kernel {
    threads: RefCell<Vec<Thread>>,
    random: Cell<u64>,
    /// Whether threads that run create others.
    grows: bool,
    /// Whether the kernel makes threads for itself, with ids of threads that have left.
    makes_its_own: bool,
    /// Whether `life` goes by the id that a thread had when it was opened.
    by_number: bool,
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
            .map(|(i, &phase)| Thread {
                id: OWN + 1 + i as i32,
                phase,
                kernels: false,
            })
            .collect();
        let own = Thread {
            id: OWN,
            phase: Phase::Runs,
            kernels: false,
        };
        threads.insert((seed % (others.len() as u64 + 1)) as usize, own);
        Self {
            threads: RefCell::new(threads),
            random: Cell::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            grows: false,
            makes_its_own: false,
            by_number: false,
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
            let Thread { id, phase, kernels } = threads[chosen];
            let newest = threads.iter().map(|thread| thread.id).max().unwrap();
            if self.makes_its_own && threads.len() < MOST && self.below(3) == 0 {
                let free = threads.iter().map(|thread| thread.id);
                let free = free.filter(|&id| threads.iter().all(|t| t.id != id || t.phase == Phase::Left));
                let id = free.min().unwrap_or(newest + 1);
                let (phase, kernels) = (Phase::Runs, true);
                threads.push(Thread { id, phase, kernels });
            }
            if id == OWN {
                continue;
            }
            if phase == Phase::Runs && self.grows && !kernels && self.below(2) == 0 {
                let (id, phase) = (newest + 2, Phase::Runs);
                threads.push(Thread { id, phase, kernels });
            }
            // Under the lock one thread leaves at a time.
            let locked = threads.iter().any(|thread| thread.phase == Phase::Uncounted);
            if phase.next() != Phase::Uncounted || !locked {
                threads[chosen].phase = phase.next();
            }
        }
    }

    fn place(&self, tid: i32) -> Option<usize> {
        let threads = self.threads.borrow();
        threads
            .iter()
            .position(|thread| thread.id == tid && thread.phase != Phase::Left)
    }

    fn has_left(&self, place: usize) -> bool {
        self.threads.borrow()[place].phase == Phase::Left
    }

    fn counted(&self) -> u32 {
        let threads = self.threads.borrow();
        threads.iter().filter(|thread| thread.phase < Phase::Uncounted).count() as u32
    }

    fn another_runs(&self) -> bool {
        self.threads
            .borrow()
            .iter()
            .any(|thread| thread.id != OWN && thread.phase == Phase::Runs && !thread.kernels)
    }
}

impl Tasks for Kernel {
    type Thread = (i32, Option<usize>);

    /// `proc_task_readdir`: from each thread to the next, and not further than one that has left.
    fn list(&self) -> Result<Vec<i32>, Refusal> {
        let mut listed = Vec::new();
        let mut at = None;
        loop {
            let next = {
                let threads = self.threads.borrow();
                let start = at.map_or(0, |at| at + 1);
                (start..threads.len()).find(|&place| threads[place].phase != Phase::Left)
            };
            let Some(place) = next else { break };
            self.others_go_on();
            if self.has_left(place) {
                break;
            }
            listed.push(self.threads.borrow()[place].id);
            self.others_go_on();
            if self.has_left(place) {
                break;
            }
            at = Some(place);
        }
        // The real list does the same: a list that ends early may lack the caller.
        if !listed.contains(&OWN) {
            listed.push(OWN);
        }
        listed.sort_unstable();
        // An id whose thread has left meanwhile may be listed again, as another's.
        listed.dedup();
        Ok(listed)
    }

    fn count(&self) -> Result<u32, Refusal> {
        self.others_go_on();
        Ok(self.counted())
    }

    fn exactly(&self) -> Option<u32> {
        self.others_go_on();
        if !self.without_lock {
            for thread in self.threads.borrow_mut().iter_mut() {
                if thread.phase == Phase::Uncounted {
                    thread.phase = Phase::Left;
                }
            }
        }
        Some(self.counted())
    }

    fn open(&self, tid: i32) -> (i32, Option<usize>) {
        self.others_go_on();
        (tid, self.place(tid))
    }

    fn life(&self, &(tid, opened): &(i32, Option<usize>)) -> Life {
        self.others_go_on();
        let place = if self.by_number { self.place(tid) } else { opened };
        match place.map(|place| self.threads.borrow()[place]) {
            None => Life::Gone,
            Some(thread) if thread.phase == Phase::Left => Life::Gone,
            Some(thread) if thread.kernels => Life::Kernels,
            Some(thread) if thread.phase >= self.sign => {
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

/// Threads that the kernel has made for itself, whether or not all others were created by a hook.
#[test]
fn the_kernels_threads_are_no_reason_to_refuse() {
    for seed in 1..=TRIES {
        let kernel = Kernel::new(seed, &[Phase::Runs; 4][..1 + seed as usize % 4]);
        for thread in kernel.threads.borrow_mut().iter_mut() {
            thread.kernels = thread.id != OWN;
        }
        assert_eq!(check(&kernel, OWN, seed % 2 == 0), Ok(()));
    }
}

#[test]
fn nothing_elides_beside_a_thread_that_runs_among_the_kernels() {
    assert!(!is_unsound(TRIES, ours, |kernel| kernel.makes_its_own = true));
    let unhooked: Check = |kernel| check(kernel, OWN, false);
    assert!(!is_unsound(TRIES, unhooked, |kernel| {
        kernel.makes_its_own = true;
        kernel.grows = true;
    }));
}

/// The twin: a thread of the kernel's has got the id of one that was listed and has left, and stands for one that runs.
#[test]
fn twin_an_id_that_is_looked_up_again_misses_one_that_runs() {
    assert!(is_unsound(50 * TRIES, ours, |kernel| {
        kernel.makes_its_own = true;
        kernel.by_number = true;
    }));
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
        let life = |tid| kernel.life(&kernel.open(tid));
        let ended = listed.iter().all(|&tid| tid == OWN || life(tid) != Life::Runs);
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

/// Two threads are listed and counted, whatever the folder's count and the life of the other are.
struct TwoListed(u32, Life);

impl Tasks for TwoListed {
    type Thread = ();
    fn list(&self) -> Result<Vec<i32>, Refusal> {
        Ok(Vec::from([OWN, 2]))
    }
    fn count(&self) -> Result<u32, Refusal> {
        Ok(self.0)
    }
    fn exactly(&self) -> Option<u32> {
        Some(2)
    }
    fn open(&self, _: i32) {}
    fn life(&self, (): &()) -> Life {
        self.1
    }
}

/// A thread that leaves is taken from the folder's count first, and from the list last.
#[test]
fn a_refusal_counts_every_thread_that_is_listed() {
    for hooked in [true, false] {
        let outcome = check(&TwoListed(1, Life::Runs), OWN, hooked);
        assert_eq!(outcome, Err(Refusal::OtherThreads { threads: 2 }));
    }
}

/// A listed thread is never there, as behind a filter that refuses to open its line.
#[test]
fn answers_that_never_agree_are_refused() {
    let outcome = check(&TwoListed(2, Life::Gone), OWN, true);
    assert_eq!(outcome, Err(Refusal::OtherThreads { threads: 2 }));
}
