//! What short pretokens came to the last time: their bytes to the ends of their tokens.
//!
//! Two tables of fixed size: one for up to 15 bytes, three entries to a set, the newest first; one for up
//! to 48, an entry to a set, for the scripts of two or three bytes a letter. A set fills a cache line. A
//! memo holds answers only, so losing one costs time and nothing else. Memos wait in a pool between calls:
//! a call takes one, and makes one when none is there. A new one is untouched zero pages, so a short text
//! pays for the few pages it reads.
//!
//! What a look-up costs is the wait for its set. So the places of a batch are found first and asked for
//! with a prefetch (1.2 times as fast as reading the first word of each, since a load that waits keeps all
//! behind it from retiring). 2^16 sets against 2^15: 1.15 times as fast on fresh English, against 2^14
//! 1.2 times. A small table that stays in the nearest cache, before the large one, did not gain: the
//! branch it misses costs as much.

use std::sync::{Mutex, PoisonError};

use super::vocabulary::fold;

/// The longest pretoken that the first table remembers.
pub(super) const SHORT: usize = 15;
/// The longest pretoken that the second table remembers.
pub(super) const LONG: usize = 48;

/// Sets in a table: 4 MB.
const SETS: usize = 1 << 16;
/// Words in a set.
const SET: usize = 8;
/// Where a set of short pretokens holds the ends, 16 bits each; before it stand three keys.
const ENDS: usize = 6;

/// The bytes of a short pretoken, its length in the last of 16; never all zero.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
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
        let [low, high, mark] = KEPT[length & SHORT];
        Self { low: bytes as u64 & low, high: (bytes >> 64) as u64 & high | mark }
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

/// By length: what is kept of two words of text, and the length where it stands in a key.
static KEPT: [[u64; 3]; SHORT + 1] = {
    let mut kept = [[0; 3]; SHORT + 1];
    let mut length = 0;
    while length <= SHORT {
        let bits = (1u128 << (8 * length)) - 1;
        kept[length] = [bits as u64, (bits >> 64) as u64, (length as u64) << 56];
        length += 1;
    }
    kept
};

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
    fn at(&self, mixed: u64) -> usize {
        self.skip + (mixed as usize & (SETS - 1)) * SET
    }

    #[inline(always)]
    fn set(&mut self, at: usize) -> Option<&mut [u64; SET]> {
        self.words.get_mut(at..)?.first_chunk_mut()
    }
}

/// A short pretoken, and what tells where in the table its set is.
#[derive(Clone, Copy, Default)]
pub(super) struct Place {
    key: Key,
    mixed: u64,
}

impl From<Key> for Place {
    #[inline(always)]
    fn from(key: Key) -> Self {
        Self { key, mixed: key.mixed() }
    }
}

/// Asks for the cache line of `word`.
#[inline(always)]
fn prefetch(word: &u64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing; SSE, which it is part of, is in every x86-64 processor.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(word).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = word;
}

/// The ends beside `key` in a set of short pretokens.
#[inline(always)]
fn get(set: &[u64; SET], Key { low, high }: Key) -> Option<u64> {
    let is = |entry: usize| (set[2 * entry] ^ low) | (set[2 * entry + 1] ^ high) == 0;
    let (first, second, third) = (is(0), is(1), is(2));
    // Which of the three it is differs from word to word, so it must not be a branch.
    let shift = u32::from(second) * 16 + u32::from(third) * 32;
    (first | second | third).then(|| set[ENDS] >> shift & 0xffff)
}

/// Puts `key` first in a set; what came in before the other two goes.
#[inline(always)]
fn put(set: &mut [u64; SET], key: Key, ends: u64) {
    set.copy_within(..4, 2);
    set[0] = key.low;
    set[1] = key.high;
    set[ENDS] = set[ENDS] << 16 | ends;
}

pub(super) struct Memo {
    short: Table,
    long: Table,
}

impl Memo {
    fn new() -> Self {
        Self { short: Table::new(), long: Table::new() }
    }

    /// Finds the places of pretokens that follow each other, and calls the sets there to the
    /// processor's cache. The place of one that is not short means nothing.
    #[inline(always)]
    pub(super) fn prepare(&self, text: &[u8], bounds: &[usize], places: &mut [Place]) {
        for (bound, place) in bounds.windows(2).zip(places) {
            let key = Key::of(text, bound[0], (bound[1] - bound[0]).min(SHORT));
            *place = key.into();
            if let Some(word) = self.short.words.get(self.short.at(place.mixed)) {
                prefetch(word);
            }
        }
    }

    /// The ends of the tokens of a short pretoken, from memory or else from `make`; bits past its length
    /// are never set.
    #[inline(always)]
    pub(super) fn ends(&mut self, place: impl Into<Place>, make: impl FnOnce() -> u64) -> u64 {
        let place = place.into();
        let at = self.short.at(place.mixed);
        let Some(set) = self.short.set(at) else { return make() };
        if let Some(ends) = get(set, place.key) {
            return ends;
        }
        let ends = make();
        put(set, place.key, ends);
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
        let at = self.long.at(mixed);
        let Some(set) = self.long.set(at) else { return make() };
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
