//! Functions' names as they were written: Rust's and C++'s are demangled, Go's and C's are what they are.

use cpp_demangle::{DemangleOptions, ParseOptions, Symbol};
use std::fmt::{self, Write};

/// Names longer than this stay as they are: demanglers take time and memory by the length of what comes out.
const LONGEST: usize = 16 << 10;

/// A name that comes to more than this stays as it is.
const LONGEST_SHOWN: usize = 256 << 10;

/// Ends that compilers add to a function's name where they split or copy it.
const CLONES: &[&str] = &[
    ".cold",
    ".part.",
    ".constprop.",
    ".isra.",
    ".lto_priv.",
    ".llvm.",
    ".localalias",
    "@",
];

/// The name as it was written, without hashes and return types.
pub(super) fn demangle(raw: &str) -> String {
    if raw.len() > LONGEST {
        return raw.to_owned();
    }
    if let Ok(name) = rustc_demangle::try_demangle(raw) {
        return format!("{name:#}");
    }
    let plain = without_clone(raw);
    if raw.starts_with("_Z") || raw.starts_with("__Z") {
        return cpp(plain).unwrap_or_else(|| plain.to_owned());
    }
    plain.to_owned()
}

fn cpp(raw: &str) -> Option<String> {
    // A bound on what a name may nest, so that a hostile one does not exhaust the stack.
    let parse = ParseOptions::default().recursion_limit(64);
    let symbol = Symbol::new_with_options(raw, &parse).ok()?;
    let options = DemangleOptions::new().no_return_type().recursion_limit(64);
    let mut name = Short(String::new());
    symbol.structured_demangle(&mut name, &options).ok()?;
    Some(name.0)
}

/// What a name comes to, up to a length: each substitution may double it.
struct Short(String);

impl Write for Short {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        if self.0.len() + part.len() > LONGEST_SHOWN {
            return Err(fmt::Error);
        }
        self.0.push_str(part);
        Ok(())
    }
}

fn without_clone(raw: &str) -> &str {
    // Go's names have dots of their own, and never these.
    let at = CLONES.iter().filter_map(|c| raw.find(c)).filter(|at| *at > 0).min();
    &raw[..at.unwrap_or(raw.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_each_language() {
        for (raw, name) in [
            ("main", "main"),
            ("pthread_mutex_lock@@GLIBC_2.2.5", "pthread_mutex_lock"),
            ("fill.part.0", "fill"),
            ("sync.(*Mutex).Lock", "sync.(*Mutex).Lock"),
            (
                "_ZNSt16_Sp_counted_baseILN9__gnu_cxx12_Lock_policyE2EE10_M_releaseEv",
                "std::_Sp_counted_base<(__gnu_cxx::_Lock_policy)2>::_M_release()",
            ),
            ("_ZN4core3ptr8metadata17h1234567890abcdefE", "core::ptr::metadata"),
            ("_RNvCskwGfYPst2Cb_3foo16example_function", "foo::example_function"),
            ("_ZNSt5mutex4lockEv.cold", "std::mutex::lock()"),
            ("_Znonsense", "_Znonsense"),
        ] {
            assert_eq!(demangle(raw), name);
        }
    }

    #[test]
    fn hostile_names_come_back_and_do_not_exhaust_the_stack() {
        let deep = format!("_Z1f{}i", "P".repeat(10_000));
        assert_eq!(demangle(&deep), deep);
        let long = "a".repeat(LONGEST + 1);
        assert_eq!(demangle(&long), long);
        // Each type has the one before it twenty times: 390 bytes would come to 20^6 names.
        let part = |n: char| format!("S_I{}E", format!("S{n}_").repeat(20));
        let doubling = ('0'..='5').fold("_Z1f1XIiiE".to_owned(), |name, n| name + &part(n));
        assert_eq!(demangle(&doubling), doubling);
        assert_eq!(
            demangle("_Z1f1XIiiES_IS0_S0_E"),
            "f(X<int, int>, X<X<int, int>, X<int, int> >)"
        );
    }
}
