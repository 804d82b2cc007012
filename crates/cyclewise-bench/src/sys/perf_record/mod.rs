//! The records that the kernel writes into a ring, from bytes: a pure function, which any bytes may be given to.
//!
//! # Invariants
//! 1. Every field is read within its record, and every record within the bytes. What does not fit is [`Record::Malformed`].
//! 2. Every event of ours has `SAMPLE_TYPE` and `sample_id_all`; of samples, those of `RAW` events go on behind it. So one layout
//!    serves all of them, whichever event wrote the record.
//!
//! # References
//! perf_event_open(2), "MMAP layout"; `enum perf_event_type` in include/uapi/linux/perf_event.h.

pub use super::perf_ibs::IbsOp;

/// IDENTIFIER, IP, TID, TIME, ADDR, CPU, PERIOD.
pub(super) const SAMPLE_TYPE: u64 = 1 << 16 | 1 << 0 | 1 << 1 | 1 << 2 | 1 << 3 | 1 << 7 | 1 << 8;
pub(super) const RAW: u64 = 1 << 10;
/// What `sample_id_all` puts at the end of the other records: pid and tid, time, CPU, identifier.
const TRAILER: usize = 32;
const HEADER: usize = 8;

const MISC_CPUMODE: u16 = 7;
const MISC_USER: u16 = 2;
const MISC_COMM_EXEC: u16 = 1 << 13;
const MISC_EXACT_IP: u16 = 1 << 14;
const MISC_BUILD_ID: u16 = 1 << 14;
const PROT_EXEC: u32 = 4;

/// A task, by the numbers of the namespace of the process that opened the events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Task {
    pub pid: u32,
    pub tid: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamped {
    /// By the kernel's clock for perf, nanoseconds.
    pub time_ns: u64,
    pub record: Record,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    Sample(Sample),
    /// A file, or memory without one, was mapped so that it can be executed.
    Mapped(Mapped),
    /// A thread has a new name.
    Named {
        task: Task,
        name: String,
        /// It has it because it executed a program.
        executed: bool,
    },
    /// A thread began.
    Forked {
        task: Task,
        parent: Task,
    },
    /// A thread ended.
    Exited(Task),
    /// Records were lost: the ring was full.
    Lost(u64),
    /// The kernel stopped sampling for a while, because it took too much time.
    Throttled,
    /// The count of a thread that ended.
    Count(Count),
    /// One that we do not use.
    Other,
    /// One that is shorter than its kind.
    Malformed,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    pub event: u64,
    pub task: Task,
    /// The address of the instruction.
    pub ip: u64,
    /// The hardware says that it is exactly that one.
    pub exact: bool,
    pub user: bool,
    /// The address of the data, or 0.
    pub data: u64,
    /// How many events it stands for.
    pub period: u64,
    pub ibs: Option<IbsOp>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapped {
    pub task: Task,
    /// Its first address.
    pub start: u64,
    pub length: u64,
    /// Where in the file it begins.
    pub offset: u64,
    /// The file, or a name in brackets or after `//` where there is none.
    pub path: String,
    /// The file's build id.
    pub build_id: Option<Vec<u8>>,
}

/// A count of one thread, from when it began until it ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub event: u64,
    pub task: Task,
    pub value: u64,
    /// How long the event was enabled, nanoseconds.
    pub enabled_ns: u64,
    pub running_ns: u64,
}

/// The records in `bytes`, which begin with one. Stops at what is no record, and says so by a last [`Record::Malformed`].
pub fn parse(mut bytes: &[u8]) -> Vec<Stamped> {
    let mut records = Vec::new();
    while !bytes.is_empty() {
        let size = match Reader(bytes).header() {
            Some((.., size)) if usize::from(size) >= HEADER && usize::from(size) <= bytes.len() => usize::from(size),
            _ => {
                records.push(Stamped {
                    time_ns: 0,
                    record: Record::Malformed,
                });
                break;
            }
        };
        let (record, rest) = bytes.split_at(size);
        records.push(one(record));
        bytes = rest;
    }
    records
}

fn one(bytes: &[u8]) -> Stamped {
    let mut reader = Reader(bytes);
    let (kind, misc) = match reader.header() {
        Some((kind, misc, _)) => (kind, misc),
        None => (u32::MAX, 0),
    };
    let parsed = if kind == 9 {
        sample(&mut reader, misc)
    } else {
        other(reader.0, kind, misc)
    };
    parsed.unwrap_or(Stamped {
        time_ns: 0,
        record: Record::Malformed,
    })
}

fn sample(r: &mut Reader<'_>, misc: u16) -> Option<Stamped> {
    let event = r.u64()?;
    let ip = r.u64()?;
    let task = r.task()?;
    let time_ns = r.u64()?;
    let data = r.u64()?;
    r.u64()?; // The CPU.
    let period = r.u64()?;
    let ibs = match r.u32() {
        Some(size) => IbsOp::decode(r.take(size as usize)?),
        None => None,
    };
    let sample = Sample {
        event,
        task,
        ip,
        exact: misc & MISC_EXACT_IP != 0,
        user: misc & MISC_CPUMODE == MISC_USER,
        data,
        period,
        ibs,
    };
    Some(Stamped {
        time_ns,
        record: Record::Sample(sample),
    })
}

/// A record of another kind, whose end is the trailer.
fn other(bytes: &[u8], kind: u32, misc: u16) -> Option<Stamped> {
    let (body, trailer) = bytes.split_at_checked(bytes.len().checked_sub(TRAILER)?)?;
    let mut trailer = Reader(trailer);
    trailer.task()?;
    let time_ns = trailer.u64()?;
    let mut r = Reader(body);
    let record = match kind {
        2 => {
            r.u64()?;
            Record::Lost(r.u64()?)
        }
        3 => Record::Named {
            task: r.task()?,
            name: r.text()?,
            executed: misc & MISC_COMM_EXEC != 0,
        },
        4 | 7 => {
            let (pid, parent_pid, tid, parent_tid) = (r.u32()?, r.u32()?, r.u32()?, r.u32()?);
            let task = Task { pid, tid };
            let parent = Task {
                pid: parent_pid,
                tid: parent_tid,
            };
            if kind == 4 {
                Record::Exited(task)
            } else {
                Record::Forked { task, parent }
            }
        }
        5 => Record::Throttled,
        8 => {
            let task = r.task()?;
            let (value, enabled_ns, running_ns, event) = (r.u64()?, r.u64()?, r.u64()?, r.u64()?);
            Record::Count(Count {
                event,
                task,
                value,
                enabled_ns,
                running_ns,
            })
        }
        10 => mapped(&mut r, misc)?,
        13 => Record::Lost(r.u64()?),
        _ => Record::Other,
    };
    Some(Stamped { time_ns, record })
}

fn mapped(r: &mut Reader<'_>, misc: u16) -> Option<Record> {
    let task = r.task()?;
    let (start, length, offset) = (r.u64()?, r.u64()?, r.u64()?);
    let identity = r.take(24)?;
    let build_id = (misc & MISC_BUILD_ID != 0)
        .then(|| identity[4..].get(..usize::from(identity[0])).map(<[u8]>::to_vec))
        .flatten();
    let protection = r.u32()?;
    r.u32()?; // The flags of mmap.
    let path = r.text()?;
    if protection & PROT_EXEC == 0 {
        return Some(Record::Other);
    }
    Some(Record::Mapped(Mapped {
        task,
        start,
        length,
        offset,
        path,
        build_id,
    }))
}

/// What is left of a record's bytes.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn u16(&mut self) -> Option<u16> {
        self.take(2)?.try_into().ok().map(u16::from_ne_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_ne_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_ne_bytes)
    }

    fn header(&mut self) -> Option<(u32, u16, u16)> {
        Some((self.u32()?, self.u16()?, self.u16()?))
    }

    fn task(&mut self) -> Option<Task> {
        Some(Task {
            pid: self.u32()?,
            tid: self.u32()?,
        })
    }

    /// Text up to its NUL; the kernel pads it to eight bytes. Control characters become spaces, as it ends up on terminals.
    fn text(&mut self) -> Option<String> {
        let end = self.0.iter().position(|&b| b == 0)?;
        let text = String::from_utf8_lossy(self.take(end)?).into_owned();
        Some(text.replace(crate::error::is_control, " "))
    }
}

#[cfg(test)]
mod tests;

#[cfg(any(test, feature = "testing"))]
pub mod made;
