//! Files that are mangled, for each reader of this package: what the plugin left, executed files and their debug information, tables of
//! known functions. And readers that owe something, which the harness must find.

use crate::class::known::Table;
use crate::mangle::{Owes, hold, tried};
use std::time::Duration;

fn refusals(read: impl Fn(&[u8]) -> Result<usize, String> + Send + 'static) -> String {
    let owes = Owes {
        most_bytes: |file| 4096 + 8 * file,
        cpu: Duration::from_millis(100),
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
    let fault = refusals(|bytes| {
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
