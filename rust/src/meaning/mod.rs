//! Cutting by meaning: pieces of a text, a vector for each, and where the text turns to something
//! else.
//!
//! * [`pieces`]: what is embedded: sentences, and blocks that stay whole
//! * [`plan`]: how large they are, as chunks
//! * [`vectors`]: how far the vectors of neighbours are apart
//! * [`threshold`]: what distance is far
//! * [`turns`]: where chunks end, by a distance
//! * [`optimal`]: where they end, by the best of all segmentations; [`fitting`]: which chunks fit, and
//!   the cheapest of them; [`lanes`]: for several penalties at once
//! * [`neighbours`]: neighbours joined, the likest first
//! * [`hierarchical`]: the levels above chunks that are made so, or top down

mod fitting;
pub mod hierarchical;
mod lanes;
pub mod neighbours;
pub mod optimal;
pub mod pieces;
pub mod plan;
pub mod threshold;
pub mod turns;
pub mod vectors;

use std::cell::RefCell;

use crate::blocks::Format;
use crate::error::{Error, Result};
use crate::ruler::Ruler;
use crate::structure::depth::Depth;
use crate::structure::prefix::Template;
use crate::text::Text;
use pieces::Piece;
use plan::Plan;
use threshold::Threshold;
use turns::Turns;
use vectors::Vectors;

/// How a text is cut by meaning.
#[derive(Clone, Debug)]
pub struct Meaning {
    /// Where chunks end.
    pub ends: Ends,
    /// Whether the text's own sections come first, which of them, and the form of a text of which
    /// nothing else is known.
    pub sections: Option<(Depth, Format)>,
    /// How many neighbours on each side are embedded with a piece.
    pub buffer: usize,
    /// Units that a chunk holds before the text may turn.
    pub least: usize,
    /// Pieces that a chunk holds before the text may turn.
    pub fewest: usize,
    /// About how many units a chunk, or a section, should have.
    pub target: usize,
    /// What stands before a chunk when it is embedded, where it counts towards the size.
    pub template: Option<Template>,
}

/// Where chunks end.
#[derive(Clone, Copy, Debug)]
pub enum Ends {
    /// Where neighbours are farther apart than this, or the next piece from the open chunk.
    Far(Threshold, Mode),
    /// Where the best segmentation says.
    Best,
}

/// What a piece is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The piece before.
    Previous,
    /// The mean of all pieces of the open chunk.
    Centroid,
}

/// What is known of one piece that was compared: its span, the distance to the next one (NaN for the
/// last of its text or section), and what counted as far.
#[derive(Clone, Copy, Debug)]
pub struct Compared {
    /// Where it starts, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// 1 less the cosine.
    pub distance: f64,
    /// A distance above this is far; NaN where nothing is.
    pub threshold: f64,
}

/// The vectors of the pieces of one text, taken part by part, and what they say.
pub struct Reading<'v> {
    vectors: Vectors<'v>,
    known: &'v [Piece],
    taken: RefCell<(usize, Vec<Compared>)>,
}

impl<'v> Reading<'v> {
    /// Nothing taken yet. The pieces are known where they were found before.
    #[must_use]
    pub fn new(vectors: Vectors<'v>, known: &'v [Piece]) -> Self {
        Self { vectors, known, taken: RefCell::default() }
    }

    /// The pieces of a whole text, if they are known and can be its own.
    #[must_use]
    pub fn pieces(&self, text: &Text<'_>) -> Option<&'v [Piece]> {
        let last = self.known.last()?;
        let fits = |piece: &Piece| piece.fits(text.str);
        (last.end == text.len() && self.known.iter().all(fits)).then_some(self.known)
    }

    /// Where the text turns, of which these are the next pieces.
    pub fn turns<R: Ruler + ?Sized>(&self, plan: &Plan<'_, '_, R>) -> Result<Turns<'v>> {
        let Plan { meaning, pieces, .. } = *plan;
        let mut taken = self.taken.borrow_mut();
        let (row, compared) = &mut *taken;
        let vectors = self.vectors.part(*row, pieces.len()).ok_or_else(|| {
            Error::Setting(format!(
                "vectors: {} for a text that has more pieces",
                self.vectors.len()
            ))
        })?;
        *row += pieces.len();
        let squares = vectors.squares();
        let distances = vectors.distances(&squares);
        let (turns, threshold) = match meaning.ends {
            Ends::Far(threshold, mode) => {
                let far = threshold.of(&distances, plan)?;
                let (least, fewest) = (meaning.least, meaning.fewest);
                let turns = match mode {
                    Mode::Previous => Turns::at(distances.iter().map(|&d| d > far), least, fewest),
                    Mode::Centroid => Turns::from_centroid(vectors, far, least, fewest),
                };
                (turns, far)
            }
            Ends::Best => {
                let ends = optimal::ends(vectors, &squares, &distances, plan)?;
                (Turns::at(ends.into_iter(), 0, 1), f64::NAN)
            }
        };
        for (i, piece) in pieces.iter().enumerate() {
            let (start, end) = piece.shown;
            let distance = distances.get(i).copied().unwrap_or(f64::NAN);
            compared.push(Compared { start, end, distance, threshold });
        }
        Ok(turns)
    }

    /// What was compared; fails unless every vector was.
    pub fn finish(self) -> Result<Vec<Compared>> {
        let (row, compared) = self.taken.into_inner();
        if row == self.vectors.len() {
            return Ok(compared);
        }
        Err(Error::Setting(format!("vectors: {} for {row} pieces", self.vectors.len())))
    }
}
