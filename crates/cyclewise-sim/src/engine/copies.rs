//! The set of cores that have a copy of a line.

/// A set of cores.
#[derive(Clone, Debug, Default)]
pub(crate) struct Copies {
    /// Allocated with the first copy, because most lines never have one.
    words: Vec<u64>,
    count: u32,
}

fn bit(core: u32) -> (usize, u64) {
    ((core / 64) as usize, 1 << (core % 64))
}

impl Copies {
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    pub(crate) fn has(&self, core: u32) -> bool {
        let (word, bit) = bit(core);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    pub(crate) fn add(&mut self, core: u32) {
        let (word, bit) = bit(core);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.count += u32::from(self.words[word] & bit == 0);
        self.words[word] |= bit;
    }

    pub(crate) fn clear(&mut self) {
        if self.count > 0 {
            self.words.fill(0);
            self.count = 0;
        }
    }

    /// The number of copies at cores in `from..end`.
    pub(crate) fn within(&self, from: u32, end: u32) -> u32 {
        let (first, _) = bit(from);
        let mut count = 0;
        for (index, word) in self.words.iter().enumerate().skip(first) {
            let start = u32::try_from(index * 64).expect("cores are counted in 32 bits");
            if start >= end {
                break;
            }
            let mut word = *word;
            if start < from {
                word &= u64::MAX << (from - start);
            }
            if end - start < 64 {
                word &= (1 << (end - start)) - 1;
            }
            count += word.count_ones();
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_is_a_set(cores in proptest::collection::vec(0_u32..300, 0..40), from in 0_u32..310, length in 0_u32..310) {
            let mut copies = Copies::default();
            let mut set = BTreeSet::new();
            for core in cores {
                copies.add(core);
                set.insert(core);
            }
            prop_assert_eq!(copies.count() as usize, set.len());
            prop_assert_eq!(copies.within(from, from + length) as usize, set.range(from..from + length).count());
            for core in 0..320 {
                prop_assert_eq!(copies.has(core), set.contains(&core));
            }
            copies.clear();
            prop_assert!(copies.is_empty() && copies.within(0, 400) == 0);
        }
    }
}
