//! What is in a package's tarball: what its users need, and nothing that stays in the repository.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

/// A `.crate` file.
pub(super) struct Tarball {
    /// Compressed.
    bytes: u64,
    /// Paths from the package's folder.
    files: BTreeSet<String>,
    readme: String,
    licences: [String; LICENCES.len()],
}

const LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];
const REQUIRED: [&str; 4] = ["Cargo.toml", "Cargo.lock", "README.md", "src/lib.rs"];

/// Every user downloads it with each build from scratch; a registry's own limit is ten times that.
const LARGEST: u64 = 1 << 20;

/// Folders that stay in the repository: tests, what they compare with, and records of machines.
const FOLDERS_LEFT_OUT: [&str; 3] = ["tests", "snapshots", "records"];
/// The same by how a name ends, in folders of other names.
const ENDINGS_LEFT_OUT: [&str; 5] = [".snap", ".gz", ".json", ".perf", ".crate"];
/// Where `tests` is a folder of unit tests, which are compiled with the module that they test.
const UNIT_TESTS: &str = "src/";
/// Data that is compiled into a package: measured truths, from which the forecast's error follows.
const COMPILED_IN: &str = "src/forecast/truth/";
/// Written by cargo: the commit.
const COMMIT: &str = ".cargo_vcs_info.json";

impl Tarball {
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let bytes = std::fs::metadata(path)
            .map_err(|error| format!("{}: {error}", path.display()))?
            .len();
        let listed = tar(path, &["-tzf"], &[])?;
        let mut top = "";
        let mut files = BTreeSet::new();
        for line in listed.lines().filter(|line| !line.ends_with('/')) {
            let (folder, file) = line.split_once('/').ok_or_else(|| format!("{line} is in no folder"))?;
            top = folder;
            files.insert(file.to_owned());
        }
        let text = |name: &str| tar(path, &["-xzOf"], &[&format!("{top}/{name}")]).unwrap_or_default();
        Ok(Self {
            bytes,
            readme: text("README.md"),
            licences: LICENCES.map(text),
            files,
        })
    }

    pub(super) fn size(&self) -> String {
        format!("{} files, {} KiB", self.files.len(), self.bytes.div_ceil(1024))
    }

    /// What is missing, and what should not be there; the licences are those at `root`.
    pub(super) fn problems(&self, root: &Path) -> Vec<String> {
        let mut problems = Vec::new();
        if self.bytes > LARGEST {
            problems.push(format!(
                "{}; at most {} KiB: leave data out",
                self.size(),
                LARGEST / 1024
            ));
        }
        for file in REQUIRED.iter().filter(|file| !self.files.contains(**file)) {
            problems.push(format!("no {file}; name it in `include` of its Cargo.toml"));
        }
        for (name, text) in LICENCES.iter().zip(&self.licences) {
            if std::fs::read_to_string(root.join(name)).ok().as_ref() != Some(text) {
                problems.push(format!(
                    "{name} is not the project's; link to it from the package's folder"
                ));
            }
        }
        for file in self.files.iter().filter(|file| stays(file)) {
            problems.push(format!(
                "{file} stays in the repository; leave it out by `include` of its Cargo.toml"
            ));
        }
        // What a reader of the registry's page can follow.
        let resolves = |link: &&str| link.starts_with("https://") || link.starts_with('#');
        for link in links(&self.readme).filter(|link| !resolves(link)) {
            problems.push(format!(
                "README.md links to {link}, which its readers do not have; say it in words"
            ));
        }
        problems
    }
}

/// Whether a file is none of a package's users' business.
fn stays(file: &str) -> bool {
    let folders = file.rsplit_once('/').map_or("", |(folders, _)| folders);
    let unit_tests = file.starts_with(UNIT_TESTS);
    let left_out = folders
        .split('/')
        .any(|f| FOLDERS_LEFT_OUT.contains(&f) && !(f == "tests" && unit_tests));
    let is_needed = file == COMMIT || file.starts_with(COMPILED_IN);
    left_out || (!is_needed && ENDINGS_LEFT_OUT.iter().any(|ending| file.ends_with(ending)))
}

/// The targets of a document's links, `[text](target)`.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|after| after.split(')').next())
}

/// What tar prints; Debian has it in every installation.
fn tar(archive: &Path, options: &[&str], members: &[&str]) -> Result<String, String> {
    let mut command = Command::new("tar");
    command.args(options).arg(archive).args(members).stdin(Stdio::null());
    let output = command
        .output()
        .map_err(|error| format!("tar did not start: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("tar: {}", said.lines().next().unwrap_or("failed")));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("tar: {error}"))
}

#[cfg(test)]
mod tests {
    use super::Tarball;
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    /// Packs `files` beside what every package has, and returns what is found in the result.
    fn problems(files: &[(&str, &str)], without: &[&str]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for licence in super::LICENCES {
            fs::write(root.join(licence), licence).unwrap();
        }
        let always = super::REQUIRED
            .iter()
            .chain(&super::LICENCES)
            .map(|name| (*name, *name));
        let always = always.filter(|(name, _)| !without.contains(name));
        for (name, text) in always.chain(files.iter().copied()) {
            let path = root.join("a-0.1.0").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let packed = root.join("a-0.1.0.crate");
        let mut tar = Command::new("tar");
        tar.arg("-czf").arg(&packed).arg("-C").arg(root).arg("a-0.1.0");
        assert!(tar.status().unwrap().success());
        Tarball::read(&packed).unwrap().problems(root)
    }

    #[test]
    fn a_package_with_sources_unit_tests_and_examples_is_fine() {
        let files = [
            (".cargo_vcs_info.json", "{}"),
            ("examples/a.rs", ""),
            ("src/a/tests/b.rs", ""),
            ("README.md", "[here](https://example.org) and [below](#below)"),
        ];
        assert_eq!(problems(&files, &["README.md"]), [""; 0]);
    }

    #[test]
    fn tests_snapshots_and_records_are_caught() {
        let files = "tests/a.rs src/a/snapshots/b.txt src/a/b.snap records/machine.txt data/noisy.json.gz machine.json";
        for file in files.split(' ') {
            let found = problems(&[(file, "x")], &[]);
            assert!(found.len() == 1 && found[0].starts_with(file), "{found:?}");
        }
    }

    #[test]
    fn what_is_missing_is_caught() {
        for file in super::REQUIRED {
            let (found, start) = (problems(&[], &[file]), format!("no {file}"));
            assert!(found.len() == 1 && found[0].starts_with(&start), "{found:?}");
        }
        let found = problems(&[("LICENSE-MIT", "another")], &["LICENSE-MIT", "LICENSE-APACHE"]);
        assert!(
            found[0].starts_with("LICENSE-APACHE") && found[1].starts_with("LICENSE-MIT"),
            "{found:?}"
        );
    }

    #[test]
    fn links_that_only_the_repository_resolves_are_caught() {
        let found = problems(&[("README.md", "[design](design/lab.md)")], &["README.md"]);
        assert!(found.len() == 1 && found[0].contains("design/lab.md"), "{found:?}");
    }

    #[test]
    fn a_large_package_and_a_missing_one_are_caught() {
        // Noise, so that it does not shrink.
        let mut state = 1_u64;
        let noise = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(b' ' + (state >> 58) as u8)
        };
        let large: String = (0..2 << 20).map(noise).collect();
        let found = problems(&[("src/data.rs", &large)], &[]);
        assert!(found.len() == 1 && found[0].contains("at most 1024 KiB"), "{found:?}");
        assert!(Tarball::read(Path::new("/nowhere.crate")).is_err());
    }
}
