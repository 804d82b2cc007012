//! The shared library exports names that begin with `cw_`, and no others.

mod common;

use common::{Link, built};
use object::{Object, ObjectSymbol};

/// The dynamic symbols that `image` defines and that do not begin with `cw_`.
fn others(image: &[u8]) -> Vec<String> {
    let file = object::File::parse(image).expect("an ELF file");
    let defined = file.dynamic_symbols().filter(|symbol| symbol.is_definition());
    let names = defined.map(|symbol| symbol.name().expect("a name").to_owned());
    names.filter(|name| !name.starts_with("cw_")).collect()
}

#[test]
fn nothing_but_cw_names_is_exported() {
    let image = std::fs::read(built("libcyclewise_c.so")).expect("the shared library");
    assert_eq!(others(&image), [""; 0]);
    let file = object::File::parse(&*image).expect("an ELF file");
    assert!(file.dynamic_symbols().any(|symbol| symbol.name() == Ok("cw_version")));
}

/// The twin: a library that exports another name is caught.
#[test]
fn another_name_is_caught() {
    let text = "int cw_good(void) { return 1; } int helper(void) { return 2; }";
    let (source, library) = (common::written("other.c", text), common::fresh("libother.so"));
    common::compile(["-shared", "-fPIC", "-nostdlib", "-o", &library, &source]);
    let image = std::fs::read(library).expect("the library");
    assert_eq!(others(&image), ["helper"]);
}

/// The archive has all of Rust's standard library. What it defines for other objects does not collide with the archive of
/// another library in Rust: a program that is linked with both runs.
#[test]
fn an_archive_beside_another_one_in_rust() {
    let archive = common::fresh("libother.a");
    let code = "#[unsafe(no_mangle)] pub extern \"C\" fn other() -> usize { std::thread::spawn(|| vec![1, 2, 3].len()).join().unwrap() }";
    let other = common::written("other.rs", code);
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let status = std::process::Command::new(rustc)
        .args(["--edition=2024", "--crate-type=staticlib", "-O", "-o"])
        .args([&archive, &other])
        .status()
        .expect("rustc runs");
    assert!(status.success());
    let code = "#include <cyclewise/cyclewise.h>\n#include <stddef.h>\nsize_t other(void);\n\
                int main(void) { return other() == 3 && cw_version() ? 0 : 1; }\n";
    let program = common::Program::new(common::written("both.c", code).into(), Link::Archive);
    program.with(&[&archive]).passes(&[]);
}
