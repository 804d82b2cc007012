//! What only tests have: told by an item's attribute, or by where a file is.

use proc_macro2::Group;

/// Whether the attribute makes its item a test's: `test`, `cfg(test)` and its compounds, but not `cfg(not(test))`.
pub(super) fn is_attribute(attribute: &Group) -> bool {
    let text = attribute.stream().to_string();
    let words: Vec<_> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    words == ["test"] || words.contains(&"cfg") && words.contains(&"test") && !words.contains(&"not")
}

/// Whether the file is a test's: `tests.rs`, or anything below a folder `tests`.
pub(super) fn is_file(path: &str) -> bool {
    path.ends_with("/tests.rs") || format!("/{path}").contains("/tests/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proc_macro2::{TokenStream, TokenTree};
    use std::str::FromStr;

    fn attribute(text: &str) -> bool {
        let tokens = TokenStream::from_str(text).unwrap().into_iter().nth(1);
        matches!(tokens, Some(TokenTree::Group(group)) if is_attribute(&group))
    }

    #[test]
    fn attributes_of_tests_are_told_from_others() {
        assert!(attribute("#[test]"));
        assert!(attribute("#[cfg(test)]"));
        assert!(attribute("#[cfg(all(test, target_os = \"linux\"))]"));
        assert!(!attribute("#[cfg(not(test))]"));
        assert!(!attribute("#[cfg(feature = \"std\")]"));
        assert!(!attribute("#[doc = \"a test\"]"));
    }

    #[test]
    fn files_of_tests_are_told_from_others() {
        assert!(is_file("crates/a/tests/t.rs"));
        assert!(is_file("crates/a/src/record/tests.rs"));
        assert!(!is_file("crates/a/src/testing.rs"));
    }
}
