//! What a comparison says: faster, slower, the same, or why none of them.

use serde::{Deserialize, Serialize};

/// The result of a comparison, about its `a`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// `a` is faster than `b`.
    Faster,
    /// `a` is slower than `b`.
    Slower,
    /// `a` and `b` are the same within the stated margin.
    Same,
    /// The data neither show a difference nor exclude one.
    #[default]
    #[serde(alias = "indistinguishable")]
    Undecided,
    /// There can be no verdict; the reason says why.
    None,
    /// `a` is faster in one state of the neighbour and slower in another.
    Depends,
}

impl Verdict {
    /// The verdict's name in the JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::Same => "same",
            Verdict::Undecided => "undecided",
            Verdict::None => "none",
            Verdict::Depends => "depends",
        }
    }

    /// The verdict in words.
    pub fn in_words(self) -> &'static str {
        match self {
            Verdict::None => "no verdict",
            Verdict::Depends => "depends on the neighbour",
            other => other.as_str(),
        }
    }

    /// Whether one is said to be better: faster or slower.
    pub fn is_claim(self) -> bool {
        matches!(self, Verdict::Faster | Verdict::Slower)
    }
}

/// The accepted chance of a false claim by one test: the customary 5 %.
pub const ALPHA: f64 = 0.05;
