//! Compilers and where their output goes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A compiler of C or of C++.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Compiler {
    pub(crate) name: &'static str,
    pub(crate) is_cxx: bool,
    /// Whether it is clang, by name: `cc` is taken for GCC, whose options it shares.
    pub(crate) is_clang: bool,
}

impl Compiler {
    const ALL: [Self; 4] = [
        Self {
            name: "cc",
            is_cxx: false,
            is_clang: false,
        },
        Self {
            name: "clang",
            is_cxx: false,
            is_clang: true,
        },
        Self {
            name: "g++",
            is_cxx: true,
            is_clang: false,
        },
        Self {
            name: "clang++",
            is_cxx: true,
            is_clang: true,
        },
    ];

    /// The compiler with the headers in its path.
    pub(crate) fn command(self) -> Command {
        let mut command = Command::new(self.name);
        command.arg("-I").arg(include());
        command
    }
}

/// Those that are installed.
pub(crate) fn compilers() -> Vec<Compiler> {
    Compiler::ALL.into_iter().filter(|c| is_installed(c.name)).collect()
}

pub(crate) fn cxx_compilers() -> Vec<Compiler> {
    compilers().into_iter().filter(|c| c.is_cxx).collect()
}

/// Whether the long forms of tests are asked for.
pub(crate) fn is_long() -> bool {
    std::env::var_os("CYCLEWISE_LONG").is_some()
}

/// This compiler's share of the modes: each mode has a compiler, and each compiler a mode. In the long form it has all.
pub(crate) fn share_of<'a, T>(
    modes: &'a [T],
    compiler: Compiler,
    compilers: &[Compiler],
) -> impl Iterator<Item = &'a T> {
    let count = compilers.len();
    let own = compilers.iter().position(|c| *c == compiler).unwrap() % count.min(modes.len());
    let modes = modes.iter().enumerate();
    modes
        .filter(move |(number, _)| is_long() || number % count == own)
        .map(|(_, mode)| mode)
}

/// Runs a check for each of these compilers, all at once.
pub(crate) fn each_of(compilers: &[Compiler], check: impl Fn(Compiler) + Sync) {
    std::thread::scope(|scope| {
        for &compiler in compilers {
            let check = &check;
            scope.spawn(move || check(compiler));
        }
    });
}

/// Whether a command is there. Prints what is skipped if not.
pub(crate) fn is_installed(name: &str) -> bool {
    let found = Command::new(name)
        .arg("--version")
        .stdin(Stdio::null())
        .output()
        .is_ok_and(|o| o.status.success());
    if !found {
        assert!(
            name != "cc" && std::env::var_os("CI").is_none_or(|v| v != "true"),
            "{name} is not installed"
        );
        println!("skipped: {name} is not installed");
    }
    found
}

pub(crate) fn include() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("include")
}

/// A file of the tests' C and C++.
pub(crate) fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(name)
}

/// A new, empty folder for one test.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("headers").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs a command; `Err` with all that it printed if it failed.
pub(crate) fn run(command: &mut Command) -> Result<String, String> {
    let Output { status, stdout, stderr } = command
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("{command:?}: {e}"))?;
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&stdout),
        String::from_utf8_lossy(&stderr)
    );
    if status.success() {
        Ok(text)
    } else {
        Err(format!("{command:?}: {status}\n{text}"))
    }
}

/// Whether the compiler can compile and link an empty program with these options.
pub(crate) fn can_link(compiler: Compiler, options: &[&str], folder: &Path) -> bool {
    let file = folder.join("empty.c");
    std::fs::write(&file, "int main(void) { return 0; }\n").unwrap();
    let language = if compiler.is_cxx { "c++" } else { "c" };
    let linked = run(compiler
        .command()
        .args(options)
        .args(["-x", language])
        .arg(&file)
        .arg("-o")
        .arg(folder.join("empty")));
    if linked.is_err() {
        println!("skipped: {} {options:?} links nothing here", compiler.name);
    }
    linked.is_ok()
}

/// Copies the headers below `folder`, with texts of some replaced. Each text must be there.
pub(crate) fn copy_headers(folder: &Path, changes: &[(&str, &str, &str)]) {
    let to = folder.join("cyclewise");
    std::fs::create_dir_all(&to).unwrap();
    for entry in std::fs::read_dir(include().join("cyclewise")).unwrap() {
        let from = entry.unwrap().path();
        let name = from.file_name().unwrap().to_string_lossy().into_owned();
        let mut text = std::fs::read_to_string(&from).unwrap();
        for (_, old, new) in changes.iter().filter(|(file, ..)| *file == name) {
            assert!(text.contains(old), "{name} has no {old}");
            text = text.replace(old, new);
        }
        std::fs::write(to.join(name), text).unwrap();
    }
}

/// Whether `ld.NAME` is there. Prints what is skipped if not. GNU ld came with the compiler; others are only tried.
pub(crate) fn is_linker_installed(name: &str) -> bool {
    let program = if name == "mold" {
        "mold".to_owned()
    } else {
        format!("ld.{name}")
    };
    let found = Command::new(&program)
        .arg("--version")
        .stdin(Stdio::null())
        .output()
        .is_ok_and(|o| o.status.success());
    if !found {
        println!("skipped: {program} is not installed");
    }
    found
}
