//! The pieces of a text that are embedded, one vector each: sentences, and blocks that stay whole.

use crate::blocks::{Block, Kind};
use crate::cuts::Level;
use crate::error::Result;
use crate::guard::Guard;
use crate::structure::levels;
use crate::text::Text;

/// One piece. They tile the text; each holds something visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The span that is embedded, behind the headings above a sentence, without the blanks around it,
    /// an indent included.
    pub shown: (usize, usize),
    /// Where it ends, the blanks behind it included.
    pub end: usize,
}

impl Piece {
    /// Whether its borders are borders of the text's characters.
    pub(super) fn fits(&self, text: &str) -> bool {
        let (start, end) = self.shown;
        start <= end
            && end <= self.end
            && text.get(start..end).is_some()
            && text.is_char_boundary(self.end)
    }
}

/// The pieces of `start..end`, between blocks where they are known; and the levels that one which
/// is too large is opened by, before its words. None where the span is blank.
///
/// A heading goes with the sentence below it, blanks with what stands before them.
pub fn pieces(
    text: &Text<'_>,
    blocks: Option<&[Block]>,
    start: usize,
    end: usize,
    guard: &Guard<'_>,
) -> Result<(Vec<Piece>, Vec<Level>)> {
    let levels = match blocks {
        Some(blocks) => levels::sentences(text, blocks, guard)?,
        None => vec![Level::Sentence],
    };
    let mut cuts = Vec::new();
    levels[0].cuts(text, start, end, guard, &mut cuts)?;
    let mut pieces: Vec<Piece> = Vec::with_capacity(cuts.len());
    let mut blocks = blocks.unwrap_or(&[]).iter().peekable();
    // Where the piece before ends, and whether only headings stand in the one that is open.
    let (mut from, mut heading) = (start, false);
    for cut in cuts {
        match (text.trim(from, cut), pieces.last_mut()) {
            (Some((seen, stop)), last) => {
                while blocks.next_if(|block| block.end <= seen).is_some() {}
                let here =
                    blocks.peek().is_some_and(|b| b.kind == Kind::Heading && b.start <= seen);
                let start = stop - text.str[seen..stop].trim_start().len();
                match last.filter(|_| heading) {
                    // Of headings alone all are shown.
                    Some(last) => {
                        last.end = cut;
                        last.shown = (if here { last.shown.0 } else { start }, stop);
                    }
                    None => pieces.push(Piece { shown: (start, stop), end: cut }),
                }
                heading = here;
            }
            (None, Some(last)) => last.end = cut,
            // Blanks at the start: the first piece takes them.
            (None, None) => {}
        }
        from = cut;
    }
    Ok((pieces, levels))
}

/// What is embedded for each piece: its span with those of `buffer` neighbours on each side.
pub fn shown(pieces: &[Piece], buffer: usize) -> impl Iterator<Item = (usize, usize)> {
    let last = pieces.len().saturating_sub(1);
    (0..pieces.len()).map(move |i| {
        let (first, last) = (i.saturating_sub(buffer), i.saturating_add(buffer).min(last));
        (pieces[first].shown.0, pieces[last].shown.1)
    })
}
