//! HTML: the text that a reader sees, its blocks, and where each part of it stands in the source.
//!
//! Text and blocks cannot be slices of a page, since tags stand inside of sentences and characters
//! are written as references. So the text is written anew, blocks joined by a blank line, and
//! [`Origin`] leads back.
//!
//! The tokens come from `html5gum`: it follows the standard's tokenizer to the letter (it ships and
//! passes the suite of html5lib), tells the position of everything it reads, and lets its caller
//! take pieces of text as they are found, without a tree or a copy. Of the others, `html5ever`
//! knows no positions but lines, `lol_html` leaves references undecoded and brings an engine of CSS
//! selectors, and `tl` with its descendants is not a parser of the standard's HTML. Which elements
//! are open is kept in `elements`, as much of the standard's tree construction as text and
//! structure ask for: ends that are implied, scopes of tables and lists, ends without a start.
//!
//! * `events`: from the tokenizer's calls to text and tags
//! * `elements`: names of elements, and which are open
//! * `page`: from text and tags to blocks
//! * `origin`: from the text back into the HTML

mod elements;
mod events;
mod origin;
mod page;

pub use origin::{Origin, Run};

use super::Blocks;

/// What an HTML document says.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The readable text: blocks joined by a blank line, a table's rows as lines, its cells
    /// separated by `" | "`.
    pub text: String,
    /// The blocks of `text`.
    pub blocks: Blocks,
    /// What the first `<title>` says; empty where there is none.
    pub title: String,
    /// Where the text stands in the HTML.
    pub origin: Origin,
    /// How much work its writer had.
    #[cfg(test)]
    work: usize,
}

/// Reads an HTML document, however broken, in time and space linear in its length.
#[must_use]
pub fn read(html: &str) -> Page {
    events::read(html)
}

#[cfg(test)]
mod tests;
