//! The shared library exports names that begin with `cw_`, and no others.

use object::{Object, ObjectSymbol};
use std::path::PathBuf;

/// What the build of this test has put beside it.
fn built(file: &str) -> PathBuf {
    let this = std::env::current_exe().expect("this program has a path");
    this.parent().expect("and is in a folder").join(file)
}

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
