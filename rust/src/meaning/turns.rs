//! Behind which pieces a text turns to something else.

use super::vectors::{Vectors, distance};
use crate::error::Result;
use crate::products::{dot, mixed_dot};

/// Where chunks may end, and how large they must be by then.
pub struct Turns<'v> {
    kind: Kind<'v>,
    /// Units that a chunk holds before it ends at a turn.
    pub least: usize,
    /// Pieces that it holds by then.
    fewest: usize,
}

enum Kind<'v> {
    /// Behind the pieces that are marked.
    Marked(Vec<bool>),
    /// Where the next piece is farther than this from the mean of the open chunk.
    Centroid(Vectors<'v>, f64),
}

impl<'v> Turns<'v> {
    /// Turns behind the marked pieces.
    pub fn at(marks: impl Iterator<Item = bool>, least: usize, fewest: usize) -> Self {
        Self { kind: Kind::Marked(marks.collect()), least, fewest }
    }

    /// Turns where a piece is farther than `far` from the mean of those that the chunk holds already,
    /// each taken at length 1.
    #[must_use]
    pub fn from_centroid(vectors: Vectors<'v>, far: f64, least: usize, fewest: usize) -> Self {
        Self { kind: Kind::Centroid(vectors, far), least, fewest }
    }

    /// The first piece of `from..to` behind which the text turns, for a chunk that starts with `from`,
    /// and which `holds` agrees with; none at or behind one of which `beyond` says so.
    pub fn first(
        &self,
        from: usize,
        to: usize,
        mut beyond: impl FnMut(usize) -> Result<bool>,
        mut holds: impl FnMut(usize) -> Result<bool>,
    ) -> Result<Option<usize>> {
        let mut sum = match &self.kind {
            Kind::Marked(_) => Vec::new(),
            Kind::Centroid(vectors, _) => vec![0.0_f64; vectors.width()],
        };
        for i in from..to {
            if beyond(i)? {
                return Ok(None);
            }
            let turned = match &self.kind {
                Kind::Marked(marks) => marks.get(i).copied().unwrap_or(false),
                Kind::Centroid(vectors, far) => {
                    i + 1 < vectors.len() && next_from_mean(*vectors, i, &mut sum) > *far
                }
            };
            if turned && i + 1 - from >= self.fewest && holds(i)? {
                return Ok(Some(i));
            }
        }
        Ok(None)
    }
}

/// Adds a row at length 1 to the sum, and says how far the next one is from that.
fn next_from_mean(vectors: Vectors<'_>, i: usize, sum: &mut [f64]) -> f64 {
    let (row, next) = (vectors.row(i), vectors.row(i + 1));
    let length = dot(row, row).sqrt();
    if length > 0.0 {
        sum.iter_mut().zip(row).for_each(|(s, &x)| *s += f64::from(x) / length);
    }
    distance(mixed_dot(sum, next), sum.iter().map(|s| s * s).sum(), dot(next, next))
}
