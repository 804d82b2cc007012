//! The labelled sites, and what the classifier says of them.

use crate::code::Files;
use cyclewise_locks::class::known::Table;
use cyclewise_locks::class::{Code, Names, ReadCode, Scene, classify};
use cyclewise_locks::counts::Arch;
use cyclewise_locks::profile::Class;

/// Which half of the rows a row belongs to; see `README.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    /// Its misses are read one by one, and rules are made from them.
    Learn,
    /// Only its sums are looked at.
    Exam,
}

/// One labelled site.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) set: String,
    pub(crate) file: String,
    pub(crate) arch: Arch,
    pub(crate) address: u64,
    pub(crate) instruction: String,
    pub(crate) before: Vec<u8>,
    pub(crate) code: Vec<u8>,
    pub(crate) functions: Vec<String>,
    pub(crate) label: Class,
    pub(crate) how: String,
}

/// The sets of rows, by name.
pub(crate) const SETS: &[(&str, &str)] = &[
    ("glibc", include_str!("glibc.tsv")),
    ("go_runtime", include_str!("go_runtime.tsv")),
    ("go_runtime_aarch64", include_str!("go_runtime_aarch64.tsv")),
    ("more_programs", include_str!("more_programs.tsv")),
    ("programs", include_str!("programs.tsv")),
    ("rust_crates", include_str!("rust_crates.tsv")),
    ("rust_std", include_str!("rust_std.tsv")),
    ("shared_ptr_tree", include_str!("shared_ptr_tree.tsv")),
];

pub(crate) fn bytes(hex: &str) -> Vec<u8> {
    assert!(hex.len().is_multiple_of(2), "{hex}");
    (0..hex.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap())
        .collect()
}

pub(crate) fn number(hex: &str) -> u64 {
    u64::from_str_radix(hex.strip_prefix("0x").unwrap(), 16).unwrap()
}

/// A function's name as a run has it: without its version, and without what a compiler adds where it splits or copies it.
fn without_version(name: &str) -> String {
    let ends = ["@", ".cold", ".constprop.", ".part.", ".isra."];
    let end = ends.iter().filter_map(|e| name.find(e)).filter(|at| *at > 0).min();
    name[..end.unwrap_or(name.len())].to_owned()
}

pub(crate) fn rows() -> Vec<Row> {
    SETS.iter()
        .flat_map(|(set, text)| text.lines().skip(1).map(move |line| row(set, line)))
        .collect()
}

fn row(set: &str, line: &str) -> Row {
    let fields: Vec<_> = line.split('\t').collect();
    let [
        file,
        _,
        _,
        arch,
        address,
        instruction,
        before,
        code,
        function,
        label,
        how,
    ] = fields[..]
    else {
        panic!("{set}: {} fields: {line}", fields.len());
    };
    Row {
        set: set.to_owned(),
        file: file.to_owned(),
        arch: match arch {
            "x86_64" => Arch::X86_64,
            "aarch64" => Arch::Aarch64,
            other => panic!("{set}: {other}"),
        },
        address: number(address),
        instruction: instruction.to_owned(),
        before: bytes(before),
        code: bytes(code),
        functions: function.split(" <- ").map(without_version).collect(),
        label: serde_json::from_value(label.into()).unwrap_or_else(|e| panic!("{set}: {label}: {e}")),
        how: how.to_owned(),
    }
}

impl Row {
    /// The source line that the label was read from.
    pub(crate) fn line(&self) -> &str {
        self.how.split(": `").next().unwrap()
    }

    /// By a hash of the source line, so that no line is in both halves.
    pub(crate) fn half(&self) -> Half {
        let hash = self.line().bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        if (hash >> 32) & 1 == 0 { Half::Learn } else { Half::Exam }
    }

    /// The class as a run finds it, with the executed file.
    pub(crate) fn in_a_run(&self, table: &Table, files: &Files) -> (Class, String) {
        let file = files.of(&self.file);
        self.classify(table, Some(&file), &file, file.function(self.address))
    }

    /// The class by what is recorded of the site alone, as where the executed file is gone: its names are left.
    pub(crate) fn without_file(&self, table: &Table) -> (Class, String) {
        self.classify(table, None, &(), None)
    }

    fn classify(
        &self,
        table: &Table,
        file: Option<&dyn ReadCode>,
        names: &dyn Names,
        function: Option<(u64, u64)>,
    ) -> (Class, String) {
        let block = self.address - self.before.len() as u64;
        let recorded = [&self.before[..], &self.code[..]].concat();
        let code = Code::new(self.arch, block, recorded, file);
        let before = code.leading(self.address, block, function.map(|(start, _)| start));
        classify(&Scene {
            code: &code,
            site: self.address,
            before: &before,
            function,
            functions: &self.functions,
            names,
            known: table
                .site(&self.functions, &self.file)
                .and_then(|k| k.class_and_pattern()),
        })
    }
}
