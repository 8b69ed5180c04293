//! cantle cuts documents into chunks that are exact slices of their source.
//!
//! One idea carries every strategy: *cuts* say where a text may be cut, a *ruler* says how long a
//! stretch is, and the *packer* turns them and a budget into spans.
//!
//! * [`cuts`]: where a text may be cut, one file per kind of border
//! * [`blocks`]: what stands where in a document, one file per form
//! * [`structure`]: what is made of blocks: sections, headings in force, context
//! * [`ruler`]: how long a stretch is, one file per unit
//! * [`tokenizer`]: text to token ends
//! * [`pack`]: the packer
//! * [`split`]: the strategies, over one text; [`batch`]: over many, on threads
//! * [`meaning`]: where a text turns to something else, by vectors of its sentences
//! * [`products`]: products of vectors; [`nearest`]: how near they are to a query
//! * [`terms`]: a text as the terms of a search engine
//! * [`text`], [`chars`]: a text's borders, blanks and character offsets
//! * `py`: the Python module, behind the feature `python`

pub mod batch;
pub mod blocks;
pub mod chars;
pub mod cuts;
pub mod error;
pub mod guard;
pub mod meaning;
pub mod nearest;
pub mod pack;
pub mod products;
pub mod ruler;
pub mod split;
pub mod structure;
pub mod terms;
pub mod text;
pub mod tokenizer;

#[cfg(feature = "python")]
mod py;
