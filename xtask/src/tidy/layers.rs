//! Assembly, calls of the kernel, and formats each stand in folders of their own: there they have a counterpart without assembly, our
//! errors and types, or another format beside them.
//!
//! - Assembly is under `src/arch/`. Tests and examples that need patch sites at chosen addresses are listed: only assembly
//!   can choose them.
//! - The kernel is called under `src/sys/`. Elsewhere a package's source may name `libc`'s constants (`libc::ENOSYS`) and its
//!   names for C's types (`libc::c_int`), because neither calls anything; symbols of our own assembly are declared under
//!   `src/arch/`. Tests and benchmarks beside `src/` may call what they need.
//! - JSON, CSV, HTML and plots are known to `export/` and `record/` only, so that another can be added without touching what
//!   measures.

use super::names::Name;
use super::source::Source;
use super::tree::Tree;
use super::{Finding, Rule};

pub(super) const ASM: Rule = Rule {
    name: "asm",
    check: assembly,
};
pub(super) const SYSCALLS: Rule = Rule {
    name: "syscalls",
    check: system_calls,
};
pub(super) const FORMATS: Rule = Rule {
    name: "formats",
    check: formats,
};

const ASSEMBLY: &[&str] = &["asm", "global_asm", "naked_asm", "llvm_asm"];
/// Tests and examples whose text has a layout of its own.
const LAYOUTS: &[&str] = &[
    "crates/cyclewise/examples/flip.rs",
    "crates/cyclewise/tests/text/paged.rs",
];
const ASSEMBLY_FIX: &str = "move it to a function in src/arch/<isa>/, with its counterpart in src/arch/portable/";

fn assembly(tree: &Tree) -> Vec<Finding> {
    let elsewhere = |s: &&Source| !s.is_in("arch") && !LAYOUTS.contains(&s.path.as_str());
    let sources = tree.sources().iter().filter(elsewhere);
    named(sources, is_assembly, "src/arch/", ASSEMBLY_FIX)
}

/// A call of one of the macros, or its path from `core::arch`.
fn is_assembly(name: &Name) -> bool {
    let Some((last, before)) = name.segments.split_last() else {
        return false;
    };
    let is_path = before.last().is_some_and(|s| s == "arch") && matches!(name.first(), "core" | "std");
    ASSEMBLY.contains(&last.as_str()) && (name.followed_by == Some('!') || is_path)
}

/// Crates whose functions are the kernel's.
const CALLERS: &[&str] = &["libc", "rustix", "nix", "linux_raw_sys"];
const CALLS_FIX: &str = "give it a function in src/sys/ that returns this crate's own types, and call that";

fn system_calls(tree: &Tree) -> Vec<Finding> {
    let outside = |s: &&Source| !s.is_in("sys");
    let mut findings = named(
        tree.package_sources().filter(outside),
        reaches_the_kernel,
        "src/sys/",
        CALLS_FIX,
    );
    for source in tree.package_sources().filter(outside).filter(|s| !s.is_in("arch")) {
        for &line in &source.names.foreign_functions {
            let what = "`extern` block with functions outside src/sys/";
            findings.push(Finding::new(&source.path, line, what, CALLS_FIX));
        }
    }
    findings
}

fn reaches_the_kernel(name: &Name) -> bool {
    if name.followed_by == Some('!') && name.segments.last().is_some_and(|s| s == "syscall") {
        return true;
    }
    CALLERS.contains(&name.first())
        && match name.segments.as_slice() {
            // A lone word is a variable of that name, but for `use libc;`.
            [_] => name.binding.is_some(),
            [krate, .., last] => !(krate == "libc" && only_names_a_value(last)),
            [] => false,
        }
}

/// Constants, and C's names for types.
fn only_names_a_value(name: &str) -> bool {
    let is_constant = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    name.chars().all(is_constant) || name.starts_with("c_") || name.ends_with("_t")
}

const KNOW_FORMATS: &[&str] = &["serde_json", "csv", "askama", "plotters"];
/// Packages that write several formats, and the modules that may.
const WRITERS: &[(&str, &[&str])] = &[
    ("crates/cyclewise-lab", &["export", "record"]),
    ("crates/cyclewise-fleet", &["export", "record"]),
    ("crates/cyclewise-report", &["export"]),
];
const FORMATS_FIX: &str = "hand over a value, and let a function there write or read it";

fn formats(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in tree.package_sources() {
        let folder = source.place().map(|(folder, _)| folder);
        let Some((_, modules)) = WRITERS.iter().find(|(writer, _)| Some(*writer) == folder) else {
            continue;
        };
        if !modules.iter().any(|module| source.is_in(module)) {
            let places = format!("{}/", modules.join("/ and "));
            let is_format = |name: &Name| !name.in_test && KNOW_FORMATS.iter().any(|c| names_crate(name, c, source));
            findings.extend(named([source], is_format, &places, FORMATS_FIX));
        }
    }
    findings
}

/// Whether the path starts at the crate, rather than at a variable or at a module of ours with the same name.
fn names_crate(name: &Name, krate: &str, source: &Source) -> bool {
    let is_path = name.segments.len() > 1 || name.binding.is_some();
    let binds = |n: &Name| n.segments.len() > 1 && n.binding.as_deref() == Some(krate);
    name.first() == krate && is_path && !source.names.all.iter().any(binds)
}

/// A finding on each name in the sources that belongs in `place`.
fn named<'a>(
    sources: impl IntoIterator<Item = &'a Source>,
    belongs: impl Fn(&Name) -> bool,
    place: &str,
    fix: &str,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources {
        for name in source.names.all.iter().filter(|name| belongs(name)) {
            let what = format!("`{}` outside {place}", name.text());
            findings.push(Finding::new(&source.path, name.line, what, fix));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::{ASM, FORMATS, LAYOUTS, SYSCALLS};
    use crate::tidy::Rule;
    use crate::tidy::testing::{check, package};

    /// Line and name of each finding.
    fn found(rule: &Rule, path: &str, text: &str) -> Vec<(usize, String)> {
        let (a, lab) = (package("a"), package("cyclewise-lab"));
        let files = [
            ("crates/a/Cargo.toml", &*a),
            ("crates/cyclewise-lab/Cargo.toml", &*lab),
            (path, text),
        ];
        let findings = check(rule, &files);
        let findings = findings.iter().map(|line| {
            let rest = line.strip_prefix(&format!("{path}:")).unwrap();
            let (line, rest) = rest.split_once(": ").unwrap();
            (line.parse().unwrap(), rest.split('`').nth(1).unwrap().to_owned())
        });
        findings.collect()
    }

    #[test]
    fn what_stands_in_its_folder_and_the_words_elsewhere_are_fine() {
        macro_rules! fine {
            ($($rule:ident, $path:expr => $text:literal;)*) => { $(
                assert_eq!(found(&$rule, $path, $text), [], "{}", $path);
            )* };
        }
        fine! {
            ASM, "crates/a/src/arch/x86_64/tsc.rs" => "//! T.\nfn f() { unsafe { core::arch::asm!(\"rdtsc\") } }\n";
            ASM, "crates/a/src/clock.rs" => "//! asm!\n/* asm!() */ const S: &str = \"asm!()\"; fn asm() {}\n";
            ASM, LAYOUTS[1] => "//! Sites.\nfn f() { naked_asm!(\"ret\") }\n";
            SYSCALLS, "crates/a/src/sys/affinity.rs" => "//! A.\nfn f() -> i32 { unsafe { libc::sched_getcpu() } }\n";
            SYSCALLS, "crates/a/src/run.rs" => "//! R: libc::fork().\nconst E: libc::c_int = libc::EAGAIN;\n";
            SYSCALLS, "crates/a/src/arch/x86_64/mod.rs" => "//! X.\nunsafe extern \"C\" { fn site_table(); }\n";
            SYSCALLS, "crates/a/tests/t.rs" => "//! T.\nfn f() { libc::getpid(); }\n";
            FORMATS, "crates/cyclewise-lab/src/export/csv.rs" => "//! C.\nuse csv::Writer;\n";
            FORMATS, "crates/cyclewise-lab/src/record/load.rs" => "//! L.\nfn f() { serde_json::from_str(s) }\n";
            FORMATS, "crates/cyclewise-lab/src/command/run.rs" => "//! R.\nuse crate::export::csv;\nfn f(serde_json: u8) { csv::write(serde_json) }\n\
                 #[cfg(test)]\nmod tests { fn t() { serde_json::from_str(s) } }\n";
            FORMATS, "crates/a/src/lib.rs" => "//! S.\nuse serde_json::Value;\n";
        }
    }

    #[test]
    fn what_stands_elsewhere_is_caught_by_call_and_by_import() {
        for (rule, path, text, expected) in [
            (
                ASM,
                "crates/a/src/clock.rs",
                "//! C.\nuse core::arch::{asm, x86_64};\n\nglobal_asm!(\"nop\");\nm! { asm!(\"nop\") }\n",
                &[(2, "core::arch::asm"), (4, "global_asm"), (5, "asm")][..],
            ),
            (
                SYSCALLS,
                "crates/a/src/run.rs",
                "//! R.\nuse libc::{c_int, getpid};\n\nfn f() { libc::fork(); }\nextern \"C\" {\n    fn gettid() -> c_int;\n}\n",
                &[(2, "libc::getpid"), (4, "libc::fork"), (5, "extern")],
            ),
            (
                FORMATS,
                "crates/cyclewise-lab/src/command/run.rs",
                "//! R.\nuse askama::Template;\nfn f() { serde_json::to_string(r) }\n#[derive(askama::Template)]\nstruct S;\n",
                &[
                    (2, "askama::Template"),
                    (3, "serde_json::to_string"),
                    (4, "askama::Template"),
                ],
            ),
        ] {
            let found = found(&rule, path, text);
            let found: Vec<_> = found.iter().map(|(line, name)| (*line, &**name)).collect();
            assert_eq!(found, expected, "{path}");
        }
    }
}
