//! Text that is not what a unit's records take it for: moved by a tool, shared with other processes, not readable. And a unit whose note
//! a tool has moved.

use crate::common::child::in_child;
use crate::common::harness::{Check, checks};
use crate::modes::enable;
use crate::object::{Object, compile, register_by_constructor};
use cyclewise::error::Refusal;
use cyclewise::patch::{self, Mode, state, units};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub(crate) const CHECKS: &[Check] = checks![
    records_of_a_copy_are_refused,
    text_without_a_record_is_refused,
    twin_a_canary_that_runs_is_obeyed,
    what_llvm_bolt_has_moved_is_refused,
    what_llvm_bolt_has_moved_by_a_profile_is_refused,
    shared_text_keeps_lock,
    twin_private_text_is_elided,
    text_that_cannot_be_read_keeps_lock,
    text_that_becomes_unreadable_is_restored,
    a_unit_without_a_note_is_found_by_its_constructor,
    twin_a_unit_without_a_note_that_registers_nowhere_is_not_seen,
];

const RUNS: &str = r#"-DCANARY="canary_bytes""#;
const COPY: &str = r#"-DCANARY="canary_copy""#;
const SECOND_TEXT: [&str; 3] = [RUNS, "-DSECOND_TEXT", "-Wl,--section-start=.second_text=0x400000"];

/// The unit keeps LOCK and its key, each with a reason; the others are elided.
fn is_left_alone(path: &Path, name: &'static str) {
    for mode_first in [false, true] {
        in_child(|| {
            let object = Object::load(path, name, libc::RTLD_LOCAL);
            let good = Object::load(&compile("others", &[RUNS]), "others", libc::RTLD_LOCAL);
            let key_is_refused = || {
                for _ in 0..2 {
                    let refusal = object.set_key(true).unwrap_err();
                    assert!(matches!(refusal, Refusal::MovedText { .. }), "{refusal}");
                    assert!(!object.is_on());
                }
            };
            if !mode_first {
                key_is_refused();
            }
            enable();
            for _ in 0..2 {
                assert!(object.is_locked() && good.is_elided());
                assert_eq!((state().units, state().mode), (1, Mode::Single));
                assert_eq!((state().units_seen, state().units_refused), (3, 1));
                std::thread::spawn(|| ()).join().unwrap();
                assert!(object.is_locked() && good.is_locked());
                patch::reelide().unwrap();
            }
            key_is_refused();
            let mut word = 0;
            object.load_word(&raw mut word, 1000);
            assert_eq!(word, 1000);
            object.close();
            std::thread::spawn(|| ()).join().unwrap();
        })
        .unwrap();
    }
}

/// The unit is elided, and its key is flipped.
fn is_patched(path: &Path, name: &'static str) {
    in_child(|| {
        let object = Object::load(path, name, libc::RTLD_LOCAL);
        object.set_key(true).unwrap();
        assert!(object.is_on());
        enable();
        assert!(object.is_elided());
        assert_eq!(state().units, 1);
        object.set_key(false).unwrap();
        assert!(!object.is_on());
        object.close();
    })
    .unwrap();
}

fn records_of_a_copy_are_refused() {
    is_left_alone(&compile("moved", &[COPY]), "moved");
}

/// As of a tool that moves the functions that run often, and leaves the canary where it is.
fn text_without_a_record_is_refused() {
    is_left_alone(&compile("split", &SECOND_TEXT), "split");
}

fn twin_a_canary_that_runs_is_obeyed() {
    is_patched(&compile("whole", &[RUNS]), "whole");
    // One segment, of both sections.
    is_patched(&compile("joined", &SECOND_TEXT[..2]), "joined");
}

/// What llvm-bolt makes of a unit that is linked with relocations; `None`, with a printed reason, where it is not here.
fn bolted(name: &str, options: &[&str]) -> Option<PathBuf> {
    let tools = ["llvm-bolt", "llvm-bolt-16", "llvm-bolt-19"];
    let runs = |tool: &&&str| {
        let mut tool = Command::new(**tool);
        let status = tool
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        status.is_ok_and(|status| status.success())
    };
    let Some(tool) = tools.iter().find(runs) else {
        println!("skipped: no llvm-bolt here; apt-get install bolt-16");
        return None;
    };
    let linked = compile(name, &[RUNS, "-Wl,--emit-relocs"]);
    let moved = linked.with_extension("bolt");
    let output = Command::new(tool)
        .arg(&linked)
        .arg("-o")
        .arg(&moved)
        .args(options)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    is_patched(&linked, Box::leak(name.to_owned().into_boxed_str()));
    Some(moved)
}

fn what_llvm_bolt_has_moved_is_refused() {
    if let Some(moved) = bolted("bolted", &[]) {
        is_left_alone(&moved, "bolted");
    }
}

/// With a profile only what runs often is moved.
fn what_llvm_bolt_has_moved_by_a_profile_is_refused() {
    let profile = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bolted.fdata");
    std::fs::write(
        &profile,
        "1 hot_both 0 1 hot_load 0 0 1000\n1 hot_load 0 1 hot_is_on 0 0 1000\n",
    )
    .unwrap();
    let option = format!("-data={}", profile.display());
    if let Some(moved) = bolted("hot", &[&option, "-reorder-blocks=ext-tsp", "-lite=1"]) {
        is_left_alone(&moved, "hot");
    }
}

/// Maps a file over the object's pages of text that have sites, with the same bytes.
fn map_over(object: &Object, flags: i32) {
    use std::io::Write;
    use std::os::fd::{AsRawFd, FromRawFd};
    let mut pages = Vec::new();
    object.each_site(|at| pages.push(at & !4095));
    pages.dedup();
    for page in pages {
        // SAFETY: a page of text that stays mapped.
        let bytes = unsafe { std::slice::from_raw_parts(page as *const u8, 4096) }.to_vec();
        // SAFETY: a C string.
        let number = unsafe { libc::memfd_create(c"text".as_ptr(), 0) };
        assert!(number >= 0);
        // SAFETY: just opened.
        let mut file = unsafe { std::fs::File::from_raw_fd(number) };
        file.write_all(&bytes).unwrap();
        let protection = libc::PROT_READ | libc::PROT_EXEC;
        let at = page as *mut libc::c_void;
        // SAFETY: the page holds the same bytes afterwards.
        let mapped = unsafe { libc::mmap(at, 4096, protection, flags | libc::MAP_FIXED, file.as_raw_fd(), 0) };
        assert_eq!(mapped, at);
    }
}

/// A child with two threads would run on its parent's elided text.
fn shared_text_keeps_lock() {
    let object = Object::load(&compile("shared", &[RUNS]), "shared", libc::RTLD_LOCAL);
    map_over(&object, libc::MAP_SHARED);
    assert!(matches!(object.set_key(true), Err(Refusal::NotText { .. })));
    assert!(!object.is_on());
    enable();
    assert!(object.is_locked());
    assert_eq!((state().units, state().mode), (0, Mode::Single));
    assert_eq!((state().units_seen, state().units_refused), (2, 1));
}

fn twin_private_text_is_elided() {
    let object = Object::load(&compile("private", &[RUNS]), "private", libc::RTLD_LOCAL);
    map_over(&object, libc::MAP_PRIVATE);
    object.set_key(true).unwrap();
    assert!(object.is_on());
    enable();
    assert!(object.is_elided());
}

/// Sets the protection of the object's text, none of which runs until it is set again.
fn protect(sites: &[usize], protection: i32) {
    for site in sites {
        let page = (site & !4095) as *mut libc::c_void;
        // SAFETY: a page of text that nothing executes or reads meanwhile.
        assert_eq!(unsafe { libc::mprotect(page, 4096, protection) }, 0);
    }
}

fn sites_of(object: &Object) -> Vec<usize> {
    let mut sites = Vec::new();
    object.each_site(|at| sites.push(at));
    sites
}

const TEXT: i32 = libc::PROT_READ | libc::PROT_EXEC;

/// As execute-only text is, where the processor has protection keys.
fn text_that_cannot_be_read_keeps_lock() {
    for protection in [libc::PROT_NONE, libc::PROT_EXEC] {
        in_child(|| {
            let object = Object::load(&compile("unreadable", &[]), "unreadable", libc::RTLD_LOCAL);
            let (sites, descriptor, key) = (sites_of(&object), object.descriptor(), object.key());
            // SAFETY: descriptor and key of one object, which stays loaded.
            let set = || unsafe { units::key_set(descriptor, key, true) };
            protect(&sites, protection);
            assert!(matches!(set(), Err(Refusal::NotText { .. })));
            enable();
            assert_eq!(state().units, 0);
            protect(&sites, TEXT);
            assert!(object.is_locked());
            patch::reelide().unwrap();
            assert!(object.is_elided());
            patch::lock().unwrap();
            // It is known now. Without access it is a reason to refuse, as a breakpoint is.
            protect(&sites, libc::PROT_NONE);
            assert!(matches!(patch::reelide(), Err(Refusal::NotText { .. })));
            assert!(matches!(set(), Err(Refusal::NotText { .. })));
            assert_eq!(state().mode, Mode::Locked);
            protect(&sites, TEXT);
            assert!(object.is_locked());
        })
        .unwrap();
    }
}

/// LOCK comes first: the pages are text again afterwards.
fn text_that_becomes_unreadable_is_restored() {
    let object = Object::load(&compile("hidden", &[]), "hidden", libc::RTLD_LOCAL);
    enable();
    assert!(object.is_elided());
    let sites = sites_of(&object);
    protect(&sites, libc::PROT_NONE);
    std::thread::spawn(|| ()).join().unwrap();
    assert!(object.is_locked());
    assert_eq!(state().mode, Mode::Locked);
}

/// As strip or patchelf leave one: its note is in no segment.
fn without_a_note() -> Object {
    Object::load(&compile("bare", &[r#"-DNOTE_FLAGS="""#]), "bare", libc::RTLD_LOCAL)
}

fn a_unit_without_a_note_is_found_by_its_constructor() {
    register_by_constructor();
    let early = without_a_note();
    enable();
    assert!(early.is_elided());
    assert_eq!((state().units, state().units_seen, state().units_refused), (1, 2, 0));
    let late = Object::load(
        &compile("late_bare", &[r#"-DNOTE_FLAGS="""#]),
        "late_bare",
        libc::RTLD_LOCAL,
    );
    assert!(late.is_elided() && state().units == 2);
    for object in [early, late] {
        std::thread::spawn(|| ()).join().unwrap();
        assert!(object.is_locked());
        patch::reelide().unwrap();
        object.close();
    }
    patch::reelide().unwrap();
    assert_eq!((state().units, state().units_seen), (0, 1));
}

fn twin_a_unit_without_a_note_that_registers_nowhere_is_not_seen() {
    let object = without_a_note();
    enable();
    assert!(object.is_locked());
    assert_eq!((state().units, state().units_seen, state().units_refused), (0, 1, 0));
}
