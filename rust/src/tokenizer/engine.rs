//! What a tokenizer of our own is: it cuts a text into pretokens and tells where tokens end.
//!
//! A *pretoken* is a stretch of text whose tokens depend on nothing else. Pretokens tile a text, and
//! where one ends depends on the text from its start on and on nothing before. `ruler/tokens.rs`
//! builds on both.

use std::ops::Range;

use crate::error::Result;
use crate::guard::Guard;

/// Takes what a pass finds, from left to right.
pub(crate) trait Sink {
    /// A pretoken starts at `at`.
    fn pretoken(&mut self, at: usize);
    /// For every bit `i` of `starts` that is set, a pretoken starts at `at + i`.
    #[inline(always)]
    fn pretokens(&mut self, at: usize, mut starts: u64) {
        while starts != 0 {
            self.pretoken(at + starts.trailing_zeros() as usize);
            starts &= starts - 1;
        }
    }
    /// Bit `i` of `ends` is set if a token ends with the text's byte `at + i`.
    fn ends(&mut self, at: usize, ends: u64);
    /// `count` tokens more end with the text's byte `at`, with which one does already.
    fn more(&mut self, at: usize, count: usize);
}

/// What is known of the tokens of a text.
pub(crate) trait Known {
    /// Whether a token ends with the byte before `at`.
    fn has(&self, at: usize) -> bool;
    /// How many tokens lie between two such places.
    fn count(&self, from: usize, to: usize) -> usize;
}

/// A family of tokenizers, with its vocabulary. All offsets are in bytes.
///
/// Tokens end at different bytes. Where many come from one character, they end at bytes inside it, and
/// those for which there is no byte with its last ([`Sink::more`]).
pub(crate) trait Engine: Send + Sync {
    /// Passes over `text` once.
    fn walk(&self, text: &str, guard: &Guard<'_>, sink: &mut impl Sink) -> Result<()>;

    /// The end of the pretoken of `text` that starts at `at`, a character boundary before the end.
    fn next_pretoken(&self, text: &str, at: usize) -> usize;

    /// How many tokens a pretoken has.
    fn count_piece(&self, pretoken: &str) -> Result<usize>;

    /// As [`Engine::count_piece`], for the pretoken that `part` of `text` is when it stands alone. It is
    /// part of one pretoken of the text, of which the tokens are `known`.
    fn count_part(&self, text: &str, part: Range<usize>, _known: &impl Known) -> Result<usize> {
        self.count_piece(&text[part])
    }

    /// Whether a pretoken that ends with the text may end elsewhere once more text follows. One that
    /// does not is the same wherever it stands.
    fn looks_ahead(&self, pretoken: &str) -> bool;

    /// A place at `from` or after at which a pretoken starts whatever stands before, and where the text
    /// may be cut: the pretokens before it are the same without what follows.
    fn certain_start(&self, text: &str, from: usize) -> Option<usize>;

    /// The ids of the tokens of `text` and the byte offset at which each ends.
    fn encode(&self, text: &str, guard: &Guard<'_>) -> Result<(Vec<u32>, Vec<usize>)>;

    /// How many tokens `text` has.
    fn count(&self, text: &str, guard: &Guard<'_>) -> Result<usize> {
        let mut count = Count::default();
        self.walk(text, guard, &mut count)?;
        Ok(count.0)
    }
}

/// Counts tokens.
#[derive(Default)]
struct Count(usize);

impl Sink for Count {
    #[inline(always)]
    fn pretoken(&mut self, _: usize) {}

    #[inline(always)]
    fn ends(&mut self, _: usize, ends: u64) {
        self.0 += ends.count_ones() as usize;
    }

    #[inline(always)]
    fn more(&mut self, _: usize, count: usize) {
        self.0 += count;
    }
}

/// Lists where tokens end.
#[derive(Default)]
pub(super) struct Ends(pub(super) Vec<usize>);

impl Sink for Ends {
    fn pretoken(&mut self, _: usize) {}

    fn ends(&mut self, at: usize, mut ends: u64) {
        while ends != 0 {
            self.0.push(at + ends.trailing_zeros() as usize + 1);
            ends &= ends - 1;
        }
    }

    fn more(&mut self, at: usize, count: usize) {
        self.0.extend(std::iter::repeat_n(at + 1, count));
    }
}
