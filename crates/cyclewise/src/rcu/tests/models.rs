//! Loom tries every order of a reader's and a writer's accesses. Light and heavy fences are whole ones: loom has no barrier of the kernel's.
//!
//! A value is freed by poisoning it; a reader that finds poison has used it after that.

use crate::primitive::threads::{Arc, caught, model, thread};
use crate::primitive::unpatched::{AtomicU64, fence};
use crate::rcu::protocol::{FENCED, IDLE, IDLE_FENCED, Reader, STEP};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

const POISON: u64 = 9;

struct Model {
    reader: Reader,
    period: AtomicU64,
    /// Which of the values readers find.
    pointer: AtomicU64,
    values: [AtomicU64; 2],
}

impl Model {
    fn new(word: u64) -> Arc<Self> {
        Arc::new(Self {
            reader: Reader {
                word: AtomicU64::new(word),
                nest: AtomicU64::new(0),
            },
            period: AtomicU64::new(STEP),
            pointer: AtomicU64::new(0),
            values: [AtomicU64::new(0), AtomicU64::new(0)],
        })
    }

    fn look(&self) {
        let at = self.pointer.load(Acquire) as usize;
        assert_ne!(self.values[at].load(Relaxed), POISON, "use after free");
    }

    fn begin(&self, fence: impl Fn()) -> u64 {
        fence();
        self.period.fetch_add(STEP, Relaxed) + STEP
    }

    /// The writer: replaces the value, and frees the old one if no reader can have it. Loom has no fair waiting, so it looks once.
    fn replace(&self, period: impl Fn(&Self) -> u64) {
        self.pointer.swap(1, AcqRel);
        let period = period(self);
        if !self.reader.holds_up(period) {
            self.values[0].store(POISON, Relaxed);
        }
    }
}

fn whole() {
    fence(SeqCst);
}

fn check(word: u64, read: fn(&Model), period: fn(&Model) -> u64) {
    model(move || {
        let model = Model::new(word);
        let other = Arc::clone(&model);
        let reader = thread::spawn(move || {
            read(&other);
            read(&other);
        });
        model.replace(period);
        reader.join().unwrap();
    });
}

fn read(model: &Model) {
    assert!(model.reader.enter(&model.period, whole));
    model.look();
    assert!(model.reader.leave());
}

/// The slow path's section, of a process without light fences. It ends as `Record::leave_slow` ends it.
fn read_fenced(model: &Model) {
    assert!(!model.reader.enter(&model.period, || ()));
    model.reader.enter_fenced(&model.period, whole);
    model.look();
    assert!(!model.reader.leave());
    model.reader.nest.store(0, Relaxed);
    model.reader.word.store(IDLE_FENCED, Release);
}

/// The same, interrupted before its fence by a handler that reads, with `light` between its section's beginning and its load.
fn read_around_a_handler(model: &Model, light: fn()) {
    assert!(!model.reader.enter(&model.period, || ()));
    model.reader.enter_fenced(&model.period, || {
        model.reader.enter_nested(light);
        model.look();
        model.reader.nest.store(FENCED, Relaxed);
        whole();
    });
    model.look();
    model.reader.nest.store(0, Relaxed);
    model.reader.word.store(IDLE_FENCED, Release);
}

fn period(model: &Model) -> u64 {
    model.begin(whole)
}

#[test]
fn nothing_is_read_after_it_was_freed() {
    check(IDLE, read, period);
    check(IDLE_FENCED, read_fenced, period);
    check(IDLE_FENCED, |model| read_around_a_handler(model, whole), period);
}

/// A reader that enters again has the new number, and does not hold the old period up.
#[test]
fn a_reader_that_returns_holds_nobody_up() {
    model(|| {
        let model = Model::new(IDLE);
        assert!(model.reader.enter(&model.period, whole));
        let period = model.begin(whole);
        assert!(model.reader.holds_up(period) && model.reader.is_inside());
        assert!(model.reader.leave());
        assert!(!model.reader.holds_up(period));
        assert!(model.reader.enter(&model.period, whole));
        assert!(!model.reader.holds_up(period));
    });
}

fn read_unfenced(model: &Model) {
    assert!(model.reader.enter(&model.period, || ()));
    model.look();
    assert!(model.reader.leave());
}

/// Ends the section by a store that does not wait for what it read.
fn leave_early(model: &Model) {
    assert!(model.reader.enter(&model.period, whole));
    let at = model.pointer.load(Acquire) as usize;
    model.reader.word.store(IDLE, Relaxed);
    assert_ne!(model.values[at].load(Relaxed), POISON, "use after free");
}

fn unfenced_period(model: &Model) -> u64 {
    model.begin(|| ())
}

caught! {
    a_reader_without_a_fence_is_caught: "use after free" by check(IDLE, read_unfenced, period);
    a_handler_without_a_fence_is_caught: "use after free"
        by check(IDLE_FENCED, |model| read_around_a_handler(model, || ()), period);
    a_section_that_ends_early_is_caught: "use after free" by check(IDLE, leave_early, period);
    a_writer_without_a_fence_is_caught: "use after free" by check(IDLE, read, unfenced_period);
}
