//! Programs in C that compare each operation with plain arithmetic, compiled in each way that changes the operations.

use crate::tool::{Compiler, can_link, compilers, folder, run, source};

/// Options that change how the operations are implemented, or what checks them.
const MODES: &[&[&str]] = &[
    &["-O0"],
    &["-O2"],
    &["-O2", "-DCW_NO_SITES"],
    &["-O2", "-masm=intel"],
    &["-O2", "-flto"],
    &["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
    &["-O1", "-fsanitize=thread"],
    &["-O3", "-fno-pie", "-no-pie"],
    &["-O2", "-static"],
];

/// Compiles the program, which must work, and runs it. `Ok` too if these options link nothing here.
fn build_and_run(compiler: Compiler, mode: &[&str], name: &str) -> Result<String, String> {
    let folder = folder(&format!("run-{name}-{}{}", compiler.name, mode.concat()));
    if !can_link(compiler, mode, &folder) {
        return Ok(String::new());
    }
    let (language, standard) = if compiler.is_cxx {
        ("c++", "-std=c++11")
    } else {
        ("c", "-std=c11")
    };
    let program = folder.join("program");
    run(compiler
        .command()
        .args([
            standard,
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Werror",
            "-Wno-sign-compare",
        ])
        .arg("-pthread")
        .args(mode)
        .args(["-x", language])
        .arg(source(name))
        .arg("-o")
        .arg(&program))
    .unwrap();
    run(&mut std::process::Command::new(&program))
}

#[test]
fn words_are_changed_as_plain_arithmetic_would() {
    for compiler in compilers() {
        for mode in MODES {
            if !cfg!(target_arch = "x86_64") && mode.iter().any(|m| m.starts_with("-m")) {
                continue;
            }
            build_and_run(compiler, mode, "words.c").unwrap();
        }
    }
}

/// The twin: the program fails where an operation is another one.
#[test]
fn a_wrong_operation_is_noticed() {
    let compiler = compilers()[0];
    for wrong in [
        "-DTWIN_INC=cw_dec_u32",
        "-DTWIN_FETCH_ADD=cw_add_return_u32",
        "-DTWIN_LOCK=1",
    ] {
        let failed = build_and_run(compiler, &["-O2", wrong], "words.c").unwrap_err();
        assert!(failed.contains("words.c:"), "{wrong}: {failed}");
    }
}
