//! Sizes in tokens of an engine of our own, from one pass over the text.
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
//! * *End.* A pretoken that ends at or before `b` is as it was, unless it looks ahead and all up to `b`
//!   does. So the pretokens from the first of those that look ahead right before `b`, or else from the
//!   one that `b` stands inside, are scanned anew. At the end of the whole text there is no cut and
//!   nothing to do.
//!
//! For the patterns of `tokenizer/patterns.rs`: none looks back. Cutting the text at `b` cannot make
//! another alternative match, unless one that looks ahead: any other that matches in the slice matches
//! in the whole text as well, and is tried in the same order. The two that look ahead (`\s++$`,
//! `\s+(?!\S)`) match white space, and see the cut only if it runs up to `b`.
//!
//! The rescans read the two edge pretokens and, in a run of digits cut into threes (which has no
//! landmark), the rest of that run; never more than the slice. Where such a pretoken is
//! part of a long one of the whole text, the engine may answer from the tokens of that
//! ([`Engine::count_part`]): then it is read, but merged at its two ends only. Memory: 0.27 bytes per byte of text.

use std::ops::Range;
use std::sync::Arc;

use super::bits::{Bits, Ranked};
use super::{PAST, Ruler};
use crate::error::{Error, Result};
use crate::guard::Guard;
use crate::tokenizer::engine::{Engine, Known, Sink};

/// Measures one text in tokens.
pub(crate) struct TokenRuler<'t, E> {
    text: &'t str,
    engine: Arc<E>,
    marks: Arc<TokenMarks>,
}

/// Where the tokens of one text end, and where its pretokens start.
#[derive(PartialEq, Eq)]
pub(crate) struct TokenMarks {
    /// `i`, as often as tokens end with byte `i`.
    ends: Ranked,
    /// Bit `i`: a pretoken starts at byte `i`.
    starts: Bits,
}

/// Bytes from which a pretoken at an edge is worth asking what is known of it.
const LONG: usize = 256;

impl Known for Ranked {
    fn has(&self, at: usize) -> bool {
        at > 0 && Ranked::has(self, at - 1)
    }

    fn count(&self, from: usize, to: usize) -> usize {
        self.rank(to) - self.rank(from)
    }
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
    /// Bytes with which a token more ends than the one of its bit, in order; there are few.
    more: Vec<usize>,
}

impl Marks {
    fn new(start: usize, end: usize) -> Self {
        let base = start / 64 * 64;
        let bits = || Bits::new(end - base);
        Self { base, skip: start - base, ends: bits(), starts: bits(), more: Vec::new() }
    }

    /// The marks of `part`, which starts and ends at pretokens.
    fn of(engine: &impl Engine, text: &str, part: Range<usize>, guard: &Guard<'_>) -> Result<Self> {
        let mut marks = Self::new(part.start, part.end);
        engine.walk(&text[part], guard, &mut marks)?;
        Ok(marks)
    }

    fn merge(&mut self, part: &Marks) {
        self.ends.merge(part.base, &part.ends);
        self.starts.merge(part.base, &part.starts);
        self.more.extend(part.more.iter().map(|at| part.base + at));
    }
}

impl Sink for Marks {
    #[inline(always)]
    fn pretoken(&mut self, at: usize) {
        self.starts.set(self.skip + at, 1);
    }

    #[inline(always)]
    fn pretokens(&mut self, at: usize, starts: u64) {
        self.starts.set(self.skip + at, starts);
    }

    #[inline(always)]
    fn ends(&mut self, at: usize, ends: u64) {
        self.ends.set(self.skip + at, ends);
    }

    #[inline]
    fn more(&mut self, at: usize, count: usize) {
        self.more.extend(std::iter::repeat_n(self.skip + at, count));
    }
}

/// The text in up to `count` parts of about the same length, each starting at a pretoken. Fewer parts
/// where there is no such place.
fn parts(engine: &impl Engine, text: &str, count: usize) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    for i in 1..count {
        let from = (text.len() / count * i).max(start);
        if let Some(at) = engine.certain_start(text, from) {
            parts.push(start..at);
            start = at;
        }
    }
    parts.push(start..text.len());
    parts
}

impl TokenMarks {
    /// Measures `text` on up to `threads` threads.
    pub(crate) fn new(
        engine: &impl Engine,
        text: &str,
        threads: usize,
        guard: &Guard<'_>,
    ) -> Result<Self> {
        let parts = parts(engine, text, threads.min(text.len() / WORTH_A_THREAD));
        let Marks { ends, starts, more, .. } = match parts.as_slice() {
            [] | [_] => Marks::of(engine, text, 0..text.len(), guard)?,
            [first, rest @ ..] => {
                let stop = guard.stop();
                std::thread::scope(|scope| {
                    let workers: Vec<_> = rest
                        .iter()
                        .map(|part| {
                            let part = part.clone();
                            scope.spawn(move || {
                                Marks::of(engine, text, part, &Guard::new(stop, None))
                            })
                        })
                        .collect();
                    let mut whole = Marks::new(0, text.len());
                    whole.merge(&Marks::of(engine, text, first.clone(), guard)?);
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
        Ok(Self { ends: Ranked::new(ends, more), starts })
    }

    /// How many tokens there are.
    pub(crate) fn total(&self) -> usize {
        self.ends.total()
    }
}

impl<'t, E: Engine> TokenRuler<'t, E> {
    /// A ruler over `text`, from its marks.
    pub(crate) fn new(engine: Arc<E>, text: &'t str, marks: Arc<TokenMarks>) -> Self {
        Self { text, engine, marks }
    }

    /// The tokens of the pretokens of `slice` from `at` on, until `stop` says so of a start.
    /// Gives the count and where it stopped.
    fn scan(
        &self,
        slice: &str,
        mut at: usize,
        stop: impl Fn(usize) -> bool,
    ) -> Result<(usize, usize)> {
        let mut count = 0;
        while at < slice.len() && !stop(at) {
            let end = self.engine.next_pretoken(slice, at);
            count += if end - at > LONG && self.marks.starts.last_in(at + 1, end).is_none() {
                self.engine.count_part(self.text, at..end, &self.marks.ends)?
            } else {
                self.engine.count_piece(&slice[at..end])?
            };
            at = end;
        }
        Ok((count, at))
    }

    /// The start from which the pretokens of `slice`, the text before a cut, must be scanned anew;
    /// the slice's length if none. `from` is a start.
    fn first_changed(&self, slice: &str, from: usize) -> usize {
        let cut = slice.len();
        let mut first = cut;
        let mut looks = true;
        while first > from && looks {
            let start = self.marks.starts.last_in(from, first).unwrap_or(from);
            looks = self.engine.looks_ahead(&slice[start..first]);
            if looks || (first == cut && !self.marks.starts.has(cut)) {
                first = start;
            }
        }
        first
    }
}

impl<E: Engine> Ruler for TokenRuler<'_, E> {
    fn size(&self, a: usize, b: usize) -> Result<usize> {
        if self.text.get(a..b).is_none() {
            return Err(Error::Internal(format!("{a}..{b} is no span of the text measured")));
        }
        let slice = &self.text[..b];
        let TokenMarks { ends, starts } = &*self.marks;
        let (head, from) = self.scan(slice, a, |at| starts.has(at))?;
        if from == b {
            return Ok(head);
        }
        let to = if b == self.text.len() { b } else { self.first_changed(slice, from) };
        let (tail, _) = self.scan(slice, to, |_| false)?;
        Ok(head + ends.rank(to) - ends.rank(from) + tail)
    }

    fn ahead(&self, a: usize, n: usize) -> Result<usize> {
        let Some(more) = n.checked_sub(1) else { return Ok(a) };
        let last = self.marks.ends.rank(a).saturating_add(more);
        Ok(self.marks.ends.select(last).map_or(self.text.len(), |at| at + 1))
    }

    fn behind(&self, b: usize, n: usize) -> Result<usize> {
        if n == 0 || b == 0 {
            return Ok(b);
        }
        // Tokens that end before `b`: the next one ends at `b` or holds it.
        let whole = self.marks.ends.rank(b - 1);
        let Some(before) = whole.checked_sub(n) else { return Ok(0) };
        Ok(self.marks.ends.select(before).map_or(self.text.len(), |at| at + 1))
    }

    /// The end of the first pretoken that holds more than the `n`-th token and does not look ahead: it
    /// is whole in every longer span, which then has more than `n` tokens.
    fn furthest(&self, a: usize, n: usize) -> Result<usize> {
        let TokenMarks { ends, starts } = &*self.marks;
        let (text, end) = (self.text, self.text.len());
        let near = self.ahead(a, n)?.saturating_add(PAST).min(end);
        if starts.next_from(a).unwrap_or(end) > near {
            // All of it lies within the pretoken that `a` stands inside.
            return Ok(near);
        }
        let (head, from) = self.scan(text, a, |at| starts.has(at) || at > near)?;
        if from > near {
            // Out of step with the pretokens of the whole text for longer than that.
            return Ok(near);
        }
        let before = ends.rank(from);
        let more = n.saturating_sub(head);
        let plan = match more.checked_sub(1) {
            None => from,
            Some(last) => ends.select(before.saturating_add(last)).map_or(end, |at| at + 1),
        };
        let most = plan.saturating_add(PAST).min(end);
        let mut at = plan;
        while at < most {
            let start = starts.last_in(from, at + 1).unwrap_or(from);
            at = starts.next_from(at + 1).unwrap_or(end);
            let passed = ends.rank(at) - before > more;
            if passed && at <= most && !self.engine.looks_ahead(&text[start..at]) {
                break;
            }
        }
        Ok(at.min(most))
    }
}

#[cfg(test)]
#[path = "tokens_tests.rs"]
pub(crate) mod tests;
