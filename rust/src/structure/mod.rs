//! What is made of a document's blocks: its outline, its sections, where it may be cut inside of
//! them, and what a chunk carries.
//!
//! * [`Outline`]: which heading is in force where
//! * [`depth`]: how deep a document is cut
//! * [`levels`]: where a section that is too large is cut
//! * [`cutting`]: all of it together, over one text
//! * [`carried`]: a chunk's kind, heading, context and flags
//! * [`prefix`]: what stands before a chunk when it is embedded

pub mod carried;
pub mod columns;
pub mod cutting;
pub mod depth;
pub mod levels;
pub mod prefix;

use crate::blocks::{Block, Blocks};

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
    /// For each block the number of headings up to it, itself included.
    before: Vec<usize>,
}

impl Outline {
    /// Reads the blocks once.
    #[must_use]
    pub fn new(blocks: &Blocks) -> Self {
        let mut headings: Vec<Heading> = Vec::new();
        let mut before = Vec::with_capacity(blocks.blocks.len());
        let mut open: Vec<usize> = Vec::new();
        let mut titles = 0;
        for (i, block) in blocks.blocks.iter().enumerate() {
            if block.starts_section() {
                while open.last().is_some_and(|&top| headings[top].level >= block.level) {
                    open.pop();
                }
                let parent = open.last().copied();
                open.push(headings.len());
                headings.push(Heading { block: i, title: titles, level: block.level, parent });
            }
            titles += usize::from(block.kind == crate::blocks::Kind::Heading);
            before.push(headings.len());
        }
        Self { headings, before }
    }

    /// The heading in force at a block: of a heading that starts a section, itself.
    #[must_use]
    pub fn in_force(&self, block: usize) -> Option<usize> {
        self.before.get(block)?.checked_sub(1)
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
/// with. A heading with nothing below it but headings goes with the section that follows.
#[must_use]
pub fn sections(blocks: &[Block], level: u16) -> Vec<usize> {
    let mut starts = vec![0];
    // Whether the section that is open has said anything yet.
    let mut body = false;
    for block in blocks {
        if block.starts_section() && block.level <= level && body {
            starts.push(block.start);
            body = false;
        }
        body |= block.kind.is_body() || block.depth > 0;
    }
    starts
}

#[cfg(test)]
#[path = "structure_tests.rs"]
mod tests;
