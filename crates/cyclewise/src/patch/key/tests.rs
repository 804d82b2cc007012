//! A key's value in each of its states. Flips under load are in `tests/`.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "the test of a key expands to assembly")
)]

use super::*;

crate::static_key! {
    static OFF: StaticKey = false;
    static ON: StaticKey = true;
    static COUNTED: StaticKey = false;
}

#[test]
fn keys_begin_at_their_default_and_switch() {
    assert!(!OFF.is_enabled());
    assert!(ON.is_enabled());
    for _ in 0..2 {
        OFF.enable().unwrap();
        ON.disable().unwrap();
        assert!(OFF.is_enabled());
        assert!(!ON.is_enabled());
    }
    OFF.disable().unwrap();
    ON.enable().unwrap();
    assert!(!OFF.is_enabled());
    assert!(ON.is_enabled());
}

/// A key with a table other than this crate's: a flip would change its value and none of its tests.
#[test]
fn a_key_of_another_link_unit_is_refused() {
    static FOREIGN: StaticKey = StaticKey::__new(false, || usize::MAX);
    assert_eq!(FOREIGN.enable(), Err(Refusal::OtherUnit));
    assert_eq!(FOREIGN.inc(), Err(Refusal::OtherUnit));
    assert_eq!((FOREIGN.__flag(), FOREIGN.users()), (false, 0));
    // The twin: the macro passes this crate's table.
    static OURS: StaticKey = StaticKey::__new(false, crate::__static_key_table!());
    assert_eq!(OURS.enable(), Ok(()));
}

#[test]
fn users_keep_a_key_on() {
    assert_eq!(COUNTED.dec(), Err(Refusal::NoUsers), "none to take away");
    COUNTED.inc().unwrap();
    COUNTED.inc().unwrap();
    COUNTED.dec().unwrap();
    assert!(COUNTED.is_enabled());
    COUNTED.enable().unwrap();
    COUNTED.dec().unwrap();
    assert!(COUNTED.is_enabled(), "switched on");
    COUNTED.inc().unwrap();
    COUNTED.disable().unwrap();
    assert!(COUNTED.is_enabled(), "one user");
    COUNTED.dec().unwrap();
    assert!(!COUNTED.is_enabled());
    COUNTED.users.store(u32::MAX, Relaxed);
    assert_eq!(COUNTED.inc(), Err(Refusal::TooManyUsers));
    COUNTED.users.store(0, Relaxed);
}
