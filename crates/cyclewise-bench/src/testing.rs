//! Assertions about texts, for tests of every package: each prints the text that fails it.

/// Fails unless the text has each of these parts.
#[macro_export]
macro_rules! assert_says {
    ($text:expr, $($part:expr),+ $(,)?) => {{
        let text: &str = &$text;
        $( assert!(text.contains($part), "it does not say {:?}: {text}", $part); )+
    }};
}

/// Fails if the text has one of these parts.
#[macro_export]
macro_rules! assert_lacks {
    ($text:expr, $($part:expr),+ $(,)?) => {{
        let text: &str = &$text;
        $( assert!(!text.contains($part), "it says {:?}: {text}", $part); )+
    }};
}
