//! The ways to link: which linker, what comes out, how much is optimized at once.

use std::process::Command;

/// A linker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Linker {
    /// Its name here, and to the compiler driver.
    pub(super) name: &'static str,
    /// How it signs its work.
    pub(super) signature: &'static str,
    /// The program that has to be there, and Debian's package with it; none for the one that comes with Rust.
    pub(super) program: Option<(&'static str, &'static str)>,
}

pub(super) const LINKERS: [Linker; 5] = [
    Linker::new("rust-lld", "LLD", None),
    Linker::new("bfd", "bfd", Some(("ld.bfd", "binutils"))),
    Linker::new("gold", "gold", Some(("ld.gold", "binutils or binutils-gold"))),
    Linker::new("lld", "LLD", Some(("ld.lld", "lld"))),
    Linker::new("mold", "mold", Some(("mold", "mold"))),
];

/// What comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Artifact {
    /// A position-independent executable.
    Pie,
    /// An executable at fixed addresses.
    Fixed,
    /// A position-independent executable with the C library in it.
    Static,
    /// A shared object.
    Object,
}

/// Executables come before the object, which the last of them loads.
pub(super) const KINDS: [(Artifact, &str); 4] = [
    (Artifact::Pie, "pie"),
    (Artifact::Fixed, "non-pie"),
    (Artifact::Static, "static-pie"),
    (Artifact::Object, "cdylib"),
];

/// LTO and codegen units, and whether `--quick` takes them: what `cargo build --release` does, and what is asked of it
/// for speed.
pub(super) const BUILDS: [(&str, &str, bool); 6] = [
    ("off", "1", false),
    ("off", "16", true),
    ("thin", "1", false),
    ("thin", "16", false),
    ("fat", "1", true),
    ("fat", "16", false),
];

/// One way to link.
pub(super) struct Way {
    pub(super) linker: Linker,
    pub(super) kind: Artifact,
    pub(super) lto: &'static str,
    pub(super) units: &'static str,
}

impl Linker {
    const fn new(name: &'static str, signature: &'static str, program: Option<(&'static str, &'static str)>) -> Self {
        Self {
            name,
            signature,
            program,
        }
    }

    /// Why it cannot be had, and what to do.
    pub(super) fn missing(&self) -> Option<String> {
        let (program, package) = self.program?;
        let runs = Command::new(program).arg("--version").output().is_ok();
        (!runs).then(|| {
            format!(
                "{}: no {program} in PATH; apt-get install {package}, or name the linkers to check",
                self.name
            )
        })
    }

    /// What rustc is told.
    pub(super) fn flags(&self) -> Vec<String> {
        let choice = |_| {
            vec![
                "-Clinker-features=-lld".to_owned(),
                format!("-Clink-arg=-fuse-ld={}", self.name),
            ]
        };
        self.program.map_or_else(Vec::new, choice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_linker_is_said_with_what_to_install() {
        let missing = Linker::new("none", "none", Some(("ld.none", "nothing")));
        let why = missing.missing().unwrap();
        assert!(why.contains("no ld.none in PATH; apt-get install nothing"), "{why}");
        assert_eq!(LINKERS[0].missing(), None);
    }
}
