//! The best of all segmentations, by dynamic programming.
//!
//! The optimal partitioning of Jackson et al. (An algorithm for optimal partitioning of data on an
//! interval, 2005), whose cost is that of Fisher (On grouping for maximum homogeneity, 1958): the sum
//! over all chunks of the squared distances of their vectors to the chunk's mean, plus a penalty for
//! each chunk. What differs: vectors have length 1 and many numbers, chunks have a least and a largest
//! size in the caller's unit, and the penalty is not given but sought: that at which the mean size is
//! nearest to a target. Chunks below the least size are avoided first. Nothing is pruned, as PELT
//! (Killick et al. 2012) does: the size bounds what a chunk may start with.

use super::fitting::{Fitting, KEPT, Segmentation};
use super::lanes::LANES;
use super::plan::{Edges, Plan};
use super::vectors::Vectors;
use crate::error::{Error, Result};
use crate::pack::Limit;
use crate::ruler::Ruler;

/// The least penalty: what no more is gained by is not cut. Rounding stays below it.
const LEAST: f64 = 1e-4;

/// The first penalties, as shares of the mean distance of neighbours. A chunk of pieces that are all so
/// far from each other has that variance for each piece but one: with a penalty below it every piece is
/// a chunk, and the mean size that is sought is seldom had for less, nor for over three times as much.
const FIRST: [f64; LANES] = [1.0, 1.2, 1.6, 2.8];

/// Most rounds. Each leaves about a fifth of what lies between the fewest and the most chunks.
const ROUNDS: usize = 32;

/// Whether a chunk ends behind each piece, of the squares of the vectors' lengths and how far each is
/// from the next.
pub fn ends<R: Ruler + ?Sized>(
    vectors: Vectors<'_>,
    squares: &[f64],
    distances: &[f64],
    plan: &Plan<'_, '_, R>,
) -> Result<Vec<bool>> {
    let n = vectors.len();
    let mut ends = vec![false; n];
    if n < 2 {
        return Ok(ends);
    }
    let edges = plan.edges();
    let fitting = Fitting::of(vectors, squares, plan, &edges, KEPT)?;
    let aim = Aim::of(plan, &edges, &fitting)?;
    let usual = distances.iter().sum::<f64>() / distances.len().max(1) as f64;
    for &start in &nearest(&fitting, &aim, usual)?.starts[1..] {
        ends[start - 1] = true;
    }
    Ok(ends)
}

/// How many chunks there should be.
struct Aim {
    /// Units in all pieces that fit.
    total: f64,
    /// Units that a chunk should have, without what it repeats from the one before.
    target: f64,
    /// Pieces too large alone: they are chunks, whatever the penalty, and do not count.
    over: usize,
}

impl Aim {
    fn of<R: Ruler + ?Sized>(
        plan: &Plan<'_, '_, R>,
        edges: &Edges<'_, R>,
        fitting: &Fitting<'_>,
    ) -> Result<Self> {
        let Limit { size, overlap, .. } = plan.limit;
        let (mut total, mut over, mut open) = (0, 0, 0);
        let n = fitting.len();
        for piece in (0..n).filter(|&piece| fitting.is_alone(piece)) {
            if edges.size(piece, piece)? > edges.budget(piece).saturating_sub(overlap) {
                total += if open < piece { edges.size(open, piece - 1)? } else { 0 };
                over += 1;
                open = piece + 1;
            }
        }
        total += if open < n { edges.size(open, n - 1)? } else { 0 };
        let target = plan.meaning.target.min(size - overlap);
        Ok(Self { total: total as f64, target: target as f64, over })
    }

    /// By how much the mean size of so many chunks is above the target.
    fn excess(&self, chunks: usize) -> f64 {
        let counted = chunks.saturating_sub(self.over).max(1);
        self.total / counted as f64 - self.target
    }
}

/// Of the segmentations that are the cheapest at some penalty the one whose mean size is nearest to
/// the target; of two the one with less variance.
///
/// Number of chunks and variance of all these lie on a convex curve. One penalty that is tried next is
/// the slope between the two points beside the target: what is cheapest there lies between them, or
/// nothing does. The others divide what is between the penalties of these two.
fn nearest(fitting: &Fitting<'_>, aim: &Aim, usual: f64) -> Result<Segmentation> {
    // No variance is as large as the number of pieces.
    let most = fitting.len() as f64 + 1.0;
    let mut penalties = FIRST.map(|times| (times * usual).clamp(LEAST, most));
    let mut beside = Beside::default();
    for _ in 0..ROUNDS {
        let before = beside.chunks();
        for found in fitting.cheapest(penalties)? {
            beside.take(found, aim);
        }
        penalties = match (&beside.few, &beside.many) {
            (Some(few), Some(many)) => {
                if few.chunks() + 1 >= many.chunks() || beside.chunks() == before {
                    break;
                }
                let between = (many.chunks() - few.chunks()) as f64;
                let slope = ((few.variance - many.variance) / between).max(LEAST);
                let part = (few.penalty / many.penalty).sqrt().sqrt();
                let least = many.penalty;
                [slope, least * part, least * part * part, least * part * part * part]
            }
            (None, Some(many)) if many.penalty < most => {
                [2.0, 4.0, 8.0, f64::INFINITY].map(|times| (many.penalty * times).min(most))
            }
            (Some(few), None) if few.penalty > LEAST => {
                [0.5, 0.25, 0.125, 0.0].map(|times| (few.penalty * times).max(LEAST))
            }
            _ => break,
        };
    }
    beside.nearer(aim).ok_or_else(|| Error::Internal("no segmentation was tried".into()))
}

/// The two segmentations beside the target that are the nearest of those that were tried.
#[derive(Default)]
struct Beside {
    /// Its mean size is above the target: it has too few chunks.
    few: Option<Segmentation>,
    many: Option<Segmentation>,
}

impl Beside {
    fn chunks(&self) -> [Option<usize>; 2] {
        [&self.few, &self.many].map(|one| one.as_ref().map(Segmentation::chunks))
    }

    fn take(&mut self, found: Segmentation, aim: &Aim) {
        let above = aim.excess(found.chunks()) > 0.0;
        let place = if above { &mut self.few } else { &mut self.many };
        let nearer = place.as_ref().is_none_or(|old| {
            // Of equal ones that whose penalty is nearer as well.
            let order = found.chunks().cmp(&old.chunks());
            let order = order.then(old.penalty.total_cmp(&found.penalty));
            if above { order.is_gt() } else { order.is_lt() }
        });
        if nearer {
            *place = Some(found);
        }
    }

    fn nearer(self, aim: &Aim) -> Option<Segmentation> {
        match (self.few, self.many) {
            (Some(few), Some(many)) => {
                let nearer = aim.excess(few.chunks()) < -aim.excess(many.chunks());
                Some(if nearer { few } else { many })
            }
            (few, many) => few.or(many),
        }
    }
}
