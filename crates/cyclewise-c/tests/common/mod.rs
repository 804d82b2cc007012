//! Compiles C programs with `cc` against the libraries that were built with the tests, and runs them.
//!
//! `cc` is there wherever rustc is: it links with it.

#![allow(dead_code, unreachable_pub, reason = "no test program uses all of it")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
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
pub fn cc<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Output {
    let cc = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    Command::new(cc).args(arguments).output().expect("cc runs")
}

/// Runs `cc`, which succeeds.
#[track_caller]
pub fn compile<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) {
    let output = cc(arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

/// The same, linked with the library.
#[track_caller]
pub fn compile_with(arguments: &[&str], link: Link) {
    let library = library(link);
    compile(arguments.iter().copied().chain(library.iter().map(String::as_str)));
}

/// The option that finds the headers.
pub fn include() -> String {
    format!("-I{}", root().join("include").display())
}

/// The path of a file of `tests/called`.
pub fn called(file: &str) -> String {
    root().join("tests/called").join(file).display().to_string()
}

/// A new file with this text.
pub fn written(name: &str, text: &str) -> String {
    let path = fresh(name);
    std::fs::write(&path, text).expect("a file");
    path
}

/// What a program does with these arguments. Cargo's path of libraries has those of an earlier build.
pub fn run(command: &mut Command) -> Output {
    command
        .env_remove("LD_LIBRARY_PATH")
        .output()
        .expect("the program runs")
}

/// A path of its own for each file that is made: tests run at the same time.
pub fn fresh(name: &str) -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Relaxed);
    scratch().join(format!("{number}-{name}")).display().to_string()
}

/// What was made of these words before, or what `make` makes now.
fn once(words: String, make: impl FnOnce() -> Result<String, String>) -> Result<String, String> {
    static MADE: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
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
    object.expect("it is compiled")
}

/// The source of the hooks.
pub fn hooks_source() -> String {
    root().join("hooks/cyclewise-hooks.c").display().to_string()
}

fn compiled_hooks(flags: &[&str]) -> String {
    let (source, object) = (hooks_source(), fresh("cyclewise-hooks.o"));
    let arguments = [
        "-c", "-O2", &source, "-Wall", "-Wextra", "-Werror", "-fPIC", "-o", &object,
    ];
    compile(arguments.iter().chain(flags));
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
    pub fn compile(&self) -> Result<String, String> {
        once(format!("{self:?}"), || self.compile_anew())
    }

    fn compile_anew(&self) -> Result<String, String> {
        let stem = self.source.file_stem().expect("a name").to_string_lossy();
        let program = fresh(&stem);
        let (source, beside) = (self.source.display().to_string(), format!("-I{}", called("")));
        let hooks = self.hooked.then(|| hooks(self.flags));
        let include = include();
        let mut arguments = [STRICT, &[&include, &beside, &source]].concat();
        arguments.extend(hooks.as_deref());
        arguments.extend(self.flags);
        let library = library(self.link);
        let library = library.iter().map(String::as_str);
        let output = cc(arguments.into_iter().chain(["-o", &program]).chain(library));
        if output.status.success() {
            Ok(program)
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }

    /// Compiles and runs it with these arguments.
    pub fn output(&self, arguments: &[&str]) -> Output {
        let program = self.compile().unwrap_or_else(|error| panic!("{self:?}: {error}"));
        run(Command::new(program).args(arguments))
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
