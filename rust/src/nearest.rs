//! How near vectors are to a query, and which of them are the nearest.

use std::cmp::Ordering;

use crate::products::dot;

/// What says how near two vectors are; more is nearer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// The cosine of the angle between them.
    Cosine,
    /// The inner product.
    Product,
    /// The Euclidean distance, with a minus.
    Distance,
}

impl Metric {
    /// The metric of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "cosine" => Some(Self::Cosine),
            "ip" => Some(Self::Product),
            "l2" => Some(Self::Distance),
            _ => None,
        }
    }
}

/// Cosines are whole numbers of this many parts of 1: the last bits of a sum are no reason to part a
/// vector from twice itself.
const STEPS: f64 = (1_u64 << 40) as f64;

/// How near the rows at `places` of `rows` are to a query, in double precision. A score depends
/// on its pair alone, never on what stands beside it. None where there is no such row.
#[must_use]
pub fn scores(metric: Metric, rows: &[f32], places: &[i64], query: &[f32]) -> Option<Vec<f64>> {
    let width = query.len();
    let square = match metric {
        Metric::Cosine => dot(query, query),
        _ => 1.0,
    };
    // A zero query has no cosine; whoever asks tells that.
    let length = if square > 0.0 { square.sqrt() } else { 1.0 };
    let mut scores = Vec::with_capacity(places.len());
    for &place in places {
        let start = usize::try_from(place).ok()?.checked_mul(width)?;
        let row = rows.get(start..start.checked_add(width)?)?;
        scores.push(match metric {
            Metric::Cosine => {
                let lengths = dot(row, row).sqrt() * length;
                let cosine = if lengths > 0.0 { dot(row, query) / lengths } else { 0.0 };
                ((cosine * STEPS).round_ties_even() / STEPS).clamp(-1.0, 1.0)
            }
            Metric::Product => dot(row, query),
            Metric::Distance => -squared_distance(row, query).sqrt(),
        });
    }
    Some(scores)
}

fn squared_distance(a: &[f32], b: &[f32]) -> f64 {
    const LANES: usize = 8;
    let square = |x: f32, y: f32| (f64::from(x) - f64::from(y)) * (f64::from(x) - f64::from(y));
    let mut sums = [0.0_f64; LANES];
    let ((heads, rest), (others, other_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (x, y) in heads.iter().zip(others) {
        for lane in 0..LANES {
            sums[lane] += square(x[lane], y[lane]);
        }
    }
    let rest: f64 = rest.iter().zip(other_rest).map(|(&x, &y)| square(x, y)).sum();
    sums.iter().sum::<f64>() + rest
}

/// The `k` rows with the highest scores, the highest first, of equal ones the lowest row; and their
/// scores. What single precision cannot hold becomes its largest number.
#[must_use]
pub fn best(rows: &[i64], scores: &[f64], k: usize) -> (Vec<i64>, Vec<f32>) {
    // What is no number comes last, and a negative zero is equal to the other one.
    let comparable = scores.iter().map(|score| score.max(f64::NEG_INFINITY) + 0.0);
    let mut found: Vec<(f64, i64)> = comparable.zip(rows.iter().copied()).collect();
    let order =
        |a: &(f64, i64), b: &(f64, i64)| -> Ordering { b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)) };
    if k < found.len() {
        if k > 0 {
            found.select_nth_unstable_by(k - 1, order);
        }
        found.truncate(k);
    }
    found.sort_unstable_by(order);
    let most = f64::from(f32::MAX);
    let told = |&(score, row): &(f64, i64)| (row, score.clamp(-most, most) as f32);
    found.iter().map(told).unzip()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn scores_of_known_vectors() {
        let rows = [3.0, 4.0, 0.0, 6.0, 8.0, 0.0, 0.0, 0.0, 2.0];
        let query = [3.0, 4.0, 0.0];
        let of = |metric| scores(metric, &rows, &[0, 1, 2, 0], &query).unwrap();
        assert_eq!(of(Metric::Cosine), [1.0, 1.0, 0.0, 1.0]);
        assert_eq!(of(Metric::Product), [25.0, 50.0, 0.0, 25.0]);
        assert_eq!(of(Metric::Distance), [-0.0, -5.0, -(29.0_f64.sqrt()), -0.0]);
        let zero = [0.0; 3];
        assert_eq!(scores(Metric::Cosine, &zero, &[0], &query).unwrap(), [0.0]);
        assert_eq!(scores(Metric::Cosine, &[], &[0], &[]).unwrap(), [0.0]);
        for place in [-1, 3, i64::MAX] {
            assert_eq!(scores(Metric::Product, &rows, &[0, place], &query), None);
        }
    }

    #[test]
    fn what_is_no_number_comes_last() {
        let scores: Vec<f64> =
            (0..64).map(|i| if i % 3 == 0 { f64::NAN } else { f64::from(i % 5) - 2.0 }).collect();
        let rows: Vec<i64> = (0..64).collect();
        let (found, points) = best(&rows, &scores, 64);
        assert!(points[42..].iter().all(|&x| x == f32::MIN));
        assert!(found[42..].iter().all(|row| row % 3 == 0));
        assert!(points[..42].windows(2).all(|pair| pair[0] >= pair[1]));
        let zeros = best(&[7, 3, 5], &[0.0, -0.0, 0.0], 3).0;
        assert_eq!(zeros, [3, 5, 7]);
    }

    proptest! {
        #[test]
        fn the_best_are_those_of_a_sort(
            scores in proptest::collection::vec((-3..3_i8).prop_map(f64::from), 0..30),
            k in 0..40_usize,
        ) {
            let rows: Vec<i64> = (0..scores.len() as i64).map(|i| (i * 7 + 3) % 31).collect();
            let mut sorted: Vec<(f64, i64)> = scores.iter().copied().zip(rows.clone()).collect();
            sorted.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let (found, points) = best(&rows, &scores, k);
            let expected: Vec<i64> = sorted.iter().take(k).map(|one| one.1).collect();
            prop_assert_eq!(found, expected);
            prop_assert!(points.iter().zip(&sorted).all(|(&x, y)| f64::from(x) == y.0));
        }
    }
}
