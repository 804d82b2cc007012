//! Nothing is left half done: no `todo!`, `unimplemented!` or `dbg!`, in tests neither.

use super::tree::Tree;
use super::{Finding, Rule};

pub(super) const RULE: Rule = Rule { name: "stubs", check };

const STUBS: &[(&str, &str)] = &[
    ("todo", "write it, or leave the function out until it is needed"),
    (
        "unimplemented",
        "write it, or return an error that says what is missing",
    ),
    ("dbg", "remove it, or print what the reader needs"),
];

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in tree.sources() {
        for name in source.names.all.iter().filter(|n| n.followed_by == Some('!')) {
            let last = name.segments.last().map_or("", String::as_str);
            if let Some((stub, fix)) = STUBS.iter().find(|(stub, _)| *stub == last) {
                findings.push(Finding::new(
                    &source.path,
                    name.line,
                    format!("`{stub}!` left in"),
                    *fix,
                ));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::tidy::testing::check;

    #[test]
    fn the_words_alone_are_fine() {
        let good = "//! No todo!() here.\n// dbg!(x)\nfn todo() { let dbg = \"unimplemented!()\"; }\n";
        assert_eq!(check(&RULE, &[("crates/a/src/lib.rs", good)]), [""; 0]);
    }

    #[test]
    fn each_stub_is_caught() {
        let bad = "//! B.\nfn f() { todo!() }\nfn g() { std::unimplemented!() }\nfn h() { dbg!(1); }\n";
        assert_eq!(
            check(&RULE, &[("crates/a/src/lib.rs", bad)]),
            [
                "crates/a/src/lib.rs:2: stubs: `todo!` left in; write it, or leave the function out until it is needed",
                "crates/a/src/lib.rs:3: stubs: `unimplemented!` left in; \
                 write it, or return an error that says what is missing",
                "crates/a/src/lib.rs:4: stubs: `dbg!` left in; remove it, or print what the reader needs",
            ]
        );
    }
}
