//! Compiles C programs with `cc` against the libraries that were built with the tests, and runs them.
//!
//! `cc` is there wherever rustc is: it links with it.

#![allow(dead_code, unreachable_pub, reason = "no test program uses all of it")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, OnceLock};

/// The package.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What the build of this test has put beside it.
pub fn built(file: &str) -> PathBuf {
    let this = std::env::current_exe().expect("this program has a path");
    this.parent().expect("and is in a folder").join(file)
}

/// A folder of this test program.
pub fn scratch() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let this = std::env::current_exe().expect("this program has a path");
        let name = this.file_name().expect("a name").to_string_lossy().into_owned();
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&folder).expect("a folder for programs");
        folder
    })
}

/// How a program is linked with the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    Shared,
    Archive,
}

/// Warnings that a user's build may ask for.
pub const STRICT: &[&str] = &["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror"];

/// The arguments that link the library.
pub fn library(link: Link) -> Vec<String> {
    let so = built("libcyclewise_c.so");
    let folder = so.parent().expect("a folder").display();
    match link {
        Link::Shared => vec![
            format!("-L{folder}"),
            format!("-Wl,-rpath,{folder}"),
            "-lcyclewise_c".to_owned(),
        ],
        Link::Archive => vec![
            built("libcyclewise_c.a").display().to_string(),
            "-lpthread".to_owned(),
            "-ldl".to_owned(),
            "-lm".to_owned(),
        ],
    }
}

/// Runs `cc`.
pub fn cc(arguments: &[String]) -> Output {
    let cc = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    Command::new(cc).args(arguments).output().expect("cc runs")
}

/// Runs `cc`, which succeeds.
pub fn compile(arguments: &[String]) {
    let output = cc(arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
}

/// A path of its own for each file that is made: tests run at the same time.
pub fn fresh(name: &str) -> PathBuf {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Relaxed);
    scratch().join(format!("{number}-{name}"))
}

/// What was made of these words before, or what `make` makes now.
fn once(words: String, make: impl FnOnce() -> Result<PathBuf, String>) -> Result<PathBuf, String> {
    static MADE: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
    if let Some(made) = MADE.lock().expect("no panic inside").get(&words) {
        return Ok(made.clone());
    }
    let made = make()?;
    MADE.lock().expect("no panic inside").insert(words, made.clone());
    Ok(made)
}

/// The hooks' object, compiled with the flags that are not libraries.
pub fn hooks(flags: &[&str]) -> String {
    let of_compiler: Vec<_> = flags.iter().filter(|flag| flag.starts_with("-f")).copied().collect();
    let object = once(format!("hooks {of_compiler:?}"), || Ok(compiled_hooks(&of_compiler)));
    object.expect("it is compiled").display().to_string()
}

fn compiled_hooks(flags: &[&str]) -> PathBuf {
    let source = root().join("hooks/cyclewise-hooks.c");
    let object = fresh("cyclewise-hooks.o");
    let mut arguments = vec!["-c".to_owned(), "-O2".to_owned(), source.display().to_string()];
    arguments.extend(["-Wall", "-Wextra", "-Werror", "-fPIC", "-o"].map(str::to_owned));
    arguments.push(object.display().to_string());
    arguments.extend(flags.iter().map(|flag| (*flag).to_owned()));
    compile(&arguments);
    object
}

/// A program to be compiled.
#[derive(Clone, Debug)]
pub struct Program<'a> {
    pub source: PathBuf,
    pub link: Link,
    pub hooked: bool,
    pub flags: &'a [&'a str],
}

impl<'a> Program<'a> {
    /// A file, with the hooks.
    pub fn new(source: PathBuf, link: Link) -> Self {
        Self {
            source,
            link,
            hooked: true,
            flags: &[],
        }
    }

    /// A file of `tests/called`, with the hooks.
    pub fn called(file: &str, link: Link) -> Self {
        Self::new(root().join("tests/called").join(file), link)
    }

    /// The same without the hooks.
    pub fn unhooked(self) -> Self {
        Self { hooked: false, ..self }
    }

    /// The same with these flags.
    pub fn with<'b>(self, flags: &'b [&'b str]) -> Program<'b> {
        Program { flags, ..self }
    }

    /// Compiles it, once; what the compiler and the linker said where they failed.
    pub fn compile(&self) -> Result<PathBuf, String> {
        once(format!("{self:?}"), || self.compile_anew())
    }

    fn compile_anew(&self) -> Result<PathBuf, String> {
        let stem = self.source.file_stem().expect("a name").to_string_lossy();
        let program = fresh(&stem);
        let mut arguments: Vec<String> = STRICT.iter().map(|flag| (*flag).to_owned()).collect();
        arguments.push(format!("-I{}", root().join("include").display()));
        arguments.push(format!("-I{}", root().join("tests/called").display()));
        arguments.push(self.source.display().to_string());
        if self.hooked {
            arguments.push(hooks(self.flags));
        }
        arguments.extend(self.flags.iter().map(|flag| (*flag).to_owned()));
        arguments.push("-o".to_owned());
        arguments.push(program.display().to_string());
        arguments.extend(library(self.link));
        let output = cc(&arguments);
        if output.status.success() {
            Ok(program)
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }

    /// Compiles and runs it with these arguments.
    pub fn output(&self, arguments: &[&str]) -> Output {
        let program = self.compile().unwrap_or_else(|error| panic!("{self:?}: {error}"));
        // Cargo's path of libraries has those of an earlier build.
        let mut command = Command::new(program);
        command.env_remove("LD_LIBRARY_PATH").args(arguments);
        command.output().expect("the program runs")
    }

    /// Compiles and runs it; it ends with status 0.
    pub fn passes(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "{self:?}: {:?}\n{printed}{said}",
            output.status
        );
        printed
    }
}
