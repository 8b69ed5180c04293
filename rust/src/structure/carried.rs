//! What a chunk carries beside its span: its kind, its heading, the head of the table that it is a
//! part of, and flags.

use crate::blocks::{Block, Kind};
use crate::structure::Outline;
use crate::text::Text;

/// The chunk holds a part of a table or a block of code that is not whole in it.
pub const PART: u32 = 2;
/// What stands before the chunk when it is embedded was shortened, so that both keep the size.
pub const SHORTENED: u32 = 4;

/// What one chunk carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// What most of its bytes are; titles and notes are left out unless there is nothing else.
    pub kind: Kind,
    /// The heading in force at its first block with a body, as its number in the outline.
    pub heading: Option<usize>,
    /// The head of the table or the fence that it starts inside of, behind the head.
    pub context: Option<(usize, usize)>,
    /// Of a later part of a row, the cells that say which row it is.
    pub key: Option<(usize, usize)>,
    /// Bits: [`PART`], [`SHORTENED`], [`EMPTY`](super::rows::EMPTY).
    pub flags: u32,
    /// The blocks that it touches.
    pub blocks: (usize, usize),
    /// How much of what stands before it was lost: see `prefix::Template::render`.
    pub lost: usize,
}

/// What the chunk at `start..end` carries.
#[must_use]
pub fn carried(
    text: &Text<'_>,
    blocks: &[Block],
    outline: &Outline,
    start: usize,
    end: usize,
) -> Carried {
    let (first, last) = touched(blocks, start, end);
    let mut bytes = [0_usize; Kind::ALL.len()];
    let mut body = None;
    let mut flags = 0;
    for (i, block) in (first..).zip(&blocks[first..last]) {
        if block.kind.is_body() {
            bytes[block.kind as usize] += block.end.min(end) - block.start.max(start);
            body = body.or(Some(i));
        }
        if block.kind.stays_whole() && (block.start < start || block.end > end) {
            let whole = text.trim(block.start, block.end);
            if whole.is_some_and(|(a, b)| a < start || b > end) {
                flags |= PART;
            }
        }
    }
    // Notes are an addition to what they stand by.
    let notes = std::mem::take(&mut bytes[Kind::Note as usize]);
    let most = bytes.iter().copied().max().unwrap_or(0);
    let kind = match Kind::ALL.into_iter().find(|&kind| most > 0 && bytes[kind as usize] == most) {
        Some(kind) => kind,
        None if notes > 0 => Kind::Note,
        None => blocks[first..last].last().map_or(Kind::Prose, |block| block.kind),
    };
    // Without a body the last title speaks; without any block, what came before.
    let heading = match body.or(last.checked_sub(1)) {
        Some(block) => outline.in_force(block),
        None => None,
    };
    let context = blocks[first..last].first().and_then(|block| head(text, block, start));
    Carried { kind, heading, context, key: None, flags, blocks: (first, last), lost: 0 }
}

/// The first and behind the last of the blocks that a span touches.
#[must_use]
pub fn touched(blocks: &[Block], start: usize, end: usize) -> (usize, usize) {
    let first = blocks.partition_point(|block| block.end <= start);
    (first, first + blocks[first..].iter().take_while(|block| block.start < end).count())
}

/// The head of a block, for a chunk that starts behind it.
#[must_use]
pub fn head(text: &Text<'_>, block: &Block, start: usize) -> Option<(usize, usize)> {
    (block.head > block.start && start >= block.head)
        .then(|| (block.start, text.trim_end(block.start, block.head)))
}
