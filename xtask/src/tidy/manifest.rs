//! What the rules need of a `Cargo.toml`, read line by line: the package's name and its dependency lines.
//!
//! Comments are what one of the rules is about, and a TOML parser drops them.

/// One `Cargo.toml`.
pub(super) struct Manifest {
    pub(super) path: String,
    /// The package's name; none in a workspace without one.
    pub(super) package: Option<String>,
    pub(super) dependencies: Vec<Dependency>,
}

/// One dependency.
pub(super) struct Dependency {
    pub(super) name: String,
    pub(super) line: usize,
    /// Whether a comment stands above it, or above the unbroken run of lines it is in.
    pub(super) has_reason: bool,
    /// The folder of a dependency that lives in this tree, as the line names it.
    pub(super) path: Option<String>,
}

impl Manifest {
    pub(super) fn read(path: &str, text: &str) -> Self {
        let mut manifest = Self {
            path: path.to_owned(),
            package: None,
            dependencies: Vec::new(),
        };
        let mut table = Table::Other;
        let mut commented = false;
        let mut open = 0;
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if open > 0 {
                // The inside of a value that spans lines.
                open += brackets(line);
            } else if line.is_empty() {
                commented = false;
            } else if line.starts_with('#') {
                commented = true;
            } else if line.starts_with('[') {
                table = Table::of(line);
                if let Table::Dependency(name) = &table {
                    manifest.add(name.clone(), number, commented, None);
                }
                commented = false;
            } else if let Some((key, value)) = line.split_once('=') {
                let (key, value) = (key.trim(), value.trim());
                open = brackets(value);
                match table {
                    Table::Package if key == "name" => manifest.package = Some(unquoted(value).to_owned()),
                    Table::Dependencies => {
                        let name = key.split('.').next().unwrap_or(key);
                        manifest.add(unquoted(name).to_owned(), number, commented, path_of(line));
                    }
                    Table::Dependency(_) if key == "path" => {
                        if let Some(last) = manifest.dependencies.last_mut() {
                            last.path = Some(unquoted(value).to_owned());
                        }
                    }
                    _ => {}
                }
            }
        }
        manifest
    }

    fn add(&mut self, name: String, line: usize, has_reason: bool, path: Option<String>) {
        self.dependencies.push(Dependency {
            name,
            line,
            has_reason,
            path,
        });
    }

    /// The folder the manifest is in, from the root; empty for the root's own.
    pub(super) fn folder(&self) -> &str {
        self.path.strip_suffix("/Cargo.toml").unwrap_or("")
    }
}

/// The table a line is in, as far as the rules care.
enum Table {
    Package,
    /// `[dependencies]` and its relatives: every key is a dependency.
    Dependencies,
    /// `[dependencies.NAME]`: the table is the dependency.
    Dependency(String),
    Other,
}

impl Table {
    fn of(header: &str) -> Self {
        let header = header.split('#').next().unwrap_or(header).trim();
        let name = header.trim_start_matches('[').trim_end_matches(']').trim();
        if name == "package" {
            return Self::Package;
        }
        // `target.'cfg(...)'.dev-dependencies.NAME`: the kind is the last part or the one before it.
        match name.rsplit_once('.') {
            None if name.ends_with("dependencies") => Self::Dependencies,
            Some((_, last)) if last.ends_with("dependencies") => Self::Dependencies,
            Some((before, last)) if before.ends_with("dependencies") => Self::Dependency(unquoted(last).to_owned()),
            _ => Self::Other,
        }
    }
}

/// How many more brackets a value opens than it closes, outside strings.
fn brackets(value: &str) -> i32 {
    let mut quoted = false;
    let mut depth = 0;
    for c in value.chars() {
        match c {
            '"' => quoted = !quoted,
            '#' if !quoted => break,
            '[' | '{' if !quoted => depth += 1,
            ']' | '}' if !quoted => depth -= 1,
            _ => {}
        }
    }
    depth
}

fn unquoted(value: &str) -> &str {
    value.trim_matches(['"', '\''])
}

/// The value of `path = "..."` within a dependency's line.
fn path_of(line: &str) -> Option<String> {
    let (_, after) = line.split_once("path")?;
    let value = after.trim_start().strip_prefix('=')?.trim_start().strip_prefix('"')?;
    value.split('"').next().map(String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_of_dependencies_are_found() {
        let text = "\
[package]
name = \"a\"

[features]
default = [\"std\"]

[dependencies]
# Why b.
b = { version = \"1\", features = [
    \"x\",
] }
c = { path = \"../c\" }

d.workspace = true

[target.'cfg(target_os = \"linux\")'.dev-dependencies]
# Why e.
e = \"1\"

# Why f.
[build-dependencies.f]
path = \"../f\"
";
        let manifest = Manifest::read("crates/a/Cargo.toml", text);
        assert_eq!(manifest.package.as_deref(), Some("a"));
        assert_eq!(manifest.folder(), "crates/a");
        let read: Vec<_> = manifest
            .dependencies
            .iter()
            .map(|d| (d.name.as_str(), d.line, d.has_reason, d.path.as_deref()))
            .collect();
        assert_eq!(
            read,
            [
                ("b", 9, true, None),
                ("c", 12, true, Some("../c")),
                ("d", 14, false, None),
                ("e", 18, true, None),
                ("f", 21, true, Some("../f")),
            ]
        );
    }
}
