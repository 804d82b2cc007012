//! Loom tries every order of a writer's and a reader's accesses, on the real sequence and two words that are to be equal.

use crate::primitive::threads::{Arc, caught, model, thread};
use crate::primitive::unpatched::AtomicU64;
use crate::seq::sequence::Sequence;
use core::sync::atomic::Ordering::Relaxed;

struct Pair([AtomicU64; 2]);

impl Pair {
    fn new() -> Self {
        Self([AtomicU64::new(0), AtomicU64::new(0)])
    }

    fn store(&self, value: u64) {
        self.0.iter().for_each(|word| word.store(value, Relaxed));
    }

    fn load(&self) -> [u64; 2] {
        [self.0[0].load(Relaxed), self.0[1].load(Relaxed)]
    }
}

struct Model {
    sequence: Sequence,
    copies: [Pair; 2],
}

impl Model {
    /// A reader that gives up where the number says so.
    fn read(&self) -> Option<[u64; 2]> {
        let number = self.sequence.load();
        let found = self.copies[0].load();
        (number % 2 == 0 && self.sequence.is_still(number)).then_some(found)
    }

    fn write(&self, value: u64) {
        let number = self.sequence.load();
        self.sequence.invalidate(number + 1);
        self.copies[0].store(value);
        self.sequence.publish(number + 2);
    }

    fn claim_and_write(&self, value: u64) {
        let number = self.sequence.load();
        if number % 2 == 0 && self.sequence.claim(number, number + 1) {
            self.copies[0].store(value);
            self.sequence.publish(number + 2);
        }
    }

    /// A reader that always gets a value, from the copy that the number names.
    fn read_latch(&self) -> Option<[u64; 2]> {
        let number = self.sequence.load();
        let found = self.copies[number as usize % 2].load();
        self.sequence.is_still(number).then_some(found)
    }

    fn write_latch(&self, value: u64) {
        let number = self.sequence.load();
        for (next, copy) in (number + 1..).zip(&self.copies) {
            self.sequence.advance(next);
            copy.store(value);
        }
    }
}

/// One thread writes 1 and then 2; another reads, and finds both words equal and no older value the second time. With at most three
/// preemptions: an interaction of two threads in a step takes two.
fn check(write: fn(&Model, u64), read: fn(&Model) -> Option<[u64; 2]>) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(move || {
        let model = Arc::new(Model {
            sequence: Sequence::new(0),
            copies: [Pair::new(), Pair::new()],
        });
        let other = Arc::clone(&model);
        let writer = thread::spawn(move || (1..=2).for_each(|value| write(&other, value)));
        let found = [read(&model), read(&model)];
        for [one, other] in found.iter().flatten() {
            assert_eq!(one, other, "half old");
        }
        let mut values = found.iter().flatten().map(|found| found[0]);
        assert!(values.next() <= values.next().or(Some(2)), "an older value");
        writer.join().unwrap();
    });
}

#[test]
fn no_value_is_half_old() {
    check(Model::write, Model::read);
    check(Model::claim_and_write, Model::read);
    check(Model::write_latch, Model::read_latch);
}

/// Two writers that claim the number never write at once.
#[test]
fn one_of_two_writers_writes() {
    model(|| {
        let model = Arc::new(Model {
            sequence: Sequence::new(0),
            copies: [Pair::new(), Pair::new()],
        });
        let other = Arc::clone(&model);
        let writer = thread::spawn(move || other.claim_and_write(1));
        model.claim_and_write(2);
        writer.join().unwrap();
        let [one, other] = model.read().expect("no writer is left");
        assert_eq!(one, other, "half old");
    });
}

/// `write` without the fence between the number and the words.
fn unfenced(model: &Model, value: u64) {
    let number = model.sequence.load();
    model.sequence.publish(number + 1);
    model.copies[0].store(value);
    model.sequence.publish(number + 2);
}

/// `read` without the second look.
fn unchecked(model: &Model) -> Option<[u64; 2]> {
    let number = model.sequence.load();
    (number % 2 == 0).then(|| model.copies[0].load())
}

/// `read` without the fence before the second look.
fn early(model: &Model) -> Option<[u64; 2]> {
    let number = model.sequence.load();
    let found = model.copies[0].load();
    (number % 2 == 0 && model.sequence.load() == number).then_some(found)
}

/// A latch that writes the copy which readers take.
fn wrong_copy(model: &Model, value: u64) {
    let number = model.sequence.load();
    for (next, copy) in (number + 1..).zip(model.copies.iter().rev()) {
        model.sequence.advance(next);
        copy.store(value);
    }
}

caught! {
    without_the_writers_fence_a_value_is_half_old: "half old" by check(unfenced, Model::read);
    without_a_second_look_a_value_is_half_old: "half old" by check(Model::write, unchecked);
    without_the_readers_fence_a_value_is_half_old: "half old" by check(Model::write, early);
    a_latch_that_writes_what_is_read_is_half_old: "half old" by check(wrong_copy, Model::read_latch);
}

/// The number is what publishes: a reader of a value sees what its writer stored before.
#[test]
fn a_reader_sees_what_was_before_the_value() {
    model(|| {
        let before = Arc::new(AtomicU64::new(0));
        let model = Arc::new(Model {
            sequence: Sequence::new(0),
            copies: [Pair::new(), Pair::new()],
        });
        let (theirs, other) = (Arc::clone(&before), Arc::clone(&model));
        let writer = thread::spawn(move || {
            theirs.store(1, Relaxed);
            other.write(1);
        });
        if model.read() == Some([1, 1]) {
            assert_eq!(before.load(Relaxed), 1);
        }
        writer.join().unwrap();
    });
}
