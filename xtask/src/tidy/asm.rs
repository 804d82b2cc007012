//! Assembly is written under `src/arch/` only: there it has an asm-free twin, and there it is audited. Tests and
//! examples that need patch sites at chosen addresses are listed: only assembly can choose them.

use super::names::Name;
use super::tree::Tree;
use super::{Finding, Rule};

pub(super) const RULE: Rule = Rule { name: "asm", check };

const MACROS: &[&str] = &["asm", "global_asm", "naked_asm", "llvm_asm"];

/// Tests and examples whose text has a layout of its own.
const LAYOUTS: &[&str] = &[
    "crates/cyclewise/examples/flip.rs",
    "crates/cyclewise/tests/text/paged.rs",
];

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let elsewhere = |path: &str| !LAYOUTS.contains(&path);
    for source in tree.sources().iter().filter(|s| !s.is_in("arch") && elsewhere(&s.path)) {
        for name in source.names.all.iter().filter(|n| is_assembly(n)) {
            findings.push(Finding::new(
                &source.path,
                name.line,
                format!("`{}` outside src/arch/", name.text()),
                "move it to a function in src/arch/<isa>/, with its twin in src/arch/portable/",
            ));
        }
    }
    findings
}

/// A call of one of the macros, or its path from `core::arch`.
fn is_assembly(name: &Name) -> bool {
    let Some((last, before)) = name.segments.split_last() else {
        return false;
    };
    let is_path = before.last().is_some_and(|s| s == "arch") && matches!(name.first(), "core" | "std");
    MACROS.contains(&last.as_str()) && (name.followed_by == Some('!') || is_path)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::tidy::testing::check;

    #[test]
    fn asm_in_arch_and_the_word_elsewhere_are_fine() {
        let good = check(
            &RULE,
            &[
                (
                    "crates/a/src/arch/x86_64/tsc.rs",
                    "//! T.\nfn f() { unsafe { core::arch::asm!(\"rdtsc\") } }\n",
                ),
                (
                    "crates/a/src/clock.rs",
                    "//! Uses asm! elsewhere.\n/* asm!() */ const S: &str = \"asm!()\"; fn asm() {}\n",
                ),
                (super::LAYOUTS[1], "//! Sites.\nfn f() { naked_asm!(\"ret\") }\n"),
            ],
        );
        assert_eq!(good, [""; 0]);
    }

    #[test]
    fn asm_elsewhere_is_caught_by_call_and_by_import() {
        let bad = check(
            &RULE,
            &[
                (
                    "crates/a/src/clock.rs",
                    "//! C.\nuse core::arch::{asm, x86_64};\n\nglobal_asm!(\"nop\");\n",
                ),
                (
                    "crates/a/tests/t.rs",
                    "//! T.\nfn f() { m! { core::arch::asm!(\"nop\") } }\n",
                ),
            ],
        );
        let fix = "move it to a function in src/arch/<isa>/, with its twin in src/arch/portable/";
        assert_eq!(
            bad,
            [
                format!("crates/a/src/clock.rs:2: asm: `core::arch::asm` outside src/arch/; {fix}"),
                format!("crates/a/src/clock.rs:4: asm: `global_asm` outside src/arch/; {fix}"),
                format!("crates/a/tests/t.rs:2: asm: `core::arch::asm` outside src/arch/; {fix}"),
            ]
        );
    }
}
