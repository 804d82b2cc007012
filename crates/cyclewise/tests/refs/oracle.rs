//! Random sequences of operations on our types and on std's, side by side: equal counts, equal values, equal drops.
#![cfg(not(loom))]
#![expect(
    clippy::arc_with_non_send_sync,
    reason = "the oracle has to be std's Arc, on one thread as it may be"
)]

use cyclewise::refs::{Arc as Ours, Weak as OurWeak};
use proptest::collection::vec;
use proptest::prelude::*;
use std::cell::Cell;
use std::fmt::Debug;
use std::rc::Rc;
use std::sync::{Arc as Stds, Weak as StdWeak};

/// A value that counts its live instances, and records whether it was cloned.
#[derive(Debug)]
struct Tracked {
    number: u32,
    live: Rc<Cell<usize>>,
}

impl Tracked {
    fn new(number: u32, live: &Rc<Cell<usize>>) -> Self {
        live.set(live.get() + 1);
        Self {
            number,
            live: Rc::clone(live),
        }
    }
}

impl Clone for Tracked {
    fn clone(&self) -> Self {
        Self::new(self.number + 1000, &self.live)
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        self.live.set(self.live.get() - 1);
    }
}

trait Number: Debug {
    fn number(&self) -> u32;
}

impl Number for Tracked {
    fn number(&self) -> u32 {
        self.number
    }
}

/// One step, with the index of its operand, modulo the number of operands.
#[derive(Clone, Debug)]
enum Op {
    New(u32),
    NewCyclic(u32),
    FromBox(u32),
    Clone(usize),
    Drop(usize),
    Downgrade(usize),
    Upgrade(usize),
    CloneWeak(usize),
    DropWeak(usize),
    GetMut(usize, u32),
    MakeMut(usize, u32),
    TryUnwrap(usize),
    IntoInner(usize),
    UnwrapOrClone(usize),
    ThroughRaw(usize),
    WeakThroughRaw(usize),
    RawCounts(usize),
    Unsize(usize),
    CloneDyn(usize),
    DropDyn(usize),
}

fn op() -> impl Strategy<Value = Op> {
    let at = 0..32_usize;
    let number = 0..100_u32;
    prop_oneof![
        2 => number.clone().prop_map(Op::New),
        1 => number.clone().prop_map(Op::NewCyclic),
        1 => number.clone().prop_map(Op::FromBox),
        4 => at.clone().prop_map(Op::Clone),
        4 => at.clone().prop_map(Op::Drop),
        3 => at.clone().prop_map(Op::Downgrade),
        3 => at.clone().prop_map(Op::Upgrade),
        1 => at.clone().prop_map(Op::CloneWeak),
        3 => at.clone().prop_map(Op::DropWeak),
        2 => (at.clone(), number.clone()).prop_map(|(at, number)| Op::GetMut(at, number)),
        2 => (at.clone(), number).prop_map(|(at, number)| Op::MakeMut(at, number)),
        1 => at.clone().prop_map(Op::TryUnwrap),
        1 => at.clone().prop_map(Op::IntoInner),
        1 => at.clone().prop_map(Op::UnwrapOrClone),
        1 => at.clone().prop_map(Op::ThroughRaw),
        1 => at.clone().prop_map(Op::WeakThroughRaw),
        1 => at.clone().prop_map(Op::RawCounts),
        2 => at.clone().prop_map(Op::Unsize),
        1 => at.clone().prop_map(Op::CloneDyn),
        2 => at.prop_map(Op::DropDyn),
    ]
}

/// The same references twice.
#[derive(Default)]
struct TwinReferences {
    our_live: Rc<Cell<usize>>,
    std_live: Rc<Cell<usize>>,
    strong: Vec<(Ours<Tracked>, Stds<Tracked>)>,
    weak: Vec<(OurWeak<Tracked>, StdWeak<Tracked>)>,
    dynamic: Vec<(Ours<dyn Number>, Stds<dyn Number>)>,
}

/// Removes the operand at index `at`.
fn take<T>(from: &mut Vec<T>, at: usize) -> Option<T> {
    (!from.is_empty()).then(|| from.swap_remove(at % from.len()))
}

/// Borrows the operand at index `at`.
fn pick<T>(from: &mut [T], at: usize) -> Option<&mut T> {
    let len = from.len();
    from.get_mut(at.checked_rem(len)?)
}

impl TwinReferences {
    fn apply(&mut self, op: &Op) {
        // Without an operand the step does nothing.
        let _ = self.try_apply(op);
    }

    fn try_apply(&mut self, op: &Op) -> Option<()> {
        let (our_live, std_live) = (Rc::clone(&self.our_live), Rc::clone(&self.std_live));
        let both = |number| (Tracked::new(number, &our_live), Tracked::new(number, &std_live));
        match *op {
            Op::New(number) => {
                let (our, std) = both(number);
                self.strong.push((Ours::new(our), Stds::new(std)));
            }
            Op::NewCyclic(number) => {
                let (our, std) = both(number);
                let (mut our_weak, mut std_weak) = (OurWeak::new(), StdWeak::new());
                let our = Ours::new_cyclic(|me: &OurWeak<Tracked>| {
                    our_weak = me.clone();
                    our
                });
                let std = Stds::new_cyclic(|me: &StdWeak<Tracked>| {
                    std_weak = me.clone();
                    std
                });
                self.strong.push((our, std));
                self.weak.push((our_weak, std_weak));
            }
            Op::FromBox(number) => {
                let (our, std) = both(number);
                let (our, std): (Box<dyn Number>, Box<dyn Number>) = (Box::new(our), Box::new(std));
                self.dynamic.push((our.into(), std.into()));
            }
            Op::Clone(at) => {
                let pair = pick(&mut self.strong, at)?.clone();
                self.strong.push(pair);
            }
            Op::Drop(at) => drop(take(&mut self.strong, at)?),
            Op::Downgrade(at) => {
                let (our, std) = pick(&mut self.strong, at)?;
                self.weak.push((Ours::downgrade(our), Stds::downgrade(std)));
            }
            Op::Upgrade(at) => {
                let (our, std) = pick(&mut self.weak, at)?;
                match (our.upgrade(), std.upgrade()) {
                    (Some(our), Some(std)) => self.strong.push((our, std)),
                    (our, std) => assert!(our.is_none() && std.is_none()),
                }
            }
            Op::CloneWeak(at) => {
                let pair = pick(&mut self.weak, at)?.clone();
                self.weak.push(pair);
            }
            Op::DropWeak(at) => drop(take(&mut self.weak, at)?),
            Op::GetMut(at, number) => {
                let (our, std) = pick(&mut self.strong, at)?;
                let (our, std) = (Ours::get_mut(our), Stds::get_mut(std));
                assert_eq!(our.is_some(), std.is_some());
                our?.number = number;
                std?.number = number;
            }
            Op::MakeMut(at, number) => {
                let (our, std) = pick(&mut self.strong, at)?;
                Ours::make_mut(our).number += number;
                Stds::make_mut(std).number += number;
            }
            Op::TryUnwrap(at) => {
                let (our, std) = take(&mut self.strong, at)?;
                match (Ours::try_unwrap(our), Stds::try_unwrap(std)) {
                    (Ok(our), Ok(std)) => assert_eq!(our.number, std.number),
                    (Err(our), Err(std)) => self.strong.push((our, std)),
                    (our, std) => panic!("{our:?} and {std:?}"),
                }
            }
            Op::IntoInner(at) => {
                let (our, std) = take(&mut self.strong, at)?;
                let (our, std) = (Ours::into_inner(our), Stds::into_inner(std));
                assert_eq!(our.map(|value| value.number), std.map(|value| value.number));
            }
            Op::UnwrapOrClone(at) => {
                let (our, std) = take(&mut self.strong, at)?;
                assert_eq!(Ours::unwrap_or_clone(our).number, Stds::unwrap_or_clone(std).number);
            }
            Op::ThroughRaw(at) => {
                let (our, std) = take(&mut self.strong, at)?;
                // SAFETY: from `into_raw`.
                let our = unsafe { Ours::from_raw(Ours::into_raw(our)) };
                self.strong.push((our, std));
            }
            Op::WeakThroughRaw(at) => {
                let (our, std) = take(&mut self.weak, at)?;
                // SAFETY: from `into_raw`.
                let our = unsafe { OurWeak::from_raw(our.into_raw()) };
                self.weak.push((our, std));
            }
            Op::RawCounts(at) => {
                let (our, std) = pick(&mut self.strong, at)?;
                let raw = Ours::as_ptr(our);
                // SAFETY: `our` holds a reference.
                unsafe { Ours::increment_strong_count(raw) };
                assert_eq!(Ours::strong_count(our), Stds::strong_count(std) + 1);
                // SAFETY: the one just counted.
                unsafe { Ours::decrement_strong_count(raw) };
            }
            Op::Unsize(at) => {
                let (our, std) = take(&mut self.strong, at)?;
                self.dynamic.push((Ours::unsize(our, |value| value), std));
            }
            Op::CloneDyn(at) => {
                let pair = pick(&mut self.dynamic, at)?.clone();
                self.dynamic.push(pair);
            }
            Op::DropDyn(at) => drop(take(&mut self.dynamic, at)?),
        }
        Some(())
    }

    fn check(&self) {
        assert_eq!(self.our_live.get(), self.std_live.get(), "values alive");
        for (our, std) in &self.strong {
            assert_eq!(our.number, std.number);
            assert_eq!(Ours::strong_count(our), Stds::strong_count(std));
            assert_eq!(Ours::weak_count(our), Stds::weak_count(std));
        }
        for (our, std) in &self.weak {
            assert_eq!(our.strong_count(), std.strong_count());
            assert_eq!(our.weak_count(), std.weak_count());
        }
        for (our, std) in &self.dynamic {
            assert_eq!(our.number(), std.number());
            assert_eq!(Ours::strong_count(our), Stds::strong_count(std));
            assert_eq!(Ours::weak_count(our), Stds::weak_count(std));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn ours_does_what_stds_does(ops in vec(op(), 0..100)) {
        let mut world = TwinReferences::default();
        for op in &ops {
            world.apply(op);
            world.check();
        }
        let live = Rc::clone(&world.our_live);
        drop(world);
        prop_assert_eq!(live.get(), 0);
    }

    #[test]
    fn slices_are_stds_slices(values in vec(any::<String>(), 0..20)) {
        let ours: Ours<[String]> = Ours::from(&values[..]);
        prop_assert_eq!(&*ours, &values[..]);
        prop_assert_eq!(&*Ours::<[String]>::from(values.clone()), &values[..]);
        prop_assert_eq!(&*values.iter().cloned().collect::<Ours<[_]>>(), &values[..]);
        let text = values.concat();
        prop_assert_eq!(&*Ours::<str>::from(text.as_str()), text.as_str());
    }
}
