//! The modes from C, in programs that are linked in every way.
#![cfg(all(target_arch = "x86_64", target_env = "gnu"))]

mod common;

use common::{Link, Program};

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
    let flags = &["-no-pie", "-fno-pie"];
    let program = Program::called("modes.c", Link::Archive);
    Program { flags, ..program }.passes(&[]);
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
            let object = common::fresh("keys_other.o").display().to_string();
            let source = common::root().join("tests/called/keys_other.c").display().to_string();
            let include = format!("-I{}", common::root().join("include").display());
            let arguments = ["-c", "-O2", other, &include, &source, "-o", &object].map(str::to_owned);
            let output = common::cc(&arguments);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let flags = ["-DCW_NO_SITES", &object, "-pthread"];
            let program = Program::called("keys.c", link);
            Program {
                flags: &flags,
                ..program
            }
            .passes(&[]);
        }
    }
}

/// Handlers wait for a release, too, where the mask's place is not known to the inline functions.
#[test]
fn the_mask_holds_by_calls_where_it_has_no_offset() {
    let program = Program::called("mask.c", Link::Shared);
    let flags = &["-DNO_OFFSET", "-pthread"];
    Program { flags, ..program }.passes(&[]);
}

/// Nothing of the library is linked for a file that includes its headers and uses nothing.
#[test]
fn headers_that_are_not_used_ask_for_nothing() {
    let source = common::fresh("unused.c");
    std::fs::write(
        &source,
        "#include <cyclewise/cyclewise.h>\nint main(void) { return 0; }\n",
    )
    .expect("a file");
    let include = format!("-I{}", common::root().join("include").display());
    let program = common::fresh("unused").display().to_string();
    let arguments = ["-O0", &include, &source.display().to_string(), "-o", &program].map(str::to_owned);
    let output = common::cc(&arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// No function of the modes changes errno where they work, either.
#[test]
fn errno_stays() {
    Program::called("errno.c", Link::Shared).passes(&[]);
    let tunable = Program::called("errno.c", Link::Archive)
        .compile()
        .expect("it compiles");
    // Without the C library's areas the library registers its own.
    let mut command = std::process::Command::new(tunable);
    command
        .env_remove("LD_LIBRARY_PATH")
        .env("GLIBC_TUNABLES", "glibc.pthread.rseq=0");
    let output = command.output().expect("the program runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

/// The twin of the others: without the hooks nothing is elided, and the line says what to add.
#[test]
fn a_program_without_hooks_is_told_what_to_link() {
    for link in [Link::Shared, Link::Archive] {
        let program = Program::called("refused.c", link);
        let said = Program {
            hooked: false,
            ..program
        }
        .passes(&[]);
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
    let source = common::root().join("hooks/cyclewise-hooks.c").display().to_string();
    let object = common::fresh("other-version.o").display().to_string();
    let arguments = ["-c", "-O2", "-fPIC", "-DHOOKS_ABI=2", &source, "-o", &object].map(str::to_owned);
    assert!(common::cc(&arguments).status.success());
    for link in [Link::Shared, Link::Archive] {
        let program = Program::called("refused.c", link);
        let said = Program {
            hooked: false,
            flags: &[&object],
            ..program
        }
        .passes(&[]);
        assert!(
            said.starts_with("68 ") && said.contains("another version") && said.contains("relink"),
            "{link:?}: {said}"
        );
    }
}

#[test]
fn a_static_program_is_refused_and_has_threads() {
    for flags in [["-static"], ["-static-pie"]] {
        let program = Program::called("refused.c", Link::Archive);
        let program = Program {
            hooked: false,
            flags: &flags,
            ..program
        };
        let said = program.passes(&[]);
        assert!(said.starts_with("16 "), "{flags:?}: {said}");
    }
}

/// Hooks in a static program could create no thread, so it ends at once, with a line.
#[test]
fn hooks_in_a_static_program_say_so() {
    for flags in [["-static"], ["-static-pie"]] {
        let program = Program::called("refused.c", Link::Archive);
        let output = Program {
            flags: &flags,
            ..program
        }
        .output(&[]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && output.stdout.is_empty());
        assert!(said.contains("cyclewise-hooks.o is in a static program"), "{said}");
    }
}

/// A shared object with the hooks.
fn hooked_library() -> String {
    let library = common::fresh("libhooked.so");
    let arguments = ["-shared", "-o"].map(str::to_owned).into_iter();
    let arguments = arguments.chain([library.display().to_string(), common::hooks(&[])]);
    let arguments: Vec<_> = arguments.chain(common::library(Link::Shared)).collect();
    assert!(common::cc(&arguments).status.success());
    library.display().to_string()
}

/// Hooks in a shared library that the program is linked with come before the C library's functions, too, and stay.
#[test]
fn hooks_in_a_library_of_the_program_work() {
    let library = hooked_library();
    let program = Program::called("refused.c", Link::Shared);
    let program = Program {
        hooked: false,
        flags: &["-Wl,--no-as-needed", &library],
        ..program
    };
    let said = program.passes(&[]);
    assert!(said.starts_with("0 "), "{said}");
}

/// The twin: in a library that is loaded later they come after the C library's, and are found not to be in force.
#[test]
fn hooks_in_a_library_that_is_loaded_later_are_refused() {
    let library = hooked_library();
    let program = Program::called("refused.c", Link::Shared);
    let said = Program {
        hooked: false,
        ..program
    }
    .passes(&[&library]);
    assert!(said.starts_with("18 "), "{said}");
}
