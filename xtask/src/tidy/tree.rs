//! The tree the rules look at: every text file git would commit, with the Rust ones already read as tokens.

use super::Finding;
use super::manifest::Manifest;
use super::source::Source;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// A text file.
pub(super) struct File {
    /// Path from the root, with `/` between folders.
    pub(super) path: String,
    pub(super) text: String,
}

impl File {
    /// How the name ends, without the dot; empty where there is none.
    pub(super) fn extension(&self) -> &str {
        Path::new(&self.path).extension().and_then(|e| e.to_str()).unwrap_or("")
    }
}

/// Everything a rule may ask about.
pub(super) struct Tree {
    files: Vec<File>,
    sources: Vec<Source>,
    manifests: Vec<Manifest>,
    unreadable: Vec<Finding>,
}

impl Tree {
    /// Reads the tree at `root`.
    ///
    /// # Errors
    /// Where a folder or a file cannot be read.
    pub(super) fn load(root: &Path) -> io::Result<Self> {
        let mut files = Vec::new();
        for path in committed(root)? {
            let full = root.join(&path);
            // A file that was deleted but is still in the index, or a link to a folder.
            if !full.is_file() {
                continue;
            }
            // Pictures and other binaries have no lines to check.
            if let Ok(text) = String::from_utf8(std::fs::read(full)?) {
                files.push(File { path, text });
            }
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));

        let (mut sources, mut unreadable) = (Vec::new(), Vec::new());
        for file in files.iter().filter(|f| f.extension() == "rs") {
            match Source::read(&file.path, &file.text) {
                Ok(source) => sources.push(source),
                Err((line, what)) => unreadable.push(Finding::new(
                    &file.path,
                    line,
                    format!("not Rust tokens: {what}"),
                    "close what is open, or rename the file if it is not Rust",
                )),
            }
        }
        let manifests = files
            .iter()
            .filter(|f| f.path == "Cargo.toml" || f.path.ends_with("/Cargo.toml"))
            .map(|f| Manifest::read(&f.path, &f.text))
            .collect();
        Ok(Self {
            files,
            sources,
            manifests,
            unreadable,
        })
    }

    pub(super) fn files(&self) -> &[File] {
        &self.files
    }

    /// Every Rust file, whether in a `src/` or beside one.
    pub(super) fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Every Rust file in the `src/` of a package, which is where most rules hold.
    pub(super) fn package_sources(&self) -> impl Iterator<Item = &Source> {
        self.sources.iter().filter(|s| self.package_of(s).is_some())
    }

    pub(super) fn manifests(&self) -> &[Manifest] {
        &self.manifests
    }

    /// The manifest of the package whose `src/` holds this file.
    pub(super) fn package_of(&self, source: &Source) -> Option<&Manifest> {
        let (folder, _) = source.place()?;
        self.manifests
            .iter()
            .find(|m| m.folder() == folder && m.package.is_some())
    }

    /// Whether the path is a file, or a folder with a file below it.
    pub(super) fn exists(&self, path: &str) -> bool {
        let folder = format!("{}/", path.trim_end_matches('/'));
        self.files.iter().any(|f| f.path == path || f.path.starts_with(&folder))
    }

    /// The Rust files that could not be read as tokens: a failure of their own, because no rule has seen them.
    pub(super) fn unreadable(&self) -> &[Finding] {
        &self.unreadable
    }
}

/// What git would commit; where there is no git, every file outside `target/`.
fn committed(root: &Path) -> io::Result<Vec<String>> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    if root.join(".git").exists()
        && let Ok(output) = listed
        && output.status.success()
    {
        let names = String::from_utf8_lossy(&output.stdout);
        return Ok(names.split_terminator('\0').map(String::from).collect());
    }
    let mut found = Vec::new();
    walk(root, "", &mut found)?;
    Ok(found)
}

fn walk(root: &Path, below: &str, found: &mut Vec<String>) -> io::Result<()> {
    for entry in std::fs::read_dir(root.join(below))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() {
            name.clone()
        } else {
            format!("{below}/{name}")
        };
        if entry.file_type()?.is_dir() {
            if name != "target" && name != ".git" {
                walk(root, &path, found)?;
            }
        } else {
            found.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::tidy::testing::tree;

    #[test]
    fn a_file_that_is_not_rust_tokens_is_a_finding() {
        let tree = tree(&[("crates/a/src/lib.rs", "//! A.\nfn f() {\n    let x = (1;\n}\n")]);
        assert_eq!(tree.unreadable().len(), 1);
        assert_eq!(tree.unreadable()[0].file, "crates/a/src/lib.rs");
    }

    #[test]
    fn build_output_is_left_out_and_folders_exist() {
        let tree = tree(&[("target/debug/x.rs", "//! X.\n"), ("crates/a/src/lib.rs", "//! A.\n")]);
        assert!(!tree.exists("target"));
        assert!(tree.exists("crates/a/src"));
        assert!(tree.exists("crates/a/src/"));
        assert!(!tree.exists("crates/a/s"));
    }
}
