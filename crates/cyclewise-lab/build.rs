//! Tells the program which commit it was built from, where a package's own note or git knows, and compiles the rows in C.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    compile_c();
    tell_commit();
}

/// Compiles `c/rows.c`. Without a C compiler that can, the program has no such rows, and says why.
fn compile_c() {
    println!("cargo::rerun-if-changed=c/rows.c");
    println!("cargo::rustc-check-cfg=cfg(c_rows)");
    let compiled = match std::env::var_os("DEP_CYCLEWISE_C_INCLUDE") {
        None => Err("the package cyclewise-c did not say where its headers are".to_owned()),
        Some(headers) => {
            println!("cargo::rerun-if-changed={}", headers.display());
            let mut c = cc::Build::new();
            // It is measured, so it is optimized in every build, as the library is.
            c.file("c/rows.c")
                .include(headers)
                .std("gnu11")
                .opt_level(2)
                .cargo_warnings(false);
            c.try_compile("cyclewise_rows")
                .map_err(|error| format!("no C compiler that compiles c/rows.c: {error}"))
        }
    };
    match compiled {
        Ok(()) => println!("cargo::rustc-cfg=c_rows"),
        // One line: what follows is the compiler's.
        Err(why) => println!("cargo::rustc-env=CYCLEWISE_NO_C={}", why.lines().next().unwrap_or("")),
    }
}

fn tell_commit() {
    // In a package. A checkout around it, such as one of a home folder, is not this program's.
    if let Ok(note) = std::fs::read_to_string(".cargo_vcs_info.json") {
        println!("cargo::rerun-if-changed=.cargo_vcs_info.json");
        if let Some(commit) = noted(&note) {
            println!("cargo::rustc-env=CYCLEWISE_COMMIT={commit}");
        }
        return;
    }
    // HEAD's log grows with every commit and checkout; HEAD itself changes with the branch alone.
    for file in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", file]) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    if let Some(commit) = git(&["rev-parse", "HEAD"]) {
        println!("cargo::rustc-env=CYCLEWISE_COMMIT={commit}");
    }
}

/// What git says in one line; `None` without git or outside a checkout.
fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let line = String::from_utf8(output.stdout).ok()?.trim().to_string();
    (output.status.success() && !line.is_empty()).then_some(line)
}

/// The commit in the note that cargo writes into a package: `"sha1": "..."`.
fn noted(note: &str) -> Option<&str> {
    let (_, value) = note.split_once("\"sha1\"")?;
    value.split('"').nth(1)
}
