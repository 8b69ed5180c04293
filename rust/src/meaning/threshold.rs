//! What distance between neighbours is far.

use super::Meaning;
use super::plan::Plan;
use crate::error::Result;
use crate::ruler::Ruler;

/// How far is far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// This percentile, from 0 to 100, of the distances of the text.
    Percentile(f64),
    /// This distance.
    Distance(f64),
    /// So many standard deviations above the mean distance of the text.
    Deviations(f64),
    /// What makes chunks of about the target.
    Target,
}

impl Threshold {
    /// The distance above which two neighbours are far, of a text with these distances.
    pub fn of<R: Ruler + ?Sized>(self, distances: &[f64], plan: &Plan<'_, '_, R>) -> Result<f64> {
        Ok(match self {
            Self::Distance(distance) => distance,
            _ if distances.is_empty() => f64::NAN,
            Self::Percentile(share) => percentile(distances, share),
            Self::Deviations(times) => {
                let n = distances.len() as f64;
                let mean = distances.iter().sum::<f64>() / n;
                let squares = distances.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>();
                mean + times * (squares / n).sqrt()
            }
            Self::Target => for_target(distances, plan)?,
        })
    }
}

/// The percentile of some distances, between two of them by a straight line.
fn percentile(distances: &[f64], share: f64) -> f64 {
    let mut sorted = distances.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let place = share / 100.0 * (sorted.len() - 1) as f64;
    let below = (place.floor() as usize).min(sorted.len() - 1);
    let above = (below + 1).min(sorted.len() - 1);
    let (low, high) = (sorted[below], sorted[above]);
    low + (high - low) * (place - below as f64)
}

/// The largest of the distances whose chunks have at most the target on average, or the smallest.
///
/// Chunks are tried by the sizes of the pieces, taken to add up.
fn for_target<R: Ruler + ?Sized>(distances: &[f64], plan: &Plan<'_, '_, R>) -> Result<f64> {
    let edges = plan.edges();
    let sizes = (0..plan.pieces.len()).map(|i| edges.size(i, i)).collect::<Result<Vec<usize>>>()?;
    let total: usize = sizes.iter().sum();
    let Meaning { least, fewest, .. } = *plan.meaning;
    let room: Vec<usize> = (0..sizes.len()).map(|piece| edges.budget(piece)).collect();
    let chunks = |far: f64| {
        let (mut chunks, mut open, mut first) = (1_usize, sizes[0], 0);
        for (i, &distance) in distances.iter().enumerate() {
            let (next, size) = (i + 1, sizes[i + 1]);
            let turns = distance > far && open >= least && next - first >= fewest;
            if turns || open + size > room[first] {
                (chunks, open, first) = (chunks + 1, 0, next);
            }
            open += size;
        }
        chunks
    };
    let mut sorted = distances.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.dedup();
    // A larger distance makes fewer chunks, or nearly always: halves find a place where that turns.
    let small = sorted.partition_point(|&far| total <= plan.meaning.target * chunks(far));
    Ok(sorted[small.saturating_sub(1)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_lies_on_the_line_between_two_distances() {
        let distances = [0.2, 0.0, 0.1, 0.4, 0.3];
        for (share, value) in [(0.0, 0.0), (25.0, 0.1), (85.0, 0.34), (100.0, 0.4)] {
            assert!((percentile(&distances, share) - value).abs() < 1e-12, "{share}");
        }
        assert_eq!(percentile(&[0.7], 85.0), 0.7);
    }
}
