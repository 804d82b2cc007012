//! The code around the labelled sites and the names that it refers to, as a run reads them from the executed files.

use crate::row::{bytes, number};
use cyclewise_locks::class::{Names, ReadCode};
use std::collections::{BTreeMap, HashMap};

const CODE: &[&str] = &[
    include_str!("glibc.tsv"),
    include_str!("go_runtime.tsv"),
    include_str!("go_runtime_aarch64.tsv"),
    include_str!("more_programs.tsv"),
    include_str!("programs.tsv"),
    include_str!("rust_crates.tsv"),
    include_str!("rust_std.tsv"),
    include_str!("shared_ptr_tree.tsv"),
];

/// What is kept of each file, by its name.
pub(crate) struct Files(HashMap<String, Kept>);

#[derive(Default)]
struct Kept {
    /// Functions that have labelled sites.
    functions: BTreeMap<u64, u64>,
    code: BTreeMap<u64, Vec<u8>>,
    names: HashMap<u64, String>,
}

#[derive(Clone, Copy)]
pub(crate) struct File<'a>(&'a Kept);

impl Files {
    pub(crate) fn read() -> Self {
        let mut files: HashMap<String, Kept> = HashMap::new();
        for line in CODE.iter().flat_map(|text| text.lines()) {
            let fields: Vec<_> = line.split('\t').collect();
            let [kind, file, address, what] = fields[..] else {
                panic!("{} fields: {line}", fields.len())
            };
            let (kept, address) = (files.entry(file.to_owned()).or_default(), number(address));
            match kind {
                "function" => drop(kept.functions.insert(address, number(what))),
                "code" => drop(kept.code.insert(address, bytes(what))),
                "name" => drop(kept.names.insert(address, what.to_owned())),
                other => panic!("{other}"),
            }
        }
        Self(files)
    }

    pub(crate) fn of(&self, name: &str) -> File<'_> {
        File(&self.0[name])
    }
}

impl File<'_> {
    /// The function that an address lies in: its start and its end.
    pub(crate) fn function(&self, address: u64) -> Option<(u64, u64)> {
        let (start, end) = self.0.functions.range(..=address).next_back()?;
        (address < *end).then_some((*start, *end))
    }
}

impl ReadCode for File<'_> {
    fn read(&self, address: u64, length: usize) -> Option<Vec<u8>> {
        let (start, code) = self.0.code.range(..=address).next_back()?;
        let from = usize::try_from(address - start).unwrap();
        let rest = code.get(from..).filter(|r| !r.is_empty())?;
        Some(rest[..rest.len().min(length)].to_vec())
    }
}

impl Names for File<'_> {
    fn function(&self, address: u64) -> Option<String> {
        let within = || self.0.names.get(&File::function(self, address)?.0);
        self.0.names.get(&address).or_else(within).cloned()
    }
}
