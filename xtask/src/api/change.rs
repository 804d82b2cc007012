//! What changed between two lists of public items, and which version that takes.
//!
//! # References
//! Semantic Versioning 2.0.0; the Cargo Book, "SemVer Compatibility".

use std::collections::BTreeSet;

/// The items of one list that the other does not have.
#[derive(Default)]
pub(super) struct Changes {
    /// Items that are gone or read differently now: breaking.
    pub(super) removed: Vec<String>,
    /// New items that programs may fail to compile with, and why.
    pub(super) restricting: Vec<(String, &'static str)>,
    /// Other new items.
    pub(super) added: Vec<String>,
}

impl Changes {
    pub(super) fn between(old: &str, new: &str) -> Self {
        let (before, after): (BTreeSet<_>, BTreeSet<_>) = (old.lines().collect(), new.lines().collect());
        let mut changes = Self {
            removed: before.difference(&after).map(|line| (*line).to_owned()).collect(),
            ..Self::default()
        };
        for line in after.difference(&before) {
            match restricts(line, &before) {
                Some(why) => changes.restricting.push(((*line).to_owned(), why)),
                None => changes.added.push((*line).to_owned()),
            }
        }
        changes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.restricting.is_empty() && self.added.is_empty()
    }

    pub(super) fn summary(&self) -> String {
        let breaking = self.removed.len() + self.restricting.len();
        format!("{breaking} breaking, {} additions", self.added.len())
    }

    /// The least version after `version`; none where nothing changed.
    pub(super) fn needs(&self, version: &str) -> Option<String> {
        let mut parts = version
            .split(['.', '-', '+'])
            .map(|part| part.parse::<u64>().unwrap_or(0));
        let mut part = || parts.next().unwrap_or(0);
        let (major, minor, patch) = (part(), part(), part());
        let breaking = !self.removed.is_empty() || !self.restricting.is_empty();
        match (breaking, major) {
            _ if self.is_empty() => None,
            // Before 1.0 cargo takes the second number for the first, and the third for the second.
            (true, 0) => Some(format!("0.{}.0", minor + 1)),
            (false, 0) => Some(format!("0.{minor}.{}", patch + 1)),
            (true, _) => Some(format!("{}.0.0", major + 1)),
            (false, _) => Some(format!("{major}.{}.0", minor + 1)),
        }
    }
}

/// Why a new item of something that was there before can break a program.
fn restricts(line: &str, before: &BTreeSet<&str>) -> Option<&'static str> {
    let (parent, _) = path(line)?.rsplit_once("::")?;
    let parent = before.iter().find(|old| path(old) == Some(parent) && is_type(old))?;
    let (open, method) = (parent.contains("#[non_exhaustive]"), line.contains(" fn "));
    if parent.contains("pub enum ") && !open && !method {
        Some("a variant that a match on all of them lacks; breaking")
    } else if parent.contains("pub struct ")
        && !open
        && !method
        && !line.contains(" const ")
        && !line.contains(" type ")
    {
        Some("a field that a literal of the struct lacks; breaking unless it had private fields")
    } else if parent.contains(" trait ") {
        Some("an item that other types' implementations lack; breaking unless it has a default or the trait is sealed")
    } else {
        None
    }
}

fn is_type(line: &str) -> bool {
    [" struct ", " enum ", " trait "].iter().any(|kind| line.contains(kind)) && !line.contains(" fn ")
}

/// The path of the item that a line is about; none of an implementation.
fn path(line: &str) -> Option<&str> {
    // After the attributes and what the item is.
    let item = line.split_once("pub ")?.1;
    let start = item
        .split_whitespace()
        .find(|word| word.contains("::") || !KINDS.contains(word))?;
    let end = start.char_indices().find_map(|(at, c)| {
        let single_colon = c == ':' && !start[at..].starts_with("::") && !start[..at].ends_with(':');
        (single_colon || !(c.is_alphanumeric() || "_:!".contains(c))).then_some(at)
    });
    Some(&start[..end.unwrap_or(start.len())])
}

/// The words before an item's path.
const KINDS: [&str; 15] = [
    "async", "const", "enum", "extern", "fn", "macro", "mod", "mut", "static", "struct", "trait", "type", "union",
    "unsafe", "use",
];

#[cfg(test)]
mod tests {
    use super::{Changes, path};

    const OLD: &str = "\
pub mod a
pub enum a::Closed
pub a::Closed::One
#[non_exhaustive] pub enum a::Open
pub a::Open::One
pub struct a::Fields
pub a::Fields::x: u8
pub trait a::Needed: core::marker::Sized
pub fn a::f(x: u8) -> u8
impl core::clone::Clone for a::Fields
";

    fn with(lines: &str) -> Changes {
        Changes::between(OLD, &format!("{OLD}{lines}\n"))
    }

    #[test]
    fn the_same_items_in_another_order_need_no_release() {
        let backwards: String = OLD.lines().rev().map(|line| format!("{line}\n")).collect();
        let changes = Changes::between(OLD, &backwards);
        assert!(changes.is_empty());
        assert_eq!(changes.needs("0.1.0"), None);
    }

    #[test]
    fn a_removed_function_is_breaking() {
        let changes = Changes::between(OLD, &OLD.replace("pub fn a::f(x: u8) -> u8\n", ""));
        assert_eq!(changes.removed, ["pub fn a::f(x: u8) -> u8"]);
        assert_eq!(changes.summary(), "1 breaking, 0 additions");
        assert_eq!(changes.needs("0.1.7").as_deref(), Some("0.2.0"));
        assert_eq!(changes.needs("2.3.4-rc.1").as_deref(), Some("3.0.0"));
    }

    #[test]
    fn an_added_function_is_an_addition() {
        for line in [
            "pub fn a::g()",
            "pub const fn a::Fields::new() -> Self",
            "impl core::fmt::Debug for a::Closed",
        ] {
            let changes = with(line);
            assert_eq!(changes.added, [line]);
            assert_eq!(changes.summary(), "0 breaking, 1 additions");
            assert_eq!(changes.needs("0.1.7").as_deref(), Some("0.1.8"));
            assert_eq!(changes.needs("2.3.4").as_deref(), Some("2.4.0"));
        }
    }

    #[test]
    fn a_changed_signature_and_a_lost_implementation_are_breaking() {
        let changes = Changes::between(OLD, &OLD.replace("x: u8)", "x: u16)"));
        assert_eq!((changes.removed.len(), changes.added.len()), (1, 1));
        assert_eq!(changes.needs("0.1.0").as_deref(), Some("0.2.0"));
        let changes = Changes::between(OLD, &OLD.replace("impl core::clone::Clone for a::Fields\n", ""));
        assert_eq!(changes.needs("0.1.0").as_deref(), Some("0.2.0"));
    }

    #[test]
    fn additions_that_break_programs_are_breaking() {
        for (line, why) in [
            ("pub a::Closed::Two", "variant"),
            ("pub a::Fields::y: u8", "field"),
            ("pub fn a::Needed::g(&self)", "default"),
        ] {
            let changes = with(line);
            assert!(changes.restricting[0].1.contains(why), "{line}");
            assert_eq!(changes.needs("0.1.0").as_deref(), Some("0.2.0"), "{line}");
        }
        assert_eq!(with("pub a::Open::Two").needs("0.1.0").as_deref(), Some("0.1.1"));
        // With the type they belong to they are additions.
        assert!(with("pub enum a::New\npub a::New::One").restricting.is_empty());
    }

    #[test]
    fn paths_end_where_the_item_is_named() {
        for (line, expected) in [
            ("pub unsafe const fn a::B::f<'a>(x: *mut c::D) -> &'a Self", "a::B::f"),
            ("#[repr(C)] pub struct a::B<T: c::D>", "a::B"),
            ("pub a::B::x: c::D", "a::B::x"),
            ("pub macro a::m!", "a::m!"),
        ] {
            assert_eq!(path(line), Some(expected));
        }
        assert_eq!(path("impl c::D for a::B"), None);
    }
}
