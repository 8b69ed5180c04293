//! What short pretokens came to the last time: their bytes to the ends of their tokens.
//!
//! Two tables of fixed size: one for up to 15 bytes, two entries to a set, the one used last first; one for
//! up to 48, an entry to a set, for the scripts of two or three bytes a letter. A set fills a cache
//! line. A memo holds answers only, so losing one costs time and nothing else. Memos wait in a pool between calls: a call takes one,
//! and makes one when none is there. A new one is untouched zero pages, so a short text pays for
//! the few pages it reads.

use std::sync::{Mutex, PoisonError};

use super::vocabulary::fold;

/// The longest pretoken that the first table remembers.
pub(super) const SHORT: usize = 15;
/// The longest pretoken that the second table remembers.
pub(super) const LONG: usize = 48;

/// Sets in a table: 2 MB.
const SETS: usize = 1 << 15;
/// Words in a set.
const SET: usize = 8;
/// Words in an entry for a short pretoken: key (2), ends, and one that is not used.
const ENTRY: usize = 4;

/// The bytes of a short pretoken, its length in the last of 16; never all zero.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    low: u64,
    high: u64,
}

impl Key {
    /// The key of `text[at..at + length]`, with `length` at most [`SHORT`].
    #[inline(always)]
    pub(super) fn of(text: &[u8], at: usize, length: usize) -> Self {
        let bytes = match text.get(at..).and_then(|rest| rest.first_chunk::<16>()) {
            Some(bytes) => u128::from_le_bytes(*bytes),
            None => Self::near_the_end(&text[at..at + length]),
        };
        let kept = bytes & ((1u128 << (8 * length)) - 1);
        Self { low: kept as u64, high: (kept >> 64) as u64 | (length as u64) << 56 }
    }

    #[cold]
    fn near_the_end(piece: &[u8]) -> u128 {
        let mut bytes = [0; 16];
        bytes[..piece.len()].copy_from_slice(piece);
        u128::from_le_bytes(bytes)
    }

    #[inline(always)]
    fn mixed(self) -> u64 {
        fold(self.low ^ ODD, self.high ^ EVEN)
    }
}

const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
const EVEN: u64 = 0xd6e8_feb8_6659_fd92;

/// Zeroed sets of [`SET`] words.
struct Table {
    words: Vec<u64>,
    /// Where the first set starts, so that each lies in one cache line.
    skip: usize,
}

impl Table {
    fn new() -> Self {
        let words = vec![0u64; SETS * SET + SET];
        let skip = words.as_ptr().align_offset(64).min(SET);
        Self { words, skip }
    }

    #[inline(always)]
    fn set(&mut self, mixed: u64) -> Option<&mut [u64; SET]> {
        let from = self.skip + (mixed as usize & (SETS - 1)) * SET;
        self.words[from..].first_chunk_mut()
    }
}

pub(super) struct Memo {
    short: Table,
    long: Table,
}

impl Memo {
    fn new() -> Self {
        Self { short: Table::new(), long: Table::new() }
    }

    /// The ends of the tokens of a short pretoken, from memory or else from `make`.
    #[inline(always)]
    pub(super) fn ends(&mut self, key: Key, make: impl FnOnce() -> u64) -> u64 {
        let Some(set) = self.short.set(key.mixed()) else { return make() };
        if set[0] == key.low && set[1] == key.high {
            return set[2];
        }
        if set[ENTRY] == key.low && set[ENTRY + 1] == key.high {
            // The one used last stays first, so a word in use outlives those met once.
            let ends = set[ENTRY + 2];
            set.copy_within(..ENTRY, ENTRY);
            set[..3].copy_from_slice(&[key.low, key.high, ends]);
            return ends;
        }
        let ends = make();
        set.copy_within(..ENTRY, ENTRY);
        set[..3].copy_from_slice(&[key.low, key.high, ends]);
        ends
    }

    /// As [`Memo::ends`], for a pretoken of at most [`LONG`] bytes.
    #[inline]
    pub(super) fn long_ends(&mut self, piece: &[u8], make: impl FnOnce() -> u64) -> u64 {
        let mut bytes = [0; LONG];
        bytes[..piece.len()].copy_from_slice(piece);
        // Six words of text, and the length above the 48 bits of the ends.
        let mut key = [0; SET];
        for (word, bytes) in key.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        let length = (piece.len() as u64) << LONG;
        let mixed = fold(key[0] ^ ODD, key[1] ^ EVEN)
            ^ fold(key[2] ^ EVEN, key[3] ^ ODD).rotate_left(21)
            ^ fold(key[4] ^ ODD, key[5] ^ EVEN).rotate_left(42);
        let Some(set) = self.long.set(mixed) else { return make() };
        if set[..6] == key[..6] && set[6] >> LONG << LONG == length {
            return set[6] ^ length;
        }
        let ends = make();
        key[6] = ends | length;
        *set = key;
        ends
    }
}

/// Memos at rest.
#[derive(Default)]
pub(super) struct Pool(Mutex<Vec<Memo>>);

impl Pool {
    /// Memos kept at most; more threads than that make their own and drop it.
    const KEPT: usize = 64;

    /// Lends a memo to `work`.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Memo) -> T) -> T {
        let waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut memo = waiting.unwrap_or_else(Memo::new);
        let done = work(&mut memo);
        let mut at_rest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if at_rest.len() < Self::KEPT {
            at_rest.push(memo);
        }
        done
    }
}

#[cfg(test)]
#[path = "memo_tests.rs"]
mod tests;
