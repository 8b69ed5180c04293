//! Sizes that include the special tokens which a tokenizer puts around a text.

use super::Ruler;
use crate::error::Result;

/// Adds a constant to every size that is not of an empty slice; a budget of `n` loses as many.
pub(crate) struct WithSpecials<R: ?Sized> {
    pub(crate) specials: usize,
    pub(crate) inner: Box<R>,
}

impl<R: Ruler + ?Sized> Ruler for WithSpecials<R> {
    fn size(&self, a: usize, b: usize) -> Result<usize> {
        let size = self.inner.size(a, b)?;
        Ok(if a == b { 0 } else { size + self.specials })
    }

    fn ahead(&self, a: usize, n: usize) -> Result<usize> {
        self.inner.ahead(a, n.saturating_sub(self.specials))
    }

    fn behind(&self, b: usize, n: usize) -> Result<usize> {
        self.inner.behind(b, n.saturating_sub(self.specials))
    }

    fn furthest(&self, a: usize, n: usize) -> Result<usize> {
        self.inner.furthest(a, n.saturating_sub(self.specials))
    }
}
