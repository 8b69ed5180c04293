//! Byte offset <-> character offset (Unicode code points), by one pass over the text.

use std::borrow::Cow;

/// Bytes per block of the index: its memory is 1/32 of the text's.
const BLOCK: usize = 256;

/// The characters that end a line (CR LF counts as one break).
#[must_use]
pub fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn count(bytes: &[u8]) -> usize {
    // A character starts at every byte that is not a UTF-8 continuation byte (0x80..0xC0).
    let mut total = 0;
    for part in bytes.chunks(128) {
        total += usize::from(
            part.iter().map(|&b| u8::from((b as i8) >= -0x40)).fold(0u8, u8::wrapping_add),
        );
    }
    total
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
        for block in text.chunks(BLOCK) {
            before.push(chars);
            chars += count(block);
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
        self.counts.before[block] + count(&self.text[block * BLOCK..at])
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
        let mut left = n - self.counts.before[block];
        let mut start = block * BLOCK;
        // Whole stretches are counted by vector code; only the last one byte by byte.
        while let Some(part) = self.text.get(start..start + 32) {
            let here = count(part);
            if left < here {
                break;
            }
            left -= here;
            start += 32;
        }
        for (i, &b) in self.text[start..].iter().enumerate() {
            if (b as i8) >= -0x40 {
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
        fn rank_and_nth_agree_with_char_indices(text in "[a-cé漢😀\n]{0,900}") {
            let index = CharIndex::new(&text, text.is_ascii());
            prop_assert_eq!(index.len(), text.chars().count());
            for (n, (at, _)) in text.char_indices().enumerate() {
                prop_assert_eq!(index.rank(at), n);
                prop_assert_eq!(index.nth(n), at);
            }
            prop_assert_eq!(index.rank(text.len()), index.len());
            prop_assert_eq!(index.nth(index.len()), text.len());
        }
    }
}
