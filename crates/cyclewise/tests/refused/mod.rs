//! Programs that must not compile, each with a program that differs only in the offending line and compiles.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// A rejected program, its error, and the correct program.
pub(crate) struct Case {
    /// The common lines before the offending line.
    pub(crate) before: &'static str,
    /// The offending line.
    pub(crate) wrong: &'static str,
    /// The line that compiles in its place.
    pub(crate) right: &'static str,
    /// The error's code, such as `E0133`, or part of its message if it has no code.
    pub(crate) error: &'static str,
}

/// The library, as cargo built it for this test.
pub(crate) struct Library {
    file: PathBuf,
    folder: PathBuf,
    target: Option<String>,
}

impl Library {
    /// Asks cargo once, which has already built it.
    pub(crate) fn get() -> &'static Self {
        static LIBRARY: OnceLock<Library> = OnceLock::new();
        LIBRARY.get_or_init(Self::find)
    }

    fn find() -> Self {
        let test = std::env::current_exe().unwrap();
        // TARGET/PROFILE/deps/this, or TARGET/TRIPLE/PROFILE/deps/this.
        let [folder, profile, target] = [1, 2, 3].map(|n| test.ancestors().nth(n).unwrap());
        let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
        let profile = match &*name(profile) {
            "debug" => "dev".to_owned(),
            other => other.to_owned(),
        };
        let triple = Some(name(target)).filter(|name| name.contains("-linux-"));
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .args(["build", "--quiet", "--lib", "--message-format", "json"])
            .args(["--package", env!("CARGO_PKG_NAME"), "--profile", &profile])
            .arg("--target-dir")
            .arg(if triple.is_some() {
                target.parent().unwrap()
            } else {
                target
            })
            .args(triple.iter().flat_map(|triple| ["--target", triple]))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .stdin(Stdio::null());
        let output = cargo.output().unwrap();
        assert!(output.status.success(), "{cargo:?}: {output:?}");
        let messages = String::from_utf8(output.stdout).unwrap();
        let file = messages
            .split('"')
            .find(|text| text.contains("/libcyclewise-") && text.ends_with(".rmeta"))
            .map_or_else(|| panic!("cargo names no library"), PathBuf::from);
        Self {
            file,
            folder: folder.to_owned(),
            target: triple,
        }
    }

    /// Compiles a program to the file `name` with these options, and returns its path.
    #[allow(dead_code, reason = "for one of the tests")]
    pub(crate) fn link(&self, name: &str, options: &[&str], program: &str) -> PathBuf {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let mut rustc = Command::new(Path::new(env!("CARGO")).with_file_name("rustc"));
        rustc
            .args(["--edition", "2024", "--crate-name", "program", "-o"])
            .arg(&file)
            .args(options)
            .args(std::env::var("RUSTFLAGS").unwrap_or_default().split_whitespace())
            .arg("--extern")
            .arg(format!("cyclewise={}", self.file.with_extension("rlib").display()))
            .arg("-L")
            .arg(format!("dependency={}", self.folder.display()))
            .args(self.target.iter().flat_map(|target| ["--target", target]))
            .arg("-")
            .stdin(Stdio::piped());
        let mut child = rustc.spawn().unwrap();
        child.stdin.take().unwrap().write_all(program.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success(), "{rustc:?}");
        file
    }

    /// The compiler's errors for a program, if it rejects it.
    pub(crate) fn compile(&self, program: &str) -> Result<(), String> {
        let mut rustc = Command::new(Path::new(env!("CARGO")).with_file_name("rustc"));
        rustc
            .args(["--edition", "2024", "--crate-type", "lib", "--emit", "metadata"])
            .args(["--color", "never", "-"])
            // The library's flags, such as a sanitizer, are needed for its users too.
            .args(std::env::var("RUSTFLAGS").unwrap_or_default().split_whitespace())
            .arg("--extern")
            .arg(format!("cyclewise={}", self.file.display()))
            .arg("-L")
            .arg(format!("dependency={}", self.folder.display()))
            .arg("--out-dir")
            .arg(env!("CARGO_TARGET_TMPDIR"))
            .args(self.target.iter().flat_map(|target| ["--target", target]))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = rustc.spawn().unwrap();
        child.stdin.take().unwrap().write_all(program.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() { Ok(()) } else { Err(said) }
    }
}

impl Case {
    /// The correct program compiles, and the wrong one fails for this reason only.
    pub(crate) fn check(&self, library: &Library) {
        let program = |line: &str| format!("#![allow(dead_code)]\n{}\n{line}\n", self.before);
        let right = program(self.right);
        if let Err(said) = library.compile(&right) {
            panic!("this has to compile:\n{right}\n{said}");
        }
        let wrong = program(self.wrong);
        let Err(said) = library.compile(&wrong) else {
            panic!("this must not compile:\n{wrong}");
        };
        let errors: Vec<_> = said.lines().filter(|line| line.starts_with("error")).collect();
        // The last line counts the errors.
        let (_, reasons) = errors.split_last().unwrap();
        assert!(!reasons.is_empty(), "{said}");
        assert!(
            reasons.iter().all(|reason| reason.contains(self.error)),
            "refused for another reason than {}:\n{wrong}\n{said}",
            self.error
        );
    }
}
