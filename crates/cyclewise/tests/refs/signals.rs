//! References in a signal handler, while its thread uses another reference to the same value.
#![cfg(all(not(loom), target_os = "linux"))]

use crate::common::call;
use crate::common::signal;
use crate::common::until;
use cyclewise::refs::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;

/// Signals handled inside the operations, where the loop spends most of its time.
const SIGNALS: usize = 1_000;

static SHARED: OnceLock<Arc<u64>> = OnceLock::new();
static HANDLED: AtomicUsize = AtomicUsize::new(0);

/// Every operation that neither allocates nor frees.
extern "C" fn handler(_: libc::c_int) {
    let shared = SHARED.get().expect("set before the handler");
    let weak = Arc::downgrade(shared);
    let (again, other) = (weak.clone(), weak.upgrade().expect("it lives"));
    assert!(Arc::ptr_eq(&other, &again.upgrade().expect("and still")));
    HANDLED.fetch_add(1, SeqCst);
}

/// A downgrade used to wait for a thread inside `get_mut`: here for the thread that the handler interrupted.
#[test]
fn a_handler_waits_for_nobody() {
    let shared = SHARED.get_or_init(|| Arc::new(7));
    signal::handle(libc::SIGUSR1, handler);
    // Ends a process that hangs, long after any machine has finished.
    call::alarm(600);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let (send, receive) = std::sync::mpsc::channel();
        let stop = &stop;
        scope.spawn(move || {
            send.send(signal::this_thread()).unwrap();
            let mut mine = shared.clone();
            while !stop.load(SeqCst) {
                assert!(Arc::get_mut(&mut mine).is_none());
                drop(Arc::downgrade(&mine).upgrade().expect("it lives"));
                mine = Arc::try_unwrap(mine).expect_err("not the only one");
            }
        });
        let thread = receive.recv().unwrap();
        for sent in 0..SIGNALS {
            signal::send(thread, libc::SIGUSR1);
            until(|| HANDLED.load(SeqCst) > sent);
        }
        stop.store(true, SeqCst);
    });
    call::alarm(0);
    assert_eq!((Arc::strong_count(shared), Arc::weak_count(shared)), (1, 0));
}
