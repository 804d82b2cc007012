//! Every called function from C, in programs that are linked with the shared library and with the archive.
#![cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux"))]

mod common;

use common::{Link, Program};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// Programs of `tests/called`.
const PROGRAMS: [&str; 9] = [
    "clock.c", "counts.c", "errno.c", "fence.c", "locks.c", "mask.c", "percpu.c", "rcu.c", "seq.c",
];

fn unhooked(file: &str, link: Link) -> Program<'static> {
    Program::called(file, link).unhooked()
}

/// The programs compiled with these flags, each with a `main` of its own name.
fn objects(flags: &[&str]) -> Vec<String> {
    let include = [common::include(), format!("-I{}", common::called(""))];
    let compiled = &|file: &str| {
        let stem = file.trim_end_matches(".c");
        let (object, source) = (common::fresh(&format!("{stem}.o")), common::called(file));
        let main = format!("-Dmain={stem}_main");
        let own = [&*include[0], &*include[1], "-c", &main, &source, "-o", &object];
        common::compile([common::STRICT, flags, &own].concat());
        object
    };
    std::thread::scope(|scope| {
        let started = PROGRAMS.map(|file| scope.spawn(move || compiled(file)));
        started.map(|object| object.join().expect("it compiles")).into()
    })
}

/// The same without flags, which tests share.
fn plain() -> &'static [String] {
    static OBJECTS: OnceLock<Vec<String>> = OnceLock::new();
    OBJECTS.get_or_init(|| objects(&[]))
}

/// All of the programs in one, which is told which to be: a link with the library takes longer than they do.
struct Linked(String);

impl Linked {
    fn new(objects: &[String], link: Link, flags: &[&str]) -> Self {
        let stems = PROGRAMS.map(|file| file.trim_end_matches(".c"));
        let declared: String = stems.map(|stem| format!("int {stem}_main(int, char **);\n")).concat();
        let called = stems.map(|stem| {
            format!("    if (!strcmp(words[1], \"{stem}\"))\n        return {stem}_main(count - 1, words + 1);\n")
        });
        let text = format!(
            "#include <string.h>\n{declared}int main(int count, char **words)\n{{\n{}    return 99;\n}}\n",
            called.concat()
        );
        let (source, program) = (common::written("one_of.c", &text), common::fresh("one_of"));
        let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
        common::compile_with(&[flags, &objects, &[&source, "-o", &program]].concat(), link);
        Self(program)
    }

    /// The program of this file with these arguments.
    fn output(&self, file: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new(&self.0);
        command.arg(file.trim_end_matches(".c"));
        if file == "mask.c" {
            // What is registered stays allocated.
            command.env("ASAN_OPTIONS", "detect_leaks=0");
        }
        common::run(command.args(arguments))
    }

    /// At the same time: one of them waits for a second.
    fn passes(&self, files: &[&str], arguments: &[&str]) {
        std::thread::scope(|scope| {
            for file in files {
                scope.spawn(move || {
                    let output = self.output(file, arguments);
                    let said = String::from_utf8_lossy(&output.stderr);
                    assert!(output.status.success(), "{file}: {:?}\n{said}", output.status);
                });
            }
        });
    }
}

/// Those with the shared library.
fn shared() -> &'static Linked {
    static LINKED: OnceLock<Linked> = OnceLock::new();
    LINKED.get_or_init(|| Linked::new(plain(), Link::Shared, &[]))
}

#[test]
fn programs_with_the_shared_library() {
    shared().passes(&PROGRAMS, &[]);
}

/// The twin of `errno.c`: a function that changes errno is seen.
#[test]
fn a_change_of_errno_is_seen() {
    let output = shared().output("errno.c", &["twin"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(3) && said.contains("sets errno"), "{said}");
}

/// The other twin: a function that is a cancellation point is seen.
#[test]
fn a_cancellation_point_is_seen() {
    let output = shared().output("errno.c", &["point"]);
    let said = String::from_utf8_lossy(&output.stderr);
    let is_seen = said.contains("usleep(1) is a cancellation point");
    assert!(output.status.code() == Some(4) && is_seen, "{said}");
}

#[test]
fn programs_with_the_archive() {
    Linked::new(plain(), Link::Archive, &[]).passes(&PROGRAMS, &[]);
}

/// In a fixed executable data and functions of the shared library have addresses in the program.
#[test]
fn fixed_executables() {
    Linked::new(&objects(&["-fno-pie"]), Link::Shared, &["-no-pie", "-fno-pie"]).passes(&PROGRAMS, &[]);
}

/// The same functions where nothing is inline.
#[test]
fn programs_that_call_everything() {
    for file in ["clock.c", "mask.c"] {
        unhooked(file, Link::Shared).with(&["-DCW_NO_INLINE"]).passes(&[]);
    }
}

#[test]
fn static_programs() {
    for flag in ["-static", "-static-pie"] {
        let files = ["clock.c", "errno.c", "locks.c", "percpu.c", "seq.c"];
        Linked::new(plain(), Link::Archive, &[flag]).passes(&files, &[]);
    }
}

/// The C side under AddressSanitizer and UndefinedBehaviorSanitizer, with the archive and with the shared library.
#[test]
fn under_sanitizers() {
    let flags = &["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g"];
    let probe = common::written("probe.c", "int main(void) { return 0; }\n");
    let probed = common::cc([&flags[..], &[&probe, "-o", &common::fresh("probe")]].concat());
    if !probed.status.success() {
        println!("skipped: the compiler has no sanitizers; install libasan and libubsan");
        return;
    }
    let objects = objects(flags);
    std::thread::scope(|scope| {
        for link in [Link::Archive, Link::Shared] {
            let objects = &objects;
            scope.spawn(move || Linked::new(objects, link, flags).passes(&PROGRAMS, &["sanitized"]));
        }
    });
}

/// The twin: what a sanitizer has to see is seen.
#[test]
fn a_use_after_destroy_is_caught_by_the_sanitizer() {
    let code = "#include <cyclewise/cyclewise.h>\n\
                int main(void) { struct cw_percpu_free_list *list = cw_percpu_free_list_create(8, 0);\n\
                int *object = cw_percpu_free_list_grow(list); cw_percpu_free_list_destroy(list); return *object; }\n";
    let program = Program::new(common::written("destroyed.c", code).into(), Link::Archive)
        .unhooked()
        .with(&["-fsanitize=address", "-Wno-error"]);
    let Ok(path) = program.compile() else {
        println!("skipped: the compiler has no sanitizers; install libasan");
        return;
    };
    let output = common::run(&mut Command::new(path));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && said.contains("heap-use-after-free"),
        "{said}"
    );
}

/// `unwinding.cc`, which is C++; `None` without a compiler of it.
fn unwinding(link: Link) -> Option<String> {
    let has_compiler = Command::new("g++").arg("--version").output().is_ok();
    if !has_compiler {
        assert!(
            std::env::var_os("CI").is_none_or(|v| v != "true"),
            "g++ is not installed"
        );
        println!("skipped: there is no g++");
        return None;
    }
    let (source, program) = (common::called("unwinding.cc"), common::fresh("unwinding"));
    let mut command = Command::new("g++");
    command.args(["-std=gnu++11", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread"]);
    command.args([
        &*common::include(),
        &format!("-I{}", common::called("")),
        &source,
        "-o",
        &program,
    ]);
    let output = command.args(common::library(link)).output().expect("g++ runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(program)
}

/// Runs it; its status, and what it wrote to stderr.
fn ended(program: &str, arguments: &[&str]) -> (std::process::ExitStatus, String) {
    let output = common::run(Command::new(program).args(arguments));
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
    let program = unhooked("stacks.c", Link::Shared).with(&["-Wl,-z,now"]);
    program.passes(&[]);
    // The twin: without SA_ONSTACK the first handler is on its thread's own stack.
    assert_eq!(status(&program.output(&["twin"])), (Some(7), None));
}

/// A program with an archive of Go's, whose threads run goroutines on stacks of 2 KiB.
#[test]
fn handlers_beside_goroutines() {
    if !Command::new("go")
        .arg("version")
        .output()
        .is_ok_and(|go| go.status.success())
    {
        return println!("skipped: there is no go; install golang");
    }
    let archive = common::fresh("goroutines.a");
    let source = common::called("goroutines.go");
    let mut command = Command::new("go");
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
    let flags = ["-DCW_GO", &archive, "-pthread"];
    let program = unhooked("stacks.c", Link::Shared).with(&flags);
    program.passes(&[]);
    // The twin: a goroutine's stack is no alternate one.
    assert_eq!(status(&program.output(&["twin"])), (Some(7), None));
}

/// An object of C that has registered a handler, or a function for after a grace period, stays mapped.
#[test]
fn what_is_called_later_outlives_dlclose() {
    let (object, source) = (common::fresh("unload.so"), common::called("unload_object.c"));
    let own = [&*common::include(), "-shared", "-fPIC", "-o", &object, &source];
    common::compile_with(&[common::STRICT, &own].concat(), Link::Shared);
    let program = unhooked("unload.c", Link::Shared).with(&["-ldl"]);
    program.passes(&[&object, "ours"]);
    program.passes(&[&object, "later"]);
    // The twin: a handler of its own is called where nothing is mapped.
    assert_eq!(status(&program.output(&[&object, "own"])), (None, Some(SIGSEGV)));
}
