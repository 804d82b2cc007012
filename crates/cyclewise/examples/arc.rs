//! `Arc` in a program of one thread: its counts lose their LOCK prefixes, and get them back before a second thread runs.

use cyclewise::patch::{Mode, state};
use cyclewise::refs::Arc;

fn main() {
    let shared = Arc::new(String::from("shared"));
    // SAFETY: the program creates its threads through the C library, and shares no counts with other processes.
    match unsafe { cyclewise::enable_single!() } {
        Ok(()) => assert_eq!((state().mode, state().elided), (Mode::Single, state().sites)),
        Err(refusal) => println!("LOCK stays: {refusal}"),
    }
    println!("{:?}", state());
    let copy = Arc::clone(&shared);
    assert_eq!(Arc::strong_count(&shared), 2);

    // LOCK is back before the thread's first instruction.
    std::thread::spawn(move || {
        assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
        drop(copy);
    })
    .join()
    .unwrap();
    assert_eq!(Arc::strong_count(&shared), 1);
    println!("{:?}", state());
}
