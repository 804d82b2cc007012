//! The tree the rules look at: every text file git would commit, with the Rust ones already read as tokens.

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
    packages: Vec<String>,
}

impl Tree {
    /// Reads the tree at `root`.
    ///
    /// # Errors
    /// Where a folder or a file cannot be read, or a Rust file is none: no rule would see it.
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

        let rust = files.iter().filter(|f| f.extension() == "rs");
        let sources = rust.map(|f| Source::read(&f.path, &f.text)).collect::<Result<_, _>>();
        let sources = sources.map_err(io::Error::other)?;
        let manifests = files.iter().filter(|f| f.text.lines().any(|line| line == "[package]"));
        let packages =
            manifests.filter_map(|f| Some(f.path.strip_suffix("Cargo.toml")?.trim_end_matches('/').to_owned()));
        let packages = packages.collect();
        Ok(Self {
            files,
            sources,
            packages,
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
        let is_packaged = |s: &&Source| {
            s.place()
                .is_some_and(|(folder, _)| self.packages.iter().any(|p| p == folder))
        };
        self.sources.iter().filter(is_packaged)
    }

    /// The folder of every package, from the root.
    pub(super) fn packages(&self) -> &[String] {
        &self.packages
    }

    /// Whether the path is a file, or a folder with a file below it.
    pub(super) fn exists(&self, path: &str) -> bool {
        let folder = format!("{}/", path.trim_end_matches('/'));
        self.files.iter().any(|f| f.path == path || f.path.starts_with(&folder))
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
    fn a_file_that_is_not_rust_tokens_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.rs"), "//! A.\nfn f() {\n    let x = (1;\n}\n").unwrap();
        let error = super::Tree::load(folder.path()).err().unwrap().to_string();
        assert!(error.starts_with("a.rs:4: not Rust: "), "{error}");
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
