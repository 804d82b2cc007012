//! The examples in C, compiled with the warnings that a user may ask for, and run.
#![cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux"))]

mod common;

use common::{Link, Program};
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

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
    assert!(example("event_loop.c", Link::Shared).starts_with("5 bytes and at least 20 ticks "));
}

#[test]
fn statistics_are_counted_on_every_cpu() {
    assert!(example("statistics.c", Link::Shared).starts_with("400000 requests of 4 threads, "));
}

#[test]
fn examples_are_cplusplus_too() {
    let compiles = |source: &str| {
        let mut cpp = Command::new("c++");
        cpp.args([
            "-x",
            "c++",
            "-std=c++11",
            "-fsyntax-only",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-I",
        ]);
        cpp.arg(common::root().join("include")).arg("-").stdin(Stdio::piped());
        let mut child = cpp.spawn()?;
        child.stdin.take().expect("a pipe").write_all(source.as_bytes())?;
        Ok::<_, std::io::Error>(child.wait()?.success())
    };
    for file in ["tree.c", "event_loop.c", "statistics.c"] {
        let source = fs::read_to_string(common::root().join("examples").join(file)).expect("the example");
        match compiles(&source) {
            Ok(compiled) => assert!(compiled, "{file}"),
            Err(e) => {
                assert!(
                    std::env::var_os("CI").is_none_or(|ci| ci != "true"),
                    "c++: {e}; install g++"
                );
                println!("skipped: c++: {e}; install g++");
                return;
            }
        }
        // The twin: what C alone has is refused.
        let c_alone = source.replace("(struct node *)malloc", "malloc");
        assert_eq!(compiles(&c_alone).ok(), Some(file != "tree.c"));
    }
}

/// The program in a README.
fn program_of(readme: &str) -> String {
    let text = fs::read_to_string(common::root().join(readme)).expect("the README");
    let program = text.split("```c\n").nth(1).expect("a program in C");
    program.split("```").next().expect("its end").to_owned()
}

#[test]
fn the_readmes_program_runs() {
    let program = Program {
        source: common::written("readme.c", &program_of("README.md")).into(),
        link: Link::Shared,
        hooked: cfg!(target_arch = "x86_64"),
        flags: &[],
    };
    let said = program.passes(&[]);
    assert!(said.contains("ns to take and put a reference"), "{said}");
}

/// The twin: a program that leaks a node is caught by its own status.
#[test]
fn a_tree_that_leaks_is_caught() {
    let tree = fs::read_to_string(common::root().join("examples/tree.c")).expect("the example");
    let leaky = tree.replace("put(node->left);", "(void)0;");
    assert_ne!(leaky, tree);
    let program = Program::new(common::written("leaky.c", &leaky).into(), Link::Shared).unhooked();
    assert_eq!(program.output(&[]).status.code(), Some(1));
}
