//! A text cut into chunks, with levels of groups above them.

use super::{Document, Made, RECURSIVE, Splitter, Task, Wanted};
use crate::blocks::Blocks;
use crate::error::Result;
use crate::guard::Guard;
use crate::meaning::Compared;
use crate::meaning::hierarchical::{Groups, Hierarchy, joined};
use crate::meaning::vectors::Vectors;
use crate::pack::{Limit, Packed, Packer};
use crate::ruler::Ruler;
use crate::structure::cutting::{Cutting, Structure, Within, check};

/// Finding the chunks that are embedded before they are joined.
pub(super) struct Ask;

impl Task for Ask {
    type Answer = Wanted;

    fn run<R: Ruler + ?Sized>(
        self,
        splitter: &Splitter,
        document: Document<'_, '_>,
        ruler: &R,
        count: &dyn Fn(&str) -> Result<usize>,
        guard: &Guard<'_>,
    ) -> Result<Self::Answer> {
        let blocks = document.form.blocks(document.text.str, None);
        let (chunks, _) = splitter.within(
            &[0],
            splitter.limit,
            document,
            blocks.as_deref(),
            ruler,
            count,
            guard,
        )?;
        let spans = chunks.iter().map(|chunk| (chunk.start, chunk.end)).collect();
        Ok(Wanted { spans, pieces: Vec::new() })
    }
}

impl Splitter {
    /// Cuts a text and makes the levels above its chunks.
    pub(super) fn hierarchical<R: Ruler + ?Sized>(
        &self,
        hierarchy: &Hierarchy,
        document: Document<'_, '_>,
        ruler: &R,
        count: &dyn Fn(&str) -> Result<usize>,
        guard: &Guard<'_>,
    ) -> Result<Made> {
        let blocks = document.form.blocks(document.text.str, None);
        let blocks = blocks.as_deref();
        let cut = |starts: &[usize], limit| {
            self.within(starts, limit, document, blocks, ruler, count, guard)
        };
        // Where chunks start, from the largest size on.
        let mut starts = vec![vec![0]];
        if let Hierarchy::Nested(sizes) = hierarchy {
            for &size in sizes.iter().rev() {
                let limit = Limit { size, overlap: 0, ..self.limit };
                let (chunks, _) = cut(&starts[starts.len() - 1], limit)?;
                // What stands before the first one goes with it.
                let rest = chunks.iter().skip(1).map(|chunk| chunk.start);
                starts.push(std::iter::once(0).chain(rest).collect());
            }
        }
        let (chunks, structure) = cut(&starts[starts.len() - 1], self.limit)?;
        let mut made = Made::from((chunks, structure));
        let chunks = &made.chunks[..];
        match hierarchy {
            Hierarchy::Joined(levels) => {
                let vectors = document.vectors.unwrap_or(Vectors::new(&[], 0));
                let blocks = blocks.map_or(&[][..], |blocks| &blocks.blocks);
                made.levels = joined(levels, chunks, vectors, blocks, ruler, guard)?;
                made.compared = compared(chunks, &vectors.distances(&vectors.squares()));
            }
            Hierarchy::Nested(_) => {
                for starts in starts[1..].iter().rev() {
                    let behind = |&start: &usize| chunks.partition_point(|c| c.start < start);
                    let ends = starts.iter().skip(1).map(behind);
                    let last = (!chunks.is_empty()).then_some(chunks.len());
                    let ends = ends.chain(last).collect();
                    made.levels.push(Groups::of(ends, chunks, ruler, guard)?);
                }
            }
        }
        Ok(made)
    }

    /// Cuts a text within sections, of which these are the starts, into the largest pieces that fit.
    #[expect(clippy::too_many_arguments, reason = "what is cut, and what it is measured by")]
    fn within<R: Ruler + ?Sized>(
        &self,
        starts: &[usize],
        limit: Limit,
        document: Document<'_, '_>,
        blocks: Option<&Blocks>,
        ruler: &R,
        count: &dyn Fn(&str) -> Result<usize>,
        guard: &Guard<'_>,
    ) -> Result<(Vec<Packed>, Option<Structure>)> {
        let Document { text, title, .. } = document;
        let packer = Packer::new(text, ruler, limit, guard);
        let Some(blocks) = blocks else {
            let chunks = packer.by_sections(starts, |_, _| Ok(RECURSIVE.to_vec().into()))?;
            return Ok((chunks, None));
        };
        check(text.str, &blocks.blocks)?;
        let cutting = Cutting { text, ruler, limit, guard, blocks, count, template: None, title };
        let within = Within::Nested(starts, &RECURSIVE);
        let (chunks, structure) = cutting.run(&within, |packer| packer.whole())?;
        Ok((chunks, Some(structure)))
    }
}

/// How far each chunk is from the next one; nothing counts as far.
fn compared(chunks: &[Packed], distances: &[f64]) -> Vec<Compared> {
    let distances = distances.iter().copied().chain([f64::NAN]);
    let pairs = chunks.iter().zip(distances);
    pairs
        .map(|(chunk, distance)| {
            let Packed { start, end, .. } = *chunk;
            Compared { start, end, distance, threshold: f64::NAN }
        })
        .collect()
}
