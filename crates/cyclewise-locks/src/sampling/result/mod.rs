//! From what was sampled and counted to counts.
//!
//! # Invariants
//! 1. Executions of sites are shares of the counted total: a sample's weight by the sum of all weights of its event. Samples that no
//!    instruction was found for keep their share, so the sum of sites is the total less what `missing` says.

use super::image::{Image, Place};
use super::locked::Function;
use super::missing::{self, Unfound};
use super::scale::{factors, instructions};
use super::tally::Tally;
use super::totals::Totals;
use crate::counts::{Arch, Counts, Mapping, Method, Process, Site, Thread, Words};
use crate::image::{Image as CodeFile, Limits};
use cyclewise_bench::machine::lock_event::LockEvent;
use cyclewise_bench::sys::perf_record::Mapped;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// Code of a site in generated code cannot be read, and of one whose function is not known this much is.
const WITHOUT_FUNCTION: usize = 64;

/// The longest function that is read.
const LONGEST: u64 = 1 << 20;

/// Makes the counts of a run.
pub(super) fn counts(tally: Tally, totals: &Totals, events: &[LockEvent], arch: Arch) -> Counts {
    let mut maker = Maker {
        arch,
        factors: factors(&tally, totals, events),
        files: HashMap::new(),
        unfound: Unfound::default(),
    };
    let instructions = instructions(&tally, totals);
    let processes = tally
        .images
        .iter()
        .zip(instructions)
        .map(|(image, instructions)| maker.process(&tally, image, &instructions))
        .collect();
    let sampled: u64 = tally.sampled.values().sum();
    let weight: u64 = tally.weights.values().sum();
    let missing = missing::lines(&tally, totals, events, maker.unfound);
    Counts {
        method: Method::Counter {
            event: events.iter().map(|e| e.name.as_str()).collect::<Vec<_>>().join(" and "),
            period: weight.checked_div(sampled).unwrap_or(0).max(1),
        },
        arch,
        processes,
        missing,
    }
}

/// Makes processes, and remembers what could not be found.
struct Maker {
    arch: Arch,
    factors: Vec<f64>,
    files: HashMap<PathBuf, Option<CodeFile>>,
    unfound: Unfound,
}

/// A site that is being summed.
#[derive(Default)]
struct Sum {
    mapping: Option<u32>,
    before: Vec<u8>,
    code: Vec<u8>,
    by_thread: BTreeMap<u32, f64>,
    before_threads: f64,
}

impl Maker {
    fn process(&mut self, tally: &Tally, image: &Image, instructions: &[u64]) -> Process {
        let mut sums: BTreeMap<u64, Sum> = BTreeMap::new();
        let mut used: BTreeMap<usize, u32> = BTreeMap::new();
        let mut places: Vec<_> = image.places.iter().collect();
        places.sort_unstable_by_key(|(place, _)| **place);
        for (place, fallen) in places {
            let factor = self.factors[place.event];
            let weight: u64 = fallen.by_thread.values().sum();
            let Some(found) = self.found(image, place) else {
                self.unfound.unplaced += weight as f64 * factor;
                continue;
            };
            self.unfound.placed += weight as f64 * factor;
            let next = used.len() as u32;
            let mapping = place.mapping.map(|m| *used.entry(m).or_insert(next));
            let sum = sums.entry(found.address).or_default();
            sum.mapping = mapping;
            (sum.before, sum.code) = (found.before, found.code);
            for (&thread, &weight) in &fallen.by_thread {
                *sum.by_thread.entry(thread as u32).or_default() += weight as f64 * factor;
            }
            sum.before_threads += fallen.before_threads as f64 * factor;
        }
        let mut mappings: Vec<_> = used.into_iter().collect();
        mappings.sort_unstable_by_key(|(_, index)| *index);
        let threads = image.threads.iter().zip(instructions);
        Process {
            pid: image.pid,
            parent: image.parent,
            program: tally.program_of(image),
            arguments: image.arguments.clone(),
            threads: threads
                .map(|(seen, &instructions)| Thread {
                    tid: seen.tid,
                    name: seen.name.clone(),
                    instructions,
                    system_calls: Vec::new(),
                })
                .collect(),
            mappings: mappings.iter().map(|(m, _)| mapping(&image.mappings[*m])).collect(),
            sites: sums.into_iter().map(|(address, sum)| site(address, sum)).collect(),
            lines: Vec::new(),
            end: image.end,
        }
    }

    fn found(&mut self, image: &Image, place: &Place) -> Option<SiteCode> {
        let Some(index) = place.mapping else {
            self.unfound.generated = true;
            return place.exact.then(|| SiteCode {
                address: place.ip,
                before: Vec::new(),
                code: Vec::new(),
            });
        };
        let mapped = &image.mappings[index];
        let arch = self.arch;
        let file = self.file(mapped)?;
        // Addresses in the file, and back.
        let at = file.address(place.ip - mapped.start + mapped.offset)?;
        let address = |found: u64| place.ip.wrapping_add(found.wrapping_sub(at));
        let function = file.function(at).filter(|f| f.end - f.start <= LONGEST);
        let Some(range) = function.map(|f| f.start..f.end) else {
            return place.exact.then(|| SiteCode {
                address: place.ip,
                before: Vec::new(),
                code: file.bytes(at, WITHOUT_FUNCTION).unwrap_or_default(),
            });
        };
        let start = range.start;
        let bytes = file.bytes(start, (range.end - start) as usize)?;
        let function = Function {
            arch,
            start,
            bytes: &bytes,
        };
        let site = function.meant(at, place.exact)?;
        let block = function.block(site);
        let part = |from: u64, to: u64| bytes[(from - start) as usize..(to - start) as usize].to_vec();
        Some(SiteCode {
            address: address(site),
            before: part(block.start, site),
            code: part(site, block.end),
        })
    }

    fn file(&mut self, mapped: &Mapped) -> Option<&CodeFile> {
        let path = Path::new(&mapped.path);
        if !self.files.contains_key(path) {
            let limits = Limits {
                debug: false,
                ..Limits::default()
            };
            let opened = CodeFile::open(path, self.arch, &limits);
            let missing = match &opened {
                Err(why) => Some(format!("code of {}: {why}", mapped.path)),
                Ok(file) if mapped.build_id.is_some() && file.build_id != mapped.build_id => Some(format!(
                    "code of {}: the file was replaced while the program ran, by its build id",
                    mapped.path
                )),
                Ok(_) => None,
            };
            let usable = missing.is_none();
            self.unfound.files.extend(missing);
            self.files.insert(path.to_owned(), opened.ok().filter(|_| usable));
        }
        self.files.get(path)?.as_ref()
    }
}

struct SiteCode {
    address: u64,
    before: Vec<u8>,
    code: Vec<u8>,
}

fn mapping(mapped: &Mapped) -> Mapping {
    Mapping {
        path: mapped.path.clone().into(),
        start: mapped.start,
        end: mapped.start.saturating_add(mapped.length),
        offset: mapped.offset,
    }
}

fn site(address: u64, sum: Sum) -> Site {
    let executed: Vec<(u32, u64)> = sum.by_thread.into_iter().map(|(t, n)| (t, n.round() as u64)).collect();
    let all: u64 = executed.iter().map(|(_, n)| n).sum();
    Site {
        address,
        mapping: sum.mapping,
        before: sum.before,
        code: sum.code,
        executed,
        callers: Vec::new(),
        distances: [0; 8],
        before_threads: (sum.before_threads.round() as u64).min(all),
        words: Words {
            unknown: all,
            ..Words::default()
        },
    }
}

#[cfg(test)]
mod tests;
