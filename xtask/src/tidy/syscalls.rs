//! The kernel is called under `src/sys/` only: there its errors and its types are given ours.
//!
//! Elsewhere a package's source may name `libc`'s constants (`libc::ENOSYS`) and its names for C's types
//! (`libc::c_int`, `libc::size_t`), because neither calls anything. Symbols that our own assembly defines are declared
//! under `src/arch/`. Tests and benchmarks beside `src/` may call what they need.

use super::names::Name;
use super::tree::Tree;
use super::{Finding, Rule};

pub(super) const RULE: Rule = Rule {
    name: "syscalls",
    check,
};

/// Crates whose functions are the kernel's.
const CALLERS: &[&str] = &["libc", "rustix", "nix", "linux_raw_sys"];

const FIX: &str = "give it a function in src/sys/ that returns this crate's own types, and call that";

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in tree.package_sources().filter(|s| !s.is_in("sys")) {
        for name in source.names.all.iter().filter(|n| reaches_the_kernel(n)) {
            let what = format!("`{}` outside src/sys/", name.text());
            findings.push(Finding::new(&source.path, name.line, what, FIX));
        }
        if !source.is_in("arch") {
            for &line in &source.names.foreign_functions {
                let what = "`extern` block with functions outside src/sys/";
                findings.push(Finding::new(&source.path, line, what, FIX));
            }
        }
    }
    findings
}

fn reaches_the_kernel(name: &Name) -> bool {
    if name.followed_by == Some('!') && name.segments.last().is_some_and(|s| s == "syscall") {
        return true;
    }
    if !CALLERS.contains(&name.first()) {
        return false;
    }
    match name.segments.as_slice() {
        // A lone word is a variable of that name, but for `use libc;`.
        [_] => name.binding.is_some(),
        [krate, .., last] => !(krate == "libc" && only_names_a_value(last)),
        [] => false,
    }
}

/// Constants, and C's names for types.
fn only_names_a_value(name: &str) -> bool {
    let is_constant = name
        .chars()
        .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    is_constant || name.starts_with("c_") || name.ends_with("_t")
}

#[cfg(test)]
mod tests {
    use super::{FIX, RULE};
    use crate::tidy::testing::{check, package};

    #[test]
    fn calls_in_sys_and_constants_elsewhere_are_fine() {
        let good = check(
            &RULE,
            &[
                ("crates/a/Cargo.toml", &package("a")),
                (
                    "crates/a/src/sys/affinity.rs",
                    "//! A.\nfn f() -> i32 { unsafe { libc::sched_getcpu() } }\n",
                ),
                (
                    "crates/a/src/run.rs",
                    "//! R: libc::fork().\nconst E: libc::c_int = libc::EAGAIN;\n",
                ),
                (
                    "crates/a/src/arch/x86_64/mod.rs",
                    "//! X.\nunsafe extern \"C\" { fn site_table(); }\n",
                ),
                ("crates/a/tests/t.rs", "//! T.\nfn f() { libc::getpid(); }\n"),
            ],
        );
        assert_eq!(good, [""; 0]);
    }

    #[test]
    fn calls_elsewhere_are_caught() {
        let bad = check(
            &RULE,
            &[
                ("crates/a/Cargo.toml", &package("a")),
                (
                    "crates/a/src/run.rs",
                    "//! R.\nuse libc::{c_int, getpid};\n\nfn f() { libc::fork(); }\nextern \"C\" {\n    fn gettid() -> c_int;\n}\n",
                ),
            ],
        );
        assert_eq!(
            bad,
            [
                format!("crates/a/src/run.rs:2: syscalls: `libc::getpid` outside src/sys/; {FIX}"),
                format!("crates/a/src/run.rs:4: syscalls: `libc::fork` outside src/sys/; {FIX}"),
                format!("crates/a/src/run.rs:5: syscalls: `extern` block with functions outside src/sys/; {FIX}"),
            ]
        );
    }
}
