//! `include/cyclewise/called.h` is what cbindgen makes of the Rust definitions.
//!
//! After a change of those: `CYCLEWISE_BLESS=1 cargo test -p cyclewise-c --test header`.

use cbindgen::{Builder, Config, DocumentationStyle, EnumConfig, ExportConfig, FunctionConfig, Language, Style};
use std::fs;
use std::path::{Path, PathBuf};

const HEAD: &str = "\
/*
 * The functions of cyclewise that are called, and their types. Include <cyclewise/cyclewise.h>, which has the inline ones too.
 *
 * Written by cbindgen from crates/cyclewise-c/src; a test compares the two. Functions that return an int return 0, or an
 * enum cw_refused where their comment says so.
 *
 * Results: a place for a result may be null where it is not wanted. It is written to only as the function's comment says.
 *
 * Errno: no function changes it, except that a hooked function of the C library does what the C library's does.
 *
 * Cancellation: no function is a cancellation point of pthread_cancel(3), cw_mask_poll neither: a cancelled thread ends in the next point
 * that the program calls. A hooked function is one where the C library's is. A thread with PTHREAD_CANCEL_ASYNCHRONOUS calls none; it may use
 * the inline read-modify-writes of <cyclewise/atomic.h> and test keys. What a thread that ends has locked, held or taken stays so, unless a
 * cleanup handler or a destructor of C++ gives it back.
 *
 * Callbacks: a function of the program that the library calls returns. Its thread is not cancelled meanwhile. One that leaves by
 * pthread_exit(3) or by a C++ exception ends the process with a line on stderr. One that leaves by longjmp(3) is not noticed, and what the
 * library had begun stays half done: undefined behaviour.
 *
 * Jumps: a signal handler of the program's own may leave by siglongjmp(3) where it interrupts the program's code or an inline
 * read-modify-write or key test, under a hold too, which stays. Out of cw_mask_hold, cw_mask_release, any called function and a handler of
 * cw_signal_on's it may not: what had begun stays half done, and the thread held. Block such signals around them.
 *
 * Inner functions: cw_clock_segments, cw_ticks_sequence, cw_mask_offset, cw_mask_replay and those whose names end in _called are for the
 * inline functions. Programs do not call them, and they may change with the layout that they ask for.
 *
 * Copies: one link unit of a process links the archive, and the others are bound to its functions, or all use the shared library. Locks do
 * not work between two copies.
 *
 * What threads, signal handlers and children of fork(2) may do with each group:
 *
 * Modes: Any thread may call them; entering and leaving are one at a time. Signal handlers may not. A child of fork(2) inherits single
 * mode.
 *
 * Clock: Any thread and any signal handler may read it. A child that was forked while another thread followed the kernel's clock reads
 * the kernel's: correct, but slower. In another time namespace the clock jumps by its offset, and may go back, 4 ms late at most.
 *
 * Queued spinlock: A signal handler may take a lock that its thread neither holds nor waits for. A lock that another thread held at a
 * fork stays held in the child; trylock and timedlock return there. One process, and one copy of the library.
 *
 * Lockref: As the spinlock. A signal handler may call trylock and put_return on any object; the gets and put_or_lock may wait for the
 * lock. References of the parent's other threads stay counted in a child. One process, and one copy of the library.
 *
 * Reference counts: The hook is called on the thread that misuses a count, also in signal handlers.
 *
 * Fences: Any thread and any signal handler may make them. A child of fork(2) has its parent's kind.
 *
 * RCU: Any thread may call all of it. A signal handler may begin and end sections, on a thread that has begun one before or called
 * cw_rcu_register. A child of fork(2) has the sections of the thread that forked, and runs its own copy of the functions that wait.
 *
 * Static keys: Any thread may change one; signal handlers may only test one. A child of fork(2) has them as they were.
 *
 * Per-CPU counters: Any thread and any signal handler may add. Creating, destroying, sum and compare are not for handlers. Sums stay exact
 * in a child, but for what other threads were about to add.
 *
 * Per-CPU gauges: Any thread and any signal handler may add. Creating, destroying, get and set are not for handlers. A child goes on from the
 * number as it was.
 *
 * Per-CPU histograms: Any thread and any signal handler may record. Creating, destroying and reading are not for handlers. A child goes on
 * from the counts as they were.
 *
 * Per-CPU free lists: Any thread and any signal handler may push and pop. A handler may not grow, nor pop_or_steal, which may wait for the
 * thread that it interrupted. A child has all objects that were on lists.
 *
 * Per-CPU rings: Any thread and any signal handler may push and pop. A handler may not pop_or_steal. A child has all words that were in
 * rings, but for those of a CPU that was being stolen from at the fork.
 *
 * Per-CPU reference counts: Any thread and any signal handler may get and put, so that a release may run in a handler. A handler may not
 * kill. A count with references of threads that a child does not have never drops to 0 there.
 *
 * Soft mask: Holds are the calling thread's, and handlers may hold and release. A handler may not poll. A child has the holds of the thread
 * that forked.
 *
 * Signals and what they share: cw_signal_on and cw_signal_off are not for handlers. Handlers may take a masked lock. In a child, a lock that
 * another thread had is refused with CW_REFUSED_DEADLOCK. One process, and one copy of the library.
 *
 * The library: Any thread and any signal handler may ask for its version.
 */
";

/// Enumerations, which functions take and return as an int.
const ENUMS: [&str; 7] = [
    "cw_refused",
    "cw_mode",
    "cw_clock_order",
    "cw_clock_mode",
    "cw_clock_reason",
    "cw_mask_woken",
    "CW_SIGNAL_INTERRUPTS",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files with functions for C programs, in the order of the header.
fn sources() -> Vec<PathBuf> {
    let library = fs::read_to_string(root().join("src/lib.rs")).expect("the root of the crate");
    let modules = library.lines().filter_map(|line| line.strip_prefix("pub mod "));
    let elsewhere = |name: &str| name == "hooks" || name == "unit";
    let modules = modules
        .map(|line| line.trim_end_matches(';'))
        .filter(|name| !elsewhere(name));
    modules.map(|name| root().join(format!("src/{name}.rs"))).collect()
}

/// The header of these files.
fn header(sources: &[PathBuf]) -> String {
    let config = Config {
        language: Language::C,
        header: Some(HEAD.trim_end().to_owned()),
        include_guard: Some("CYCLEWISE_CALLED_H".to_owned()),
        no_includes: true,
        sys_includes: ["poll.h", "stddef.h", "stdint.h"].map(str::to_owned).to_vec(),
        includes: vec!["bool.h".to_owned()],
        cpp_compat: true,
        style: Style::Tag,
        usize_is_size_t: true,
        documentation_style: DocumentationStyle::Doxy,
        line_length: 120,
        function: FunctionConfig {
            must_use: Some("CW_MUST_CHECK".to_owned()),
            ..FunctionConfig::default()
        },
        enumeration: EnumConfig::default(),
        export: ExportConfig {
            include: ENUMS.map(str::to_owned).to_vec(),
            // <poll.h> has it, and other headers declare the others, since they are used without the library too.
            exclude: ["pollfd", "cw_unit_register", "cw_key_set", "cw_refcount_warn_saturated"]
                .map(str::to_owned)
                .to_vec(),
            ..ExportConfig::default()
        },
        ..Config::default()
    };
    let mut builder = Builder::new().with_config(config);
    for source in sources {
        builder = builder.with_src(source);
    }
    let mut written = Vec::new();
    builder
        .generate()
        .expect("cbindgen reads the sources")
        .write(&mut written);
    let written = String::from_utf8(written).expect("cbindgen writes UTF-8");
    // Of a type that is excluded cbindgen does not know that it is a struct.
    without_safety(&with_own_bool(&written.replace("(pollfd *", "(struct pollfd *")))
}

/// Declarations with `cw_bool`, of <cyclewise/bool.h>: cbindgen renames types, but no built-in ones.
fn with_own_bool(header: &str) -> String {
    let is_other = |line: &str| line.trim_start().starts_with(['/', '*', '#']);
    let renamed = |line: &str| {
        let words = line.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_');
        words
            .map(|word| match word.strip_prefix("bool") {
                Some(end) if end.len() <= 1 => format!("cw_bool{end}"),
                _ => word.to_owned(),
            })
            .collect::<String>()
    };
    let lines = header.split_inclusive('\n');
    lines
        .map(|line| if is_other(line) { line.to_owned() } else { renamed(line) })
        .collect()
}

/// Comments without their sections on safety, which prove something about the Rust code: what C promises is said before.
fn without_safety(header: &str) -> String {
    let mut kept = String::new();
    let mut in_section = false;
    for line in header.lines() {
        match line.trim() {
            "* # Safety" => {
                in_section = true;
                // The empty line before it.
                if kept.ends_with("\n *\n") {
                    kept.truncate(kept.len() - " *\n".len());
                }
            }
            "*/" => in_section = false,
            _ => {}
        }
        if !in_section {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

#[test]
fn the_header_is_what_the_code_says() {
    let path = root().join("include/cyclewise/called.h");
    let made = header(&sources());
    if std::env::var_os("CYCLEWISE_BLESS").is_some() {
        fs::write(&path, &made).expect("the header can be written");
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == made,
        "called.h is not what the code says; run CYCLEWISE_BLESS=1 cargo test -p cyclewise-c --test header"
    );
}

/// The twin: a function that is added to the code is missing from the header.
#[test]
fn a_function_that_is_not_in_the_header_is_seen() {
    let added = std::env::temp_dir().join(format!("cyclewise-added-{}.rs", std::process::id()));
    fs::write(
        &added,
        "#[unsafe(no_mangle)]\npub extern \"C\" fn cw_added() -> u64 { 0 }\n",
    )
    .expect("a file");
    let mut sources = sources();
    let before = header(&sources);
    sources.push(added.clone());
    let after = header(&sources);
    fs::remove_file(added).expect("it was there");
    assert!(after.contains("uint64_t cw_added(void);") && after != before);
}

/// Every function that is exported is in the header, but for the hooks, which only their own object calls.
#[test]
fn every_exported_function_is_declared() {
    let made = header(&sources());
    for source in sources() {
        let text = fs::read_to_string(&source).expect("a source");
        for name in text.split("extern \"C\" fn cw_").skip(1) {
            let name = name.split('(').next().unwrap_or_default();
            let is_declared = made.contains(&format!("cw_{name}(")) || name == "refcount_warn_saturated";
            assert!(is_declared, "{}: cw_{name}", source.display());
        }
    }
}
