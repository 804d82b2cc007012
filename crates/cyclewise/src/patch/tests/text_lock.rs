//! One thread at a time.

use crate::error::Refusal;
use crate::patch::text_lock::*;

#[test]
fn one_thread_at_a_time_and_the_owner_is_told() {
    let held = lock().unwrap();
    assert_eq!(lock().err(), Some(Refusal::Busy));
    let other = std::thread::spawn(|| drop(lock().unwrap()));
    drop(held);
    other.join().unwrap();
    drop(lock().unwrap());
}
