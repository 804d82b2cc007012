//! Enums whose JSON is a text: code asks which of the known ones it is, and a text of another version is kept as it is.

/// Words: each known one is a variant, and any other is `Other`.
#[macro_export]
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$of_word:meta])* $word:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum $name {
            $($(#[$of_word])* $word,)*
            /// A word of another version; empty where none was said.
            Other(String),
        }

        impl $name {
            /// The word of the JSON.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$word => $text,)*
                    Self::Other(word) => word,
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::Other(String::new())
            }
        }

        impl From<String> for $name {
            fn from(word: String) -> Self {
                match word.as_str() {
                    $($text => Self::$word,)*
                    _ => Self::Other(word),
                }
            }
        }

        impl From<$name> for String {
            fn from(word: $name) -> Self {
                match word {
                    $name::Other(word) => word,
                    known => known.as_str().to_owned(),
                }
            }
        }
    };
}

/// Sentences, of which code needs to know the ones that begin as one of the known kinds do. A variant has its whole sentence.
#[macro_export]
macro_rules! sentences {
    ($(#[$doc:meta])* $name:ident { $($(#[$of_kind:meta])* $kind:ident, $make:ident = $beginning:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum $name {
            $($(#[$of_kind])* $kind(String),)*
            /// Any other.
            Other(String),
        }

        impl $name {
            $(
                #[doc = concat!("`", $beginning, "` and the rest of the sentence.")]
                pub fn $make(rest: impl std::fmt::Display) -> Self {
                    Self::$kind(format!(concat!($beginning, "{}"), rest))
                }
            )*

            /// The sentence, to be changed without changing what it is about.
            pub fn text_mut(&mut self) -> &mut String {
                match self {
                    $(Self::$kind(text) => text,)*
                    Self::Other(text) => text,
                }
            }
        }

        impl std::ops::Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                match self {
                    $(Self::$kind(text) => text,)*
                    Self::Other(text) => text,
                }
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                self
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self)
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                match text {
                    $(text if text.starts_with($beginning) => Self::$kind(text),)*
                    text => Self::Other(text),
                }
            }
        }

        impl From<$name> for String {
            fn from(mut sentence: $name) -> Self {
                std::mem::take(sentence.text_mut())
            }
        }
    };
}
