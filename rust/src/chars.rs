//! Byte offset <-> character offset (Unicode code points), by one pass over the text.

use std::borrow::Cow;

/// Bytes per block of the index: its memory is 1/16 of the text's.
const BLOCK: usize = 128;

/// The characters that end a line (CR LF counts as one break).
#[must_use]
pub fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Bytes that are counted at once.
const LINE: usize = 32;

/// Whether a character starts at a byte: at every one that does not continue one (0x80..0xC0).
fn starts(b: u8) -> bool {
    (b as i8) >= -0x40
}

/// Characters that start in a few bytes: of a fixed number, so that it becomes vector code.
fn count_in<const N: usize>(bytes: &[u8; N]) -> usize {
    bytes.iter().map(|&b| u8::from(starts(b))).fold(0_u8, u8::wrapping_add).into()
}

/// Characters that start in `text[start..end]`, which is shorter than a block.
fn count(text: &[u8], start: usize, end: usize) -> usize {
    let (words, rest) = text[start..end].as_chunks::<8>();
    let goes_on = words.iter().map(|word| continued(u64::from_le_bytes(*word))).sum();
    // The last word is read beyond the end, where text is left; what lies there does not count.
    let at = end - rest.len();
    let mut word = [0; 8];
    match text[at..].first_chunk() {
        Some(whole) => word = *whole,
        None => word.iter_mut().zip(rest).for_each(|(to, &from)| *to = from),
    }
    let word = u64::from_le_bytes(word) & !(u64::MAX << (8 * rest.len()));
    end - start - added(goes_on) - added(continued(word))
}

/// A one in each byte of a word that continues a character.
fn continued(word: u64) -> u64 {
    (word >> 7) & !(word >> 6) & 0x0101_0101_0101_0101
}

/// The sum of a word's bytes.
fn added(word: u64) -> usize {
    const EVEN: u64 = 0x00FF_00FF_00FF_00FF;
    let pairs = (word & EVEN) + ((word >> 8) & EVEN);
    (pairs.wrapping_mul(0x0001_0001_0001_0001) >> 48) as usize
}

/// Character offsets of one text.
pub struct CharIndex<'t> {
    text: &'t [u8],
    counts: Cow<'t, Counts>,
}

/// How many characters a text has, and how many before each place of it.
#[derive(Clone)]
pub struct Counts {
    /// Characters before each block; empty when the text is ASCII.
    before: Vec<usize>,
    chars: usize,
}

impl Counts {
    /// The index of the text that was counted.
    pub fn index<'t>(&'t self, text: &'t str) -> CharIndex<'t> {
        CharIndex { text: text.as_bytes(), counts: Cow::Borrowed(self) }
    }
}

impl<'t> CharIndex<'t> {
    /// Reads the text once, or not at all when it is known to be ASCII.
    #[must_use]
    pub fn new(text: &'t str, ascii: bool) -> Self {
        let text = text.as_bytes();
        if ascii {
            let counts = Counts { before: Vec::new(), chars: text.len() };
            return Self { text, counts: Cow::Owned(counts) };
        }
        let mut before = Vec::with_capacity(text.len() / BLOCK + 1);
        let mut chars = 0;
        let (blocks, rest) = text.as_chunks::<BLOCK>();
        for block in blocks {
            before.push(chars);
            // A sum of bytes holds up to 255.
            chars += count_in(block);
        }
        if !rest.is_empty() {
            before.push(chars);
            chars += count(rest, 0, rest.len());
        }
        Self { text, counts: Cow::Owned(Counts { before, chars }) }
    }

    /// What was counted, for an index that outlives a borrow of the text.
    pub fn into_counts(self) -> Counts {
        self.counts.into_owned()
    }

    /// The number of characters.
    #[must_use]
    pub fn len(&self) -> usize {
        self.counts.chars
    }

    /// Whether the text is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts.chars == 0
    }

    /// Characters that start before byte `at`.
    #[must_use]
    pub fn rank(&self, at: usize) -> usize {
        if self.counts.before.is_empty() {
            return at.min(self.text.len());
        }
        if at >= self.text.len() {
            return self.counts.chars;
        }
        let block = at / BLOCK;
        self.counts.before[block] + count(self.text, block * BLOCK, at)
    }

    /// The byte offset of character `n`; the text's length when there are not that many.
    #[must_use]
    pub fn nth(&self, n: usize) -> usize {
        if n >= self.counts.chars {
            return self.text.len();
        }
        if self.counts.before.is_empty() {
            return n;
        }
        let block = self.counts.before.partition_point(|&before| before <= n) - 1;
        self.nth_from(block, n)
    }

    /// [`Self::nth`], where the answer is likely some blocks from byte `at`.
    #[must_use]
    pub fn nth_near(&self, n: usize, at: usize) -> usize {
        const NEAR: usize = 64;
        let before = &self.counts.before[..];
        let last = before.len().saturating_sub(1);
        let mut block = (at / BLOCK).min(last);
        if n >= self.counts.chars || before.is_empty() || before[block].abs_diff(n) > NEAR * BLOCK {
            return self.nth(n);
        }
        while before[block] > n {
            block -= 1;
        }
        while block < last && before[block + 1] <= n {
            block += 1;
        }
        self.nth_from(block, n)
    }

    /// The byte offset of character `n`, which starts in `block`.
    fn nth_from(&self, block: usize, n: usize) -> usize {
        let mut left = n - self.counts.before[block];
        let mut start = block * BLOCK;
        // Whole stretches are counted by vector code, then words; only the last one byte by byte.
        while start + LINE <= self.text.len() {
            let here = count(self.text, start, start + LINE);
            if left < here {
                break;
            }
            left -= here;
            start += LINE;
        }
        while let Some(part) = self.text[start..].first_chunk::<8>() {
            let here = 8 - added(continued(u64::from_le_bytes(*part)));
            if left < here {
                break;
            }
            left -= here;
            start += 8;
        }
        for (i, &b) in self.text[start..].iter().enumerate() {
            if starts(b) {
                if left == 0 {
                    return start + i;
                }
                left -= 1;
            }
        }
        self.text.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rank_and_nth_agree_with_char_indices(
            text in "[a-cé漢😀\n]{0,900}",
            near in 0_usize..4000,
        ) {
            let index = CharIndex::new(&text, text.is_ascii());
            prop_assert_eq!(index.len(), text.chars().count());
            for (n, (at, _)) in text.char_indices().enumerate() {
                prop_assert_eq!(index.rank(at), n);
                prop_assert_eq!(index.nth(n), at);
                prop_assert_eq!(index.nth_near(n, near.min(text.len())), at);
            }
            prop_assert_eq!(index.rank(text.len()), index.len());
            prop_assert_eq!(index.nth(index.len()), text.len());
        }
    }
}
