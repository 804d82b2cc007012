//! The methods of a `LockWord` that a test's word passes on to the one in its field.

macro_rules! forward {
    ($word:tt: $($method:ident)*) => { $(forward!(@ $word $method);)* };
    (@ $word:tt bits) => { fn bits(&self) -> u32 { self.$word.bits() } };
    (@ $word:tt try_take) => { fn try_take(&self, found: u32) -> bool { self.$word.try_take(found) } };
    (@ $word:tt release_alone) => { fn release_alone(&self) -> bool { self.$word.release_alone() } };
    (@ $word:tt release) => { fn release(&self) { self.$word.release() } };
    (@ $word:tt release_to_head) => { fn release_to_head(&self, bit: u32) { self.$word.release_to_head(bit) } };
    (@ $word:tt set_pending) => { fn set_pending(&self) { self.$word.set_pending() } };
    (@ $word:tt set_handoff) => { fn set_handoff(&self) { self.$word.set_handoff() } };
    (@ $word:tt clear_pending) => { fn clear_pending(&self) { self.$word.clear_pending() } };
    (@ $word:tt clear_hints) => { fn clear_hints(&self) { self.$word.clear_hints() } };
    (@ $word:tt turn) => { fn turn(&self) -> Option<&crate::primitive::AtomicU16> { self.$word.turn() } };
    (@ $word:tt tail) => { fn tail(&self) -> u16 { self.$word.tail() } };
    (@ $word:tt swap_tail) => { fn swap_tail(&self, node: u16) -> u16 { self.$word.swap_tail(node) } };
    (@ $word:tt end_tail) => { fn end_tail(&self, node: u16) -> bool { self.$word.end_tail(node) } };
    (@ $word:tt address) => { fn address(&self) -> usize { self.$word.address() } };
}
pub(super) use forward;
