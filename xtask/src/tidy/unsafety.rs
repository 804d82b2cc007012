//! Unsafe code stands in few files, and each of them says so at its top.
//!
//! A file that uses `unsafe` has a `# Safety` section in its module doc, which its proofs cite. The compiler asks it to opt in,
//! so that a search for `unsafe_code` is the list of files to audit.

use super::source::Source;
use super::tree::Tree;
use super::{Finding, Rule};

pub(super) const RULE: Rule = Rule { name: "unsafe", check };

/// Folders of any package's `src/` whose business is unsafe.
const FOLDERS: &[&str] = &["arch", "sys"];

/// Files, and folders ending in `/`, that need it as well, from the root. Each line is followed by its reason.
const ALSO: &[&str] = &[
    // Only the program can promise how its threads are made.
    "crates/cyclewise-lab/src/main.rs",
    // Ownership by reference count: a value is destroyed by whoever finds that nobody else holds it.
    "crates/cyclewise/src/refs/arc/",
    // RawMutex is a promise of exclusion.
    "crates/cyclewise/src/lock/raw/mod.rs",
    // A test that forks.
    "crates/cyclewise/src/lock/tests/lock_word.rs",
    // A cell whose accesses a model checker watches.
    "crates/cyclewise/src/lock/tests/models.rs",
    // Data that a lock protects.
    "crates/cyclewise/src/refs/lockref/guard.rs",
    "crates/cyclewise/src/refs/lockref/lock_ref.rs",
    // A cell whose accesses a model checker watches.
    "crates/cyclewise/src/refs/lockref/tests/models.rs",
    // A function pointer kept in an atomic pointer.
    "crates/cyclewise/src/refs/refcount/misuse.rs",
    // A cell whose accesses loom checks.
    "crates/cyclewise/src/refs/refcount/tests/checks.rs",
    "crates/cyclewise/src/refs/rcuref/tests/mod.rs",
    // Values in slots whose owner is known by a count.
    "crates/cyclewise/src/refs/rcuref/entry.rs",
    "crates/cyclewise/src/refs/rcuref/pool.rs",
    // from_ptr of std's atomics is unsafe, and so it is here.
    "crates/cyclewise/src/atomic/",
    // A count by its distance from the value, as `arch` has it.
    "crates/cyclewise/src/primitive_loom.rs",
    // A cell that one thread at a time is let into.
    "crates/cyclewise/src/clock/try_lock.rs",
    // Values that readers share and writers drop after a grace period.
    "crates/cyclewise/src/rcu/",
    // Copies of words that are called a value once a number shows that they are one's.
    "crates/cyclewise/src/seq/",
    // Words are reached by address, in memory that the CPUs share out among themselves.
    "crates/cyclewise/src/percpu/",
    // Changing text is a promise about everything that executes it.
    "crates/cyclewise/src/patch/",
    // Handlers interrupt anything, and share memory with what they interrupt.
    "crates/cyclewise/src/mask/",
    // fork(2) is unsafe to call: what the child may do is proved where the child's code stands.
    "crates/cyclewise-lab/src/experiment/hackbench/processes.rs",
    // Only who knows all of a process can promise that nobody sets an affinity meanwhile.
    "crates/cyclewise-lab/src/verify/patch/mod.rs",
    "crates/cyclewise-lab/src/experiment/open_read_close/processes.rs",
    // Functions for C have names that no linker may find twice, and pointers that C promises something about.
    "crates/cyclewise-c/src/",
];

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = check_with(tree, ALSO);
    for entry in ALSO.iter().filter(|e| !tree.exists(e)) {
        findings.push(Finding::new(
            "xtask/src/tidy/unsafety.rs",
            1,
            format!("ALSO names {entry}, which is not there"),
            "remove the line, or name what it has become",
        ));
    }
    findings
}

fn check_with(tree: &Tree, also: &[&str]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in tree.package_sources() {
        let Some(first) = source.names.all.iter().find(|n| n.text() == "unsafe") else {
            continue;
        };
        let mut find = |what: &str, fix: &str| findings.push(Finding::new(&source.path, first.line, what, fix));
        if !may_be_unsafe(source, also) {
            find(
                "unsafe code outside arch/ and sys/",
                "move it there, or give the file a line and a reason in ALSO in xtask/src/tidy/unsafety.rs",
            );
        }
        if !source.module_doc.iter().any(|line| line.trim() == "# Safety") {
            find(
                "unsafe code without `# Safety` in the module doc",
                "add the section: what must hold, numbered, for the proofs to cite",
            );
        }
    }
    findings
}

fn may_be_unsafe(source: &Source, also: &[&str]) -> bool {
    let is_listed = |entry: &str| source.path == entry || entry.ends_with('/') && source.path.starts_with(entry);
    FOLDERS.iter().any(|f| source.is_in(f)) || also.iter().any(|e| is_listed(e))
}

#[cfg(test)]
mod tests {
    use super::{ALSO, Rule};
    use super::{RULE, check_with};
    use crate::tidy::testing::{check, package, tree};

    const SOUND: &str = "//! M.\n//!\n//! # Safety\n//! 1. Mapped.\nfn f() { unsafe {} }\n";
    const BARE: &str = "//! M: unsafe.\n\nfn f() { unsafe {} }\n";

    /// The rule with nothing listed: the trees here hold none of the listed files.
    const UNLISTED: Rule = Rule {
        name: RULE.name,
        check: |tree| check_with(tree, &[]),
    };

    #[test]
    fn a_listed_file_that_is_gone_is_caught() {
        let gone = check(&RULE, &[]);
        assert_eq!(gone.len(), ALSO.len());
        assert!(gone.iter().all(|line| line.contains("which is not there")), "{gone:?}");
    }

    #[test]
    fn a_file_that_opts_in_is_fine_in_its_places() {
        let manifest = package("a");
        let good = check(
            &UNLISTED,
            &[
                ("crates/a/Cargo.toml", &manifest),
                ("crates/a/src/sys/map.rs", SOUND),
                (
                    "crates/a/src/safe.rs",
                    "//! Not unsafe.\n#![forbid(unsafe_code)]\nconst S: &str = \"unsafe\";\n",
                ),
            ],
        );
        assert_eq!(good, [""; 0]);
    }

    #[test]
    fn a_listed_file_and_a_listed_folder_are_places_too() {
        let manifest = package("a");
        let tree = tree(&[
            ("crates/a/Cargo.toml", &manifest),
            ("crates/a/src/patch/text.rs", SOUND),
            ("crates/a/src/cell.rs", SOUND),
        ]);
        assert_eq!(
            check_with(&tree, &["crates/a/src/patch/", "crates/a/src/cell.rs"]).len(),
            0
        );
        assert_eq!(check_with(&tree, &["crates/a/src/patch/"]).len(), 1);
    }

    #[test]
    fn a_bare_file_elsewhere_is_caught_twice() {
        let bad = check(
            &UNLISTED,
            &[("crates/a/Cargo.toml", &package("a")), ("crates/a/src/cell.rs", BARE)],
        );
        assert_eq!(
            bad,
            [
                "crates/a/src/cell.rs:3: unsafe: unsafe code outside arch/ and sys/; \
                 move it there, or give the file a line and a reason in ALSO in xtask/src/tidy/unsafety.rs",
                "crates/a/src/cell.rs:3: unsafe: unsafe code without `# Safety` in the module doc; \
                 add the section: what must hold, numbered, for the proofs to cite",
            ]
        );
    }
}
