//! One Rust file as the rules see it: its place, its module doc and the paths it names.

use super::names::{Names, is_in_tests};
use proc_macro2::TokenStream;
use std::str::FromStr;

/// A Rust file.
pub(super) struct Source {
    /// Path from the root.
    pub(super) path: String,
    /// The lines of the module doc, without `//!`.
    pub(super) module_doc: Vec<String>,
    /// Every path named, a single identifier being the shortest.
    pub(super) names: Names,
}

impl Source {
    /// Reads a file.
    ///
    /// # Errors
    /// One line where the text is not Rust tokens.
    pub(super) fn read(path: &str, text: &str) -> Result<Self, String> {
        let tokens = TokenStream::from_str(text);
        let tokens = tokens.map_err(|e| {
            format!(
                "{path}:{}: not Rust: {e}; close what is open",
                e.span().start().line.max(1)
            )
        })?;
        let tokens: Vec<_> = tokens.into_iter().collect();
        Ok(Self {
            path: path.to_owned(),
            module_doc: text
                .lines()
                .map_while(|l| l.strip_prefix("//!"))
                .map(str::to_owned)
                .collect(),
            names: Names::collect(&tokens, is_in_tests(path)),
        })
    }

    /// The package's folder and the path within its `src/`; none for a file beside `src/`.
    pub(super) fn place(&self) -> Option<(&str, &str)> {
        self.path
            .split_once("/src/")
            .or_else(|| self.path.strip_prefix("src/").map(|inside| ("", inside)))
    }

    /// Whether the file is in this folder of a package's `src/`, at any depth.
    pub(super) fn is_in(&self, folder: &str) -> bool {
        self.place()
            .is_some_and(|(_, inside)| inside.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
    }

    /// The module of this file below a root's folder, outermost part first: empty for the root, `main` for a program's.
    pub(super) fn module_in(&self, root: &str) -> Option<Vec<String>> {
        let inside = self.path.strip_prefix(root)?.strip_prefix('/')?;
        let mut parts: Vec<_> = inside.trim_end_matches(".rs").split('/').map(String::from).collect();
        if matches!(parts.last().map(String::as_str), Some("mod" | "lib")) {
            parts.pop();
        }
        Some(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_knows_its_module() {
        let module = |path| {
            let source = Source::read(path, "").unwrap();
            source.module_in("crates/a/src").unwrap().join("::")
        };
        assert_eq!(module("crates/a/src/lib.rs"), "");
        assert_eq!(module("crates/a/src/main.rs"), "main");
        assert_eq!(module("crates/a/src/arch/mod.rs"), "arch");
        assert_eq!(module("crates/a/src/arch/x86_64/rseq.rs"), "arch::x86_64::rseq");
    }

    #[test]
    fn the_module_doc_is_at_the_top() {
        let text = "//! A.\n//! # Safety\nfn f() {}\n//! Not this.\n";
        let source = Source::read("src/a.rs", text).unwrap();
        assert_eq!(source.module_doc, [" A.", " # Safety"]);
    }
}
