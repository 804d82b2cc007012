//! `Send` and `Sync` of a lock and its guard, for values with and without these bounds.
#![cfg(not(loom))]

use crate::bounded::{Sent, Shared, refuses};
use cyclewise::lock::{
    Exponential, Futex, Moment, NoRelax, Pause, RawSpinLock, SpinLock, SpinLockGuard, SpinLockWith, SpinOnly,
};
use std::cell::Cell;
use std::rc::Rc;

fn goes<T: Send + Sync>() {}
fn is_sent<T: Send>() {}
fn is_shared<T: Sync>() {}

#[test]
fn a_lock_is_shared_where_its_value_may_be_sent() {
    goes::<SpinLock<u8>>();
    goes::<SpinLock<Sent>>();
    goes::<SpinLockWith<Cell<u8>, SpinOnly, Pause>>();
    refuses!(SpinLock<Rc<u8>>: Send);
    refuses!(SpinLock<Rc<u8>>: Sync);
    refuses!(SpinLock<Shared>: Send);
    refuses!(SpinLock<Shared>: Sync);
    // A relax strategy is created where it is used.
    struct Local(#[expect(dead_code, reason = "for its bounds")] Rc<u8>);
    goes::<RawSpinLock<Local, Local>>();
}

#[test]
fn a_guard_goes_where_its_value_goes() {
    goes::<SpinLockGuard<'_, u8>>();
    is_sent::<SpinLockGuard<'_, Sent>>();
    refuses!(SpinLockGuard<'static, Sent>: Sync);
    is_shared::<SpinLockGuard<'_, Shared>>();
    refuses!(SpinLockGuard<'static, Rc<u8>>: Send);
    refuses!(SpinLockGuard<'static, Rc<u8>>: Sync);
}

#[test]
fn ways_to_wait_go_anywhere() {
    goes::<(Futex, SpinOnly, Moment)>();
    goes::<(NoRelax, Pause, Exponential)>();
}

/// The macro's own test. A type that has the bound would not compile, so the opposite is shown.
#[test]
fn twin_what_is_refused_is_not_there() {
    trait Is {
        const IS: bool = false;
    }
    impl<T> Is for T {}
    struct Ask<T>(std::marker::PhantomData<T>);
    impl<T: Sync> Ask<T> {
        const IS: bool = true;
    }
    const { assert!(Ask::<SpinLock<Sent>>::IS) };
    const { assert!(!<Ask<SpinLock<Rc<u8>>> as Is>::IS) };
}
