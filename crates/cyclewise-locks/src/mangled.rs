//! Files that are mangled, for each reader of this package: what the plugin left, executed files and their debug information, tables of
//! known functions. And readers that owe something, which the harness must find.

use crate::class::known::Table;
use crate::emulator::read_image;
use crate::image::{PerfMap, perf_map};
use crate::mangle::{Owes, hold, one, tried};
use crate::{export, record};
use cyclewise_report::export::json;
use cyclewise_report::export::table::Look;
use std::time::Duration;

fn refusals(read: impl Fn(&[u8]) -> Result<usize, String> + Send + 'static) -> String {
    refusals_within(Owes::default().cpu, read)
}

fn refusals_within(cpu: Duration, read: impl Fn(&[u8]) -> Result<usize, String> + Send + 'static) -> String {
    let owes = Owes {
        most_bytes: |file| 4096 + 8 * file,
        cpu,
        ..Owes::default()
    };
    tried(&[b"\x08\0\0\0 eight: 8\n"], owes, read).unwrap_err()
}

fn claimed(bytes: &[u8]) -> usize {
    bytes.first_chunk().map_or(0, |n| u32::from_le_bytes(*n) as usize)
}

#[test]
fn the_harness_finds_a_reader_that_panics() {
    let fault = refusals(|bytes| Ok(bytes.get(4).map_or(0, |_| usize::from(bytes[claimed(bytes)]))));
    assert!(fault.contains("panics"), "{fault}");
}

#[test]
fn the_harness_finds_a_reader_that_allocates_by_a_claimed_length() {
    let fault = refusals(|bytes| Ok(Vec::<u8>::with_capacity(claimed(bytes).min(1 << 30)).capacity().min(1)));
    assert!(fault.contains("holds"), "{fault}");
}

#[test]
fn the_harness_finds_a_reader_that_does_not_return() {
    // So short that on a slow machine good readers overstay it too.
    let fault = refusals_within(Duration::from_millis(100), |bytes| {
        while claimed(bytes) > 1000 {
            std::hint::spin_loop();
        }
        Ok(0)
    });
    assert!(fault.contains("does not return"), "{fault}");
}

#[test]
fn the_harness_finds_reasons_that_control_a_terminal_and_values_that_change() {
    let fault = refusals(|bytes| match std::str::from_utf8(bytes) {
        Ok(text) if text.contains("eight: 8") => Ok(0),
        _ => Err(String::from_utf8_lossy(bytes).into_owned()),
    });
    assert!(fault.contains("not one line"), "{fault}");
    let read = std::sync::atomic::AtomicUsize::new(0);
    let fault = refusals(move |_| Ok(read.fetch_add(1, std::sync::atomic::Ordering::Relaxed)));
    assert!(fault.contains("not as at first"), "{fault}");
}

#[test]
fn tables_of_known_functions() {
    let table: &[u8] = b"[[known]]\nfamily = \"jemalloc\"\nfunctions = [\"je_*\", \"malloc\"]\nfiles = [\"*/libjemalloc*\"]\nclass = \"lock-taken\"\n";
    hold(
        &[table, include_bytes!("../tables/known.toml")],
        Owes::default(),
        |bytes| {
            let text = std::str::from_utf8(bytes).map_err(|e| e.to_string())?;
            let mut table = Table::default();
            table.add(text, "t").map_err(|e| e.message)?;
            Ok(table.function("je_arena::lock<T>", "/lib/libjemalloc.so.2"))
        },
    );
}

#[test]
fn names_of_generated_code() {
    let map: &[u8] = b"3ef0 10 LazyCompile:~a b.js:1\n3f00 20 old\n0x3f00 8 new\n";
    hold(&[map, &perf_map::tests::dump()], Owes::default(), |bytes| {
        let map = PerfMap::parse(&String::from_utf8_lossy(bytes));
        Ok((map, PerfMap::parse_dump(bytes)))
    });
}

/// A file as the plugin makes it, with a record of each kind.
fn counts() -> Vec<u8> {
    use crate::emulator::layout as l;
    use std::mem::{offset_of, size_of};
    let mut file = vec![0; size_of::<l::Header>()];
    let add = |file: &mut Vec<u8>, head: usize, size: usize, fields: &[(usize, u64)]| {
        let at = file.len();
        file.resize(at + size, 0);
        let next = file[head..head + 8].to_vec();
        file[at..at + 8].copy_from_slice(&next);
        file[head..head + 8].copy_from_slice(&(at as u64).to_le_bytes());
        for (field, value) in fields {
            file[at + field..][..8].copy_from_slice(&value.to_le_bytes());
        }
        at
    };
    file[..8].copy_from_slice(&l::MAGIC.to_le_bytes());
    file[offset_of!(l::Header, arch)] = l::ARCH_X86_64 as u8;
    for n in 0..3 {
        let thread = add(
            &mut file,
            offset_of!(l::Header, threads),
            size_of::<l::Thread>(),
            &[(8, n), (32, 1000)],
        );
        let counts = thread + offset_of!(l::Thread, counts);
        add(
            &mut file,
            counts,
            size_of::<l::CountBlock>(),
            &[(8, 0), (16, 5), (24, 7)],
        );
        let calls = thread + offset_of!(l::Thread, calls);
        add(&mut file, calls, size_of::<l::CallBlock>(), &[(8, 1), (16, 3)]);
        add(
            &mut file,
            offset_of!(l::Header, sites),
            size_of::<l::Site>(),
            &[(8, n), (16, 0x1000 + n)],
        );
    }
    let path = offset_of!(l::Mapping, path);
    add(
        &mut file,
        offset_of!(l::Header, mappings),
        size_of::<l::Mapping>(),
        &[(path, 4), (path + 8, 0x2f2f_2f2f)],
    );
    add(
        &mut file,
        offset_of!(l::Header, blocks),
        size_of::<l::SiteBlock>(),
        &[(8, 0), (16, 2)],
    );
    let words = offset_of!(l::Header, words);
    add(
        &mut file,
        words,
        size_of::<l::WordTable>() + 4 * size_of::<l::Word>(),
        &[(8, 4), (16, 0x5000), (32, 1 << 32)],
    );
    file
}

#[test]
fn counts_of_the_plugin() {
    let good = counts();
    let read = read_image(&good).unwrap().process;
    assert_eq!((read.threads.len(), read.sites.len(), read.mappings.len()), (3, 3, 1));
    hold(&[&good], Owes::default(), |bytes| {
        let image = read_image(bytes).ok_or("no counts")?;
        for site in &image.process.sites {
            let w = site.words;
            assert_eq!(w.private + w.shared + w.unknown, site.total());
        }
        Ok(image)
    });
}

#[test]
fn threads_that_all_name_one_list_take_no_more_memory_than_one() {
    use crate::emulator::layout as l;
    use std::mem::{offset_of, size_of};
    let mut good = counts();
    // The list that the first thread names: its blocks are before all threads that follow.
    let block = size_of::<l::CountBlock>();
    let list = good.len();
    for n in 0..500 {
        let before = if n == 0 { 0 } else { good.len() - block };
        good.extend_from_slice(&(before as u64).to_le_bytes());
        good.extend_from_slice(&(n as u64 * 64).to_le_bytes());
        good.extend_from_slice(&1u64.to_le_bytes().repeat(64));
    }
    let last = good.len() - block;
    assert!(list <= last);
    for _ in 0..3000 {
        let at = good.len();
        let head = offset_of!(l::Header, threads);
        let next = good[head..head + 8].to_vec();
        good.resize(at + size_of::<l::Thread>(), 0);
        good[at..at + 8].copy_from_slice(&next);
        good[head..head + 8].copy_from_slice(&(at as u64).to_le_bytes());
        good[at + offset_of!(l::Thread, counts)..][..8].copy_from_slice(&(last as u64).to_le_bytes());
    }
    let read = one(&good, &Owes::default(), &|bytes| {
        read_image(bytes).ok_or_else(String::new)
    });
    assert!(matches!(read, Ok(Some(_))), "{:?}", read.err());
}

#[test]
fn counted_programs() {
    // What a document is made into takes memory as well.
    let printed = Owes {
        most_bytes: |file| (64 << 20) + 256 * file,
        ..Owes::default()
    };
    let good = json::pretty(&record::made_up::cplusplus()).unwrap();
    hold(&[good.as_bytes()], printed, |bytes| {
        let locks =
            record::from_str("f", std::str::from_utf8(bytes).map_err(|e| e.to_string())?).map_err(|e| e.message)?;
        let _ = export::html::render_locks(&locks);
        Ok(export::table::locks(&locks, 20, Look::new(None, true)))
    });
}
