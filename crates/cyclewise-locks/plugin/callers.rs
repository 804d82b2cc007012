//! Who calls: the return addresses of the calls that a thread is in, and how often each site was executed from which.
//!
//! The program's own calls and returns are followed. A return that leads to no address of the list ends it: a signal's handler comes back,
//! after which the list is as before, or a coroutine goes on, whose list is the one that ended where that coroutine left. Callers that are
//! not known are better than wrong ones: coroutines that left at one place come back with what their lists have in common. A return that
//! leads deeper has left several calls at once, as after longjmp(3); until then the callers further up are those of the calls that were left.
//!
//! # Cost
//! A push or a search from the top for each call and return, and a search in a hash table for each execution of a site.

use crate::blocks;
use crate::decode::Flow;
use crate::image;
use crate::layout::{self, CALLERS};
use crate::memory::bump;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU32, Ordering};

/// Calls that a thread may be in; of deeper recursion the outer half is forgotten.
const DEEPEST: usize = 1 << 14;
/// How many calls one return may leave.
const LEAVES: usize = 256;
/// Places at which coroutines of one thread may have left.
const PLACES: usize = 1 << 10;
/// Innermost calls that are kept of each.
const KEPT: usize = 64;
/// Kinds of paths of one thread at a time; of further ones [`NEAR`] callers are kept.
const PATHS: usize = 8192;
/// The line that pays, behind a wrapper.
const NEAR: usize = 2;
/// Kinds of those; executions on further ones have no callers.
const NEAR_PATHS: usize = 8192;
/// Kinds of paths of all threads, each counted for each thread that has it: 32 MB of the file.
const ALL_PATHS: u32 = 1 << 18;

/// How many of these there are.
static ADDED: AtomicU32 = AtomicU32::new(0);

/// For the child of a fork: no paths.
pub fn begin_again() {
    ADDED.store(0, Ordering::Relaxed);
}

/// A site and the innermost return addresses; 0 is none.
type Key = (u32, [u64; CALLERS]);

/// Multiplies and rotates: keys are addresses that nobody chooses to collide.
#[derive(Default)]
pub struct FastHasher(u64);

impl Hasher for FastHasher {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// Paths that were counted.
pub type Paths = HashMap<Key, &'static layout::Path, BuildHasherDefault<FastHasher>>;

/// Coroutines that left at one place.
struct Left {
    /// How many.
    coroutines: u32,
    /// The innermost calls that all of them are in.
    common: Vec<u64>,
}

/// The calls of one thread.
#[derive(Default)]
pub struct Callers {
    stack: Vec<u64>,
    /// What the last return ended, until a call or a return shows that it was no handler's.
    ended: Vec<u64>,
    /// Coroutines that left, by where they come back to.
    left: HashMap<u64, Left, BuildHasherDefault<FastHasher>>,
    /// Paths that were counted, by this thread or by those before it.
    pub paths: Paths,
}

impl Callers {
    /// No calls, and the paths that a thread before counted.
    pub fn with(paths: Paths) -> Self {
        Self {
            paths,
            ..Self::default()
        }
    }

    /// After a block that ended so, one at `to` begins.
    #[inline]
    pub fn went(&mut self, flow: Flow, to: u64) {
        match flow {
            Flow::Next => {}
            // Code that asks where it is calls what follows.
            Flow::Call(back) if back == to => {}
            Flow::Call(back) => {
                self.keep_ended();
                if self.stack.len() == DEEPEST {
                    self.stack.drain(..DEEPEST / 2);
                }
                self.stack.push(back);
            }
            Flow::Return => {
                self.keep_ended();
                match self.stack.iter().rev().take(LEAVES).position(|back| *back == to) {
                    Some(left) => self.stack.truncate(self.stack.len() - left - 1),
                    None => self.ended(to),
                }
            }
        }
    }

    /// A signal's handler has come back, by the return before this system call.
    pub fn handler_came_back(&mut self) {
        self.stack = std::mem::take(&mut self.ended);
    }

    /// A return to an address that no call of the list comes back to.
    #[cold]
    fn ended(&mut self, to: u64) {
        self.ended = std::mem::take(&mut self.stack);
        let Some(left) = self.left.get_mut(&to) else { return };
        left.coroutines -= 1;
        self.stack.clone_from(&left.common);
        self.stack.pop();
        if left.coroutines == 0 {
            self.left.remove(&to);
        }
    }

    /// What ended was a coroutine's, which left.
    #[inline]
    fn keep_ended(&mut self) {
        if !self.ended.is_empty() {
            self.keep_ended_slow();
        }
    }

    #[cold]
    fn keep_ended_slow(&mut self) {
        let ended = std::mem::take(&mut self.ended);
        let kept = &ended[ended.len().saturating_sub(KEPT)..];
        let (Some(back), places) = (kept.last(), self.left.len()) else {
            return;
        };
        match self.left.get_mut(back) {
            Some(left) => {
                left.coroutines += 1;
                let pairs = left.common.iter().rev().zip(kept.iter().rev());
                let same = pairs.take_while(|(a, b)| a == b).count();
                left.common.drain(..left.common.len() - same);
            }
            None if places < PLACES => {
                let (coroutines, common) = (1, kept.to_vec());
                self.left.insert(*back, Left { coroutines, common });
            }
            None => {}
        }
    }

    /// A site was executed.
    #[inline]
    pub fn executed(&mut self, site: u32) {
        if self.stack.is_empty() {
            return;
        }
        let mut innermost = [0; CALLERS];
        for (to, back) in innermost.iter_mut().zip(self.stack.iter().rev()) {
            *to = *back;
        }
        match self.paths.get(&(site, innermost)) {
            Some(path) => bump(&path.executed, 1),
            None => self.first((site, innermost)),
        }
    }

    #[cold]
    fn first(&mut self, mut key: Key) {
        if self.paths.len() >= PATHS {
            key.1[NEAR..].fill(0);
            if let Some(path) = self.paths.get(&key) {
                bump(&path.executed, 1);
                return;
            }
        }
        // Relaxed: it is a bound, which threads that come at once may exceed by one each.
        if self.paths.len() >= PATHS + NEAR_PATHS || ADDED.load(Ordering::Relaxed) >= ALL_PATHS {
            return;
        }
        ADDED.fetch_add(1, Ordering::Relaxed);
        let base = blocks::host(0);
        let mappings = {
            let mut translation = blocks::lock();
            key.1.map(|back| match back {
                0 => layout::NO_MAPPING,
                back => translation.sites.maps.find(back.wrapping_add(base), base),
            })
        };
        let path = image::lock().add(
            |header| &header.paths,
            |path: &layout::Path| &path.next,
            |path| {
                path.site.store(key.0, Ordering::Relaxed);
                for (to, (back, mapping)) in path.callers.iter().zip(key.1.into_iter().zip(mappings)) {
                    to.address.store(back, Ordering::Relaxed);
                    to.mapping.store(mapping, Ordering::Relaxed);
                }
            },
        );
        bump(&path.executed, 1);
        self.paths.insert(key, path);
    }
}

#[cfg(test)]
mod tests {
    use super::{Callers, DEEPEST, Flow};

    /// The calls after blocks that ended so and led there.
    fn after(steps: &[(Flow, u64)]) -> Vec<u64> {
        let mut callers = Callers::default();
        for (flow, to) in steps {
            callers.went(*flow, *to);
        }
        callers.stack
    }

    #[test]
    fn calls_are_those_that_have_not_come_back() {
        let [a, b, c] = [10, 20, 30].map(Flow::Call);
        assert_eq!(after(&[(a, 1), (b, 2), (Flow::Next, 3)]), [10, 20]);
        assert_eq!(after(&[(a, 1), (b, 2), (Flow::Return, 20)]), [10]);
        assert_eq!(after(&[(a, 10)]), [], "code that asks where it is");
        // longjmp left two calls.
        assert_eq!(after(&[(a, 1), (b, 2), (c, 3), (Flow::Return, 10)]), []);
        // A coroutine went on: nobody is known, and new calls are.
        assert_eq!(after(&[(a, 1), (Flow::Return, 99), (b, 2)]), [20]);
    }

    #[test]
    fn a_coroutine_comes_back_with_its_calls() {
        let [a, b, c, d] = [10, 20, 30, 40].map(Flow::Call);
        // In 10, at 20, it leaves to a new one, which leaves at 30 and comes back the same way.
        let mut steps = vec![(a, 1), (b, 2), (Flow::Return, 99), (c, 3), (Flow::Return, 20)];
        assert_eq!(after(&steps), [10]);
        steps.extend([(b, 2), (Flow::Return, 30)]);
        assert_eq!(after(&steps), [], "the new one has no callers");
        // Two that left at 20, from 10 and from 40: what both are in is known of each.
        let mut steps = vec![
            (a, 1),
            (b, 2),
            (Flow::Return, 99),
            (d, 4),
            (b, 2),
            (Flow::Return, 98),
            (c, 3),
        ];
        steps.push((Flow::Return, 20));
        assert_eq!(after(&steps), []);
    }

    #[test]
    fn what_a_handler_interrupted_goes_on_with_its_calls() {
        let mut callers = Callers::default();
        let [a, b] = [10, 20].map(Flow::Call);
        for (flow, to) in [(a, 1), (b, 2), (Flow::Return, 20), (Flow::Return, 99)] {
            callers.went(flow, to);
        }
        assert!(callers.stack.is_empty(), "until it is known who came back");
        callers.handler_came_back();
        assert_eq!(callers.stack, [10]);
    }

    #[test]
    fn deep_recursion_forgets_its_outer_half() {
        let steps: Vec<_> = (1..=DEEPEST as u64 + 1).map(|n| (Flow::Call(n), 0)).collect();
        let calls = after(&steps);
        assert_eq!(
            (calls.len(), calls.last()),
            (DEEPEST / 2 + 1, Some(&(DEEPEST as u64 + 1)))
        );
    }
}
