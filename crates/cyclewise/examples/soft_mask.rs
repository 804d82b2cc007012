//! The soft mask: handlers of signals are held back by a flag of the thread, without a system call.

use cyclewise::mask::{self, Masked, Queue, Signals};

static ARRIVED: Masked<Queue<64>> = Masked::new(Queue::new());

fn main() {
    Signals::on(libc::SIGUSR1, &ARRIVED).unwrap();

    let hold = mask::hold();
    // SAFETY: takes a number.
    unsafe { libc::raise(libc::SIGUSR1) };
    // The signal is recorded, and its handler has not run: what the handler shares is safe to use here.
    assert!(mask::is_pending());
    assert!(ARRIVED.lock(&hold).pop().is_none());

    drop(hold); // It runs now.
    let hold = mask::hold();
    let info = ARRIVED.lock(&hold).pop().unwrap();
    assert_eq!(info.signal(), libc::SIGUSR1);
    println!("signal {} was held, then handled", info.signal());
}
