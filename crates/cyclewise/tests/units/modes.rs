//! Units are elided with the program, restored with it, and forgotten when they are closed.

use crate::common::child::{End, PANIC, in_child};
use crate::common::harness::{Check, checks};
use crate::common::sanitizer::is_asan;
use crate::object::{Object, compile, register_by_constructor};
use cyclewise::atomic::{AtomicUsize, Ordering};
use cyclewise::error::Refusal;
use cyclewise::patch::{self, Mode, confined, state, units};
use std::ffi::c_void;

pub(crate) const CHECKS: &[Check] = checks![
    units_are_elided_and_restored_with_the_program,
    a_newcomer_keeps_lock_until_the_next_elision,
    a_newcomer_that_registers_is_elided_at_once,
    units_are_found_however_they_are_loaded,
    a_unit_that_is_not_unloaded_stays_adopted,
    a_unit_needs_another,
    closing_a_unit_restores_its_lock_first,
    nothing_of_a_closed_unit_is_written,
    twin_a_unit_without_a_destructor_is_written_after_it_is_closed,
    many_units_come_and_go_while_elided,
    a_unit_in_confined_mode,
    a_unit_of_another_namespace_keeps_lock,
    there_may_be_more_units_than_slots,
];

static COUNTER: AtomicUsize = AtomicUsize::new(0);

/// Enables single mode, and elides.
pub(crate) fn enable() {
    COUNTER.inc(Ordering::Relaxed);
    // SAFETY: threads come from the C library only, and no atomics are shared with other processes.
    unsafe { cyclewise::enable_single!() }.unwrap();
    assert_eq!(state().elided, state().sites);
}

fn spawn() {
    std::thread::spawn(|| COUNTER.inc(Ordering::Relaxed)).join().unwrap();
}

fn load(name: &'static str) -> Object {
    Object::load(&compile(name, &[]), name, libc::RTLD_LOCAL)
}

fn units_are_elided_and_restored_with_the_program() {
    let object = load("plain");
    assert!(object.sites() >= 2 && object.is_locked());
    enable();
    assert!(object.is_elided());
    let all = state();
    assert_eq!(
        (all.units, all.unit_sites, all.unit_elided),
        (1, object.sites(), object.sites())
    );
    for _ in 0..3 {
        spawn();
        assert!(object.is_locked());
        assert_eq!((state().mode, state().unit_elided), (Mode::Locked, 0));
        patch::reelide().unwrap();
        assert!(object.is_elided());
    }
    patch::lock().unwrap();
    assert!(object.is_locked());
    object.close();
    assert_eq!(state().units, 0);
    patch::reelide().unwrap();
    assert_eq!((state().units, state().elided), (0, state().sites));
    spawn();
    assert_eq!(state().elided, 0);
}

fn a_newcomer_keeps_lock_until_the_next_elision() {
    enable();
    let object = load("late");
    assert!(object.is_locked());
    assert_eq!(state().units, 0);
    // The mode is in force: the newcomer joins.
    patch::reelide().unwrap();
    assert!(object.is_elided());
    spawn();
    assert!(object.is_locked());
    patch::reelide().unwrap();
    assert!(object.is_elided());
}

fn a_newcomer_that_registers_is_elided_at_once() {
    register_by_constructor();
    // There is no coordinator yet.
    let before = load("before");
    assert!(before.is_locked());
    enable();
    assert!(before.is_elided());
    let object = load("after");
    assert!(object.is_elided());
    assert_eq!(state().units, 2);
    spawn();
    assert!(object.is_locked() && before.is_locked());
    // LOCK is in force: a newcomer has it, and is elided with the others.
    let third = load("third");
    assert!(third.is_locked());
    // SAFETY: the descriptor of an object that is loaded.
    assert_eq!(unsafe { units::register(third.descriptor()) }, Ok(false));
    patch::reelide().unwrap();
    assert!(third.is_elided() && object.is_elided() && before.is_elided());
    before.close();
    object.close();
    assert!(third.is_elided());
    spawn();
    assert!(third.is_locked());
}

fn units_are_found_however_they_are_loaded() {
    register_by_constructor();
    enable();
    let flags = [
        libc::RTLD_LOCAL,
        libc::RTLD_GLOBAL,
        libc::RTLD_DEEPBIND,
        libc::RTLD_GLOBAL | libc::RTLD_DEEPBIND,
        libc::RTLD_LOCAL | libc::RTLD_NODELETE,
    ];
    let path = compile("flags", &[]);
    // AddressSanitizer ends a program that binds an object to itself first.
    let allowed = |flags: &i32| flags & libc::RTLD_DEEPBIND == 0 || !is_asan();
    for flags in flags.into_iter().filter(allowed) {
        let object = Object::load(&path, "flags", flags);
        assert!(object.is_elided(), "{flags:#x}");
        spawn();
        assert!(object.is_locked(), "{flags:#x}");
        patch::reelide().unwrap();
        assert!(object.is_elided(), "{flags:#x}");
        object.close();
    }
}

/// NODELETE: its destructor runs when the process exits.
fn a_unit_that_is_not_unloaded_stays_adopted() {
    let path = compile("stays", &[]);
    let object = Object::load(&path, "stays", libc::RTLD_NODELETE);
    enable();
    let sites = object.sites();
    object.close();
    assert_eq!((state().units, state().unit_elided), (1, sites));
    spawn();
    assert_eq!(state().unit_elided, 0);
    patch::reelide().unwrap();
    let again = Object::load(&path, "stays", libc::RTLD_LOCAL);
    assert!(again.is_elided());
    // At exit, with sites elided.
    let exited = in_child(|| std::process::exit(0));
    assert_eq!(exited, Ok(()));
    spawn();
    assert!(again.is_locked());
}

fn a_unit_needs_another() {
    register_by_constructor();
    enable();
    let below = compile("below", &[]);
    let folder = below.parent().unwrap().display().to_string();
    let (search, run) = (format!("-L{folder}"), format!("-Wl,-rpath,{folder}"));
    let options = ["-DNEEDS=below_inc", search.as_str(), run.as_str(), "-lbelow"];
    let path = compile("above", &options);
    let above = Object::load(&path, "above", libc::RTLD_LOCAL);
    assert_eq!(state().units, 2);
    assert!(above.is_elided());
    assert_eq!(state().unit_elided, state().unit_sites);
    let mut word = 0;
    above.both(&raw mut word);
    assert_eq!(word, 2);
    spawn();
    assert_eq!((above.is_locked(), state().unit_elided), (true, 0));
    patch::reelide().unwrap();
    // Both are closed.
    above.close();
    assert_eq!(state().units, 0);
    spawn();
    assert_eq!(state().elided, 0);
}

/// Later destructors of the unit may run beside threads.
fn closing_a_unit_restores_its_lock_first() {
    static FOUND: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    extern "C" fn last(locked: i32) {
        FOUND.store(1 + locked as usize, std::sync::atomic::Ordering::SeqCst);
    }
    register_by_constructor();
    enable();
    let object = Object::load(&compile("says", &["-DSAYS_LAST"]), "says", libc::RTLD_LOCAL);
    assert!(object.is_elided());
    object.say_last(last);
    object.close();
    assert_eq!(FOUND.load(std::sync::atomic::Ordering::SeqCst), 2, "LOCK in all sites");
    assert_eq!(state().elided, state().sites, "the others stay elided");
}

/// Pages in place of an object that was closed: executable, all bytes the prefix of an elided site.
struct InPlaceOf {
    start: *mut u8,
    length: usize,
}

impl InPlaceOf {
    fn object(at: usize) -> Option<Self> {
        const LENGTH: usize = 4096;
        let page = at & !(LENGTH - 1);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at a free address.
        let start = unsafe { libc::mmap(page as *mut c_void, LENGTH, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return None;
        }
        // SAFETY: mapped above.
        unsafe { start.cast::<u8>().write_bytes(0x3e, LENGTH) };
        // SAFETY: mapped above.
        let rc = unsafe { libc::mprotect(start, LENGTH, libc::PROT_READ | libc::PROT_EXEC) };
        assert_eq!(rc, 0);
        Some(Self {
            start: start.cast(),
            length: LENGTH,
        })
    }

    fn is_untouched(&self) -> bool {
        // SAFETY: mapped, readable, and of this length.
        let bytes = unsafe { std::slice::from_raw_parts(self.start, self.length) };
        bytes.iter().all(|byte| *byte == 0x3e)
    }
}

/// Closes an object while its sites are elided, and restores LOCK elsewhere. The child fails where anything of the object is read or
/// written then.
fn restore_after_closing(name: &'static str, options: &[&str]) -> Result<(), End> {
    let object = Object::load(&compile(name, options), name, libc::RTLD_LOCAL);
    enable();
    assert!(object.is_elided());
    let at = object.address("inc").addr();
    in_child(|| {
        object.close();
        let page = InPlaceOf::object(at).expect("the object is still mapped");
        patch::lock().unwrap();
        assert!(page.is_untouched());
        assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
    })
}

fn nothing_of_a_closed_unit_is_written() {
    assert_eq!(restore_after_closing("closed", &[]), Ok(()));
}

fn twin_a_unit_without_a_destructor_is_written_after_it_is_closed() {
    let end = restore_after_closing("untold", &["-DNO_DESTRUCTOR"]).unwrap_err();
    // Its lock is read in data that is unmapped, or else the page is written.
    assert!(matches!(end, End::Signal(libc::SIGSEGV) | PANIC), "{end:?}");
}

fn many_units_come_and_go_while_elided() {
    register_by_constructor();
    enable();
    let path = compile("many", &[]);
    for round in 0..1000 {
        let object = Object::load(&path, "many", libc::RTLD_LOCAL);
        assert!(object.is_elided(), "{round}");
        if round % 2 == 0 {
            spawn();
            assert!(object.is_locked(), "{round}");
            object.close();
        } else {
            object.close();
            spawn();
        }
        assert_eq!((state().mode, state().elided, state().units), (Mode::Locked, 0, 0));
        patch::reelide().unwrap();
    }
}

fn a_unit_in_confined_mode() {
    register_by_constructor();
    enable();
    let path = compile("confined", &[]);
    let first = Object::load(&path, "confined", libc::RTLD_LOCAL);
    // From single mode.
    // SAFETY: nobody else sets affinities, and no atomics are shared with other processes.
    let guard = match unsafe { confined::enter(None) } {
        Ok(guard) => guard,
        Err(Refusal::System { call, .. }) => return println!("skipped: {call} is refused here"),
        Err(refusal) => panic!("{refusal}"),
    };
    assert!(first.is_elided());
    let other = compile("confined_too", &[]);
    let second = Object::load(&other, "confined_too", libc::RTLD_LOCAL);
    assert!(second.is_elided());
    spawn();
    assert!(first.is_elided() && second.is_elided());
    first.close();
    guard.leave().unwrap();
    assert!(second.is_locked());
    // From LOCK.
    // SAFETY: as above.
    let guard = unsafe { confined::enter(None) }.unwrap();
    assert!(second.is_elided());
    second.close();
    guard.leave().unwrap();
    assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
}

/// The dynamic linker lists a namespace's objects to callers in it only.
fn a_unit_of_another_namespace_keeps_lock() {
    enable();
    let Some(object) = Object::load_apart(&compile("apart", &[]), "apart") else {
        return println!("skipped: dlmopen refuses here");
    };
    patch::reelide().unwrap();
    assert!(object.is_locked());
    let at = object.descriptor().addr();
    // SAFETY: the descriptor of an object that is loaded.
    let refusal = unsafe { units::register(object.descriptor()) };
    assert_eq!(refusal, Err(Refusal::BadUnit { at }));
    assert!(object.is_locked());
    assert_eq!((state().units, state().elided), (0, state().sites));
    object.close();
    spawn();
}

/// Those beyond keep LOCK.
fn there_may_be_more_units_than_slots() {
    const MOST: usize = 256;
    let path = compile("one_of_many", &[]);
    let folder = path.parent().unwrap();
    enable();
    let mut objects = Vec::new();
    for number in 0..MOST + 3 {
        let copy = folder.join(format!("one_of_many.{}.{number}", std::process::id()));
        std::fs::copy(&path, &copy).unwrap();
        objects.push(Object::load(&copy, "one_of_many", libc::RTLD_LOCAL));
        std::fs::remove_file(&copy).unwrap();
    }
    patch::reelide().unwrap();
    assert_eq!(state().units, MOST);
    assert_eq!(objects.iter().filter(|object| object.is_elided()).count(), MOST);
    assert_eq!(objects.iter().filter(|object| object.is_locked()).count(), 3);
    spawn();
    assert!(objects.iter().all(Object::is_locked));
    objects.iter().for_each(Object::close);
    assert_eq!(state().units, 0);
    patch::reelide().unwrap();
    assert_eq!(End::Exit(1), in_child(|| std::process::exit(1)).unwrap_err());
}
