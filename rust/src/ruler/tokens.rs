//! Sizes in tokens of a byte-pair vocabulary with a known pattern, from one pass over the text.
//!
//! The pass leaves two sets of offsets, one bit per byte of text each: where tokens end, and where
//! pretokens start. Tokens between two offsets are then a difference of ranks. That difference is
//! not yet the size of `text[a..b]`, which is encoded as a text of its own: its pretokens may
//! differ from those of the whole text at its two edges. They are made good there, and the result
//! is exact for every `a` and `b` on character boundaries:
//!
//! * *Inside.* Tokens depend on their pretoken alone, so only pretokens matter.
//! * *Start.* A pretoken's end depends on the text from its start on. So once a pretoken of the
//!   slice starts where one of the whole text does, all later starts agree. Until then the slice
//!   is scanned anew. A slice that starts at a pretoken needs nothing.
//! * *End.* Take a pretoken that ends at or before `b`. Cutting the text at `b` cannot make another
//!   alternative of the pattern match there, unless one that looks ahead: any other that matches in
//!   the slice matches in the whole text as well, and is tried in the same order. The two that look
//!   ahead (`\s++$`, `\s+(?!\S)`) match white space, and see the cut only if it runs up to `b`. So
//!   the pretokens from the first whose text up to `b` is blank, or else from the one that `b`
//!   stands inside, are scanned anew; those before are as they were. At the end of the whole text
//!   there is no cut and nothing to do.
//!
//! This holds for every pattern of `tokenizer/patterns.rs`: none looks back, and no other part of them
//! looks ahead. (The one of gpt2 leaves out line breaks and lets a run of digits be one pretoken; it has
//! the same two alternatives for white space.)
//!
//! The rescans read the two edge pretokens and, in a run of digits cut into threes (which has no
//! landmark), the rest of that run; never more than the slice. Memory: 0.27 bytes per byte of text.

use std::ops::Range;
use std::sync::Arc;

use super::Ruler;
use super::bits::{Bits, Ranked};
use crate::error::{Error, Result};
use crate::guard::Guard;
use crate::tokenizer::bundled::{Bundled, Sink};
use crate::tokenizer::classes::is_blank;

/// Measures one text in tokens.
pub struct TokenRuler<'t> {
    text: &'t str,
    tokenizer: Arc<Bundled>,
    /// Bit `i`: a token ends with byte `i`.
    ends: Ranked,
    /// Bit `i`: a pretoken starts at byte `i`.
    starts: Bits,
}

/// Bytes from which a further thread earns its start.
const WORTH_A_THREAD: usize = 1 << 19;

/// Both sets while they are written, for a part of the text.
struct Marks {
    /// The offset that bit 0 stands for, a multiple of 64.
    base: usize,
    /// Where the part starts, counted from the base.
    skip: usize,
    ends: Bits,
    starts: Bits,
}

impl Marks {
    fn new(start: usize, end: usize) -> Self {
        let base = start / 64 * 64;
        let bits = || Bits::new(end - base);
        Self { base, skip: start - base, ends: bits(), starts: bits() }
    }

    /// The marks of `part`, which starts and ends at pretokens.
    fn of(tokenizer: &Bundled, text: &str, part: Range<usize>, guard: &Guard<'_>) -> Result<Self> {
        let mut marks = Self::new(part.start, part.end);
        tokenizer.walk(&text[part], guard, &mut marks)?;
        Ok(marks)
    }

    fn merge(&mut self, part: &Marks) {
        self.ends.merge(part.base, &part.ends);
        self.starts.merge(part.base, &part.starts);
    }
}

impl Sink for Marks {
    #[inline(always)]
    fn pretoken(&mut self, at: usize) {
        self.starts.set(self.skip + at, 1);
    }

    #[inline(always)]
    fn ends(&mut self, at: usize, ends: u64) {
        self.ends.set(self.skip + at, ends);
    }
}

/// The text in up to `count` parts of about the same length, each starting at a pretoken. Fewer parts
/// where there is no such place.
fn parts(tokenizer: &Bundled, text: &str, count: usize) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    for i in 1..count {
        let from = (text.len() / count * i).max(start);
        if let Some(at) = tokenizer.certain_start(text.as_bytes(), from) {
            parts.push(start..at);
            start = at;
        }
    }
    parts.push(start..text.len());
    parts
}

impl<'t> TokenRuler<'t> {
    /// Measures `text` on up to `threads` threads.
    pub(crate) fn new(
        tokenizer: Arc<Bundled>,
        text: &'t str,
        threads: usize,
        guard: &Guard<'_>,
    ) -> Result<Self> {
        let parts = parts(&tokenizer, text, threads.min(text.len() / WORTH_A_THREAD));
        let Marks { ends, starts, .. } = match parts.as_slice() {
            [] | [_] => Marks::of(&tokenizer, text, 0..text.len(), guard)?,
            [first, rest @ ..] => {
                let tokenizer = &tokenizer;
                let stop = guard.stop();
                std::thread::scope(|scope| {
                    let workers: Vec<_> = rest
                        .iter()
                        .map(|part| {
                            let part = part.clone();
                            scope.spawn(move || {
                                Marks::of(tokenizer, text, part, &Guard::new(stop, None))
                            })
                        })
                        .collect();
                    let mut whole = Marks::new(0, text.len());
                    whole.merge(&Marks::of(tokenizer, text, first.clone(), guard)?);
                    for worker in workers {
                        match worker.join() {
                            Ok(part) => whole.merge(&part?),
                            Err(panic) => std::panic::resume_unwind(panic),
                        }
                    }
                    Ok(whole)
                })?
            }
        };
        Ok(Self { text, tokenizer, ends: Ranked::new(ends), starts })
    }

    /// The tokens of the pretokens of `slice` from `at` on, until `stop` says so of a start.
    /// Gives the count and where it stopped.
    fn scan(
        &self,
        slice: &[u8],
        mut at: usize,
        stop: impl Fn(usize) -> bool,
    ) -> Result<(usize, usize)> {
        let mut count = 0;
        while at < slice.len() && !stop(at) {
            let end = self.tokenizer.next_pretoken(slice, at);
            count += self.tokenizer.count_piece(&slice[at..end])?;
            at = end;
        }
        Ok((count, at))
    }

    /// The start from which the pretokens of `slice`, the text before a cut, must be scanned anew;
    /// the slice's length if none. `from` is a start.
    fn first_changed(&self, slice: &[u8], from: usize) -> usize {
        let cut = slice.len();
        let mut first = cut;
        let mut blank = true;
        while first > from && blank {
            let start = self.starts.last_in(from, first).unwrap_or(from);
            blank = is_blank(&slice[start..first]);
            if blank || (first == cut && !self.starts.has(cut)) {
                first = start;
            }
        }
        first
    }
}

impl Ruler for TokenRuler<'_> {
    fn size(&self, a: usize, b: usize) -> Result<usize> {
        if self.text.get(a..b).is_none() {
            return Err(Error::Internal(format!("{a}..{b} is no span of the text measured")));
        }
        let slice = &self.text.as_bytes()[..b];
        let (head, from) = self.scan(slice, a, |at| self.starts.has(at))?;
        if from == b {
            return Ok(head);
        }
        let to = if b == self.text.len() { b } else { self.first_changed(slice, from) };
        let (tail, _) = self.scan(slice, to, |_| false)?;
        Ok(head + self.ends.rank(to) - self.ends.rank(from) + tail)
    }

    fn ahead(&self, a: usize, n: usize) -> Result<usize> {
        let Some(more) = n.checked_sub(1) else { return Ok(a) };
        let last = self.ends.rank(a).saturating_add(more);
        Ok(self.ends.select(last).map_or(self.text.len(), |at| at + 1))
    }

    fn behind(&self, b: usize, n: usize) -> Result<usize> {
        if n == 0 || b == 0 {
            return Ok(b);
        }
        // Tokens that end before `b`: the next one ends at `b` or holds it.
        let whole = self.ends.rank(b - 1);
        let Some(before) = whole.checked_sub(n) else { return Ok(0) };
        Ok(self.ends.select(before).map_or(self.text.len(), |at| at + 1))
    }
}

#[cfg(test)]
#[path = "tokens_tests.rs"]
mod tests;
