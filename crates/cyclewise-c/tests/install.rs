//! `cargo xtask install-c` installs what a user's program needs, and cargo-c the same files.
#![cfg(all(target_arch = "x86_64", target_env = "gnu"))]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .current_dir(common::root().join("../.."))
        .env_remove("LD_LIBRARY_PATH");
    command
}

/// Installs below a new folder.
fn installed(name: &str, more: &[&str]) -> PathBuf {
    let prefix = common::scratch().join(name);
    let _ = fs::remove_dir_all(&prefix);
    let mut command = cargo();
    command.args(["xtask", "install-c", "--prefix"]).arg(&prefix).args(more);
    // The same files; optimizing them as users do is half of this test, and is left to the long form.
    if std::env::var_os("CYCLEWISE_LONG").is_none() {
        command.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1");
    }
    let output = command.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    prefix
}

/// Whether a tool is there. In CI it has to be.
fn has(tool: &mut Command, install: &str) -> bool {
    let there = tool
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success());
    if !there {
        assert!(
            std::env::var_os("CI").is_none_or(|ci| ci != "true"),
            "install {install}"
        );
        println!("skipped: install {install}");
    }
    there
}

fn pkg_config(prefix: &Path, arguments: &[&str]) -> Vec<String> {
    // What the installation says to export.
    let folders = prefix.join("lib/pkgconfig");
    let output = Command::new("pkg-config")
        .env("PKG_CONFIG_PATH", folders)
        .args(arguments)
        .output();
    let output = output.expect("pkg-config runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let words = String::from_utf8(output.stdout).expect("text");
    words.split_whitespace().map(str::to_owned).collect()
}

/// The program of the README, compiled as it says.
fn compile(prefix: &Path, package: &[&str], name: &str) -> PathBuf {
    let readme = fs::read_to_string(common::root().join("README.md")).expect("the README");
    let program = readme.split("```c\n").nth(1).and_then(|rest| rest.split("```").next());
    let source = common::scratch().join(format!("{name}.c"));
    fs::write(&source, program.expect("a program in C")).expect("a file");
    let file = common::scratch().join(name);
    let mut arguments = vec!["-O2".to_owned(), source.display().to_string(), "-o".to_owned()];
    arguments.push(file.display().to_string());
    arguments.extend(pkg_config(prefix, package));
    if package.contains(&"--static") {
        arguments.push("-static".to_owned());
    }
    common::compile(&arguments);
    file
}

fn run(program: &Path, libraries: &Path) -> Output {
    Command::new(program)
        .env("LD_LIBRARY_PATH", libraries)
        .output()
        .expect("the program runs")
}

/// Every file and link below a folder.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next)
            .expect("a folder")
            .map(|entry| entry.expect("an entry"))
        {
            if entry.file_type().expect("a type").is_dir() {
                folders.push(entry.path());
            } else {
                found.insert(entry.path().strip_prefix(folder).expect("below").to_owned());
            }
        }
    }
    found
}

/// The lock of the one folder that the installations are built in is cargo's own, so one test has all of it.
#[test]
fn what_is_installed_compiles_the_readmes_program() {
    let prefix = installed("prefix", &[]);
    let lib = prefix.join("lib");
    let image = fs::read(lib.join("libcyclewise.so.0.1.0")).expect("the shared library");
    let soname = image.windows(19).any(|bytes| bytes == b"libcyclewise.so.0.1");
    assert!(
        soname
            && fs::read_link(lib.join("libcyclewise.so.0.1")).is_ok_and(|to| to == Path::new("libcyclewise.so.0.1.0"))
    );

    // Staged for a package, with the libraries elsewhere: the same files below another root.
    let stage = common::scratch().join("stage");
    let _ = fs::remove_dir_all(&stage);
    installed(
        "unused",
        &["--destdir", &stage.display().to_string(), "--libdir", "lib/multiarch"],
    );
    let staged = stage.join(common::scratch().join("unused").strip_prefix("/").expect("absolute"));
    let moved: BTreeSet<_> = files(&staged)
        .into_iter()
        .map(|path| PathBuf::from(path.display().to_string().replace("lib/multiarch/", "lib/")))
        .collect();
    assert_eq!(moved, files(&prefix));

    if has(&mut Command::new("pkg-config"), "pkg-config") {
        let hooked = compile(&prefix, &["--cflags", "--libs", "cyclewise-single"], "hooked");
        let output = run(&hooked, &lib);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            said.contains("ns to take and put a reference") && output.status.success(),
            "{said}"
        );
        assert!(!said.contains("cyclewise-hooks.o"), "{said}");
        // The twin: without the hooks it says so.
        let unhooked = compile(&prefix, &["--cflags", "--libs", "cyclewise"], "unhooked");
        let said = String::from_utf8_lossy(&run(&unhooked, &lib).stdout).into_owned();
        assert!(said.contains("cyclewise-hooks.o"), "{said}");
        // What pkg-config says for static programs links one, whatever the C compiler adds by itself.
        let fixed = compile(&prefix, &["--static", "--cflags", "--libs", "cyclewise"], "fixed");
        let output = run(&fixed, &lib);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            said.contains("ns to take and put a reference") && output.status.success(),
            "{said}"
        );
        assert_eq!(
            pkg_config(&prefix, &["--modversion", "cyclewise"]),
            [env!("CARGO_PKG_VERSION")]
        );
    }

    // Its own version is cargo's, so it is asked for by its help.
    let mut cargo_c = cargo();
    let there = cargo_c
        .args(["cinstall", "--help"])
        .output()
        .is_ok_and(|output| output.status.success());
    if !there {
        println!("skipped: install cargo-c, whose list of files is compared");
        return;
    }
    let folder = common::scratch().join("cargo-c");
    let _ = fs::remove_dir_all(&folder);
    let target = common::scratch().join("cargo-c-target");
    let mut cargo_c = cargo();
    cargo_c.args([
        "cinstall",
        "--release",
        "-p",
        "cyclewise-c",
        "--prefix=/usr",
        "--libdir=/usr/lib",
        "--destdir",
    ]);
    let output = cargo_c
        .arg(&folder)
        .env("CARGO_TARGET_DIR", target)
        .output()
        .expect("cargo-c runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // cargo-c puts no file of ours beside its own for pkg-config.
    let theirs = files(&folder.join("usr")).into_iter();
    let theirs: BTreeSet<_> = theirs
        .map(|path| PathBuf::from(path.display().to_string().replace("share/pkgconfig/", "lib/pkgconfig/")))
        .collect();
    assert_eq!(theirs, files(&prefix));
}
