//! Names of generated code, by the map that its program writes for perf: a start, a size and a name a line, numbers in hexadecimal.
//!
//! node writes it with `--perf-basic-prof`, .NET with `DOTNET_PerfMapEnabled=1`, Java by an agent.
//!
//! # References
//! Linux's `tools/perf/Documentation/jit-interface.txt`.

use std::io::Read;
use std::path::Path;

/// Bytes of a map that are read: a large program's has some ten megabytes.
const MOST: u64 = 256 << 20;

/// Functions of generated code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PerfMap {
    /// Start, end and name, by the start. Of functions at one place the later one is kept: code is replaced.
    functions: Vec<(u64, u64, String)>,
}

impl PerfMap {
    /// The map of a process; empty where it wrote none, or where others could have: the folder is everybody's.
    pub fn of_process(pid: u32) -> Self {
        Self::read(&Path::new("/tmp").join(format!("perf-{pid}.map"))).unwrap_or_default()
    }

    fn read(path: &Path) -> Option<Self> {
        let mut text = Vec::new();
        let file = std::fs::File::open(path).ok()?;
        file.metadata().ok().filter(std::fs::Metadata::is_file)?;
        file.take(MOST).read_to_end(&mut text).ok()?;
        Some(Self::parse(&String::from_utf8_lossy(&text)))
    }

    fn parse(text: &str) -> Self {
        let number = |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok();
        let function = |line: &str| {
            let mut words = line.splitn(3, ' ');
            let (start, size) = (number(words.next()?)?, number(words.next()?)?);
            Some((start, start.checked_add(size)?, words.next()?.trim().to_owned()))
        };
        let mut functions: Vec<_> = text.lines().filter_map(function).collect();
        // Stable: of equal starts the last line is last.
        functions.sort_by_key(|(start, ..)| *start);
        functions.reverse();
        functions.dedup_by_key(|(start, ..)| *start);
        functions.reverse();
        Self { functions }
    }

    /// The function at an address.
    pub fn name(&self, address: u64) -> Option<&str> {
        let after = self.functions.partition_point(|(start, ..)| *start <= address);
        let (_, end, name) = self.functions.get(after.checked_sub(1)?)?;
        (address < *end && !name.is_empty()).then_some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::PerfMap;

    #[test]
    fn functions_have_their_names_and_the_later_of_two_wins() {
        let map = PerfMap::parse(
            "3ef0 10 LazyCompile:~a b.js:1\nbroken\n3f00 20 old\n0x3f00 8 new\n5000 0 empty\nffffffffffffffff 10 over\n",
        );
        assert_eq!(map.name(0x3ef0), Some("LazyCompile:~a b.js:1"));
        assert_eq!(map.name(0x3eef), None);
        assert_eq!((map.name(0x3f07), map.name(0x3f08)), (Some("new"), None));
        assert_eq!(map.name(0x5000), None);
        assert_eq!(PerfMap::parse(""), PerfMap::default());
    }
}
