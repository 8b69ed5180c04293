//! A set of byte offsets as one bit each, with rank and select in constant and logarithmic time. A few
//! offsets may be in it more than once; these are listed.

/// Bits between two stored ranks.
const BLOCK: usize = 512;
const WORDS: usize = BLOCK / 64;

/// Bits that are being written.
#[derive(PartialEq, Eq)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    /// Room for the bits `0..length`.
    pub(super) fn new(length: usize) -> Self {
        // One word more than the bits need, so that a word may be written across any border.
        Self(vec![0; length / 64 + 2])
    }

    /// Sets bit `at + i` for every bit `i` of `word`.
    #[inline(always)]
    pub(super) fn set(&mut self, at: usize, word: u64) {
        if let Some([low, high]) = self.0.get_mut(at / 64..at / 64 + 2) {
            let shift = at % 64;
            *low |= word << shift;
            *high |= word >> 1 >> (63 - shift);
        }
    }

    /// Whether bit `at` is set.
    #[inline]
    pub(super) fn has(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 != 0)
    }

    /// The last set bit in `from..at`; looks no further back.
    pub(super) fn last_in(&self, from: usize, at: usize) -> Option<usize> {
        let mut index = at / 64;
        let mut word = self.0.get(index)? & !(u64::MAX << (at % 64));
        while word == 0 {
            if index <= from / 64 {
                return None;
            }
            index -= 1;
            word = self.0[index];
        }
        Some(index * 64 + 63 - word.leading_zeros() as usize).filter(|&found| found >= from)
    }

    /// The first set bit at `at` or after.
    pub(super) fn next_from(&self, at: usize) -> Option<usize> {
        let first = self.0.get(at / 64)? & (u64::MAX << (at % 64));
        let words = std::iter::once(first).chain(self.0[at / 64 + 1..].iter().copied());
        let (words_before, word) = words.enumerate().find(|&(_, word)| word != 0)?;
        Some((at / 64 + words_before) * 64 + word.trailing_zeros() as usize)
    }

    /// Sets every bit `at + i` for which bit `i` of `other` is set; `at` is a multiple of 64.
    pub(super) fn merge(&mut self, at: usize, other: &Bits) {
        for (mine, theirs) in self.0[at / 64..].iter_mut().zip(&other.0) {
            *mine |= theirs;
        }
    }
}

/// Bits that are written, with the number set before each block of 512, and a list of repeats.
#[derive(PartialEq, Eq)]
pub(super) struct Ranked {
    bits: Bits,
    ranks: Vec<usize>,
    /// Bits set.
    total: usize,
    /// Offsets once more each, in order. Mostly none.
    more: Vec<usize>,
}

impl Ranked {
    pub(super) fn new(bits: Bits, more: Vec<usize>) -> Self {
        let mut total = 0;
        let ranks = bits.0.chunks(WORDS).map(|block| {
            let before = total;
            total += block.iter().map(|word| word.count_ones() as usize).sum::<usize>();
            before
        });
        let ranks = ranks.collect();
        Self { bits, ranks, total, more }
    }

    /// Whether bit `at` is set.
    pub(super) fn has(&self, at: usize) -> bool {
        self.bits.has(at)
    }

    /// How many offsets there are.
    pub(super) fn total(&self) -> usize {
        self.total + self.more.len()
    }

    /// How many offsets before `at` there are.
    #[inline]
    pub(super) fn rank(&self, at: usize) -> usize {
        let set = self.bits_before(at);
        if self.more.is_empty() { set } else { set + self.more.partition_point(|&one| one < at) }
    }

    #[inline]
    fn bits_before(&self, at: usize) -> usize {
        let block = at / BLOCK;
        let Some(&before) = self.ranks.get(block) else { return self.total };
        let words = &self.bits.0[block * WORDS..=at / 64];
        let (last, full) = words.split_last().unwrap_or((&0, &[]));
        before
            + full.iter().map(|word| word.count_ones() as usize).sum::<usize>()
            + (last & !(u64::MAX << (at % 64))).count_ones() as usize
    }

    /// The offset that has `rank` others before it.
    pub(super) fn select(&self, rank: usize) -> Option<usize> {
        if self.more.is_empty() {
            return self.bit(rank);
        }
        // A repeat comes before its bit, so what is before it are the bits and repeats of lower offsets.
        let (mut low, mut high) = (0, self.more.len());
        while low < high {
            let middle = (low + high) / 2;
            if self.bits_before(self.more[middle]) + middle < rank {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        match self.more.get(low) {
            Some(&at) if self.bits_before(at) + low == rank => Some(at),
            _ => self.bit(rank - low),
        }
    }

    /// The set bit that has `rank` set bits before it.
    fn bit(&self, rank: usize) -> Option<usize> {
        if rank >= self.total {
            return None;
        }
        let block = self.ranks.partition_point(|&before| before <= rank) - 1;
        let mut left = rank - self.ranks[block];
        for (index, &word) in self.bits.0.iter().enumerate().skip(block * WORDS) {
            let here = word.count_ones() as usize;
            if left < here {
                let word = (0..left).fold(word, |word, _| word & (word - 1));
                return Some(index * 64 + word.trailing_zeros() as usize);
            }
            left -= here;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_a_sorted_list(
            set in proptest::collection::btree_set(0usize..3000, 0..400),
            mut more in proptest::collection::vec(any::<proptest::sample::Index>(), 0..40),
            length in 3000usize..3100,
        ) {
            let mut bits = Bits::new(length);
            for &at in &set {
                bits.set(at, 1);
            }
            let mut list: Vec<usize> = set.iter().copied().collect();
            if list.is_empty() {
                more.clear();
            }
            let mut more: Vec<usize> = more.iter().map(|index| *index.get(&list)).collect();
            more.sort_unstable();
            list.extend(&more);
            list.sort_unstable();
            for at in 0..=length {
                prop_assert_eq!(bits.has(at), set.contains(&at));
                let from = at / 3;
                prop_assert_eq!(bits.last_in(from, at), set.range(from..at).next_back().copied());
                prop_assert_eq!(bits.next_from(at), set.range(at..).next().copied());
            }
            let ranked = Ranked::new(bits, more);
            for at in 0..=length {
                prop_assert_eq!(ranked.rank(at), list.partition_point(|&one| one < at));
            }
            for (rank, &at) in list.iter().enumerate() {
                prop_assert_eq!(ranked.select(rank), Some(at));
            }
            prop_assert_eq!(ranked.select(list.len()), None);
        }

        #[test]
        fn a_word_may_cross_a_border(at in 0usize..200, word: u64) {
            let mut bits = Bits::new(at + 64);
            bits.set(at, word);
            for bit in 0..64 {
                prop_assert_eq!(bits.has(at + bit), word >> bit & 1 != 0);
            }
        }
    }
}
