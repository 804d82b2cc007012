//! `Send`, `Sync` and lifetimes of the mask's and the clock's types. Code that must not compile is in `compile_fail`.

use cyclewise::clock::{
    Bracketed, Clock, ClocksourceName, DependentLoad, Instant, LoadOrdered, Mock, PerTask, Reading, Reason, Status,
    System, Ticks, Upkeep,
};
use cyclewise::mask::{Flags, Hold, Info, Masked, MaskedGuard, Polled, Queue, Signals, Woken};
use std::cell::Cell;
use std::rc::Rc;

/// Tells whether the bound holds: the inherent item hides the trait's item of the same name only under its bound.
macro_rules! has {
    ($type:ty: $($bound:tt)+) => {{
        #[allow(dead_code, reason = "it is asked where the bound does not hold")]
        trait Otherwise {
            const ANSWER: bool = false;
        }
        impl<T: ?Sized> Otherwise for Asked<T> {}
        struct Asked<T: ?Sized>(std::marker::PhantomData<T>);
        #[allow(dead_code, reason = "it is there where the bound holds")]
        impl<T: ?Sized + $($bound)+> Asked<T> {
            const ANSWER: bool = true;
        }
        Asked::<$type>::ANSWER
    }};
}

macro_rules! check {
    ($($type:ty: $send:literal $sync:literal;)*) => { $(
        assert_eq!((has!($type: Send), has!($type: Sync)), ($send, $sync), stringify!($type));
    )* };
}

#[test]
fn what_belongs_to_a_thread_stays_there() {
    check! {
        Hold: false false;
        Flags: false false;
        MaskedGuard<'static, u32>: false false;
        MaskedGuard<'static, Cell<u32>>: false false;
    }
}

#[test]
fn a_masked_value_is_shared_if_it_may_be_sent() {
    check! {
        Masked<u32>: true true;
        Masked<Cell<u32>>: true true;
        Masked<[u8]>: true true;
        Masked<Rc<u32>>: false false;
        Masked<std::sync::MutexGuard<'static, u32>>: false false;
        Masked<dyn Send>: true true;
        Masked<dyn Sync>: false false;
        Masked<Queue<4>>: true true;
    }
}

#[test]
fn what_is_a_number_is_sent_and_shared() {
    check! {
        Info: true true;
        Queue<4>: true true;
        Signals: true true;
        Polled<'static>: true true;
        Woken: true true;
        Instant<PerTask>: true true;
        Instant<LoadOrdered>: true true;
        Ticks<Bracketed>: true true;
        Reading<DependentLoad>: true true;
        Status: true true;
        Reason: true true;
        ClocksourceName: true true;
        System: true true;
        Mock: true true;
    }
}

#[test]
fn a_clock_is_what_its_source_is() {
    check! {
        Clock: true true;
        Clock<Mock>: true true;
        Clock<Cell<u32>>: true false;
        Clock<Rc<u32>>: false false;
        Clock<std::sync::MutexGuard<'static, u32>>: false true;
        Upkeep: true true;
    }
}

#[test]
fn the_question_has_both_answers() {
    check! {
        u32: true true;
        Cell<u32>: true false;
        *const u32: false false;
    }
}

/// A guard and a descriptor are covariant in their lifetimes.
#[expect(dead_code, reason = "that it compiles is what is tested")]
mod covariant {
    use super::{MaskedGuard, Polled};

    fn guard<'long: 'short, 'short>(guard: MaskedGuard<'long, u32>) -> MaskedGuard<'short, u32> {
        guard
    }

    fn polled<'long: 'short, 'short>(polled: Polled<'long>) -> Polled<'short> {
        polled
    }
}
