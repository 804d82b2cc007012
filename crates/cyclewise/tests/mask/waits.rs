//! Data shared with handlers, and calls that sleep under a hold.

use crate::common::call;
use crate::common::harness::{Check, checks};
use crate::common::until;
use crate::masking::{CONTEXTS, COUNT, SEEN, install, kernel_mask, plain, queue, raise, seen, signal_when_asleep};
use cyclewise::mask::{self, Hold, Info, Masked, Polled, Signals, Woken};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

pub(crate) const CHECKS: &[Check] = checks![
    a_masked_value_is_not_taken_twice,
    a_masked_value_is_shared_by_threads_and_handlers,
    calls_are_restarted_or_interrupted,
    a_wait_is_not_slept_through,
    a_wait_sees_descriptors_and_the_time,
];

fn a_masked_value_is_not_taken_twice() {
    let value = Masked::new(7);
    let hold = mask::hold();
    let mut guard = value.lock(&hold);
    *guard += 1;
    let twice = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(value.lock(&hold))));
    assert!(twice.is_err());
    drop(guard);
    assert_eq!(*value.lock(&hold), 8);
    assert_eq!(value.into_inner(), 8);
}

static SUM: Masked<(u64, u64)> = Masked::new((0, 0));

fn a_masked_value_is_shared_by_threads_and_handlers() {
    const EACH: u64 = 3000;
    let handler = |_: &Info, hold: &Hold| {
        let mut sum = SUM.lock(hold);
        sum.0 += 1;
        std::hint::black_box(&mut *sum);
        sum.1 += 1;
    };
    // SAFETY: other users of the lock hold signals, so the interrupted thread never owns it.
    unsafe { Signals::call(libc::SIGRTMIN(), handler) }.unwrap();
    let work = || {
        for _ in 0..EACH {
            queue(libc::SIGRTMIN(), 0);
            let hold = mask::hold();
            let mut sum = SUM.lock(&hold);
            queue(libc::SIGRTMIN(), 0);
            sum.0 += 1;
            std::hint::black_box(&mut *sum);
            sum.1 += 1;
            assert_eq!(sum.0, sum.1);
        }
    };
    std::thread::scope(|scope| (0..3).for_each(|_| drop(scope.spawn(work))));
    let hold = mask::hold();
    assert_eq!(*SUM.lock(&hold), (9 * EACH, 9 * EACH));
}

static SIGNALLED: AtomicUsize = AtomicUsize::new(0);

fn calls_are_restarted_or_interrupted() {
    Signals::on(libc::SIGUSR1, &COUNT).unwrap();
    Signals::on_interrupting(libc::SIGUSR2, &COUNT).unwrap();
    let thread = call::gettid();
    let (reader, writer) = std::io::pipe().unwrap();
    let read = || {
        let mut byte = 0u8;
        // SAFETY: one byte of ours.
        let rc = unsafe { libc::read(reader.as_raw_fd(), (&raw mut byte).cast(), 1) };
        (rc, std::io::Error::last_os_error().raw_os_error().unwrap_or(0))
    };
    for held in [false, true] {
        let hold = held.then(mask::hold);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                signal_when_asleep(thread, libc::SIGUSR2);
                until(|| SIGNALLED.swap(0, SeqCst) != 0);
                signal_when_asleep(thread, libc::SIGUSR1);
                // Asleep again or about to sleep: in both cases the byte arrives after the signal.
                let mut writer = &writer;
                std::io::Write::write_all(&mut writer, &[1]).unwrap();
            });
            assert_eq!(read(), (-1, libc::EINTR));
            SIGNALLED.store(1, SeqCst);
            assert_eq!(read().0, 1, "restarted");
        });
        drop(hold);
    }
    assert_eq!(COUNT.load(SeqCst), 4);
}

fn a_wait_is_not_slept_through() {
    Signals::on(libc::SIGUSR1, &COUNT).unwrap();
    let thread = call::gettid();
    let before = kernel_mask();
    let hold = mask::hold();
    // Recorded just before: it does not sleep.
    raise(libc::SIGUSR1);
    assert_eq!(hold.wait(&mut [], None), Ok(Woken::Signal));
    assert_eq!(COUNT.load(SeqCst), 0, "the hold stays in force");
    drop(hold);
    assert_eq!(COUNT.load(SeqCst), 1);
    // While it sleeps.
    let hold = mask::hold();
    std::thread::scope(|scope| {
        scope.spawn(|| signal_when_asleep(thread, libc::SIGUSR1));
        assert_eq!(hold.wait(&mut [], None), Ok(Woken::Signal));
    });
    assert_eq!(kernel_mask(), before);
    drop(hold);
    assert_eq!(COUNT.load(SeqCst), 2);
    // More than the buffer holds: the kernel keeps the signal queued.
    Signals::on(libc::SIGRTMIN(), &SEEN).unwrap();
    let hold = mask::hold();
    (0..40).for_each(|value| queue(libc::SIGRTMIN(), value));
    let blocked = kernel_mask();
    assert_eq!(hold.wait(&mut [], None), Ok(Woken::Signal));
    assert_eq!(kernel_mask(), blocked);
    drop(hold);
    assert_eq!(seen().len(), 40);
    assert_eq!(kernel_mask(), before);
}

fn a_wait_sees_descriptors_and_the_time() {
    let (reader, writer) = std::io::pipe().unwrap();
    let hold = mask::hold();
    let mut polled = [
        Polled::new(reader.as_fd(), libc::POLLIN),
        Polled::new(writer.as_fd(), libc::POLLOUT),
    ];
    assert_eq!(
        hold.wait(&mut polled[..1], Some(Duration::from_millis(1))),
        Ok(Woken::Timeout)
    );
    assert_eq!(hold.wait(&mut polled, Some(Duration::MAX)), Ok(Woken::Ready(1)));
    assert_eq!(polled.map(|polled| polled.happened()), [0, libc::POLLOUT]);
    // Another library's handler ends it too, and the result shows that.
    install(libc::SIGUSR2, plain as *const () as usize, 0);
    let thread = call::gettid();
    std::thread::scope(|scope| {
        scope.spawn(|| signal_when_asleep(thread, libc::SIGUSR2));
        assert_eq!(hold.wait(&mut [], None), Ok(Woken::Interrupted));
    });
    assert_eq!(CONTEXTS.load(SeqCst), 100);
}
