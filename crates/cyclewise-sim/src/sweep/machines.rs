//! Finds machines by name or file.

use crate::Machine;
use cyclewise_bench::error::{Error, Result};
use cyclewise_bench::record::read_text;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Least Jaro–Winkler similarity of a suggested name.
const NEAR: f64 = 0.7;
/// The most names that an error suggests.
const SUGGESTIONS: usize = 3;

/// A machine, and its description.
pub(crate) struct Source {
    /// The machine.
    pub machine: Machine,
    /// The text of its file.
    pub text: String,
    /// Whether it is built in.
    pub is_preset: bool,
}

/// The preset named `name`, or the machine in the file `name`.
///
/// # Errors
/// Exit 2: neither exists (the error suggests names), or the file is not a machine file (the error has the line).
pub(crate) fn find(name: &str) -> Result<Machine> {
    source(name).map(|source| source.machine)
}

/// As [`find`], with the file's text.
///
/// # Errors
/// As [`find`].
pub(crate) fn source(name: &str) -> Result<Source> {
    if let Some(preset) = Machine::preset(name) {
        return Ok(Source {
            machine: preset.machine().map_err(|e| Error::usage(e.to_string()))?,
            text: preset.text.to_owned(),
            is_preset: true,
        });
    }
    let path = Path::new(name);
    // A pipe is allowed: `--machine <(cyclewise simulate fit --from record.json)`.
    if std::fs::metadata(path).is_ok_and(|m| m.is_file() || m.file_type().is_fifo()) {
        let text = read_text(path).map_err(|e| Error::usage(format!("{name}: {e}; name a readable machine file")))?;
        let machine = Machine::parse(&text, name).map_err(|e| Error::usage(e.to_string()))?;
        return Ok(Source {
            machine,
            text,
            is_preset: false,
        });
    }
    let names: Vec<&str> = Machine::presets().map(|p| p.name).collect();
    Err(Error::usage(format!(
        "{name:?} is neither a built-in machine nor a file; {}`cyclewise simulate list` lists all machines",
        suggestion(name, &names)
    )))
}

/// The names that were probably meant, if any are similar.
fn suggestion(name: &str, names: &[&str]) -> String {
    let name = name.to_lowercase();
    let mut near: Vec<(f64, &str)> = names.iter().map(|n| (strsim::jaro_winkler(&name, n), *n)).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.retain(|(similarity, _)| *similarity >= NEAR);
    let near: Vec<&str> = near.iter().take(SUGGESTIONS).map(|(_, n)| *n).collect();
    if near.is_empty() {
        String::new()
    } else {
        format!("did you mean {}? ", near.join(", "))
    }
}

/// Rejects more threads than the machine has CPUs.
///
/// # Errors
/// Exit 2.
pub(crate) fn check_threads(machine: &Machine, threads: &[u32], readers: u32) -> Result<()> {
    let cpus = machine.cpus();
    let most = threads.iter().copied().max().unwrap_or(0);
    if u64::from(most) + u64::from(readers) <= u64::from(cpus) {
        return Ok(());
    }
    let (readers, options) = match readers {
        0 => (String::new(), "--threads"),
        n => (format!(" and {n} readers"), "--threads and --readers"),
    };
    Err(Error::usage(format!(
        "{most} threads{readers} do not fit on {}, which has {cpus} CPUs; reduce {options}",
        machine.name
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_suggested() {
        let error = find("thunderx").unwrap_err().message;
        assert!(error.contains("did you mean thunderx2? "), "{error}");
        let error = find("qqqq").unwrap_err().message;
        assert!(error.contains("simulate list"), "{error}");
    }

    #[test]
    fn readers_count_as_well() {
        let machine = find("thunderx2").unwrap();
        assert!(check_threads(&machine, &[1, 224], 0).is_ok());
        let error = check_threads(&machine, &[1, 224], 1).unwrap_err().message;
        assert!(error.contains("224 threads and 1 readers"), "{error}");
    }
}
