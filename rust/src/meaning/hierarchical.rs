//! Chunks in groups, and these in larger ones: the levels above the chunks of one text.
//!
//! A level is where its groups end, so a group is exactly the union of what it holds.

use super::neighbours::{Bond, Neighbours, Until};
use super::vectors::Vectors;
use crate::blocks::{Block, Kind};
use crate::error::{Error, Result};
use crate::guard::Guard;
use crate::pack::Packed;
use crate::ruler::Ruler;

/// How the levels above the chunks are made, the one next to them first.
#[derive(Clone, Debug)]
pub enum Hierarchy {
    /// Bottom up, of neighbours that are like each other.
    Joined(Vec<Joined>),
    /// Top down: a text is cut by the largest of these sizes, its chunks by the next, and so on.
    Nested(Vec<usize>),
}

/// One level that is made of the one below.
#[derive(Clone, Copy, Debug)]
pub struct Joined {
    /// Most units in a group.
    pub size: usize,
    /// When else joining ends.
    pub until: Until,
}

/// The groups of one level.
#[derive(Debug, Default)]
pub struct Groups {
    /// Behind which chunk each ends.
    pub ends: Vec<usize>,
    /// Units in the span from the first chunk's start to the last one's end.
    pub sizes: Vec<usize>,
}

impl Groups {
    /// The groups of chunks that end behind these.
    pub fn of<R: Ruler + ?Sized>(
        ends: Vec<usize>,
        chunks: &[Packed],
        ruler: &R,
        guard: &Guard<'_>,
    ) -> Result<Self> {
        let mut sizes = Vec::with_capacity(ends.len());
        let mut first = 0;
        for &end in &ends {
            guard.check()?;
            sizes.push(ruler.size(chunks[first].start, chunks[end - 1].end)?);
            first = end;
        }
        Ok(Self { ends, sizes })
    }
}

/// The levels above some chunks, of which there is a vector each, made of neighbours that are like each
/// other.
pub fn joined<R: Ruler + ?Sized>(
    levels: &[Joined],
    chunks: &[Packed],
    vectors: Vectors<'_>,
    blocks: &[Block],
    ruler: &R,
    guard: &Guard<'_>,
) -> Result<Vec<Groups>> {
    if vectors.len() != chunks.len() {
        let (vectors, chunks) = (vectors.len(), chunks.len());
        return Err(Error::Setting(format!("vectors: {vectors} for {chunks} chunks")));
    }
    let mut neighbours = Neighbours::new(vectors, bonds(chunks, blocks));
    let mut above = Vec::with_capacity(levels.len());
    for level in levels {
        let mut fits = |first: usize, end: usize| {
            Ok(ruler.size(chunks[first].start, chunks[end - 1].end)? <= level.size)
        };
        neighbours.join(level.until, guard, &mut fits)?;
        let firsts = neighbours.groups();
        let ends = firsts.iter().skip(1).copied().chain(firsts.first().map(|_| chunks.len()));
        above.push(Groups::of(ends.collect(), chunks, ruler, guard)?);
    }
    Ok(above)
}

/// What binds each chunk to the next one.
fn bonds(chunks: &[Packed], blocks: &[Block]) -> Vec<Bond> {
    let mut next = 0;
    let pairs = chunks.windows(2).map(|pair| {
        // The last block that the first of the two holds some of.
        while blocks.get(next).is_some_and(|block| block.start < pair[0].end) {
            next += 1;
        }
        let Some(last) = next.checked_sub(1).map(|last| &blocks[last]) else { return Bond::None };
        if last.kind.stays_whole() && last.end > pair[1].start {
            Bond::Whole
        } else if last.kind == Kind::Heading {
            Bond::Heading
        } else {
            Bond::None
        }
    });
    pairs.collect()
}
