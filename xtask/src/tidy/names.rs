//! The paths a Rust file names, each with its line and where it stands.
//!
//! The file is read as tokens and not parsed further: a rule asks "does this file name `crate::runner`", and for that a
//! path is a run of identifiers joined by `::`, wherever it stands, in macros too. Words in strings and comments are not
//! names.

use proc_macro2::{Delimiter, Group, TokenTree};

/// One path, where it is named.
pub(super) struct Name {
    pub(super) segments: Vec<String>,
    pub(super) line: usize,
    /// Within a `use`, the name it brings into the file.
    pub(super) binding: Option<String>,
    /// `!` of a macro call, `(` of a function call.
    pub(super) followed_by: Option<char>,
    /// The modules of this file it is in, outermost first.
    pub(super) inside: Vec<String>,
    /// Whether it is in an item that only tests have.
    pub(super) in_test: bool,
}

impl Name {
    /// The path as written.
    pub(super) fn text(&self) -> String {
        self.segments.join("::")
    }

    pub(super) fn first(&self) -> &str {
        &self.segments[0]
    }
}

/// What a file names.
#[derive(Default)]
pub(super) struct Names {
    pub(super) all: Vec<Name>,
    /// Lines of `extern "..." { fn ...; }`.
    pub(super) foreign_functions: Vec<usize>,
}

impl Names {
    /// Collects the names of a whole file; `in_test` where only tests have the file.
    pub(super) fn collect(tokens: &[TokenTree], in_test: bool) -> Self {
        let mut names = Self::default();
        names.walk(tokens, &[], in_test);
        names
    }

    fn walk(&mut self, tokens: &[TokenTree], inside: &[String], in_test: bool) {
        // Whether the item being read is for tests only: from its attribute to its closing brace or semicolon.
        let mut test_item = false;
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Punct(p) if p.as_char() == '#' => {
                    let attribute = tokens.get(at + 1);
                    test_item |= matches!(attribute, Some(TokenTree::Group(a)) if is_of_tests(a));
                }
                TokenTree::Punct(p) if p.as_char() == ';' => test_item = false,
                TokenTree::Group(group) => {
                    let inner: Vec<_> = group.stream().into_iter().collect();
                    let mut inside = inside.to_vec();
                    inside.extend(module_before(tokens, at));
                    self.walk(&inner, &inside, in_test || test_item);
                    if group.delimiter() == Delimiter::Brace {
                        test_item = false;
                    }
                }
                TokenTree::Ident(word) if word == "use" => {
                    let end = (at..tokens.len())
                        .find(|&i| is_punct(tokens, i, ';'))
                        .unwrap_or(tokens.len());
                    self.use_tree(&tokens[at + 1..end], &[], inside, in_test || test_item);
                    at = end;
                    continue;
                }
                TokenTree::Ident(word) => {
                    if word == "extern" {
                        self.foreign_functions.extend(foreign_functions(tokens, at));
                    }
                    let (segments, end) = path_from(tokens, at);
                    self.all.push(Name {
                        segments,
                        line: word.span().start().line,
                        binding: None,
                        followed_by: follower(tokens.get(end)),
                        inside: inside.to_vec(),
                        in_test: in_test || test_item,
                    });
                    at = end;
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// The paths of `a::{b, c as d}`, one for each leaf.
    fn use_tree(&mut self, tokens: &[TokenTree], before: &[String], inside: &[String], in_test: bool) {
        for leaf in tokens.split(|t| matches!(t, TokenTree::Punct(p) if p.as_char() == ',')) {
            let mut segments = before.to_vec();
            let (mut line, mut binding, mut at) = (0, None, 0);
            while at < leaf.len() {
                match &leaf[at] {
                    TokenTree::Ident(word) if word == "as" => {
                        binding = leaf.get(at + 1).map(ToString::to_string);
                        break;
                    }
                    TokenTree::Ident(word) => {
                        line = word.span().start().line;
                        segments.push(word.to_string());
                    }
                    TokenTree::Punct(p) if p.as_char() == '*' => {
                        line = p.span().start().line;
                        segments.push("*".to_owned());
                    }
                    TokenTree::Group(group) => {
                        let inner: Vec<_> = group.stream().into_iter().collect();
                        self.use_tree(&inner, &segments, inside, in_test);
                        line = 0;
                        break;
                    }
                    _ => {}
                }
                at += 1;
            }
            // No line: the leaf was a group, or what follows a last comma.
            if line > 0 {
                if segments.len() > 1 && segments.last().is_some_and(|s| s == "self") {
                    segments.pop();
                }
                let binding = binding.or_else(|| segments.last().cloned());
                self.all.push(Name {
                    segments,
                    line,
                    binding,
                    followed_by: None,
                    inside: inside.to_vec(),
                    in_test,
                });
            }
        }
    }
}

/// Whether the attribute makes its item a test's: `test`, `cfg(test)` and its compounds, but not `cfg(not(test))`.
fn is_of_tests(attribute: &Group) -> bool {
    let text = attribute.stream().to_string();
    let words: Vec<_> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    words == ["test"] || words.contains(&"cfg") && words.contains(&"test") && !words.contains(&"not")
}

/// Whether the file is a test's: `tests.rs`, or anything below a folder `tests`.
pub(super) fn is_in_tests(path: &str) -> bool {
    path.ends_with("/tests.rs") || format!("/{path}").contains("/tests/")
}

/// The path that starts at an identifier, and the index after it.
fn path_from(tokens: &[TokenTree], start: usize) -> (Vec<String>, usize) {
    let mut segments = vec![tokens[start].to_string()];
    let mut at = start + 1;
    while is_punct(tokens, at, ':') && is_punct(tokens, at + 1, ':') {
        let Some(TokenTree::Ident(word)) = tokens.get(at + 2) else {
            break;
        };
        segments.push(word.to_string());
        at += 3;
    }
    (segments, at)
}

fn follower(token: Option<&TokenTree>) -> Option<char> {
    match token? {
        TokenTree::Punct(p) => Some(p.as_char()),
        TokenTree::Group(g) if g.delimiter() == Delimiter::Parenthesis => Some('('),
        _ => None,
    }
}

fn is_punct(tokens: &[TokenTree], at: usize, c: char) -> bool {
    matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == c)
}

/// The name of the module whose body the group at `at` is.
fn module_before(tokens: &[TokenTree], at: usize) -> Option<String> {
    match tokens.get(at.checked_sub(2)?..at)? {
        [TokenTree::Ident(word), TokenTree::Ident(name)] if word == "mod" => Some(name.to_string()),
        _ => None,
    }
}

/// The line of the block of functions declared after the `extern` at `at`, if that is what it opens.
fn foreign_functions(tokens: &[TokenTree], at: usize) -> Option<usize> {
    let block = tokens[at + 1..].iter().take(2).find_map(|t| match t {
        TokenTree::Group(g) if g.delimiter() == Delimiter::Brace => Some(g),
        _ => None,
    })?;
    let has_function = block
        .stream()
        .into_iter()
        .any(|t| matches!(t, TokenTree::Ident(i) if i == "fn"));
    has_function.then(|| tokens[at].span().start().line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proc_macro2::TokenStream;
    use std::str::FromStr;

    fn read(text: &str) -> Names {
        let tokens: Vec<_> = TokenStream::from_str(text).unwrap().into_iter().collect();
        Names::collect(&tokens, false)
    }

    #[test]
    fn a_use_tree_gives_each_leaf_its_path_and_line() {
        let names = read("use crate::{\n    a::{self, B as C},\n    d::*,\n};");
        let read: Vec<_> = names
            .all
            .iter()
            .map(|n| (n.text(), n.line, n.binding.as_deref()))
            .collect();
        assert_eq!(
            read,
            [
                ("crate::a".to_owned(), 2, Some("a")),
                ("crate::a::B".to_owned(), 2, Some("C")),
                ("crate::d::*".to_owned(), 3, Some("*")),
            ]
        );
    }

    #[test]
    fn paths_are_found_in_macros_and_not_in_strings_or_comments() {
        let names = read("// crate::x\nm! { $crate::a::f(\"crate::y\") }");
        let found: Vec<_> = names.all.iter().map(|n| (n.text(), n.line)).collect();
        assert_eq!(found, [("m".to_owned(), 2), ("crate::a::f".to_owned(), 2)]);
    }

    #[test]
    fn what_only_tests_have_is_marked() {
        let names = read("use a::b;\n#[cfg(test)]\nmod tests {\n use c::d;\n}\nuse e::f;");
        let read: Vec<_> = names
            .all
            .iter()
            .filter(|n| n.segments.len() == 2)
            .map(|n| (n.first(), n.in_test, n.inside.len()))
            .collect();
        assert_eq!(read, [("a", false, 0), ("c", true, 1), ("e", false, 0)]);
    }

    #[test]
    fn attributes_and_files_of_tests_are_told_from_others() {
        let of_tests = |attribute: &str| {
            read(&format!("{attribute} fn f() {{ g }}"))
                .all
                .iter()
                .any(|n| n.in_test)
        };
        for attribute in ["#[test]", "#[cfg(test)]", "#[cfg(all(test, target_os = \"linux\"))]"] {
            assert!(of_tests(attribute), "{attribute}");
        }
        for attribute in ["#[cfg(not(test))]", "#[cfg(feature = \"std\")]", "#[doc = \"a test\"]"] {
            assert!(!of_tests(attribute), "{attribute}");
        }
        let files = [
            "crates/a/tests/t.rs",
            "crates/a/src/record/tests.rs",
            "crates/a/src/testing.rs",
        ];
        assert_eq!(files.map(is_in_tests), [true, true, false]);
    }

    #[test]
    fn only_blocks_that_declare_functions_are_foreign_functions() {
        let names =
            read("extern \"C\" { fn f(); }\nextern \"C\" { static S: u8; }\nextern \"C\" fn g() { let fn_ = 1; }");
        assert_eq!(names.foreign_functions, [1]);
    }
}
