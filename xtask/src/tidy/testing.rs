//! Small trees for the rules' tests: written to a temporary folder, read back, and gone.

use super::Rule;
use super::tree::Tree;

/// The tree with these files.
pub(super) fn tree(files: &[(&str, &str)]) -> Tree {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let full = folder.path().join(path);
        std::fs::create_dir_all(full.parent().unwrap()).unwrap();
        std::fs::write(full, text).unwrap();
    }
    Tree::load(folder.path()).unwrap()
}

/// What the rule says of the tree with these files, as `cargo xtask tidy` prints it.
pub(super) fn check(rule: &Rule, files: &[(&str, &str)]) -> Vec<String> {
    let tree = tree(files);
    (rule.check)(&tree)
        .iter()
        .map(|f| f.line_of_report(rule.name).to_string())
        .collect()
}

/// The manifest of a package, for trees that need one.
pub(super) fn package(name: &str) -> String {
    format!("[package]\nname = \"{name}\"\n")
}
