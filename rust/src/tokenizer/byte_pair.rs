//! A byte-pair tokenizer with a known pattern: one pass over a text that tells where its tokens end.
//!
//! Scanner, memo and merge meet here, over batches of pretokens: the starts of some 64 are found, then
//! their places in the memo, then what stands there, so that no step waits for the one before
//! it. What a pass is for (a count, ids, a ruler) is the sink's business; tokens are told as words of bits,
//! up to 64 bytes of text at a time.

use std::ops::Range;

use super::borders::Borders;
use super::bpe::{self, SHORT};
use super::classes::is_blank;
use super::engine::{Ends, Engine, Known, Sink};
#[cfg(target_arch = "x86_64")]
use super::masks::Avx2;
use super::masks::{Lanes, Portable};
use super::memo::{self, Batch, Memo, Pool};
use super::patterns::Pattern;
use super::scan::{Cl100k, Gpt2, Llama3, O200k, Qwen2, Scan};
use super::vocabulary::{NONE, Vocabulary};
use super::windows::Starts;
use crate::error::{Error, Result};
use crate::guard::{ASK, Guard};

/// A vocabulary, bundled or a caller's, with its pattern.
pub(crate) struct BytePair {
    pattern: Pattern,
    vocabulary: Vocabulary,
    borders: Borders,
    memos: Pool,
}

impl BytePair {
    pub(super) fn new(pattern: Pattern, vocabulary: Vocabulary) -> Self {
        let borders = Borders::of(vocabulary.tokens());
        Self { pattern, vocabulary, borders, memos: Pool::default() }
    }

    pub(super) fn pattern(&self) -> Pattern {
        self.pattern
    }

    pub(super) fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    #[cfg(test)]
    pub(super) fn borders(&self) -> &Borders {
        &self.borders
    }

    /// [`Self::pass`], compiled for processors that count bits in one instruction and look at 32 bytes
    /// at once, and for others.
    fn run<S: Scan>(
        &self,
        text: &[u8],
        memo: &mut Memo,
        guard: &Guard<'_>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt")
        {
            // SAFETY: the processor was just asked for each of the features.
            return unsafe { self.wide_pass::<S>(text, memo, guard, sink) };
        }
        self.pass::<S, Portable>(text, memo, guard, sink)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    fn wide_pass<S: Scan>(
        &self,
        text: &[u8],
        memo: &mut Memo,
        guard: &Guard<'_>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        self.pass::<S, Avx2>(text, memo, guard, sink)
    }

    #[inline(always)]
    fn pass<S: Scan, L: Lanes>(
        &self,
        text: &[u8],
        memo: &mut Memo,
        guard: &Guard<'_>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let mut starts = Starts::new();
        let mut batch = Batch::new();
        let mut at = 0;
        while at < text.len() {
            guard.check()?;
            let stop = text.len().min(at + ASK);
            while at < stop {
                starts.fill::<S, L>(text, at, stop);
                let bounds = starts.bounds();
                for missed in 0..memo.look_up(text, bounds, &mut batch) {
                    let i = batch.missed(missed);
                    batch.ends[i] = self.remembered_ends(&text[bounds[i]..bounds[i + 1]], memo);
                }
                let mut i = 0;
                for stretch in starts.stretches() {
                    let first = i;
                    i += stretch.starts.count_ones() as usize;
                    sink.pretokens(stretch.at, stretch.starts);
                    if bounds[i] - stretch.at > SHORT {
                        let piece = &text[stretch.at..bounds[i]];
                        if piece.len() <= memo::ROW && piece.is_ascii() {
                            let ends = memo.row_ends(piece, |ends| self.row(piece, guard, ends))?;
                            for (at, word) in (stretch.at..bounds[i]).step_by(64).zip(ends) {
                                sink.ends(at, word);
                            }
                            continue;
                        }
                        self.piece_ends(piece, Some(memo), guard, |from, ends| {
                            sink.ends(stretch.at + from, ends);
                        })?;
                        continue;
                    }
                    let ends = bounds[first..i]
                        .iter()
                        .zip(&batch.ends[first..i])
                        .fold(0, |ends, (&at, &found)| ends | found << (at - stretch.at));
                    sink.ends(stretch.at, ends);
                }
                at = bounds.last().copied().unwrap_or(stop);
            }
        }
        Ok(())
    }

    /// The ends of the tokens of a pretoken that the memo does not tell at once; none of one that is longer
    /// than a word of bits.
    #[inline(never)]
    fn remembered_ends(&self, piece: &[u8], memo: &mut Memo) -> u64 {
        let length = piece.len();
        // Of the dense ones that are longer the like is hardly met again, but for their parts.
        if length <= memo::SHORT || (length <= memo::LONG && !is_dense(piece)) {
            memo.any_ends(piece, || self.short_ends(piece, None))
        } else if length <= SHORT && piece.is_ascii() {
            let made = memo.row_ends(piece, |ends| {
                ends[0] = self.short_ends(piece, None);
                Ok(())
            });
            made.map_or(0, |ends| ends[0])
        } else if length <= SHORT {
            self.short_ends(piece, Some(memo))
        } else {
            0
        }
    }

    /// The ends of the tokens of a pretoken of at most [`SHORT`] bytes.
    fn short_ends(&self, piece: &[u8], memo: Option<&mut Memo>) -> u64 {
        if piece.is_ascii() {
            if self.vocabulary.rank(piece) != NONE {
                return 1 << (piece.len() - 1);
            }
            return bpe::merge_short(&self.vocabulary, piece);
        }
        let mut found = 0;
        // So few bytes ask no guard, so nothing can fail.
        let _ = self.borders.merge(&self.vocabulary, piece, memo, &Guard::never(), |at, ends| {
            found |= ends << at;
        });
        found
    }

    /// As [`Self::piece_ends`], in words of bits from the start on.
    fn row(&self, piece: &[u8], guard: &Guard<'_>, ends: &mut [u64]) -> Result<()> {
        self.piece_ends(piece, None, guard, |at, found| {
            ends[at / 64] |= found << (at % 64);
            if at % 64 != 0 && at / 64 + 1 < ends.len() {
                ends[at / 64 + 1] |= found >> (64 - at % 64);
            }
        })
    }

    /// The ends of the tokens of a pretoken; a pretoken that is a token as it stands is one.
    #[inline(never)]
    fn piece_ends(
        &self,
        piece: &[u8],
        memo: Option<&mut Memo>,
        guard: &Guard<'_>,
        mut ends: impl FnMut(usize, u64),
    ) -> Result<()> {
        if piece.len() <= SHORT {
            ends(0, self.short_ends(piece, memo));
        } else if !piece.is_ascii() {
            self.borders.merge(&self.vocabulary, piece, memo, guard, ends)?;
        } else if self.vocabulary.rank(piece) != NONE {
            let last = piece.len() - 1;
            ends(last, 1);
        } else {
            bpe::merge(&self.vocabulary, piece, guard, ends)?;
        }
        Ok(())
    }
}

/// Whether a pretoken is of a script with thousands of characters, written without blanks: it starts
/// with a character from U+3000 on, with or without one byte before it.
#[inline(always)]
fn is_dense(piece: &[u8]) -> bool {
    matches!(piece, [0xe3..=0xed, ..] | [0..0x80, 0xe3..=0xed, ..])
}

impl Engine for BytePair {
    fn walk(&self, text: &str, guard: &Guard<'_>, sink: &mut impl Sink) -> Result<()> {
        let text = text.as_bytes();
        self.memos.with(|memo| match self.pattern {
            Pattern::Gpt2 => self.run::<Gpt2>(text, memo, guard, sink),
            Pattern::Cl100k => self.run::<Cl100k>(text, memo, guard, sink),
            Pattern::Llama3 => self.run::<Llama3>(text, memo, guard, sink),
            Pattern::Qwen2 => self.run::<Qwen2>(text, memo, guard, sink),
            Pattern::O200k => self.run::<O200k>(text, memo, guard, sink),
        })
    }

    fn next_pretoken(&self, text: &str, at: usize) -> usize {
        let text = text.as_bytes();
        match self.pattern {
            Pattern::Gpt2 => Gpt2::next(text, at),
            Pattern::Cl100k => Cl100k::next(text, at),
            Pattern::Llama3 => Llama3::next(text, at),
            Pattern::Qwen2 => Qwen2::next(text, at),
            Pattern::O200k => O200k::next(text, at),
        }
    }

    fn count_piece(&self, pretoken: &str) -> Result<usize> {
        let piece = pretoken.as_bytes();
        if piece.len() <= SHORT {
            return Ok(self.short_ends(piece, None).count_ones() as usize);
        }
        let mut count = 0;
        self.piece_ends(piece, None, &Guard::never(), |_, ends| {
            count += ends.count_ones() as usize;
        })?;
        Ok(count)
    }

    fn count_part(&self, text: &str, part: Range<usize>, known: &impl Known) -> Result<usize> {
        // A token that no merge makes is one only as a whole pretoken, and never longer than this.
        let known = if part.len() <= self.vocabulary.longest() {
            None
        } else {
            bpe::count_part(&self.vocabulary, text.as_bytes(), part.clone(), known)
        };
        known.map_or_else(|| self.count_piece(&text[part]), Ok)
    }

    /// The alternatives that look ahead, `\s++$` and `\s+(?!\S)`, match white space.
    fn looks_ahead(&self, pretoken: &str) -> bool {
        is_blank(pretoken.as_bytes())
    }

    /// A line feed with an ASCII letter behind: no stretch runs from a line break into a letter, and
    /// white space up to the line feed is one pretoken by `\s*[\r\n]` as by `\s++$`. The pattern of gpt2
    /// has the second alone, which would join two line feeds. There it is a visible character with a
    /// space behind: no stretch runs from the one into the other.
    fn certain_start(&self, text: &str, from: usize) -> Option<usize> {
        let rest = text.as_bytes().get(from..)?;
        let at = match self.pattern {
            Pattern::Gpt2 => memchr::memchr_iter(b' ', rest)
                .find(|&at| at > 0 && rest[at - 1].is_ascii_graphic()),
            _ => memchr::memchr_iter(b'\n', rest)
                .map(|at| at + 1)
                .find(|&at| rest.get(at).is_some_and(u8::is_ascii_alphabetic)),
        };
        Some(from + at?)
    }

    fn encode(&self, text: &str, guard: &Guard<'_>) -> Result<(Vec<u32>, Vec<usize>)> {
        let mut ends = Ends::default();
        self.walk(text, guard, &mut ends)?;
        let mut start = 0;
        let ids = ends.0.iter().map(|&end| {
            let token = &text.as_bytes()[start..end];
            start = end;
            match self.vocabulary.rank(token) {
                NONE => Err(Error::Internal(format!("{token:?} is no token"))),
                rank => Ok(self.vocabulary.id(rank)),
            }
        });
        let ids = ids.collect::<Result<_>>()?;
        Ok((ids, ends.0))
    }
}
