//! An object's drop panics while its container is dropped: each of the others is still dropped once. The twin stops at the panic.
#![cfg(panic = "unwind")]

use crate::percpu::{FreeList, Stack};
use core::cell::Cell;
use core::mem::ManuallyDrop;
use std::boxed::Box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::vec::Vec;

/// Counts drops, and panics in the second.
struct Fragile(Rc<Cell<u32>>);

impl Drop for Fragile {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
        assert_ne!(self.0.get(), 2, "a drop that panics");
    }
}

/// How many of the four objects passed to `keep` are dropped with its result.
fn dropped<K>(keep: impl FnOnce(Vec<Fragile>) -> K) -> u32 {
    let count = Rc::new(Cell::new(0));
    let kept = keep((0..4).map(|_| Fragile(count.clone())).collect());
    assert!(catch_unwind(AssertUnwindSafe(|| drop(kept))).is_err());
    count.get()
}

#[test]
fn a_list_drops_the_others() {
    let list = |four: Vec<Fragile>| {
        let list = FreeList::new();
        four.into_iter().for_each(|one| list.grow(one).push());
        list
    };
    assert_eq!(dropped(list), 4);
}

#[test]
fn a_stack_drops_the_others() {
    let stack = |four: Vec<Fragile>| {
        // Four cells: all values fit, whichever CPU they are pushed on.
        let stack = Stack::<Box<Fragile>, 4>::new();
        for one in four {
            assert!(stack.push(Box::new(one)).is_ok());
        }
        stack
    };
    assert_eq!(dropped(stack), 4);
}

#[test]
fn the_twin_whose_loop_ends_with_the_panic_leaves_some() {
    struct Twin(Vec<ManuallyDrop<Box<Fragile>>>);
    impl Drop for Twin {
        fn drop(&mut self) {
            // Like a list of nodes by address: only this loop can reach the rest.
            while let Some(one) = self.0.pop() {
                drop(ManuallyDrop::into_inner(one));
            }
        }
    }
    let twin = |four: Vec<Fragile>| Twin(four.into_iter().map(|one| ManuallyDrop::new(Box::new(one))).collect());
    assert_eq!(dropped(twin), 2);
}
