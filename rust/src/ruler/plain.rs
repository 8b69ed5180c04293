//! Bytes and characters: units whose counts add up.

use std::cell::Cell;

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

    fn adds_up(&self) -> bool {
        true
    }
}

/// Length in characters (Unicode code points).
pub struct Chars<'i, 't> {
    index: &'i CharIndex<'t>,
    /// Places, and the characters before each: where the last plans began and ended. These are most of
    /// what is asked about next.
    seen: [Cell<(usize, usize)>; 3],
}

impl<'i, 't> Chars<'i, 't> {
    /// The ruler of the text that `index` is of.
    pub fn new(index: &'i CharIndex<'t>) -> Self {
        Self { index, seen: Default::default() }
    }

    fn rank(&self, at: usize) -> usize {
        let seen = self.seen.iter().map(Cell::get).find(|(place, _)| *place == at);
        seen.map_or_else(|| self.index.rank(at), |(_, rank)| rank)
    }

    /// The place of character `n`, or the end, and the characters before it.
    fn nth(&self, n: usize, near: usize) -> (usize, usize) {
        (self.index.nth_near(n, near), n.min(self.index.len()))
    }
}

impl Ruler for Chars<'_, '_> {
    fn size(&self, a: usize, b: usize) -> Result<usize> {
        Ok(self.rank(b) - self.rank(a))
    }

    fn ahead(&self, a: usize, n: usize) -> Result<usize> {
        let rank = self.rank(a);
        let end = self.nth(rank.saturating_add(n), a);
        self.seen[0].set((a, rank));
        self.seen[1].set(end);
        Ok(end.0)
    }

    fn behind(&self, b: usize, n: usize) -> Result<usize> {
        let start = self.nth(self.rank(b).saturating_sub(n), b);
        self.seen[2].set(start);
        Ok(start.0)
    }

    fn adds_up(&self) -> bool {
        true
    }
}
