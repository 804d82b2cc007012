//! The program in the project's README is the one in the package's, which is a documentation test.

const PROJECT: &str = include_str!("../../../../README.md");
const PACKAGE: &str = include_str!("../../README.md");

/// The Rust programs of a document.
fn programs(text: &str) -> Vec<&str> {
    let blocks = text.split("\n```").collect::<Vec<_>>();
    // Between fences, text and blocks take turns; a block opens with its language.
    blocks
        .into_iter()
        .skip(1)
        .step_by(2)
        .filter(|block| block.starts_with("rust"))
        .collect()
}

#[test]
fn both_have_the_same_program() {
    let package = programs(PACKAGE);
    assert!(!package.is_empty());
    assert_eq!(programs(PROJECT), package);
}

/// The twin: a program that differs in one word is another one.
#[test]
fn a_change_in_one_is_noticed() {
    let changed = PROJECT.replace("Counter::new(0)", "Counter::new(1)");
    assert_ne!(programs(&changed), programs(PACKAGE));
}
