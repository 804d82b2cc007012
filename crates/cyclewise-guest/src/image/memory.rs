//! The guest's memory as bytes, reached by the guest's addresses.

use crate::layout;

/// Two megabytes from [`layout::BASE`] on.
#[derive(Clone)]
pub(crate) struct Memory(Vec<u8>);

impl Memory {
    pub(crate) fn new() -> Self {
        Self(vec![0; layout::SIZE])
    }

    /// Copies bytes to an address.
    ///
    /// # Panics
    /// If they are not all within the memory: addresses are those of `layout`.
    pub(crate) fn put(&mut self, at: u64, bytes: &[u8]) {
        let from = (at - layout::BASE) as usize;
        self.0[from..from + bytes.len()].copy_from_slice(bytes);
    }

    /// Writes a word of 8 bytes.
    pub(crate) fn put_word(&mut self, at: u64, word: u64) {
        self.put(at, &word.to_le_bytes());
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    #[cfg(test)]
    pub(crate) fn get(&self, at: u64, length: usize) -> &[u8] {
        let from = (at - layout::BASE) as usize;
        &self.0[from..from + length]
    }

    /// What the page tables make of a linear address, as a CPU walks them.
    #[cfg(test)]
    pub(crate) fn walk(&self, linear: u64) -> Option<u64> {
        let mut table = layout::PML4;
        for shift in [39, 30, 21, 12] {
            let at = table + 8 * (linear >> shift & 511);
            let entry = u64::from_le_bytes(self.get(at, 8).try_into().unwrap());
            if entry & 1 == 0 {
                return None;
            }
            table = entry & 0x000f_ffff_ffff_f000;
        }
        Some(table | linear & 0xfff)
    }
}
