//! Units that are not what they say keep LOCK, and the others are elided without them; and what a fork or a thread makes of a change.

use crate::common::child::in_child;
use crate::common::harness::{Check, checks};
use crate::common::text::poke;
use crate::modes::enable;
use crate::object::{Object, compile, register_by_constructor};
use cyclewise::error::Refusal;
use cyclewise::patch::{self, Mode, state, units};

pub(crate) const CHECKS: &[Check] = checks![
    units_that_are_not_what_they_say_keep_lock,
    notes_of_garbage_are_passed_over,
    a_table_of_another_unit_is_not_adopted_twice,
    a_unit_without_a_constructor_keeps_lock,
    a_breakpoint_in_a_unit_is_refused,
    a_breakpoint_in_a_unit_that_is_closed_does_not_stop_threads,
    a_newcomer_that_could_not_be_elided_is_elided_later,
    a_constructor_that_creates_threads,
    an_object_that_cannot_be_relocated_is_not_adopted,
    a_child_has_its_parents_units,
    a_unit_that_cannot_be_restored_keeps_the_mode,
    a_destructor_runs_in_the_child_and_not_in_the_parent,
];

fn spawn() {
    std::thread::spawn(|| ()).join().unwrap();
}

/// Each is loaded before and after eliding, and asks to be adopted.
fn units_that_are_not_what_they_say_keep_lock() {
    // A record outside the unit's own text: in its data, in another object's text, in no object.
    let of_data = r#"-DEXTRA_RECORD=".long cw_unit - .""#;
    let of_nothing = r#"-DEXTRA_RECORD=".long 0x7ffffff0""#;
    let backwards = [
        "-DSTART=\"__stop_cyclewise_lock_v1\"",
        "-DSTOP=\"__start_cyclewise_lock_v1 - 4\"",
    ];
    let strange: [&[&str]; 10] = [
        &["-DABI=2"],
        &["-DSIZE=88"],
        &[of_data],
        &[of_nothing],
        // Not LOCK prefixes of its own.
        &[r#"-DEXTRA_RECORD=".long begin - .""#],
        // Another alignment, another section's bounds.
        &["-DSTART=\"__start_cyclewise_lock_v1 + 1\""],
        &["-DSTOP=\"cw_unit\""],
        &["-DSTART=\"0\"", "-DSTOP=\"64\""],
        &backwards,
        // Read-only after relocation, and live from the beginning: nothing of its own writes there.
        &[
            "-DDATA=\".data.rel.ro.cw_unit, \\\"aw\\\", @progbits\"",
            "-DSTATE=1",
            "-DNO_CONSTRUCTOR",
            "-DNO_DESTRUCTOR",
            "-Wl,-z,relro",
        ],
    ];
    register_by_constructor();
    let good = Object::load(&compile("good", &[]), "good", libc::RTLD_LOCAL);
    for options in strange {
        let path = compile("strange", options);
        in_child(|| {
            let before = Object::load(&path, "strange", libc::RTLD_LOCAL);
            enable();
            let bad = Err(Refusal::BadUnit {
                at: before.descriptor().addr(),
            });
            // SAFETY: the descriptor of an object that is loaded.
            let outcome = unsafe { units::register(before.descriptor()) };
            let unexpected = matches!(outcome, Err(Refusal::BadUnit { .. } | Refusal::UnexpectedByte { .. }));
            assert!(outcome == bad || unexpected, "{options:?}: {outcome:?}");
            assert!(!before.has_any(0x3e), "{options:?}");
            assert!(good.is_elided(), "{options:?}");
            assert_eq!(state().units, 1, "{options:?}");
            before.close();
            let after = Object::load(&path, "strange", libc::RTLD_LOCAL);
            patch::reelide().unwrap();
            assert!(!after.has_any(0x3e) && good.is_elided(), "{options:?}");
            after.close();
            spawn();
            assert!(good.is_locked());
            good.close();
        })
        .unwrap();
    }
}

fn notes_of_garbage_are_passed_over() {
    let notes = [
        // Of no length; longer than its segment; of another type; with a distance that leads nowhere.
        r#"-DEXTRA_NOTE=".long 10, 0, 1; .asciz \"cyclewise\"; .balign 4""#,
        r#"-DEXTRA_NOTE=".long 10, 4, 7; .asciz \"cyclewise\"; .balign 4; .long 1""#,
        r#"-DEXTRA_NOTE=".long 10, 4, 1; .asciz \"cyclewise\"; .balign 4; .long 0x7ffffff0""#,
        r#"-DEXTRA_NOTE=".long 10, 4, 1; .asciz \"cyclewise\"; .balign 4; .long 0""#,
        r#"-DEXTRA_NOTE=".long 10, 4, 1; .asciz \"cyclewise\"; .balign 4; .long cw_unit + 4 - .""#,
        // The same descriptor twice.
        r#"-DEXTRA_NOTE=".long 10, 4, 1; .asciz \"cyclewise\"; .balign 4; .long cw_unit - .""#,
    ];
    for note in notes {
        let path = compile("garbage", &[note]);
        in_child(|| {
            let object = Object::load(&path, "garbage", libc::RTLD_LOCAL);
            enable();
            // The note behind it is the unit's.
            assert!(object.is_elided(), "{note}");
            assert_eq!(state().units, 1);
            object.close();
            assert_eq!(state().units, 0);
        })
        .unwrap();
    }
    // One after which nothing of the segment can be read.
    let path = compile(
        "longer",
        &[r#"-DEXTRA_NOTE=".long 10, 0xfffffff0, 1; .asciz \"cyclewise\"; .balign 4""#],
    );
    in_child(|| {
        let object = Object::load(&path, "longer", libc::RTLD_LOCAL);
        enable();
        assert!(object.is_locked());
        patch::reelide().unwrap();
    })
    .unwrap();
}

/// A second descriptor of the same table, or of a part of it.
fn a_table_of_another_unit_is_not_adopted_twice() {
    for start in ["__start_cyclewise_lock_v1", "__start_cyclewise_lock_v1 + 4"] {
        let second = format!("-DSECOND=\"{start}\"");
        let path = compile("twice", &[&second]);
        in_child(|| {
            let object = Object::load(&path, "twice", libc::RTLD_LOCAL);
            enable();
            assert_eq!((state().units, object.has_any(0x3e)), (1, true));
            spawn();
            assert!(object.is_locked());
            patch::reelide().unwrap();
            object.close();
            assert_eq!(state().units, 0);
            spawn();
        })
        .unwrap();
    }
}

fn a_unit_without_a_constructor_keeps_lock() {
    let path = compile("silent", &["-DNO_CONSTRUCTOR"]);
    let object = Object::load(&path, "silent", libc::RTLD_LOCAL);
    enable();
    assert!(object.is_locked());
    // SAFETY: the descriptor of an object that is loaded.
    assert!(unsafe { units::register(object.descriptor()) }.is_err());
    assert!(object.is_locked());
}

/// A newcomer with one is left out until it is gone. In a unit that is adopted it is a reason to refuse, as in the program.
fn a_breakpoint_in_a_unit_is_refused() {
    let object = Object::load(&compile("traced", &[]), "traced", libc::RTLD_LOCAL);
    let mut site = 0;
    object.each_site(|at| site = at);
    poke(site, &[0xcc]);
    enable();
    assert_eq!((object.has_any(0x3e), state().units), (false, 0));
    poke(site, &[0xf0]);
    patch::reelide().unwrap();
    assert!(object.is_elided());
    patch::lock().unwrap();
    poke(site, &[0xcc]);
    assert_eq!(patch::reelide(), Err(Refusal::Breakpoint { at: site }));
    assert_eq!(
        (state().mode, state().elided, object.has_any(0x3e)),
        (Mode::Locked, 0, false)
    );
    poke(site, &[0xf0]);
    patch::reelide().unwrap();
    assert!(object.is_elided());
}

/// Nothing is elided, so nothing is lost.
fn a_breakpoint_in_a_unit_that_is_closed_does_not_stop_threads() {
    let object = Object::load(&compile("stopped", &[]), "stopped", libc::RTLD_LOCAL);
    let mut site = 0;
    object.each_site(|at| site = at);
    enable();
    spawn();
    poke(site, &[0xcc]);
    object.close();
    spawn();
    patch::reelide().unwrap();
    assert_eq!((state().mode, state().elided), (Mode::Single, state().sites));
    spawn();
    patch::lock().unwrap();
    assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
}

/// A breakpoint in another unit prevents it, and is gone the next time.
fn a_newcomer_that_could_not_be_elided_is_elided_later() {
    let traced = Object::load(&compile("other", &[]), "other", libc::RTLD_LOCAL);
    let mut site = 0;
    traced.each_site(|at| site = at);
    register_by_constructor();
    enable();
    poke(site, &[0xcc]);
    let object = Object::load(&compile("refused", &[]), "refused", libc::RTLD_LOCAL);
    assert!(object.is_locked());
    // SAFETY: the descriptor of an object that is loaded, here and below.
    assert_eq!(unsafe { units::register(object.descriptor()) }, Ok(false));
    patch::reelide().unwrap();
    assert!(object.is_locked());
    assert_eq!(state().unit_elided, traced.sites());
    poke(site, &[0x3e]);
    // SAFETY: as above.
    assert_eq!(unsafe { units::register(object.descriptor()) }, Ok(true));
    assert!(object.is_elided());
    spawn();
    assert!(object.is_locked() && traced.is_locked());
}

fn a_constructor_that_creates_threads() {
    register_by_constructor();
    enable();
    let path = compile("busy", &["-DCREATES_THREADS", "-pthread"]);
    for _ in 0..20 {
        patch::reelide().unwrap();
        let object = Object::load(&path, "busy", libc::RTLD_LOCAL);
        assert!(object.is_locked());
        assert_eq!((state().mode, state().elided), (Mode::Locked, 0));
        patch::reelide().unwrap();
        assert!(object.is_elided());
        object.close();
        assert_eq!(state().units, 0);
    }
}

/// It is listed, and then unmapped without a call of its destructor.
fn an_object_that_cannot_be_relocated_is_not_adopted() {
    register_by_constructor();
    enable();
    let path = compile("unresolved", &["-DNEEDS=there_is_no_such_function"]);
    for _ in 0..10 {
        assert!(Object::try_load(&path, "unresolved", libc::RTLD_LOCAL).is_none());
        patch::reelide().unwrap();
        assert_eq!(state().units, 0);
        spawn();
        patch::reelide().unwrap();
    }
}

fn a_child_has_its_parents_units() {
    register_by_constructor();
    enable();
    let object = Object::load(&compile("inherited", &[]), "inherited", libc::RTLD_LOCAL);
    in_child(|| {
        assert!(object.is_elided());
        assert_eq!(state().units, 1);
        spawn();
        assert!(object.is_locked());
        patch::reelide().unwrap();
        in_child(|| {
            object.close();
            spawn();
            assert_eq!((state().units, state().elided), (0, 0));
        })
        .unwrap();
        assert!(object.is_elided());
        object.close();
    })
    .unwrap();
    // The parent's text is its own.
    assert!(object.is_elided());
    spawn();
    assert!(object.is_locked());
}

/// In a sandbox that lets nobody write text: threads are refused, and the destructor returns.
fn a_unit_that_cannot_be_restored_keeps_the_mode() {
    let object = Object::load(&compile("stuck", &[]), "stuck", libc::RTLD_NODELETE);
    enable();
    crate::common::filter::refuse(libc::SYS_pwrite64, &[], libc::EPERM);
    crate::common::filter::refuse_writable_text();
    object.end();
    assert!(object.is_elided());
    let spawned = std::thread::Builder::new().spawn(|| ());
    assert!(spawned.is_err(), "a thread beside an elided unit");
    assert_eq!(state().mode, Mode::Single);
    assert!(patch::lock().is_err());
}

fn a_destructor_runs_in_the_child_and_not_in_the_parent() {
    let object = Object::load(&compile("ends", &[]), "ends", libc::RTLD_LOCAL);
    enable();
    in_child(|| {
        object.close();
        assert_eq!(state().units, 0);
        spawn();
        assert_eq!(state().elided, 0);
    })
    .unwrap();
    assert_eq!(state().units, 1);
    assert!(object.is_elided());
    object.close();
    assert_eq!(state().units, 0);
}
