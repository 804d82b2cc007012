//! The table of known functions: which library or runtime a site belongs to, and sometimes what it is for.
//!
//! The built-in table is `tables/known.toml`, whose head says how entries are written. Users name further files; of all
//! entries that match a name, the last one decides, so later files win.

use super::names::is_atomic;
use super::scene::Class;
use crate::error::{Error, Result};
use cyclewise_bench::record::read_text;
use serde::Deserialize;
use std::path::Path;

/// The table that is built in.
const BUILT_IN: &str = include_str!("../../tables/known.toml");

/// A table of known functions.
#[derive(Clone, Debug, Default)]
pub struct Table {
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    family: String,
    functions: Vec<String>,
    files: Vec<String>,
    defines: Vec<String>,
    build_ids: Vec<String>,
    class: Option<Class>,
}

/// What an executed file says of itself. Its path says nothing: an extension module is called after whom it extends.
#[derive(Clone, Copy)]
pub struct FileIdentity<'a> {
    /// The name that a library gives itself (DT_SONAME); empty of other files.
    pub soname: &'a str,
    /// The build id in hexadecimal, or nothing.
    pub build_id: &'a str,
    /// Whether it has a function of a name.
    pub defines: &'a dyn Fn(&str) -> bool,
}

/// What the table says of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// The library or runtime, and the type.
    pub family: String,
    /// What the function's locked instructions are for, where that is known.
    pub class: Option<Class>,
    /// The pattern that matched.
    pub pattern: String,
}

impl Known {
    /// The class, and the pattern that it is known by.
    pub fn class_and_pattern(&self) -> Option<(Class, String)> {
        self.class.map(|class| (class, self.pattern.clone()))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    known: Vec<toml::Spanned<toml::Value>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    family: String,
    #[serde(default)]
    functions: Vec<String>,
    #[serde(default)]
    files: Vec<String>,
    #[serde(default)]
    defines: Vec<String>,
    #[serde(default, rename = "build-ids")]
    build_ids: Vec<String>,
    class: Option<Class>,
}

/// Whether a character changes how those around it are shown: a control, or one that changes the direction of text.
fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

impl Table {
    pub fn built_in() -> Self {
        let mut table = Self::default();
        // A test reads it, so the file is a table.
        let read = table.add(BUILT_IN, "the built-in table");
        debug_assert_eq!(read, Ok(()));
        table
    }

    /// Adds a file, whose entries win over those before.
    pub fn add_file(&mut self, path: &Path) -> Result<()> {
        let name = path.display().to_string();
        let text = read_text(path).map_err(|e| {
            Error::usage(format!(
                "{name}: the table of known functions cannot be read: {e}; name a file that exists"
            ))
        })?;
        self.add(&text, &name)
    }

    /// Adds the text of a file, whose entries win over those before.
    pub fn add(&mut self, text: &str, name: &str) -> Result<()> {
        let refuse = |at: usize, why: &str| {
            let line = 1 + text[..at.min(text.len())].matches('\n').count();
            // One line, whatever the parser says.
            let is_between = |c: char| c.is_whitespace() || is_control(c);
            let why = why
                .split(is_between)
                .filter(|w| !w.is_empty())
                .collect::<Vec<_>>()
                .join(" ");
            Error::usage(format!(
                "{name}:{line}: bad table of known functions: {why}; see the head of the built-in table for what an entry is"
            ))
        };
        let file: File = toml::from_str(text).map_err(|e| refuse(e.span().map_or(0, |s| s.start), e.message()))?;
        let mut entries = Vec::new();
        for row in file.known {
            let at = row.span().start;
            let row: Row = row
                .into_inner()
                .try_into()
                .map_err(|e: toml::de::Error| refuse(at, e.message()))?;
            if row.family.trim().is_empty() {
                return Err(refuse(at, "`family` is empty"));
            }
            let is_of_files = !(row.files.is_empty() && row.defines.is_empty() && row.build_ids.is_empty());
            if row.functions.is_empty() && !is_of_files {
                return Err(refuse(
                    at,
                    "an entry needs `functions`, `files`, `defines` or `build-ids`",
                ));
            }
            let names_files = !row.defines.is_empty() || !row.build_ids.is_empty();
            if names_files && !row.functions.is_empty() {
                return Err(refuse(
                    at,
                    "`defines` and `build-ids` are of whole files, and `functions` are not",
                ));
            }
            if row.functions.is_empty() && row.class.is_some() {
                return Err(refuse(
                    at,
                    "`class` needs `functions`: the sites of a whole file have several",
                ));
            }
            if row
                .functions
                .iter()
                .chain(&row.files)
                .any(|p| p.trim_matches('*').is_empty())
            {
                return Err(refuse(at, "a pattern matches everything"));
            }
            entries.push(Entry {
                family: row.family,
                functions: row.functions,
                files: row.files,
                defines: row.defines,
                build_ids: row.build_ids,
                class: row.class,
            });
        }
        self.entries.extend(entries);
        Ok(())
    }

    /// What is known of a function in a file of this name.
    pub fn function(&self, function: &str, file: &str) -> Option<Known> {
        let function = &without_brackets(function);
        self.entries.iter().rev().find_map(|entry| {
            let pattern = entry.functions.iter().find(|p| matches(p, function))?;
            let in_file = entry.files.is_empty() || entry.files.iter().any(|p| matches(p, file));
            in_file.then(|| Known {
                family: entry.family.clone(),
                class: entry.class,
                pattern: pattern.clone(),
            })
        })
    }

    /// What is known of a site by the functions that it lies in, innermost first: that of the first one that is known, no
    /// further out. An atomic operation's own function says nothing where another one is known.
    pub fn site(&self, functions: &[String], file: &str) -> Option<Known> {
        innermost(functions, |f| self.function(f, file))
    }

    /// The family of all functions of a file of which nothing else is known.
    pub fn file(&self, file: FileIdentity<'_>) -> Option<String> {
        let is_match = |e: &&Entry| {
            e.functions.is_empty()
                && (e.files.iter().any(|p| matches(p, file.soname))
                    || e.build_ids.iter().any(|id| id == file.build_id)
                    || e.defines.iter().any(|name| (file.defines)(name)))
        };
        self.entries.iter().rev().find(is_match).map(|e| e.family.clone())
    }
}

/// The first function that something is known of, callers of atomic operations before those.
pub(crate) fn innermost(functions: &[String], mut ask: impl FnMut(&str) -> Option<Known>) -> Option<Known> {
    let (atomic, callers): (Vec<_>, Vec<_>) = functions.iter().partition(|f| is_atomic(f));
    callers.into_iter().chain(atomic).find_map(|f| ask(f))
}

/// A Rust name without the angle brackets around the type that a method belongs to: versions of the compiler differ in them.
fn without_brackets(name: &str) -> String {
    let mut depth = 0;
    let closing = name.char_indices().find(|(at, c)| {
        match c {
            '<' => depth += 1,
            // The arrow of a function's type closes nothing.
            '>' if !name[..*at].ends_with('-') => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    match closing {
        Some((at, '>')) => format!("{}{}", &name[1..at], &name[at + 1..]),
        _ => name.to_owned(),
    }
}

/// Whether a whole name matches a pattern, in which `*` is any run of characters and `?` is one of them.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut p, mut n) = (0, 0);
    // Where to try again: behind the last `*`, one character further.
    let mut again = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                again = Some((p + 1, n));
                p += 1;
            }
            Some(c) if *c == b'?' || *c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match again {
                Some((after, from)) => {
                    p = after;
                    n = from + 1;
                    again = Some((after, n));
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(text: &str) -> String {
        let mut table = Table::default();
        table
            .add(text, "mine.toml")
            .map_or_else(|e| e.message, |()| String::new())
    }

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, name) in [
            ("a*c", "abbc"),
            ("*", ""),
            ("a?c", "abc"),
            ("*b*b*", "xbyb"),
            ("pthread_mutex_*lock", "pthread_mutex_unlock"),
            ("a*ab", "aaab"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("a*c", "abcd"), ("a?c", "ac"), ("abc", "abcd"), ("b*", "ab"), ("", "a")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn brackets_around_the_whole_type_are_left_out() {
        for (name, plain) in [
            ("<a::B<C> as d::E>::f", "a::B<C> as d::E::f"),
            ("<a::B>::f", "a::B::f"),
            ("<fn(a) -> b>::f", "fn(a) -> b::f"),
            ("a::B<C>::f", "a::B<C>::f"),
            ("<broken", "<broken"),
        ] {
            assert_eq!(without_brackets(name), plain);
        }
    }

    #[test]
    fn the_built_in_table_knows_the_usual_runtimes() {
        let mut table = Table::default();
        assert_eq!(table.add(BUILT_IN, "known.toml"), Ok(()));
        let family = |function| table.function(function, "x").map(|k| k.family);
        assert_eq!(
            family("<alloc::sync::Arc<T,A> as core::clone::Clone>::clone").as_deref(),
            Some("std Arc")
        );
        assert_eq!(
            family("std::_Sp_counted_base<(__gnu_cxx::_Lock_policy)2>::_M_release()").as_deref(),
            Some("shared_ptr")
        );
        assert_eq!(family("g_object_unref").as_deref(), Some("GObject"));
        assert_eq!(family("runtime.newproc1").as_deref(), Some("Go runtime"));
        assert_eq!(family("my_function"), None);
        let lock = table.function("___pthread_mutex_lock", "libc.so.6").unwrap();
        assert_eq!(
            (lock.family.as_str(), lock.class),
            ("pthread_mutex", Some(Class::LockTaken))
        );
        let class = |function| table.function(function, "x").and_then(|k| k.class);
        assert_eq!(class("runtime.netpollblock"), Some(Class::Flag));
        assert_eq!(
            class("nmethodLocker::unlock_nmethod(CompiledMethod*)"),
            Some(Class::Other)
        );
        let signed = "v8::Isolate::AdjustAmountOfExternalAllocatedMemory(long)";
        assert_eq!(class(signed), Some(Class::Other));
    }

    #[test]
    fn a_whole_file_is_known_by_what_it_says_of_itself() {
        let mut table = Table::built_in();
        let by_id = "[[known]]\nfamily = \"mine\"\nbuild-ids = [\"ab12\"]\n";
        table.add(by_id, "mine.toml").unwrap();
        let family = |soname, build_id, defined: &str| {
            table.file(FileIdentity {
                soname,
                build_id,
                defines: &|name| name == defined,
            })
        };
        assert_eq!(family("libc.so.6", "", "").as_deref(), Some("glibc"));
        assert_eq!(family("libpython3.11.so.1.0", "", "").as_deref(), Some("CPython"));
        assert_eq!(family("", "", "Py_BytesMain").as_deref(), Some("CPython"));
        assert_eq!(family("", "ab12", "").as_deref(), Some("mine"));
        // An extension module has no such name and asks for those functions.
        assert_eq!(family("", "", "PyInit__duckdb"), None);
        assert!(add("[[known]]\nfamily = \"a\"\nfunctions = [\"a\"]\ndefines = [\"b\"]\n").contains("whole files"));
    }

    #[test]
    fn an_atomic_operation_does_not_hide_its_caller() {
        let table = Table::built_in();
        let class = |functions: &[&str]| {
            let functions: Vec<_> = functions.iter().map(|f| (*f).to_owned()).collect();
            table.site(&functions, "x").and_then(|k| k.class)
        };
        let (atomic, lock) = ("sync/atomic.(*Int32).CompareAndSwap", "internal/sync.(*Mutex).Lock");
        assert_eq!(class(&[atomic, lock, "main.main"]), Some(Class::LockTaken));
        // Further out than the first function that is known, nothing is asked.
        assert_eq!(class(&[atomic, "sync.(*Pool).pin", lock]), None);
        let family = table.site(&[atomic.to_owned()], "x").map(|k| k.family);
        assert_eq!(family.as_deref(), Some("Go sync"));
    }

    #[test]
    fn a_file_of_ones_own_wins() {
        let mut table = Table::built_in();
        let mine = "[[known]]\nfamily = \"mine\"\nfunctions = [\"g_object_*\"]\nclass = \"flag\"\n";
        table.add(mine, "mine.toml").unwrap();
        let known = table.function("g_object_unref", "x").unwrap();
        assert_eq!((known.family.as_str(), known.class), ("mine", Some(Class::Flag)));
    }

    #[test]
    fn a_bad_file_is_refused_with_its_line_and_changes_nothing() {
        let line = add("[[known]]\nfamily = \"a\"\nfunctions = [\"a\"]\n\n[[known]]\nfamily = \"b\"\n");
        assert!(line.starts_with("mine.toml:5: bad table"), "{line}");
        assert!(line.contains("needs `functions`, `files`"), "{line}");
        let line = add("[[known]]\nfamily = \"a\"\nfunctions = [\"a\"]\nclass = \"frob\"\n");
        assert!(line.contains("mine.toml:1") && line.contains("frob"), "{line}");
        let line = add("x = \n");
        assert!(line.starts_with("mine.toml:1: ") && !line.contains('\n'), "{line}");
        let line = add("[[known]]\nfamily = \"a\"\nfunctions = [\"**\"]\n");
        assert!(line.contains("matches everything"), "{line}");
        let line = add("[[known]]\nfamily = \"a\"\nfunction = [\"x\"]\n");
        assert!(line.contains("unknown field"), "{line}");
        let mut table = Table::default();
        let half = "[[known]]\nfamily = \"a\"\nfunctions = [\"a\"]\n[[known]]\nfamily = \"\"\nfunctions = [\"b\"]\n";
        assert!(table.add(half, "half").is_err());
        assert_eq!(table.function("a", ""), None);
    }

    #[test]
    fn a_file_that_is_not_there_is_one_line() {
        let error = Table::default().add_file(Path::new("no/such/table.toml")).unwrap_err();
        assert!(error.message.contains("no/such/table.toml") && !error.message.contains('\n'));
    }
}
