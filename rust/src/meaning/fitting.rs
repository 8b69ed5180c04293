//! All chunks that fit, and the cheapest segmentations into them.
//!
//! A chunk that starts one piece earlier has so many more products of two vectors as that piece has
//! with those behind it: one sum for each piece, which grows with the pieces. Work is pieces times
//! pieces that fit, for the products once, for sums of two numbers in each round.

use super::lanes::{LANES, least};
use super::plan::{Edges, Plan};
use super::vectors::Vectors;
use crate::error::Result;
use crate::guard::Guard;
use crate::products::quick_dots;
use crate::ruler::Ruler;

/// Variances are kept from round to round up to so many, which take 64 MB; else they are found anew.
pub(super) const KEPT: usize = 1 << 24;

/// Where chunks start.
pub(super) struct Segmentation {
    pub(super) starts: Vec<usize>,
    /// The penalty for each chunk at which no other is cheaper.
    pub(super) penalty: f64,
    /// The sum of squared distances to the mean of each chunk.
    pub(super) variance: f64,
}

impl Segmentation {
    pub(super) fn chunks(&self) -> usize {
        self.starts.len()
    }
}

/// All chunks that fit, and their variance.
pub(super) struct Fitting<'a> {
    /// Every row at length 1; a zero vector stays what it is.
    units: Vec<f32>,
    width: usize,
    /// Of the first pieces, so many whose vector is not zero.
    seen: Vec<f64>,
    /// For each piece the last one that a chunk from it on may hold.
    reach: Vec<usize>,
    /// For each piece the first one that a chunk up to it may start with.
    low: Vec<usize>,
    /// For each piece from where on a chunk up to it is too small.
    large: Vec<usize>,
    /// Of the first pieces, so many: the fewest chunks that are too small.
    small: Vec<usize>,
    /// Whether some chunks between those that fit do not, or make more that are too small.
    gaps: bool,
    /// The variances of the chunks that end with each piece, if they are kept.
    kept: Option<Vec<f32>>,
    guard: &'a Guard<'a>,
}

impl<'a> Fitting<'a> {
    pub(super) fn of<R: Ruler + ?Sized>(
        vectors: Vectors<'_>,
        squares: &[f64],
        plan: &Plan<'a, '_, R>,
        edges: &Edges<'_, R>,
        most_kept: usize,
    ) -> Result<Self> {
        let (n, shortest) = (vectors.len(), plan.meaning.least);
        let reach = reach(plan, edges)?;
        let (mut low, mut large) = (Vec::with_capacity(n), Vec::with_capacity(n));
        let (mut first, mut few) = (0, 0);
        for last in 0..n {
            plan.guard.check()?;
            while reach[first] < last {
                first += 1;
            }
            few = if shortest == 0 { last + 1 } else { few.max(first) };
            while few <= last && edges.size(few, last)? >= shortest {
                few += 1;
            }
            low.push(first);
            large.push(few);
        }
        let count: usize = low.iter().enumerate().map(|(last, first)| last + 1 - first).sum();
        let (units, width, guard) = (vectors.units(squares), vectors.width(), plan.guard);
        let mut seen = vec![0.0; n + 1];
        for (i, row) in units.chunks_exact(width.max(1)).enumerate() {
            seen[i + 1] = seen[i] + if row.iter().all(|&x| x == 0.0) { 0.0 } else { 1.0 };
        }
        let (small, gaps) = (vec![0; n + 1], shortest > 0 || !reach.is_sorted());
        let mut fitting =
            Self { units, width, seen, reach, low, large, small, gaps, kept: None, guard };
        if shortest > 0 {
            fitting.avoid_small()?;
        }
        if count <= most_kept {
            let mut kept = Vec::with_capacity(count);
            fitting.each(|_, variances| kept.extend_from_slice(variances))?;
            fitting.kept = Some(kept);
        }
        Ok(fitting)
    }

    /// Whether no other piece fits into a chunk with this one.
    pub(super) fn is_alone(&self, piece: usize) -> bool {
        self.low[piece] == piece && self.reach[piece] == piece
    }

    pub(super) fn len(&self) -> usize {
        self.low.len()
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

    fn rows(&self, first: usize, end: usize) -> &[f32] {
        &self.units[first * self.width..end * self.width]
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
        let (mut added, mut products, mut row) = (Vec::new(), Vec::new(), Vec::new());
        for last in 0..self.len() {
            self.guard.check()?;
            let low = self.low[last];
            let earlier = &mut common[low..last];
            quick_dots(self.rows(low, last), self.rows(last, last + 1), &mut added);
            for (common, &added) in earlier.iter_mut().zip(&added) {
                *common += f64::from(added);
            }
            // For each first piece the products of all pairs from there on.
            products.clear();
            products.resize(last + 1 - low, 0.0_f64);
            let mut sum = 0.0;
            for (products, common) in products.iter_mut().zip(&*earlier).rev() {
                sum += common;
                *products = sum;
            }
            row.clear();
            let all = self.seen[last + 1];
            let sizes = (1..=products.len()).rev();
            row.extend(sizes.zip(&self.seen[low..]).zip(&products).map(
                |((pieces, seen), products)| {
                    let squares = all - seen;
                    // The squares less the square of the sum, divided by how many there are.
                    let variance = squares - (squares + 2.0 * products) / pieces as f64;
                    variance.max(0.0) as f32
                },
            ));
            if self.gaps {
                self.leave_out(last, &mut row);
            }
            take(last, &row);
        }
        Ok(())
    }

    /// Makes infinite what does not fit (what stands before chunks may leave some of them less room),
    /// or makes more chunks that are too small.
    fn leave_out(&self, last: usize, row: &mut [f32]) {
        for (first, variance) in (self.low[last]..).zip(row) {
            if self.reach[first] < last || self.small_with(first, last) > self.small[last + 1] {
                *variance = f32::INFINITY;
            }
        }
    }

    /// Of the segmentations with the fewest chunks that are too small the one with the least variance,
    /// with a penalty for each chunk; for each of these penalties.
    pub(super) fn cheapest(&self, penalties: [f64; LANES]) -> Result<[Segmentation; LANES]> {
        let n = self.len();
        // What the chunks of the first pieces cost; where the last of them starts.
        let mut best = vec![[0.0_f64; LANES]; n + 1];
        let mut start = vec![[0_usize; LANES]; n + 1];
        self.each(|last, variances| {
            let low = self.low[last];
            let (costs, firsts) = least(&best[low..=last], variances);
            for lane in 0..LANES {
                best[last + 1][lane] = costs[lane] + penalties[lane];
                start[last + 1][lane] = low + firsts[lane] as usize;
            }
        })?;
        Ok(std::array::from_fn(|lane| {
            let mut starts = Vec::new();
            let mut end = n;
            while end > 0 {
                end = start[end][lane];
                starts.push(end);
            }
            starts.reverse();
            let penalty = penalties[lane];
            let variance = best[n][lane] - penalty * starts.len() as f64;
            Segmentation { starts, penalty, variance }
        }))
    }
}

/// For each piece the last one that a chunk from it on may hold: itself, if no other fits.
fn reach<R: Ruler + ?Sized>(plan: &Plan<'_, '_, R>, edges: &Edges<'_, R>) -> Result<Vec<usize>> {
    let n = plan.pieces.len();
    let mut reach = Vec::with_capacity(n);
    let (mut last, mut before) = (0, 0);
    for first in 0..n {
        plan.guard.check()?;
        last = last.max(first);
        // What a chunk repeats from the one before counts as well.
        let most = edges.budget(first).saturating_sub(plan.limit.overlap);
        // Without its first piece a chunk that fits does so again, if it may have as many units.
        while most < before && last > first && edges.size(first, last)? > most {
            last -= 1;
        }
        while last + 1 < n && edges.size(first, last + 1)? <= most {
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
    use crate::pack::Limit;
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
            let (vectors, edges) = (Vectors::new(&data, 3), plan.edges());
            let squares = vectors.squares();
            let [kept, anew] =
                [KEPT, 0].map(|most| Fitting::of(vectors, &squares, &plan, &edges, most).unwrap());
            assert!(kept.kept.is_some() && anew.kept.is_none());
            let penalties = [1e-4, 0.1, 1.0, 500.0];
            let [kept, anew] = [&kept, &anew].map(|one| one.cheapest(penalties).unwrap());
            for (kept, anew) in kept.iter().zip(&anew) {
                assert_eq!(kept.starts, anew.starts);
                assert!(kept.chunks() > 10);
            }
        }
    }
}
