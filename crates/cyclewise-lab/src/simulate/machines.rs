//! Machines by name or by file.

use crate::error::{Error, Result};
use cyclewise_sim::Machine;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// A name this near to one there is was meant to be it (Jaro and Winkler's similarity).
const NEAR: f64 = 0.7;
/// Most names that an error suggests.
const SUGGESTIONS: usize = 3;

/// The preset of this name, or else the machine in the file of this name.
///
/// # Errors
/// Exit 2: there is neither, with the nearest names; or the file is no machine, with its line.
pub fn find(name: &str) -> Result<Machine> {
    if let Some(preset) = Machine::preset(name) {
        return preset.machine().map_err(|e| Error::usage(e.to_string()));
    }
    let path = Path::new(name);
    // A pipe as well: `--machine <(cyclewise simulate fit --from record.json)`.
    if std::fs::metadata(path).is_ok_and(|m| m.is_file() || m.file_type().is_fifo()) {
        let text = std::fs::read_to_string(path)
            .map_err(|e| Error::usage(format!("{name}: {e}; give a machine file that can be read")))?;
        return Machine::parse(&text, name).map_err(|e| Error::usage(e.to_string()));
    }
    let names: Vec<&str> = Machine::presets().map(|p| p.name).collect();
    Err(Error::usage(format!(
        "{name:?} is neither a machine that comes with cyclewise nor a file; {}, and `cyclewise simulate list` has them all",
        meant(name, &names)
    )))
}

/// What was probably meant.
fn meant(name: &str, names: &[&str]) -> String {
    let name = name.to_lowercase();
    let mut near: Vec<(f64, &str)> = names.iter().map(|n| (strsim::jaro_winkler(&name, n), *n)).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.retain(|(similarity, _)| *similarity >= NEAR);
    let near: Vec<&str> = near.iter().take(SUGGESTIONS).map(|(_, n)| *n).collect();
    if near.is_empty() {
        format!("there are {} of them", names.len())
    } else {
        format!("the nearest: {}", near.join(", "))
    }
}

/// Refuses a count of threads that this machine has no CPUs for.
///
/// # Errors
/// Exit 2.
pub fn check_threads(machine: &Machine, threads: &[u32], readers: u32) -> Result<()> {
    let cpus = machine.topology.cpus();
    let most = threads.iter().copied().max().unwrap_or(0);
    if u64::from(most) + u64::from(readers) <= u64::from(cpus) {
        return Ok(());
    }
    let (readers, options) = match readers {
        0 => (String::new(), "--threads"),
        n => (format!(" and {n} readers"), "--threads and --readers"),
    };
    Err(Error::usage(format!(
        "{most} threads{readers} do not fit on {}, which has {cpus} CPUs; ask for fewer with {options}",
        machine.name
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_suggested() {
        let error = find("thunderx").unwrap_err().message;
        assert!(error.contains("nearest: thunderx2"), "{error}");
        let error = find("qqqq").unwrap_err().message;
        assert!(error.contains("simulate list"), "{error}");
    }

    #[test]
    fn every_preset_is_found() {
        for preset in Machine::presets() {
            assert!(find(preset.name).is_ok(), "{}", preset.name);
        }
    }

    #[test]
    fn readers_count_as_well() {
        let machine = find("thunderx2").unwrap();
        assert!(check_threads(&machine, &[1, 224], 0).is_ok());
        let error = check_threads(&machine, &[1, 224], 1).unwrap_err().message;
        assert!(error.contains("224 threads and 1 readers"), "{error}");
    }
}
