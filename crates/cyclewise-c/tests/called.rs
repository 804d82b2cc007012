//! Every called function from C, in programs that are linked with the shared library and with the archive.
#![cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux"))]

mod common;

use common::{Link, Program};

/// Programs of `tests/called`.
const PROGRAMS: [&str; 9] = [
    "clock.c", "counts.c", "errno.c", "fence.c", "locks.c", "mask.c", "percpu.c", "rcu.c", "seq.c",
];

fn unhooked(file: &str, link: Link) -> Program<'static> {
    let program = Program::called(file, link);
    Program {
        hooked: false,
        ..program
    }
}

#[test]
fn programs_with_the_shared_library() {
    for file in PROGRAMS {
        unhooked(file, Link::Shared).passes(&[]);
    }
}

/// The twin of `errno.c`: a function that changes errno is seen.
#[test]
fn a_change_of_errno_is_seen() {
    let output = unhooked("errno.c", Link::Shared).output(&["twin"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(3) && said.contains("sets errno"), "{said}");
}

/// The other twin: a function that is a cancellation point is seen.
#[test]
fn a_cancellation_point_is_seen() {
    let output = unhooked("errno.c", Link::Shared).output(&["point"]);
    let said = String::from_utf8_lossy(&output.stderr);
    let is_seen = said.contains("usleep(1) is a cancellation point");
    assert!(output.status.code() == Some(4) && is_seen, "{said}");
}

#[test]
fn programs_with_the_archive() {
    for file in PROGRAMS {
        unhooked(file, Link::Archive).passes(&[]);
    }
}

/// In a fixed executable data and functions of the shared library have addresses in the program.
#[test]
fn fixed_executables() {
    for file in PROGRAMS {
        let flags = &["-no-pie", "-fno-pie"];
        let program = unhooked(file, Link::Shared);
        Program { flags, ..program }.passes(&[]);
    }
}

/// The same functions where nothing is inline.
#[test]
fn programs_that_call_everything() {
    for file in ["clock.c", "mask.c"] {
        let flags = &["-DCW_NO_INLINE"];
        let program = unhooked(file, Link::Shared);
        Program { flags, ..program }.passes(&[]);
    }
}

#[test]
fn static_programs() {
    for flags in [&["-static"][..], &["-static-pie"][..]] {
        for file in ["clock.c", "errno.c", "locks.c", "percpu.c", "seq.c"] {
            let program = unhooked(file, Link::Archive);
            Program { flags, ..program }.passes(&[]);
        }
    }
}

/// The C side under AddressSanitizer and UndefinedBehaviorSanitizer, with the archive.
#[test]
fn under_sanitizers() {
    let flags = &["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g"];
    let probe = common::scratch().join("probe.c");
    std::fs::write(&probe, "int main(void) { return 0; }\n").expect("a file");
    let arguments = flags.iter().map(|flag| (*flag).to_owned());
    let arguments = arguments.chain([probe.display().to_string(), "-o".to_owned()]);
    let arguments: Vec<_> = arguments
        .chain([common::fresh("probe").display().to_string()])
        .collect();
    if !common::cc(&arguments).status.success() {
        println!("skipped: the compiler has no sanitizers; install libasan and libubsan");
        return;
    }
    for file in PROGRAMS {
        for link in [Link::Archive, Link::Shared] {
            let program = unhooked(file, link);
            Program { flags, ..program }.passes(&["sanitized"]);
        }
    }
}

/// The twin: what a sanitizer has to see is seen.
#[test]
fn a_use_after_destroy_is_caught_by_the_sanitizer() {
    let source = common::scratch().join("destroyed.c");
    let code = "#include <cyclewise/cyclewise.h>\n\
                int main(void) { struct cw_percpu_free_list *list = cw_percpu_free_list_create(8, 0);\n\
                int *object = cw_percpu_free_list_grow(list); cw_percpu_free_list_destroy(list); return *object; }\n";
    std::fs::write(&source, code).expect("a file");
    let program = Program {
        source,
        link: Link::Archive,
        hooked: false,
        flags: &["-fsanitize=address", "-Wno-error"],
    };
    let Ok(path) = program.compile() else {
        println!("skipped: the compiler has no sanitizers; install libasan");
        return;
    };
    let mut command = std::process::Command::new(path);
    let output = command
        .env_remove("LD_LIBRARY_PATH")
        .output()
        .expect("the program runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && said.contains("heap-use-after-free"),
        "{said}"
    );
}

/// `unwinding.cc`, which is C++; `None` without a compiler of it.
fn unwinding(link: Link) -> Option<std::path::PathBuf> {
    let has_compiler = std::process::Command::new("g++").arg("--version").output().is_ok();
    if !has_compiler {
        assert!(
            std::env::var_os("CI").is_none_or(|v| v != "true"),
            "g++ is not installed"
        );
        println!("skipped: there is no g++");
        return None;
    }
    let called = common::root().join("tests/called");
    let program = common::fresh("unwinding");
    let mut command = std::process::Command::new("g++");
    command.args(["-std=gnu++11", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-I"]);
    command.arg(&called).arg("-I").arg(common::root().join("include"));
    command.arg(called.join("unwinding.cc")).arg("-o").arg(&program);
    let output = command.args(common::library(link)).output().expect("g++ runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(program)
}

/// Runs it; its status, and what it wrote to stderr.
fn ended(program: &std::path::Path, arguments: &[&str]) -> (std::process::ExitStatus, String) {
    let mut command = std::process::Command::new(program);
    let output = command.env_remove("LD_LIBRARY_PATH").args(arguments).output();
    let output = output.expect("the program runs");
    (output.status, String::from_utf8_lossy(&output.stderr).into_owned())
}

const CALLBACKS: [&str; 6] = ["kill", "confirm", "put", "handler", "replay", "misuse"];

/// An exception and pthread_exit end the process, with a line; and nobody is cancelled in a callback, which may well call read(2).
/// The twin is "none", which is called by no function of the library: the thread ends, or catches.
#[test]
fn a_callback_returns_or_the_process_ends() {
    use std::os::unix::process::ExitStatusExt;
    for link in [Link::Shared, Link::Archive] {
        let Some(program) = unwinding(link) else { return };
        for callback in CALLBACKS {
            for way in ["exit", "throw"] {
                let (status, said) = ended(&program, &[callback, way]);
                let is_told = said.contains("a callback left by pthread_exit or an exception");
                assert!(
                    status.signal() == Some(6) && is_told,
                    "{callback} {way}: {status} {said}"
                );
            }
            let (status, said) = ended(&program, &[callback, "cancel"]);
            assert!(status.success(), "{callback}: {status} {said}");
        }
        for way in ["exit", "throw", "cancel"] {
            let (status, said) = ended(&program, &["none", way]);
            assert!(status.success() && said.is_empty(), "{way}: {status} {said}");
        }
    }
}

/// Guards of C++ and cleanup handlers give locks back. What nobody gives back stays taken: the twins in the program see it.
#[test]
fn locks_of_threads_that_end() {
    let Some(program) = unwinding(Link::Shared) else { return };
    let (status, said) = ended(&program, &["locks"]);
    assert!(status.success(), "{status} {said}");
}

const SIGSEGV: i32 = 11; // include/uapi/asm-generic/signal.h

/// The status that a program has ended with, and the signal.
fn status(output: &std::process::Output) -> (Option<i32>, Option<i32>) {
    use std::os::unix::process::ExitStatusExt;
    (output.status.code(), output.status.signal())
}

/// A coroutine whose stack has no room for a signal's frame.
#[test]
fn handlers_on_foreign_stacks() {
    let flags = &["-Wl,-z,now"];
    let program = unhooked("stacks.c", Link::Shared);
    let program = Program { flags, ..program };
    program.passes(&[]);
    // The twin: without SA_ONSTACK the first handler is on its thread's own stack.
    assert_eq!(status(&program.output(&["twin"])), (Some(7), None));
}

/// A program with an archive of Go's, whose threads run goroutines on stacks of 2 KiB.
#[test]
fn handlers_beside_goroutines() {
    if !std::process::Command::new("go")
        .arg("version")
        .output()
        .is_ok_and(|go| go.status.success())
    {
        return println!("skipped: there is no go; install golang");
    }
    let archive = common::fresh("goroutines.a");
    let source = common::root().join("tests/called/goroutines.go");
    let mut command = std::process::Command::new("go");
    command
        .args(["build", "-buildmode=c-archive", "-o"])
        .arg(&archive)
        .arg(source);
    if std::env::var_os("HOME").is_none() {
        command.env("GOCACHE", common::scratch().join("go"));
    }
    let built = command
        .env("CGO_ENABLED", "1")
        .env("GO111MODULE", "off")
        .output()
        .expect("go runs");
    if !built.status.success() {
        return println!(
            "skipped: go builds no archive: {}",
            String::from_utf8_lossy(&built.stderr)
        );
    }
    let archive = archive.display().to_string();
    let flags = ["-DCW_GO", archive.as_str(), "-pthread"];
    let program = unhooked("stacks.c", Link::Shared);
    let program = Program {
        flags: &flags,
        ..program
    };
    program.passes(&[]);
    // The twin: a goroutine's stack is no alternate one.
    assert_eq!(status(&program.output(&["twin"])), (Some(7), None));
}

/// An object of C that has registered a handler, or a function for after a grace period, stays mapped.
#[test]
fn what_is_called_later_outlives_dlclose() {
    let object = common::fresh("unload.so").display().to_string();
    let source = common::root()
        .join("tests/called/unload_object.c")
        .display()
        .to_string();
    let mut arguments: Vec<String> = common::STRICT.iter().map(|flag| (*flag).to_owned()).collect();
    arguments.push(format!("-I{}", common::root().join("include").display()));
    arguments.extend(["-shared", "-fPIC", "-o", &object, &source].map(str::to_owned));
    arguments.extend(common::library(Link::Shared));
    let output = common::cc(&arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let program = unhooked("unload.c", Link::Shared);
    let flags = &["-ldl"];
    let program = Program { flags, ..program };
    program.passes(&[&object, "ours"]);
    program.passes(&[&object, "later"]);
    // The twin: a handler of its own is called where nothing is mapped.
    assert_eq!(status(&program.output(&[&object, "own"])), (None, Some(SIGSEGV)));
}
