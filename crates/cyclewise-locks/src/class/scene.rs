//! A site, what is known about where it is, and the classes that it can have.

use super::code::Code;
use crate::decode::Step;
use serde::{Deserialize, Serialize};

/// What a site is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// A count goes up.
    CountUp,
    /// A count goes down, and what follows tests whether it was the last.
    CountDownAndTest,
    /// A compare-and-exchange, or a store-exclusive, in a loop that tries again with the new value.
    ExchangeLoop,
    LockTaken,
    LockGivenBack,
    /// A flag or a state is set, cleared or swapped, once.
    Flag,
    Fence,
    /// None of these, or not known.
    Other,
}

/// A class, and why.
pub(super) type Answer = Option<(Class, String)>;

/// Names functions by address.
pub trait Names {
    /// The name of the function that an address lies in, if it is known.
    fn function(&self, address: u64) -> Option<String>;
}

impl Names for () {
    fn function(&self, _: u64) -> Option<String> {
        None
    }
}

/// A site, and what is known about where it is.
pub struct Scene<'a> {
    pub code: &'a Code<'a>,
    /// The site's address.
    pub site: u64,
    /// Instructions that lead to it, by [`Code::leading`].
    pub before: &'a [Step],
    /// The function's first address, and the one after its last.
    pub function: Option<(u64, u64)>,
    /// The names of the functions that are inlined here, innermost first, and of the function itself.
    pub functions: &'a [String],
    /// Names of other functions.
    pub names: &'a dyn Names,
    /// What the table says of one of them: a class, and the pattern.
    pub known: Option<(Class, String)>,
}
