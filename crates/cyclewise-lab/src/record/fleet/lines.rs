//! The lines of a joined fleet: writing them, and reading them one at a time.

use super::{Checkup, Fault, Head, Member, Names, Problem, ProblemKind, SCHEMA};
use crate::record::load;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, BufRead, Read};

/// The longest line that is read, in bytes: the head may name many problems.
const LONGEST: u64 = 64 << 20;

/// How a joined fleet begins.
const START: &[u8] = br#"{"schema":"cyclewise.fleet/1""#;

/// Whether what begins with these bytes is a joined fleet.
pub fn is_fleet(start: &[u8]) -> bool {
    start.starts_with(START)
}

/// A line after the head.
pub enum Line {
    /// A record.
    Member(Box<Member>),
    /// A doctor's report.
    Checkup(Checkup),
}

/// A line of the file, with its end.
///
/// # Errors
/// Never for what was read or measured.
pub fn to_line(part: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(part)?;
    line.push(b'\n');
    Ok(line)
}

/// A joined fleet that is being read.
pub struct Lines<R> {
    from: R,
    room: Vec<u8>,
    /// Lines that the head promises, and are not read; `None` before the head is.
    left: Option<(usize, usize)>,
    problems: Vec<Problem>,
}

impl<R: BufRead> Lines<R> {
    /// Reads from `from`.
    pub fn new(from: R) -> Self {
        Self {
            from,
            room: Vec::new(),
            left: None,
            problems: Vec::new(),
        }
    }

    /// The next member or checkup; `None` after the last.
    ///
    /// # Errors
    /// The file is torn, or a line does not follow the schema.
    pub fn next(&mut self, names: &Names) -> Result<Option<Line>, Fault> {
        let (members, checkups) = match self.left {
            Some(left) => left,
            None => self.head()?,
        };
        if members > 0 {
            let mut member: Box<Member> = self.line()?;
            names.share(&mut member.rows);
            self.left = Some((members - 1, checkups));
            return Ok(Some(Line::Member(member)));
        }
        if checkups > 0 {
            let checkup = self.line()?;
            self.left = Some((members, checkups - 1));
            return Ok(Some(Line::Checkup(checkup)));
        }
        Ok(None)
    }

    /// The problems that the head names.
    pub fn problems(self) -> Vec<Problem> {
        self.problems
    }

    fn head(&mut self) -> Result<(usize, usize), Fault> {
        let head: Head = self.line()?;
        if head.schema != SCHEMA {
            let newer = load::is_newer(&head.schema, SCHEMA);
            let kind = if newer {
                ProblemKind::Version
            } else {
                ProblemKind::Foreign
            };
            return Err(Fault(kind, format!("has schema {:?}, not {SCHEMA}", head.schema)));
        }
        self.problems = head.problems;
        Ok((head.members, head.checkups))
    }

    fn line<T: DeserializeOwned>(&mut self) -> Result<T, Fault> {
        self.room.clear();
        let read = (&mut self.from).take(LONGEST).read_until(b'\n', &mut self.room);
        read.map_err(|e| Fault(ProblemKind::Torn, format!("cannot be read to its end: {e}")))?;
        if self.room.last() != Some(&b'\n') {
            let why = if self.room.len() as u64 == LONGEST {
                Fault(ProblemKind::Mangled, format!("has a line of more than {LONGEST} bytes"))
            } else {
                Fault(ProblemKind::Torn, "ends before its last line; join again".to_owned())
            };
            return Err(why);
        }
        serde_json::from_slice(&self.room).map_err(|e| {
            Fault(
                ProblemKind::Mangled,
                format!("has a line that does not follow {SCHEMA}: {e}"),
            )
        })
    }
}
