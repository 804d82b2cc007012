//! Random sequences of operations against a naive count, which is a number or saturated.

use crate::counters::{Full, events_of};
use cyclewise::refs::refcount::Event::{
    self, AddNotZeroOverflow, AddOverflow, AddUseAfterFree, DecLeak, SubUseAfterFree,
};
use cyclewise::refs::{Refcount, Refcount64};
use proptest::prelude::*;

/// The naive count: `None` is saturated.
struct Oracle {
    count: Option<u128>,
    max: u128,
}

/// The result of an operation: yes or no, the count before, and the report.
type Answer = (bool, Option<u128>, Option<Event>);

impl Oracle {
    fn fail(&mut self, answer: bool, event: Event) -> Answer {
        let old = self.count;
        self.count = None;
        (answer, old, Some(event))
    }

    fn add(&mut self, n: u128) -> Answer {
        match self.count {
            Some(0) => self.fail(true, AddUseAfterFree),
            Some(old) if old + n <= self.max => {
                self.count = Some(old + n);
                (true, Some(old), None)
            }
            _ => self.fail(true, AddOverflow),
        }
    }

    fn add_not_zero(&mut self, n: u128, limit: u128) -> Answer {
        match self.count {
            Some(0) => (false, Some(0), None),
            None if limit < self.max => (false, None, None),
            Some(old) if limit < self.max && old + n > limit => (false, Some(old), None),
            Some(old) if old + n <= self.max => {
                self.count = Some(old + n);
                (true, Some(old), None)
            }
            _ => self.fail(true, AddNotZeroOverflow),
        }
    }

    fn sub(&mut self, n: u128) -> Answer {
        match self.count {
            Some(old) if old > 0 && n <= old => {
                self.count = Some(old - n);
                (old == n, Some(old), None)
            }
            _ => self.fail(false, SubUseAfterFree),
        }
    }

    fn dec(&mut self) -> Answer {
        match self.count {
            Some(old) if old > 1 => {
                self.count = Some(old - 1);
                (true, Some(old), None)
            }
            _ => self.fail(true, DecLeak),
        }
    }

    fn dec_if_one(&mut self) -> Answer {
        let old = self.count;
        if old == Some(1) {
            self.count = Some(0);
        }
        (old == Some(1), old, None)
    }

    fn dec_not_one(&mut self) -> Answer {
        if self.count == Some(1) {
            return (false, Some(1), None);
        }
        let (_, old, event) = self.sub(1);
        (true, old, event)
    }
}

/// An operation, its batch and its limit; operations without a batch ignore the first.
type Step = (u8, u64, u64);

fn apply<C: Full>(count: &C, oracle: &mut Oracle, (operation, n, limit): Step) {
    let none = u128::from(C::MAX);
    let old_of = |old: Result<u64, u64>| (old.is_ok(), Some(old.unwrap_or_else(|old| old)));
    let maybe = |old: Option<u64>| (old.is_some(), Some(old.unwrap_or(0)));
    // The result of ours, and the count before where it is returned.
    let run = || -> (bool, Option<u64>) {
        match operation {
            0 => (true, {
                count.inc();
                None
            }),
            1 => (true, {
                count.add(n);
                None
            }),
            2 => (true, Some(count.inc_old())),
            3 => (true, Some(count.add_old(n))),
            4 => (count.inc_not_zero(), None),
            5 => (count.add_not_zero(n), None),
            6 => maybe(count.inc_not_zero_old()),
            7 => maybe(count.add_not_zero_old(n)),
            8 => (count.inc_not_zero_acquire(), None),
            9 => maybe(count.add_not_zero_acquire_old(n)),
            10 => (count.inc_not_zero_limited_acquire(limit), None),
            11 => old_of(count.add_not_zero_limited_acquire_old(n, limit)),
            12 => (true, {
                count.dec();
                None
            }),
            13 => (true, Some(count.dec_old())),
            14 => (count.dec_and_test(), None),
            15 => (count.sub_and_test(n), None),
            16 => {
                let (old, last) = count.dec_and_test_old();
                (last, Some(old))
            }
            17 => {
                let (old, last) = count.sub_and_test_old(n);
                (last, Some(old))
            }
            18 => (count.dec_if_one(), None),
            19 => (count.dec_not_one(), None),
            _ => (count.dec_and_lock(|| ()).is_some(), None),
        }
    };
    let ((answer, old), events) = events_of(run);
    let (n, limit) = (u128::from(n), u128::from(limit));
    let expected = match operation {
        0 | 2 => oracle.add(1),
        1 | 3 => oracle.add(n),
        4 | 6 | 8 => oracle.add_not_zero(1, none),
        5 | 7 | 9 => oracle.add_not_zero(n, none),
        10 => oracle.add_not_zero(1, limit),
        11 => oracle.add_not_zero(n, limit),
        12 | 13 => oracle.dec(),
        14 | 16 => oracle.sub(1),
        15 | 17 => oracle.sub(n),
        18 => oracle.dec_if_one(),
        19 => oracle.dec_not_one(),
        // Without other threads the lock changes nothing.
        _ => oracle.sub(1),
    };
    let step = format!("operation {operation} with {n:#x}, {limit:#x}");
    assert_eq!(answer, expected.0, "{step}");
    if let Some(old) = old {
        assert_eq!(u128::from(old), expected.1.unwrap_or(C::SATURATED.into()), "{step}");
    }
    assert_eq!(events, Vec::from_iter(expected.2), "{step}");
    assert_eq!(
        u128::from(count.read()),
        oracle.count.unwrap_or(C::SATURATED.into()),
        "{step}"
    );
    assert_eq!(count.is_saturated(), oracle.count.is_none(), "{step}");
}

fn check<C: Full>(start: u64, steps: &[Step]) {
    let count = C::new(start);
    let mut oracle = Oracle {
        count: (start <= C::MAX).then(|| start.into()),
        max: C::MAX.into(),
    };
    if oracle.count.is_none() {
        count.set(C::SATURATED);
    }
    for &step in steps {
        apply(&count, &mut oracle, step);
        // Saturation is permanent, so most sequences would end early.
        if oracle.count.is_none() && step.1 % 2 == 0 {
            count.set(start.min(C::MAX));
            oracle.count = Some(start.min(C::MAX).into());
        }
    }
}

fn numbers(max: u64, top: u64) -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 0_u64..5,
        2 => 60_u64..70,
        1 => 0..=top,
        1 => (0_u64..5).prop_map(move |n| max - n),
        1 => (1_u64..5).prop_map(move |n| max + n),
        1 => (0_u64..5).prop_map(move |n| top - n),
    ]
}

fn steps(max: u64, top: u64) -> impl Strategy<Value = (u64, Vec<Step>)> {
    (
        numbers(max, top),
        prop::collection::vec((0_u8..21, numbers(max, top), numbers(max, top)), 1..40),
    )
}

proptest! {
    #[test]
    fn narrow((start, steps) in steps(Refcount::MAX.into(), u32::MAX.into())) {
        check::<Refcount>(start, &steps);
    }

    #[test]
    fn wide((start, steps) in steps(Refcount64::MAX, u64::MAX)) {
        check::<Refcount64>(start, &steps);
    }
}
