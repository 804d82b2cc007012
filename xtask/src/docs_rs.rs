//! The documentation as docs.rs builds it: with every feature, and with a note at each item of which feature it needs.

use crate::cargo::{cargo, succeeds};
use std::path::Path;

/// Whether it builds without a warning.
pub(crate) fn run(root: &Path) -> bool {
    let mut command = cargo(root);
    command.args(["doc", "--quiet", "--locked", "--package", "cyclewise"]);
    command.args(["--no-deps", "--all-features"]);
    // A folder of its own: packages that ask whether this is a nightly would be built again and again in a shared one.
    let target = crate::target_folder(root).join("docs-rs");
    command.env("RUSTDOCFLAGS", "--cfg docsrs -D warnings");
    command.env("RUSTC_BOOTSTRAP", "1").env("CARGO_TARGET_DIR", target);
    succeeds(&mut command, "docs.rs")
}
