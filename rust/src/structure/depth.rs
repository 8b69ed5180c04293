//! How deep a document is cut: at which of its headings a section starts.

use crate::blocks::Block;
use crate::error::Result;
use crate::structure::{Outline, sections};

/// Which headings start a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Those of the first of [`TRIED`] that gives sections of about the target; see [`choose`].
    Auto,
    /// Every one.
    All,
    /// Those of at most this level.
    At(u16),
}

/// The depths that [`Depth::Auto`] tries, in order.
pub const TRIED: [u16; 3] = [2, 3, 4];
/// What it falls back to.
const ELSE: u16 = 2;
/// Between which shares of the target the median of the sections has to lie.
const SHARES: (f64, f64) = (0.4, 1.5);

/// The depth of one document, and what led to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chosen {
    /// The most that a heading's level may be if it starts a section.
    pub depth: u16,
    /// How many sections have a heading, at each depth that was tried.
    pub sections: [usize; TRIED.len()],
    /// The median of their sizes; NaN where a depth was not tried.
    pub median: [f64; TRIED.len()],
}

impl Chosen {
    /// A depth that was not chosen but given.
    #[must_use]
    pub fn at(depth: u16) -> Self {
        Self { depth, sections: [0; TRIED.len()], median: [f64::NAN; TRIED.len()] }
    }
}

/// The first depth at which the sections' median size lies in 0.4 to 1.5 times the target, else 2.
///
/// Sections are those that would be cut, so that a heading without a body counts with what follows;
/// what stands before the first heading is no section. `size` measures one, from its start to its
/// end.
pub fn choose(
    blocks: &[Block],
    outline: &Outline,
    end: usize,
    target: usize,
    size: &dyn Fn(usize, usize) -> Result<usize>,
) -> Result<Chosen> {
    let mut chosen = Chosen::at(ELSE);
    let (low, high) = (SHARES.0 * target as f64, SHARES.1 * target as f64);
    for (i, &depth) in TRIED.iter().enumerate() {
        // Without headings of this very level the sections are those of the depth before.
        let same = i > 0 && !blocks.iter().any(|b| b.starts_section() && b.level == depth);
        if same {
            (chosen.sections[i], chosen.median[i]) = (chosen.sections[i - 1], chosen.median[i - 1]);
            continue;
        }
        let has = blocks.iter().any(|b| b.starts_section() && b.level <= depth);
        if !has {
            continue;
        }
        let starts = sections(blocks, outline, depth);
        let ends = starts[1..].iter().copied().chain([end]);
        let mut sizes = Vec::with_capacity(starts.len());
        for (start, end) in starts.iter().copied().zip(ends) {
            // What stands before the first heading of this depth is none of its sections.
            if start > 0 || headed(blocks, depth) {
                sizes.push(size(start, end)?);
            }
        }
        chosen.sections[i] = sizes.len();
        chosen.median[i] = median(&mut sizes);
        if (low..=high).contains(&chosen.median[i]) {
            chosen.depth = depth;
            break;
        }
    }
    Ok(chosen)
}

/// Whether a heading of at most this level stands before everything that has a body.
fn headed(blocks: &[Block], depth: u16) -> bool {
    let mut titles = blocks.iter().take_while(|block| !block.kind.is_body());
    titles.any(|block| block.starts_section() && block.level <= depth)
}

fn median(sizes: &mut [usize]) -> f64 {
    if sizes.is_empty() {
        return f64::NAN;
    }
    sizes.sort_unstable();
    let middle = sizes.len() / 2;
    if sizes.len() % 2 == 1 {
        sizes[middle] as f64
    } else {
        (sizes[middle - 1] + sizes[middle]) as f64 / 2.0
    }
}
