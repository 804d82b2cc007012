//! The reader of counts takes any file: it reads it, or says that it is none, and neither panics nor goes round in circles.

use crate::common::long::short_or_long;
use crate::common::{compiled, emulator};
use cyclewise_locks::emulator::{Settings, collect, prepare_folder, read_image};
use proptest::prelude::*;
use std::path::PathBuf;
use std::sync::OnceLock;

/// A file of a program with threads, system calls, words and sites.
fn image() -> Option<&'static Vec<u8>> {
    static IMAGE: OnceLock<Option<Vec<u8>>> = OnceLock::new();
    IMAGE
        .get_or_init(|| {
            let (emulator, _programs, program) = compiled("counter.c", &[])?;
            let folder = prepare_folder(&emulator, &Settings::default()).unwrap();
            let mut command = folder
                .runner()
                .unwrap()
                .command(program.as_os_str(), &["3".into(), "50".into()])
                .unwrap();
            assert!(command.output().unwrap().status.success());
            Some(std::fs::read(first_image(folder.path())).unwrap())
        })
        .as_ref()
}

fn first_image(folder: &std::path::Path) -> PathBuf {
    let entries = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let mut images: Vec<_> = entries
        .filter(|p| p.file_name().unwrap().to_string_lossy().starts_with("image-"))
        .collect();
    images.sort();
    images.remove(0)
}

#[test]
fn a_whole_file() {
    let Some(image) = image() else { return };
    let read = read_image(image).unwrap();
    assert_eq!(read.process.threads.len(), 3);
    assert!(
        read.process
            .sites
            .iter()
            .all(|s| s.words.private + s.words.shared + s.words.unknown == s.total())
    );
    assert!(read.process.sites.len() > 14);
    assert_eq!(read.lost, None);
}

#[test]
fn a_file_that_ends_anywhere() {
    let Some(image) = image() else { return };
    for len in (0..image.len()).step_by(997) {
        let read = read_image(&image[..len]);
        // The header is at the start.
        assert_eq!(read.is_some(), len >= 28, "{len} bytes");
    }
}

#[test]
fn files_that_are_none() {
    assert_eq!(read_image(b""), None);
    assert_eq!(read_image(&[0; 4096]), None);
    assert_eq!(read_image(&[255; 4096]), None);
}

#[test]
fn a_damaged_file_among_others() {
    let Some(emulator) = emulator() else { return };
    let folder = prepare_folder(&emulator, &Settings::default()).unwrap();
    std::fs::write(folder.path().join("image-0000000"), [7; 100]).unwrap();
    std::fs::write(folder.path().join("image-0000001"), [0; 100]).unwrap();
    let counts = collect(folder.path()).unwrap();
    assert_eq!(counts.processes, []);
    assert_eq!(
        counts.missing,
        ["not counted: image-0000000 cannot be read: it is damaged"]
    );
    let error = collect(&folder.path().join("no")).unwrap_err();
    assert!(error.message.contains("is not the folder of a run"), "{error}");
}

/// A change of a file: some bytes at a place are others, one of which may be an offset in the file.
fn change() -> impl Strategy<Value = (prop::sample::Index, Vec<u8>)> {
    let word = prop_oneof![
        Just(0_u64),
        Just(u64::MAX),
        Just(u64::from(u32::MAX)),
        0..400_000_u64,
        any::<u64>(),
    ];
    (
        any::<prop::sample::Index>(),
        word.prop_map(|w| w.to_le_bytes().to_vec()),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: short_or_long(100, 400), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn files_with_anything_in_them(changes in prop::collection::vec(change(), 1..60), in_front in any::<bool>()) {
        let Some(image) = image() else { return Ok(()) };
        let mut image = image.clone();
        // Most of the file is code and zeros; the records that others are found by are in front.
        let words = if in_front { 40 << 10 } else { image.len() } / 8;
        for (place, bytes) in changes {
            let at = place.index(words) * 8;
            // Not the first word, by which it would be no file at all.
            if at >= 8 {
                image[at..at + 8].copy_from_slice(&bytes);
            }
        }
        if let Some(read) = read_image(&image) {
            for site in &read.process.sites {
                let w = site.words;
                prop_assert_eq!(w.private + w.shared + w.unknown, site.total());
                prop_assert!(site.mapping.is_none_or(|m| (m as usize) < read.process.mappings.len()));
                prop_assert!(site.executed.iter().all(|(t, _)| (*t as usize) < read.process.threads.len()));
                prop_assert!(site.before_threads <= site.total());
            }
        }
    }
}
