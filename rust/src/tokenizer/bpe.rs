//! The byte-pair merge: the pair of lowest rank first, the leftmost of equals, as in tiktoken.
//!
//! Ranks are found by the two tokens merged, not by their bytes. Many a token can be split into two
//! others in more than one way, but only one way is ever merged: until `u` and `v` are merged to
//! `u v`, no merge has crossed the borders of `u v`, so the merges in it were those of `u v` alone,
//! of which the last is unique. `build.rs` finds it, and sees to it that each token's own bytes
//! are encoded to it; so a pretoken that is a token as it stands needs no rule of its own.
//!
//! A character of two or three bytes is mostly one part from the start (`Vocabulary::character`), which
//! spares two merges of three in a script of such (1.2 times as fast on fresh Chinese, Japanese, Korean). That is exact for a character `c` of which the token
//! has rank `R` if no pair of lower rank joins a proper prefix of `c` to what is before, or a proper
//! suffix to what is behind:
//!
//! * `c` is whole before a merge crosses its edge. The first that does so earlier would have a part of
//!   `c` on its side, so a rank above `R`. But the parts of `c` are those it has when it stands alone,
//!   and alone it ends as one token, so a pair of rank `R` or lower waits in it and comes first.
//! * Making it whole at once changes no choice. A pair that this brings in has `c` as one half, so a
//!   rank above `R`, since a token's rank is above that of its halves; while `c` was not whole, there
//!   was a pair of rank `R` or lower, so the new ones would not have been chosen.
//!
//! Up to [`SHORT`] bytes are merged in place. A longer piece goes through windows, so memory and
//! the cost per byte do not grow with it. That is exact, by two facts about any such merge:
//!
//! 1. *Split*: if a boundary `x` survives in the encoding of `t`, then `encode(t)` is
//!    `encode(t[..x])` followed by `encode(t[x..])`. No merge crosses `x`, and the merges on one
//!    side come in the order in which they come when that side stands alone, for the pair chosen
//!    from all is the lowest of its side.
//! 2. *Join*: if for each two neighbours of a sequence of tokens the encoding of the two together
//!    is just those two, the sequence is the encoding of the whole. Suppose not, and take the first
//!    merge that crosses a boundary, between tokens `u` and `v`. Until then the merges inside
//!    `u v` were those of `u v` alone, for each was the lowest of all and so the lowest there; and
//!    the crossing pair is the lowest there too. So `u v` alone would be merged across as well.
//!
//! By 1, neighbours in one window's encoding satisfy the condition of 2. So two windows may be
//! joined at the start of a token which both hold: the pairs up to it come from the first window,
//! those after it from the second.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::engine::Known;
use super::vocabulary::{EDGE, NONE, Vocabulary};
use crate::error::Result;
use crate::guard::{ASK, Guard};

/// The longest piece merged in place; the ends of its tokens fit one word.
pub(super) const SHORT: usize = 64;

/// The most tokens that are looked for as what repeats.
const PERIOD: usize = 4;

/// How far repeated tokens are followed at once; bounds what a leap that fails costs.
const LEAP: usize = 1 << 13;

/// The ends of the tokens of `piece` (1 to [`SHORT`] bytes): bit `i` is set if one ends with byte `i`.
pub(super) fn merge_short(vocabulary: &Vocabulary, piece: &[u8]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
    {
        // SAFETY: the processor was just asked for each of the features.
        return unsafe { merge_wide(vocabulary, piece) };
    }
    merge_plain(vocabulary, piece)
}

/// As [`merge_plain`], compiled for vectors of eight pairs.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt")]
fn merge_wide(vocabulary: &Vocabulary, piece: &[u8]) -> u64 {
    merge_plain(vocabulary, piece)
}

#[inline(always)]
fn merge_plain(vocabulary: &Vocabulary, piece: &[u8]) -> u64 {
    // Places count parts from one, so that the edges of the piece have a place too.
    match piece.len() {
        0..8 => merge_in(vocabulary, piece, &mut [i32::MAX; 8], &mut [EDGE; 10]),
        8..16 => merge_in(vocabulary, piece, &mut [i32::MAX; 16], &mut [EDGE; 18]),
        _ => merge_in(vocabulary, piece, &mut [i32::MAX; SHORT + 8], &mut [EDGE; SHORT + 10]),
    }
}

/// [`merge_short`] in arrays that hold nothing yet, `pairs` longer than the piece and `tokens` longer by
/// two. A pair's entry is its rank and its place: the least of all is the next to merge.
#[inline(always)]
fn merge_in(vocabulary: &Vocabulary, piece: &[u8], pairs: &mut [i32], tokens: &mut [u32]) -> u64 {
    let length = piece.len();
    let entry = |rank: u32, place: usize| {
        if rank == NONE { i32::MAX } else { (rank << 7) as i32 | place as i32 }
    };
    // Bit `i` is set if a part starts with byte `i`.
    let mut bytes = u64::MAX >> (SHORT - length);
    let mut count = length;
    if piece.is_ascii() {
        for (place, two) in (1..).zip(piece.windows(2)) {
            pairs[place] = entry(vocabulary.pair(two[0], two[1]), place);
        }
        for (token, &byte) in tokens[1..].iter_mut().zip(piece) {
            *token = vocabulary.single(byte);
        }
    } else {
        (count, bytes) = by_characters(vocabulary, piece, &mut tokens[1..]);
        if let 2 | 3 = count {
            return few(vocabulary, [tokens[1], tokens[2], tokens[3]], bytes) | 1 << (length - 1);
        }
        for place in 1..count {
            pairs[place] = entry(vocabulary.merged(tokens[place], tokens[place + 1]), place);
        }
    }
    let mut starts = u64::MAX >> (SHORT - count);
    let used = if pairs.len() > 16 { (count + 1).next_multiple_of(8) } else { pairs.len() };
    loop {
        let least = least(&pairs[..used]);
        if least == i32::MAX {
            let starts = if count == length { starts } else { chosen(bytes, starts) };
            return starts >> 1 | 1 << (length - 1);
        }
        let place = least as usize % 128;
        let merged = least as u32 >> 7;
        // Bit 0 of `later` is the part after `place`. Its lowest bit set is the part to the right,
        // which goes; the one after that is the new neighbour.
        let later = starts >> (place - 1) >> 1;
        let right = place + 1 + later.trailing_zeros() as usize;
        let later = later & later.wrapping_sub(1);
        starts &= !(1 << (right - 1));
        let next = (place + 1 + later.trailing_zeros() as usize).min(tokens.len() - 1);
        let earlier = starts & !(u64::MAX << (place - 1));
        let before = SHORT - earlier.leading_zeros() as usize;

        tokens[place] = merged;
        pairs[right] = i32::MAX;
        let [with_next, with_before] =
            vocabulary.merged_both([(merged, tokens[next]), (tokens[before], merged)]);
        pairs[place] = entry(with_next, place);
        pairs[before] = entry(with_before, before);
    }
}

/// The ends of the tokens of two or three parts, the second of which is followed by [`EDGE`] if there are
/// two; `bytes` tells where they start. Most stretches of Chinese and the like are as short as that.
#[inline(always)]
fn few(vocabulary: &Vocabulary, [a, b, c]: [u32; 3], bytes: u64) -> u64 {
    let starts = bytes & (bytes - 1);
    let first = vocabulary.merged(a, b);
    let second = if c == EDGE { NONE } else { vocabulary.merged(b, c) };
    let (both, gone) = if first == NONE && second == NONE {
        return starts >> 1;
    } else if first <= second {
        // The second part starts at the lowest bit, the third at the next.
        (if c == EDGE { NONE } else { vocabulary.merged(first, c) }, starts & starts.wrapping_neg())
    } else {
        (vocabulary.merged(a, second), starts & (starts - 1))
    };
    if both == NONE { (starts ^ gone) >> 1 } else { 0 }
}

/// The parts that `piece` may be merged from: its characters where that is certain, else its bytes.
/// Gives their number, and where they start.
#[inline]
fn by_characters(vocabulary: &Vocabulary, piece: &[u8], tokens: &mut [u32]) -> (usize, u64) {
    let mut starts = 0;
    let mut at = 0;
    let mut count = 0;
    for token in tokens {
        let Some(&byte) = piece.get(at) else { break };
        starts |= 1 << at;
        count += 1;
        // What an ASCII character before does to the bytes of one is not looked into.
        let after_ascii = at > 0 && piece[at - 1].is_ascii();
        let found =
            if byte < 0xc0 || after_ascii { None } else { vocabulary.character(&piece[at..]) };
        let (rank, length) = found.unwrap_or_else(|| (vocabulary.single(byte), 1));
        *token = rank;
        at += length;
    }
    (count, starts)
}

/// The set bits of `bits` of which the numbers, counted from the lowest, are set in `numbers`.
fn chosen(mut bits: u64, mut numbers: u64) -> u64 {
    let mut chosen = 0;
    while numbers != 0 {
        if numbers & 1 != 0 {
            chosen |= bits & bits.wrapping_neg();
        }
        bits &= bits.wrapping_sub(1);
        numbers >>= 1;
    }
    chosen
}

/// The least of `pairs`, whose length is a multiple of eight.
#[inline(always)]
fn least(pairs: &[i32]) -> i32 {
    let mut lanes = [i32::MAX; 8];
    for chunk in pairs.chunks_exact(8) {
        for (lane, &pair) in lanes.iter_mut().zip(chunk) {
            *lane = (*lane).min(pair);
        }
    }
    lanes.into_iter().fold(i32::MAX, i32::min)
}

/// The tokens of one window of a long piece.
struct Window {
    start: usize,
    length: usize,
    /// Bit `i` is set if a token ends with the window's byte `i`.
    ends: Vec<u64>,
}

impl Window {
    fn merged(vocabulary: &Vocabulary, piece: &[u8], start: usize, length: usize) -> Self {
        let length = length.min(piece.len() - start);
        let bytes = &piece[start..start + length];
        #[cfg(test)]
        WORK.set(WORK.get() + length);
        let ends = if length <= SHORT {
            vec![merge_short(vocabulary, bytes)]
        } else {
            merge_long(vocabulary, bytes)
        };
        Self { start, length, ends }
    }

    /// Whether a token ends where the window's byte `at` starts.
    fn has_boundary(&self, at: usize) -> bool {
        at > 0 && self.ends[(at - 1) / 64] >> ((at - 1) % 64) & 1 != 0
    }

    /// The end of the token that starts at `at`.
    fn token_end(&self, at: usize) -> usize {
        (at + 1..=self.length).find(|&end| self.has_boundary(end)).unwrap_or(self.length)
    }

    /// Where the first token ends that is `known` to stand at the same place in the text, and how many
    /// tokens there are up to it.
    fn shared(&self, known: &impl Known) -> Option<(usize, usize)> {
        let mut count = 0;
        let mut at = 0;
        while at < self.length {
            let end = self.token_end(at);
            count += 1;
            let (from, to) = (self.start + at, self.start + end);
            if known.has(from) && known.has(to) && known.count(from, to) == 1 {
                return Some((to, count));
            }
            at = end;
        }
        None
    }

    /// How many tokens there are from the text's `at` on, where one starts or the last one ends.
    fn tokens_from(&self, at: usize) -> usize {
        let before = at - self.start;
        let words = (0..).step_by(64).zip(&self.ends);
        let counts = words.map(|(first, &word)| match before.saturating_sub(first) {
            64.. => 0,
            skip => (word >> skip).count_ones() as usize,
        });
        counts.sum()
    }

    /// Whether tokens end at the same places in the first `period` bytes as in those behind them.
    fn repeats(&self, period: usize) -> bool {
        (1..=period).all(|at| self.has_boundary(at) == self.has_boundary(period + at))
    }

    /// Hands on the ends of the first `length` bytes.
    fn emit(&self, length: usize, ends: &mut impl FnMut(usize, u64)) {
        for (at, &word) in (0..length).step_by(64).zip(&self.ends) {
            let rest = length - at;
            let word = if rest < 64 { word & !(u64::MAX << rest) } else { word };
            ends(self.start + at, word);
        }
    }
}

/// Calls `ends(at, word)` for `piece` from left to right: bit `i` of `word` is set if a token ends
/// with byte `at + i`.
pub(super) fn merge(
    vocabulary: &Vocabulary,
    piece: &[u8],
    guard: &Guard<'_>,
    mut ends: impl FnMut(usize, u64),
) -> Result<()> {
    let mut width = SHORT;
    let mut asked = 0;
    let mut window = Window::merged(vocabulary, piece, 0, width);
    while window.start + window.length < piece.len() {
        if window.start - asked >= ASK {
            asked = window.start;
            guard.check()?;
        }
        if let Some((period, next)) = leap(vocabulary, piece, &window, width) {
            let mut at = window.start;
            while at < next.start {
                let mut end = 0;
                while end < period {
                    end = window.token_end(end);
                    ends(at + end - 1, 1);
                }
                at += period;
            }
            window = next;
            continue;
        }
        match next_window(vocabulary, piece, &window, width) {
            Some(next) => {
                window.emit(next.start - window.start, &mut ends);
                window = next;
                width = (width / 2).max(SHORT);
            }
            // Each failure doubles the window, and each success passes over a quarter of it, so
            // the work stays within a constant factor of one merge of the whole.
            None => {
                width *= 2;
                window = Window::merged(vocabulary, piece, window.start, width);
            }
        }
    }
    window.emit(window.length, &mut ends);
    Ok(())
}

/// How many tokens `part` of `text` has when it stands alone, if that is found by what is `known` of the
/// longer piece that it is part of.
///
/// Windows at both of its ends are merged. Where one holds a token that the piece has at the same place,
/// the two may be joined there (*join*), so between those places the tokens are the piece's.
pub(super) fn count_part(
    vocabulary: &Vocabulary,
    text: &[u8],
    part: Range<usize>,
    known: &impl Known,
) -> Option<usize> {
    let text = text.get(..part.end)?;
    let mut width = SHORT;
    while 4 * width <= part.len() {
        let first = Window::merged(vocabulary, text, part.start, width);
        let from = (part.end - width..part.end).find(|&at| known.has(at))?;
        let last = Window::merged(vocabulary, text, from, width);
        if let (Some((left, before)), Some((right, _))) = (first.shared(known), last.shared(known))
        {
            return Some(before + known.count(left, right) + last.tokens_from(right));
        }
        width *= 2;
    }
    None
}

/// The window that goes on from a token of `window`, if one is found that starts with that token.
fn next_window(
    vocabulary: &Vocabulary,
    piece: &[u8],
    window: &Window,
    width: usize,
) -> Option<Window> {
    let floor = window.length / 4;
    let mut ceiling = window.length - window.length / 4;
    for _ in 0..2 {
        let at = (floor..=ceiling).rev().find(|&at| window.has_boundary(at))?;
        let next = Window::merged(vocabulary, piece, window.start + at, width);
        if at + next.token_end(0) == window.token_end(at) {
            return Some(next);
        }
        ceiling = at / 2 + floor / 2;
    }
    None
}

/// The last window of a stretch that repeats the first few tokens of `window`, of at most [`LEAP`] bytes,
/// and how long these are together.
///
/// The window begins with these tokens twice, so each two that follow each other satisfy the condition of
/// *join*, the last and the first as well, and the stretch between may be filled with them.
fn leap(
    vocabulary: &Vocabulary,
    piece: &[u8],
    window: &Window,
    width: usize,
) -> Option<(usize, Window)> {
    let mut period = 0;
    for _ in 0..PERIOD {
        period = window.token_end(period);
        if 2 * period > window.length {
            return None;
        }
        if window.repeats(period) {
            break;
        }
    }
    if !window.repeats(period) {
        return None;
    }
    let rest = &piece[window.start..];
    let stretch = &rest[..rest.len().min(LEAP)];
    let same =
        stretch.iter().zip(&stretch[period..]).take_while(|(one, other)| one == other).count();
    let at = (same / period).checked_sub(1)? * period;
    if at < window.length {
        return None;
    }
    let next = Window::merged(vocabulary, piece, window.start + at, width);
    (next.token_end(0) == window.token_end(0)).then_some((period, next))
}

/// As [`merge_short`] for any length: a heap of pairs over a linked list of parts.
fn merge_long(vocabulary: &Vocabulary, piece: &[u8]) -> Vec<u64> {
    let length = piece.len();
    // `before[at]` and `after[at]`: the parts beside the part that starts at `at`.
    let mut after: Vec<usize> = (1..=length).collect();
    let mut before: Vec<usize> = (0..length).map(|at| at.wrapping_sub(1)).collect();
    let mut tokens: Vec<u32> = piece.iter().map(|&byte| vocabulary.single(byte)).collect();
    // The rank of the pair that starts at a part. A part that is gone has none.
    let mut ranks: Vec<u32> =
        piece.windows(2).map(|two| vocabulary.pair(two[0], two[1])).chain([NONE]).collect();
    let mut heap: BinaryHeap<Reverse<(u32, usize)>> = ranks
        .iter()
        .enumerate()
        .filter(|&(_, &rank)| rank != NONE)
        .map(|(at, &rank)| Reverse((rank, at)))
        .collect();
    while let Some(Reverse((merged, left))) = heap.pop() {
        // An entry is stale if its pair is no more. The rank names the bytes, so an equal one at
        // the same place is the same stretch.
        if ranks[left] != merged {
            continue;
        }
        let right = after[left];
        let end = after[right];
        after[left] = end;
        tokens[left] = merged;
        ranks[left] = NONE;
        ranks[right] = NONE;
        let mut renew = |at: usize, rank: u32| {
            ranks[at] = rank;
            if rank != NONE {
                heap.push(Reverse((rank, at)));
            }
        };
        if end < length {
            before[end] = left;
            renew(left, vocabulary.merged(merged, tokens[end]));
        }
        if left > 0 {
            renew(before[left], vocabulary.merged(tokens[before[left]], merged));
        }
    }
    let mut ends = vec![0u64; length.div_ceil(64)];
    let mut at = 0;
    while at < length {
        at = after[at];
        ends[(at - 1) / 64] |= 1 << ((at - 1) % 64);
    }
    ends
}

#[cfg(test)]
thread_local! {
    /// Bytes that went into windows on this thread.
    static WORK: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Bytes that went into windows on this thread so far.
#[cfg(test)]
pub(crate) fn work() -> usize {
    WORK.get()
}

#[cfg(test)]
#[path = "bpe_tests.rs"]
mod tests;
