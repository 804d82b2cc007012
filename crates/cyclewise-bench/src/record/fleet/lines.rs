//! The lines of a joined fleet: writing them, and reading them one at a time.

use super::{Checkup, Fault, Head, Member, Names, Problem, ProblemKind, SCHEMA, member};
use crate::record::{clean, load};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, BufRead, Read};

/// The longest line that is read, in bytes: the head may name many problems.
const LONGEST: u64 = 64 << 20;

/// How a joined fleet of any version begins.
const START: &[u8] = br#"{"schema":"cyclewise.fleet/"#;

/// Whether what begins with these bytes is a joined fleet.
pub fn is_fleet(start: &[u8]) -> bool {
    start.starts_with(START)
}

/// A line after the head.
pub enum FleetLine {
    Member(Box<Member>),
    /// A doctor's report.
    Checkup(Checkup),
}

/// A line of the file, with its end.
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
    pub fn next(&mut self, names: &Names) -> Result<Option<FleetLine>, Fault> {
        let (members, checkups) = match self.left {
            Some(left) => left,
            None => self.head()?,
        };
        if members > 0 {
            let mut member: Box<Member> = self.line()?;
            member::again(&member)?;
            names.share(&mut member.rows);
            self.left = Some((members - 1, checkups));
            return Ok(Some(FleetLine::Member(member)));
        }
        if checkups > 0 {
            let checkup = self.line()?;
            self.left = Some((members, checkups - 1));
            return Ok(Some(FleetLine::Checkup(checkup)));
        }
        Ok(None)
    }

    /// The problems that the head names.
    pub fn problems(self) -> Vec<Problem> {
        self.problems
    }

    fn head(&mut self) -> Result<(usize, usize), Fault> {
        self.read_line()?;
        let schema = self.text().ok().and_then(load::schema_of);
        let schema = schema.unwrap_or_default();
        if schema != SCHEMA {
            let newer = load::is_newer(&schema, SCHEMA);
            let (kind, what) = if newer {
                (ProblemKind::Version, "use a newer cyclewise")
            } else {
                (ProblemKind::Foreign, "no cyclewise wrote it")
            };
            return Err(Fault(kind, format!("has schema {schema:?}, not {SCHEMA}; {what}")));
        }
        let head: Head = self.parse()?;
        self.problems = head.problems;
        Ok((head.members, head.checkups))
    }

    fn line<T: DeserializeOwned>(&mut self) -> Result<T, Fault> {
        self.read_line()?;
        self.parse()
    }

    fn parse<T: DeserializeOwned>(&self) -> Result<T, Fault> {
        clean::parse_in_lines(self.text()?).map_err(|e| {
            Fault(
                ProblemKind::Mangled,
                format!("has a line that does not follow {SCHEMA}: {e}"),
            )
        })
    }

    fn text(&self) -> Result<&str, Fault> {
        let is_none = |e| Fault(ProblemKind::Mangled, format!("has a line that is no text: {e}"));
        std::str::from_utf8(&self.room).map_err(is_none)
    }

    fn read_line(&mut self) -> Result<(), Fault> {
        self.room.clear();
        let read = (&mut self.from).take(LONGEST).read_until(b'\n', &mut self.room);
        read.map_err(|e| Fault(ProblemKind::Torn, format!("cannot be read to its end: {e}")))?;
        if self.room.last() == Some(&b'\n') {
            Ok(())
        } else if self.room.len() as u64 == LONGEST {
            let why = format!("has a line of more than {} MiB", LONGEST >> 20);
            Err(Fault(ProblemKind::Mangled, why))
        } else {
            Err(Fault(
                ProblemKind::Torn,
                "ends before its last line; join again".to_owned(),
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::fleet::Row;

    fn read(change: impl FnOnce(&mut Member)) -> Result<Member, Fault> {
        let mut member = Member {
            created: "2026-11-21T00:00:00Z".to_owned(),
            rows: vec![Row {
                experiment: "e".into(),
                variant: "v".into(),
                value: 5.0,
                ..Row::default()
            }],
            ..Member::default()
        };
        change(&mut member);
        let head = Head {
            schema: SCHEMA.to_owned(),
            tool: crate::record::Tool::this(),
            members: 1,
            checkups: 0,
            problems: Vec::new(),
        };
        let text = [to_line(&head).unwrap(), to_line(&member).unwrap()].concat();
        match Lines::new(text.as_slice()).next(&Names::default())? {
            Some(FleetLine::Member(member)) => Ok(*member),
            _ => panic!("a member was written"),
        }
    }

    #[test]
    fn a_member_follows_the_rules_of_a_record() {
        assert!(read(|_| {}).is_ok());
        let broken: [fn(&mut Member); 6] = [
            |m| m.created = "today".to_owned(),
            |m| m.rows[0].value = 1e308,
            |m| m.rows[0].runs = vec![5.0, 1e-20],
            |m| m.rows[0].variant = "v".repeat(5000).into(),
            |m| m.rows.push(m.rows[0].clone()),
            |m| {
                m.rows.extend((0..100).map(|i| Row {
                    variant: format!("{i}{}", "v".repeat(4000)).into(),
                    ..Row::default()
                }))
            },
        ];
        for (i, change) in broken.into_iter().enumerate() {
            let fault = read(change).map(|_| ()).unwrap_err();
            assert_eq!(fault.0, ProblemKind::Mangled, "{i}: {}", fault.1);
        }
    }

    #[test]
    fn texts_of_a_member_have_no_control_characters() {
        for control in ["\u{1b}[2J", "\u{9b}", "\u{202e}", "\u{2069}"] {
            let dirty = format!("a{control}b");
            let member = read(|m| {
                m.file.clone_from(&dirty);
                m.digest.clone_from(&dirty);
                m.machine.cpu_model.clone_from(&dirty);
                m.machine.identity.node = Some(dirty.clone());
                m.rows[0].experiment = dirty.as_str().into();
                m.rows[0].variant = dirty.as_str().into();
            });
            let m = member.unwrap();
            let node = m.machine.identity.node.as_deref().unwrap();
            for text in [
                &*m.file,
                &m.digest,
                &m.machine.cpu_model,
                node,
                &m.rows[0].experiment,
                &m.rows[0].variant,
            ] {
                assert!(text.starts_with('a') && !text.contains(control), "{text:?}");
            }
        }
    }
}
