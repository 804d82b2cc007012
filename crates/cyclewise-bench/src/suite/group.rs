//! A group: functions that are compared with the first of them.
//!
//! It is measured where its statement ends, so its functions may borrow what the statement may.

use super::Suite;
use super::body::{self, WithInputs, plain};
use super::compiled::{Compiled, Loops};
use super::measure::{self, Named};
use super::row::{Row, Work};
use super::together::{OnShared, Together};
use crate::error::{Error, Result, is_control};
use std::cell::RefCell;
use std::rc::Rc;

/// A longer name is not one that anybody types.
const LONGEST_NAME: usize = 200;

/// Functions that are compared with the first of them; see [`Suite::group`].
pub struct Group<'s, 'b> {
    suite: &'s mut Suite,
    parts: Parts<'b>,
}

struct Parts<'b> {
    name: String,
    rows: Vec<Row<'b>>,
    shared: Vec<(String, Rc<dyn Together + 'b>)>,
    threads: Option<Vec<usize>>,
    /// What an operation does so many of.
    counters: Vec<(String, u64)>,
}

impl<'s, 'b> Group<'s, 'b> {
    pub(super) fn new(suite: &'s mut Suite, name: String) -> Self {
        Self {
            suite,
            parts: Parts {
                name,
                rows: Vec::new(),
                shared: Vec::new(),
                threads: None,
                counters: Vec::new(),
            },
        }
    }

    /// A function. Its result is opaque to the compiler, and dropped outside of the timed region.
    pub fn bench<O: 'b>(mut self, name: impl Into<String>, body: impl FnMut() -> O + 'b) -> Self {
        self.parts.push(name.into(), None, plain(body));
        self
    }

    /// A function with an input, which is made outside of the timed region, as its result is dropped outside of it.
    pub fn bench_with<I: 'b, O: 'b>(
        mut self,
        name: impl Into<String>,
        make: impl FnMut() -> I + 'b,
        body: impl FnMut(I) -> O + 'b,
    ) -> Self {
        let body = WithInputs { make, run: body };
        self.parts.push(name.into(), None, Box::new(body));
        self
    }

    /// A function that another compiler has put into loops.
    pub fn bench_compiled(mut self, name: impl Into<String>, loops: impl Compiled + 'b) -> Self {
        self.parts.push(name.into(), None, Box::new(Loops(loops)));
        self
    }

    /// A function that threads call on one value, all at once: the row is operations a second, with Jain's index of
    /// fairness and the slowest thread's part of a fair share.
    pub fn bench_shared<T: Sync + 'b, O: 'b>(
        mut self,
        name: impl Into<String>,
        shared: T,
        body: impl Fn(&T) -> O + Sync + 'b,
    ) -> Self {
        let together = OnShared { shared, run: body };
        self.parts.shared.push((name.into(), Rc::new(together)));
        self
    }

    /// The numbers of threads of [`Group::bench_shared`]; one, and one for each CPU, if they are not given.
    pub fn threads(mut self, counts: impl IntoIterator<Item = usize>) -> Self {
        self.parts.threads = Some(counts.into_iter().collect());
        self
    }

    /// An operation does this many of what `name` is, so the table has how many a second.
    pub fn counter(mut self, name: impl Into<String>, n: u64) -> Self {
        self.parts.counters.push((name.into(), n));
        self
    }

    /// An operation is over this many elements.
    pub fn elements(self, n: u64) -> Self {
        self.counter("elements", n)
    }

    /// An operation is over this many bytes.
    pub fn bytes(self, n: u64) -> Self {
        self.counter("bytes", n)
    }

    /// Each function gets each of these parameters, and is compared with the first function at the same one. From four
    /// sizes on, the exponent is shown by which its time grows.
    pub fn over(self, parameters: impl IntoIterator<Item = usize>) -> Over<'s, 'b> {
        Over {
            group: self,
            parameters: parameters.into_iter().collect(),
        }
    }
}

impl Drop for Group<'_, '_> {
    fn drop(&mut self) {
        // A panic between two functions of the group: what it would have been is not known.
        if std::thread::panicking() {
            return;
        }
        let name = self.parts.name.clone();
        if !self.suite.claim(&name) {
            return;
        }
        match self.parts.take_rows(self.suite.cpus()) {
            Ok(rows) => {
                let named = Named {
                    name: &name,
                    counters: &self.parts.counters,
                };
                measure::group(self.suite, &named, rows);
            }
            Err(error) => self.suite.fail(Error {
                message: format!("{name}: {error}"),
                ..error
            }),
        }
    }
}

impl<'b> Parts<'b> {
    fn push(&mut self, member: String, parameter: Option<usize>, body: Box<dyn body::Body + 'b>) {
        self.rows.push(Row::new(member, parameter, Work::Alone(body)));
    }

    fn take_rows(&mut self, cpus: usize) -> Result<Vec<Row<'b>>> {
        check_name("a group", &self.name)?;
        let mut rows = std::mem::take(&mut self.rows);
        let counts = self.threads.take();
        if !rows.is_empty() && (counts.is_some() || !self.shared.is_empty()) {
            let why = "has functions of one thread and of several, which have different units; make two groups";
            return Err(Error::usage(why));
        }
        let counts = counts.unwrap_or_else(|| if cpus > 1 { vec![1, cpus] } else { vec![1] });
        if counts.contains(&0) {
            return Err(Error::usage("zero threads call nothing; give 1 or more to threads()"));
        }
        for (member, together) in std::mem::take(&mut self.shared) {
            let of = |&n: &usize| Row::new(member.clone(), Some(n), Work::Crowd(Rc::clone(&together), n));
            rows.extend(counts.iter().map(of));
        }
        if rows.is_empty() {
            return Err(Error::usage(
                "has no variants; add a function with bench(), and to over() or threads() a value",
            ));
        }
        for (i, row) in rows.iter().enumerate() {
            check_name("a function", &row.member)?;
            if rows[..i].iter().any(|other| other.name == row.name) {
                let why = format!("has {} twice; give each function a name of its own", row.name);
                return Err(Error::usage(why));
            }
        }
        Ok(rows)
    }
}

/// A name is shown, filtered by, and a key of records.
fn check_name(of: &str, name: &str) -> Result<()> {
    let why = match name {
        "" => "is empty",
        _ if name.contains(is_control) => "has control characters",
        _ if name.len() > LONGEST_NAME => "is longer than 200 bytes",
        _ => return Ok(()),
    };
    Err(Error::usage(format!(
        "the name of {of} {why}; name it in a word or two"
    )))
}

/// A group whose functions have a parameter; see [`Group::over`].
pub struct Over<'s, 'b> {
    group: Group<'s, 'b>,
    parameters: Vec<usize>,
}

impl<'b> Over<'_, 'b> {
    /// A function of the parameter.
    pub fn bench<O: 'b>(mut self, name: impl Into<String>, body: impl FnMut(usize) -> O + 'b) -> Self {
        let (name, run) = (name.into(), Rc::new(RefCell::new(body)));
        for &n in &self.parameters {
            let body = body::of_parameter(&run, n);
            self.group.parts.push(name.clone(), Some(n), body);
        }
        self
    }

    /// A function of an input that is made of the parameter.
    pub fn bench_with<I: 'b, O: 'b>(
        mut self,
        name: impl Into<String>,
        make: impl FnMut(usize) -> I + 'b,
        body: impl FnMut(I) -> O + 'b,
    ) -> Self {
        let name = name.into();
        let (make, run) = (Rc::new(RefCell::new(make)), Rc::new(RefCell::new(body)));
        for &n in &self.parameters {
            let body = body::of_parameter_with(&make, &run, n);
            self.group.parts.push(name.clone(), Some(n), body);
        }
        self
    }
}
