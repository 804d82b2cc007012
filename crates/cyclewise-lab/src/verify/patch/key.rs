//! The flip of a static key: after it returns, every thread sees it.

use super::super::is_over;
use super::{no_thread, refused};
use crate::error::Result;
use crate::verify::Check;
use cyclewise::static_key;
use std::hint::spin_loop;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

/// A switch that one thread flips and others read.
pub(super) trait Key: Sync {
    fn set(&self, on: bool) -> Result<()>;
    fn is_on(&self) -> bool;
    /// Whether the text of its tests is what `set` made it.
    fn is_kept(&self, on: bool) -> bool;
}

static_key! {
    static KEY: StaticKey = false;
}

/// The library's key.
pub(super) struct Patched;

impl Key for Patched {
    fn set(&self, on: bool) -> Result<()> {
        if on { KEY.enable() } else { KEY.disable() }.map_err(refused)
    }

    #[inline(never)]
    fn is_on(&self) -> bool {
        KEY.is_enabled()
    }

    fn is_kept(&self, _: bool) -> bool {
        KEY.check().is_ok()
    }
}

/// Flips for `time`; every thread reads after each flip.
///
/// A flip is announced after it has returned; a thread that reads after the announcement must see it.
pub(super) fn flips(key: &impl Key, threads: usize, time: Duration) -> Result<Check> {
    let begun = Instant::now();
    let (announced, looked, stale) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let over = AtomicBool::new(false);
    let (flips, lost) = thread::scope(|scope| {
        let look = || {
            let mut seen = 0;
            while !over.load(SeqCst) {
                let flip = announced.load(SeqCst);
                if flip == seen {
                    // These reads only must not crash while the text is modified.
                    key.is_on();
                    spin_loop();
                    continue;
                }
                seen = flip;
                stale.fetch_add(u64::from(key.is_on() != is_on_after(flip)), SeqCst);
                looked.fetch_add(1, SeqCst);
            }
        };
        let made = (0..threads).try_for_each(|_| Builder::new().spawn_scoped(scope, look).map(drop));
        let (mut flip, mut lost) = (0, 0);
        let outcome = loop {
            if let Err(e) = &made {
                break Err(no_thread("patch", e));
            }
            if flip > 0 && is_over(begun, time) {
                break Ok((flip, lost));
            }
            if let Err(e) = key.set(is_on_after(flip + 1)) {
                break Err(e);
            }
            flip += 1;
            // Something else may write to this program's text: a uprobe, a debugger.
            lost += u64::from(!key.is_kept(is_on_after(flip)));
            announced.store(flip, SeqCst);
            while looked.load(SeqCst) < flip * threads as u64 {
                thread::yield_now();
            }
        };
        over.store(true, SeqCst);
        outcome
    })?;
    key.set(false)?;
    let (looked, stale) = (looked.into_inner(), stale.into_inner());
    Ok(Check {
        name: "a-flip-is-seen-by-all",
        promise: "after the flip of a static key returns, every thread takes the other branch, and the text reads back as written",
        seen: format!("{stale} of {looked} tests stale after {flips} flips, {lost} of which did not read back"),
        tries: looked as usize,
        events: (stale + lost) as usize,
        holds: Some(stale + lost == 0),
    })
}

/// Enabled after odd flips.
fn is_on_after(flip: u64) -> bool {
    flip % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flag that ignores all flips after the first `left`.
    struct Flag {
        on: AtomicBool,
        left: AtomicU64,
    }

    impl Key for Flag {
        fn set(&self, on: bool) -> Result<()> {
            if self.left.load(SeqCst) > 0 {
                self.left.fetch_sub(1, SeqCst);
                self.on.store(on, SeqCst);
            }
            Ok(())
        }

        fn is_on(&self) -> bool {
            self.on.load(SeqCst)
        }

        fn is_kept(&self, on: bool) -> bool {
            self.on.load(SeqCst) == on
        }
    }

    /// A flag that says what it should, whose text does not.
    struct Misread(Flag);

    impl Key for Misread {
        fn set(&self, on: bool) -> Result<()> {
            self.0.set(on)
        }

        fn is_on(&self) -> bool {
            self.0.is_on()
        }

        fn is_kept(&self, on: bool) -> bool {
            !on
        }
    }

    fn flag(left: u64) -> Flag {
        Flag {
            on: AtomicBool::new(false),
            left: AtomicU64::new(left),
        }
    }

    #[test]
    fn a_flag_is_seen_and_one_that_stops_listening_is_caught() {
        let time = Duration::from_millis(20);
        assert!(flips(&flag(u64::MAX), 2, time).unwrap().holds == Some(true));
        let check = flips(&flag(0), 2, time).unwrap();
        assert!(check.holds == Some(false) && check.events >= 2, "{}", check.seen);
        let check = flips(&Misread(flag(u64::MAX)), 2, time).unwrap();
        assert!(
            check.holds == Some(false) && check.seen.starts_with("0 of "),
            "{}",
            check.seen
        );
    }
}
