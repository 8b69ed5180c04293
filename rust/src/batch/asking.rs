//! What has to be embedded before texts are cut.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;

use super::{Source, in_blocks};
use crate::chars::CharIndex;
use crate::error::{Error, Result};
use crate::guard::Guard;
use crate::meaning::pieces::Piece;
use crate::split::{Document, Measure, Splitter, Wanted};
use crate::text::Text;

/// The spans to embed before the texts are cut: for each its text's place among `sources`, where it
/// starts and ends in its document, in bytes and then in characters.
#[derive(Default)]
pub struct Asked {
    /// The number of its source.
    pub source: Vec<i64>,
    /// Byte offsets.
    pub bytes: [Vec<i64>; 2],
    /// Character offsets.
    pub chars: [Vec<i64>; 2],
    /// For each source its pieces, where they need not be found again.
    pub pieces: Vec<Vec<Piece>>,
}

/// What has to be embedded, on up to `threads` threads (0: one per core). A text that fails has
/// nothing: cutting it will fail as well, and say why.
pub fn asked_all(
    splitter: &Splitter,
    sources: &[Source<'_>],
    threads: usize,
    poll: &dyn Fn() -> Result<()>,
) -> Result<Asked> {
    let ask = |block: &[Source<'_>], within: usize, guard: &Guard<'_>| {
        asked_block(splitter, block, None, within, guard)
    };
    let mut all = Asked::default();
    // Blocks come in order; each counts its sources from 0.
    let mut before = 0;
    for (sources, part) in in_blocks(sources, threads, poll, ask, |_| false)? {
        all.source.extend(part.source.iter().map(|source| before + source));
        for (all, part) in all.bytes.iter_mut().zip(part.bytes) {
            all.extend(part);
        }
        for (all, part) in all.chars.iter_mut().zip(part.chars) {
            all.extend(part);
        }
        all.pieces.extend(part.pieces);
        before += sources as i64;
    }
    Ok(all)
}

/// The same on the caller's thread, with the caller's own function as ruler.
pub fn asked_measured(
    splitter: &Splitter,
    sources: &[Source<'_>],
    measure: Measure<'_>,
    poll: &dyn Fn() -> Result<()>,
) -> Result<Asked> {
    let stop = AtomicBool::new(false);
    let guard = Guard::new(&stop, Some(poll));
    Ok(asked_block(splitter, sources, Some(measure), 1, &guard)?.1)
}

fn asked_block(
    splitter: &Splitter,
    sources: &[Source<'_>],
    measure: Option<Measure<'_>>,
    within: usize,
    guard: &Guard<'_>,
) -> Result<(usize, Asked)> {
    let mut asked = Asked::default();
    for (i, source) in sources.iter().enumerate() {
        guard.check()?;
        let index = CharIndex::new(source.text, source.ascii);
        let work = || {
            let text = Text::new(source.text, source.ascii);
            let (form, title) = (source.form, source.title);
            let (vectors, pieces) = (None, &[][..]);
            let document = Document { text: &text, index: &index, form, title, vectors, pieces };
            splitter.route(source.route).asked(document, measure, within, guard)
        };
        let result = catch_unwind(AssertUnwindSafe(work));
        let wanted = match result.unwrap_or_else(|panic| Err(Error::from_panic(&*panic))) {
            Ok(wanted) => wanted,
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(_) => Wanted::default(),
        };
        asked.pieces.push(wanted.pieces);
        for (start, end) in wanted.spans {
            asked.source.push(i as i64);
            for (to, at) in asked.bytes.iter_mut().zip([start, end]) {
                to.push((source.byte_start + at) as i64);
            }
            for (to, at) in asked.chars.iter_mut().zip([start, end]) {
                to.push((source.char_start + index.rank(at)) as i64);
            }
        }
    }
    Ok((sources.len(), asked))
}
