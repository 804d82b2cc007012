//! Ways in which a record's file comes to be wrong, each with the kinds of problem that it may be called.

use flate2::Compression;
use flate2::write::GzEncoder;
use rand::{Rng, RngExt};
use rand_xoshiro::Xoshiro256PlusPlus as Dice;
use std::io::Write;

/// One way.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// The names of the problems in a fleet's JSON.
    pub(crate) problems: &'static [&'static str],
    /// Makes the file's bytes from a record's text.
    pub(crate) mangle: fn(&str, &mut Dice) -> Vec<u8>,
}

const TORN: &[&str] = &["torn"];
const MANGLED: &[&str] = &["mangled"];
const FOREIGN: &[&str] = &["foreign"];

/// All ways.
pub(crate) const KINDS: &[Kind] = &[
    kind("empty", TORN, |_, _| Vec::new()),
    kind("cut", TORN, |text, dice| {
        text.as_bytes()[..within(1, text.len() - 2, dice)].to_vec()
    }),
    kind("cut-gzip", TORN, |text, dice| {
        let mut bytes = packed(text);
        bytes.truncate(within(20, bytes.len(), dice));
        bytes
    }),
    kind("flipped-gzip", TORN, |text, dice| {
        let mut bytes = packed(text);
        let at = within(20, bytes.len(), dice);
        bytes[at] ^= 1 << dice.random_range(0..8);
        bytes
    }),
    kind("zeros", TORN, |text, _| vec![0; text.len()]),
    kind("zeros-at-the-end", MANGLED, |text, dice| {
        let mut bytes = text.as_bytes().to_vec();
        let from = within(200, bytes.len() - 2, dice);
        bytes[from..].fill(0);
        bytes
    }),
    kind("not-utf8", MANGLED, |text, dice| {
        let mut bytes = text.as_bytes().to_vec();
        let at = within(40, bytes.len() - 2, dice);
        bytes[at] = 0xff;
        bytes
    }),
    kind("utf16", MANGLED, |text, _| {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }),
    kind("random", FOREIGN, |text, dice| {
        let mut bytes = vec![0; text.len()];
        dice.fill_bytes(&mut bytes);
        // Neither gzip nor an object.
        bytes[0] = 0xfe;
        bytes
    }),
    kind("newer", &["version"], |text, _| {
        once(text, "cyclewise.record/1", "cyclewise.record/2")
    }),
    kind("other-schema", FOREIGN, |text, _| {
        once(text, "cyclewise.record/1", "other.record/1")
    }),
    kind("no-schema", FOREIGN, |text, _| once(text, "\"schema\"", "\"scheme\"")),
    kind("in-an-array", FOREIGN, |text, _| format!("[{text}]").into_bytes()),
    kind("two-in-one", MANGLED, |text, _| format!("{text}{text}").into_bytes()),
    kind("nan", MANGLED, |text, _| {
        once(text, "\"samples\":[", "\"samples\":[NaN,")
    }),
    kind("infinite", MANGLED, |text, _| {
        once(text, "\"samples\":[", "\"samples\":[1e999,")
    }),
    kind("null-sample", MANGLED, |text, _| {
        once(text, "\"samples\":[", "\"samples\":[null,")
    }),
    kind("one-more-sample", MANGLED, |text, _| {
        once(text, "\"samples\":[", "\"samples\":[1.5,")
    }),
    kind("negative-n", MANGLED, |text, _| in_variant(text, "\"n\":", "\"n\":-")),
    kind("huge-n", MANGLED, |text, _| {
        in_variant(text, "\"n\":", "\"n\":99999999999999999999")
    }),
    kind("swapped-fields", MANGLED, |text, _| {
        in_variant(text, "\"n\":", "\"mean\":")
    }),
    kind("same-field-twice", MANGLED, |text, _| {
        once(text, "\"created\":", "\"created\":\"\",\"created\":")
    }),
    kind("no-experiments", MANGLED, |text, _| {
        once(text, "\"experiments\":", "\"experiment\":")
    }),
    kind("no-time", MANGLED, |text, _| {
        once(text, "\"created\":\"", "\"created\":\"\\u001b[2J")
    }),
    kind("foreign-comparison", MANGLED, |text, _| {
        let foreign = "\"comparisons\":[{\"a\":\"x\",\"b\":\"y\"}],\"former\":[";
        once(text, "\"comparisons\":[", foreign)
    }),
    kind("control-character", MANGLED, |text, _| {
        once(text, "\"cpu_model\":\"", "\"cpu_model\":\"\u{1b}[2J")
    }),
    kind("deep", MANGLED, |text, _| {
        once(text, "\"machine\":", &format!("\"machine\":{}", "[".repeat(100_000)))
    }),
    kind("deep-whole", FOREIGN, |_, _| vec![b'['; 1_000_000]),
    kind("long-name", MANGLED, |text, _| {
        once(text, "\"node\":\"", &format!("\"node\":\"{}", "n".repeat(1 << 20)))
    }),
];

const fn kind(name: &'static str, problems: &'static [&'static str], mangle: fn(&str, &mut Dice) -> Vec<u8>) -> Kind {
    Kind { name, problems, mangle }
}

/// The text with the first `from` replaced.
fn once(text: &str, from: &str, to: &str) -> Vec<u8> {
    assert!(text.contains(from), "the record has no {from}");
    text.replacen(from, to, 1).into_bytes()
}

/// As [`once`], in the first variant.
fn in_variant(text: &str, from: &str, to: &str) -> Vec<u8> {
    let at = text.find("\"variants\":[").expect("a record has variants");
    [&text.as_bytes()[..at], &once(&text[at..], from, to)].concat()
}

fn within(from: usize, to: usize, dice: &mut Dice) -> usize {
    dice.random_range(from..to)
}

fn packed(text: &str) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    let written = packer.write_all(text.as_bytes());
    written.and_then(|()| packer.finish()).expect("memory takes all bytes")
}
