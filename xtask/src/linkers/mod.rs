//! Links a probe with every linker there is, in every way a program is linked, and checks the table of LOCK sites.
//!
//! Checked of each: every record points at a LOCK-prefixed instruction, every such instruction of our atomics has one
//! record, the link unit's note leads to its descriptor, and the file, run, counts as many sites and elides all of them, or none
//! for the documented reason. What is linked
//! statically uses the C library's registration for per-CPU data as well as what is not.

mod image;
mod probe;
mod way;

use crate::Outcome;
use image::Image;
use probe::Report;
use std::io::Write;
use std::path::Path;
use way::{Artifact, BUILDS, KINDS, LINKERS, Linker, Way};

/// What the command line asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    quick: bool,
    linkers: Vec<Linker>,
}

impl Options {
    /// Reads the arguments after `linkers`.
    ///
    /// # Errors
    /// One line that says which argument is wrong and what would be right.
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, String> {
        let (flags, names): (Vec<_>, Vec<_>) = arguments.iter().partition(|a| *a == "--quick");
        let known = |name: &String| LINKERS.iter().any(|l| l.name == name);
        if let Some(unknown) = names.iter().find(|name| !known(name)) {
            return Err(format!(
                "linkers does not know {unknown:?}; it takes --quick and any of {}",
                LINKERS.map(|l| l.name).join(", ")
            ));
        }
        let wanted = |linker: &Linker| names.is_empty() || names.iter().any(|name| *name == linker.name);
        Ok(Self {
            quick: !flags.is_empty(),
            linkers: LINKERS.into_iter().filter(wanted).collect(),
        })
    }
}

/// Checks the linkers that are wanted and there.
///
/// # Errors
/// Where the probe's package cannot be written.
pub(crate) fn run(root: &Path, options: &Options) -> Result<Outcome, String> {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")) {
        println!("linkers: nothing checked: only x86-64 Linux with glibc has LOCK prefixes and single mode");
        return Ok(Outcome::Impossible);
    }
    let folder = crate::target_folder(root).join("linkers");
    probe::write(root, &folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    print!("{:<9} {:<5} units", "linker", "lto");
    KINDS.iter().for_each(|(_, output)| print!("  {output:<15}"));
    println!();
    let (mut missing, mut failures) = (Vec::new(), Vec::new());
    for &linker in &options.linkers {
        if let Some(why) = linker.missing() {
            missing.push(why);
            continue;
        }
        for (lto, units, _) in BUILDS.into_iter().filter(|(.., quick)| *quick || !options.quick) {
            print!("{:<9} {lto:<5} {units:>5}", linker.name);
            for (kind, output) in KINDS {
                let _ = std::io::stdout().flush();
                let way = Way {
                    linker,
                    kind,
                    lto,
                    units,
                };
                let cell = check(&folder, &way).unwrap_or_else(|why| {
                    failures.push(format!("{} {lto} {units} {output}: {why}", linker.name));
                    "FAILED".to_owned()
                });
                print!("  {cell:<15}");
            }
            println!();
        }
    }
    failures
        .iter()
        .for_each(|failure| println!("linkers: FAILED: {failure}"));
    missing.iter().for_each(|why| println!("linkers: not checked: {why}"));
    Ok(match (&*failures, &*missing) {
        ([], []) => Outcome::Passed,
        ([], _) => Outcome::Impossible,
        _ => Outcome::Failed,
    })
}

/// Links, decodes and runs; how many sites there are and what became of LOCK.
fn check(folder: &Path, way: &Way) -> Result<String, String> {
    let file = probe::link(folder, way)?;
    let image = image::check(&file)?;
    // gold takes `-static -pie` for `-static`.
    let is_gold = way.linker.name == "gold";
    let expected = Image {
        sites: image.sites,
        linker: way.linker.signature,
        is_fixed: way.kind == Artifact::Fixed || is_gold && way.kind == Artifact::Static,
        has_interpreter: matches!(way.kind, Artifact::Pie | Artifact::Fixed),
    };
    if image != expected {
        return Err(format!("not what was asked for: {image:?}"));
    }
    let report = match way.kind {
        Artifact::Object => Report::run(&probe::dynamic(folder), Some(&file))?,
        _ => Report::run(&file, None)?,
    };
    let outcome = expect(way.kind, image.sites, &report)?;
    if way.kind == Artifact::Static {
        same_percpu(&report, &Report::run(&probe::dynamic(folder), None)?)?;
    }
    let fixed = if is_gold && image.is_fixed && way.kind == Artifact::Static {
        ", fixed"
    } else {
        ""
    };
    Ok(format!("{} {outcome}{fixed}", image.sites))
}

/// Whether per-CPU data goes by the same whether the C library is linked statically or not.
fn same_percpu(report: &Report, dynamic: &Report) -> Result<(), String> {
    if report.percpu == dynamic.percpu {
        Ok(())
    } else {
        Err(format!(
            "per-CPU data goes by {}, and dynamic by {}",
            report.percpu, dynamic.percpu
        ))
    }
}

/// What became of LOCK, where the report is what the documents promise of a file with so many sites.
fn expect(kind: Artifact, sites: usize, report: &Report) -> Result<&'static str, String> {
    let (outcome, elided) = match kind {
        // The object's sites are elided by the program that loads it.
        Artifact::Pie | Artifact::Fixed | Artifact::Object => ("elided", sites),
        Artifact::Static => ("Unwatched", 0),
    };
    if report.sites == sites && report.elided == elided && report.outcome.starts_with(outcome) {
        Ok(outcome)
    } else {
        Err(format!("the file has {sites} sites; it says {report:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(&line.split_whitespace().map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn linkers_are_named_or_all() {
        assert_eq!(parse("").unwrap().linkers, LINKERS);
        let options = parse("mold --quick").unwrap();
        assert!(options.quick);
        assert_eq!(options.linkers, [LINKERS[4]]);
        assert!(parse("ld").unwrap_err().contains("rust-lld, bfd, gold, lld, mold"));
    }

    #[test]
    fn what_is_expected_depends_on_what_was_linked() {
        let expect = |kind, sites, line: &str| expect(kind, sites, &Report::parse(line).unwrap()).is_ok();
        let all = "sites=3 elided=3 percpu=Rseq outcome=elided";
        assert!(expect(Artifact::Pie, 3, all));
        let refused = "sites=3 elided=0 percpu=Rseq outcome=Unwatched";
        assert!(expect(Artifact::Static, 3, refused));
        assert!(!expect(Artifact::Static, 3, all));
        assert!(!expect(Artifact::Fixed, 4, all));
        assert!(expect(Artifact::Object, 3, all));
        assert!(!expect(Artifact::Object, 3, refused));
    }

    #[test]
    fn a_static_program_that_cannot_find_its_registration_is_seen() {
        let [rseq, portable] = ["Rseq", "Portable"]
            .map(|percpu| Report::parse(&format!("sites=1 elided=0 percpu={percpu} outcome=Unwatched")).unwrap());
        assert_eq!(same_percpu(&rseq, &rseq), Ok(()));
        assert!(same_percpu(&portable, &rseq).unwrap_err().contains("Portable"));
    }
}
