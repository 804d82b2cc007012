//! Entering and leaving confined mode, and what refuses it.

use crate::common::child::with_two_threads;
use crate::common::cpu::{allowed_cpus, pin};
use crate::common::filter;
use crate::common::harness::{Check, checks};
use crate::common::text::{all, poke};
use cyclewise::atomic::{AtomicU64, Ordering};
use cyclewise::error::Refusal;
use cyclewise::patch::{self, Mode, Prefix, confined, sites, state};

pub(crate) const CHECKS: &[Check] = checks![
    entering_confines_and_elides,
    a_refusal_names_the_call,
    a_thread_that_seems_confined_is_confined,
    a_membarrier_that_is_not_made_is_refused,
    beside_threads_one_call_writes_one_page,
    twin_alone_one_call_writes_several_pages,
    a_second_guard_is_refused,
    a_forgotten_guard_has_a_way_out,
    a_cpu_that_is_not_there_is_refused,
    a_guard_that_cannot_leave_keeps_the_mode,
    helpers_of_the_c_library_are_refused,
    without_hooks_there_is_no_mode,
];

/// Has thread creation watched, with LOCK in force.
pub(crate) fn watch() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let _ = crate::enable();
        patch::lock().unwrap();
    });
}

pub(crate) fn enter(cpu: Option<usize>) -> Result<confined::Guard, Refusal> {
    watch();
    // SAFETY: only the library sets affinities in the mode, and no atomics are shared with other processes.
    let entered = || unsafe { confined::enter(cpu.map(|cpu| cpu as u32)) };
    // A busy machine may leave a creator waiting for its CPU for seconds.
    let mut outcomes = std::iter::repeat_with(entered).take(100);
    outcomes
        .find(|outcome| !matches!(outcome, Err(Refusal::Unstable)))
        .unwrap_or(Err(Refusal::Unstable))
}

fn entering_confines_and_elides() {
    let before = allowed_cpus();
    for &cpu in &before {
        let guard = enter(Some(cpu)).unwrap();
        assert_eq!(guard.cpu() as usize, cpu);
        assert_eq!((allowed_cpus(), state().mode), (vec![cpu], Mode::Confined));
        assert!(all(Prefix::Elided));
        guard.leave().unwrap();
        assert_eq!((allowed_cpus(), state().mode), (before.clone(), Mode::Locked));
        assert!(all(Prefix::Lock));
    }
    drop(enter(None).unwrap());
    assert_eq!((allowed_cpus(), state().mode), (before, Mode::Locked));
}

fn a_refusal_names_the_call() {
    watch();
    for (number, call) in [
        (libc::SYS_sched_setaffinity, "sched_setaffinity"),
        // The affinity is read before it is set, so each call is refused in turn.
        (libc::SYS_sched_getaffinity, "sched_getaffinity"),
    ] {
        filter::refuse(number, &[], libc::EPERM);
        let errno = libc::EPERM;
        assert_eq!(enter(None).unwrap_err(), Refusal::System { call, errno });
        assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
    }
}

/// The kernel omits CPUs that are offline and may come online. So the affinity is set whatever the kernel reports.
fn a_thread_that_seems_confined_is_confined() {
    watch();
    let cpu = allowed_cpus()[0];
    pin(cpu);
    filter::refuse(libc::SYS_sched_setaffinity, &[], libc::EPERM);
    let refusal = enter(Some(cpu)).unwrap_err();
    assert!(
        matches!(refusal, Refusal::System { errno: libc::EPERM, .. }),
        "{refusal}"
    );
    assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
}

/// A filter may fake the kernel's result, even after the mode was entered and left without a filter.
fn a_membarrier_that_is_not_made_is_refused() {
    watch();
    enter(None).unwrap().leave().unwrap();
    filter::refuse(libc::SYS_membarrier, &[], 0);
    let refusal = enter(None).unwrap_err();
    let expected = Refusal::System {
        call: "membarrier, which a filter answers with 0,",
        errno: libc::ENOSYS,
    };
    assert_eq!(refusal, expected);
    assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
}

/// Repeats its body 4 times.
macro_rules! four_times {
    ($($body:tt)*) => { $($body)* $($body)* $($body)* $($body)* };
}

/// A thousand sites one after the other, so that some are on adjacent pages wherever the linker puts this: an addition
/// takes at least 8 bytes.
#[inline(never)]
fn adds_on_several_pages(word: &AtomicU64) {
    four_times! { four_times! { four_times! { four_times! { four_times! { word.fetch_add(1, Ordering::Relaxed); } } } } }
}

/// Refuses to write more than a page in one call, and the other way to write text. Returns whether the writer would make
/// such a call where it is alone: its calls end at each eighth page, and the kernel chooses where the program lies.
fn refuse_several_pages() -> bool {
    let word = AtomicU64::new(0);
    adds_on_several_pages(&word);
    assert_eq!(word.load(Ordering::Relaxed), 1024);
    let mut pages: Vec<_> = sites().map(|site| site.address() / 4096).collect();
    pages.sort_unstable();
    let adjacent: Vec<_> = pages.windows(2).filter(|pair| pair[1] == pair[0] + 1).collect();
    assert!(!adjacent.is_empty(), "no adjacent pages");
    let longer = filter::If::AtLeast { arg: 2, value: 4097 };
    filter::refuse(libc::SYS_pwrite64, &[longer], libc::EIO);
    filter::refuse_writable_text();
    adjacent.iter().any(|pair| pair[0] / 8 == pair[1] / 8)
}

/// Bytes between sites are written back as they were read. Beside other threads, which may change text without the lock,
/// those are a page's at most.
fn beside_threads_one_call_writes_one_page() {
    watch();
    with_two_threads(|| {
        refuse_several_pages();
        let guard = enter(None).unwrap();
        assert!(all(Prefix::Elided));
        guard.leave().unwrap();
        assert!(all(Prefix::Lock));
    });
}

/// Where no other thread runs, several pages are written in one call, which the same filter refuses.
fn twin_alone_one_call_writes_several_pages() {
    watch();
    let several = refuse_several_pages();
    match enter(None) {
        Err(Refusal::System { call: "mprotect", .. }) => assert!(several),
        Err(refusal) => panic!("{refusal}"),
        Ok(guard) => {
            assert!(!several, "the filter met no such call");
            guard.leave().unwrap();
        }
    }
    assert!(all(Prefix::Lock));
}

fn a_second_guard_is_refused() {
    let guard = enter(None).unwrap();
    let refusal = enter(None).unwrap_err();
    assert_eq!(refusal, Refusal::WrongMode);
    assert_eq!(state().mode, Mode::Confined);
    guard.leave().unwrap();
    drop(enter(None).unwrap());
}

fn a_forgotten_guard_has_a_way_out() {
    let before = allowed_cpus();
    assert_eq!(confined::leave(), Err(Refusal::WrongMode));
    std::mem::forget(enter(None).unwrap());
    assert_eq!(enter(None).unwrap_err(), Refusal::WrongMode);
    confined::leave().unwrap();
    assert_eq!((allowed_cpus(), state().mode), (before, Mode::Locked));
    assert_eq!(confined::leave(), Err(Refusal::WrongMode));
    // A guard that was not forgotten after all is none of the next entry.
    let stale = enter(None).unwrap();
    confined::leave().unwrap();
    let guard = enter(None).unwrap();
    drop(stale);
    assert_eq!(state().mode, Mode::Confined);
    guard.leave().unwrap();
    assert_eq!(state().mode, Mode::Locked);
}

fn a_cpu_that_is_not_there_is_refused() {
    let before = allowed_cpus();
    for cpu in [1023, 1 << 20] {
        let refusal = enter(Some(cpu)).unwrap_err();
        assert!(
            matches!(
                refusal,
                Refusal::System {
                    errno: libc::EINVAL,
                    ..
                }
            ),
            "{refusal}"
        );
        assert_eq!(
            (allowed_cpus(), state().mode, state().elided),
            (before.clone(), Mode::Locked, 0)
        );
    }
}

fn a_guard_that_cannot_leave_keeps_the_mode() {
    let guard = enter(None).unwrap();
    let cpu = guard.cpu() as usize;
    let at = sites().next().unwrap().address();
    poke(at, &[0xcc]);
    let stuck = guard.leave().unwrap_err();
    assert!(
        matches!(
            stuck.refusal,
            Refusal::Breakpoint { .. } | Refusal::UnexpectedByte { .. }
        ),
        "{}",
        stuck.refusal
    );
    assert_eq!((allowed_cpus(), state().mode), (vec![cpu], Mode::Confined));
    drop(stuck);
    assert_eq!((allowed_cpus(), state().mode), (vec![cpu], Mode::Confined));
    poke(at, &[0x3e]);
    let again = enter(None).unwrap();
    assert_eq!(again.cpu() as usize, cpu);
    again.leave().unwrap();
    assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
}

fn helpers_of_the_c_library_are_refused() {
    watch();
    let before = allowed_cpus();
    // SAFETY: an empty list. The C library may keep a thread for it, which is what the check needs.
    unsafe { libc::lio_listio(libc::LIO_NOWAIT, std::ptr::null_mut(), 0, std::ptr::null_mut()) };
    assert_eq!(enter(None).unwrap_err(), Refusal::HelperThreads);
    assert_eq!(
        (allowed_cpus(), state().mode, state().elided),
        (before, Mode::Locked, 0)
    );
}

fn without_hooks_there_is_no_mode() {
    // SAFETY: only the library sets affinities in the mode, and no atomics are shared with other processes.
    let refusal = unsafe { confined::enter(None) }.unwrap_err();
    assert_eq!(refusal, Refusal::NotEnabled);
    assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
}
