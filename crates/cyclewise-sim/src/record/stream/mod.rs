//! Reads a simulation a point at a time, so that a sweep that does not fit in memory can be joined.
//!
//! It reads the layout that `export::json` writes: a head of four lines, and a line for each point.

use super::shard::due;
use super::{MOST_POINTS, Point, SCHEMA, Shard, Simulation, Sweep, wrong};
use cyclewise_bench::record::Tool;
use cyclewise_bench::record::fleet::{Fault, ProblemKind};
use cyclewise_bench::record::load;
use serde_json::Value;
use std::io::{BufRead, Read};
use std::result::Result;

/// The most bytes of a line; longer ones are refused, so that a file without line ends does not fill the memory.
const LONGEST_LINE: u64 = 64 << 20;

/// What every simulation begins with.
const BEGIN: &[u8] = b"{\"schema\":\"cyclewise.simulation/";

/// The last line.
const END: &[u8] = b"]}\n";

/// What a simulation says before its points.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// The program that wrote it.
    pub tool: Tool,
    /// The parameters.
    pub sweep: Sweep,
    /// The shard that this is; `None` for the whole sweep.
    pub shard: Option<Shard>,
}

/// A simulation whose head was read. Its points are read by [`PointReader::next_line`].
#[derive(Debug)]
pub struct PointReader<R> {
    head: Head,
    lines: R,
    line: Vec<u8>,
    /// Whether the previous line says that a point follows; `None` at the beginning.
    more: Option<bool>,
}

impl<R: BufRead> PointReader<R> {
    /// Reads the head.
    ///
    /// # Errors
    /// The text is not the beginning of a simulation that this program can read.
    pub fn new(mut lines: R) -> Result<Self, Fault> {
        let (mut line, mut text) = (Vec::new(), Vec::new());
        for number in 1..=4 {
            read_line(&mut lines, &mut line)?;
            text.extend_from_slice(&line);
            if !line.ends_with(b"\n") || !text.starts_with(BEGIN) {
                return Err(head_fault(&text, number));
            }
        }
        if !line.starts_with(b"\"points\":[") {
            return Err(head_fault(&text, 4));
        }
        // A simulation without its points is valid JSON again.
        let empty = [&text[..], END].concat();
        let text = String::from_utf8_lossy(&empty);
        load::check_schema("the file", &text, SCHEMA, "cyclewise simulate --json")
            .map_err(|e| Fault(ProblemKind::Version, e.message))?;
        let not_followed = |what: String| {
            Fault(
                ProblemKind::Mangled,
                format!("its head does not follow {SCHEMA}: {what}"),
            )
        };
        let read: Simulation = serde_json::from_str(&text).map_err(|e| not_followed(e.to_string()))?;
        let keys: [Option<Value>; 2] = [serde_json::from_str(&text).ok(), serde_json::to_value(&read).ok()];
        if let [Some(text), Some(known)] = &keys
            && let Some(key) = unknown_key(text, known)
        {
            return Err(not_followed(format!("unknown field `{key}`")));
        }
        let head = Head {
            tool: read.tool,
            sweep: read.sweep,
            shard: read.shard,
        };
        if let Some(Shard { index, count }) = head.shard
            && (index == 0 || index > count)
        {
            let why = format!("there is no shard {index} of {count}");
            return Err(Fault(ProblemKind::Mangled, why));
        }
        // A short text can describe more points than fit in memory.
        let points = head.sweep.points();
        if points > MOST_POINTS {
            let why = format!("its sweep has {points} points, more than the maximum of {MOST_POINTS}");
            return Err(Fault(ProblemKind::Mangled, why));
        }
        Ok(Self {
            head,
            lines,
            line,
            more: None,
        })
    }

    /// What the head says.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Reads to the end; points that a signal left out are as good as others.
    ///
    /// # Errors
    /// As [`PointReader::next_line`] and [`PointReader::end`].
    pub(super) fn all(mut self) -> Result<Simulation, Fault> {
        let points = due(&self.head.sweep, self.head.shard).map(|due| self.next(due));
        let points = points.collect::<Result<_, _>>()?;
        self.end()?;
        let Head { tool, sweep, shard } = self.head;
        Ok(Simulation {
            schema: SCHEMA.to_owned(),
            tool,
            sweep,
            shard,
            points,
        })
    }

    /// Reads to the end, and checks that all points of the shard are there.
    ///
    /// # Errors
    /// As [`PointReader::next_line`] and [`PointReader::end`].
    pub fn check(&mut self) -> Result<(), Fault> {
        for due in due(&self.head.sweep, self.head.shard) {
            self.next_line(due)?;
        }
        self.end()
    }

    /// The line of the next point, which must be the one with the index `due`, without its comma and line end.
    ///
    /// # Errors
    /// The file ends before, or the point is another one or was modified.
    pub fn next_line(&mut self, due: usize) -> Result<&[u8], Fault> {
        let point = self.next(due)?;
        match point.refused.as_ref().filter(|_| point.is_left_out()) {
            Some(why) => Err(Fault(ProblemKind::Torn, format!("point {due} was {why}"))),
            None => Ok(&self.line),
        }
    }

    /// The next point; its line is in `line`.
    fn next(&mut self, due: usize) -> Result<Point, Fault> {
        let missing = || Fault(ProblemKind::Torn, format!("it ends before point {due}"));
        if self.more == Some(false) {
            return Err(missing());
        }
        read_line(&mut self.lines, &mut self.line)?;
        if self.line == END {
            let why = format!("point {due} is missing; it was modified after it was written");
            return Err(Fault(ProblemKind::Mangled, why));
        }
        if self.line.pop() != Some(b'\n') {
            return Err(missing());
        }
        let more = self.line.last() == Some(&b',');
        if more {
            self.line.pop();
        }
        self.more = Some(more);
        let changed = |what: String| {
            let why = format!("{what}; it was modified after it was written");
            Err(Fault(ProblemKind::Mangled, why))
        };
        let point: Point = match serde_json::from_slice(&self.line) {
            Ok(point) => point,
            Err(e) => return changed(format!("the line of point {due} is not a point: {e}")),
        };
        if let Some(what) = wrong(&self.head.sweep, &point, due) {
            return changed(what);
        }
        match serde_json::to_vec(&point) {
            Ok(written) if written == self.line => Ok(point),
            _ => changed(format!("the line of point {due} is not as it is written")),
        }
    }

    /// Reads the end, after the last point.
    ///
    /// # Errors
    /// More follows, or the end is missing.
    pub fn end(&mut self) -> Result<(), Fault> {
        if self.more == Some(true) {
            let why = "it has more points than its shard; it was modified after it was written";
            return Err(Fault(ProblemKind::Mangled, why.into()));
        }
        read_line(&mut self.lines, &mut self.line)?;
        if self.line != END {
            return Err(Fault(ProblemKind::Torn, "its end is missing".to_owned()));
        }
        read_line(&mut self.lines, &mut self.line)?;
        match self.line.is_empty() {
            true => Ok(()),
            false => Err(Fault(ProblemKind::Mangled, "something follows its end".to_owned())),
        }
    }
}

/// Reads the next line with its end; empty at the end of the file.
fn read_line(lines: &mut impl BufRead, line: &mut Vec<u8>) -> Result<(), Fault> {
    line.clear();
    let read = lines.take(LONGEST_LINE).read_until(b'\n', line);
    match read {
        Ok(n) if n as u64 == LONGEST_LINE => Err(Fault(
            ProblemKind::Foreign,
            format!("a line has more than {LONGEST_LINE} bytes, so it is not a simulation"),
        )),
        Ok(_) => Ok(()),
        Err(e) => Err(Fault(ProblemKind::Torn, format!("reading it failed: {e}"))),
    }
}

/// A key of the text that is not among those that are written. What has no value under a key that was changed is read as if it had been left out.
fn unknown_key<'a>(text: &'a Value, known: &Value) -> Option<&'a str> {
    match (text, known) {
        (Value::Object(text), Value::Object(known)) => text.iter().find_map(|(key, value)| match known.get(key) {
            Some(known) => unknown_key(value, known),
            None => Some(key.as_str()),
        }),
        (Value::Array(text), Value::Array(known)) => text
            .iter()
            .zip(known)
            .find_map(|(text, known)| unknown_key(text, known)),
        _ => None,
    }
}

/// What is wrong with a text that does not have a head in its first `lines` lines.
fn head_fault(text: &[u8], lines: usize) -> Fault {
    let common = text.len().min(BEGIN.len());
    if text[..common] != BEGIN[..common] {
        return Fault(
            ProblemKind::Foreign,
            "it is not a simulation written by `cyclewise simulate --json`".to_owned(),
        );
    }
    if text.ends_with(b"\n") {
        let why = "its head is not as `cyclewise simulate --json` writes it";
        return Fault(ProblemKind::Mangled, why.into());
    }
    Fault(ProblemKind::Torn, format!("it ends in line {lines}, before its points"))
}

#[cfg(test)]
mod tests;
