//! From counts to a profile: opens each executed file once, and looks at each site that was executed.

use super::callers::{Callers, Unfinished};
use super::place::{Place, file_offset};
use super::sums::{system_calls, threads};
use super::{Executed, Form, LineProfile, Mix, Operation, Profile, SiteProfile};
use crate::class::known::{FileIdentity, Known, Table, innermost};
use crate::class::{Class, Code, Names, ReadCode, Scene, classify};
use crate::counts::{Arch, Counts, MemoryLine, Process, saturating_sum};
use crate::decode::{Block, Locked, locked, mix_around, text};
use crate::image::{Image, Limits};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

/// How a profile is made.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where debug information is looked for, and how much of it is read.
    pub limits: Limits,
}

/// What code that lies in no file is called.
const GENERATED: &str = "[generated code]";

/// RET of AArch64.
const RET: [u8; 4] = 0xd65f_03c0_u32.to_le_bytes();

/// How many instructions after a site belong to its mix at most.
const AFTER: usize = 64;

/// Of so many sites of a file, one may have other code than the file has: programs patch some of their own instructions.
const PATCHED_SHARE: usize = 8;

impl ReadCode for Image {
    fn read(&self, address: u64, length: usize) -> Option<Vec<u8>> {
        self.bytes(address, length)
    }
}

impl Names for Image {
    fn function(&self, address: u64) -> Option<String> {
        self.function_name(address)
    }
}

impl Profile {
    /// Joins counts with the files that were executed.
    pub fn new(counts: &Counts, table: &Table, options: &Options) -> Self {
        let mut builder = Builder {
            arch: counts.arch,
            table,
            options,
            families: HashMap::new(),
            soname: String::new(),
            family: None,
            addresses: HashMap::new(),
            callers: Callers::default(),
            missing: counts.missing.clone(),
        };
        let mut sites = Vec::new();
        let (mut files, generated) = places(counts);
        builder.callers.want(files.values().flatten().chain(&generated));
        // Files that only call.
        for path in builder.callers.files() {
            files.entry(path).or_default();
        }
        for (path, places) in files {
            builder.file(&path, places, &mut sites);
        }
        (builder.soname, builder.family) = (String::new(), None);
        let in_files = sites.len();
        for place in generated {
            sites.push(builder.site(GENERATED, place, None, true));
        }
        builder.missing.extend(nameless(&sites[in_files..]));
        let mut sites = builder.callers.complete(sites);
        let mut executed = Executed::default();
        for site in &sites {
            executed.add(site.form, site.executed);
        }
        sites.sort_by(|a, b| {
            let key = |s: &SiteProfile| (std::cmp::Reverse(s.executed), s.address);
            key(a).cmp(&key(b)).then_with(|| a.module.cmp(&b.module))
        });
        let (threads, processes) = threads(counts);
        Self {
            method: counts.method.clone(),
            arch: counts.arch,
            instructions: saturating_sum(threads.iter().map(|t| t.instructions)),
            executed,
            sites,
            threads,
            system_calls: system_calls(counts),
            processes,
            lines: lines(counts, &builder.addresses),
            partial: !counts.missing.is_empty(),
            missing: builder.missing,
        }
    }
}

/// How the usual runtimes name the code that they generate.
const NAMES_CODE: &str = "node --perf-basic-prof, java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit (from JDK 17 on) or \
                          DOTNET_PerfMapEnabled=1";

/// That sites in generated code have no names, and how a program gives them.
fn nameless(generated: &[Unfinished]) -> Option<String> {
    let nameless = || generated.iter().filter(|of| of.site.frames.is_empty());
    let executed = saturating_sum(nameless().map(|of| of.site.executed));
    (nameless().count() > 0).then(|| {
        format!(
            "{GENERATED}: no function is known for {} of {} sites, executed {executed} times; a program names its code by {NAMES_CODE}",
            nameless().count(),
            generated.len()
        )
    })
}

/// Lines of memory that a profile keeps.
const LINES: usize = 10;

/// The hottest lines of all processes, and where their sites are.
fn lines(counts: &Counts, addresses: &HashMap<(PathBuf, u64), u64>) -> Vec<LineProfile> {
    let of_site = |process: &Process, address: u64| {
        let site = process.sites.iter().find(|site| site.address == address)?;
        let (index, offset) = file_offset(process, site)?;
        let path = &process.mappings[index].path;
        let address = addresses.get(&(path.clone(), offset))?;
        Some((path.display().to_string(), *address))
    };
    let of_process = |process: &'_ Process| -> Vec<LineProfile> {
        let line = |line: &MemoryLine| LineProfile {
            pid: process.pid,
            line: line.clone(),
            sites: line.words.iter().map(|word| of_site(process, word.site)).collect(),
        };
        process.lines.iter().map(line).collect()
    };
    let mut all: Vec<LineProfile> = counts.processes.iter().flat_map(of_process).collect();
    all.sort_by_key(|line| std::cmp::Reverse(line.line.executed()));
    all.truncate(LINES);
    all
}

/// Executed sites by file, and those in generated code.
fn places(counts: &Counts) -> (BTreeMap<PathBuf, Vec<Place>>, Vec<Place>) {
    let mut files: HashMap<&PathBuf, HashMap<u64, Place>> = HashMap::new();
    let mut generated: HashMap<(u64, &[u8]), Place> = HashMap::new();
    for process in &counts.processes {
        for site in process.sites.iter().filter(|s| s.total() > 0) {
            match file_offset(process, site) {
                Some((index, offset)) => files
                    .entry(&process.mappings[index].path)
                    .or_default()
                    .entry(offset)
                    .and_modify(|place| place.add(site, process))
                    .or_insert_with(|| Place::new(offset, site, process)),
                None => generated
                    .entry((site.address, &site.code))
                    .and_modify(|place| place.add(site, process))
                    .or_insert_with(|| Place::new(site.address, site, process)),
            };
        }
    }
    let sorted = |places: Vec<Place>| {
        let mut places = places;
        places.sort_by(|a, b| (a.offset, &a.code).cmp(&(b.offset, &b.code)));
        places
    };
    let files = files
        .into_iter()
        .map(|(path, places)| (path.clone(), sorted(places.into_values().collect())))
        .collect();
    (files, sorted(generated.into_values().collect()))
}

struct Builder<'a> {
    arch: Arch,
    table: &'a Table,
    options: &'a Options,
    /// What the table says, by function and the file's own name: thousands of sites share a function.
    families: HashMap<(String, String), Option<Known>>,
    /// What the file that is looked at calls itself.
    soname: String,
    family: Option<String>,
    callers: Callers,
    /// Sites' addresses in their files, by file and offset.
    addresses: HashMap<(PathBuf, u64), u64>,
    missing: Vec<String>,
}

impl Builder<'_> {
    fn file(&mut self, path: &std::path::Path, places: Vec<Place>, sites: &mut Vec<Unfinished>) {
        let module = path.display().to_string();
        let image = match Image::open(path, self.arch, &self.options.limits) {
            Ok(image) => Some(image),
            // What only calls has no sites that would be missed.
            Err(_) if places.is_empty() => None,
            // The kernel's own code ([vdso]) is in no file.
            Err(_) if module.starts_with('[') => None,
            Err(reason) => {
                self.missing.push(format!(
                    "{module}: {reason}; its {} sites have no names, and their classes rest on the recorded code",
                    places.len()
                ));
                None
            }
        };
        let image = image.filter(|image| self.is_executed_file(&module, image, &places));
        self.identify(image.as_ref());
        if let Some(image) = &image {
            self.callers.name(path, image);
        }
        if let Some(image) = image.as_ref().filter(|_| !places.is_empty()) {
            self.missing
                .extend(image.missing.iter().map(|m| format!("{module}: {m}")));
        }
        let before = sites.len();
        for place in places {
            let trusted = image.as_ref().is_some_and(|i| has_code(i, &place));
            let offset = place.offset;
            let site = self.site(&module, place, image.as_ref(), trusted);
            self.addresses.insert((path.to_owned(), offset), site.site.address);
            sites.push(site);
        }
        let unnamed = sites[before..].iter().filter(|of| of.site.frames.is_empty()).count();
        if image.is_some() && unnamed > 0 {
            self.missing.push(format!(
                "{module}: no function is known for {unnamed} of {} sites; symbols or debug information would name them",
                sites.len() - before
            ));
        }
    }

    fn identify(&mut self, image: Option<&Image>) {
        let soname = image.and_then(|image| image.soname.clone()).unwrap_or_default();
        let id = image.and_then(|image| image.build_id.as_deref()).unwrap_or_default();
        let build_id: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
        self.family = self.table.file(FileIdentity {
            soname: &soname,
            build_id: &build_id,
            defines: &|name| image.is_some_and(|image| image.defines(name)),
        });
        self.soname = soname;
    }

    /// Whether the file is still what was executed: it has the code that was recorded, but for what a program patches.
    fn is_executed_file(&mut self, module: &str, image: &Image, places: &[Place]) -> bool {
        let differ = places.iter().filter(|p| !has_code(image, p)).count();
        let is_same = differ * PATCHED_SHARE <= places.len();
        if !is_same {
            self.missing.push(format!(
                "{module}: the code at {differ} of {} sites is not what was executed, so the file was replaced; \
                 its sites have no names, and their classes rest on the recorded code",
                places.len()
            ));
        } else if differ > 0 {
            self.missing.push(format!(
                "{module}: the program changed the code at {differ} of {} sites; their classes rest on the recorded code",
                places.len()
            ));
        }
        is_same
    }

    /// One site; its code around it is read from the file where that has the executed code.
    fn site(&mut self, module: &str, place: Place, image: Option<&Image>, trusted: bool) -> Unfinished {
        let address = image.and_then(|i| i.address(place.offset)).unwrap_or(place.offset);
        let block = address.saturating_sub(place.before.len() as u64);
        let mut recorded = place.before.clone();
        if recorded.len() as u64 > address {
            recorded.clear();
        }
        recorded.extend_from_slice(&place.code);
        let file = image.filter(|_| trusted).map(|i| i as &dyn ReadCode);
        let code = Code::new(self.arch, block, recorded, file);
        let function = image.and_then(|i| i.function(address));
        let frames = match image {
            Some(image) => image.frames(address),
            None if module == GENERATED => self.callers.generated(place.pid, place.offset),
            None => Vec::new(),
        };
        let before = code.leading(address, block, function.as_ref().map(|f| f.start));
        let functions: Vec<_> = frames
            .iter()
            .map(|f| f.function.clone())
            .filter(|f| !f.is_empty())
            .collect();
        let (family, known) = self.known(&functions);
        let knows = |function: &String| self.table.function(function, &self.soname).is_some();
        let is_of_library = !self.soname.is_empty() || self.family.is_some() || functions.last().is_some_and(knows);
        let scene = Scene {
            code: &code,
            site: address,
            before: &before,
            function: function.map(|f| (f.start, f.end)),
            functions: &functions,
            names: image.map_or(&() as &dyn Names, |i| i as &dyn Names),
            known,
        };
        let (class, why) = classify(&scene);
        let bytes = site_bytes(&place, image, address);
        let what = locked(self.arch, &bytes, address);
        let (form, operation, width) = form_of(self.arch, what);
        let is_alone = self.arch == Arch::Aarch64 && place.code.get(4..8) == Some(&RET);
        let is_called = self.soname.starts_with("libc.so") || is_alone && frames.is_empty();
        let site = SiteProfile {
            module: module.to_owned(),
            address,
            instruction: text(self.arch, &bytes, address),
            form,
            operation,
            width,
            class,
            why,
            family,
            frames,
            executed: place.executed,
            threads: place.threads,
            words: place.words,
            before_threads: place.before_threads,
            distances: place.distances,
            mix: mix(&code, address, before),
            callers: Vec::new(),
        };
        Unfinished {
            site,
            callers: place.callers,
            is_of_library,
            is_called,
        }
    }

    /// The family and the class by the innermost function that the table knows.
    fn known(&mut self, functions: &[String]) -> (Option<String>, Option<(Class, String)>) {
        let (table, families, file) = (self.table, &mut self.families, &self.soname);
        let known = innermost(functions, |function| {
            families
                .entry((function.to_owned(), file.clone()))
                .or_insert_with(|| table.function(function, file))
                .clone()
        });
        match known {
            Some(known) => (Some(known.family.clone()), known.class_and_pattern()),
            None => (self.family.clone(), None),
        }
    }
}

/// Whether the file has the code that was recorded at the site.
fn has_code(image: &Image, place: &Place) -> bool {
    let Some(address) = image.address(place.offset) else {
        return false;
    };
    // A sample records no code: then there is only the file's.
    place.code.is_empty()
        || image
            .bytes(address, place.code.len())
            .is_some_and(|bytes| bytes == place.code)
}

/// Bytes of the site's instruction: recorded, else of the file.
fn site_bytes(place: &Place, image: Option<&Image>, address: u64) -> Vec<u8> {
    if !place.code.is_empty() {
        return place.code.clone();
    }
    image.and_then(|i| i.bytes(address, 16)).unwrap_or_default()
}

fn form_of(arch: Arch, locked: Option<Locked>) -> (Form, Operation, u8) {
    match (locked, arch) {
        (Some(locked), _) => (locked.form, locked.operation, locked.width),
        // It was counted as one of these, whatever its bytes are now.
        (None, Arch::X86_64) => (Form::Lock, Operation::Add, 0),
        (None, Arch::Aarch64) => (Form::Exclusive, Operation::StoreExclusive, 0),
    }
}

fn mix(code: &Code<'_>, address: u64, before: Vec<crate::decode::Step>) -> Mix {
    let mut after = Vec::new();
    let mut at = address;
    while after.len() <= AFTER {
        let Some(step) = code.step(at) else { break };
        at = step.end();
        after.push(step);
    }
    mix_around(&Block { before, after })
}
