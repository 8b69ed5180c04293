//! Borders between characters that no token reaches across, and the merge of a piece between them.
//!
//! A script of thousands of characters writes sentences without blanks, so its pretokens are long and
//! hardly come twice: a memo does not help. But most pairs of its characters stand in no token. Where two
//! characters meet that no token holds side by side, whole or in part, no merge ever crosses: what is
//! made there would be such a token. So both sides merge as they do alone (*Split* in `bpe.rs`), and mostly a side
//! is one character, of which the tokens are known, or a word of a few, which the memo may know. A whole pass
//! over fresh Chinese, Japanese and Korean was 1.8 times as fast with cl100k, before stretches were remembered.
//!
//! What tokens hold is asked of two sets that may say yes too often, and never no: one of pairs of whole
//! characters, by hash, and one of the bytes that meet where a token begins or ends inside a character
//! (a few hundred tokens do).

use std::sync::atomic::{AtomicU8, Ordering};

use super::bpe::{self, SHORT};
use super::memo::{self, Key, Memo};
use super::vocabulary::{NONE, Vocabulary};
use crate::error::Result;
use crate::guard::Guard;

/// What tokens hold where characters meet.
pub(super) struct Borders {
    /// One bit for each pair of characters in a token, by hash.
    pairs: Vec<u64>,
    /// For each byte that is last before a border, the bytes that follow it in a token which holds one
    /// of the characters in part: 256 bits each.
    parts: Vec<[u64; 4]>,
    /// By code point, the ends of the tokens of a character of three bytes that stands alone; 0 of one
    /// that was not met yet.
    alone: Vec<AtomicU8>,
}

/// The bytes of a character as one number, and how many they are; of a string of bytes that is none, what
/// there is of one.
#[inline(always)]
fn character(text: &[u8], at: usize) -> (u32, usize) {
    if let Some(&[a @ 0xe0..0xf0, b @ 0x80..0xc0, c @ 0x80..0xc0]) =
        text.get(at..).and_then(<[u8]>::first_chunk)
    {
        return (u32::from_be_bytes([0, a, b, c]), 3);
    }
    let lead = text[at];
    let wanted = match lead {
        0..0xc0 => 1,
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        _ => 4,
    };
    let mut raw = u32::from(lead);
    let mut length = 1;
    while length < wanted
        && let Some(&tail @ 0x80..0xc0) = text.get(at + length)
    {
        raw = raw << 8 | u32::from(tail);
        length += 1;
    }
    (raw, length)
}

/// Whether the bytes of a token that [`character`] read are all of a character.
fn is_whole(lead: u8, length: usize) -> bool {
    let wanted = match lead {
        0..0x80 => 1,
        0x80..0xc0 => return false,
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        _ => 4,
    };
    length == wanted
}

impl Borders {
    /// What `tokens` hold.
    pub(super) fn of<'t>(tokens: impl Iterator<Item = &'t [u8]>) -> Self {
        let mut pairs = Vec::new();
        let mut parts = vec![[0; 4]; 256];
        for token in tokens.filter(|token| !token.is_ascii()) {
            let mut at = 0;
            let mut before: Option<(u32, bool)> = None;
            while at < token.len() {
                let (mut raw, mut length) = character(token, at);
                if token[at] & 0xc0 == 0x80 {
                    // The end of a character: a token may begin with it, and no string goes on with it.
                    length = token[at..].iter().take_while(|&&byte| byte & 0xc0 == 0x80).count();
                    raw = u32::from(token[at + length - 1]);
                }
                let whole = is_whole(token[at], length);
                if let Some((other, other_whole)) = before {
                    if whole && other_whole {
                        pairs.push((other, raw));
                    } else {
                        let next = token[at];
                        parts[other as usize & 0xff][usize::from(next) / 64] |= 1 << (next % 64);
                    }
                }
                before = Some((raw, whole));
                at += length;
            }
        }
        let mut alone = Vec::new();
        alone.resize_with(1 << 16, AtomicU8::default);
        let bits = (pairs.len() * 32).next_power_of_two().max(64);
        let mut borders = Self { pairs: vec![0; bits / 64], parts, alone };
        for (one, other) in pairs {
            let (word, bit) = borders.place(one, other);
            borders.pairs[word] |= bit;
        }
        borders
    }

    #[inline(always)]
    fn place(&self, one: u32, other: u32) -> (usize, u64) {
        let key = u64::from(one) << 32 | u64::from(other);
        let hash = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        ((hash >> 6) as usize & (self.pairs.len() - 1), 1 << (hash & 63))
    }

    /// Whether a token may reach across the border of two characters, given by their bytes.
    #[inline(always)]
    fn may_cross(&self, one: u32, other: u32, first: u8) -> bool {
        let (word, bit) = self.place(one, other);
        let parts = self.parts[one as usize & 0xff][usize::from(first) / 64];
        // Tokens of ASCII alone are in neither set.
        self.pairs[word] & bit != 0 || parts >> (first % 64) & 1 != 0 || one | other < 0x80
    }

    /// The ends of the tokens of a character of three bytes, given by them, that stands alone.
    #[inline(always)]
    fn alone(&self, vocabulary: &Vocabulary, raw: u32) -> u64 {
        let code = (raw >> 16 & 0xf) << 12 | (raw >> 8 & 0x3f) << 6 | raw & 0x3f;
        let known = &self.alone[code as usize];
        match known.load(Ordering::Relaxed) {
            0 => {
                let ends = bpe::merge_short(vocabulary, &raw.to_be_bytes()[1..]);
                // Whichever thread is last writes the same.
                known.store(ends as u8, Ordering::Relaxed);
                ends
            }
            ends => u64::from(ends),
        }
    }

    /// Calls `ends(at, word)` for a pretoken from left to right, as [`bpe::merge`] does. A pretoken that
    /// is a token as it stands is one. What lies between borders is looked up in `memo` if there is one.
    pub(super) fn merge(
        &self,
        vocabulary: &Vocabulary,
        piece: &[u8],
        memo: Option<&mut Memo>,
        guard: &Guard<'_>,
        ends: impl FnMut(usize, u64),
    ) -> Result<()> {
        let gathered = Gathered { at: 0, word: 0, ends };
        let mut merging = Merging { borders: self, vocabulary, piece, memo, guard, gathered };
        // The stretch since the last border of which it is certain, and its first character.
        let (mut raw, mut at) = character(piece, 0);
        let (mut start, mut first) = (0, raw);
        while at < piece.len() {
            let (next, length) = character(piece, at);
            if !self.may_cross(raw, next, piece[at]) {
                merging.stretch(start, at, first)?;
                (start, first) = (at, next);
            }
            raw = next;
            at += length;
        }
        if start == 0 && vocabulary.rank(piece) != NONE {
            merging.gathered.put(piece.len() - 1, 1);
        } else {
            merging.stretch(start, at, first)?;
        }
        merging.gathered.flush();
        Ok(())
    }
}

/// A piece on its way.
struct Merging<'a, E> {
    borders: &'a Borders,
    vocabulary: &'a Vocabulary,
    piece: &'a [u8],
    memo: Option<&'a mut Memo>,
    guard: &'a Guard<'a>,
    gathered: Gathered<E>,
}

impl<E: FnMut(usize, u64)> Merging<'_, E> {
    /// What lies between two borders, with its first character.
    #[inline(always)]
    fn stretch(&mut self, start: usize, end: usize, first: u32) -> Result<()> {
        let Self { borders, vocabulary, piece, gathered, .. } = self;
        let length = end - start;
        let make = || bpe::merge_short(vocabulary, &piece[start..end]);
        if length == 3 && first >= 0xe0_0000 {
            gathered.put(start, borders.alone(vocabulary, first));
        } else if let Some(memo) = self.memo.as_deref_mut().filter(|_| length <= memo::SHORT) {
            // Most of the words of such a script come again, though its pretokens do not.
            gathered.put(start, memo.ends(Key::of(piece, start, length).inside(), make));
        } else if length <= SHORT {
            gathered.put(start, make());
        } else {
            bpe::merge(vocabulary, &piece[start..end], self.guard, |at, word| {
                gathered.put(start + at, word);
            })?;
        }
        Ok(())
    }
}

/// Ends on their way to where they are told, a word at a time.
struct Gathered<E> {
    at: usize,
    word: u64,
    ends: E,
}

impl<E: FnMut(usize, u64)> Gathered<E> {
    #[inline(always)]
    fn put(&mut self, at: usize, word: u64) {
        let shift = at - self.at;
        if shift < 64 && word.leading_zeros() as usize >= shift {
            self.word |= word << shift;
        } else {
            self.flush();
            (self.at, self.word) = (at, word);
        }
    }

    fn flush(&mut self) {
        if self.word != 0 {
            (self.ends)(self.at, self.word);
            self.word = 0;
        }
    }
}

#[cfg(test)]
#[path = "borders_tests.rs"]
mod tests;
