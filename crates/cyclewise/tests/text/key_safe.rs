//! A module that forbids unsafe code may declare, test and flip keys.

#![forbid(unsafe_code)]

use crate::common::harness::{Check, checks};

pub(crate) const CHECKS: &[Check] = checks![a_key_needs_no_unsafe_code,];

cyclewise::static_key! {
    static SAFE: StaticKey = false;
}

fn a_key_needs_no_unsafe_code() {
    assert!(!SAFE.is_enabled());
    SAFE.enable().unwrap();
    assert!(SAFE.is_enabled());
    SAFE.disable().unwrap();
    assert!(!SAFE.is_enabled());
}
