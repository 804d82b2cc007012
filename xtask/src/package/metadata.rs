//! What cargo says of the packages that are published.

use crate::cargo::{cargo, metadata, output};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The workspace.
pub(super) struct Metadata {
    pub(super) published: Vec<Package>,
    /// The target directory.
    pub(super) target: PathBuf,
    /// Whether everything that the packages are built from is here.
    pub(super) offline: bool,
}

/// A package that is published.
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: String,
}

impl Metadata {
    /// Asks cargo, at first without the network.
    pub(super) fn read(root: &Path) -> Result<Self, String> {
        let (value, offline) = match ask(root, true) {
            Ok(value) => (value, true),
            Err(_) => (ask(root, false)?, false),
        };
        Self::parse(&value, offline)
    }

    fn parse(value: &Value, offline: bool) -> Result<Self, String> {
        let packages = value["packages"].as_array().map_or(&[][..], Vec::as_slice);
        // Others have a registry as their source.
        let ours = packages.iter().filter(|p| p["source"].is_null());
        let published: Vec<_> = ours
            // `publish = false` is an empty list of registries.
            .filter(|p| p["publish"].as_array().is_none_or(|registries| !registries.is_empty()))
            .map(|p| Package {
                name: text(&p["name"]).to_owned(),
                version: text(&p["version"]).to_owned(),
            })
            .collect();
        if published.is_empty() {
            return Err("cargo metadata names no package that is published".to_owned());
        }
        Ok(Self {
            published,
            target: text(&value["target_directory"]).into(),
            offline,
        })
    }
}

fn ask(root: &Path, offline: bool) -> Result<Value, String> {
    let version = output(cargo(root).arg("-vV"))?;
    let said = String::from_utf8_lossy(&version);
    // The platform that packages are built for here.
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.ok_or_else(|| "cargo -vV names no host".to_owned())?;
    let offline = offline.then_some("--offline");
    metadata(root, ["--filter-platform", host].into_iter().chain(offline))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::Metadata;
    use serde_json::json;

    #[test]
    fn members_that_are_published_are_found() {
        let ours = json!({ "name": "a", "version": "0.1.0", "source": null, "publish": null });
        let private = json!({ "name": "b", "version": "1.0.0", "source": null, "publish": [] });
        let other = json!({ "name": "c", "version": "1.0.0", "source": "registry", "publish": null });
        let of = |packages: &[&serde_json::Value]| {
            Metadata::parse(&json!({ "packages": packages, "target_directory": "/t" }), false)
        };
        let metadata = of(&[&ours, &private, &other]).unwrap();
        assert_eq!(metadata.published.len(), 1);
        assert_eq!(metadata.published[0].name, "a");
        assert!(of(&[&private, &other]).is_err());
    }
}
