//! Where a text with blocks may be cut, from strong to weak: at the headings below those that start
//! a section, between blocks, between the items of a list, and inside a table or a fence at its
//! lines. What is weaker still, the words of a paragraph, is the caller's.

use memchr::memchr2_iter;

use crate::blocks::{Block, Kind};
use crate::cuts::Level;
use crate::cuts::sentences::sentence_ends;
use crate::error::Result;
use crate::guard::Guard;
use crate::text::Text;

/// The most levels of nesting that are told apart: each takes a frame of the stack.
const NESTED: u16 = 4;
/// The most levels of headings that are told apart below those that start a section.
const HEADINGS: usize = 6;

/// The levels of headings above `depth`, one for each that is there.
#[must_use]
pub fn headings(blocks: &[Block], depth: u16) -> Vec<Level> {
    let sections = || blocks.iter().filter(|b| b.starts_section() && b.level > depth);
    let mut there: Vec<u16> = sections().map(|block| block.level).collect();
    there.sort_unstable();
    there.dedup();
    if there.len() > HEADINGS {
        // The deepest are taken together.
        there.drain(HEADINGS - 1..there.len() - 1);
    }
    there
        .into_iter()
        .map(|level| {
            let place = |i: usize| blocks[i].starts_section() && blocks[i].level <= level;
            Level::Places(starts(blocks, place))
        })
        .collect()
}

/// The levels between blocks, then inside of tables, code and the like. `fits` says whether a
/// span fits alone.
pub fn blocks(
    text: &Text<'_>,
    blocks: &[Block],
    fits: &dyn Fn(usize, usize) -> Result<bool>,
) -> Result<Vec<Level>> {
    let deepest = blocks.iter().map(|block| block.shared).max().unwrap_or(0);
    let mut levels: Vec<Level> = (0..=deepest.min(NESTED))
        .map(|shared| {
            let all = shared == NESTED;
            Level::Places(starts(blocks, |i| all || blocks[i].shared <= shared))
        })
        .collect();
    // Between a heading and a table that fits alone but not with it: the table stays whole.
    let mut whole = Vec::new();
    for pair in blocks.windows(2) {
        if pair[0].kind == Kind::Heading && pair[1].kind.stays_whole() {
            let table = &pair[1];
            if fits(table.start, table.end)? {
                whole.push(table.start);
            }
        }
    }
    levels.push(Level::Places(whole));
    levels.extend(lines(text, blocks));
    Ok(levels)
}

/// The levels inside of blocks whose line breaks mean something: behind blank lines, behind every
/// line, and last between a head and what it stands over.
fn lines(text: &Text<'_>, blocks: &[Block]) -> [Level; 3] {
    let (mut parts, mut rows, mut heads) = (Vec::new(), Vec::new(), Vec::new());
    let mut heading = false;
    for block in blocks {
        // A heading is better left alone than a head torn.
        let below = std::mem::replace(&mut heading, block.kind == Kind::Heading);
        if !block.kind.has_lines() {
            continue;
        }
        heads.extend(below.then_some(block.start));
        let bytes = &text.str.as_bytes()[block.start..block.end];
        let head = block.head - block.start;
        let (mut from, mut blank) = (0, false);
        // Before which line a fence ends, where it does.
        let mut last = (0, 0);
        for i in memchr2_iter(b'\n', b'\r', bytes) {
            if bytes[i] == b'\r' && bytes.get(i + 1) == Some(&b'\n') {
                continue;
            }
            let empty = bytes[from..i].iter().all(|b| matches!(b, b' ' | b'\t' | b'\r'));
            if blank && !empty && from > head {
                parts.push(block.start + from);
            }
            if from > head {
                rows.push(block.start + from);
            } else if head > 0 && from == head {
                heads.push(block.start + from);
            }
            blank = empty;
            last = (from, i);
            from = i + 1;
        }
        if from < bytes.len() {
            if from > head {
                rows.push(block.start + from);
            }
            last = (from, bytes.len());
        }
        // The line that closes a fence goes with the line before.
        let closing = bytes[last.0..last.1].trim_ascii_start();
        let fence = closing.starts_with(b"```") || closing.starts_with(b"~~~");
        if block.kind == Kind::Code && head > 0 && fence {
            let at = block.start + last.0;
            if rows.last() == Some(&at) {
                rows.pop();
                heads.push(at);
            }
            if parts.last() == Some(&at) {
                parts.pop();
            }
        }
    }
    [Level::Places(parts), Level::Places(rows), Level::Places(heads)]
}

/// The levels of words: sentences, of which the first of a block goes with the heading above it;
/// then a heading alone, where that sentence fits without it.
pub fn words(
    text: &Text<'_>,
    blocks: &[Block],
    fits: &dyn Fn(usize, usize) -> Result<bool>,
    guard: &Guard<'_>,
) -> Result<[Level; 2]> {
    let (mut below, mut alone) = (Vec::new(), Vec::new());
    let mut ends = Vec::new();
    for pair in blocks.windows(2) {
        let (heading, block) = (&pair[0], &pair[1]);
        if heading.kind != Kind::Heading {
            continue;
        }
        // Blanks lie between the two: a sentence ends behind the heading or behind the blanks.
        below.extend((heading.end < block.start).then_some(heading.end));
        below.push(block.start);
        if block.kind.has_lines() || fits(heading.start, block.end)? {
            continue;
        }
        ends.clear();
        sentence_ends(&text.str[block.start..block.end], guard, &mut ends)?;
        let first = ends.first().map_or(block.end, |end| block.start + end);
        if fits(block.start, first)? {
            alone.push(block.start);
        }
    }
    Ok([Level::SentenceBut(below), Level::Places(alone)])
}

/// One level of sentences and blocks: behind every sentence of a block of words, between all blocks;
/// and the levels inside of tables, code and the like.
pub fn sentences(text: &Text<'_>, blocks: &[Block], guard: &Guard<'_>) -> Result<Vec<Level>> {
    let mut places = Vec::new();
    let mut ends = Vec::new();
    for block in blocks {
        guard.check()?;
        if block.start > 0 {
            places.push(block.start);
        }
        if !block.kind.has_lines() {
            ends.clear();
            sentence_ends(&text.str[block.start..block.end], guard, &mut ends)?;
            places.extend(ends.iter().map(|end| block.start + end).filter(|&at| at < block.end));
        }
    }
    let mut levels = vec![Level::Places(places)];
    levels.extend(lines(text, blocks));
    Ok(levels)
}

/// The starts of the blocks that `place` takes. A heading goes with what follows: there is no place
/// between the two.
fn starts(blocks: &[Block], place: impl Fn(usize) -> bool) -> Vec<usize> {
    let cut = |&i: &usize| blocks[i - 1].kind != Kind::Heading && place(i);
    (1..blocks.len()).filter(cut).map(|i| blocks[i].start).collect()
}
