//! The CPU lines of /proc/stat: each CPU's time by use, in USER_HZ ticks.

/// One CPU's counters since boot, in USER_HZ ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// The total. Guest time is not added, because `user` contains it.
    pub total: u64,
    /// Idle and waiting for I/O.
    pub idle: u64,
    /// Taken by the hypervisor.
    pub steal: u64,
}

impl Times {
    /// The difference to `earlier`. It saturates, because idle time can go back by a tick.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            total: self.total.saturating_sub(earlier.total),
            idle: self.idle.saturating_sub(earlier.idle),
            steal: self.steal.saturating_sub(earlier.steal),
        }
    }

    /// `part` as a share of the total; `None` if no tick passed.
    pub fn share(self, part: u64) -> Option<f64> {
        (self.total > 0).then(|| part as f64 / self.total as f64)
    }
}

/// The `cpu` line: all CPUs together.
pub fn all(text: &[u8]) -> Option<Times> {
    line(text, b"cpu ").and_then(times)
}

pub fn of_cpu(text: &[u8], cpu: u32) -> Option<Times> {
    line(text, format!("cpu{cpu} ").as_bytes()).and_then(times)
}

/// The rest of the line that starts with `prefix`. A last line without a newline is truncated and not used.
fn line<'a>(text: &'a [u8], prefix: &[u8]) -> Option<&'a [u8]> {
    let mut rest = text;
    while let Some(end) = rest.iter().position(|b| *b == b'\n') {
        let (line, after) = rest.split_at(end);
        // The CPU lines are first; the lines after them are long and not needed.
        if !line.starts_with(b"cpu") {
            return None;
        }
        if let Some(fields) = line.strip_prefix(prefix) {
            return Some(fields);
        }
        rest = &after[1..];
    }
    None
}

/// Parses: user nice system idle iowait irq softirq steal, then guest times.
fn times(fields: &[u8]) -> Option<Times> {
    let text = std::str::from_utf8(fields).ok()?;
    let mut ticks = [0_u64; 8];
    let mut words = text.split_ascii_whitespace();
    for tick in &mut ticks {
        *tick = words.next()?.parse().ok()?;
    }
    Some(Times {
        total: ticks.iter().copied().fold(0, u64::saturating_add),
        idle: ticks[3].saturating_add(ticks[4]),
        steal: ticks[7],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &[u8] =
        b"cpu  10 1 5 100 4 2 3 25 9 0\ncpu0 4 0 2 50 2 1 1 5 4 0\ncpu10 6 1 3 50 2 1 2 20 5 0\nintr 7 0\n";

    #[test]
    fn each_line_is_found() {
        assert_eq!(
            all(STAT),
            Some(Times {
                total: 150,
                idle: 104,
                steal: 25
            })
        );
        assert_eq!(of_cpu(STAT, 0).unwrap().steal, 5);
        assert_eq!(of_cpu(STAT, 10).unwrap().steal, 20);
        assert_eq!(of_cpu(STAT, 1), None, "cpu1 is not cpu10");
    }

    #[test]
    fn a_truncated_line_is_not_used() {
        assert_eq!(all(b"cpu  10 1 5 100 4 2 3 2"), None);
        assert_eq!(all(b""), None);
        assert_eq!(all(b"cpu  10 1 5 100\n"), None, "a kernel without steal");
        assert_eq!(all(b"cpu  x 1 5 100 4 2 3 25\n"), None);
    }

    #[test]
    fn shares_of_an_interval() {
        let earlier = Times {
            total: 100,
            idle: 60,
            steal: 0,
        };
        let later = Times {
            total: 120,
            idle: 75,
            steal: 4,
        };
        let passed = later.since(earlier);
        assert_eq!(
            passed,
            Times {
                total: 20,
                idle: 15,
                steal: 4
            }
        );
        assert_eq!(passed.share(passed.steal), Some(0.2));
        assert_eq!(earlier.since(earlier).share(0), None);
        assert_eq!(earlier.since(later).idle, 0, "never below zero");
    }
}
