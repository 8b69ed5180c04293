//! What stands where in a document: blocks, read off its form. One file per form.
//!
//! Blocks are leaves: a paragraph, one list item's own text, one table. They stand in the order of
//! the text, do not overlap, and cover everything in it but blank lines. What they stand in is
//! told by `depth`, so that no depth of nesting needs a stack.

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Running text.
    Prose,
    /// A title of what follows; see [`Block::level`].
    Heading,
    /// The text that stands behind a list's mark, without what else the item holds.
    Item,
    /// A table, its header first.
    Table,
    /// Code, fenced or indented; of a source file, one definition.
    Code,
    /// HTML inside Markdown.
    Html,
    /// Settings before the text.
    FrontMatter,
    /// A footnote or a link's definition: it belongs to the section that it stands in.
    Note,
    /// A line that only separates.
    Rule,
}

/// One block. Offsets are bytes of the text, half-open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// What it is.
    pub kind: Kind,
    /// A heading's level, from 1; 0 for anything else.
    pub level: u16,
    /// How many lists, items and quotes it stands in.
    pub depth: u16,
    /// Where it starts: at the start of a line where nothing but marks precedes it.
    pub start: usize,
    /// Behind its last line's break.
    pub end: usize,
    /// Behind what every part of it carries: a table's header rows, a fence's first line.
    /// `start` where there is nothing of the kind.
    pub head: usize,
}

/// The blocks of one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    /// In the order of the text.
    pub blocks: Vec<Block>,
    /// What the headings say, without marks, in order: one for each block that is a heading.
    pub titles: Vec<String>,
}
