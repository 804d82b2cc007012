//! `man/cyclewise.3` is made from the comments of the headers.
//!
//! After a change of those: `CYCLEWISE_BLESS=1 cargo test -p cyclewise-c --test man`.

mod common;

use roff::{Roff, bold, italic, roman};
use std::fs;
use std::process::Command;

/// The headers of which each function has an entry, and their sections: the beginnings of the names in each.
const SECTIONS: &[(&str, &[&str])] = &[
    (
        "Modes",
        &[
            "cw_enable_single",
            "cw_reelide_lock",
            "cw_restore_lock",
            "cw_apply_alternatives",
            "cw_get_state",
            "cw_confined_",
        ],
    ),
    ("Clock", &["cw_clock_", "cw_get_clock_status", "cw_ticks"]),
    ("Queued spinlock", &["cw_spin_"]),
    ("Lockref", &["cw_lockref_"]),
    ("Reference counts", &["cw_refcount_"]),
    ("Per-CPU counters", &["cw_percpu_counter_"]),
    ("Per-CPU gauges", &["cw_percpu_gauge_"]),
    ("Per-CPU histograms", &["cw_percpu_histogram_"]),
    ("Per-CPU free lists", &["cw_percpu_free_list_"]),
    ("Per-CPU rings", &["cw_percpu_ring_"]),
    ("Per-CPU reference counts", &["cw_percpu_ref_"]),
    ("Soft mask", &["cw_mask_"]),
    ("Signals and what they share", &["cw_signal_", "cw_masked_lock_"]),
    ("Fences", &["cw_fence_"]),
    ("RCU", &["cw_rcu_"]),
    ("Static keys", &["cw_key_"]),
    ("The library", &["cw_version"]),
];

const HEADERS: [&str; 5] = ["called.h", "clock.h", "mask.h", "fence.h", "key.h"];

/// Functions that only the inline ones call.
const INNER: [&str; 4] = [
    "cw_clock_segments",
    "cw_ticks_sequence",
    "cw_mask_offset",
    "cw_mask_replay",
];

/// The paragraph of the first comment of `called.h` that begins with this title.
fn note(title: &str) -> String {
    let header = fs::read_to_string(common::root().join("include/cyclewise/called.h")).expect("a header");
    let comment = header.split("*/").next().expect("a first comment");
    let lines = comment.lines().map(|line| line.trim_start_matches([' ', '*']));
    let text = lines.collect::<Vec<_>>().join("\n");
    let beginning = format!("{title}: ");
    let mut paragraphs = text.split("\n\n").filter_map(|p| p.strip_prefix(&beginning));
    let paragraph = paragraphs.next();
    let paragraph = paragraph.unwrap_or_else(|| panic!("the head of called.h says nothing on {title}"));
    paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The refusals: their names, and what they mean.
fn refusals() -> Vec<(String, String)> {
    let header = fs::read_to_string(common::root().join("include/cyclewise/called.h")).expect("a header");
    let listed = header.split("enum cw_refused {").nth(1).expect("the enum");
    let listed = listed.split("\n}").next().expect("its end");
    let mut found = Vec::new();
    let mut meaning = String::new();
    for line in listed.lines().map(str::trim) {
        if let Some((name, number)) = line.split_once(" = ") {
            let name = format!("{name} ({})", number.trim_end_matches(','));
            found.push((name, core::mem::take(&mut meaning)));
        } else if let Some(text) = line.strip_prefix("* ") {
            meaning.push_str(if meaning.is_empty() { "" } else { " " });
            meaning.push_str(&text.replace('`', ""));
        }
    }
    found.retain(|(name, _)| !name.starts_with("CW_OK"));
    found
}

const DESCRIPTION: [&str; 4] = [
    "cyclewise has the hot-path primitives of the Linux kernel for userspace, under the kernel's names: reference counts whose LOCK prefix \
     is patched away while one thread runs, a queued spinlock of 8 bytes, lockrefs, counters, lists, rings and reference counts of which \
     each CPU has its part, a clock that reads the CPU's counter, and a mask of signals that costs two stores.",
    "The operations on words, the reference counts and the static keys are in <cyclewise/atomic.h> and <cyclewise/key.h>, which need no \
     library; their comments describe them. This page has what is in the library.",
    "A function that can be refused returns 0 or an enum cw_refused. Its last parameter is null or a struct cw_refusal, to which it writes \
     the code, what belongs to it, and in message one line that says what failed and what to do. It writes to it only where it returns a \
     refusal.",
    "Pointers to objects are not null and not destroyed, unless a function says otherwise. Functions called _create return null without \
     memory; what they return goes to the function called _destroy, which takes null too.",
];

/// A function: its declaration, and the paragraphs of its comment.
struct Function {
    name: String,
    declaration: String,
    paragraphs: Vec<String>,
}

/// The functions that a header declares, each with the comment above it; not those that end in `_` or `_called`, which are inner ones.
fn functions(header: &str) -> Vec<Function> {
    let mut found = Vec::new();
    let mut rest = header;
    while let Some(start) = rest.find("/*") {
        let Some(length) = rest[start..].find("*/") else { break };
        let (comment, after) = (&rest[start + 2..start + length], &rest[start + length + 2..]);
        rest = after;
        let Some(declared) = after.trim_start_matches('\n').split(['{', ';']).next() else {
            continue;
        };
        let declared = declared.trim().trim_start_matches("static inline ");
        let declared = declared.trim_start_matches("CW_MUST_CHECK").trim_start();
        let is_function = declared.ends_with(')') && !declared.starts_with(['#', '/', '_']) && !declared.contains("/*");
        let Some((before, _)) = declared.split_once('(').filter(|_| is_function) else {
            continue;
        };
        let name = before.rsplit([' ', '*']).next().unwrap_or_default();
        if !name.starts_with("cw_") || name.ends_with('_') || name.ends_with("_called") || INNER.contains(&name) {
            continue;
        }
        let lines = comment.lines().map(|line| line.trim().trim_start_matches('*').trim());
        let text = lines.collect::<Vec<_>>().join("\n").replace('`', "");
        let paragraphs = text
            .split("\n\n")
            .map(|p| p.split_whitespace().collect::<Vec<_>>().join(" "));
        found.push(Function {
            name: name.to_owned(),
            declaration: declared.split_whitespace().collect::<Vec<_>>().join(" ") + ";",
            paragraphs: paragraphs.filter(|p| !p.is_empty()).collect(),
        });
    }
    found
}

fn all_functions() -> Vec<Function> {
    let folder = common::root().join("include/cyclewise");
    let read = |header: &&str| fs::read_to_string(folder.join(header)).expect("a header");
    HEADERS.iter().flat_map(|header| functions(&read(header))).collect()
}

/// The section with the longest beginning of its name.
fn section_of(function: &Function) -> usize {
    let length = |names: &[&str]| {
        let beginnings = names.iter().filter(|name| function.name.starts_with(**name));
        beginnings.map(|name| name.len()).max().unwrap_or(0)
    };
    let longest = SECTIONS.iter().enumerate().max_by_key(|(_, (_, names))| length(names));
    let (section, (_, names)) = longest.expect("there are sections");
    assert!(
        length(names) > 0,
        "{} is in no section of the manual page",
        function.name
    );
    section
}

fn page(functions: &[Function]) -> String {
    let mut roff = Roff::new();
    roff.control(
        "TH",
        [
            "cyclewise",
            "3",
            "",
            concat!("cyclewise ", env!("CARGO_PKG_VERSION")),
            "Library Functions Manual",
        ],
    );
    roff.control("SH", ["NAME"]);
    roff.text([roman(
        "cyclewise - hot-path primitives of the Linux kernel for userspace",
    )]);
    roff.control("SH", ["SYNOPSIS"]);
    roff.control("nf", []);
    roff.text([bold("#include <cyclewise/cyclewise.h>")]);
    roff.text([roman("")]);
    roff.text([bold("cc program.c $(pkg-config --cflags --libs cyclewise)")]);
    roff.text([bold("cc program.c $(pkg-config --cflags --libs cyclewise-single)")]);
    roff.control("fi", []);
    roff.control("SH", ["DESCRIPTION"]);
    for paragraph in DESCRIPTION {
        roff.control("PP", []);
        roff.text([roman(paragraph)]);
    }
    for (number, (title, _)) in SECTIONS.iter().enumerate() {
        roff.control("SH", [title.to_uppercase().as_str()]);
        roff.text([roman(note(title))]);
        for function in functions.iter().filter(|f| section_of(f) == number) {
            roff.control("TP", []);
            roff.text([bold(&function.declaration)]);
            for (n, paragraph) in function.paragraphs.iter().enumerate() {
                if n > 0 {
                    roff.control("IP", []);
                }
                roff.text([roman(paragraph)]);
            }
        }
    }
    roff.control("SH", ["ERRORS"]);
    roff.text([roman(
        "What a function returns that is refused. The message of the struct cw_refusal has the numbers in it.",
    )]);
    for (name, meaning) in refusals() {
        roff.control("TP", []);
        roff.text([bold(name)]);
        roff.text([roman(meaning)]);
    }
    for title in ["Results", "Errno", "Copies"] {
        roff.control("SH", [title.to_uppercase().as_str()]);
        roff.text([roman(note(title))]);
    }
    roff.control("SH", ["FILES"]);
    roff.text([
        italic("cyclewise-hooks.o"),
        roman(
            " has the functions of the C library that create threads. A program that calls cw_enable_single \
        links it, by pkg-config's cyclewise-single.",
        ),
    ]);
    roff.control("SH", ["SEE ALSO"]);
    let pages = [
        "pkg-config(1)",
        "clock_gettime(2)",
        "membarrier(2)",
        "pthread_create(3)",
        "signal-safety(7)",
    ];
    roff.text([roman(pages.join(", "))]);
    roff.to_roff()
}

#[test]
fn the_page_is_what_the_headers_say() {
    let path = common::root().join("man/cyclewise.3");
    let made = page(&all_functions());
    if std::env::var_os("CYCLEWISE_BLESS").is_some() {
        fs::create_dir_all(path.parent().expect("a folder")).expect("the folder");
        fs::write(&path, &made).expect("the page can be written");
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == made,
        "cyclewise.3 is not what the headers say; run CYCLEWISE_BLESS=1 cargo test -p cyclewise-c --test man"
    );
}

/// The twin: a function that is added to a header is missing from the page, or has no section.
#[test]
fn a_function_that_is_not_on_the_page_is_seen() {
    let mut functions = all_functions();
    let before = page(&functions);
    functions.extend(self::functions(
        "/**\n * Adds.\n *\n * Returns.\n */\nint cw_lockref_added(struct cw_lockref *lockref,\n   int n);\n",
    ));
    let after = page(&functions);
    assert_ne!(before, after);
    assert!(after.contains("int cw_lockref_added(struct cw_lockref *lockref, int n);"));
    let stray = self::functions("/* Strays. */\nstatic inline int cw_stray(void)\n{\n");
    assert!(std::panic::catch_unwind(|| section_of(&stray[0])).is_err());
}

#[test]
fn refusals_are_listed() {
    let refusals = refusals();
    assert!(refusals.len() >= 43, "{}", refusals.len());
    assert!(refusals.iter().all(|(_, meaning)| meaning.len() > 10), "{refusals:?}");
    assert!(refusals.iter().any(|(name, _)| name == "CW_REFUSED_NOT_HOOKED (64)"));
}

/// The twin: a group on which the header says nothing is seen.
#[test]
fn a_group_without_a_note_is_seen() {
    assert!(std::panic::catch_unwind(|| note("Sundials")).is_err());
}

#[test]
fn every_declared_function_has_an_entry() {
    let names: Vec<_> = all_functions().into_iter().map(|function| function.name).collect();
    for name in [
        "cw_clock_now",
        "cw_ticks",
        "cw_mask_hold",
        "cw_mask_restore",
        "cw_enable_single",
        "cw_version",
        "cw_percpu_ring_pop_or_steal",
    ] {
        assert!(names.iter().any(|n| n == name), "{name} has no entry");
    }
    assert!(names.len() > 100, "{} functions", names.len());
}

#[test]
fn man_formats_the_page_without_warnings() {
    let page = common::root().join("man/cyclewise.3");
    let formatted = Command::new("man")
        .args(["--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z"])
        .arg(&page)
        .output();
    let Ok(formatted) = formatted else {
        assert!(
            std::env::var_os("CI").is_none_or(|ci| ci != "true"),
            "man is missing; install man-db"
        );
        println!("skipped: there is no man; install man-db");
        return;
    };
    let said = String::from_utf8_lossy(&formatted.stderr);
    assert!(formatted.status.success() && said.is_empty(), "{said}");
}
