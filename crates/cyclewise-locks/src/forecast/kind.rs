//! What a site is to its owner: a reference count, a counter, a lock; and in which language. Remedies depend on both.

use crate::class::counts_references;
use crate::profile::{Class, SiteProfile};

/// What a locked instruction is for, as far as remedies differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// References to an object.
    References,
    /// Events, bytes, waiters.
    Counters,
    /// Taking a lock or giving it back.
    Locks,
    /// A word that is computed and exchanged until nobody was between.
    Loops,
    /// States, and what is not known.
    States,
}

/// A language or an object system whose owners have remedies of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Language {
    Rust,
    Cpp,
    GObject,
    Go,
    C,
}

/// The kind by the class, and by names where the class has both kinds of counts.
pub(super) fn kind(site: &SiteProfile) -> Kind {
    match site.class {
        Class::LockTaken | Class::LockGivenBack => Kind::Locks,
        Class::ExchangeLoop if language(site) != Language::Go && is_of_references(site) => Kind::References,
        Class::ExchangeLoop => Kind::Loops,
        // A collector counts no references.
        Class::CountUp | Class::CountDownAndTest if language(site) == Language::Go => Kind::Counters,
        Class::CountUp | Class::CountDownAndTest if is_of_references(site) => Kind::References,
        Class::CountUp => Kind::Counters,
        // What is tested for the last one, and is no wait of threads for each other.
        Class::CountDownAndTest if !waits(site) => Kind::References,
        Class::CountDownAndTest => Kind::Counters,
        Class::Flag | Class::Fence | Class::Other => Kind::States,
    }
}

/// Families whose counts are of references, whatever their functions are called.
const REFERENCES: &[&str] = &[
    "std Arc",
    "shared_ptr",
    "boost shared_ptr",
    "boost intrusive_ptr",
    "Qt implicit sharing",
    "triomphe",
    "bytes",
    "tokio task",
];

fn is_of_references(site: &SiteProfile) -> bool {
    let family = site.family.as_deref().unwrap_or_default();
    REFERENCES.contains(&family) || site.frames.iter().any(|frame| counts_references(&frame.function))
}

/// Families in which threads that wait are counted down.
fn waits(site: &SiteProfile) -> bool {
    let family = site.family.as_deref().unwrap_or_default();
    family.starts_with("pthread") || ["std mpsc", "std Parker", "rayon", "crossbeam", "OpenMP"].contains(&family)
}

/// The language by the families of runtimes, the sources' names and the shape of functions' names.
pub(super) fn language(site: &SiteProfile) -> Language {
    let family = site.family.as_deref().unwrap_or_default();
    let is_source = |ends: &[&str]| {
        let files = site.frames.iter().filter_map(|frame| frame.file.as_deref());
        files.clone().any(|file| ends.iter().any(|end| file.ends_with(end)))
    };
    let has = |part: &str| site.frames.iter().any(|frame| frame.function.contains(part));
    if family.starts_with("Go ") || is_source(&[".go"]) {
        Language::Go
    } else if family.starts_with("std A") || is_source(&[".rs"]) {
        Language::Rust
    } else if ["GObject", "GLib", "GVariant", "GStreamer"]
        .iter()
        .any(|name| family.starts_with(name))
    {
        Language::GObject
    } else if has("::") || is_source(&[".cc", ".cpp", ".cxx", ".hpp"]) {
        Language::Cpp
    } else {
        Language::C
    }
}
