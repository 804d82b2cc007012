//! Builds the plugin for the emulator, as a shared object that the command carries in itself.
//!
//! The compiler that builds the command builds it. Where that cannot make a shared object for the target, the build goes on, and
//! the command says why it cannot count by the emulator.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=plugin");
    println!("cargo::rustc-check-cfg=cfg(emulator_plugin)");
    match build() {
        Ok(()) => println!("cargo::rustc-cfg=emulator_plugin"),
        Err(why) => {
            let why = why.replace('\n', " ");
            println!("cargo::rustc-env=CYCLEWISE_NO_PLUGIN={}", why.trim());
        }
    }
}

fn build() -> Result<(), String> {
    let variable = |name: &str| env::var(name).map_err(|_| format!("cargo did not set {name}"));
    let (target, out) = (variable("TARGET")?, variable("OUT_DIR")?);
    if variable("CARGO_CFG_TARGET_OS")? != "linux" || variable("CARGO_CFG_TARGET_POINTER_WIDTH")? != "64" {
        return Err(format!(
            "the plugin is for 64-bit Linux, and the command was built for {target}"
        ));
    }
    let plugin = Path::new(&out).join("plugin.so");
    let mut rustc = Command::new(variable("RUSTC")?);
    rustc
        .arg("--edition=2024")
        .args(["--crate-name", "cyclewise_locks_plugin", "--crate-type", "cdylib"])
        .args(["--target", &target])
        // It is called for each block of the program, so it is optimized in every build.
        .args(["-C", "opt-level=3", "-C", "codegen-units=1"])
        // It is called from C, where nobody catches a panic.
        .args(["-C", "panic=abort"])
        .args(["-C", "strip=symbols", "-C", "link-arg=-Wl,--gc-sections"])
        .arg("-o")
        .arg(&plugin)
        .arg("plugin/lib.rs");
    if let Ok(linker) = variable("RUSTC_LINKER") {
        rustc.args(["-C", &format!("linker={linker}")]);
    }
    let output = rustc
        .output()
        .map_err(|error| format!("{} could not be started: {error}", rustc.get_program().display()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said
        .lines()
        .find(|l| l.starts_with("error"))
        .unwrap_or("it did not say why");
    Err(format!("the compiler made no shared object for {target}: {line}"))
}
