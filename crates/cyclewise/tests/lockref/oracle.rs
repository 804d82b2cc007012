//! Random sequences of operations on a `LockRef` and on a naive count: equal results, equal counts.
#![cfg(not(loom))]

use cyclewise::lock::NoRelax;
use cyclewise::refs::lockref::{Adaptive, Bounded, Guard, LockRef, Policy};
use proptest::collection::vec;
use proptest::prelude::*;

const MAX: u32 = LockRef::<()>::MAX;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Naive {
    Dead,
    Forever,
    References(u32),
}
use Naive::{Dead, Forever, References};

impl Naive {
    fn new(count: u32) -> Self {
        if count > MAX { Forever } else { References(count) }
    }

    /// In the kernel's form.
    fn count(self) -> i32 {
        match self {
            Dead => -128,
            Forever => i32::MAX,
            References(count) => count.try_into().unwrap(),
        }
    }

    fn more(&mut self) {
        *self = match *self {
            References(count) if count < MAX => References(count + 1),
            References(_) | Forever => Forever,
            Dead => Dead,
        };
    }

    fn fewer(&mut self) {
        *self = match *self {
            References(0) => Forever,
            References(count) => References(count - 1),
            other => other,
        };
    }

    fn get(&mut self) {
        match *self {
            References(0) => *self = Forever,
            _ => self.more(),
        }
    }

    fn get_if(&mut self, wanted: bool) -> bool {
        if wanted {
            self.more();
        }
        wanted
    }

    fn put_return(&mut self) -> Option<u32> {
        match self {
            Dead | References(0) => None,
            _ => {
                self.fewer();
                Some(self.count().cast_unsigned())
            }
        }
    }

    fn put_or_lock(&mut self) -> bool {
        let last = matches!(self, Dead | References(0 | 1));
        if !last {
            self.fewer();
        }
        last
    }
}

#[derive(Clone, Debug)]
enum Op {
    Get,
    GetNotZero,
    GetNotDead,
    PutReturn,
    PutOrLock,
    Lock,
    TryLock,
    Reference,
    // Under the lock if it is held.
    LockedGet,
    LockedPut,
    LockedWrite(u32),
    MarkDead,
    Unlock,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        3 => Just(Op::Get),
        3 => Just(Op::GetNotZero),
        3 => Just(Op::GetNotDead),
        4 => Just(Op::PutReturn),
        8 => Just(Op::PutOrLock),
        2 => Just(Op::Lock),
        2 => Just(Op::TryLock),
        2 => Just(Op::Reference),
        3 => Just(Op::LockedGet),
        3 => Just(Op::LockedPut),
        3 => any::<u32>().prop_map(Op::LockedWrite),
        1 => Just(Op::MarkDead),
        9 => Just(Op::Unlock),
    ]
}

fn start() -> impl Strategy<Value = u32> {
    prop_oneof![0..5u32, MAX - 4..=MAX + 1, any::<u32>()]
}

fn run<P: Policy>(policy: P, start: u32, ops: &[Op]) {
    let ours = LockRef::with_policy(start, 0u32, policy);
    let (mut naive, mut data) = (Naive::new(start), 0);
    let mut held: Option<Guard<'_, u32, P>> = None;
    for op in ops {
        match (op, &mut held) {
            // Operations that do not wait run whether it is locked or not.
            (Op::PutReturn, Some(_)) => assert_eq!(ours.put_return(), None),
            (Op::PutReturn, None) => assert_eq!(ours.put_return(), naive.put_return()),
            (Op::TryLock, Some(_)) => assert!(ours.try_lock().is_none()),
            (Op::TryLock, None) => held = Some(ours.try_lock().unwrap()),
            (Op::Unlock, _) => held = None,
            (Op::LockedGet, Some(guard)) => {
                Guard::get(guard);
                naive.more();
            }
            (Op::LockedPut, Some(guard)) => {
                naive.fewer();
                assert_eq!(Guard::put(guard), naive.count());
            }
            (Op::LockedWrite(value), Some(guard)) => {
                assert_eq!(std::mem::replace(&mut **guard, *value), data);
                data = *value;
            }
            (Op::MarkDead, Some(guard)) => {
                Guard::mark_dead(guard);
                naive = Dead;
            }
            (Op::LockedGet | Op::LockedPut | Op::LockedWrite(_) | Op::MarkDead, None) => {}
            // The other operations would wait for this thread.
            (_, Some(_)) => {}
            (Op::Get, None) => {
                ours.get();
                naive.get();
            }
            (Op::GetNotZero, None) => {
                let wanted = !matches!(naive, Dead | References(0));
                assert_eq!(ours.get_not_zero(), naive.get_if(wanted));
            }
            (Op::GetNotDead, None) => assert_eq!(ours.get_not_dead(), naive.get_if(naive != Dead)),
            (Op::PutOrLock, None) => {
                held = ours.put_or_lock();
                assert_eq!(held.is_some(), naive.put_or_lock());
            }
            (Op::Lock, None) => held = Some(ours.lock()),
            (Op::Reference, None) => {
                let reference = ours.reference();
                assert_eq!(reference.is_some(), naive.get_if(naive != Dead));
                if let Some(reference) = reference {
                    drop(reference);
                    naive.fewer();
                }
            }
        }
        assert_eq!(ours.count(), naive.count(), "after {op:?}");
        assert_eq!(ours.is_dead(), naive == Dead);
    }
    drop(held);
    assert_eq!(ours.into_inner(), data);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_answers_as_a_naive_count_does(start in start(), ops in vec(op(), 0..60)) {
        run(Adaptive::<NoRelax>::new(), start, &ops);
        run(Bounded::<NoRelax, 0>::tuned(), start, &ops);
    }
}
