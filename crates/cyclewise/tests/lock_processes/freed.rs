//! A lock whose memory is freed as soon as its last holder has released it.

use crate::common::child::{End, in_child};
use crate::common::until;
use crate::stress::{alarm, unlock};
use cyclewise::lock::RawSpinLock;
use lock_api::RawMutex;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;

/// How often memory is freed after a release.
const FREES: u32 = 2_000;

/// A page of its own, for a lock that is freed with it.
fn page() -> *mut libc::c_void {
    // SAFETY: a new private mapping.
    let page = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            4096,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    assert_ne!(page, libc::MAP_FAILED);
    page
}

/// Two threads and one lock, on a page that the second holder unmaps right after its release. A release that accesses
/// the lock afterwards faults.
pub(crate) fn frees_behind_a_release(release: fn(&RawSpinLock, &AtomicBool)) {
    alarm();
    let (place, turn, freed) = (AtomicUsize::new(0), Barrier::new(2), AtomicBool::new(false));
    let at = |address: usize| {
        let lock = std::ptr::with_exposed_provenance::<RawSpinLock>(address);
        // SAFETY: mapped until the second holder is done; the first holder's borrow ends at its release.
        unsafe { &*lock }
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..FREES {
                turn.wait();
                let address = place.load(SeqCst);
                let lock = at(address);
                // Waits until the first thread holds the lock.
                turn.wait();
                lock.lock();
                unlock(lock);
                // SAFETY: the page is ours, and no thread uses the lock in it any more, as the lock promises.
                unsafe { libc::munmap(std::ptr::with_exposed_provenance_mut(address), 4096) };
                freed.store(true, SeqCst);
                turn.wait();
            }
        });
        for _ in 0..FREES {
            freed.store(false, SeqCst);
            let page = page();
            // All zeroes is a free lock; this makes it explicit.
            // SAFETY: mapped, aligned, and not shared yet.
            unsafe { page.cast::<RawSpinLock>().write(RawSpinLock::INIT) };
            place.store(page.expose_provenance(), SeqCst);
            turn.wait();
            let lock = at(page.addr());
            lock.lock();
            turn.wait();
            release(lock, &freed);
            turn.wait();
        }
    });
}

pub(crate) fn twin_a_touch_after_the_release_is_seen() {
    let status = in_child(|| {
        frees_behind_a_release(|lock, freed| {
            unlock(lock);
            until(|| freed.load(SeqCst));
            let _ = std::hint::black_box(lock.is_locked());
        });
    });
    assert_eq!(
        status,
        Err(End::Signal(libc::SIGSEGV)),
        "a fault at the page that is gone"
    );
}
