//! What cargo says of the packages that are published, and what their manifests have to say.

use super::cargo;
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
    manifest: Value,
}

impl Metadata {
    /// Asks cargo, at first without the network.
    pub(super) fn read(root: &Path) -> Result<Self, String> {
        let (value, offline) = match ask(root, true) {
            Ok(value) => (value, true),
            Err(_) => (ask(root, false)?, false),
        };
        Self::of(&value, offline)
    }

    fn of(value: &Value, offline: bool) -> Result<Self, String> {
        let members = strings(&value["workspace_members"]);
        let packages = value["packages"].as_array().map_or(&[][..], Vec::as_slice);
        let ours = packages.iter().filter(|p| members.contains(&text(&p["id"])));
        let published: Vec<_> = ours
            // `publish = false` is an empty list of registries.
            .filter(|p| p["publish"].as_array().is_none_or(|registries| !registries.is_empty()))
            .map(|p| Package {
                name: text(&p["name"]).to_owned(),
                version: text(&p["version"]).to_owned(),
                manifest: p.clone(),
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
    let mut command = cargo(root);
    command.args(["metadata", "--locked", "--format-version", "1"]);
    command.args(["--filter-platform", &host(root)?]);
    command.args(offline.then_some("--offline"));
    let output = command
        .output()
        .map_err(|error| format!("cargo did not start: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(said
            .lines()
            .find(|line| line.starts_with("error"))
            .unwrap_or("cargo metadata failed")
            .to_owned());
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))
}

/// The platform that packages are built for here.
fn host(root: &Path) -> Result<String, String> {
    let output = cargo(root)
        .arg("-vV")
        .output()
        .map_err(|error| format!("cargo did not start: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(String::from)
        .ok_or_else(|| "cargo -vV names no host".to_owned())
}

impl Package {
    /// What a registry's page, or cargo for a user, would lack.
    pub(super) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for field in ["description", "license", "readme", "rust_version"] {
            if text(&self.manifest[field]).is_empty() {
                problems.push(format!("Cargo.toml has no {}; add it", field.replace('_', "-")));
            }
        }
        let keywords = strings(&self.manifest["keywords"]);
        if !(1..=5).contains(&keywords.len()) {
            problems.push(format!(
                "{} keywords; a registry takes up to five: name some",
                keywords.len()
            ));
        }
        let categories = strings(&self.manifest["categories"]);
        if !(1..=5).contains(&categories.len()) {
            problems.push(format!(
                "{} categories; a registry takes up to five: name some",
                categories.len()
            ));
        }
        for category in categories.iter().filter(|c| !CATEGORIES.contains(c)) {
            problems.push(format!(
                "the category `{category}` is not in CATEGORIES of xtask/src/package/metadata.rs"
            ));
        }
        problems
    }
}

/// Those of <https://crates.io/category_slugs> that fit; a registry drops others without an error.
const CATEGORIES: &[&str] = &[
    "api-bindings",
    "command-line-utilities",
    "concurrency",
    "data-structures",
    "date-and-time",
    "development-tools",
    "development-tools::ffi",
    "development-tools::profiling",
    "memory-management",
    "no-std",
    "os",
    "os::linux-apis",
    "simulation",
];

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

fn strings(value: &Value) -> Vec<&str> {
    value
        .as_array()
        .map_or(&[][..], Vec::as_slice)
        .iter()
        .map(text)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::Metadata;
    use serde_json::{Value, json};

    fn workspace(member: &Value) -> Value {
        json!({
            "packages": [
                member,
                { "id": "b", "name": "b", "version": "1.0.0", "publish": [] },
                { "id": "c", "name": "c", "version": "1.0.0", "publish": null },
            ],
            "workspace_members": ["a", "b"],
            "target_directory": "/t",
        })
    }

    fn complete() -> Value {
        json!({
            "id": "a", "name": "a", "version": "0.1.0", "publish": null,
            "description": "A.", "license": "MIT", "readme": "README.md", "rust_version": "1.95",
            "keywords": ["k"], "categories": ["concurrency"],
        })
    }

    fn problems(member: &Value) -> Vec<String> {
        let metadata = Metadata::of(&workspace(member), false).unwrap();
        assert_eq!(metadata.published.len(), 1);
        metadata.published[0].problems()
    }

    #[test]
    fn published_members_are_found_and_a_complete_one_is_fine() {
        assert_eq!(problems(&complete()), [""; 0]);
    }

    #[test]
    fn what_is_missing_or_unknown_is_named() {
        for field in ["description", "license", "readme", "rust_version"] {
            let mut member = complete();
            member[field] = Value::Null;
            let found = problems(&member);
            assert_eq!(
                found,
                [format!("Cargo.toml has no {}; add it", field.replace('_', "-"))]
            );
        }
        let mut member = complete();
        member["keywords"] = json!(["a", "b", "c", "d", "e", "f"]);
        member["categories"] = json!(["atomics"]);
        let found = problems(&member);
        assert!(
            found[0].starts_with("6 keywords") && found[1].contains("`atomics`"),
            "{found:?}"
        );
        member["categories"] = json!([]);
        assert!(problems(&member)[1].starts_with("0 categories"));
    }

    #[test]
    fn a_workspace_without_published_packages_is_an_error() {
        let mut member = complete();
        member["publish"] = json!([]);
        assert!(Metadata::of(&workspace(&member), false).is_err());
        assert!(Metadata::of(&json!({}), false).is_err());
    }
}
