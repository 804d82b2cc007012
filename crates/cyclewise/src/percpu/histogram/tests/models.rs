//! The protocol as models, with twins: words that are published beside records, and records beside migrations and a reader.

use crate::percpu::histogram::{Parts, record_slow};
use crate::primitive::threads::{Arc, AtomicUsize, Mutex, caught, model, thread};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// What is broken on purpose.
#[derive(Clone, Copy, PartialEq)]
enum Twin {
    None,
    /// The limit is stored and loaded as a number that orders nothing.
    LimitRelaxed,
    /// The address of the words is published without what they hold.
    WordsRelaxed,
    /// A sequence that was interrupted goes on.
    GoesOn,
    /// A sequence may be restarted after its addition.
    EndsLate,
}

const CPUS: usize = 2;
/// What memory holds before it is allocated.
const GARBAGE: usize = 1000;

/// A histogram of one cell, two threads, two CPUs.
struct Model {
    twin: Twin,
    limit: AtomicUsize,
    /// The number of the thread whose words are used, and one; 0 without words.
    at: AtomicUsize,
    /// What each thread may allocate: a word for each CPU.
    words: [[AtomicUsize; CPUS]; 2],
    /// The CPU of each thread, changed under the lock of the CPU that it leaves.
    cpu_of: [AtomicUsize; 2],
    /// A CPU, which executes one instruction after the other.
    cpus: [Mutex<()>; CPUS],
}

impl Model {
    fn new(twin: Twin, cpu_of: [usize; 2]) -> Arc<Self> {
        let word = || AtomicUsize::new(GARBAGE);
        Arc::new(Self {
            twin,
            limit: AtomicUsize::new(0),
            at: AtomicUsize::new(0),
            words: [[word(), word()], [word(), word()]],
            cpu_of: cpu_of.map(AtomicUsize::new),
            cpus: [Mutex::new(()), Mutex::new(())],
        })
    }

    /// The same with words, known to all.
    fn used(twin: Twin, cpu_of: [usize; 2]) -> Arc<Self> {
        let it = Self::new(twin, cpu_of);
        let first = Thread(&it, 0);
        first.allocate();
        first.set_limit();
        it
    }

    /// What a snapshot reads.
    fn count(&self) -> usize {
        match self.at.load(Acquire) {
            0 => 0,
            at => self.words[at - 1].iter().map(|word| word.load(Relaxed)).sum(),
        }
    }

    /// The kernel moves the thread, between two of its instructions.
    fn migrate(&self, thread: usize, to: usize) {
        let from = self.cpu_of[thread].load(Relaxed);
        let _between = self.cpus[from].lock().unwrap();
        self.cpu_of[thread].store(to, Relaxed);
    }
}

struct Thread<'a>(&'a Model, usize);

impl Thread<'_> {
    fn cpu(&self) -> usize {
        self.0.cpu_of[self.1].load(Relaxed)
    }

    /// Runs an instruction, which is told its CPU.
    fn execute<T>(&self, instruction: impl FnOnce(usize) -> T) -> T {
        loop {
            let cpu = self.cpu();
            let _executing = self.0.cpus[cpu].lock().unwrap();
            if self.cpu() == cpu {
                return instruction(cpu);
            }
        }
    }

    /// The words of the thread or of the other one, if that was faster.
    fn allocate(&self) -> usize {
        let found = self.0.at.load(Acquire);
        if found != 0 {
            return found;
        }
        let mine = self.1 + 1;
        self.0.words[self.1].iter().for_each(|word| word.store(0, Relaxed));
        let success = if self.0.twin == Twin::WordsRelaxed {
            Relaxed
        } else {
            Release
        };
        match self.0.at.compare_exchange(0, mine, success, Acquire) {
            Ok(_) => mine,
            Err(theirs) => theirs,
        }
    }

    /// The sequence: it loads the CPU, then adds by one instruction, to which other CPUs may come in between.
    fn add(&self, at: usize) {
        let twin = self.0.twin;
        loop {
            let cpu = self.cpu();
            let is_done = self.execute(|now| {
                if now != cpu && twin != Twin::GoesOn {
                    return false; // The kernel restarts it.
                }
                let word = &self.0.words[at - 1][cpu];
                word.store(word.load(Relaxed) + 1, Relaxed);
                true
            });
            if is_done && (twin != Twin::EndsLate || self.cpu() == cpu) {
                return;
            }
        }
    }

    fn record(&self) {
        if !self.inc(0) {
            record_slow(self, 0);
        }
    }
}

impl Parts for Thread<'_> {
    fn inc(&self, cell: usize) -> bool {
        let order = if self.0.twin == Twin::LimitRelaxed {
            Relaxed
        } else {
            Acquire
        };
        if cell >= self.0.limit.load(order) {
            return false;
        }
        // As the sequence does: only the limit has ordered it.
        let at = self.0.at.load(Relaxed);
        assert_ne!(at, 0, "the words are not allocated");
        self.add(at);
        true
    }

    fn inc_slow(&self, _: usize) {
        self.add(self.allocate());
    }

    fn learn_area(&self) -> bool {
        true
    }

    fn set_limit(&self) {
        let order = if self.0.twin == Twin::LimitRelaxed {
            Relaxed
        } else {
            Release
        };
        self.0.limit.store(1, order);
    }
}

fn recorder(it: &Arc<Model>, number: usize, times: usize) -> thread::JoinHandle<()> {
    let it = it.clone();
    thread::spawn(move || (0..times).for_each(|_| Thread(&it, number).record()))
}

/// Two threads on two CPUs make the first records, and a reader looks.
fn first_records(twin: Twin) {
    model(move || {
        let it = Model::new(twin, [0, 1]);
        let other = recorder(&it, 1, 1);
        Thread(&it, 0).record();
        assert!(
            (1..=2).contains(&it.count()),
            "a count that nobody recorded, or not one's own"
        );
        other.join().unwrap();
        assert_eq!(it.count(), 2, "every record once");
    });
}

/// Two threads on one CPU record; one of them is moved, and the reader that moves it looks twice.
fn migrated_records(twin: Twin) {
    model(move || {
        let it = Model::used(twin, [0, 0]);
        let threads = [recorder(&it, 0, 1), recorder(&it, 1, 1)];
        it.migrate(0, 1);
        let first = it.count();
        let second = it.count();
        assert!(first <= second && second <= 2, "{first}, then {second}");
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(it.count(), 2, "every record once");
    });
}

#[test]
fn first_records_are_counted_once() {
    first_records(Twin::None);
}

#[test]
fn records_are_counted_once_beside_migrations() {
    migrated_records(Twin::None);
}

caught! {
    a_limit_that_orders_nothing_is_caught: "not allocated" by first_records(Twin::LimitRelaxed);
    words_that_are_published_before_their_zeroes_are_caught: "every record once" by first_records(Twin::WordsRelaxed);
    a_sequence_that_goes_on_loses_a_record: "every record once" by migrated_records(Twin::GoesOn);
    a_sequence_that_ends_late_counts_a_record_twice: "every record once" by migrated_records(Twin::EndsLate);
}
