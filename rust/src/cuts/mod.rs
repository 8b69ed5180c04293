//! Where may a text be cut? One file per kind of border.
//!
//! Cuts are offsets strictly inside a span, in order, on grapheme borders. Which of them are used
//! is the packer's business.

mod abbreviations;
mod blank_lines;
pub mod graphemes;
mod line_starts;
pub mod lines;
mod marks;
pub mod sentences;
pub mod separators;
mod stops;
pub mod words;

use crate::error::Result;
use crate::guard::Guard;
use crate::text::Text;
use separators::Separator;

/// How strongly a cut separates: the levels that a text is opened by, from large to small.
#[derive(Clone, Debug)]
pub enum Level {
    /// Behind blank lines, form feeds and paragraph separators.
    Paragraph,
    /// Behind every line break.
    Line,
    /// Behind every sentence.
    Sentence,
    /// Before every run of characters other than blanks.
    Word,
    /// At the word boundaries of UAX #29: inside a run without blanks, for text that has none.
    WordPart,
    /// At a separator of the caller's.
    Separator(Separator),
    /// Behind every sentence, but not at these places of one text, in order: between a heading and
    /// what stands below it.
    SentenceBut(Vec<usize>),
    /// At these places of one text, in order: where the blocks of a document start.
    Places(Vec<usize>),
}

impl Level {
    /// Fills `cuts` with the places inside `start..end` where this level may cut, then `end`.
    pub fn cuts(
        &self,
        text: &Text<'_>,
        start: usize,
        end: usize,
        guard: &Guard<'_>,
        cuts: &mut Vec<usize>,
    ) -> Result<()> {
        cuts.clear();
        let mut push = |at: usize| {
            if at > start && at < end && text.graphemes.is_border(at) {
                cuts.push(at);
            }
        };
        match self {
            Level::Paragraph => lines::paragraphs(text, start, end, &mut push),
            Level::Line => lines::lines(text, start, end, &mut push),
            Level::Word => words::starts(text.str, start, end, &mut push),
            Level::WordPart => words::parts(text.str, start, end, guard, &mut push)?,
            Level::Separator(separator) => {
                separator.cuts(text.str, start, end, guard, &mut push)?
            }
            Level::Places(places) => {
                let first = places.partition_point(|&at| at <= start);
                places[first..].iter().take_while(|&&at| at < end).for_each(|&at| push(at));
            }
            Level::Sentence => sentence(text, start, end, guard, &mut push)?,
            Level::SentenceBut(places) => {
                let mut first = places.partition_point(|&at| at <= start);
                sentence(text, start, end, guard, &mut |at| {
                    first += places[first..].iter().take_while(|&&place| place < at).count();
                    if places.get(first) != Some(&at) {
                        push(at);
                    }
                })?;
            }
        }
        cuts.push(end);
        Ok(())
    }
}

fn sentence(
    text: &Text<'_>,
    start: usize,
    end: usize,
    guard: &Guard<'_>,
    push: &mut impl FnMut(usize),
) -> Result<()> {
    let mut ends = Vec::new();
    sentences::sentence_ends(&text.str[start..end], guard, &mut ends)?;
    ends.into_iter().for_each(|at| push(start + at));
    Ok(())
}
