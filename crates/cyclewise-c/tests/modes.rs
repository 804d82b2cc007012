//! The modes from C, in programs that are linked in every way.
#![cfg(all(target_arch = "x86_64", target_env = "gnu"))]

mod common;

use common::{Link, Program};
use std::process::Command;

#[test]
fn the_modes_work_with_the_shared_library() {
    Program::called("modes.c", Link::Shared).passes(&[]);
}

#[test]
fn the_modes_work_with_the_archive() {
    Program::called("modes.c", Link::Archive).passes(&[]);
}

#[test]
fn a_fixed_executable_works() {
    Program::called("modes.c", Link::Archive)
        .with(&["-no-pie", "-fno-pie"])
        .passes(&[]);
}

#[test]
fn sites_of_the_program_and_the_library_are_elided_together() {
    for link in [Link::Shared, Link::Archive] {
        Program::called("own_sites.c", link).passes(&[]);
    }
}

/// The other file of a program has sites or none.
#[test]
fn keys_without_sites_change_with_those_that_have_any() {
    for link in [Link::Shared, Link::Archive] {
        for other in ["-DWITH_SITES", "-DCW_NO_SITES"] {
            let (object, source) = (common::fresh("keys_other.o"), common::called("keys_other.c"));
            common::compile(["-c", "-O2", other, &common::include(), &source, "-o", &object]);
            let flags = ["-DCW_NO_SITES", &object, "-pthread"];
            Program::called("keys.c", link).with(&flags).passes(&[]);
        }
    }
}

/// Handlers wait for a release, too, where the mask's place is not known to the inline functions.
#[test]
fn the_mask_holds_by_calls_where_it_has_no_offset() {
    Program::called("mask.c", Link::Shared)
        .with(&["-DNO_OFFSET", "-pthread"])
        .passes(&[]);
}

/// Nothing of the library is linked for a file that includes its headers and uses nothing.
#[test]
fn headers_that_are_not_used_ask_for_nothing() {
    let text = "#include <cyclewise/cyclewise.h>\nint main(void) { return 0; }\n";
    let source = common::written("unused.c", text);
    common::compile(["-O0", &common::include(), &source, "-o", &common::fresh("unused")]);
}

/// No function of the modes changes errno where they work, either.
#[test]
fn errno_stays() {
    Program::called("errno.c", Link::Shared).passes(&[]);
    let tunable = Program::called("errno.c", Link::Archive)
        .compile()
        .expect("it compiles");
    // Without the C library's areas the library registers its own.
    let output = common::run(Command::new(tunable).env("GLIBC_TUNABLES", "glibc.pthread.rseq=0"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

/// The twin of the others: without the hooks nothing is elided, and the line says what to add.
#[test]
fn a_program_without_hooks_is_told_what_to_link() {
    for link in [Link::Shared, Link::Archive] {
        let said = Program::called("refused.c", link).unhooked().passes(&[]);
        assert!(
            said.starts_with("64 ")
                && said.contains("cyclewise-hooks.o")
                && said.contains("pkg-config --libs cyclewise-single"),
            "{link:?}: {said}"
        );
    }
}

/// An object of another version is no reason to say that there is none.
#[test]
fn hooks_of_another_version_are_refused_as_such() {
    let object = hooks_with("-DTABLE_ABI=1");
    for link in [Link::Shared, Link::Archive] {
        let said = Program::called("refused.c", link)
            .unhooked()
            .with(&[&object])
            .passes(&[]);
        assert!(
            said.starts_with("68 ") && said.contains("another version") && said.contains("relink"),
            "{link:?}: {said}"
        );
    }
}

/// An object from before the functions were given what they forward to: its calls would crash. It does not link, and a program that was
/// linked with it before ends by the dynamic linker's line. The twin is the object of today.
#[test]
fn hooks_that_call_with_other_arguments_are_not_linked() {
    let object = hooks_with("-DHOOKS_ABI=1");
    let program = Program::called("refused.c", Link::Shared).unhooked();
    let with = |flags: &[&str]| program.clone().with(flags).compile();
    let said = with(&[&object]).expect_err("there is no such function");
    assert!(said.contains("cw_hook1_pthread_create"), "{said}");
    // A library that had the functions stands for the one of before, and then has them no more.
    let names = said.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let missing: std::collections::BTreeSet<_> = names.filter(|name| name.starts_with("cw_hook1_")).collect();
    let before = common::fresh("libbefore.so");
    let make = |text: &str| {
        let source = common::written("before.c", text);
        common::compile(["-shared", "-fPIC", "-o", &before, &source]);
    };
    let functions: Vec<_> = missing
        .iter()
        .map(|name| format!("int {name}(void) {{ return 0; }}\n"))
        .collect();
    make(&functions.concat());
    let linked = with(&[&object, &before]).expect("a program");
    make("int nothing;\n");
    let output = common::run(&mut Command::new(linked));
    let said = String::from_utf8_lossy(&output.stderr);
    // 127: the dynamic linker of glibc.
    let is_told = said.contains("undefined symbol: cw_hook1_");
    assert!(output.status.code() == Some(127) && is_told, "{} {said}", output.status);
    assert!(with(&[&hooks_with("-DTODAY")]).is_ok());
}

#[test]
fn a_static_program_is_refused_and_has_threads() {
    for flags in [["-static"], ["-static-pie"]] {
        let program = Program::called("refused.c", Link::Archive).unhooked();
        let said = program.with(&flags).passes(&[]);
        assert!(said.starts_with("16 "), "{flags:?}: {said}");
    }
}

/// Hooks in a static program could create no thread, so it ends at once, with a line.
#[test]
fn hooks_in_a_static_program_say_so() {
    for flags in [["-static"], ["-static-pie"]] {
        let output = Program::called("refused.c", Link::Archive).with(&flags).output(&[]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && output.stdout.is_empty());
        assert!(said.contains("cyclewise-hooks.o is in a static program"), "{said}");
    }
}

fn shared_object(name: &str, arguments: &[&str]) -> String {
    let (object, include) = (common::fresh(name), common::include());
    let before = ["-shared", "-fPIC", "-O2", &include, "-o", &object];
    common::compile_with(&[&before, arguments].concat(), Link::Shared);
    object
}

fn hooked_library() -> String {
    shared_object("libhooked.so", &[&common::hooks(&[])])
}

/// `tests/called/wrapper.c`.
fn wrapper(flags: &[&str]) -> String {
    shared_object("libwrapper.so", &[&[&*common::called("wrapper.c")], flags].concat())
}

/// What `refused.c` says, with the shared library and these objects preloaded.
fn refused(hooked: bool, flags: &[&str], preloaded: &[&str]) -> String {
    let program = Program::called("refused.c", Link::Shared);
    let program = Program {
        hooked,
        flags,
        ..program
    }
    .compile()
    .expect("it compiles");
    let output = common::run(Command::new(program).env("LD_PRELOAD", preloaded.join(" ")));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{flags:?} {preloaded:?}: {said}{error}");
    said
}

/// The dynamic linker as the first library of a program: it defines two of the hooked functions.
const LINKER_FIRST: &[&str] = &["-Wl,--no-as-needed", "-l:ld-linux-x86-64.so.2"];

/// The hooks' object with another name in it.
fn hooks_with(change: &str) -> String {
    let (source, object) = (common::hooks_source(), common::fresh("changed-hooks.o"));
    common::compile(["-c", "-O2", "-fPIC", change, &source, "-o", &object]);
    object
}

/// The shared library may come after everything that the hooks forward to: they search from where they are themselves.
#[test]
fn hooks_before_the_dynamic_linker_forward() {
    let hooked = hooked_library();
    for said in [
        refused(true, LINKER_FIRST, &[]),
        refused(false, LINKER_FIRST, &[&hooked]),
        refused(false, &[], &[&hooked]),
    ] {
        assert!(said.starts_with("0 "), "{said}");
    }
    // Behind the C library and the dynamic linker they are not in force, and threads are made.
    let behind = ["-l:libc.so.6", LINKER_FIRST[1], &hooked];
    let said = refused(false, &[LINKER_FIRST, &behind].concat(), &[]);
    assert!(said.starts_with("18 pthread_create"), "{said}");
}

/// A wrapper that is preloaded or linked sees each thread, behind the hooks or before them.
#[test]
fn a_wrapper_sees_the_threads_behind_the_hooks() {
    let (hooked, wrapper) = (hooked_library(), wrapper(&[]));
    for said in [
        refused(true, &[], &[&wrapper]),
        refused(true, &["-Wl,--no-as-needed", &wrapper], &[]),
        refused(false, &[], &[&hooked, &wrapper]),
        // Two link units with hooks: one forwards to the other.
        refused(true, &[], &[&hooked, &wrapper]),
    ] {
        assert!(said.starts_with("0 ") && said.ends_with("traced\n"), "{said}");
    }
    // Before the hooks it is what the process is bound to.
    let said = refused(false, &[], &[&wrapper, &hooked]);
    assert!(
        said.starts_with("18 pthread_create") && said.ends_with("traced\n"),
        "{said}"
    );
}

/// The twin: hooks that do not search from where they are forward to the C library, and the wrapper sees nothing.
#[test]
fn twin_hooks_that_search_elsewhere_pass_the_wrapper() {
    let (elsewhere, wrapper) = (hooks_with("-Ddlsym=no_such_function"), wrapper(&[]));
    let said = refused(false, &[&elsewhere], &[&wrapper]);
    assert!(said.starts_with("0 ") && !said.contains("traced"), "{said}");
}

/// A wrapper of dlsym before the hooks finds the hooks themselves behind it, and they would call themselves for ever.
#[test]
fn a_wrapper_of_dlsym_before_the_hooks_is_endured() {
    let (hooked, wrapper) = (hooked_library(), wrapper(&["-DDLSYM"]));
    for (hooked, preloaded) in [(true, vec![&*wrapper]), (false, vec![&*wrapper, &*hooked])] {
        let said = refused(hooked, &[], &preloaded);
        assert!(said.starts_with("0 "), "{said}");
    }
}

/// Before the hooks' own constructor: in a constructor of the program, and in one of a library that it needs.
#[test]
fn the_hooks_are_found_before_any_constructor_runs() {
    let (source, called) = (common::called("refused.c"), format!("-I{}", common::called("")));
    let arguments = ["-DEARLY", "-Dmain=not_main", &called, &source];
    let early = shared_object("libearly.so", &arguments);
    let said = refused(true, &["-DEARLY"], &[]);
    assert!(said.starts_with("0 "), "{said}");
    let said = refused(true, &["-Wl,--no-as-needed", &early], &[]);
    assert!(said.starts_with("0 \n0 "), "{said}");
}

/// The twin: without the table's name only the constructor tells where the hooks are, and the early call comes before it.
#[test]
fn twin_hooks_that_only_register_are_found_too_late() {
    let nameless = hooks_with("-Dcw_hooks_table=no_name");
    assert!(refused(false, &[&nameless, "-DEARLY"], &[]).starts_with("64 "));
    assert!(refused(false, &[&nameless], &[]).starts_with("0 "));
}

/// Hooks in a shared library that the program is linked with come before the C library's functions, too, and stay.
#[test]
fn hooks_in_a_library_of_the_program_work() {
    let library = hooked_library();
    let said = Program::called("refused.c", Link::Shared)
        .unhooked()
        .with(&["-Wl,--no-as-needed", &library])
        .passes(&[]);
    assert!(said.starts_with("0 "), "{said}");
}

/// The twin: in a library that is loaded later they come after the C library's, and are found not to be in force.
#[test]
fn hooks_in_a_library_that_is_loaded_later_are_refused() {
    let library = hooked_library();
    let said = Program::called("refused.c", Link::Shared)
        .unhooked()
        .passes(&[&library]);
    assert!(said.starts_with("18 "), "{said}");
}

/// Hooks in a library of another namespace are bound to nothing here, and the program is not taken for a static one.
#[test]
fn hooks_in_another_namespace_are_none_of_the_programs() {
    let library = hooked_library();
    for (hooked, code) in [(true, "0 "), (false, "64 ")] {
        let program = Program::called("refused.c", Link::Shared);
        let said = Program { hooked, ..program }.passes(&[&library, "elsewhere"]);
        assert!(said.starts_with(code), "{said}");
    }
}
