//! Sites of C and of Rust in several link units are elided and restored together, and no update is lost; the twin forgets one unit.
//!
//! `CYCLEWISE_FLIPS` sets how often confined mode is entered and left.
#![cfg(all(target_arch = "x86_64", target_env = "gnu"))]

mod common;

use common::{Link, Program};

const FLIPS: &str = "2000";

/// The library of C, which the programs are linked with.
fn library() -> String {
    let (library, source) = (common::fresh("libunits.so"), common::called("units_library.c"));
    let own = ["-shared", "-fPIC", "-o", &library, &source, &common::include()];
    common::compile([common::STRICT, &own].concat());
    library
}

fn run(link: Link, twin: &str, more: &[&str]) -> String {
    let library = library();
    let flags = ["-Wl,--no-as-needed", &library, "-pthread"];
    let program = Program {
        flags: &flags,
        ..Program::called("units.c", link)
    };
    let flips = std::env::var("CYCLEWISE_FLIPS").unwrap_or_else(|_| FLIPS.to_owned());
    let arguments: Vec<_> = [flips.as_str(), twin].into_iter().chain(more.iter().copied()).collect();
    let said = program.passes(&arguments);
    print!("{said}");
    said
}

/// The program has sites of C, and two shared libraries have sites: one of C, and libcyclewise, which coordinates.
#[test]
fn no_update_is_lost_in_a_program_and_two_libraries() {
    run(Link::Shared, "", &[]);
}

/// The program has sites of C and of Rust and coordinates, and two shared libraries have sites: one of C, and another copy of libcyclewise.
#[test]
fn no_update_is_lost_where_the_program_has_sites_of_both() {
    let other = common::built("libcyclewise_c.so").display().to_string();
    run(Link::Archive, "", &[&other]);
}

#[test]
fn twin_one_unit_that_is_forgotten_loses_updates() {
    let said = run(Link::Shared, "forget", &[]);
    assert!(said.contains("lost") || said.contains("skipped"), "{said}");
}
