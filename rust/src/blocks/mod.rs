//! What stands where in a document: blocks, read off its form. One file per form.
//!
//! Blocks are leaves: a paragraph, one list item's own text, one table. They stand in the order of
//! the text, do not overlap, and cover everything in it but blank lines and lines that hold nothing
//! but marks of a list or a quote. What they stand in is told by `depth` and `shared`, so that no
//! depth of nesting needs a stack.

pub mod html;
#[cfg(test)]
pub(crate) mod laws;
pub(crate) mod lines;
pub mod markdown;
mod nesting;
pub mod plain;
pub mod rst;
pub mod table;

use std::borrow::Cow;

pub use nesting::Lists;

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
    /// A row of a table, with what says which row it is.
    Row,
    /// A numbered clause.
    Clause,
}

impl Kind {
    /// Every kind, in the order of its number.
    pub const ALL: [Kind; 11] = [
        Kind::Prose,
        Kind::Heading,
        Kind::Item,
        Kind::Table,
        Kind::Code,
        Kind::Html,
        Kind::FrontMatter,
        Kind::Note,
        Kind::Rule,
        Kind::Row,
        Kind::Clause,
    ];

    /// Its name for a user.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Prose => "prose",
            Kind::Heading => "heading",
            Kind::Item => "list",
            Kind::Table => "table",
            Kind::Code => "code",
            Kind::Html => "html",
            Kind::FrontMatter => "front_matter",
            Kind::Note => "note",
            Kind::Rule => "rule",
            Kind::Row => "row",
            Kind::Clause => "clause",
        }
    }

    /// Whether a block of this kind is cut only if it must be, and then at its lines, with
    /// [`Block::head`] as context.
    #[must_use]
    pub fn stays_whole(self) -> bool {
        matches!(self, Kind::Table | Kind::Code | Kind::Row)
    }

    /// Whether its line breaks mean something: it is opened at them before its sentences.
    #[must_use]
    pub fn has_lines(self) -> bool {
        matches!(self, Kind::Table | Kind::Code | Kind::Html | Kind::FrontMatter)
    }

    /// Whether it is what a section says, and no mere title or divider.
    #[must_use]
    pub fn is_body(self) -> bool {
        !matches!(self, Kind::Heading | Kind::Rule)
    }
}

/// One block. Offsets are bytes of the text, half-open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// What it is.
    pub kind: Kind,
    /// A heading's level, from 1; 0 for anything else.
    pub level: u16,
    /// How many lists, items and quotes it stands in. A heading inside of any starts no section.
    pub depth: u16,
    /// How many of those it shares with the block before: items of one list share the list, so that
    /// a cut between them is a weaker one than a cut between two paragraphs.
    pub shared: u16,
    /// Which of those are lists.
    pub lists: Lists,
    /// Where it starts: at the start of a line where nothing but marks precedes it.
    pub start: usize,
    /// Behind its last line's break.
    pub end: usize,
    /// Behind what every part of it carries: a table's header rows, a fence's first line.
    /// `start` where there is nothing of the kind.
    pub head: usize,
}

impl Block {
    /// A block that stands in no list and no quote, and whose parts carry nothing.
    #[must_use]
    pub fn new(kind: Kind, start: usize, end: usize) -> Self {
        let (depth, shared, lists) = (0, 0, Lists::default());
        Self { kind, level: 0, depth, shared, lists, start, end, head: start }
    }

    /// Whether it starts a section: a heading that stands in no list and no quote.
    #[must_use]
    pub fn starts_section(&self) -> bool {
        self.kind == Kind::Heading && self.depth == 0
    }
}

/// The blocks of one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    /// In the order of the text.
    pub blocks: Vec<Block>,
    /// What the headings say, without marks, in order: one for each block that is a heading.
    pub titles: Vec<String>,
    /// Of a form in which a section ends before the next heading, as a definition in source code
    /// does: for each block the heading that it stands under, as the number of its title; of a
    /// heading, itself. Otherwise the last heading is in force.
    pub scopes: Option<Vec<Option<u32>>>,
}

/// The forms that are read where the text lies: the text itself is the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// See [`markdown`].
    Markdown,
    /// reStructuredText; see [`rst`].
    Rst,
    /// Plain text; see [`plain`].
    Plain,
    /// A table, its fields separated by what most often separates them; see [`table`].
    Csv,
    /// A table, its fields separated by tabs.
    Tsv,
}

impl Format {
    /// Every form, in the order in which a message lists them.
    pub const ALL: [Format; 5] =
        [Format::Markdown, Format::Rst, Format::Plain, Format::Csv, Format::Tsv];

    /// Its name for a user.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Format::Markdown => "markdown",
            Format::Rst => "rst",
            Format::Plain => "text",
            Format::Csv => "csv",
            Format::Tsv => "tsv",
        }
    }

    /// The form of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Reads the blocks of `text`.
    #[must_use]
    pub fn blocks(self, text: &str) -> Blocks {
        match self {
            Format::Markdown => markdown::blocks(text),
            Format::Rst => rst::blocks(text),
            Format::Plain => plain::blocks(text),
            Format::Csv => table::blocks(text, table::delimiter(text)),
            Format::Tsv => table::blocks(text, b'\t'),
        }
    }
}

/// What is known of a text's form.
#[derive(Clone, Copy, Debug, Default)]
pub enum Form<'t> {
    /// Nothing.
    #[default]
    Unknown,
    /// Its form, by which its blocks are read.
    In(Format),
    /// Its blocks.
    Read(&'t Blocks),
}

impl<'t> Form<'t> {
    /// The blocks of `text`; of a form that is not known, those of `otherwise`, if there is one.
    #[must_use]
    pub fn blocks(self, text: &str, otherwise: Option<Format>) -> Option<Cow<'t, Blocks>> {
        match self {
            Form::Read(blocks) => Some(Cow::Borrowed(blocks)),
            Form::In(format) => Some(Cow::Owned(format.blocks(text))),
            Form::Unknown => otherwise.map(|format| Cow::Owned(format.blocks(text))),
        }
    }
}
