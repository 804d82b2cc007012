//! Per-CPU data in whole processes: rseq registered by the C library, by us, by another library, by none, and filters.
//!
//! Process-wide decisions are tested in a new process: this program, run again with the name of the part in its
//! environment (`parts`).

#![cfg(target_os = "linux")]

use crate::parts::{HITS, NOT_BY_LIBC, again, kernel_has_rseq, nothing_is_lost};
use cyclewise::percpu::{Backend, Counter, FreeList, PerCpu, Reason, Ref, Report, Ring, Slot, backend};
#[cfg(target_arch = "x86_64")]
use cyclewise::{
    error::Refusal,
    percpu::{Arc, ArcOwner},
};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

#[test]
fn the_backend_is_the_kernels_or_says_why_not() {
    let Report { backend, reason, cid } = cyclewise::percpu::backend();
    println!("{}", cyclewise::percpu::backend());
    if kernel_has_rseq() {
        assert_eq!(backend, Backend::Rseq);
    } else {
        let errno = libc::ENOSYS;
        assert_eq!(
            (backend, reason, cid),
            (Backend::Portable, Reason::Refused { errno }, false)
        );
    }
    nothing_is_lost();
}

/// The allocator's bookkeeping: if a handler forked inside it, its child would take over the lock that the interrupted
/// code still uses. So nothing is allocated where signals cannot be blocked, and existing data still works. The filters
/// affect only this test's thread.
#[test]
#[cfg(target_arch = "x86_64")]
fn without_blocked_signals_nothing_is_given_out() {
    let (early, kept) = (PerCpu::<u64>::try_new().unwrap(), PerCpu::<u64>::new());
    kept.add(1);
    for errno in [libc::EPERM, 0] {
        crate::common::filter::refuse(libc::SYS_rt_sigprocmask, &[], errno);
        let errno = if errno == 0 { libc::ENOSYS } else { errno };
        let call = "rt_sigprocmask";
        assert_eq!(PerCpu::<u64>::try_new().err(), Some(Refusal::System { call, errno }));
    }
    drop(early);
    kept.add(1);
    assert_eq!(Slot::all().map(|slot| kept.get(slot)).sum::<u64>(), 2);
}

/// For kernels without rseq(2), as under qemu-user. Elsewhere the test below uses a filter.
#[test]
fn without_rseq_the_portable_backend_runs() {
    if kernel_has_rseq() {
        println!("skipped: this kernel has rseq(2)");
        return;
    }
    portable_slots_do_all();
    println!("ran without rseq(2): {}", backend());
}

/// In a process without rseq: the report gives the reason, and all operations are exact. All data is in portable slots;
/// the CPUs' slots stay empty.
fn portable_slots_do_all() {
    let errno = libc::ENOSYS;
    let refused = Report {
        backend: Backend::Portable,
        reason: Reason::Refused { errno },
        cid: false,
    };
    let says = |report: Report| {
        assert_eq!(report, refused);
        assert!(report.to_string().contains("rseq(2) failed with errno 38"), "{report}");
    };
    says(backend());
    nothing_is_lost();
    let (counter, list, ring) = (Counter::new(0), FreeList::new(), Ring::<u64, 64>::new());
    let (users, narrow) = (Ref::new(|| ()), PerCpu::<u16>::new());
    (0..64).for_each(|n| list.grow(n).push());
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (counter, list, ring, users, narrow) = (&counter, &list, &ring, &users, &narrow);
            scope.spawn(move || {
                says(backend());
                for n in 0..500 {
                    assert!(users.try_get_live());
                    counter.add(n);
                    narrow.add(1);
                    drop((list.pop(), list.pop()));
                    // A full ring returns the word; then another one is popped.
                    while ring.push(thread << 32 | n as u64).is_err() {
                        counter.add(i64::from(ring.pop().is_some()) << 40);
                    }
                    counter.add(i64::from(ring.pop().is_some()) << 40);
                    users.put();
                }
            });
        }
    });
    assert_eq!(narrow.sum(), 8 * 500);
    let mut left = Vec::new();
    ring.drain(&mut left).unwrap();
    let popped = 8 * 500 - left.len() as i64;
    assert_eq!(counter.sum(), 8 * (0..500).sum::<i64>() + (popped << 40));
    left.sort_unstable();
    left.dedup();
    assert_eq!(left.len() as i64, 8 * 500 - popped, "a word is there twice");
    let mut nodes: Vec<i32> = list.drain().unwrap().map(|node| *node).collect();
    nodes.sort_unstable();
    assert_eq!(nodes, (0..64).collect::<Vec<_>>());
    let all = HITS.sum();
    let of_cpus = (0..).map_while(Slot::from_id).map(|slot| HITS.get(slot)).sum::<u64>();
    assert_eq!((of_cpus, all > 0), (0, true), "a CPU's slot was used");
    assert!(users.kill().unwrap() && users.is_zero());
}

#[test]
fn without_libcs_registration_we_register() {
    again(&[("own", NOT_BY_LIBC)], |_| {
        if kernel_has_rseq() {
            assert_eq!(
                (backend().backend, backend().reason),
                (Backend::Rseq, Reason::Registered)
            );
        }
        nothing_is_lost();
        // Threads come and go: their areas are reused.
        for _ in 0..40 {
            std::thread::spawn(|| HITS.add(1)).join().unwrap();
        }
        println!("{}", backend());
    });
}

/// An area of another library's, which registers it as tcmalloc does: by itself, for the calling thread, with this signature.
fn register_theirs(signature: u32) -> &'static Theirs {
    let theirs = Box::leak(Box::new(Theirs([const { AtomicU32::new(0) }; 16])));
    theirs.0[1] = AtomicU32::new(u32::MAX);
    // SAFETY: an area that is never freed.
    let rc = unsafe { libc::syscall(libc::SYS_rseq, theirs.0.as_ptr(), 32, 0, signature) };
    assert_eq!(rc, 0);
    theirs
}

/// The kernel writes the CPU to the second word.
#[repr(align(64))]
struct Theirs([AtomicU32; 16]);

const IS_FOREIGN: (Backend, Reason) = (Backend::Portable, Reason::Foreign);

#[test]
fn a_thread_that_another_library_registered_uses_portable_slots() {
    again(&[("foreign", NOT_BY_LIBC)], |_| {
        if !kernel_has_rseq() {
            return;
        }
        // We register first, on this thread, so the process's state is OWN. Then the other library registers a new thread.
        assert_eq!(backend().reason, Reason::Registered);
        HITS.add(1);
        std::thread::spawn(|| {
            register_theirs(0x1234_5678);
            assert_eq!((backend().backend, backend().reason), IS_FOREIGN);
            for _ in 0..1000 {
                HITS.add(1);
            }
        })
        .join()
        .unwrap();
        assert_eq!(HITS.sum(), 1001);
        nothing_is_lost();
    });
}

/// The other library comes first, with our signature or its own, on the thread that then uses per-CPU data first: all threads use portable
/// slots, and the other library's area stays as it is.
#[test]
fn a_process_that_another_library_registered_first_uses_portable_slots() {
    again(
        &["53053053", "12345678"].map(|signature| (signature, NOT_BY_LIBC)),
        |signature| {
            if !kernel_has_rseq() {
                return;
            }
            let theirs = register_theirs(u32::from_str_radix(signature, 16).unwrap());
            let is_foreign = || assert_eq!((backend().backend, backend().reason), IS_FOREIGN);
            is_foreign();
            nothing_is_lost();
            std::thread::spawn(is_foreign).join().unwrap();
            assert_ne!(theirs.0[1].load(Relaxed), u32::MAX, "their area has a CPU");
            let of_cpus = (0..).map_while(Slot::from_id).map(|slot| HITS.get(slot)).sum::<u64>();
            assert_eq!((of_cpus, HITS.sum()), (0, 80_000), "a CPU's slot was used");
        },
    );
}

/// Some filters return success and do nothing. An area without ids must not be used.
#[cfg(target_arch = "x86_64")]
#[test]
fn under_a_filter_that_refuses_or_lies_portable_slots_are_used() {
    again(&[("38", NOT_BY_LIBC), ("0", NOT_BY_LIBC)], |errno| {
        crate::common::filter::refuse(libc::SYS_rseq, &[], errno.parse().unwrap());
        portable_slots_do_all();
    });
}

/// A filter may report that no thread exists. The library does not believe it, and each thread keeps its area.
#[cfg(target_arch = "x86_64")]
#[test]
fn under_a_filter_that_says_that_all_threads_are_gone_nobody_loses_an_area() {
    again(&[("gone", NOT_BY_LIBC)], |_| {
        crate::common::filter::refuse(libc::SYS_tgkill, &[], libc::ESRCH);
        nothing_is_lost();
    });
}

/// Without membarrier no CPU's sequences can be stopped: a steal is refused, and a reference counts in a shared word from
/// the start. The same where a filter fakes success.
#[cfg(target_arch = "x86_64")]
#[test]
fn where_nobody_can_be_stopped_nobody_is_stolen_from() {
    again(&[("38", ""), ("0", "")], |errno| {
        nobody_is_stolen_from(errno.parse().unwrap())
    });
}

#[cfg(target_arch = "x86_64")]
fn nobody_is_stolen_from(errno: i32) {
    crate::common::filter::refuse(libc::SYS_membarrier, &[], errno);
    let list = FreeList::new();
    list.grow(7).push();
    let refused = Slot::all().filter(|&slot| list.steal(slot).is_err()).count();
    let rings = Ring::<u64, 8>::new();
    assert_eq!(rings.push(7), Ok(()));
    let mut out = Vec::new();
    if backend().backend == Backend::Rseq {
        assert_eq!((refused, list.drain().is_err()), (1, true), "the one that has a node");
        let refusal = rings.drain(&mut out).unwrap_err();
        assert!(refusal.to_string().contains("membarrier"), "{refusal}");
        assert!(out.is_empty());
        println!("{refusal}");
    }
    let released = std::sync::atomic::AtomicUsize::new(0);
    let users = Ref::new(|| {
        released.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    });
    for life in 0..3 {
        assert!(users.try_get_live());
        assert_eq!(users.kill(), Ok(true));
        assert!(!users.try_get_live());
        assert_eq!(released.load(std::sync::atomic::Ordering::Relaxed), life);
        users.put();
        assert_eq!(released.load(std::sync::atomic::Ordering::Relaxed), life + 1);
        assert!(users.reinit());
    }
    // One word counts from the beginning.
    let owner = ArcOwner::new(String::from("shared"));
    let (first, second) = (ArcOwner::share(&owner), ArcOwner::share(&owner).clone());
    drop((owner, first));
    assert_eq!(Arc::into_inner(second).as_deref(), Some("shared"));
}

/// The same where the filter is installed late, after each structure has had a real barrier: earlier results do not count.
#[cfg(target_arch = "x86_64")]
#[test]
fn where_nobody_can_be_stopped_any_more_nobody_is_stolen_from() {
    again(&[("38", ""), ("0", ""), ("0", NOT_BY_LIBC)], |errno| {
        nobody_is_stolen_from_any_more(errno.parse().unwrap());
    });
}

#[cfg(target_arch = "x86_64")]
fn nobody_is_stolen_from_any_more(errno: i32) {
    use cyclewise::error::Refusal;
    use cyclewise::percpu::{Cpu, Guard, Stack, Stopped};
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    let released = AtomicUsize::new(0);
    let release = || {
        released.fetch_add(1, Relaxed);
    };
    let (list, ring, stack) = (FreeList::new(), Ring::<u64, 8>::new(), Stack::<u64, 8>::new());
    let (guard, users, spare) = (Guard::new(), Ref::new(release), Ref::new(release));
    let stop = || {
        Slot::from_id(0).map(|slot| {
            slot.stop::<Cpu>(&guard)
                .map(|stopped| stopped.as_ref().map(Stopped::slot))
        })
    };
    let destroyed = AtomicUsize::new(0);
    let owner = ArcOwner::new(Destroyed(&destroyed));
    let clone = ArcOwner::share(&owner);
    list.grow(7).push();
    // Each once, with a real barrier.
    let fill = || {
        ring.push(7).unwrap();
        stack.push(7).unwrap();
    };
    fill();
    let mut out = Vec::new();
    let before = (
        list.drain().map(Iterator::count),
        ring.drain(&mut out),
        stack.drain(&mut out),
        spare.kill(),
    );
    if backend().backend != Backend::Rseq || before.3.is_err() {
        println!("skipped: {}, {before:?}", backend());
        return;
    }
    assert_eq!(
        (before, stop()),
        ((Ok(1), Ok(1), Ok(1), Ok(true)), Some(Ok(Slot::from_id(0))))
    );
    fill();
    crate::common::filter::refuse(libc::SYS_membarrier, &[], errno);
    let refusal = list.drain().map(Iterator::count).unwrap_err();
    assert!(
        matches!(refusal, Refusal::System { .. }) && refusal.to_string().contains("membarrier"),
        "{refusal}"
    );
    out.clear();
    assert_eq!(
        (ring.drain(&mut out), stack.drain(&mut out)),
        (Err(refusal), Err(refusal))
    );
    assert_eq!((out.len(), stop()), (0, Some(Err(refusal))));
    // Items on another CPU are not reached either, and no item moves.
    let steal_all =
        |steal: &dyn Fn(Slot) -> Result<usize, Refusal>| Slot::all().filter(|&slot| steal(slot).is_err()).count();
    assert_eq!(steal_all(&|slot| list.steal(slot).map(Iterator::count)), 1);
    assert_eq!(steal_all(&|slot| ring.steal(slot, &mut Vec::new())), 1);
    assert_eq!(steal_all(&|slot| stack.steal(slot, &mut Vec::new())), 1);
    std::thread::scope(|scope| {
        let elsewhere = scope.spawn(|| (ring.pop_or_steal(), stack.pop_or_steal()));
        let (word, value) = elsewhere.join().unwrap();
        // On the same CPU it is a pop.
        assert!(
            matches!(word, Ok(Some(7)) | Err(_)) && matches!(value, Ok(Some(7)) | Err(_)),
            "{word:?} {value:?}"
        );
    });
    // A reference that counts in slots stays live, and is not released.
    assert!(users.try_get_live());
    assert!(users.kill().is_err() && !users.is_dying());
    assert!(users.try_get_live());
    users.put();
    users.put();
    assert_eq!(released.load(Relaxed), 1, "the spare one's");
    // A shared value is kept: its owner is returned, or leaks it and says so.
    let (owner, found) = ArcOwner::into_inner(owner).err().expect("nobody can be waited for");
    assert_eq!(found, refusal);
    drop((clone.clone(), clone));
    assert_eq!(owner.0.load(Relaxed), 0);
    drop(owner);
    assert_eq!(destroyed.load(Relaxed), 0);
}

/// Counts how often it is dropped.
#[cfg(target_arch = "x86_64")]
struct Destroyed<'a>(&'a std::sync::atomic::AtomicUsize);

#[cfg(target_arch = "x86_64")]
impl Drop for Destroyed<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
}

/// The twin of the test whether the call is made: a filter that fakes only this command, and passes the test, is believed.
#[cfg(target_arch = "x86_64")]
#[test]
fn the_twin_that_is_not_asked_is_believed() {
    use crate::common::filter::If;
    const RSEQ: u32 = 1 << 7; // MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ, include/uapi/linux/membarrier.h
    again(&[("twin", "")], |_| {
        crate::common::filter::refuse(libc::SYS_membarrier, &[If::is(0, RSEQ), If::is(1, 0)], 0);
        let list = FreeList::new();
        list.grow(7).push();
        assert_eq!(list.drain().map(Iterator::count), Ok(1));
    });
}

/// The C library reports that it registers threads, but has not registered the thread that decides.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_thread_that_libc_left_out_is_noticed() {
    again(&[("left out", "")], |_| is_left_out());
}

#[cfg(target_arch = "x86_64")]
fn is_left_out() {
    // SAFETY: a C string.
    let offset = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_offset".as_ptr()) }.cast::<isize>();
    if offset.is_null() || !kernel_has_rseq() {
        println!("skipped: the C library registers no areas, or the kernel has none");
        return;
    }
    // SAFETY: the symbol's type.
    let offset = unsafe { *offset };
    // SAFETY: takes nothing. On x86-64 it is the thread pointer.
    let area = (unsafe { libc::pthread_self() } as usize).wrapping_add_signed(offset);
    // SAFETY: unregisters the C library's area; nothing in this thread uses it from now on.
    let rc = unsafe { libc::syscall(libc::SYS_rseq, area, 32, 1, 0x5305_3053) };
    assert_eq!(rc, 0, "{}", std::io::Error::last_os_error());
    assert_eq!(
        (backend().backend, backend().reason),
        (Backend::Portable, Reason::LeftOut)
    );
    nothing_is_lost();
}

/// A filter installed before the C library registers fakes success: glibc believes it, and we do not.
#[cfg(target_arch = "x86_64")]
#[test]
fn under_a_filter_that_lied_to_libc_portable_slots_are_used() {
    use std::os::unix::process::CommandExt;
    again(&[("installs", ""), ("late", "")], |part| {
        // A process of the second part uses per-CPU data for the first time after the filter.
        if part != "runs" {
            crate::common::filter::refuse(libc::SYS_rseq, &[], 0);
        }
        if part == "installs" {
            const THIS: &str = "backends::under_a_filter_that_lied_to_libc_portable_slots_are_used";
            let program = std::env::current_exe().unwrap();
            panic!("exec: {}", crate::parts::command(&program, THIS, "runs").exec());
        }
        println!("{}", backend());
        assert_eq!(backend().backend, Backend::Portable);
        nothing_is_lost();
    });
}
