//! `Send`, `Sync` and lifetimes of the references and counts, for values with and without these bounds.
//!
//! The programs in `src/refs/compile_fail.rs` lengthen lifetimes and must not compile.
#![cfg(not(loom))]

use crate::bounded::{Sent, Shared, refuses};
use cyclewise::refs::lockref::{Adaptive, Bounded, Guard, Ref};
use cyclewise::refs::rcuref::{Entry, Key, Pool, Rcuref};
use cyclewise::refs::refcount::{Action, Event, Misuse};
use cyclewise::refs::{Arc, LockRef, Refcount, Refcount64, Unsizing, Weak};
use std::any::Any;
use std::rc::Rc;

fn goes<T: ?Sized + Send + Sync>() {}
fn is_sent<T: ?Sized + Send>() {}
fn is_shared<T: ?Sized + Sync>() {}

#[test]
fn an_arc_goes_where_its_value_may_go_and_be_shared() {
    goes::<Arc<u8>>();
    goes::<Weak<[u8]>>();
    goes::<Arc<dyn Any + Send + Sync>>();
    refuses!(Arc<Sent>: Send);
    refuses!(Arc<Sent>: Sync);
    refuses!(Arc<Shared>: Send);
    refuses!(Arc<Shared>: Sync);
    refuses!(Arc<dyn Any + Send>: Send);
    refuses!(Weak<Sent>: Send);
    refuses!(Weak<Sent>: Sync);
    refuses!(Weak<Shared>: Send);
    refuses!(Weak<Shared>: Sync);
    refuses!(Unsizing<Rc<u8>>: Send);
    refuses!(Unsizing<Sent>: Sync);
}

#[test]
fn a_lockref_is_shared_where_its_data_may_be_sent() {
    goes::<LockRef<Sent>>();
    goes::<Ref<'_, Sent>>();
    refuses!(LockRef<Rc<u8>>: Send);
    refuses!(LockRef<Shared>: Sync);
    refuses!(LockRef<(), Sent>: Sync);
    refuses!(LockRef<(), Rc<u8>>: Send);
    refuses!(Ref<'static, Shared>: Send);
    refuses!(Ref<'static, Rc<u8>>: Sync);
    // The thread that locks also unlocks.
    refuses!(Guard<'static, u8>: Send);
    is_shared::<Guard<'_, u8>>();
    refuses!(Guard<'static, Sent>: Sync);
    refuses!(Guard<'static, Shared>: Sync);
    refuses!(Guard<'static, u8, Sent>: Sync);
}

#[test]
fn a_pool_is_shared_where_its_values_may_be_both() {
    goes::<Pool<u8>>();
    goes::<Entry<'_, u8>>();
    is_sent::<Pool<Sent>>();
    refuses!(Pool<Sent>: Sync);
    refuses!(Pool<Shared>: Send);
    refuses!(Pool<Shared>: Sync);
    refuses!(Entry<'static, Sent>: Send);
    refuses!(Entry<'static, Sent>: Sync);
    refuses!(Entry<'static, Shared>: Send);
    refuses!(Entry<'static, Shared>: Sync);
}

#[test]
fn counts_and_policies_go_anywhere() {
    goes::<(Refcount, Refcount64, Rcuref, Key)>();
    goes::<(Action, Event, Misuse)>();
    goes::<(Adaptive, Bounded)>();
    goes::<Adaptive<Rc<u8>>>();
}

#[test]
fn what_is_only_read_may_be_taken_for_shorter() {
    fn arc<'a>(long: Arc<&'static str>, _: &'a str) -> Arc<&'a str> {
        long
    }
    fn weak<'a>(long: Weak<&'static str>, _: &'a str) -> Weak<&'a str> {
        long
    }
    let short = String::from("short");
    let long = Arc::new("long");
    assert!(weak(Arc::downgrade(&long), &short).upgrade().is_some());
    assert_eq!(*arc(long, &short), "long");
}
