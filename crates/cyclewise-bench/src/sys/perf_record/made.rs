//! Makes records as the kernel writes them, for tests.

use super::*;
use crate::sys::perf_ibs;

fn record(kind: u32, misc: u16, body: &[u8]) -> Vec<u8> {
    let size = (HEADER + body.len()) as u16;
    let mut bytes = kind.to_ne_bytes().to_vec();
    bytes.extend_from_slice(&misc.to_ne_bytes());
    bytes.extend_from_slice(&size.to_ne_bytes());
    bytes.extend_from_slice(body);
    bytes
}

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_ne_bytes()).collect()
}

fn halves(halves: &[u32]) -> Vec<u8> {
    halves.iter().flat_map(|w| w.to_ne_bytes()).collect()
}

fn text(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize((text.len() + 1).next_multiple_of(8), 0);
    bytes
}

fn with_trailer(mut body: Vec<u8>, task: Task, time_ns: u64) -> Vec<u8> {
    body.extend(halves(&[task.pid, task.tid]));
    body.extend(words(&[time_ns, 1, 99]));
    body
}

/// The bytes of `stamped`.
pub fn bytes(stamped: &Stamped) -> Vec<u8> {
    let time = stamped.time_ns;
    match &stamped.record {
        Record::Sample(s) => {
            let mut body = words(&[s.event, s.ip]);
            body.extend(halves(&[s.task.pid, s.task.tid]));
            body.extend(words(&[time, s.data, 1, s.period]));
            if let Some(op) = s.ibs {
                let raw = perf_ibs::raw(op);
                body.extend(halves(&[raw.len() as u32]));
                body.extend(raw);
            }
            let misc = if s.user { MISC_USER } else { 1 } | if s.exact { MISC_EXACT_IP } else { 0 };
            record(9, misc, &body)
        }
        Record::Mapped(m) => {
            let mut body = halves(&[m.task.pid, m.task.tid]);
            body.extend(words(&[m.start, m.length, m.offset]));
            let mut identity = [0u8; 24];
            let mut misc = MISC_USER;
            if let Some(id) = &m.build_id {
                misc |= MISC_BUILD_ID;
                identity[0] = id.len() as u8;
                identity[4..4 + id.len()].copy_from_slice(id);
            }
            body.extend(identity);
            body.extend(halves(&[5, 2]));
            body.extend(text(&m.path));
            record(10, misc, &with_trailer(body, m.task, time))
        }
        Record::Named { task, name, executed } => {
            let mut body = halves(&[task.pid, task.tid]);
            body.extend(text(name));
            let misc = if *executed { MISC_COMM_EXEC } else { 0 };
            record(3, misc, &with_trailer(body, *task, time))
        }
        Record::Forked { task, parent } => {
            let mut body = halves(&[task.pid, parent.pid, task.tid, parent.tid]);
            body.extend(words(&[time]));
            record(7, 0, &with_trailer(body, *parent, time))
        }
        Record::Exited(task) => {
            let mut body = halves(&[task.pid, 1, task.tid, 1]);
            body.extend(words(&[time]));
            record(4, 0, &with_trailer(body, *task, time))
        }
        Record::Lost(count) => record(2, 0, &with_trailer(words(&[99, *count]), Task::default(), time)),
        Record::Throttled => record(5, 0, &with_trailer(words(&[time, 99, 99]), Task::default(), time)),
        Record::Count(c) => {
            let mut body = halves(&[c.task.pid, c.task.tid]);
            body.extend(words(&[c.value, c.enabled_ns, c.running_ns, c.event]));
            record(8, 0, &with_trailer(body, c.task, time))
        }
        Record::Other => record(14, 0, &with_trailer(Vec::new(), Task::default(), time)),
        Record::Malformed => record(9, 0, &[0; 8]),
    }
}
