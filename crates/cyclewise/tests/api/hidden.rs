//! Names that are public for macros and hidden from the documentation, each with the reason why safe code may use it.
//!
//! Hidden is not private. An added name needs a proof here: no safe use of it accesses memory at a caller's address, and
//! functions with a contract are `unsafe`.
use std::path::{Path, PathBuf};

/// A list of items, each with the reason why it is harmless.
macro_rules! reasons {
    ($(#[$meta:meta])* $name:ident: $($item:literal: $reason:literal;)*) => {
        $(#[$meta])*
        const $name: &[(&str, &str)] = &[$(($item, $reason)),*];
    };
}

reasons! {
    /// Items behind `#[doc(hidden)]`, and why each is harmless.
    HIDDEN:
    "pub use core as __core;": "core itself";
    "pub mod arch;": "its own list below";
    "macro_rules! __static_key_test {": "a NOP or a jump to the caller's own block; the key is only an address";
    "macro_rules! __static_key_table {": "computes an address";
    "pub const fn __new(": "a key without tests; with a table that is not this unit's it is refused every change";
    "pub fn __flag(&self) -> bool {": "an atomic load";
    "$vis struct $name {": "its field is private to the caller's module; whatever is in it, its tests are the static's";
    "pub mod hooks;": "its functions are unsafe, and `Hooks` and `TlsHooks` are data for unsafe functions";
    "pub mod units;": "its functions are unsafe, and nobody can make a `Unit` or a `Key`: their fields are private";
    "pub fn __put_silently(": "as put, which is safe; the caller calls the release";
    "pub fn __kill_silently(": "as kill, which is safe; the caller calls the release";
    "pub fn __on_boxed(": "as Signals::on; the trait is unsafe, and an address is only looked up";
    "pub fn __is_callers(&self) -> bool {": "the C interface: whether the thread that unlocks has the lock";
    "pub fn __is_lost(&self) -> bool {": "reads the owner's name and asks the kernel for it";
    "pub fn __segments(&'static self) -> *const () {": "an address";
    "pub fn __offset() -> Option<isize> {": "a number";
    "pub use this_thread::__offset;": "the same";
    "macro_rules! __thread_creators {": "a table of names and types";
    "macro_rules! __export_hooks {": "defines functions of these names alone, which restore LOCK and hand the call on";
    "pub unsafe fn enable(": "unsafe";
    "pub unsafe fn refuse(": "unsafe";
    "fn into_raw(self) -> *mut T;": "of a sealed trait; gives an address";
    "unsafe fn from_raw(raw: *mut T) -> Self;": "unsafe";
    "fn read(&self) -> Self::Guard<'_>;": "of a sealed trait; begins a section";
    "fn check(&self, guard: &Self::Guard<'_>);": "of a sealed trait; compares addresses";
    "fn drop_later(&self, value: impl Send + 'static);": "of a sealed trait; safe where public";
    "const HOLDS_LATER_LOADS: bool = false;": "of a sealed trait; a constant";
    "fn ticks<S: Source>(source: &S) -> u64;": "of a sealed trait; reads a counter";
    "fn apply_floor<S: Source>(_: &S, ns: u64) -> u64 {": "of a sealed trait; compares numbers";
    "fn clone_arc(&self) -> Arc<Self>;": "of a sealed trait; makes a new Arc";
}

reasons! {
    /// Public items of `arch`.
    ARCH:
    "pub enum Cpu {": "uninhabited";
    "pub enum Cid {": "uninhabited";
    "pub enum Outcome {": "data";
    "pub mod alternative;": "its items are in this list";
    "pub mod counter;": "its items are in this list";
    "pub mod feature;": "its items are in this list";
    "pub mod key;": "its items are in this list";
    "pub mod tsc_order;": "its items are in this list";
    "pub const RDTSCP: u8 = 1;": "a number";
    "pub const MOVBE: u8 = 2;": "a number";
    "pub const SERIALIZE: u8 = 3;": "a number";
    "pub const LFENCE_ORDERS: u8 = 4;": "a number";
    "pub fn has(feature: u8) -> bool {": "CPUID";
    "pub struct Site {": "private fields, and made of the linker's table alone";
    "pub fn at(&self) -> *mut u8 {": "returns an address and reads nothing";
    "pub fn room(&self) -> usize {": "a number";
    "pub fn default(&self) -> &'static [u8] {": "read-only data of this unit";
    "pub fn replacement(&self) -> &'static [u8] {": "read-only data of this unit";
    "pub fn feature(&self) -> u8 {": "a number";
    "pub fn sites() -> impl Iterator<Item = Site> + Clone {": "reads the linker's table";
    "pub enum Litmus {": "data";
    "pub enum Sequence {": "data";
    "pub fn choose() -> Sequence {": "reads the counter; RDTSCP runs where CPUID announces it";
    "pub fn litmus() -> Litmus {": "reads the counter by instructions that every CPU has";
    "pub fn ordered_ticks() -> u64 {": "reads the counter; RDTSCP is put there where CPUID announces it";
    "pub fn no_table() -> usize {": "0";
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

fn sources(folder: &str) -> Vec<String> {
    let mut found = Vec::new();
    files(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder),
        &mut found,
    );
    found
        .iter()
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect()
}

/// The item after each `#[doc(hidden)]`: the next line that is neither an attribute nor a comment.
fn hidden(text: &str) -> Vec<String> {
    let mut lines = text.lines().map(str::trim);
    let mut found = Vec::new();
    while lines.any(|line| line == "#[doc(hidden)]") {
        let item = lines.find(|line| !line.starts_with("#[") && !line.starts_with("//"));
        found.extend(item.map(str::to_owned));
    }
    found
}

/// Each line that begins a public item, except `pub use`.
fn public(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim);
    let public = lines.filter(|line| line.starts_with("pub ") && !line.starts_with("pub use"));
    public.map(str::to_owned).collect()
}

fn unknown(found: &[String], known: &[(&str, &str)]) -> Vec<String> {
    let is_known = |line: &&String| known.iter().any(|(name, _)| line.starts_with(name));
    found.iter().filter(|line| !is_known(line)).cloned().collect()
}

#[test]
fn every_hidden_item_has_its_reason() {
    let found: Vec<_> = sources("").iter().flat_map(|text| hidden(text)).collect();
    assert_eq!(unknown(&found, HIDDEN), [""; 0]);
    let gone = HIDDEN
        .iter()
        .find(|(name, _)| !found.iter().any(|line| line.starts_with(name)));
    assert_eq!(gone, None, "no longer hidden");
}

#[test]
fn everything_that_arch_gives_out_has_its_reason() {
    let found: Vec<_> = sources("arch").iter().flat_map(|text| public(text)).collect();
    assert_eq!(unknown(&found, ARCH), [""; 0]);
    let gone = ARCH
        .iter()
        .find(|(name, _)| !found.iter().any(|line| line.starts_with(name)));
    assert_eq!(gone, None, "no longer public");
}

/// The twin: a site that safe code can construct, as existed once.
#[test]
fn what_is_not_listed_is_seen() {
    let text = "/// A site.\n#[doc(hidden)]\n#[derive(Clone)]\npub struct Place {\n    pub at: *mut u8,\n}\n";
    assert_eq!(unknown(&hidden(text), HIDDEN), ["pub struct Place {"]);
    assert_eq!(unknown(&public(text), ARCH), ["pub struct Place {", "pub at: *mut u8,"]);
}
