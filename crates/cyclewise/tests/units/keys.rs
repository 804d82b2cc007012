//! Static keys of C in another link unit.

use crate::common::harness::{Check, checks};
use crate::object::{Object, compile};
use cyclewise::error::Refusal;
use cyclewise::patch::units::{self, Key, Unit};

pub(crate) const CHECKS: &[Check] = checks![
    a_key_of_another_unit_is_flipped_in_its_own_table,
    users_keep_a_key_of_c_on,
    a_key_of_a_unit_that_is_not_one_is_refused,
];

fn loaded() -> Object {
    Object::load(&compile("keyed", &[]), "keyed", libc::RTLD_LOCAL)
}

fn a_key_of_another_unit_is_flipped_in_its_own_table() {
    let object = loaded();
    assert!(!object.is_on());
    for _ in 0..3 {
        object.set_key(true).unwrap();
        object.set_key(true).unwrap();
        assert!(object.is_on());
        object.set_key(false).unwrap();
        assert!(!object.is_on());
    }
    // Beside other threads.
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let second = std::thread::spawn(move || stopped.recv().unwrap_err());
    object.set_key(true).unwrap();
    assert!(object.is_on());
    drop(stop);
    second.join().unwrap();
    // What is loaded in its place next has another key and another table.
    object.close();
    let object = loaded();
    assert!(!object.is_on());
    object.set_key(true).unwrap();
    assert!(object.is_on());
}

fn users_keep_a_key_of_c_on() {
    let object = loaded();
    let (unit, key) = (object.descriptor(), object.key());
    // SAFETY: descriptor and key of one object, which stays loaded.
    let [inc, dec] = [units::key_inc, units::key_dec].map(|change| move || unsafe { change(unit, key) });
    assert_eq!(dec(), Err(Refusal::NoUsers));
    inc().unwrap();
    inc().unwrap();
    object.set_key(true).unwrap();
    object.set_key(false).unwrap();
    dec().unwrap();
    assert!(object.is_on());
    dec().unwrap();
    assert!(!object.is_on());
}

fn a_key_of_a_unit_that_is_not_one_is_refused() {
    for options in [&["-DABI=2"], &["-DSIZE=88"]] {
        let object = Object::load(&compile("strange", options), "strange", libc::RTLD_LOCAL);
        let at = object.descriptor().addr();
        assert_eq!(object.set_key(true), Err(Refusal::BadUnit { at }));
        assert!(!object.is_on());
        object.close();
    }
    let object = loaded();
    let null = std::ptr::null::<()>();
    // SAFETY: null is refused.
    let outcome = unsafe { units::key_set(null.cast::<Unit>(), null.cast::<Key>(), true) };
    assert_eq!(outcome, Err(Refusal::BadUnit { at: 0 }));
    // SAFETY: null is refused.
    let outcome = unsafe { units::key_set(object.descriptor(), null.cast::<Key>(), true) };
    assert_eq!(outcome, Err(Refusal::BadUnit { at: 0 }));
}
