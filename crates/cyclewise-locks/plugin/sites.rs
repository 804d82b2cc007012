//! The sites of the image, each known by its address, its file and its bytes, so that generated code that changes is not
//! taken for what it was.

use crate::image::{self, store_bytes};
use crate::layout::{self, BEFORE, CODE};
use crate::maps::Maps;
use std::collections::HashMap;
use std::sync::atomic::Ordering;

/// Sites of one image: a program that generates code without end is counted up to here.
pub const LIMIT: usize = 200_000;

/// What tells a site from others.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    address: u64,
    mapping: u32,
    instruction: Vec<u8>,
}

/// Every site.
#[derive(Default)]
pub struct Sites {
    /// The files that they lie in.
    pub maps: Maps,
    by_key: HashMap<Key, u32>,
    records: Vec<&'static layout::Site>,
}

/// Where a site was found.
pub struct Place<'a> {
    /// The address, as the program sees it.
    pub address: u64,
    /// The index of the mapping.
    pub mapping: u32,
    /// The instruction.
    pub instruction: &'a [u8],
    /// The block before it.
    pub before: &'a [u8],
    /// The block from it on, and more.
    pub code: &'a [u8],
}

impl Sites {
    /// The site's index; none past the limit.
    pub fn find(&mut self, place: &Place<'_>) -> Option<u32> {
        let key = Key {
            address: place.address,
            mapping: place.mapping,
            instruction: place.instruction.to_vec(),
        };
        if let Some(index) = self.by_key.get(&key) {
            // A block that began earlier, or went on longer, tells more.
            let record = self.records[*index as usize];
            keep(record, place, false);
            return Some(*index);
        }
        if self.records.len() >= LIMIT {
            if let Some(header) = image::lock().header {
                header.sites_refused.fetch_add(1, Ordering::Relaxed);
            }
            return None;
        }
        let index = u32::try_from(self.records.len()).ok()?;
        let record = image::lock().add(
            |header| &header.sites,
            |site: &layout::Site| &site.next,
            |site| {
                site.index.store(index, Ordering::Relaxed);
                site.mapping.store(place.mapping, Ordering::Relaxed);
                site.address.store(place.address, Ordering::Relaxed);
                keep(site, place, true);
            },
        );
        self.records.push(record);
        self.by_key.insert(key, index);
        Some(index)
    }

    /// Writes the sites into the file of a new image.
    pub fn begin_again(&mut self) {
        self.maps.begin_again();
        for record in &mut self.records {
            let old: &layout::Site = record;
            *record = image::lock().add(
                |header| &header.sites,
                |site: &layout::Site| &site.next,
                |site| {
                    for (to, from) in [
                        (&site.index, &old.index),
                        (&site.mapping, &old.mapping),
                        (&site.before_len, &old.before_len),
                        (&site.code_len, &old.code_len),
                    ] {
                        to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
                    }
                    site.address
                        .store(old.address.load(Ordering::Relaxed), Ordering::Relaxed);
                    let bytes = |from: &[std::sync::atomic::AtomicU8]| -> Vec<u8> {
                        from.iter().map(|b| b.load(Ordering::Relaxed)).collect()
                    };
                    store_bytes(&site.before, &bytes(&old.before));
                    store_bytes(&site.code, &bytes(&old.code));
                },
            );
        }
    }

    /// Notes how often each was executed before there was a second thread.
    pub fn second_thread(&self, executed: impl Fn(u32) -> u64) {
        for (index, record) in (0..).zip(&self.records) {
            record.before_threads.store(executed(index), Ordering::Relaxed);
        }
    }
}

fn keep(record: &layout::Site, place: &Place<'_>, is_new: bool) {
    if is_new || place.before.len() > record.before_len.load(Ordering::Relaxed) as usize {
        let len = store_bytes(&record.before[..BEFORE], place.before);
        record
            .before_len
            .store(u32::try_from(len).unwrap_or(0), Ordering::Relaxed);
    }
    if is_new || place.code.len() > record.code_len.load(Ordering::Relaxed) as usize {
        let len = store_bytes(&record.code[..CODE], place.code);
        record
            .code_len
            .store(u32::try_from(len).unwrap_or(0), Ordering::Relaxed);
    }
}
