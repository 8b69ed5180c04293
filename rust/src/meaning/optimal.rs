//! The best of all segmentations, by dynamic programming.
//!
//! The optimal partitioning of Jackson et al. (An algorithm for optimal partitioning of data on an
//! interval, 2005), whose cost is that of Fisher (On grouping for maximum homogeneity, 1958): the sum
//! over all chunks of the squared distances of their vectors to the chunk's mean, plus a penalty for
//! each chunk. What differs: vectors have length 1 and many numbers, chunks have a least and a largest
//! size in the caller's unit, and the penalty is not given but sought: that at which the mean size is
//! nearest to a target. Chunks below the least size are avoided first. Nothing is pruned, as PELT
//! (Killick et al. 2012) does: the size bounds what a chunk may start with.
//!
//! A chunk that starts one piece earlier has so many more products of two vectors as that piece has
//! with those behind it: one sum for each piece, which grows with the pieces. Work is pieces times
//! pieces that fit, for the products once, for sums of two numbers in each round.

use super::Plan;
use super::vectors::Vectors;
use crate::error::Result;
use crate::guard::Guard;
use crate::pack::Limit;
use crate::products::{quick_dot, units};
use crate::ruler::Ruler;

/// The least penalty: what no more is gained by is not cut. Rounding stays below it.
const LEAST: f64 = 1e-4;

/// Most rounds between the fewest and the most chunks. Each about halves what lies between the two.
const ROUNDS: usize = 32;

/// Costs are kept from round to round up to so many, which take 64 MB; else they are found anew.
const KEPT: usize = 1 << 24;

/// Whether a chunk ends behind each piece.
pub fn ends<R: Ruler + ?Sized>(vectors: Vectors<'_>, plan: &Plan<'_, '_, R>) -> Result<Vec<bool>> {
    let n = vectors.len();
    let mut ends = vec![false; n];
    if n < 2 {
        return Ok(ends);
    }
    let aim = Aim::of(plan)?;
    let found = nearest(&Fitting::of(vectors, plan, KEPT)?, &aim)?;
    for &start in &found.starts[1..] {
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
    fn of<R: Ruler + ?Sized>(plan: &Plan<'_, '_, R>) -> Result<Self> {
        let Limit { size, overlap, .. } = plan.limit;
        let (mut total, mut over, mut open) = (0, 0, 0);
        let n = plan.pieces.len();
        for piece in 0..n {
            if plan.size(piece, piece)? > plan.budget(piece).saturating_sub(overlap) {
                total += if open < piece { plan.size(open, piece - 1)? } else { 0 };
                over += 1;
                open = piece + 1;
            }
        }
        total += if open < n { plan.size(open, n - 1)? } else { 0 };
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
/// Number of chunks and variance of all these lie on a convex curve. The penalty that is tried next is
/// the slope between the two points beside the target: what is cheapest there lies between them, or
/// nothing does.
fn nearest(fitting: &Fitting<'_>, aim: &Aim) -> Result<Segmentation> {
    // No variance is as large as the number of pieces.
    let mut few = fitting.cheapest(fitting.len() as f64 + 1.0)?;
    if aim.excess(few.chunks()) <= 0.0 {
        return Ok(few);
    }
    let mut many = fitting.cheapest(LEAST)?;
    for _ in 0..ROUNDS {
        if aim.excess(many.chunks()) >= 0.0 || few.chunks() + 1 >= many.chunks() {
            break;
        }
        let between = (many.chunks() - few.chunks()) as f64;
        let found = fitting.cheapest(((few.variance - many.variance) / between).max(LEAST))?;
        if found.chunks() <= few.chunks() || found.chunks() >= many.chunks() {
            break;
        }
        if aim.excess(found.chunks()) > 0.0 {
            few = found;
        } else {
            many = found;
        }
    }
    let nearer = aim.excess(few.chunks()) < -aim.excess(many.chunks());
    Ok(if nearer { few } else { many })
}

/// Where chunks start.
struct Segmentation {
    starts: Vec<usize>,
    /// The sum of squared distances to the mean of each chunk.
    variance: f64,
}

impl Segmentation {
    fn chunks(&self) -> usize {
        self.starts.len()
    }
}

/// All chunks that fit, and their variance.
struct Fitting<'a> {
    /// Every row at length 1; a zero vector stays what it is.
    units: Vec<f32>,
    width: usize,
    /// For each piece the last one that a chunk from it on may hold.
    reach: Vec<usize>,
    /// For each piece the first one that a chunk up to it may start with.
    low: Vec<usize>,
    /// For each piece from where on a chunk up to it is too small.
    large: Vec<usize>,
    /// Of the first pieces, so many: the fewest chunks that are too small.
    small: Vec<usize>,
    /// The variances of the chunks that end with each piece, if they are kept.
    kept: Option<Vec<f32>>,
    guard: &'a Guard<'a>,
}

impl<'a> Fitting<'a> {
    fn of<R: Ruler + ?Sized>(
        vectors: Vectors<'_>,
        plan: &Plan<'a, '_, R>,
        most_kept: usize,
    ) -> Result<Self> {
        let (n, least) = (vectors.len(), plan.meaning.least);
        let reach = reach(plan)?;
        let (mut low, mut large) = (Vec::with_capacity(n), Vec::with_capacity(n));
        let (mut first, mut few) = (0, 0);
        for last in 0..n {
            plan.guard.check()?;
            while reach[first] < last {
                first += 1;
            }
            few = if least == 0 { last + 1 } else { few.max(first) };
            while few <= last && plan.size(few, last)? >= least {
                few += 1;
            }
            low.push(first);
            large.push(few);
        }
        let count: usize = low.iter().enumerate().map(|(last, first)| last + 1 - first).sum();
        let (units, width, guard) =
            (units(vectors.data(), vectors.width()), vectors.width(), plan.guard);
        let small = vec![0; n + 1];
        let mut fitting = Self { units, width, reach, low, large, small, kept: None, guard };
        if least > 0 {
            fitting.avoid_small()?;
        }
        if count <= most_kept {
            let mut kept = Vec::with_capacity(count);
            fitting.each(|_, variances| kept.extend_from_slice(variances))?;
            fitting.kept = Some(kept);
        }
        Ok(fitting)
    }

    fn avoid_small(&mut self) -> Result<()> {
        for last in 0..self.len() {
            self.guard.check()?;
            let firsts = (self.low[last]..=last).filter(|&first| self.reach[first] >= last);
            let fewest = firsts.map(|first| self.small_with(first, last)).min();
            self.small[last + 1] = fewest.unwrap_or_default();
        }
        Ok(())
    }

    /// Chunks that are too small in the best segmentation that ends with this chunk.
    fn small_with(&self, first: usize, last: usize) -> usize {
        self.small[first] + usize::from(first >= self.large[last])
    }

    fn len(&self) -> usize {
        self.low.len()
    }

    fn unit(&self, piece: usize) -> &[f32] {
        &self.units[piece * self.width..(piece + 1) * self.width]
    }

    /// Hands over, for each piece, the variances of the chunks that end with it, the longest first;
    /// infinity where a chunk does not fit, or makes more chunks that are too small.
    fn each(&self, mut take: impl FnMut(usize, &[f32])) -> Result<()> {
        if let Some(kept) = &self.kept {
            let mut rest = &kept[..];
            for last in 0..self.len() {
                self.guard.check()?;
                let (row, others) = rest.split_at(last + 1 - self.low[last]);
                take(last, row);
                rest = others;
            }
            return Ok(());
        }
        // For each piece the products with those behind it.
        let mut common = vec![0.0_f64; self.len()];
        let mut row = Vec::new();
        for last in 0..self.len() {
            self.guard.check()?;
            let (added, low) = (self.unit(last), self.low[last]);
            let (mut products, mut squares) = (0.0, 0.0);
            row.clear();
            row.resize(last + 1 - low, f32::INFINITY);
            for first in (low..=last).rev() {
                if first < last {
                    common[first] += f64::from(quick_dot(self.unit(first), added));
                    products += common[first];
                }
                squares += if is_zero(self.unit(first)) { 0.0 } else { 1.0 };
                // What stands before chunks may leave some of them less room.
                if self.reach[first] < last || self.small_with(first, last) > self.small[last + 1] {
                    continue;
                }
                // The squares less the square of the sum, divided by how many there are.
                let variance = squares - (squares + 2.0 * products) / (last + 1 - first) as f64;
                row[first - low] = variance.max(0.0) as f32;
            }
            take(last, &row);
        }
        Ok(())
    }

    /// Of the segmentations with the fewest chunks that are too small the one with the least variance,
    /// with a penalty for each chunk.
    fn cheapest(&self, penalty: f64) -> Result<Segmentation> {
        let n = self.len();
        // What the chunks of the first pieces cost; where the last of them starts.
        let mut best = vec![0.0_f64; n + 1];
        let mut start = vec![0_usize; n + 1];
        self.each(|last, variances| {
            let low = self.low[last];
            let (first, cost) = least(&best[low..=last], variances);
            start[last + 1] = low + first;
            best[last + 1] = cost + penalty;
        })?;
        let mut starts = Vec::new();
        let mut end = n;
        while end > 0 {
            end = start[end];
            starts.push(end);
        }
        starts.reverse();
        let variance = best[n] - penalty * starts.len() as f64;
        Ok(Segmentation { starts, variance })
    }
}

/// The first of the least sums, and that sum.
fn least(before: &[f64], variances: &[f32]) -> (usize, f64) {
    const LANES: usize = 8;
    let sum = |(&before, &variance): (&f64, &f32)| before + f64::from(variance);
    let (heads, others) = (before.chunks_exact(LANES), variances.chunks_exact(LANES));
    let rest = heads.remainder().iter().zip(others.remainder()).map(sum);
    let rest = rest.fold(f64::INFINITY, f64::min);
    let mut lanes = [f64::INFINITY; LANES];
    for (x, y) in heads.zip(others) {
        for lane in 0..LANES {
            let sum = x[lane] + f64::from(y[lane]);
            lanes[lane] = if sum < lanes[lane] { sum } else { lanes[lane] };
        }
    }
    let least = lanes.into_iter().fold(rest, f64::min);
    let place = before.iter().zip(variances).position(|pair| sum(pair) == least);
    (place.unwrap_or_default(), least)
}

fn is_zero(row: &[f32]) -> bool {
    row.iter().all(|&x| x == 0.0)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meaning::pieces::pieces;
    use crate::meaning::{Ends, Meaning};
    use crate::ruler::plain::Bytes;
    use crate::text::Text;

    #[test]
    fn costs_that_are_not_kept_are_found_anew() {
        let string = "Aa bb. Cc. ".repeat(60);
        let text = Text::new(&string, true);
        let guard = Guard::never();
        let (pieces, _) = pieces(&text, None, 0, text.len(), &guard).unwrap();
        let data: Vec<f32> = (0..pieces.len() * 3).map(|i| ((i * i) % 7) as f32 - 3.0).collect();
        for least in [0, 12] {
            let meaning = Meaning {
                ends: Ends::Best,
                sections: None,
                buffer: 0,
                least,
                fewest: 1,
                target: 30,
                template: None,
            };
            let limit = Limit { size: 60, overlap: 0, min_size: 0, trim: true };
            let plan = Plan {
                meaning: &meaning,
                text: &text,
                ruler: &Bytes { len: text.len() },
                limit,
                reserved: &[],
                start: 0,
                pieces: &pieces,
                guard: &guard,
            };
            let vectors = Vectors::new(&data, 3);
            let [kept, anew] = [KEPT, 0].map(|most| Fitting::of(vectors, &plan, most).unwrap());
            assert!(kept.kept.is_some() && anew.kept.is_none());
            for penalty in [LEAST, 0.1, 1.0, 500.0] {
                let [kept, anew] = [&kept, &anew].map(|one| one.cheapest(penalty).unwrap());
                assert_eq!(kept.starts, anew.starts);
                assert!(kept.chunks() > 10);
            }
        }
    }

    #[test]
    fn the_first_of_the_least_sums_is_found_in_any_lane() {
        for n in 1..40 {
            for place in 0..n {
                let before: Vec<f64> = (0..n).map(|i| if i < place { 2.0 } else { 1.0 }).collect();
                assert_eq!(least(&before, &vec![0.5; n]), (place, 1.5));
            }
        }
    }
}
