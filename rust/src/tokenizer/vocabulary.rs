//! A byte-pair vocabulary: tokens by rank, ranks by token, and ranks by the pair merged.
//!
//! Of a bundled vocabulary the library holds, as `build.rs` wrote it, what each token is merged
//! from; of a caller's ranks (`ranks.rs`), that is found when they are read. The tables are made when
//! a vocabulary is first asked for, in a few milliseconds. All are open addressing over one word per
//! slot, so the common answer in a merge, that there is no such pair, costs one look.
//!
//! A *rank* is a token's place here: the 256 tokens of one byte, then all others in the order in
//! which they are merged. The *id* that a token bears outside is mostly the same number.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use crate::error::{Error, Result};

/// No token.
pub(super) const NONE: u32 = u32::MAX;

/// Stands beside the first and the last token of a piece; merges with none.
pub(super) const EDGE: u32 = (1 << HALF) - 1;

/// Bits of a rank in a slot of `merges`; two of 20 and one of 24.
const RANK: u32 = 24;
const HALF: u32 = 20;

pub(super) struct Vocabulary {
    /// All tokens, one after the other.
    bytes: Vec<u8>,
    /// Where each token starts in `bytes`, and the end of the last.
    offsets: Vec<u32>,
    /// By bytes, three or more: `hash high half | rank`; 0 is empty.
    slots: Vec<u64>,
    /// By halves: `left | right | rank`; 0 is empty.
    merges: Vec<u64>,
    /// One bit for each pair in `merges`, by hash. Most pairs asked for are none; this tells it of
    /// nine in ten from a table that stays in a core's second-level cache.
    filter: Vec<u64>,
    /// Ranks of tokens of two bytes, by these.
    pairs: Vec<u32>,
    /// Ranks of tokens of one byte.
    singles: [u32; 256],
    /// By code point, of those of two and three bytes: the ranks of characters that may be taken as one
    /// token before anything is merged (`bpe.rs`), or [`NONE`].
    characters: Vec<u32>,
    longest: usize,
    /// Where they are not the ranks.
    ids: Option<Ids>,
}

/// The bytes of a token, and the ranks of the two that are last to be merged in it.
pub(super) type Merged<'a> = (&'a [u8], Option<(u32, u32)>);

/// The ids of tokens.
struct Ids {
    by_rank: Vec<u32>,
    ranks: HashMap<u32, u32, FxBuildHasher>,
}

impl Vocabulary {
    /// Reads what `build.rs` wrote, in parts that follow each other. An id that is no token's, a
    /// special token's, lies in `hole`.
    pub(super) fn read(parts: &[&[u8]], hole: Option<u32>) -> Result<Self> {
        Self::parse(parts, hole)
            .ok_or_else(|| Error::Internal("a bundled vocabulary cannot be read".to_owned()))
    }

    fn parse(parts: &[&[u8]], hole: Option<u32>) -> Option<Self> {
        let (first, more) = parts.split_first()?;
        let (singles, merges) = first.split_first_chunk::<256>()?;
        let mut count = singles.len();
        for part in [merges].iter().chain(more) {
            count += part.len() / 6;
        }
        let mut making = Making::new(singles, count)?;
        for part in [merges].iter().chain(more) {
            let (merges, []) = part.as_chunks::<6>() else { return None };
            for &[a, b, c, d, e, f] in merges {
                let left = u32::from_le_bytes([a, b, c, 0]);
                let right = u32::from_le_bytes([d, e, f, 0]);
                for half in [left, right] {
                    let (start, end) = making.made.span(half)?;
                    making.made.bytes.extend_from_within(start..end);
                }
                making.token(Some((left, right)))?;
            }
        }
        let ids = hole.map(|hole| (0..).filter(|&id| id != hole).take(count).collect());
        making.finish(ids)
    }

    /// The vocabulary of `tokens` with their ids, the 256 of one byte first, the others in the order
    /// in which they are merged, each with the ranks of the two that are last to be merged in it; none
    /// if no merges of its bytes end in it, so that only a whole pretoken is ever that token.
    pub(super) fn new(singles: &[u8; 256], tokens: &[Merged<'_>], ids: Vec<u32>) -> Option<Self> {
        let mut making = Making::new(singles, singles.len() + tokens.len())?;
        for &(token, halves) in tokens {
            making.made.bytes.extend_from_slice(token);
            making.token(halves)?;
        }
        let same = (0..).zip(&ids).all(|(rank, &id)| rank == id);
        making.finish((!same).then_some(ids))
    }

    /// The id of the token of this rank.
    #[inline]
    pub(super) fn id(&self, rank: u32) -> u32 {
        self.ids.as_ref().map_or(rank, |ids| ids.by_rank[rank as usize])
    }

    /// The bytes of the token with this id.
    pub(super) fn token_of(&self, id: u32) -> Option<&[u8]> {
        match &self.ids {
            None => self.token(id),
            Some(ids) => self.token(*ids.ranks.get(&id)?),
        }
    }

    /// All ids lie below this.
    pub(super) fn id_end(&self) -> usize {
        match &self.ids {
            None => self.len(),
            Some(ids) => ids.by_rank.iter().max().map_or(0, |&id| id as usize + 1),
        }
    }

    /// How many tokens there are; their ranks are `0..len()`.
    pub(super) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The bytes in the longest token.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    fn span(&self, rank: u32) -> Option<(usize, usize)> {
        let start = *self.offsets.get(rank as usize)?;
        let end = *self.offsets.get(rank as usize + 1)?;
        Some((start as usize, end as usize))
    }

    /// The bytes of a token.
    #[inline]
    pub(super) fn token(&self, rank: u32) -> Option<&[u8]> {
        let (start, end) = self.span(rank)?;
        self.bytes.get(start..end)
    }

    /// The bytes of every token.
    pub(super) fn tokens(&self) -> impl Iterator<Item = &[u8]> {
        self.offsets.windows(2).map(|ends| &self.bytes[ends[0] as usize..ends[1] as usize])
    }

    /// The rank of the token of one byte.
    #[inline(always)]
    pub(super) fn single(&self, byte: u8) -> u32 {
        self.singles[usize::from(byte)]
    }

    /// The rank of the token of two bytes, or [`NONE`].
    #[inline(always)]
    pub(super) fn pair(&self, first: u8, second: u8) -> u32 {
        self.pairs[usize::from(first) << 8 | usize::from(second)]
    }

    /// The rank of the character that `piece` starts with and its length, if it may be taken as one token
    /// before anything is merged. No ASCII character may stand before it.
    #[inline(always)]
    pub(super) fn character(&self, piece: &[u8]) -> Option<(u32, usize)> {
        let tail = |byte: u8| (byte & 0xc0 == 0x80).then_some(usize::from(byte & 0x3f));
        let (code, length) = match *piece {
            [a @ 0xc0..0xe0, b, ..] => (usize::from(a & 0x1f) << 6 | tail(b)?, 2),
            [a @ 0xe0..0xf0, b, c, ..] => {
                let code = usize::from(a & 0x0f) << 12 | tail(b)? << 6 | tail(c)?;
                // A shorter character at length is another string of bytes.
                (if code < 0x800 { 0 } else { code }, 3)
            }
            _ => return None,
        };
        let rank = self.characters[code];
        (rank != NONE).then_some((rank, length))
    }

    /// The rank of the token that `left` and `right` are merged to, or [`NONE`].
    #[inline(always)]
    pub(super) fn merged(&self, left: u32, right: u32) -> u32 {
        let key = pair_key(left, right);
        let hash = pair_hash(key);
        if self.may_merge(hash) { self.find_pair(key, hash) } else { NONE }
    }

    /// As [`Vocabulary::merged`] of two pairs, of which the filter is asked at the same time.
    #[inline(always)]
    pub(super) fn merged_both(&self, pairs: [(u32, u32); 2]) -> [u32; 2] {
        let keys = pairs.map(|(left, right)| pair_key(left, right));
        let hashes = keys.map(pair_hash);
        let [one, other] = hashes.map(|hash| self.may_merge(hash));
        [
            if one { self.find_pair(keys[0], hashes[0]) } else { NONE },
            if other { self.find_pair(keys[1], hashes[1]) } else { NONE },
        ]
    }

    #[inline(always)]
    fn may_merge(&self, hash: u64) -> bool {
        let (word, bit) = self.filter_bit(hash);
        self.filter[word] & bit != 0
    }

    #[inline(always)]
    fn find_pair(&self, key: u64, hash: u64) -> u32 {
        let wrap = self.merges.len() - 1;
        let mut at = hash as usize;
        loop {
            let slot = self.merges[at & wrap];
            if slot >> RANK == key {
                return slot as u32 & ((1 << RANK) - 1);
            }
            if slot == 0 {
                return NONE;
            }
            at += 1;
        }
    }

    /// Where `filter` holds what is known of a hash.
    #[inline(always)]
    fn filter_bit(&self, hash: u64) -> (usize, u64) {
        ((hash >> 6) as usize & (self.filter.len() - 1), 1 << (hash & 63))
    }

    /// The rank of the token with these bytes, or [`NONE`].
    #[inline]
    pub(super) fn rank(&self, piece: &[u8]) -> u32 {
        match *piece {
            [] => NONE,
            [a] => self.single(a),
            [a, b] => self.pair(a, b),
            _ if piece.len() > self.longest => NONE,
            _ => self.find(piece),
        }
    }

    #[inline]
    fn find(&self, piece: &[u8]) -> u32 {
        let wrap = self.slots.len() - 1;
        let hash = hash(piece);
        let mut at = hash as usize & wrap;
        loop {
            let slot = self.slots[at & wrap];
            if slot == 0 {
                return NONE;
            }
            // 32 bits of the hash beside the rank: bytes are compared only where they are equal.
            if slot >> 32 == hash >> 32 && self.token(slot as u32) == Some(piece) {
                return slot as u32;
            }
            at += 1;
        }
    }
}

/// A vocabulary while its tables are filled.
struct Making {
    made: Vocabulary,
    by_bytes: Batch,
    by_halves: Batch,
    /// What is asked of each token where characters meet.
    kinds: Vec<u8>,
    /// The least rank of a token with this half at the front of a character, behind another one that
    /// is not ASCII.
    prefixes: HashMap<u32, u32, FxBuildHasher>,
    /// The least rank of a token with this half at the end of a character, before anything.
    suffixes: HashMap<u32, u32, FxBuildHasher>,
    /// Whether every token comes after its halves.
    ordered: bool,
}

/// Less than a character, from its first byte on.
const PREFIX: u8 = 1;
/// Less than a character, up to its last byte.
const SUFFIX: u8 = 2;
/// Ends with a byte that is not ASCII.
const WIDE: u8 = 4;
/// One character of two or three bytes.
const CHARACTER: u8 = 8;

fn kind(token: &[u8]) -> u8 {
    let (&[first, ..], &[.., last]) = (token, token) else { return 0 };
    let wide = if last < 0x80 { 0 } else { WIDE };
    if first < 0x80 || token.len() > 3 {
        return wide;
    }
    let tails = |bytes: &[u8]| bytes.iter().all(|byte| byte & 0xc0 == 0x80);
    if tails(token) {
        return wide | SUFFIX;
    }
    let length = match first {
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        _ => 4,
    };
    match (tails(&token[1..]), token.len()) {
        (false, _) => wide,
        (true, short) if short < length => wide | PREFIX,
        _ if str::from_utf8(token).is_ok() => wide | CHARACTER,
        _ => wide,
    }
}

impl Making {
    /// With the tokens of one byte; `count` tokens in all.
    fn new(singles: &[u8; 256], count: usize) -> Option<Self> {
        if count >= EDGE as usize {
            return None;
        }
        let slots = (count + count / 4).next_power_of_two();
        let mut made = Vocabulary {
            bytes: Vec::with_capacity(count * 10),
            offsets: Vec::with_capacity(count + 1),
            slots: vec![0; slots],
            merges: vec![0; slots],
            filter: vec![0; (count / 8).next_power_of_two()],
            pairs: vec![NONE; 1 << 16],
            singles: [NONE; 256],
            characters: vec![NONE; 1 << 16],
            longest: 0,
            ids: None,
        };
        let kinds = singles.iter().map(|&byte| kind(&[byte])).collect();
        made.offsets.push(0);
        for (rank, &byte) in (0..).zip(singles) {
            made.singles[usize::from(byte)] = rank;
            made.bytes.push(byte);
            made.offsets.push(rank + 1);
        }
        Some(Self {
            made,
            by_bytes: Batch::default(),
            by_halves: Batch::default(),
            kinds,
            prefixes: HashMap::default(),
            suffixes: HashMap::default(),
            ordered: true,
        })
    }

    /// The next token; its bytes stand at the end of `bytes`.
    #[inline]
    fn token(&mut self, halves: Option<(u32, u32)>) -> Option<()> {
        let made = &mut self.made;
        let rank = made.len() as u32;
        made.offsets.push(u32::try_from(made.bytes.len()).ok()?);
        let (start, end) = made.span(rank)?;
        made.longest = made.longest.max(end - start);
        let kind = kind(made.bytes.get(start..end)?);
        // A character that no merges make is none that they start from.
        self.kinds.push(if halves.is_none() { kind & !CHARACTER } else { kind });
        match *made.bytes.get(start..end)? {
            [a, b] => made.pairs[usize::from(a) << 8 | usize::from(b)] = rank,
            ref token => {
                let hash = hash(token);
                self.by_bytes.put(&mut made.slots, hash, hash >> 32 << 32 | u64::from(rank));
            }
        }
        if let Some((left, right)) = halves {
            let key = pair_key(left, right);
            let hash = pair_hash(key);
            self.by_halves.put(&mut made.merges, hash, key << RANK | u64::from(rank));
            let (word, bit) = made.filter_bit(hash);
            made.filter[word] |= bit;
            self.ordered &= left < rank && right < rank;
            let of = |half: u32| self.kinds.get(half as usize).copied().unwrap_or(0);
            if of(right) & PREFIX != 0 && of(left) & WIDE != 0 {
                self.prefixes.entry(right).or_insert(rank);
            }
            if of(left) & SUFFIX != 0 {
                self.suffixes.entry(left).or_insert(rank);
            }
        }
        Some(())
    }

    /// Finds the characters that are whole before they meet what is beside them.
    fn characters(&mut self) {
        if !self.ordered {
            return;
        }
        let made = &self.made;
        let mut found = Vec::new();
        for (rank, _) in (0..).zip(&self.kinds).filter(|&(_, &kind)| kind & CHARACTER != 0) {
            let Some(token) = made.token(rank) else { continue };
            let above = |least: &HashMap<u32, u32, FxBuildHasher>, part: &[u8]| {
                least.get(&made.rank(part)).is_none_or(|&least| least > rank)
            };
            let alone = (1..token.len()).all(|at| {
                above(&self.prefixes, &token[..at]) && above(&self.suffixes, &token[at..])
            });
            let code = str::from_utf8(token).ok().and_then(|token| token.chars().next());
            if let (true, Some(code)) = (alone, code) {
                found.push((code as usize, rank));
            }
        }
        for (code, rank) in found {
            self.made.characters[code] = rank;
        }
    }

    fn finish(mut self, ids: Option<Vec<u32>>) -> Option<Vocabulary> {
        self.by_bytes.flush(&mut self.made.slots);
        self.by_halves.flush(&mut self.made.merges);
        self.characters();
        self.made.ids =
            ids.map(|by_rank| Ids { ranks: by_rank.iter().copied().zip(0..).collect(), by_rank });
        // Every text can be encoded if every byte is a token.
        self.made.singles.iter().all(|&rank| rank != NONE).then_some(self.made)
    }
}

#[inline(always)]
fn pair_key(left: u32, right: u32) -> u64 {
    u64::from(left) << HALF | u64::from(right)
}

#[inline(always)]
fn pair_hash(key: u64) -> u64 {
    key.wrapping_mul(ODD) >> 32
}

/// Slots on their way into a table. All places of a batch are read before the first is written,
/// so that the processor waits for memory once per batch.
#[derive(Default)]
struct Batch(Vec<(usize, u64)>);

impl Batch {
    const SIZE: usize = 32;

    /// Puts `slot` into the first empty place from `home` on, in a table that is never full.
    fn put(&mut self, table: &mut [u64], home: u64, slot: u64) {
        self.0.push((home as usize & (table.len() - 1), slot));
        if self.0.len() == Self::SIZE {
            self.flush(table);
        }
    }

    fn flush(&mut self, table: &mut [u64]) {
        std::hint::black_box(self.0.iter().fold(0, |seen, &(home, _)| seen | table[home]));
        for (mut at, slot) in self.0.drain(..) {
            while table[at] != 0 {
                at = (at + 1) & (table.len() - 1);
            }
            table[at] = slot;
        }
    }
}

const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The halves of a product, folded: every bit of the input reaches every bit of the result.
#[inline(always)]
pub(super) fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// Of bytes that are equal the same.
#[inline(always)]
pub(super) fn hash(piece: &[u8]) -> u64 {
    let length = piece.len() as u64;
    if let (Some(first), Some(last)) = (piece.first_chunk::<8>(), piece.last_chunk::<8>()) {
        let mut state = length;
        if piece.len() > 16 {
            for chunk in piece[8..].chunks_exact(8) {
                let mut word = [0; 8];
                word.copy_from_slice(chunk);
                state = fold(state ^ u64::from_le_bytes(word), ODD);
            }
        }
        return fold(
            u64::from_le_bytes(*first) ^ ODD,
            u64::from_le_bytes(*last) ^ state.rotate_left(32),
        );
    }
    let word = match (piece.first_chunk::<4>(), piece.last_chunk::<4>()) {
        (Some(first), Some(last)) => {
            u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))
        }
        _ => piece.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    };
    fold(word ^ ODD, ODD.wrapping_add(length << 1))
}
