//! The library as rustdoc describes it in JSON.
//!
//! Stable rustdoc writes it where it is told to act as a nightly. Each version of Rust may change the format, and the reader
//! in `Cargo.toml` knows one: with another version nothing is compared.

use crate::cargo::{cargo, metadata, succeeds};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What the reader knows; Rust 1.95 writes it.
const FORMAT: u64 = 57;
const PACKAGE: &str = "cyclewise";

/// The documented library.
pub(super) struct Documented {
    pub(super) json: Value,
    /// Its public items, one a line.
    pub(super) lines: String,
    /// The package's version.
    pub(super) version: String,
}

pub(super) fn read(root: &Path) -> Result<Documented, String> {
    let (target, version) = workspace(root)?;
    // A directory of its own: packages that ask whether this is a nightly would be built again and again in a shared one.
    let target = target.join("api");
    let mut command = cargo(root);
    command.args([
        "rustdoc",
        "--quiet",
        "--locked",
        "--package",
        PACKAGE,
        "--lib",
        "--all-features",
    ]);
    command.args([
        "--",
        "-Zunstable-options",
        "--output-format",
        "json",
        "--cap-lints",
        "allow",
    ]);
    command.env("RUSTC_BOOTSTRAP", "1").env("CARGO_TARGET_DIR", &target);
    if !succeeds(&mut command, "api") {
        return Err("rustdoc failed; its own message is above".to_owned());
    }
    let path = target.join("doc").join(format!("{PACKAGE}.json"));
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let json: Value = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let format = json["format_version"].as_u64().unwrap_or(0);
    if format != FORMAT {
        return Err(format!(
            "rustdoc writes format {format} and public-api reads {FORMAT}; use Rust 1.95, or update both in xtask"
        ));
    }
    let lines = lines(&path)?;
    Ok(Documented { json, lines, version })
}

/// Whether the documentation builds as docs.rs builds it, without a warning: with every feature, and with a note at each item
/// of which feature it needs.
pub(crate) fn docs_rs(root: &Path) -> bool {
    let Ok((target, _)) = workspace(root) else { return false };
    let mut command = cargo(root);
    command.args([
        "doc",
        "--quiet",
        "--locked",
        "--package",
        PACKAGE,
        "--no-deps",
        "--all-features",
    ]);
    command.env("RUSTDOCFLAGS", "--cfg docsrs -D warnings");
    command
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_TARGET_DIR", target.join("api"));
    succeeds(&mut command, "docs.rs")
}

/// The items, without what the compiler implements for every type: `tests/api/auto_traits.rs` of the library has that.
fn lines(json: &Path) -> Result<String, String> {
    let builder = public_api::Builder::from_rustdoc_json(json);
    let items = builder.omit_blanket_impls(true).omit_auto_trait_impls(true).build();
    let items = items.map_err(|error| format!("public-api: {error}"))?;
    Ok(items.items().map(|item| format!("{item}\n")).collect())
}

/// The target directory, and the library's version.
fn workspace(root: &Path) -> Result<(PathBuf, String), String> {
    let metadata = metadata(root, ["--no-deps"])?;
    let packages = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
    let version = packages
        .iter()
        .find(|p| p["name"] == PACKAGE)
        .and_then(|p| p["version"].as_str());
    let target = metadata["target_directory"].as_str();
    match (target, version) {
        (Some(target), Some(version)) => Ok((target.into(), version.to_owned())),
        _ => Err(format!("cargo metadata does not name {PACKAGE}")),
    }
}
