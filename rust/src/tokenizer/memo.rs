//! What short pretokens came to the last time: their bytes to the ends of their tokens.
//!
//! Three tables of fixed size: one for up to 15 bytes, three entries to a set, the newest first; one for up
//! to 48, an entry to a set, for the scripts of two or three bytes a letter; one of rows up to 256, for the
//! rules of tables and under titles. One pretoken in 700 of technical prose is such a row, and without
//! memory they took a third of the time. A set fills a cache line. A
//! memo holds answers only, so losing one costs time and nothing else. Memos wait in a pool between calls:
//! a call takes one, and makes one when none is there. A new one is untouched zero pages, so a short text
//! pays for the few pages it reads.
//!
//! The places of a batch are found first and asked for with a prefetch, so that nothing waits for memory.
//! Then a look-up must not branch: where a word stands in its set is told by 16 bits of its hash, and those
//! that are not there are listed, to be made after all others are found. A pass over English takes two
//! thirds of the instructions that it took with a look-up, and what it may have to make, for each pretoken
//! in turn. 2^16 sets against 2^15: 1.15 times as fast on fresh English, against 2^14 1.2 times. A small table
//! that stays in the nearest cache, before the large one, did not gain, nor did one of words of up to seven
//! bytes, nor huge pages. Telling a memo the vocabulary's own words gained 2 % on fresh English once it knew
//! much, and cost 9 % before.

use std::sync::{Mutex, PoisonError};

use super::vocabulary::{fold, hash};
use crate::error::Result;

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
/// Where it holds 16 bits of the hash of each.
const TAGS: usize = 7;

/// The most pretokens that are looked up together.
pub(super) const MOST: usize = 128;

/// The bytes of a short pretoken, its length in the last of 16; never all zero.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Key {
    low: u64,
    high: u64,
}

impl Key {
    /// The key of `text[at..at + length]`; of one longer than [`SHORT`], a key that no set holds.
    #[inline(always)]
    pub(super) fn of(text: &[u8], at: usize, length: usize) -> Self {
        let bytes = match text.get(at..).and_then(|rest| rest.first_chunk::<16>()) {
            Some(bytes) => u128::from_le_bytes(*bytes),
            None => Self::near_the_end(&text[at..at + length.min(SHORT)]),
        };
        let [low, high, mark, _] = KEPT[length.min(SHORT + 1)];
        Self { low: bytes as u64 & low, high: (bytes >> 64) as u64 & high | mark }
    }

    /// The key of the same bytes where they are but part of a pretoken: a vocabulary may have a token that
    /// only a whole pretoken is.
    #[inline(always)]
    pub(super) fn inside(self) -> Self {
        Self { low: self.low, high: self.high | 1 << 63 }
    }

    #[cold]
    fn near_the_end(piece: &[u8]) -> u128 {
        let mut bytes = [0; 16];
        bytes[..piece.len()].copy_from_slice(piece);
        u128::from_le_bytes(bytes)
    }

    #[inline(always)]
    fn mixed(self) -> u64 {
        (self.low.wrapping_mul(FIRST) ^ self.high).wrapping_mul(SECOND)
    }
}

/// By length: what is kept of two words of text, and the length where it stands in a key.
static KEPT: [[u64; 4]; SHORT + 2] = {
    let mut kept = [[0; 4]; SHORT + 2];
    let mut length = 0;
    while length <= SHORT {
        let bits = (1u128 << (8 * length)) - 1;
        kept[length] = [bits as u64, (bits >> 64) as u64, (length as u64) << 56, 0];
        length += 1;
    }
    // No length that a key has.
    kept[length] = [0, 0, (length as u64) << 56, 0];
    kept
};

const FIRST: u64 = 0x9e37_79b9_7f4a_7c15;
// Both are odd, so that no bit of a key is lost.
const SECOND: u64 = 0xd6e8_feb8_6659_fd93;

/// What fills a cache line.
type Line = [u64; SET];

/// A table of [`SETS`] lines, zeroed.
struct Lines {
    words: Vec<u64>,
    /// Where the first one starts, so that each lies in one cache line.
    skip: usize,
}

impl Lines {
    fn new() -> Self {
        let words = vec![0u64; SETS * SET + SET];
        let skip = words.as_ptr().align_offset(64).min(SET);
        Self { words, skip }
    }

    #[inline(always)]
    fn all(&self) -> Option<&[Line; SETS]> {
        self.words.get(self.skip..)?.as_chunks().0.first_chunk()
    }

    #[inline(always)]
    fn line(&mut self, at: usize) -> Option<&mut Line> {
        self.words.get_mut(self.skip..)?.as_chunks_mut().0.get_mut(at)
    }
}

/// The number of a set. Only the uppermost bits of a product depend on all of what is multiplied.
#[inline(always)]
fn at(mixed: u64) -> usize {
    (mixed >> 48) as usize % SETS
}

/// What tells a key from the others of its set.
#[inline(always)]
fn tag(mixed: u64) -> u64 {
    mixed >> 32 & 0xffff
}

/// A short pretoken, and what tells where in the table its set is.
#[derive(Clone, Copy, Default)]
struct Place {
    key: Key,
    mixed: u64,
}

impl From<Key> for Place {
    #[inline(always)]
    fn from(key: Key) -> Self {
        Self { key, mixed: key.mixed() }
    }
}

/// Asks for a cache line.
#[inline(always)]
fn prefetch(set: &Line) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing; SSE, which it is part of, is in every x86-64 processor.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(set).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = set;
}

/// In each of the three lanes of a word that holds ends or tags.
const EACH: u64 = 1 | 1 << 16 | 1 << 32;

/// The ends beside the key in a set of short pretokens, and whether it is there.
#[inline(always)]
fn get(set: &Line, Place { key, mixed }: Place) -> (u64, bool) {
    // Which of the three it is differs from word to word, so it must not be a branch: the first lane
    // that is zero, or the first of all if none is.
    let other = set[TAGS] ^ (tag(mixed) * EACH);
    let same = other.wrapping_sub(EACH) & !other & EACH << 15;
    let entry = same.trailing_zeros() as usize / 16 % 4;
    let known = (set[2 * entry] ^ key.low) | (set[2 * entry + 1] ^ key.high) == 0;
    (set[ENDS] >> (16 * entry) & 0xffff, known)
}

/// Puts a key first in a set; what came in before the other two goes.
#[inline(always)]
fn put(set: &mut Line, Place { key, mixed }: Place, ends: u64) {
    set.copy_within(..4, 2);
    set[0] = key.low;
    set[1] = key.high;
    set[ENDS] = set[ENDS] << 16 | ends;
    set[TAGS] = (set[TAGS] << 16 | tag(mixed)) & (u64::MAX >> 16);
}

/// Finds the places of pretokens that follow each other, and calls the sets there to the processor's
/// cache. Alone, so that what the loop holds stays in registers.
#[inline(never)]
fn prepare(sets: &[Line; SETS], text: &[u8], bounds: &[usize], places: &mut [Place; MOST]) {
    for (bound, place) in bounds.windows(2).zip(places) {
        *place = Key::of(text, bound[0], bound[1] - bound[0]).into();
        prefetch(&sets[at(place.mixed)]);
    }
}

/// Room to look up the pretokens of a batch.
pub(super) struct Batch {
    places: [Place; MOST],
    /// The numbers of the pretokens that are not known.
    missed: [u8; 2 * MOST],
    /// The ends of the tokens of each pretoken.
    pub(super) ends: [u64; MOST],
}

impl Batch {
    pub(super) fn new() -> Self {
        Self { places: [Place::default(); MOST], missed: [0; 2 * MOST], ends: [0; MOST] }
    }

    /// One of those that [`Memo::look_up`] did not find.
    #[inline(always)]
    pub(super) fn missed(&self, number: usize) -> usize {
        usize::from(self.missed[number])
    }
}

/// The longest pretoken that a row is.
pub(super) const ROW: usize = 256;
/// Rows in memory: 1.2 MB.
const ROWS: usize = 1 << 12;

/// The ends of the tokens of a row: bit `i % 64` of word `i / 64` is set if one ends with byte `i`.
pub(super) type RowEnds = [u64; ROW / 64];

/// Long pretokens, as the rules of a table are: they come again, and are dear to make.
struct Rows {
    lengths: Vec<u16>,
    texts: Vec<[u8; ROW]>,
    ends: Vec<RowEnds>,
}

impl Rows {
    fn new() -> Self {
        let (lengths, texts) = (vec![0; ROWS], vec![[0; ROW]; ROWS]);
        Self { lengths, texts, ends: vec![[0; ROW / 64]; ROWS] }
    }
}

pub(super) struct Memo {
    short: Lines,
    long: Lines,
    rows: Rows,
}

impl Memo {
    fn new() -> Self {
        Self { short: Lines::new(), long: Lines::new(), rows: Rows::new() }
    }

    /// Looks up pretokens that follow each other, and gives how many are not known. One longer than
    /// [`SHORT`] is not.
    #[inline(always)]
    pub(super) fn look_up(&self, text: &[u8], bounds: &[usize], batch: &mut Batch) -> usize {
        let Some(sets) = self.short.all() else { return 0 };
        let count = bounds.len() - 1;
        prepare(sets, text, bounds, &mut batch.places);
        let mut misses = 0u8;
        let places = &batch.places[..count];
        for (i, (&place, ends)) in places.iter().zip(&mut batch.ends[..count]).enumerate() {
            let known;
            (*ends, known) = get(&sets[at(place.mixed)], place);
            batch.missed[usize::from(misses)] = i as u8;
            misses += u8::from(!known);
        }
        usize::from(misses)
    }

    /// The ends of the tokens of a pretoken of at most [`LONG`] bytes, from memory or else from `make`; bits
    /// past its length are never set.
    #[inline]
    pub(super) fn any_ends(&mut self, piece: &[u8], make: impl FnOnce() -> u64) -> u64 {
        match piece.len() {
            0..=SHORT => self.ends(Key::of(piece, 0, piece.len()), make),
            _ => self.long_ends(piece, make),
        }
    }

    /// The ends of the tokens of a short pretoken, from memory or else from `make`; bits past its length
    /// are never set.
    #[inline(always)]
    pub(super) fn ends(&mut self, key: Key, make: impl FnOnce() -> u64) -> u64 {
        let place = Place::from(key);
        let Some(set) = self.short.line(at(place.mixed)) else { return make() };
        if let (ends, true) = get(set, place) {
            return ends;
        }
        let ends = make();
        put(set, place, ends);
        ends
    }

    /// The ends of the tokens of a pretoken of at most [`ROW`] bytes, from memory or else from `make`, which
    /// sets them.
    #[inline]
    pub(super) fn row_ends(
        &mut self,
        piece: &[u8],
        make: impl FnOnce(&mut RowEnds) -> Result<()>,
    ) -> Result<RowEnds> {
        let Rows { lengths, texts, ends } = &mut self.rows;
        let row = hash(piece) as usize % ROWS;
        if texts[row][..usize::from(lengths[row])] == *piece {
            return Ok(ends[row]);
        }
        let mut made = [0; ROW / 64];
        make(&mut made)?;
        lengths[row] = piece.len() as u16;
        texts[row][..piece.len()].copy_from_slice(piece);
        ends[row] = made;
        Ok(made)
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
        let mixed = fold(key[0] ^ FIRST, key[1] ^ SECOND)
            ^ fold(key[2] ^ SECOND, key[3] ^ FIRST).rotate_left(21)
            ^ fold(key[4] ^ FIRST, key[5] ^ SECOND).rotate_left(42);
        let Some(set) = self.long.line(at(mixed)) else { return make() };
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
