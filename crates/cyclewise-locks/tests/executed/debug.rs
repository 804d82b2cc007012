//! Debug information: in the file, beside it, by its build id, split, shared, compressed, and not there.

use crate::compiled::{LOADED, Program, compile, options, profile, run, sites, summary};
use cyclewise_locks::counts::{Arch, Site};
use cyclewise_locks::image::Image;
use std::path::{Path, PathBuf};

/// What every way of keeping debug information gives.
const WHOLE: [&str; 2] = ["CountUp: take:3 < clone_it:9", "CountDownAndTest: give:6 < drop_it:12"];

/// What is left without any.
const SYMBOLS: [&str; 2] = ["CountUp: clone_it", "CountDownAndTest: drop_it"];

#[test]
fn in_the_file_plain_or_compressed() {
    for how in [
        &["-g"][..],
        &["-g", "-gz=zlib"],
        &["-g", "-gdwarf-4"],
        &["-g", "-static"],
    ] {
        let Some(program) = compile(how) else { continue };
        let found = summary(&profile(&program.path, &options(&[])));
        assert!(
            WHOLE.iter().all(|line| found.contains(&(*line).to_owned())),
            "{how:?}: {found:?}"
        );
    }
}

#[test]
fn without_it_the_symbol_table_and_without_that_nothing() {
    let Some(program) = compile(&[]) else { return };
    assert_eq!(summary(&profile(&program.path, &options(&[]))), SYMBOLS);
    if run(program.folder.path(), "strip", &["count"]).is_none() {
        return;
    }
    let stripped = profile(&program.path, &options(&[]));
    assert_eq!(summary(&stripped), ["CountUp: ", "CountDownAndTest: "]);
    assert!(
        stripped
            .missing
            .iter()
            .any(|m| m.contains("no function is known for 2 of 2 sites")),
        "{:?}",
        stripped.missing
    );
}

/// The functions of the program's sites: where each is, if that is known.
fn functions(program: &Program) -> Vec<Option<(u64, u64)>> {
    let image = Image::open(&program.path, Arch::X86_64, &options(&[]).limits).unwrap();
    let address = |site: Site| image.address(site.address - LOADED).unwrap();
    let function = |address| image.function(address).map(|function| (function.start, function.end));
    let sites = sites(&program.path, 1).into_iter();
    sites.map(address).map(function).collect()
}

#[test]
fn without_symbols_the_table_for_unwinding_tells_where_functions_are() {
    for (option, is_known) in [
        ("-fasynchronous-unwind-tables", true),
        ("-fno-asynchronous-unwind-tables", false),
    ] {
        let Some(program) = compile(&[option]) else { return };
        let whole = functions(&program);
        assert!(whole.len() == 2 && whole.iter().all(Option::is_some), "{whole:?}");
        if run(program.folder.path(), "strip", &["count"]).is_none() {
            return;
        }
        let expected = if is_known { whole } else { vec![None; 2] };
        assert_eq!(functions(&program), expected, "{option}");
    }
}

#[test]
fn dynamic_symbols_where_there_are_no_others() {
    let Some(program) = compile(&["-rdynamic"]) else { return };
    if run(program.folder.path(), "strip", &["count"]).is_none() {
        return;
    }
    assert_eq!(summary(&profile(&program.path, &options(&[]))), SYMBOLS);
}

/// Moves debug information to a file at `to`, and leaves a link to it.
fn split_off(folder: &Path, to: &str) -> Option<()> {
    std::fs::create_dir_all(folder.join(to).parent().unwrap()).unwrap();
    run(folder, "objcopy", &["--only-keep-debug", "count", to])?;
    run(folder, "strip", &["count"])?;
    run(folder, "objcopy", &[&format!("--add-gnu-debuglink={to}"), "count"])
}

#[test]
fn beside_the_file_by_a_link() {
    for (id, to) in [
        ("-Wl,--build-id", "count.debug"),
        ("-Wl,--build-id", ".debug/count.debug"),
        // Without a build id the checksum decides.
        ("-Wl,--build-id=none", "count.debug"),
    ] {
        let Some(program) = compile(&["-g", id]) else { return };
        let folder = program.folder.path();
        if split_off(folder, to).is_none() {
            return;
        }
        assert_eq!(summary(&profile(&program.path, &options(&[]))), WHOLE, "{id} {to}");
    }
}

#[test]
fn below_a_folder_by_the_path_of_the_file() {
    let Some(program) = compile(&["-g"]) else { return };
    let folder = program.folder.path();
    if split_off(folder, "count.debug").is_none() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let inside = std::fs::canonicalize(folder).unwrap();
    let inside = root.path().join(inside.strip_prefix("/").unwrap());
    std::fs::create_dir_all(&inside).unwrap();
    std::fs::rename(folder.join("count.debug"), inside.join("count.debug")).unwrap();
    assert_eq!(summary(&profile(&program.path, &options(&[root.path()]))), WHOLE);
}

#[test]
fn below_a_folder_by_the_build_id() {
    let Some(program) = compile(&["-g", "-Wl,--build-id=0xabcdef0123456789"]) else {
        return;
    };
    let folder = program.folder.path();
    let target = "root/.build-id/ab/cdef0123456789.debug";
    if split_off(folder, target).is_none() {
        return;
    }
    let root = folder.join("root");
    assert_eq!(summary(&profile(&program.path, &options(&[&root]))), WHOLE);
    // The twin: another program's debug information at the same place is not taken for this one's.
    let Some(other) = compile(&["-g", "-Wl,--build-id=0xabcdef0123456700"]) else {
        return;
    };
    std::fs::copy(&other.path, folder.join(target)).unwrap();
    assert_eq!(
        summary(&profile(&program.path, &options(&[&root]))),
        ["CountUp: ", "CountDownAndTest: "]
    );
}

#[test]
fn of_an_earlier_build_it_is_not_trusted() {
    let Some(program) = compile(&["-g", "-Wl,--build-id=none"]) else {
        return;
    };
    let folder = program.folder.path();
    if split_off(folder, "count.debug").is_none() {
        return;
    }
    let debug = folder.join("count.debug");
    let mut bytes = std::fs::read(&debug).unwrap();
    bytes.push(0);
    std::fs::write(&debug, bytes).unwrap();
    assert_eq!(
        summary(&profile(&program.path, &options(&[]))),
        ["CountUp: ", "CountDownAndTest: "]
    );
}

/// Names of the files with split debug information.
fn parts(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path());
    files.filter(|f| f.extension().is_some_and(|e| e == "dwo")).collect()
}

#[test]
fn in_files_that_the_compiler_left() {
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let Some(program) = compile(&["-g", version, "-gsplit-dwarf"]) else {
            return;
        };
        assert_eq!(summary(&profile(&program.path, &options(&[]))), WHOLE, "{version}");
        // Without them the skeleton has lines, and the symbol table names.
        for part in parts(program.folder.path()) {
            std::fs::remove_file(part).unwrap();
        }
        let found = summary(&profile(&program.path, &options(&[])));
        assert!(found[0].starts_with("CountUp: clone_it"), "{found:?}");
    }
}

#[test]
fn packed_into_one_file() {
    let Some(program) = compile(&["-g", "-gdwarf-4", "-gsplit-dwarf"]) else {
        return;
    };
    let folder = program.folder.path();
    if run(folder, "dwp", &["-e", "count", "-o", "count.dwp"]).is_none() {
        return;
    }
    for part in parts(folder) {
        std::fs::remove_file(part).unwrap();
    }
    assert_eq!(summary(&profile(&program.path, &options(&[]))), WHOLE);
}

#[test]
fn shared_by_several_files() {
    let Some(program) = compile(&["-g"]) else { return };
    let folder = program.folder.path();
    std::fs::copy(folder.join("count"), folder.join("second")).unwrap();
    if run(folder, "dwz", &["-m", "shared.debug", "count", "second"]).is_none() {
        return;
    }
    assert_eq!(summary(&profile(&program.path, &options(&[]))), WHOLE);
    std::fs::remove_file(folder.join("shared.debug")).unwrap();
    let without = profile(&program.path, &options(&[]));
    assert_eq!(summary(&without), SYMBOLS);
    assert!(
        without.missing.iter().any(|m| m.contains("shares with others")),
        "{:?}",
        without.missing
    );
}
