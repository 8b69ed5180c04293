//! Bytes and characters: units whose counts add up.

use super::Ruler;
use crate::chars::CharIndex;
use crate::error::Result;

/// Length in bytes.
pub struct Bytes {
    /// The length of the text.
    pub len: usize,
}

impl Ruler for Bytes {
    fn size(&self, a: usize, b: usize) -> Result<usize> {
        Ok(b - a)
    }

    fn ahead(&self, a: usize, n: usize) -> Result<usize> {
        Ok(a.saturating_add(n).min(self.len))
    }

    fn behind(&self, b: usize, n: usize) -> Result<usize> {
        Ok(b.saturating_sub(n))
    }
}

/// Length in characters (Unicode code points).
pub struct Chars<'i, 't> {
    /// The text's index.
    pub index: &'i CharIndex<'t>,
}

impl Ruler for Chars<'_, '_> {
    fn size(&self, a: usize, b: usize) -> Result<usize> {
        Ok(self.index.rank(b) - self.index.rank(a))
    }

    fn ahead(&self, a: usize, n: usize) -> Result<usize> {
        Ok(self.index.nth(self.index.rank(a).saturating_add(n)))
    }

    fn behind(&self, b: usize, n: usize) -> Result<usize> {
        Ok(self.index.nth(self.index.rank(b).saturating_sub(n)))
    }
}
