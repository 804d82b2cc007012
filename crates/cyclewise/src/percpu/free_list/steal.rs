//! Taking from other CPUs' lists: their own threads are stopped first.
//!
//! # Safety
//! 1. As of the list: words of a slot are changed as its Invariant 3 says.
#![expect(unsafe_code, reason = "words by address")]

use super::{Chain, FreeList, Node};
use crate::error::Refusal;
use crate::percpu::Cpu;
use crate::percpu::slots::Slot;
use crate::percpu::word::Bits;

impl<T> FreeList<T> {
    /// Takes all that a slot's list has. Empty too where somebody else is just doing so.
    ///
    /// While it works, threads on that CPU push to and pop from portable slots. Not for signal handlers.
    ///
    /// Cost: a load where the list is empty; else a membarrier(2), or in a portable slot its lock.
    ///
    /// # Errors
    /// Where the kernel has no such barrier or forbids it; nothing is taken then.
    pub fn steal(&self, slot: Slot) -> Result<Chain<'_, T>, Refusal> {
        let head = self.heads.of(slot).cast::<u64>();
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

    /// Takes the object that was pushed last on this CPU, else one from the first other list that has any; what else was
    /// there comes to this CPU. `None` where no list has any, or the kernel would not let us look.
    pub fn pop_or_steal(&self) -> Option<Node<'_, T>> {
        self.pop().or_else(|| {
            let stolen = |slot| self.steal(slot).ok().and_then(|mut chain| chain.next());
            Slot::all().find_map(stolen)
        })
    }

    /// Takes all that there are, one slot's after the other's. Exact where nobody else pushes or steals meanwhile.
    ///
    /// # Errors
    /// As [`steal`](Self::steal); what was taken before is pushed again.
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
