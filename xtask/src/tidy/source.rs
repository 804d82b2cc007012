//! One Rust file as the rules see it: its place, its module doc, its opt-ins and the paths it names.

use super::names::{Names, is_punct};
use super::test_only;
use proc_macro2::{TokenStream, TokenTree};
use std::str::FromStr;

/// A Rust file.
pub(super) struct Source {
    /// Path from the root.
    pub(super) path: String,
    /// The lines of the module doc, without `//!`.
    pub(super) module_doc: Vec<String>,
    /// Every path named, a single identifier being the shortest.
    pub(super) names: Names,
    /// Arguments of `#![allow(...)]` and `#![expect(...)]` at the top of the file.
    pub(super) opt_ins: Vec<String>,
}

impl Source {
    /// Reads a file.
    ///
    /// # Errors
    /// The line and the reason where the text is not Rust tokens.
    pub(super) fn read(path: &str, text: &str) -> Result<Self, (usize, String)> {
        let tokens = TokenStream::from_str(text).map_err(|e| (e.span().start().line.max(1), e.to_string()))?;
        let tokens: Vec<_> = tokens.into_iter().collect();
        Ok(Self {
            path: path.to_owned(),
            module_doc: text
                .lines()
                .map_while(|l| l.strip_prefix("//!"))
                .map(str::to_owned)
                .collect(),
            names: Names::of(&tokens, test_only::is_file(path)),
            opt_ins: opt_ins(&tokens),
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

    /// The module of this file, outermost part first: empty for the root, `main` for a program's.
    pub(super) fn module(&self) -> Vec<String> {
        let inside = self.place().map_or("", |(_, inside)| inside);
        let mut parts: Vec<_> = inside.trim_end_matches(".rs").split('/').map(String::from).collect();
        if matches!(parts.last().map(String::as_str), Some("mod" | "lib")) {
            parts.pop();
        }
        parts
    }
}

fn opt_ins(tokens: &[TokenTree]) -> Vec<String> {
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        if !(is_punct(tokens, at, '#') && is_punct(tokens, at + 1, '!')) {
            continue;
        }
        if let Some(TokenTree::Group(attribute)) = tokens.get(at + 2)
            && let [TokenTree::Ident(level), TokenTree::Group(lints), ..] =
                attribute.stream().into_iter().collect::<Vec<_>>().as_slice()
            && (level == "allow" || level == "expect")
        {
            let words = lints.stream().into_iter().filter(|t| matches!(t, TokenTree::Ident(_)));
            found.extend(words.map(|w| w.to_string()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_knows_its_module() {
        let module = |path| {
            Source::read(path, "")
                .unwrap_or_else(|(_, e)| panic!("{e}"))
                .module()
                .join("::")
        };
        assert_eq!(module("crates/a/src/lib.rs"), "");
        assert_eq!(module("crates/a/src/main.rs"), "main");
        assert_eq!(module("crates/a/src/arch/mod.rs"), "arch");
        assert_eq!(module("crates/a/src/arch/x86_64/rseq.rs"), "arch::x86_64::rseq");
    }

    #[test]
    fn the_module_doc_and_the_opt_ins_are_at_the_top() {
        let text = "//! A.\n//! # Safety\n#![expect(unsafe_code, reason = \"r\")]\nfn f() {}\n//! Not this.\n";
        let source = Source::read("src/a.rs", text).unwrap_or_else(|(_, e)| panic!("{e}"));
        assert_eq!(source.module_doc, [" A.", " # Safety"]);
        assert!(source.opt_ins.contains(&"unsafe_code".to_owned()));
    }
}
