//! `cargo xtask install-c`: builds the C interface and installs it: libraries, headers, files for pkg-config, the hooks, the manual page.
//!
//! What `cargo cinstall -p cyclewise-c` installs, with cargo and a C compiler alone.

use crate::Outcome;
use crate::cargo::cargo;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    prefix: PathBuf,
    libdir: PathBuf,
    destdir: Option<PathBuf>,
}

/// The version, and what of it has to be the same for programs to run: the first number that is not 0, and those before it.
struct Version {
    full: String,
    compatible: String,
}

impl Options {
    /// Reads the arguments after `install-c`.
    ///
    /// # Errors
    /// One line that says which argument is wrong and what would be right.
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, String> {
        let (mut prefix, mut libdir, mut destdir) = (PathBuf::from("/usr/local"), None, None);
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let (name, value) = match argument.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (argument.as_str(), rest.next().cloned()),
            };
            let value = value.filter(|value| !value.is_empty()).map(PathBuf::from);
            let value = value.ok_or_else(|| format!("install-c: {name} has no folder; write {name} FOLDER"))?;
            match name {
                "--prefix" => prefix = value,
                "--libdir" => libdir = Some(value),
                "--destdir" => destdir = Some(value),
                other => {
                    return Err(format!(
                        "install-c does not know {other:?}; it takes --prefix, --libdir and --destdir, each with a folder"
                    ));
                }
            }
        }
        if !prefix.is_absolute() {
            return Err(format!(
                "install-c: the prefix {} is not absolute; write all of it, since pkg-config's file names it",
                prefix.display()
            ));
        }
        let libdir = prefix.join(libdir.unwrap_or_else(|| PathBuf::from("lib")));
        Ok(Self {
            prefix,
            libdir,
            destdir,
        })
    }

    /// Where a folder is while it is installed.
    fn staged(&self, folder: &Path) -> PathBuf {
        match &self.destdir {
            Some(destdir) => destdir.join(folder.strip_prefix("/").unwrap_or(folder)),
            None => folder.to_owned(),
        }
    }
}

/// Builds and installs.
///
/// # Errors
/// One line: the file or the command that failed.
pub(crate) fn run(root: &Path, options: &Options) -> Result<Outcome, String> {
    let package = root.join("crates/cyclewise-c");
    let version = Version::read(root)?;
    let libraries = options.staged(&options.libdir);
    let share = options.staged(&options.prefix.join("share"));
    let include = options.staged(&options.prefix.join("include/cyclewise"));

    let soname = format!("libcyclewise.so.{}", version.compatible);
    let shared = format!("libcyclewise.so.{}", version.full);
    let built = build(root, &soname)?;
    install(&built.join("libcyclewise_c.so"), &libraries.join(&shared))?;
    for name in [&*soname, "libcyclewise.so"] {
        symlink(&shared, &libraries.join(name))?;
    }
    install(&built.join("libcyclewise_c.a"), &libraries.join("libcyclewise.a"))?;

    for header in files(&package.join("include/cyclewise"))? {
        install(&header, &include.join(header.file_name().unwrap_or_default()))?;
    }
    for page in files(&package.join("man"))? {
        install(
            &page,
            &share.join("man/man3").join(page.file_name().unwrap_or_default()),
        )?;
    }
    let descriptions = options.libdir.join("pkgconfig");
    let staged = options.staged(&descriptions);
    for file in files(&package.join("pkgconfig"))? {
        let text = fs::read_to_string(&file).map_err(|e| format!("install-c: {}: {e}", file.display()))?;
        // cargo-c puts it below `share`, where this is relative.
        let text = text.replace(
            "datadir=${pcfiledir}/..",
            &format!("datadir={}", options.prefix.join("share").display()),
        );
        write(&staged.join(file.file_name().unwrap_or_default()), &text)?;
    }
    write(&staged.join("cyclewise.pc"), &pkg_config(options, &version))?;
    compile_hooks(&package, &share.join("cyclewise/cyclewise-hooks.o"))?;
    println!(
        "install-c: cyclewise {} is in {}; where that is not searched: export PKG_CONFIG_PATH={} LD_LIBRARY_PATH={}",
        version.full,
        options.staged(&options.prefix).display(),
        descriptions.display(),
        options.libdir.display()
    );
    Ok(Outcome::Passed)
}

impl Version {
    /// The workspace's.
    fn read(root: &Path) -> Result<Self, String> {
        let path = root.join("Cargo.toml");
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let line = text.lines().find_map(|line| line.strip_prefix("version = \""));
        let full = line.and_then(|line| line.split('"').next());
        let full = full.ok_or_else(|| format!("{}: no version", path.display()))?;
        Ok(Self::parse(full))
    }

    fn parse(full: &str) -> Self {
        let mut numbers = full.split('.');
        let zeros = numbers.position(|number| number != "0").unwrap_or(2);
        let compatible: Vec<_> = full.split('.').take(zeros + 1).collect();
        Self {
            full: full.to_owned(),
            compatible: compatible.join("."),
        }
    }
}

/// Builds both libraries in a folder of their own, where other builds of the package do not replace them.
fn build(root: &Path, soname: &str) -> Result<PathBuf, String> {
    let target = crate::target_folder(root).join("install-c");
    let mut command = cargo(root);
    command.args(["rustc", "--release", "--locked", "--package", "cyclewise-c"]);
    command.args(["--lib", "--crate-type", "cdylib,staticlib", "--target-dir"]);
    command
        .arg(&target)
        .args(["--", "-C", &format!("link-arg=-Wl,-soname,{soname}")]);
    done(&mut command, "cargo rustc")?;
    Ok(target.join("release"))
}

/// Compiles the hooks with `CC`, or `cc`.
fn compile_hooks(package: &Path, object: &Path) -> Result<(), String> {
    folder_of(object)?;
    let cc = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let mut command = Command::new(cc);
    command.args(["-c", "-O2", "-fPIC", "-o"]).arg(object);
    done(command.arg(package.join("hooks/cyclewise-hooks.c")), "cc")
}

fn done(command: &mut Command, name: &str) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("install-c: {name} failed ({status}); its own message is above")),
        Err(error) => Err(format!(
            "install-c: {name} cannot be run ({error}); install it, or name a C compiler in CC"
        )),
    }
}

/// The file for pkg-config. A program that is linked with the archive needs what Rust's standard library does.
fn pkg_config(options: &Options, version: &Version) -> String {
    format!(
        "prefix={}\nlibdir={}\nincludedir=${{prefix}}/include\n\nName: cyclewise\n\
         Description: Linux's hot-path primitives for userspace\nVersion: {}\nLibs: -L${{libdir}} -lcyclewise\n\
         Libs.private: -lutil -lrt -lpthread -lm -ldl -lc\nCflags: -I${{includedir}}\n",
        options.prefix.display(),
        options.libdir.display(),
        version.full
    )
}

/// The files of a folder, in order.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("install-c: {}: {e}", folder.display()))?;
    let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.is_file());
    files.sort();
    Ok(files)
}

fn folder_of(file: &Path) -> Result<(), String> {
    let folder = file.parent().unwrap_or(file);
    let why = |e| {
        format!(
            "install-c: {}: {e}; choose a --prefix that may be written",
            folder.display()
        )
    };
    fs::create_dir_all(folder).map_err(why)
}

/// Copies a file beside its destination and renames it, so that programs that have the old one mapped keep it.
fn install(from: &Path, to: &Path) -> Result<(), String> {
    folder_of(to)?;
    let new = to.with_extension("new");
    let copied = fs::copy(from, &new).and_then(|_| fs::rename(&new, to));
    copied.map_err(|e| format!("install-c: {}: {e}", to.display()))
}

fn write(to: &Path, text: &str) -> Result<(), String> {
    folder_of(to)?;
    fs::write(to, text).map_err(|e| format!("install-c: {}: {e}", to.display()))
}

fn symlink(target: &str, link: &Path) -> Result<(), String> {
    let _ = fs::remove_file(link);
    std::os::unix::fs::symlink(target, link).map_err(|e| format!("install-c: {}: {e}", link.display()))
}

#[cfg(test)]
mod tests {
    use super::{Options, Version};
    use std::path::Path;

    fn parse(arguments: &[&str]) -> Result<Options, String> {
        Options::parse(&arguments.iter().map(|a| (*a).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn options_have_folders() {
        let options = parse(&["--prefix=/usr", "--libdir", "lib/a", "--destdir", "/stage"]).unwrap();
        assert_eq!(options.libdir, Path::new("/usr/lib/a"));
        assert_eq!(options.staged(&options.libdir), Path::new("/stage/usr/lib/a"));
        assert_eq!(parse(&[]).unwrap().libdir, Path::new("/usr/local/lib"));
    }

    #[test]
    fn wrong_options_are_refused() {
        for wrong in ["--prefix", "--prefix=", "--prefix usr", "--where /usr", "usr"] {
            assert!(parse(&wrong.split(' ').collect::<Vec<_>>()).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_soname_has_the_numbers_that_make_programs_incompatible() {
        for (full, compatible) in [("0.1.0", "0.1"), ("0.0.3", "0.0.3"), ("1.2.3", "1"), ("12.0.0", "12")] {
            assert_eq!(Version::parse(full).compatible, compatible);
        }
    }
}
