//! `truth elide FILE --into COPY`: a copy of a program or library in which proven LOCK prefixes are DS prefixes, which do nothing.
//!
//! This is for tests of the forecast alone: the time that a program takes without LOCK is the truth that the forecast is compared with. It
//! is no way to run programs. A process that uses copies **is wrong on more than one CPU**, or where it shares memory with a process
//! elsewhere: run it by `taskset -c 0`. On one CPU an instruction is not divided by an interrupt, so that LOCK adds nothing.
//!
//! XCHG locks without a prefix and stays, as do sites that are not proven and fences; the table says how many there are of each.
//! Code that a program makes while it runs (V8's, for one) is in no file.
//!
//! `site` says what an instruction is, `ranges` where functions are, `proof` which sites are proven, and `image` writes the copy.

mod image;
mod proof;
mod ranges;
mod site;
#[cfg(test)]
mod tests;

use crate::Outcome;
use image::{Image, tally};
use object::Object;
use std::path::{Path, PathBuf};

/// What the command line asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    file: PathBuf,
    into: Option<PathBuf>,
    list: bool,
}

impl Options {
    /// Reads the arguments after `elide`.
    ///
    /// # Errors
    /// One line that says which argument is wrong and what would be right.
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, String> {
        let (mut file, mut into, mut list) = (None, None, false);
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--list" => list = true,
                "--into" => {
                    into = Some(
                        arguments
                            .next()
                            .ok_or("elide: --into takes the name of the copy")?
                            .into(),
                    )
                }
                option if option.starts_with('-') => {
                    return Err(format!(
                        "elide does not know {option}; it takes FILE, --into COPY and --list"
                    ));
                }
                name if file.is_none() => file = Some(name.into()),
                other => return Err(format!("elide takes one FILE, and {other:?} is another one")),
            }
        }
        let file = file.ok_or("elide takes a FILE")?;
        if into.is_none() && !list {
            return Err("elide takes --into COPY, --list, or both".to_owned());
        }
        Ok(Self { file, into, list })
    }
}

/// Lists the sites, writes the copy, and prints numbers, as the options say.
///
/// # Errors
/// One line, where the file cannot be read or the copy cannot be written.
pub(crate) fn run(options: &Options) -> Result<Outcome, String> {
    let image = Image::read(&options.file)?;
    if options.list {
        println!("address\toffset\tkind\toutcome\tinstruction\tbytes");
        for found in &image.sites {
            let at = found.offset as usize;
            let bytes: String = image.bytes[at..at + found.site.length]
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            println!(
                "{:#x}\t{:#x}\t{}\t{}\t{:?}\t{bytes}",
                found.site.address,
                found.offset,
                found.site.kind,
                found.outcome(),
                found.site.mnemonic
            );
        }
    }
    if let Some(into) = &options.into {
        image.write(&options.file, into)?;
    }
    for (outcome, kind, count) in tally(&image.sites) {
        println!("{count:7} {kind:9} {outcome}");
    }
    Ok(Outcome::Passed)
}

/// Writes the copy; returns how many prefixes it lacks.
///
/// # Errors
/// As of [`run`].
pub(crate) fn copy(file: &Path, into: &Path) -> Result<usize, String> {
    Image::read(file)?.write(file, into)
}

/// Whether the file names a dynamic linker, and so has libraries.
///
/// # Errors
/// One line, where it cannot be read as a program.
pub(crate) fn is_dynamic(file: &Path) -> Result<bool, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let bytes = std::fs::read(file).map_err(|error| wrong(&error))?;
    let program = object::File::parse(&*bytes).map_err(|error| wrong(&error))?;
    Ok(program.section_by_name(".interp").is_some())
}
