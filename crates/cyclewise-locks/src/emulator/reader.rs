//! Reads the file of one image, whatever is in it.
//!
//! The process that wrote it may have been killed between any two stores, and may still be writing. So every offset and every
//! length is checked, lists go towards the file's start only, and what does not fit is left out.

use super::layout::{self, Header};
use crate::counts::{
    Arch, CallPath, CodeAddress, End, LineWord, Mapping, MemoryLine, Process, Site, SystemCall, Thread, Words,
};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::mem::offset_of;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// An image, and what it has lost.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    pub process: Process,
    pub arch: Arch,
    /// The error number for which the file could not grow.
    pub lost: Option<i32>,
    /// Sites that were one too many.
    pub sites_refused: u64,
    /// Threads that were one too many.
    pub threads_refused: u64,
}

/// No count comes to this: an emulator takes a month for as many instructions. Sums over all threads of smaller ones fit.
const ABSURD: u64 = 1 << 47;

/// The file's bytes.
#[derive(Clone, Copy)]
struct File<'a> {
    bytes: &'a [u8],
    /// Bytes that records may still take. Those of a whole file lie beside each other; in a damaged one a thousand threads may name one
    /// list, and records may overlap.
    left: &'a Cell<usize>,
}

impl<'a> File<'a> {
    fn bytes(self, at: u64, len: usize) -> Option<&'a [u8]> {
        let at = usize::try_from(at).ok()?;
        self.bytes.get(at..at.checked_add(len)?)
    }

    fn long(self, at: u64, field: usize) -> Option<u64> {
        let bytes = self.bytes(at.checked_add(field as u64)?, 8)?;
        bytes.first_chunk().map(|b| u64::from_le_bytes(*b))
    }

    /// A count; 0 where it cannot be one.
    fn count(self, at: u64, field: usize) -> u64 {
        self.long(at, field).filter(|n| *n < ABSURD).unwrap_or(0)
    }

    fn word(self, at: u64, field: usize) -> Option<u32> {
        let bytes = self.bytes(at.checked_add(field as u64)?, 4)?;
        bytes.first_chunk().map(|b| u32::from_le_bytes(*b))
    }

    /// Whether there is a record at `at` that may be read; counts it.
    fn record(self, at: u64, size: usize) -> bool {
        let is_whole = self.bytes(at, size).is_some() && self.left.get() >= size;
        if is_whole {
            self.left.set(self.left.get() - size);
        }
        is_whole
    }

    /// The offsets of a list's records of `size` bytes, from the head on. `next` is at the start of each.
    fn list(self, head: u64, size: usize) -> impl Iterator<Item = u64> + use<'a> {
        let whole = move |at: u64| (at != 0 && self.record(at, size)).then_some(at);
        // Each record was there when the next one was put before it.
        std::iter::successors(whole(head), move |at| {
            let next = self.long(*at, 0)?;
            if next < *at { whole(next) } else { None }
        })
    }

    fn text(self, at: u64) -> Option<&'a [u8]> {
        let len = self.long(at, offset_of!(layout::Text, len))?.min(layout::TEXT as u64);
        let start = at.checked_add(offset_of!(layout::Text, bytes) as u64)?;
        self.bytes(start, usize::try_from(len).ok()?)
    }

    /// At most `room` bytes at `field`.
    fn code(self, at: u64, field: usize, len: u32, room: usize) -> Vec<u8> {
        let len = usize::try_from(len).unwrap_or(0).min(room);
        let bytes = at.checked_add(field as u64).and_then(|start| self.bytes(start, len));
        bytes.unwrap_or_default().to_vec()
    }
}

/// What a site's words and distances came to, by the site's index.
#[derive(Clone, Copy, Default)]
struct Tally {
    distances: [u64; 8],
    private: u64,
    shared: u64,
}

/// Reads an image; none where the file is not one.
pub fn read_image(bytes: &[u8]) -> Option<Image> {
    let left = Cell::new(bytes.len());
    let file = File { bytes, left: &left };
    if file.long(0, offset_of!(Header, magic))? != layout::MAGIC {
        return None;
    }
    let head = |field| file.long(0, field).unwrap_or(0);
    let word = |field| file.word(0, field).unwrap_or(0);
    let arch = match word(offset_of!(Header, arch)) {
        layout::ARCH_X86_64 => Arch::X86_64,
        layout::ARCH_AARCH64 => Arch::Aarch64,
        _ => return None,
    };
    let (program, arguments) = command(file, head(offset_of!(Header, command)));
    let (threads, executed) = threads(file, head(offset_of!(Header, threads)));
    let mappings = mappings(file, head(offset_of!(Header, mappings)));
    let mut tallies = BTreeMap::new();
    add_blocks(file, head(offset_of!(Header, blocks)), &mut tallies);
    let used = add_words(file, head(offset_of!(Header, words)), &mut tallies);
    let mut callers = paths(file, head(offset_of!(Header, paths)), mappings.len());
    let mut addresses = BTreeMap::new();
    let snapshot = word(offset_of!(Header, second_thread)) == 1;
    let sites = sites(file, head(offset_of!(Header, sites)), |index, site| {
        addresses.insert(index, site.address);
        site.executed = executed.get(&index).cloned().unwrap_or_default();
        let total = site.total();
        if !snapshot {
            site.before_threads = total;
        }
        site.before_threads = site.before_threads.min(total);
        let tally = tallies.get(&index).copied().unwrap_or_default();
        site.distances = tally.distances;
        let shared = tally.shared.min(total);
        let private = tally.private.min(total - shared);
        site.words = Words {
            private,
            shared,
            unknown: total - shared - private,
        };
        site.mapping = site.mapping.filter(|m| (*m as usize) < mappings.len());
        site.callers = callers.remove(&index).unwrap_or_default();
    });
    let parent = word(offset_of!(Header, parent));
    let lost = word(offset_of!(Header, lost));
    Some(Image {
        process: Process {
            pid: word(offset_of!(Header, pid)),
            parent: (parent != 0).then_some(parent),
            program,
            arguments,
            threads,
            mappings,
            sites,
            lines: hottest_lines(used, &addresses),
            end: match word(offset_of!(Header, end)) {
                layout::END_EXITED => End::Exited,
                layout::END_EXECUTED => End::Executed,
                _ => End::Unknown,
            },
        },
        arch,
        lost: (lost != 0).then_some(lost.cast_signed()),
        sites_refused: head(offset_of!(Header, sites_refused)),
        threads_refused: head(offset_of!(Header, threads_refused)),
    })
}

fn command(file: File<'_>, at: u64) -> (PathBuf, Vec<String>) {
    let text = file.text(at).unwrap_or_default();
    // Each ends with a zero; one that was cut off does not, and is kept.
    let text = text.strip_suffix(&[0]).unwrap_or(text);
    let mut words = text.split(|b| *b == 0);
    let program = words.next().unwrap_or_default().to_vec();
    let arguments = words.map(|w| String::from_utf8_lossy(w).into_owned()).collect();
    (PathBuf::from(OsString::from_vec(program)), arguments)
}

type Executed = BTreeMap<u32, Vec<(u32, u64)>>;

fn threads(file: File<'_>, head: u64) -> (Vec<Thread>, Executed) {
    use layout::Thread as T;
    let mut offsets: Vec<_> = file.list(head, size_of::<T>()).collect();
    offsets.sort_by_key(|at| file.word(*at, offset_of!(T, index)));
    let mut threads = Vec::new();
    let mut executed = Executed::new();
    for at in offsets {
        let index = u32::try_from(threads.len()).unwrap_or(u32::MAX);
        let name = file.code(at, offset_of!(T, name), 16, 16);
        let name = name.split(|b| *b == 0).next().unwrap_or_default();
        threads.push(Thread {
            tid: file.word(at, offset_of!(T, tid)).unwrap_or(0),
            name: String::from_utf8_lossy(name).into_owned(),
            instructions: file.count(at, offset_of!(T, instructions)),
            system_calls: calls(file, file.long(at, offset_of!(T, calls)).unwrap_or(0)),
        });
        for block in file.list(
            file.long(at, offset_of!(T, counts)).unwrap_or(0),
            size_of::<layout::CountBlock>(),
        ) {
            let first = file
                .long(block, offset_of!(layout::CountBlock, first))
                .unwrap_or(u64::MAX);
            for slot in 0..layout::COUNTS {
                let count = file.count(block, offset_of!(layout::CountBlock, counts) + slot * 8);
                if let (Some(site), 1..) = (site_index(first, slot), count) {
                    let all: &mut Vec<(u32, u64)> = executed.entry(site).or_default();
                    // One that lists a block twice could come to more than there is.
                    if all.last().is_none_or(|(thread, _)| *thread != index) {
                        all.push((index, count));
                    }
                }
            }
        }
    }
    (threads, executed)
}

/// The index of a site by a block's first one, where a file may say anything.
fn site_index(first: u64, slot: usize) -> Option<u32> {
    u32::try_from(first.checked_add(slot as u64)?).ok()
}

fn calls(file: File<'_>, head: u64) -> Vec<SystemCall> {
    use layout::{Call, CallBlock};
    let mut calls = Vec::new();
    for block in file.list(head, size_of::<CallBlock>()) {
        for slot in 0..layout::CALLS {
            let at = block + (offset_of!(CallBlock, calls) + slot * size_of::<Call>()) as u64;
            let count = file.count(at, offset_of!(Call, calls));
            let number = file
                .long(at, offset_of!(Call, number))
                .and_then(|n| u32::try_from(n).ok());
            if let (Some(number), 1..) = (number, count) {
                calls.push(SystemCall {
                    number,
                    calls: count,
                    locked_before: file.count(at, offset_of!(Call, locked)),
                });
            }
        }
    }
    calls.sort_by_key(|c| c.number);
    calls
}

/// By index; one whose index is not its place ends the list, so that sites find theirs.
fn mappings(file: File<'_>, head: u64) -> Vec<Mapping> {
    use layout::Mapping as M;
    let mut offsets: Vec<_> = file.list(head, size_of::<M>()).collect();
    offsets.sort_by_key(|at| file.word(*at, offset_of!(M, index)));
    let is_in_place = |(place, at): &(u32, u64)| file.word(*at, offset_of!(M, index)) == Some(*place);
    (0..)
        .zip(offsets)
        .take_while(is_in_place)
        .map(|(_, at)| {
            let path = file.text(at + offset_of!(M, path) as u64).unwrap_or_default();
            Mapping {
                path: PathBuf::from(OsString::from_vec(path.to_vec())),
                start: file.long(at, offset_of!(M, start)).unwrap_or(0),
                end: file.long(at, offset_of!(M, end)).unwrap_or(0),
                offset: file.long(at, offset_of!(M, offset)).unwrap_or(0),
            }
        })
        .collect()
}

fn sites(file: File<'_>, head: u64, mut complete: impl FnMut(u32, &mut Site)) -> Vec<Site> {
    use layout::Site as S;
    let mut sites = BTreeMap::new();
    for at in file.list(head, size_of::<S>()) {
        let word = |field| file.word(at, field).unwrap_or(0);
        let index = word(offset_of!(S, index));
        let mapping = word(offset_of!(S, mapping));
        let mut site = Site {
            address: file.long(at, offset_of!(S, address)).unwrap_or(0),
            mapping: (mapping != layout::NO_MAPPING).then_some(mapping),
            before: file.code(
                at,
                offset_of!(S, before),
                word(offset_of!(S, before_len)),
                layout::BEFORE,
            ),
            code: file.code(at, offset_of!(S, code), word(offset_of!(S, code_len)), layout::CODE),
            executed: Vec::new(),
            distances: [0; 8],
            before_threads: file.long(at, offset_of!(S, before_threads)).unwrap_or(0),
            words: Words::default(),
            callers: Vec::new(),
        };
        complete(index, &mut site);
        sites.insert(index, site);
    }
    let mut sites: Vec<_> = sites.into_values().collect();
    // qemu 7.2 shows a part of an instruction that crosses into the next page, then the whole of it, which it executes.
    let mut executed: Vec<_> = sites.iter().filter(|s| s.total() > 0).map(|s| s.address).collect();
    executed.sort_unstable();
    sites.retain(|s| s.total() > 0 || executed.binary_search(&s.address).is_err());
    sites
}

fn add_blocks(file: File<'_>, head: u64, tallies: &mut BTreeMap<u32, Tally>) {
    use layout::{SiteBlock, Tally as T};
    for block in file.list(head, size_of::<SiteBlock>()) {
        let first = file.long(block, offset_of!(SiteBlock, first)).unwrap_or(u64::MAX);
        for slot in 0..layout::TALLIES {
            let at = block + (offset_of!(SiteBlock, tallies) + slot * size_of::<T>()) as u64;
            let long = |field| file.count(at, field);
            let distances: [u64; 8] = std::array::from_fn(|class| long(offset_of!(T, distances) + class * 8));
            let (private, shared) = (long(offset_of!(T, private)), long(offset_of!(T, shared)));
            let is_used = private != 0 || shared != 0 || distances.iter().any(|d| *d != 0);
            let Some(site) = site_index(first, slot).filter(|_| is_used) else {
                continue;
            };
            let tally = tallies.entry(site).or_default();
            for (sum, distance) in tally.distances.iter_mut().zip(distances) {
                *sum = sum.saturating_add(distance);
            }
            tally.private = tally.private.saturating_add(private);
            tally.shared = tally.shared.saturating_add(shared);
        }
    }
}

/// The callers of each site, of all threads together.
fn paths(file: File<'_>, head: u64, mappings: usize) -> BTreeMap<u32, Vec<CallPath>> {
    use layout::{Caller, Path as P};
    let mut sums: BTreeMap<(u32, Vec<CodeAddress>), u64> = BTreeMap::new();
    for at in file.list(head, size_of::<P>()) {
        let caller = |slot: usize| {
            let at = at + (offset_of!(P, callers) + slot * size_of::<Caller>()) as u64;
            let mapping = file.word(at, offset_of!(Caller, mapping));
            let address = file.long(at, offset_of!(Caller, address)).filter(|a| *a != 0)?;
            Some(CodeAddress {
                address,
                mapping: mapping.filter(|m| (*m as usize) < mappings),
            })
        };
        let site = file.word(at, offset_of!(P, site)).unwrap_or(u32::MAX);
        let sum = sums
            .entry((site, (0..layout::CALLERS).map_while(caller).collect()))
            .or_default();
        *sum = sum.saturating_add(file.count(at, offset_of!(P, executed)));
    }
    let mut of_sites: BTreeMap<u32, Vec<CallPath>> = BTreeMap::new();
    for ((site, callers), executed) in sums {
        of_sites.entry(site).or_default().push(CallPath { callers, executed });
    }
    for paths in of_sites.values_mut() {
        paths.sort_by_key(|path| std::cmp::Reverse(path.executed));
    }
    of_sites
}

/// A word that was used: its address, and with the site's index in place of its address.
type UsedWord = (u64, LineWord);

/// The lines with the most executions, by their words.
fn hottest_lines(used: Vec<UsedWord>, addresses: &BTreeMap<u32, u64>) -> Vec<MemoryLine> {
    let mut lines: BTreeMap<u64, Vec<LineWord>> = BTreeMap::new();
    for (address, word) in used {
        let site = u32::try_from(word.site).ok().and_then(|index| addresses.get(&index));
        let offset = u8::try_from(address % layout::LINE).unwrap_or(0);
        let site = site.copied().unwrap_or(0);
        let word = LineWord { offset, site, ..word };
        lines.entry(address - address % layout::LINE).or_default().push(word);
    }
    let mut lines: Vec<MemoryLine> = lines
        .into_iter()
        .map(|(address, mut words)| {
            words.sort_by_key(|word| word.offset);
            MemoryLine { address, words }
        })
        .collect();
    lines.sort_by_key(|line| std::cmp::Reverse(line.executed()));
    lines.truncate(LINES);
    lines
}

/// Lines of memory that are kept.
const LINES: usize = 10;

/// Words whose life has not ended, and what every word was used for.
fn add_words(file: File<'_>, head: u64, tallies: &mut BTreeMap<u32, Tally>) -> Vec<UsedWord> {
    use layout::{Word as W, WordSite, WordTable};
    let mut used = Vec::new();
    for table in file.list(head, size_of::<WordTable>()) {
        let capacity = file.word(table, offset_of!(WordTable, capacity)).unwrap_or(0);
        if file.word(table, offset_of!(WordTable, replaced)) != Some(0) {
            continue;
        }
        for slot in 0..u64::from(capacity) {
            let at = table + size_of::<WordTable>() as u64 + slot * size_of::<W>() as u64;
            if !file.record(at, size_of::<W>()) {
                break;
            }
            let Some(address) = file.long(at, offset_of!(W, address)).filter(|a| *a != 0) else {
                continue;
            };
            let word = |field| file.word(at, field).unwrap_or(0);
            let entries = (0..layout::WORD_SITES).map(|entry| offset_of!(W, sites) + entry * size_of::<WordSite>());
            let entries: Vec<(u32, u32)> = entries
                .map(|at| {
                    (
                        word(at + offset_of!(WordSite, site)),
                        word(at + offset_of!(WordSite, count)),
                    )
                })
                .filter(|(_, count)| *count > 0)
                .collect();
            let all = entries.iter().map(|(_, count)| u64::from(*count)).sum();
            let is_shared = layout::is_shared(all, u64::from(word(offset_of!(W, by_second))));
            for (site, count) in entries {
                let tally: &mut Tally = tallies.entry(site).or_default();
                let sum = if is_shared {
                    &mut tally.shared
                } else {
                    &mut tally.private
                };
                *sum = sum.saturating_add(u64::from(count));
            }
            let executed = file.count(at, offset_of!(W, executed));
            if executed > 0 {
                let threads = file.long(at, offset_of!(W, threads)).unwrap_or(0);
                let word = LineWord {
                    offset: 0,
                    executed,
                    threads: threads.count_ones(),
                    soon_same: file.count(at, offset_of!(W, soon_same)),
                    soon_beside: file.count(at, offset_of!(W, soon_beside)),
                    site: u64::from(word(offset_of!(W, last_site))),
                };
                used.push((address, word));
            }
        }
    }
    used
}
