//! What is made of a document's blocks: its outline, its sections, where it may be cut inside of
//! them, and what a chunk carries.
//!
//! * [`Outline`]: which heading is in force where
//! * [`depth`]: how deep a document is cut
//! * [`levels`]: where a section that is too large is cut
//! * [`cutting`]: all of it together, over one text
//! * [`rows`]: the rows of its tables; [`clauses`]: its numbered clauses, and what they refer to
//! * [`carried`]: a chunk's kind, heading, context and flags
//! * [`prefix`]: what stands before a chunk when it is embedded

pub mod carried;
pub mod clauses;
pub mod columns;
pub mod cutting;
pub mod depth;
pub mod levels;
pub mod prefix;
pub mod rows;

use crate::blocks::{Block, Blocks, Kind};

/// A heading that starts a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heading {
    /// Its block.
    pub block: usize,
    /// Its title's number.
    pub title: usize,
    /// From 1.
    pub level: u16,
    /// The heading that it stands under.
    pub parent: Option<usize>,
}

/// The headings of a document and which of them is in force where.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// In the order of the text.
    pub headings: Vec<Heading>,
    /// For each block the heading in force.
    in_force: Vec<Option<usize>>,
}

impl Outline {
    /// Reads the blocks once.
    #[must_use]
    pub fn new(blocks: &Blocks) -> Self {
        let mut headings: Vec<Heading> = Vec::new();
        let mut in_force = Vec::with_capacity(blocks.blocks.len());
        // The heading in force and those above it: each of a lower level than the next.
        let mut open: Vec<usize> = Vec::new();
        // The heading of each title: none of one that stands in a list or a quote.
        let mut of_title: Vec<Option<usize>> = Vec::with_capacity(blocks.titles.len());
        for (i, block) in blocks.blocks.iter().enumerate() {
            let scope = blocks.scopes.as_ref().and_then(|scopes| scopes.get(i).copied());
            if block.starts_section() {
                while open.last().is_some_and(|&top| headings[top].level >= block.level) {
                    open.pop();
                }
                let (title, parent) = (of_title.len(), open.last().copied());
                open.push(headings.len());
                headings.push(Heading { block: i, title, level: block.level, parent });
            } else if let Some(scope) = scope {
                // Back to a heading that is open, or to none.
                let heading = scope.and_then(|title| *of_title.get(title as usize)?);
                while open.last().is_some_and(|&top| heading.is_none_or(|heading| top > heading)) {
                    open.pop();
                }
            }
            if block.kind == Kind::Heading {
                of_title.push(block.starts_section().then(|| headings.len() - 1));
            }
            in_force.push(open.last().copied());
        }
        Self { headings, in_force }
    }

    /// The heading in force at a block: of a heading that starts a section, itself.
    #[must_use]
    pub fn in_force(&self, block: usize) -> Option<usize> {
        *self.in_force.get(block)?
    }

    /// The headings above one and itself, outermost first.
    #[must_use]
    pub fn path(&self, heading: Option<usize>) -> Vec<usize> {
        let mut path = Vec::new();
        let mut next = heading;
        while let Some(heading) = next {
            path.push(heading);
            next = self.headings[heading].parent;
        }
        path.reverse();
        path
    }
}

/// Where the sections start whose headings have at most `level`; the first at 0, whatever it starts
/// with. A heading with nothing below it but headings goes with the section that follows. What
/// stands behind a section, in the one around it, starts one anew.
#[must_use]
pub fn sections(blocks: &[Block], outline: &Outline, level: u16) -> Vec<usize> {
    let mut starts = vec![0];
    // Whether the section that is open has said anything yet, and the heading of its last block.
    let (mut body, mut last) = (false, None);
    for (i, block) in blocks.iter().enumerate() {
        let here = outline.in_force(i);
        let opens = block.starts_section() && block.level <= level;
        let left = last.map_or(0, |last: usize| outline.headings[last].level);
        let returns = !block.starts_section() && here != last && (1..=level).contains(&left);
        if body && (opens || returns) {
            starts.push(block.start);
            body = false;
        }
        body |= block.kind.is_body() || block.depth > 0;
        last = here;
    }
    starts
}

#[cfg(test)]
#[path = "structure_tests.rs"]
mod tests;
