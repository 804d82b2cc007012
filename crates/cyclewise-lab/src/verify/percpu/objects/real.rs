//! The library's free list, its stacks and its rings, as bags.

use super::twin::{Lists, Piles, Queues};
use super::{Bag, Both, Marked, OBJECTS};
use crate::error::{Error, Result};
use crate::verify::percpu::Tried;
use cyclewise::percpu::{FreeList, Node, Ring, Slot, Stack};
use std::sync::Mutex;

/// Drained once, so that a kernel which refuses that is reported now.
pub(in crate::verify::percpu) fn free_list(cpus: usize) -> Result<Box<dyn Tried>> {
    let (list, twin) = (FreeList::new(), Lists::new());
    (0..OBJECTS).for_each(|object| list.grow(object).push());
    let real = Nodes { list, cpus };
    real.list.drain().map_err(refused)?.push();
    Ok(Box::new(Both {
        real: Marked::new(real),
        twin: Marked::new(twin),
    }))
}

/// The same for bounded stacks.
pub(in crate::verify::percpu) fn stack(cpus: usize) -> Result<Box<dyn Tried>> {
    let real = Tops {
        stack: Stack::new(),
        // As for a ring.
        seen: Mutex::new(Vec::with_capacity(2 * OBJECTS)),
        cpus,
    };
    let mut words: Vec<u64> = (0..OBJECTS as u64).collect();
    real.stack.push_many(&mut words);
    real.stack.drain(&mut words).map_err(refused)?;
    real.stack.push_many(&mut words);
    Ok(Box::new(Both {
        real: Marked::new(real),
        twin: Marked::new(Piles::new()),
    }))
}

/// The same for rings.
pub(in crate::verify::percpu) fn ring(cpus: usize) -> Result<Box<dyn Tried>> {
    let real = Words {
        ring: Ring::new(),
        // A steal reserves room for a whole ring.
        seen: Mutex::new(Vec::with_capacity(2 * OBJECTS)),
        cpus,
    };
    let words: Vec<u64> = (0..OBJECTS as u64).collect();
    real.ring.push_many(&words);
    real.ring.drain(&mut Vec::new()).map_err(refused)?;
    real.ring.push_many(&words);
    Ok(Box::new(Both {
        real: Marked::new(real),
        twin: Marked::new(Queues::new()),
    }))
}

fn refused(refusal: cyclewise::error::Refusal) -> Error {
    Error::unsupported(format!("other CPUs' lists cannot be read: {refusal}"))
}

struct Nodes {
    list: FreeList<usize>,
    cpus: usize,
}

impl Bag for Nodes {
    type Held<'a> = Node<'a, usize>;

    fn take(&self, _: u64) -> Option<Node<'_, usize>> {
        self.list.pop()
    }

    fn number(held: &Node<'_, usize>) -> usize {
        **held
    }

    fn give(&self, held: Node<'_, usize>, _: u64) -> bool {
        held.push();
        true
    }

    fn take_some<'a>(&'a self, chance: u64, mut each: impl FnMut(Node<'a, usize>)) {
        match chance % 4 {
            0 => self.list.pop_all().for_each(each),
            1 => self.list.pop_or_steal().into_iter().for_each(each),
            2 => {
                // As a chain, which is pushed in one operation.
                let mut chain = self.list.pop_all();
                chain.by_ref().take(3).for_each(&mut each);
                self.list.pop().into_iter().for_each(|node| chain.add(node));
            }
            _ => {
                let slot = Slot::from_id((chance / 4 % self.cpus as u64) as u32);
                let stolen = slot.and_then(|slot| self.list.steal(slot).ok());
                stolen.into_iter().flatten().for_each(each);
            }
        }
    }

    fn look(&self, mut each: impl FnMut(usize)) {
        // A dropped node goes back to a list, not to the chain.
        self.list.drain().into_iter().flatten().for_each(|node| each(*node));
    }
}

struct Words {
    ring: Ring<u64, OBJECTS>,
    seen: Mutex<Vec<u64>>,
    cpus: usize,
}

impl Words {
    /// There is room: each ring has as many cells as there are words.
    fn put(&self, word: u64) -> bool {
        self.ring.push(word).is_ok()
    }
}

impl Bag for Words {
    type Held<'a> = u64;

    fn take(&self, _: u64) -> Option<u64> {
        self.ring.pop()
    }

    fn number(held: &u64) -> usize {
        *held as usize
    }

    fn give(&self, held: u64, _: u64) -> bool {
        self.put(held)
    }

    fn take_some<'a>(&'a self, chance: u64, each: impl FnMut(Self::Held<'a>)) {
        if chance.is_multiple_of(2) {
            let mut words = [0; 7];
            let got = self.ring.pop_many(&mut words);
            words.into_iter().take(got).for_each(each);
        } else if let Some(slot) = Slot::from_id((chance / 2 % self.cpus as u64) as u32) {
            let mut words = Vec::new();
            let _ = self.ring.steal(slot, &mut words);
            words.into_iter().for_each(each);
        }
    }

    fn look(&self, mut each: impl FnMut(usize)) {
        // Uncontended, also in the child of a fork: only the forking thread calls this.
        let Ok(mut seen) = self.seen.try_lock() else { return };
        seen.clear();
        let _ = self.ring.drain(&mut seen);
        seen.iter().for_each(|&word| {
            each(word as usize);
            self.put(word);
        });
    }
}

struct Tops {
    stack: Stack<u64, OBJECTS>,
    seen: Mutex<Vec<u64>>,
    cpus: usize,
}

impl Bag for Tops {
    type Held<'a> = u64;

    fn take(&self, _: u64) -> Option<u64> {
        self.stack.pop()
    }

    fn number(held: &u64) -> usize {
        *held as usize
    }

    /// There is room: each stack has as many cells as there are words.
    fn give(&self, held: u64, _: u64) -> bool {
        self.stack.push(held).is_ok()
    }

    fn take_some<'a>(&'a self, chance: u64, each: impl FnMut(Self::Held<'a>)) {
        let mut words = Vec::with_capacity(OBJECTS);
        if chance.is_multiple_of(2) {
            self.stack.pop_many(&mut words, 7);
        } else if let Some(slot) = Slot::from_id((chance / 2 % self.cpus as u64) as u32) {
            let _ = self.stack.steal(slot, &mut words);
        }
        words.into_iter().for_each(each);
    }

    fn look(&self, mut each: impl FnMut(usize)) {
        // As for a ring.
        let Ok(mut seen) = self.seen.try_lock() else { return };
        seen.clear();
        let _ = self.stack.drain(&mut seen);
        seen.iter().for_each(|&word| each(word as usize));
        self.stack.push_many(&mut seen);
    }
}
