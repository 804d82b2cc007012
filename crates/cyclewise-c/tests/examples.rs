//! The examples in C, compiled with the warnings that a user may ask for, and run.
#![cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux"))]

mod common;

use common::{Link, Program};
use std::fs;

fn example(file: &str, link: Link) -> String {
    let program = Program {
        source: common::root().join("examples").join(file),
        link,
        hooked: cfg!(target_arch = "x86_64") && file == "tree.c",
        flags: &["-pthread"],
    };
    program.passes(&[])
}

#[test]
fn a_tree_counts_its_references() {
    for link in [Link::Shared, Link::Archive] {
        assert!(example("tree.c", link).ends_with("\n0 nodes are left\n"));
    }
}

#[test]
fn an_event_loop_holds_its_handler_off() {
    assert!(example("event_loop.c", Link::Shared).starts_with("5 bytes, "));
}

#[test]
fn statistics_are_counted_on_every_cpu() {
    assert!(example("statistics.c", Link::Shared).starts_with("400000 requests, "));
}

/// The program in a README.
fn program_of(readme: &str) -> String {
    let text = fs::read_to_string(common::root().join(readme)).expect("the README");
    let program = text.split("```c\n").nth(1).expect("a program in C");
    program.split("```").next().expect("its end").to_owned()
}

#[test]
fn the_readmes_program_runs() {
    let source = common::scratch().join("readme.c");
    fs::write(&source, program_of("README.md")).expect("a file");
    let program = Program {
        source,
        link: Link::Shared,
        hooked: cfg!(target_arch = "x86_64"),
        flags: &[],
    };
    let said = program.passes(&[]);
    assert!(said.contains("2 references"), "{said}");
}

/// The twin: a program that leaks a node is caught by its own status.
#[test]
fn a_tree_that_leaks_is_caught() {
    let tree = fs::read_to_string(common::root().join("examples/tree.c")).expect("the example");
    let leaky = tree.replace("put(node->left);", "(void)0;");
    assert_ne!(leaky, tree);
    let source = common::scratch().join("leaky.c");
    fs::write(&source, leaky).expect("a file");
    let program = Program {
        source,
        link: Link::Shared,
        hooked: false,
        flags: &[],
    };
    assert_eq!(program.output(&[]).status.code(), Some(1));
}
