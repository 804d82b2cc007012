//! Two programs that take turns on one CPU, round by round, so that both meet the same neighbour.
//!
//! # Invariants
//! 1. Of each pair of messages the first program sends before it reads, and the second reads before it sends: none waits for ever
//!    while the other lives.
//! 2. Both know what both said, so both end a measurement after the same round.

use crate::error::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::cell::RefCell;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;

/// This program's end.
#[derive(Debug)]
pub struct Turns {
    other: RefCell<BufReader<UnixStream>>,
    is_first: bool,
}

impl Turns {
    /// The first of the two, or the second, by this socket.
    pub fn new(other: UnixStream, is_first: bool) -> Self {
        Self {
            other: RefCell::new(BufReader::new(other)),
            is_first,
        }
    }

    /// Whether this is the first of the two.
    pub fn is_first(&self) -> bool {
        self.is_first
    }

    /// Tells the other program `own`, and hears its.
    ///
    /// # Errors
    /// The other program is gone, or says something else.
    pub fn exchange<T: Serialize + DeserializeOwned>(&self, own: &T) -> Result<T> {
        if self.is_first {
            self.say(own)?;
            self.hear()
        } else {
            let other = self.hear()?;
            self.say(own)?;
            Ok(other)
        }
    }

    /// Runs `work` while the other program waits, before its own work or behind it: the first is first in even turns.
    pub fn in_turn<T>(&self, turn: usize, work: impl FnOnce() -> T) -> Result<T> {
        if self.is_first == turn.is_multiple_of(2) {
            let result = work();
            self.say(&())?;
            self.hear::<()>()?;
            Ok(result)
        } else {
            self.hear::<()>()?;
            let result = work();
            self.say(&())?;
            Ok(result)
        }
    }

    fn say<T: Serialize>(&self, what: &T) -> Result<()> {
        let mut line = serde_json::to_string(what).map_err(|e| gone(&e.into()))?;
        line.push('\n');
        let mut other = self.other.borrow_mut();
        other.get_mut().write_all(line.as_bytes()).map_err(|e| gone(&e))
    }

    fn hear<T: DeserializeOwned>(&self) -> Result<T> {
        let mut line = String::new();
        match self.other.borrow_mut().read_line(&mut line) {
            Ok(0) => Err(gone(&io::ErrorKind::UnexpectedEof.into())),
            Ok(_) => serde_json::from_str(&line).map_err(|e| gone(&e.into())),
            Err(e) => Err(gone(&e)),
        }
    }
}

fn gone(e: &io::Error) -> Error {
    Error::check(format!(
        "the program that it takes turns with ended, or says what it should not: {e}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    fn pair() -> [Turns; 2] {
        let (a, b) = UnixStream::pair().unwrap();
        [Turns::new(a, true), Turns::new(b, false)]
    }

    #[test]
    fn each_hears_the_other() {
        let [a, b] = pair();
        let other = std::thread::spawn(move || b.exchange(&("b".to_string(), 2)).unwrap());
        assert_eq!(a.exchange(&("a".to_string(), 1)).unwrap(), ("b".to_string(), 2));
        assert_eq!(other.join().unwrap(), ("a".to_string(), 1));
    }

    #[test]
    fn works_follow_each_other_and_their_order_changes() {
        let log = Mutex::new(Vec::new());
        let run = |turns: Turns, name: char| {
            for turn in 0..4 {
                turns.in_turn(turn, || log.lock().unwrap().push(name)).unwrap();
            }
        };
        let [a, b] = pair();
        std::thread::scope(|s| {
            s.spawn(|| run(a, 'a'));
            s.spawn(|| run(b, 'b'));
        });
        assert_eq!(String::from_iter(log.into_inner().unwrap()), "abbaabba");
    }

    #[test]
    fn a_program_that_is_gone_ends_the_turns() {
        let [a, b] = pair();
        drop(b);
        assert!(a.exchange(&1).is_err());
        // The twin of a message that is another's.
        let [a, b] = pair();
        let other = std::thread::spawn(move || b.exchange(&"text".to_string()).map(drop));
        assert!(a.exchange(&1).is_err());
        drop(a);
        let _ = other.join().unwrap();
    }
}
