//! Neighbours joined to groups, bottom up: constrained agglomerative clustering by Ward's linkage, as
//! in CONISS (Grimm 1987, Computers & Geosciences 13: 13-35).
//!
//! Only neighbours are joined. Of those that may be, the pair goes first whose union adds least to the
//! sum of squares within groups. Of two rows that is 1 less their cosine, each row taken at length 1.
//! A zero vector is taken as one that is orthogonal to all others: its cosine is 0.
//!
//! With the sum `s` of the `n` rows of a group, that sum of squares is `n - |s|^2 / n`; so the increase is
//! known by the two sums. Pairs wait in a heap; one whose groups are no longer there is dropped when it
//! comes up. A join brings two new pairs, so work is rows times their logarithm, and three products of
//! vectors a row at most.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::vectors::Vectors;
use crate::error::Result;
use crate::guard::Guard;
use crate::products::{dot, mixed_dot};

/// Increases that differ by less than one part of this many are equal: the leftmost pair goes first.
const PARTS: f64 = (1_u64 << 32) as f64;

/// What binds a row to the next one, beside their vectors; the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bond {
    /// They hold parts of one block that stays whole.
    Whole,
    /// A heading stands above what follows.
    Heading,
    /// Nothing.
    None,
}

/// Up to what neighbours are joined.
#[derive(Clone, Copy, Debug)]
pub struct Until {
    /// No pair is joined that adds more than this. Bonds do not ask.
    pub far: f64,
    /// No pair is joined where there are no more groups than this.
    pub groups: usize,
}

/// Groups of neighbouring rows, at first one for each row.
pub struct Neighbours<'v> {
    vectors: Vectors<'v>,
    /// What binds each row to the next one.
    bonds: Vec<Bond>,
    /// By the first row of a group: behind which row it ends; 0 where none starts.
    ends: Vec<usize>,
    /// By the row that a group ends behind: its first row.
    starts: Vec<usize>,
    /// By the first row of a group of several: the sum of its rows, each at length 1.
    sums: Vec<Vec<f64>>,
    /// The length of each row.
    lengths: Vec<f64>,
    /// By the first row of a group: the square of its sum's length.
    squares: Vec<f64>,
    count: usize,
}

/// A pair of neighbours: how soon it is joined, its first row, that of the second, and behind which row
/// it ends.
type Pair = Reverse<(Bond, u64, usize, usize, usize)>;

impl<'v> Neighbours<'v> {
    /// A group for each row; there is one bond fewer.
    #[must_use]
    pub fn new(vectors: Vectors<'v>, bonds: Vec<Bond>) -> Self {
        let n = vectors.len();
        let lengths = (0..n).map(|i| dot(vectors.row(i), vectors.row(i)).sqrt()).collect();
        let (ends, starts) = ((1..=n).collect(), (0..=n).map(|end: usize| end.saturating_sub(1)));
        let (sums, squares, starts) = (vec![Vec::new(); n], vec![1.0; n], starts.collect());
        Self { vectors, bonds, ends, starts, sums, lengths, squares, count: n }
    }

    /// Joins neighbours of which `fits` says that they go together, as long as there are such.
    ///
    /// `fits` is asked about the first row of a pair and the one that it ends behind. A pair that does not
    /// fit never will: groups only grow.
    pub fn join(
        &mut self,
        until: Until,
        guard: &Guard<'_>,
        fits: &mut dyn FnMut(usize, usize) -> Result<bool>,
    ) -> Result<()> {
        let mut pairs: BinaryHeap<Pair> = BinaryHeap::new();
        for group in self.groups() {
            guard.check()?;
            pairs.extend(self.pair(group, until.far, fits)?);
        }
        while let Some(Reverse((_, _, first, second, end))) = pairs.pop() {
            if self.ends[first] != second || self.ends[second] != end {
                continue;
            }
            if self.count <= until.groups {
                break;
            }
            guard.check()?;
            self.unite(first, second);
            if first > 0 {
                pairs.extend(self.pair(self.starts[first], until.far, fits)?);
            }
            pairs.extend(self.pair(first, until.far, fits)?);
        }
        Ok(())
    }

    /// The first row of each group, in order.
    pub fn groups(&self) -> Vec<usize> {
        let mut firsts = Vec::with_capacity(self.count);
        let mut first = 0;
        while first < self.ends.len() {
            firsts.push(first);
            first = self.ends[first];
        }
        firsts
    }

    /// A group with the next one, if they may be joined.
    fn pair(
        &self,
        first: usize,
        far: f64,
        fits: &mut dyn FnMut(usize, usize) -> Result<bool>,
    ) -> Result<Option<Pair>> {
        let second = self.ends[first];
        let Some(&end) = self.ends.get(second) else { return Ok(None) };
        if !fits(first, end)? {
            return Ok(None);
        }
        let bond = self.bonds[second - 1];
        if bond != Bond::None {
            return Ok(Some(Reverse((bond, 0, first, second, end))));
        }
        let added = parts(self.added(first, second, end));
        Ok((added <= parts(far)).then_some(Reverse((bond, added, first, second, end))))
    }

    /// What joining two groups adds to the sum of squares within.
    fn added(&self, first: usize, second: usize, end: usize) -> f64 {
        let share = |square: f64, rows: usize| square / rows as f64;
        let (one, other) = (self.squares[first], self.squares[second]);
        share(one, second - first) + share(other, end - second)
            - share(one + other + 2.0 * self.product(first, second), end - first)
    }

    /// The product of two groups' sums.
    fn product(&self, first: usize, second: usize) -> f64 {
        let scaled = |product: f64, row: usize| {
            let length = self.lengths[row];
            if length > 0.0 { product / length } else { 0.0 }
        };
        let (one, other) = (&self.sums[first][..], &self.sums[second][..]);
        let row = |i| self.vectors.row(i);
        match (one, other) {
            ([], []) => {
                // As for distances: of a row and itself the quotient is 1, and not nearly so.
                let lengths = self.lengths[first] * self.lengths[second];
                let product = dot(row(first), row(second));
                if lengths > 0.0 { product / lengths } else { 0.0 }
            }
            ([], sum) => scaled(mixed_dot(sum, row(first)), first),
            (sum, []) => scaled(mixed_dot(sum, row(second)), second),
            (one, other) => mixed_dot(one, other),
        }
    }

    fn unite(&mut self, first: usize, second: usize) {
        self.squares[first] += self.squares[second] + 2.0 * self.product(first, second);
        let mut sum = self.sum(first);
        let other = self.sum(second);
        sum.iter_mut().zip(other).for_each(|(sum, x)| *sum += x);
        self.sums[first] = sum;
        // Pairs that name the second one are no longer there.
        let end = std::mem::take(&mut self.ends[second]);
        self.ends[first] = end;
        self.starts[end] = first;
        self.count -= 1;
    }

    /// The sum of a group's rows, taken out.
    fn sum(&mut self, first: usize) -> Vec<f64> {
        let sum = std::mem::take(&mut self.sums[first]);
        if !sum.is_empty() {
            return sum;
        }
        let length = self.lengths[first];
        let length = if length > 0.0 { length } else { 1.0 };
        self.vectors.row(first).iter().map(|&x| f64::from(x) / length).collect()
    }
}

/// A number of at least 0 in whole parts, so that what differs by rounding alone is equal.
fn parts(added: f64) -> u64 {
    (added.max(0.0) * PARTS).round() as u64
}

#[cfg(test)]
#[path = "neighbours_tests.rs"]
mod tests;
