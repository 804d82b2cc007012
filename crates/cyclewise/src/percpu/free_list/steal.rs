//! Stealing from other CPUs' lists, whose own threads are stopped first.
//!
//! # Safety
//! 1. As for the list: a slot's words change as its Invariant 3 says.
#![expect(unsafe_code, reason = "words by address")]

use super::{Chain, FreeList, Node};
use crate::error::Refusal;
use crate::percpu::Cpu;
use crate::percpu::slots::Slot;
use crate::percpu::word::Bits;

impl<T> FreeList<T> {
    /// Takes all nodes of a slot's list. Returns none while another thread steals from the slot.
    ///
    /// Meanwhile threads on that CPU use portable slots. Not for signal handlers.
    ///
    /// Cost: a load if the list is empty; else a membarrier(2), or a portable slot's lock.
    ///
    /// # Errors
    /// The kernel has no such barrier or forbids it. Then nothing is taken.
    pub fn steal(&self, slot: Slot) -> Result<Chain<'_, T>, Refusal> {
        let head = self.heads.slot_ptr(slot).cast::<u64>();
        // SAFETY: a word that sequences change (Safety 1 of the list).
        if unsafe { u64::load(head) } == 0 {
            // SAFETY: no nodes.
            return Ok(unsafe { self.chain(0) });
        }
        // SAFETY: no other thread changes the slot meanwhile.
        let first = slot.exclusively::<Cpu, _>(self.guard(slot), || unsafe { self.take_all(slot) })?;
        // SAFETY: no nodes, or nodes that were just taken off the list.
        Ok(unsafe { self.chain(first.unwrap_or(0)) })
    }

    /// Pops the last object pushed on this CPU; if its list is empty, takes the first list that is not: one object for the caller,
    /// the others for this CPU's list. `None` if all lists are empty, or the kernel does not allow stealing.
    pub fn pop_or_steal(&self) -> Option<Node<'_, T>> {
        self.pop().or_else(|| {
            let stolen = |slot| self.steal(slot).ok().and_then(|mut chain| chain.next());
            Slot::all().find_map(stolen)
        })
    }

    /// Takes the nodes of all slots, one after the other. Complete if no other thread pushes or steals meanwhile.
    ///
    /// # Errors
    /// As [`steal`](Self::steal); the nodes taken before are pushed again.
    pub fn drain(&self) -> Result<Chain<'_, T>, Refusal> {
        // SAFETY: no nodes.
        let mut all = unsafe { self.chain(0) };
        for slot in Slot::all() {
            for node in self.steal(slot)? {
                all.add(node);
            }
        }
        Ok(all)
    }
}
