//! The pieces of a text, and how large chunks of them are.

use super::Meaning;
use super::pieces::Piece;
use crate::error::Result;
use crate::guard::Guard;
use crate::pack::Limit;
use crate::ruler::Ruler;
use crate::text::Text;

/// The pieces of a text, with what says how large they are.
pub struct Plan<'a, 't, R: ?Sized> {
    /// How the text is cut.
    pub meaning: &'a Meaning,
    /// The text.
    pub text: &'a Text<'t>,
    /// What says how long its parts are.
    pub ruler: &'a R,
    /// The budget of a chunk.
    pub limit: Limit,
    /// From which place on a chunk that starts there leaves how many units free.
    pub reserved: &'a [(usize, usize)],
    /// Where the first piece starts, the blanks before it included.
    pub start: usize,
    /// The pieces.
    pub pieces: &'a [Piece],
    /// Asked by every loop.
    pub guard: &'a Guard<'a>,
}

impl<R: Ruler + ?Sized> Plan<'_, '_, R> {
    /// Where chunks of the pieces start and end.
    #[must_use]
    pub fn edges(&self) -> Edges<'_, R> {
        let Plan { text, limit, ruler, reserved, start, .. } = *self;
        let mut open = start;
        let edge = |piece: &Piece| {
            let close = piece.end;
            let tiled = (open, close);
            open = close;
            if limit.trim { text.trim(tiled.0, close).unwrap_or((close, close)) } else { tiled }
        };
        Edges { edges: self.pieces.iter().map(edge).collect(), ruler, limit, reserved }
    }
}

/// Where a chunk starts that begins with a piece, and where one ends that ends with it.
pub struct Edges<'a, R: ?Sized> {
    edges: Vec<(usize, usize)>,
    ruler: &'a R,
    limit: Limit,
    reserved: &'a [(usize, usize)],
}

impl<R: Ruler + ?Sized> Edges<'_, R> {
    /// Units that a chunk from this piece on may have.
    #[must_use]
    pub fn budget(&self, piece: usize) -> usize {
        self.limit.left(self.reserved, self.edges[piece].0)
    }

    /// Units in the pieces `first..=last`, as a chunk.
    pub fn size(&self, first: usize, last: usize) -> Result<usize> {
        let (start, end) = (self.edges[first].0, self.edges[last].1);
        if start < end { self.ruler.size(start, end) } else { Ok(0) }
    }
}
