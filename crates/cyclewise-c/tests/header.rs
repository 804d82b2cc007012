//! `include/cyclewise/called.h` is what cbindgen makes of the Rust definitions.
//!
//! After a change of those: `CYCLEWISE_BLESS=1 cargo test -p cyclewise-c --test header`.

use cbindgen::{Builder, Config, DocumentationStyle, EnumConfig, ExportConfig, FunctionConfig, Language, Style};
use std::fs;
use std::path::{Path, PathBuf};

/// The comment that the header begins with.
const HEAD: &str = include_str!("called.head.h");

/// Enumerations, which functions take and return as an int.
const ENUMS: [&str; 7] = [
    "cw_refused",
    "cw_mode",
    "cw_clock_order",
    "cw_clock_mode",
    "cw_clock_reason",
    "cw_mask_woken",
    "CW_SIGNAL_INTERRUPTS",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files with functions for C programs, in the order of the header.
fn sources() -> Vec<PathBuf> {
    let library = fs::read_to_string(root().join("src/lib.rs")).expect("the root of the crate");
    let modules = library.lines().filter_map(|line| line.strip_prefix("pub mod "));
    let elsewhere = |name: &str| name == "hooks" || name == "unit";
    let modules = modules
        .map(|line| line.trim_end_matches(';'))
        .filter(|name| !elsewhere(name));
    modules.map(|name| root().join(format!("src/{name}.rs"))).collect()
}

fn header(sources: &[PathBuf]) -> String {
    let config = Config {
        language: Language::C,
        header: Some(HEAD.trim_end().to_owned()),
        include_guard: Some("CYCLEWISE_CALLED_H".to_owned()),
        no_includes: true,
        sys_includes: ["poll.h", "stddef.h", "stdint.h"].map(str::to_owned).to_vec(),
        includes: vec!["bool.h".to_owned()],
        cpp_compat: true,
        style: Style::Tag,
        usize_is_size_t: true,
        documentation_style: DocumentationStyle::Doxy,
        line_length: 120,
        function: FunctionConfig {
            must_use: Some("CW_MUST_CHECK".to_owned()),
            ..FunctionConfig::default()
        },
        enumeration: EnumConfig::default(),
        export: ExportConfig {
            include: ENUMS.map(str::to_owned).to_vec(),
            // <poll.h> has it, and other headers declare the others, since they are used without the library too.
            exclude: ["pollfd", "cw_unit_register", "cw_key_set", "cw_refcount_warn_saturated"]
                .map(str::to_owned)
                .to_vec(),
            ..ExportConfig::default()
        },
        ..Config::default()
    };
    let mut builder = Builder::new().with_config(config);
    for source in sources {
        builder = builder.with_src(source);
    }
    let mut written = Vec::new();
    builder
        .generate()
        .expect("cbindgen reads the sources")
        .write(&mut written);
    let written = String::from_utf8(written).expect("cbindgen writes UTF-8");
    // Of a type that is excluded cbindgen does not know that it is a struct.
    without_safety(&with_own_bool(&written.replace("(pollfd *", "(struct pollfd *")))
}

/// Declarations with `cw_bool`, of <cyclewise/bool.h>: cbindgen renames types, but no built-in ones.
fn with_own_bool(header: &str) -> String {
    let is_other = |line: &str| line.trim_start().starts_with(['/', '*', '#']);
    let renamed = |line: &str| {
        let words = line.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_');
        words
            .map(|word| match word.strip_prefix("bool") {
                Some(end) if end.len() <= 1 => format!("cw_bool{end}"),
                _ => word.to_owned(),
            })
            .collect::<String>()
    };
    let lines = header.split_inclusive('\n');
    lines
        .map(|line| if is_other(line) { line.to_owned() } else { renamed(line) })
        .collect()
}

/// Comments without their sections on safety, which prove something about the Rust code: what C promises is said before.
fn without_safety(header: &str) -> String {
    let mut kept = String::new();
    let mut in_section = false;
    for line in header.lines() {
        match line.trim() {
            "* # Safety" => {
                in_section = true;
                // The empty line before it.
                if kept.ends_with("\n *\n") {
                    kept.truncate(kept.len() - " *\n".len());
                }
            }
            "*/" => in_section = false,
            _ => {}
        }
        if !in_section {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

#[test]
fn the_header_is_what_the_code_says() {
    let path = root().join("include/cyclewise/called.h");
    let made = header(&sources());
    if std::env::var_os("CYCLEWISE_BLESS").is_some() {
        fs::write(&path, &made).expect("the header can be written");
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == made,
        "called.h is not what the code says; run CYCLEWISE_BLESS=1 cargo test -p cyclewise-c --test header"
    );
}

/// The twin: a function that is added to the code is missing from the header.
#[test]
fn a_function_that_is_not_in_the_header_is_seen() {
    let added = std::env::temp_dir().join(format!("cyclewise-added-{}.rs", std::process::id()));
    fs::write(
        &added,
        "#[unsafe(no_mangle)]\npub extern \"C\" fn cw_added() -> u64 { 0 }\n",
    )
    .expect("a file");
    let mut sources = sources();
    let before = header(&sources);
    sources.push(added.clone());
    let after = header(&sources);
    fs::remove_file(added).expect("it was there");
    assert!(after.contains("uint64_t cw_added(void);") && after != before);
}

/// Every function that is exported is in the header, but for the hooks, which only their own object calls.
#[test]
fn every_exported_function_is_declared() {
    let made = header(&sources());
    for source in sources() {
        let text = fs::read_to_string(&source).expect("a source");
        for name in text.split("extern \"C\" fn cw_").skip(1) {
            let name = name.split('(').next().unwrap_or_default();
            let is_declared = made.contains(&format!("cw_{name}(")) || name == "refcount_warn_saturated";
            assert!(is_declared, "{}: cw_{name}", source.display());
        }
    }
}
