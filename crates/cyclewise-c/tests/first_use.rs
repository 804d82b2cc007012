//! The first use of each C function that signal handlers may call, in a handler that interrupted the allocator, whose second use ends the
//! program. Each operation has a process of its own.
//!
//! The allocator has its own names and glibc's second ones, so the library is glibc's.
#![cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_env = "gnu"))]

mod common;

use common::{Link, Program};

const FILE: &str = "first_use.c";

fn unhooked(link: Link) -> Program<'static> {
    Program::called(FILE, link).unhooked()
}

#[test]
fn in_a_program_with_the_shared_library() {
    unhooked(Link::Shared).passes(&[]);
}

#[test]
fn in_a_program_with_the_archive() {
    unhooked(Link::Archive).passes(&[]);
}

/// Where nothing is inline.
#[test]
fn in_a_program_that_calls_everything() {
    unhooked(Link::Shared).with(&["-DCW_NO_INLINE"]).passes(&[]);
}

/// The C library may allocate the thread-local words of an object that was loaded later at a thread's first use of them, by malloc.
#[test]
fn in_an_object_that_was_loaded_later() {
    for link in [Link::Shared, Link::Archive] {
        let object = unhooked(link).with(&["-shared", "-fPIC", "-DOBJECT"]);
        let object = object.compile().expect("an object");
        let loader = unhooked(Link::Archive).with(&["-DLOADER", "-rdynamic", "-ldl"]);
        loader.passes(&[&object]);
    }
}

/// The twin: what allocates is seen. The program's own check of all others expects it too.
#[test]
fn twin_an_allocation_in_the_handler_is_caught() {
    use std::os::unix::process::ExitStatusExt;
    const SIGABRT: i32 = 6;
    let output = unhooked(Link::Shared).output(&["", "twin", "main", "program's"]);
    let said = String::from_utf8_lossy(&output.stderr);
    let is_told = said.contains("the allocator is used in a handler that interrupted it");
    assert!(output.status.signal() == Some(SIGABRT) && is_told, "{said}");
}
