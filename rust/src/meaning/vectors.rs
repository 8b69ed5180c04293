//! Vectors of pieces, and how far two of them are apart.

use crate::products::{add_row, add_unit, dot};

/// A matrix of numbers, a row for each piece.
#[derive(Clone, Copy, Debug)]
pub struct Vectors<'v> {
    data: &'v [f32],
    width: usize,
}

impl<'v> Vectors<'v> {
    /// Rows of `width` numbers each.
    #[must_use]
    pub fn new(data: &'v [f32], width: usize) -> Self {
        Self { data, width }
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.data.len().checked_div(self.width).unwrap_or(0)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Numbers in a row.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// One row.
    #[must_use]
    pub fn row(&self, row: usize) -> &'v [f32] {
        &self.data[row * self.width..(row + 1) * self.width]
    }

    /// So many rows from this one on, if they are there.
    #[must_use]
    pub fn part(&self, row: usize, rows: usize) -> Option<Self> {
        let data = self.data.get(row * self.width..(row + rows) * self.width)?;
        (rows == 0 || self.width > 0).then_some(Self { data, width: self.width })
    }

    /// The square of each row's length.
    #[must_use]
    pub fn squares(&self) -> Vec<f64> {
        (0..self.len()).map(|i| dot(self.row(i), self.row(i))).collect()
    }

    /// How far each row is from the next, of the squares of their lengths: 1 less the cosine, one fewer
    /// than rows. A zero vector is like nothing: its cosine is 0.
    #[must_use]
    pub fn distances(&self, squares: &[f64]) -> Vec<f64> {
        let of = |i, both: &[f64]| distance(dot(self.row(i), self.row(i + 1)), both[0], both[1]);
        squares.windows(2).enumerate().map(|(i, both)| of(i, both)).collect()
    }

    /// Every row at length 1, of the squares of their lengths; a zero vector stays what it is.
    #[must_use]
    pub fn units(&self, squares: &[f64]) -> Vec<f32> {
        let mut units = Vec::with_capacity(self.data.len());
        for (row, &square) in self.data.chunks_exact(self.width.max(1)).zip(squares) {
            add_unit(&mut units, row, square);
        }
        units
    }
}

/// The mean of some rows of a table at length 1, for each of many lists of rows: `ends` says where
/// each ends in `rows`. That of no row is zero. None where there is no such row.
#[must_use]
pub fn means(table: Vectors<'_>, rows: &[u32], ends: &[usize]) -> Option<Vec<f32>> {
    let width = table.width();
    let mut means = vec![0.0_f32; ends.len() * width];
    let mut start = 0;
    for (mean, &end) in means.chunks_exact_mut(width.max(1)).zip(ends) {
        for &row in rows.get(start..end)? {
            add_row(mean, table.part(row as usize, 1)?.data);
        }
        // The mean and the sum have one direction.
        let length = dot(mean, mean).sqrt();
        if length > 0.0 {
            mean.iter_mut().for_each(|x| *x = (f64::from(*x) / length) as f32);
        }
        start = end;
    }
    Some(means)
}

/// 1 less the cosine, of the product of two vectors and the squares of their lengths.
#[must_use]
pub fn distance(product: f64, one: f64, other: f64) -> f64 {
    // The root of the product: of a vector and itself the quotient is then 1, and not nearly so.
    let lengths = (one * other).sqrt();
    if lengths > 0.0 { (1.0 - product / lengths).clamp(0.0, 2.0) } else { 1.0 }
}
