//! How cargo was asked to build this program, so that another revision is built alike: the command line of the parent process.
//!
//! Cargo tells a benchmark neither its features nor its profile or target, but it starts the benchmark itself. What the environment and
//! files of configuration say is the same for the other build.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::process::parent_id;
use std::path::PathBuf;

/// Options of `cargo bench` that decide what code is built; `true` takes a value.
const OPTIONS: [(&str, bool); 11] = [
    ("--features", true),
    ("-F", true),
    ("--all-features", false),
    ("--no-default-features", false),
    ("--profile", true),
    ("--target", true),
    ("--config", true),
    ("-Z", true),
    ("--locked", false),
    ("--offline", false),
    ("--frozen", false),
];

#[derive(Debug, Default, PartialEq)]
pub(super) struct AsBuilt {
    /// Further arguments of `cargo bench`.
    pub(super) arguments: Vec<OsString>,
    /// Where cargo runs; `None`: here.
    pub(super) folder: Option<PathBuf>,
}

impl AsBuilt {
    /// As the cargo that runs this program was asked; `None` if none does, or if it was asked by an alias.
    pub(super) fn by_parent() -> Option<Self> {
        let of_parent = |name: &str| PathBuf::from(format!("/proc/{}/{name}", parent_id()));
        let program = std::fs::read_link(of_parent("exe")).ok()?;
        (program.file_name()? == "cargo").then_some(())?;
        let line = std::fs::read(of_parent("cmdline")).ok()?;
        let words = line.split(|byte| *byte == 0).skip(1);
        Some(Self {
            arguments: of_line(words.map(|word| OsString::from_vec(word.to_vec())))?,
            folder: std::fs::read_link(of_parent("cwd")).ok(),
        })
    }

    /// With the arguments that an option has, separated by spaces.
    pub(super) fn given(arguments: &str) -> Self {
        Self {
            arguments: arguments.split_whitespace().map(OsString::from).collect(),
            folder: None,
        }
    }
}

/// What decides, of a command line behind the program's name; `None` if it is not one of `cargo bench`.
fn of_line(words: impl Iterator<Item = OsString>) -> Option<Vec<OsString>> {
    let mut words = words.take_while(|word| word != "--");
    let (mut found, mut benches) = (Vec::new(), false);
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        benches |= text == "bench";
        let known = OPTIONS.iter().find(|(name, has_value)| {
            let joined = |rest: &str| !name.starts_with("--") || rest.starts_with('=');
            text == *name || *has_value && text.strip_prefix(name).is_some_and(joined)
        });
        let Some((name, has_value)) = known else { continue };
        let value = (*has_value && text == *name).then(|| words.next()).flatten();
        found.push(word);
        found.extend(value);
    }
    benches.then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Option<String> {
        let found = of_line(line.split(' ').map(OsString::from))?;
        let words: Vec<_> = found.iter().map(|word| word.to_string_lossy()).collect();
        Some(words.join(" "))
    }

    #[test]
    fn what_decides_the_code_is_kept_in_any_form() {
        for (line, kept) in [
            ("bench", ""),
            (
                "bench -p mine --features fast,simd --bench mine -- --features x",
                "--features fast,simd",
            ),
            (
                "--config a=1 bench -j2 --features=fast -Fx",
                "--config a=1 --features=fast -Fx",
            ),
            (
                "bench --profile thin --target x -Zunstable -Z two",
                "--profile thin --target x -Zunstable -Z two",
            ),
            (
                "bench --all-features --target-dir d --no-default-features --offline",
                "--all-features --no-default-features --offline",
            ),
        ] {
            assert_eq!(of(line).as_deref(), Some(kept), "{line}");
        }
        assert_eq!(of("b-fast"), None, "an alias");
        assert_eq!(of("run --features bench-it -- bench"), None);
    }

    #[test]
    fn what_is_given_is_separated_by_spaces() {
        let given = AsBuilt::given(" --features  fast ");
        assert_eq!(
            (given.arguments, given.folder),
            (vec!["--features".into(), "fast".into()], None)
        );
    }
}
