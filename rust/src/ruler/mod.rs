//! How long is a stretch of text? One file per unit.
//!
//! A ruler measures a text once and then answers about any span of it. Token counts are not
//! additive and not monotone (more text can mean fewer tokens), so the packer plans with
//! [`Ruler::ahead`] and [`Ruler::behind`], positions from one encoding of the whole text, and
//! settles the limit with [`Ruler::size`], which counts a span as a text of its own.

mod bits;
pub mod encoded;
pub mod measured;
pub mod plain;
pub(crate) mod specials;
pub mod tokens;
pub mod words;

use crate::error::Result;

/// Measures one text, to which all offsets (bytes, on character boundaries unless said otherwise) refer.
pub trait Ruler {
    /// The number of units in `text[a..b]`, counted on that slice alone.
    fn size(&self, a: usize, b: usize) -> Result<usize>;

    /// The byte offset at which the `n`-th unit counted from `a` ends, at most the text's length.
    ///
    /// A unit that `a` stands inside counts as the first. The offset follows the encoding of the
    /// whole text and may fall inside a character (a token can end there).
    fn ahead(&self, a: usize, n: usize) -> Result<usize>;

    /// The byte offset at which the `n`-th unit counted back from `b` starts, at least 0.
    ///
    /// A unit that `b` stands inside counts as the first. `behind(b, 0)` is `b`.
    fn behind(&self, b: usize, n: usize) -> Result<usize>;

    /// Whether counts add up, and no unit is smaller than a byte: then a plan holds, a part of a span
    /// has no more units than the span, and none has more units than bytes.
    fn adds_up(&self) -> bool {
        false
    }

    /// An offset behind which no span from `a` of at most `n` units is looked for: beyond the plan,
    /// as more text can mean fewer tokens, and at most [`PAST`] bytes beyond it.
    fn furthest(&self, a: usize, n: usize) -> Result<usize> {
        Ok(self.ahead(a, n)?.saturating_add(PAST))
    }
}

/// How far (bytes) behind a planned end a longer span is looked for. Token counts can shrink as text
/// grows, but only within the word at the end.
pub const PAST: usize = 256;

/// The furthest `b` on a character boundary for which `text[a..b]` has at most `n` units; a nearer one
/// where a word that is cut short falls into over 16 units more than it had.
pub fn reach(text: &str, ruler: &(impl Ruler + ?Sized), a: usize, n: usize) -> Result<usize> {
    let furthest = ruler.furthest(a, n)?.min(text.len());
    let mut b = text.floor_char_boundary(furthest).max(a);
    while b > a {
        let over = ruler.size(a, b)?.saturating_sub(n);
        if over == 0 {
            break;
        }
        // A byte less is a unit less at most, but for the word at the end, which may fall apart.
        let step = over.saturating_sub(LAST_WORD).max(1);
        b = text.floor_char_boundary(b.saturating_sub(step)).max(a);
    }
    Ok(b)
}

/// Units by which a span may be larger than one that ends further on.
const LAST_WORD: usize = 16;
