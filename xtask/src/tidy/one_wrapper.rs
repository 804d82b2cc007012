//! A call of the kernel or the C library has one wrapper: one file under a package's `src/sys/` makes it.
//!
//! A call is a function of `libc` or `rustix`, or a `SYS_` number: `libc::SYS_futex` and `rustix::thread::futex` are one, and so
//! are `sigaction` and `SYS_rt_sigaction`. A function that is passed as a value is not seen.

use super::names::Name;
use super::source::Source;
use super::tree::Tree;
use super::{Finding, Rule};
use std::collections::BTreeMap;

pub(super) const RULE: Rule = Rule {
    name: "one-wrapper",
    check,
};

/// Package, call, and why several files make it.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    // A sample is the bare creation of a thread; runs give their threads a stack and a CPU.
    (
        "cyclewise-lab",
        "pthread_create",
        "a thread to measure, and threads that measure",
    ),
    ("cyclewise-lab", "pthread_join", "as pthread_create"),
    ("cyclewise-lab", "pthread_attr_init", "as pthread_create"),
    ("cyclewise-lab", "pthread_attr_destroy", "as pthread_create"),
];

const FIX: &str = "call that wrapper, or move both into one file";

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut wrappers = BTreeMap::new();
    let mut sources: Vec<_> = tree.package_sources().filter(|s| s.is_in("sys")).collect();
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    for source in sources {
        let package = tree.package_of(source).and_then(|m| m.package.as_deref()).unwrap_or("");
        for (call, line) in calls(source) {
            if EXCEPTIONS.iter().any(|e| (e.0, e.1) == (package, call.as_str())) {
                continue;
            }
            let first = wrappers.entry((package, call.clone())).or_insert(&source.path);
            if *first != &source.path {
                let what = format!("`{call}` has a wrapper in {first}");
                findings.push(Finding::new(&source.path, line, what, FIX));
            }
        }
    }
    findings
}

/// The calls of a file, each with its first line.
fn calls(source: &Source) -> BTreeMap<String, usize> {
    let names = &source.names.all;
    let imports: BTreeMap<_, _> = names
        .iter()
        .filter_map(|n| Some((n.binding.as_deref()?, n.segments.as_slice())))
        .collect();
    let mut found = BTreeMap::new();
    for name in names {
        if let Some(call) = call(name, &imports) {
            found.entry(call).or_insert(name.line);
        }
    }
    found
}

fn call(name: &Name, imports: &BTreeMap<&str, &[String]>) -> Option<String> {
    let imported = imports.get(name.first()).filter(|_| name.binding.is_none());
    let (before, rest) = match imported {
        Some(path) => (*path, &name.segments[1..]),
        None => (&[][..], &name.segments[..]),
    };
    let path: Vec<_> = before.iter().chain(rest).map(String::as_str).collect();
    let is_called = name.followed_by == Some('(');
    let function = match *path.as_slice() {
        ["libc", number] if number.starts_with("SYS_") => &number["SYS_".len()..],
        ["libc", function] if is_called && function != "syscall" => function,
        ["rustix", _, function, ..] if is_called => function,
        _ => return None,
    };
    let is_function = function
        .chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    let function = function.strip_prefix("rt_").unwrap_or(function);
    is_function.then(|| function.strip_suffix("64").unwrap_or(function).to_owned())
}

#[cfg(test)]
mod tests {
    use super::{FIX, RULE};
    use crate::tidy::testing::{check, package};

    #[test]
    fn one_file_a_call_and_types_everywhere_are_fine() {
        let good = check(
            &RULE,
            &[
                ("crates/a/Cargo.toml", &package("a")),
                ("crates/b/Cargo.toml", &package("b")),
                (
                    "crates/a/src/sys/futex.rs",
                    "//! F.\nfn f() { libc::syscall(libc::SYS_futex, 1); libc::syscall(libc::SYS_futex, 2); }\n",
                ),
                (
                    "crates/a/src/sys/signal.rs",
                    "//! S.\nuse rustix::io::Errno;\nfn f(a: libc::sigaction) { libc::sigaction(a); libc::syscall(libc::SYS_rt_sigaction); Errno::from(1); }\n",
                ),
                (
                    "crates/a/src/sys/other.rs",
                    "//! O.\nuse rustix::io::Errno;\nfn f(a: libc::sigaction) { Errno::from(1); futex::wake(); }\n",
                ),
                (
                    "crates/b/src/sys/futex.rs",
                    "//! F.\nfn f() { libc::syscall(libc::SYS_futex, 1); }\n",
                ),
                (
                    "crates/a/tests/t.rs",
                    "//! T.\nfn f() { libc::syscall(libc::SYS_futex, 1); }\n",
                ),
            ],
        );
        assert_eq!(good, [""; 0]);
    }

    #[test]
    fn a_second_wrapper_is_caught_by_number_name_and_import() {
        let bad = check(
            &RULE,
            &[
                ("crates/a/Cargo.toml", &package("a")),
                (
                    "crates/a/src/sys/a.rs",
                    "//! A.\nfn f() { libc::syscall(libc::SYS_futex, 1); libc::getpid(); libc::sigaction(); }\n",
                ),
                (
                    "crates/a/src/sys/b.rs",
                    "//! B.\nuse libc::getpid;\nuse rustix::thread::futex;\nfn f() {\n    futex::wake();\n    getpid();\n    libc::syscall(libc::SYS_rt_sigaction);\n}\n",
                ),
            ],
        );
        let found = |line, call| {
            format!("crates/a/src/sys/b.rs:{line}: one-wrapper: `{call}` has a wrapper in crates/a/src/sys/a.rs; {FIX}")
        };
        assert_eq!(bad, [found(5, "futex"), found(6, "getpid"), found(7, "sigaction")]);
    }
}
