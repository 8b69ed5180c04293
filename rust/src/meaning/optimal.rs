//! The best of all segmentations, by dynamic programming.
//!
//! After the cluster chunker of Smith and Troynikov (Chroma, 2024): the similarity of each pair of
//! pieces in one chunk, less the mean over all pairs of the text, summed over all chunks, is to be as
//! large as can be. Here pieces are sentences and blocks in place of windows of 50 tokens, sizes are
//! those of the chunks in the caller's unit, the mean leaves out a piece with itself, and chunks below
//! the least size are avoided first.
//!
//! A chunk that starts one piece earlier is worth as much more as that piece has in common with those
//! behind it: one sum for each piece, which grows with the pieces. Work is pieces times pieces that fit.

use super::Plan;
use super::vectors::{Vectors, dot, quick_dot};
use crate::error::Result;
use crate::ruler::Ruler;

/// What a chunk costs: of segmentations that are worth the same, but for rounding, the one with the
/// fewest chunks is taken.
const CUT: f64 = 1e-4;

/// Whether a chunk ends behind each piece.
pub fn ends<R: Ruler + ?Sized>(vectors: Vectors<'_>, plan: &Plan<'_, '_, R>) -> Result<Vec<bool>> {
    let n = vectors.len();
    let mut ends = vec![false; n];
    if n < 2 {
        return Ok(ends);
    }
    let (units, width) = (units(vectors), vectors.width());
    let unit = |i: usize| &units[i * width..(i + 1) * width];
    let mean = mean(n, width, unit);
    let reach = reach(plan)?;
    let least = plan.meaning.least;
    // For the first pieces: chunks that are too small, and what all are worth; where the last starts.
    let mut best = vec![(0_usize, 0.0_f64); n + 1];
    let mut start = vec![0_usize; n + 1];
    let (mut low, mut large) = (0, 0);
    // For each piece what it has in common with those behind it.
    let mut common = vec![0.0_f64; n];
    for last in 0..n {
        plan.guard.check()?;
        // The first piece of a chunk that ends here lies within these; a piece may be too large alone.
        while reach[low] < last {
            low += 1;
        }
        // From `large` on, a chunk is too small.
        large = if least == 0 { last + 1 } else { large.max(low) };
        while large <= last && plan.size(large, last)? >= least {
            large += 1;
        }
        let added = unit(last);
        let mut worth = 0.0;
        let mut found: Option<(usize, f64)> = None;
        for first in (low..=last).rev() {
            if first < last {
                common[first] += f64::from(quick_dot(unit(first), added)) - mean;
                worth += common[first];
            }
            // What stands before chunks may leave some of them less room.
            if reach[first] < last {
                continue;
            }
            let (small, before) = best[first];
            let here = (small + usize::from(first >= large), before + worth - CUT);
            let better =
                found.is_none_or(|best| here.0 < best.0 || (here.0 == best.0 && here.1 > best.1));
            if better {
                found = Some(here);
                start[last + 1] = first;
            }
        }
        best[last + 1] = found.unwrap_or_default();
    }
    let mut end = n;
    while end > 0 {
        ends[end - 1] = end < n;
        end = start[end];
    }
    Ok(ends)
}

/// For each piece the last one that a chunk from it on may hold: itself, if no other fits.
fn reach<R: Ruler + ?Sized>(plan: &Plan<'_, '_, R>) -> Result<Vec<usize>> {
    let n = plan.pieces.len();
    let mut reach = Vec::with_capacity(n);
    let (mut last, mut before) = (0, 0);
    for first in 0..n {
        plan.guard.check()?;
        last = last.max(first);
        // What a chunk repeats from the one before counts as well.
        let most = plan.budget(first).saturating_sub(plan.limit.overlap);
        // Without its first piece a chunk that fits does so again, if it may have as many units.
        while most < before && last > first && plan.size(first, last)? > most {
            last -= 1;
        }
        while last + 1 < n && plan.size(first, last + 1)? <= most {
            last += 1;
        }
        before = most;
        reach.push(last);
    }
    Ok(reach)
}

/// Every row at length 1; a zero vector stays what it is.
fn units(vectors: Vectors<'_>) -> Vec<f32> {
    let mut units = Vec::with_capacity(vectors.len() * vectors.width());
    for i in 0..vectors.len() {
        let row = vectors.row(i);
        let length = dot(row, row).sqrt();
        let length = if length > 0.0 { length } else { 1.0 };
        units.extend(row.iter().map(|&x| (f64::from(x) / length) as f32));
    }
    units
}

/// The mean similarity over all pairs of two different pieces.
fn mean<'u>(n: usize, width: usize, unit: impl Fn(usize) -> &'u [f32]) -> f64 {
    let mut sum = vec![0.0_f64; width];
    let mut own = 0.0;
    for i in 0..n {
        let row = unit(i);
        own += dot(row, row);
        sum.iter_mut().zip(row).for_each(|(s, &x)| *s += f64::from(x));
    }
    let squares: f64 = sum.iter().map(|s| s * s).sum();
    (squares - own) / (n as f64 * (n as f64 - 1.0))
}
