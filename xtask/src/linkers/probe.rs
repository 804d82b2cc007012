//! Builds the example `sites` in one way: a package of its own around it, so that no other dependency is built.

use super::way::{Artifact, Way};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Target directories, one a set of the target's features: flags for all packages would replace each other's builds.
const DYNAMIC: &str = "target";
const STATIC: &str = "static";

/// Writes the package into `folder`.
pub(super) fn write(root: &Path, folder: &Path) -> std::io::Result<()> {
    let source = root.join("crates/cyclewise/examples/sites.rs");
    let library = root.join("crates/cyclewise");
    let manifest = format!(
        "[package]\nname = \"sites\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [lib]\nname = \"sites_object\"\ncrate-type = [\"cdylib\"]\npath = {source:?}\n\n\
         [[bin]]\nname = \"sites\"\npath = {source:?}\n\n\
         [dependencies]\ncyclewise = {{ path = {library:?} }}\n\
         libc = {{ version = \"0.2\", default-features = false }}\n"
    );
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("Cargo.toml"), manifest)?;
    // The versions that the workspace has; cargo drops what is not needed.
    std::fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).map(|_| ())
}

/// Links it; the path of the result, or the line of the complaint that matters.
///
/// With warnings denied: what the macros expand to has to suit a package that has none of this workspace's settings.
pub(super) fn link(folder: &Path, way: &Way) -> Result<PathBuf, String> {
    let (is_object, is_static) = (way.kind == Artifact::Object, way.kind == Artifact::Static);
    let target = folder.join(if is_static { STATIC } else { DYNAMIC });
    let mut cargo = crate::cargo::cargo(folder);
    cargo.args(["rustc", "--quiet", "--release", "--manifest-path"]);
    cargo.arg(folder.join("Cargo.toml")).arg("--target-dir").arg(&target);
    cargo.args(if is_object { &["--lib"][..] } else { &["--bin", "sites"] });
    cargo.env("CARGO_PROFILE_RELEASE_LTO", way.lto);
    cargo.env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", way.units);
    // Some linkers drop the names of functions with the debug information, which cargo asks for by default.
    cargo.env("CARGO_PROFILE_RELEASE_STRIP", "none");
    // What others set would add to the flags, or put the result in another folder.
    cargo
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("CARGO_BUILD_TARGET");
    // A feature of the target holds for every package of a build; the other choices are the last package's alone, so
    // that its dependencies are built once for all linkers.
    cargo.env("RUSTFLAGS", if is_static { "-Ctarget-feature=+crt-static" } else { "" });
    cargo.args(["--", "-Dwarnings"]).args(way.linker.flags());
    if way.kind == Artifact::Fixed {
        cargo.arg("-Crelocation-model=static");
    }
    let output = cargo.output().map_err(|e| format!("cargo: {e}"))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        let line = text.lines().find(|l| l.contains("error")).unwrap_or("no message");
        return Err(format!("does not build: {}", line.trim()));
    }
    let name = if is_object { "libsites_object.so" } else { "sites" };
    Ok(target.join("release").join(name))
}

/// The executable that was linked last, of those that are not static.
pub(super) fn dynamic(folder: &Path) -> PathBuf {
    folder.join(DYNAMIC).join("release/sites")
}

/// What a report says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Report {
    pub(super) sites: usize,
    pub(super) elided: usize,
    /// What per-CPU data goes by.
    pub(super) percpu: String,
    pub(super) outcome: String,
}

impl Report {
    /// Reads `sites=S elided=E percpu=WORD outcome=WORD...`.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let (sites, rest) = line.strip_prefix("sites=")?.split_once(" elided=")?;
        let (elided, rest) = rest.split_once(" percpu=")?;
        let (percpu, outcome) = rest.split_once(" outcome=")?;
        Some(Self {
            sites: sites.parse().ok()?,
            elided: elided.parse().ok()?,
            percpu: percpu.to_owned(),
            outcome: outcome.to_owned(),
        })
    }

    /// Runs the program, which reports, and then loads the object, if any, which reports too; the last report.
    pub(super) fn run(program: &Path, object: Option<&Path>) -> Result<Self, String> {
        let output = Command::new(program)
            .args(object)
            .output()
            .map_err(|e| format!("cannot run: {e}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let lines: Vec<_> = text.lines().collect();
        let expected = 1 + usize::from(object.is_some());
        match lines.last().and_then(|line| Self::parse(line)) {
            Some(report) if output.status.success() && lines.len() == expected => Ok(report),
            _ => Err(format!("{}: said {text:?}", output.status)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_report_and_nothing_else() {
        let report = Report::parse("sites=3 elided=0 percpu=Rseq outcome=NotInForce { hook: \"x\" }").unwrap();
        assert_eq!(
            (report.sites, report.elided, &*report.percpu, &*report.outcome),
            (3, 0, "Rseq", "NotInForce { hook: \"x\" }")
        );
        let rest = "percpu=Rseq outcome=elided";
        for wrong in ["", "sites=3", "sites=3 elided=0 outcome=elided"] {
            assert_eq!(Report::parse(wrong), None);
        }
        for wrong in ["sites=x elided=0", "elided=0 sites=3"] {
            assert_eq!(Report::parse(&format!("{wrong} {rest}")), None);
        }
    }
}
