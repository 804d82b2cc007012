//! Inline functions of C++ in several units, by every linker: one copy stays, and its records with it.

use crate::image::{check, check_records};
use crate::tool::{
    can_link, copy_headers, cxx_compilers, each_of, folder, include, is_linker_installed, is_long, run, share_of,
    source,
};
use std::path::{Path, PathBuf};
use std::process::Command;

const LINKERS: &[&str] = &["bfd", "gold", "lld", "mold"];

/// Options of the compiler and of the linker, the latter after `-Wl,`.
const WAYS: &[&[&str]] = &[
    &["-O0"],
    &["-O2"],
    &["-O2", "-ffunction-sections", "-Wl,--gc-sections"],
    &[
        "-O2",
        "-ffunction-sections",
        "-Wl,--gc-sections",
        "-Wl,-z,start-stop-gc",
    ],
    &["-O2", "-flto"],
    &["-O2", "-fvisibility=hidden", "-fvisibility-inlines-hidden"],
    &["-O2", "-fno-pie", "-no-pie"],
    &["-O2", "-static-pie"],
    &["-O2", "-fcf-protection", "-masm=intel"],
];

/// Those of them that linkers differ in.
const BY_LINKER: [usize; 3] = [1, 3, 4];

/// The one that the short form tries with every linker and in every kind: their own ways to drop sections differ most.
const SHORT: usize = 3;

/// How the units are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Program,
    /// The first two in an archive.
    Archive,
    /// Each of the first two in a shared object of its own.
    Shared,
}

const KINDS: [Kind; 3] = [Kind::Program, Kind::Archive, Kind::Shared];

struct Link<'a> {
    compiler: &'a str,
    options: Vec<&'a str>,
    include: PathBuf,
    folder: PathBuf,
}

impl Link<'_> {
    fn command(&self) -> Command {
        let mut command = Command::new(self.compiler);
        command
            .current_dir(&self.folder)
            .arg("-I")
            .arg(&self.include)
            .args(["-std=c++11", "-Wall", "-Wextra", "-Werror"])
            .arg("-Wno-unused-command-line-argument")
            .args(&self.options);
        command
    }

    /// Compiles the units of programs, once for every kind.
    fn compile(&self) -> Result<(), String> {
        run(self.command().arg("-c").args(["main", "a", "b"].map(unit))).map(drop)
    }

    /// Links the program of what was compiled; returns the files that were linked.
    fn link(&self, kind: Kind) -> Result<Vec<PathBuf>, String> {
        let program = self.folder.join("program");
        let [main, a, b] = ["main.o", "a.o", "b.o"].map(|object| self.folder.join(object));
        let mut files = vec![program.clone()];
        let mut parts = Vec::new();
        match kind {
            Kind::Program => parts.extend([a, b]),
            Kind::Archive => {
                let archive = self.folder.join("libparts.a");
                let _ = std::fs::remove_file(&archive);
                run(Command::new("ar").arg("rc").arg(&archive).args([a, b]))?;
                parts.push(archive);
            }
            Kind::Shared => {
                for part in ["a", "b"] {
                    let object = self.folder.join(format!("lib{part}.so"));
                    // A key is hidden: each unit that tests it has its own.
                    let mut command = self.command();
                    command.args(["-fPIC", "-shared"]).arg(unit(part));
                    if part == "b" {
                        command.arg(unit("key"));
                    }
                    run(command.arg("-o").arg(&object))?;
                    files.push(object.clone());
                    parts.push(object);
                }
            }
        }
        let mut command = self.command();
        if kind == Kind::Shared {
            command.arg(format!("-Wl,-rpath,{}", self.folder.display()));
        }
        run(command.arg(main).args(parts).arg("-o").arg(program))?;
        Ok(files)
    }
}

fn unit(name: &str) -> PathBuf {
    source("linked").join(format!("{name}.cc"))
}

fn holds(files: &[PathBuf], is_static: bool) -> Result<(), String> {
    for file in files {
        // A C library that is linked in has locked instructions of its own.
        let sites = if is_static {
            check_records(file).map(|found| found.0)
        } else {
            check(file)
        };
        let sites = sites.map_err(|e| format!("{}: {e}", file.display()))?;
        assert!(sites >= 3, "{}: {sites} sites", file.display());
    }
    run(&mut Command::new(&files[0]))?;
    Ok(())
}

#[test]
fn one_copy_of_an_inline_function_stays_with_its_records() {
    let all = cxx_compilers();
    each_of(&all, |compiler| {
        for linker in LINKERS.iter().filter(|linker| is_linker_installed(linker)) {
            let chosen = format!("-fuse-ld={linker}");
            let has_linker = share_of(LINKERS, compiler, &all).any(|own| own == linker);
            for (number, way) in WAYS.iter().enumerate() {
                // What does not differ by linker is tried with one; the short form tries the rest by one compiler and one linker.
                let is_first = *linker == LINKERS[0];
                let differs = is_first || BY_LINKER.contains(&number);
                if !(is_long() && differs || is_first && compiler == all[0] || has_linker && number == SHORT) {
                    continue;
                }
                let folder = folder(&format!(
                    "linked-{}-{linker}{}",
                    compiler.name,
                    way.concat().replace(',', "")
                ));
                let link = Link {
                    compiler: compiler.name,
                    options: way.iter().copied().chain([&*chosen]).collect(),
                    include: include(),
                    folder,
                };
                let compiled = link.compile();
                for kind in KINDS {
                    if !is_long() && number != SHORT && kind != KINDS[number % 2] {
                        continue;
                    }
                    let is_position_dependent = way.contains(&"-no-pie") || way.contains(&"-static-pie");
                    if kind == Kind::Shared && is_position_dependent || kind == Kind::Archive && way.contains(&"-flto")
                    {
                        continue;
                    }
                    let held = compiled
                        .clone()
                        .and_then(|()| link.link(kind))
                        .and_then(|files| holds(&files, way.contains(&"-static-pie")));
                    if let Err(said) = held {
                        let has = can_link(compiler, &link.options, &link.folder);
                        assert!(!has, "{} {linker} {way:?} {kind:?}: {said}", compiler.name);
                        break;
                    }
                }
            }
        }
    });
}

/// Flags of a section without the one that puts it in the group of its function.
fn outside_groups(folder: &Path) {
    copy_headers(
        folder,
        &[
            ("site.h", "\\\"aR?\\\"", "\\\"aR\\\""),
            ("site.h", "\\\"a?\\\"", "\\\"a\\\""),
        ],
    );
}

/// The twin: records outside of the group refer to a section that was dropped, and no linker takes that.
#[test]
fn records_outside_of_the_group_do_not_link() {
    for compiler in cxx_compilers() {
        let folder = folder(&format!("outside-{}", compiler.name));
        let include = folder.join("headers");
        outside_groups(&include);
        let link = Link {
            compiler: compiler.name,
            options: vec!["-O2"],
            include,
            folder,
        };
        let refused = link
            .compile()
            .and_then(|()| link.link(Kind::Program))
            .and_then(|files| holds(&files, false))
            .unwrap_err();
        assert!(refused.contains("cyclewise_lock_v1"), "{refused}");
    }
}
