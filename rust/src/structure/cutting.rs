//! A text cut by its blocks.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use crate::blocks::{Block, Blocks, Kind};
use crate::cuts::Level;
use crate::error::{Error, Result};
use crate::guard::Guard;
use crate::meaning::pieces::{Piece, pieces, shown};
use crate::meaning::plan::Plan;
use crate::meaning::{Meaning, Reading};
use crate::pack::{Limit, Opened, Packed, Packer};
use crate::ruler::Ruler;
use crate::structure::carried::{Carried, SHORTENED, carried, head, touched};
use crate::structure::clauses::{Clauses, Notes};
use crate::structure::depth::{Chosen, Depth, choose};
use crate::structure::prefix::{Fill, Template};
use crate::structure::rows::{Rows, without_tables};
use crate::structure::{Outline, levels, sections};
use crate::text::Text;

/// What the blocks of a text say about its chunks.
#[derive(Default)]
pub struct Structure {
    /// For each chunk.
    pub carried: Vec<Carried>,
    /// The headings, for each its level, its parent, and where its block starts.
    pub headings: Vec<(u16, Option<usize>, usize)>,
    /// Their titles.
    pub titles: Vec<String>,
    /// How deep the text was cut, where that was chosen for it.
    pub chosen: Option<Chosen>,
    /// The clauses of the text, where it was cut at them.
    pub clauses: Option<Clauses>,
    /// For each chunk then the clause that it starts in, and what is said beside it.
    pub notes: Vec<(Option<usize>, Arc<str>)>,
}

/// How to cut one text by its blocks.
pub struct Cutting<'a, 't, R: ?Sized> {
    /// The text.
    pub text: &'a Text<'t>,
    /// What says how long its parts are.
    pub ruler: &'a R,
    /// The budget of a chunk.
    pub limit: Limit,
    /// Asked by every loop.
    pub guard: &'a Guard<'a>,
    /// What stands where in the text.
    pub blocks: &'a Blocks,
    /// How long a string is that is no part of the text.
    pub count: &'a dyn Fn(&str) -> Result<usize>,
    /// What stands before a chunk, where that counts.
    pub template: Option<&'a Template>,
    /// The document's title; empty where it has none.
    pub title: &'a str,
}

/// What is cut within what.
pub enum Within<'l> {
    /// Nothing: the cuts are none of the blocks' business.
    Text,
    /// Sections, one after the other, opened at their blocks, at sentences and then at these levels.
    Sections(Depth, usize, &'l [Level]),
    /// Blocks: packed together while they fit, opened at these levels.
    Blocks(&'l [Level]),
    /// The same within each section, of which these are the starts.
    Nested(&'l [usize], &'l [Level]),
    /// Blocks and the sentences in them: packed together while they fit, opened at these levels.
    Sentences(&'l [Level]),
    /// The rows of tables, one after the other, opened at their cells and then at these levels.
    Rows(&'l Rows, &'l [Level]),
    /// Pieces that are like each other, opened at sentences and lines and then at these levels; within
    /// sections if they come first.
    Meaning(&'l Meaning, &'l Reading<'l>, &'l [Level]),
    /// Clauses, each item its own if that is asked for; opened at items, at blocks, at sentences and
    /// then at these levels.
    Clauses(&'l Clauses, bool, &'l [Level]),
}

impl<R: Ruler + ?Sized> Cutting<'_, '_, R> {
    /// Cuts the text; `otherwise` cuts it where the blocks have no say.
    pub fn run(
        &self,
        within: &Within<'_>,
        otherwise: impl FnOnce(Packer<'_, '_, R>) -> Result<Vec<Packed>>,
    ) -> Result<(Vec<Packed>, Structure)> {
        let (blocks, outline) = match within {
            Within::Clauses(clauses, ..) => {
                let (blocks, outline) = clauses.outline(self.text.str, self.blocks);
                (Cow::Owned(blocks), outline)
            }
            _ => (Cow::Borrowed(self.blocks), Outline::new(self.blocks)),
        };
        let all = &*blocks;
        let blocks = &all.blocks[..];
        let labelled = matches!(within, Within::Meaning(meaning, ..) if meaning.sections.is_some());
        let shown = Shown { cutting: self, blocks: all, outline: &outline, within, labelled };
        let reserved = shown.reserve()?;
        let packer = Packer::new(self.text, self.ruler, self.limit, self.guard);
        let packer = packer.reserving(&reserved);
        let fits = |start, end| Ok(self.size(start, end)? <= self.limit.size);
        let mut chosen = None;
        let chunks = match within {
            Within::Text => otherwise(packer)?,
            Within::Sections(depth, target, below) => {
                let made = self.depth(&outline, *depth, *target)?;
                chosen = Some(made);
                let starts = sections(blocks, &outline, made.depth);
                packer.by_sections(&starts, |start, end| {
                    let blocks = within_span(blocks, start, end);
                    let mut levels = levels::headings(blocks, made.depth);
                    levels.extend(levels::blocks(self.text, blocks, &fits)?);
                    levels.extend(levels::words(self.text, blocks, &fits, self.guard)?);
                    levels.extend_from_slice(below);
                    Ok(levels.into())
                })?
            }
            Within::Blocks(below) => {
                let mut levels = levels::blocks(self.text, blocks, &fits)?;
                levels.extend_from_slice(below);
                packer.by_levels(&levels)?
            }
            Within::Nested(starts, below) => packer.by_sections(starts, |start, end| {
                let blocks = within_span(blocks, start, end);
                let mut levels = levels::blocks(self.text, blocks, &fits)?;
                levels.extend_from_slice(below);
                Ok(levels.into())
            })?,
            Within::Sentences(below) => {
                let mut levels = levels::sentences(self.text, blocks, self.guard)?;
                levels.extend_from_slice(below);
                packer.by_levels(&levels)?
            }
            Within::Meaning(meaning, reading, below) => {
                let inside =
                    |start, end| self.opened(meaning, reading, &reserved, (start, end), below);
                match meaning.sections {
                    None => packer.by_turns(&inside(0, self.text.len())?)?,
                    Some((depth, _)) => {
                        let made = self.depth(&outline, depth, meaning.target)?;
                        chosen = Some(made);
                        packer.by_sections(&sections(blocks, &outline, made.depth), inside)?
                    }
                }
            }
            Within::Rows(rows, below) => {
                packer.by_sections(&rows.sections(self.text.str, blocks), |start, end| {
                    let blocks = within_span(blocks, start, end);
                    let plain = without_tables(blocks);
                    let mut levels = levels::blocks(self.text, &plain, &fits)?;
                    levels.extend(rows.levels(blocks, start, end, &fits)?);
                    levels.extend(levels::words(self.text, &plain, &fits, self.guard)?);
                    levels.extend_from_slice(below);
                    Ok(levels.into())
                })?
            }
            Within::Clauses(clauses, items, below) => {
                let starts = clauses.sections(all, &outline, *items);
                let places = clauses.items();
                packer.by_sections(&starts, |start, end| {
                    let blocks = within_span(blocks, start, end);
                    let inside = |places: &Vec<usize>| {
                        let first = places.partition_point(|&at| at < start);
                        let last = places.partition_point(|&at| at < end);
                        Level::Places(places[first..last].to_vec())
                    };
                    let mut levels: Vec<Level> = places.iter().map(inside).collect();
                    levels.extend(levels::blocks(self.text, blocks, &fits)?);
                    levels.extend(levels::words(self.text, blocks, &fits, self.guard)?);
                    levels.extend_from_slice(below);
                    Ok(levels.into())
                })?
            }
        };
        let spans = chunks.iter().map(|chunk| (chunk.start, chunk.end));
        let mut structure = describe(self.text, all, &outline, spans);
        structure.chosen = chosen;
        let mut notes = Vec::new();
        let mut beside = match within {
            Within::Clauses(clauses, ..) => Some((*clauses, Notes::new(clauses))),
            _ => None,
        };
        for (one, chunk) in structure.carried.iter_mut().zip(&chunks) {
            if let Within::Rows(rows, _) = within {
                rows.carry(self.text, chunk.start, chunk.end, one);
            }
            let note = beside.as_mut().map(|(clauses, beside)| {
                // A clause may start inside of a block that was handed in.
                one.blocks = touched(&self.blocks.blocks, chunk.start, chunk.end);
                let clause = clauses.of_heading(one.heading);
                let note = beside.beside(chunk.start, chunk.end, clause);
                notes.push((clause, Arc::clone(&note)));
                note
            });
            shown.settle(one, chunk, note.as_deref().unwrap_or_default())?;
        }
        structure.notes = notes;
        Ok((chunks, structure))
    }

    /// How a span of the text is opened by the meaning of its pieces.
    pub fn opened<'v>(
        &self,
        meaning: &Meaning,
        reading: &Reading<'v>,
        reserved: &[(usize, usize)],
        (start, end): (usize, usize),
        below: &[Level],
    ) -> Result<Opened<'v>> {
        let whole = start == 0 && end == self.text.len() && self.blocks.blocks.is_empty();
        let (pieces, mut levels) = match reading.pieces(self.text).filter(|_| whole) {
            Some(known) => (known.to_vec(), vec![Level::Sentence]),
            None => self.pieces(start, end)?,
        };
        levels.extend_from_slice(below);
        if pieces.is_empty() {
            return Ok(levels.into());
        }
        let Cutting { text, ruler, limit, guard, .. } = *self;
        let plan = Plan { meaning, text, ruler, limit, reserved, start, pieces: &pieces, guard };
        let turns = reading.turns(&plan)?;
        let ends = pieces.iter().map(|piece| piece.end).collect();
        Ok(Opened { pieces: ends, turns: Some(turns), levels })
    }

    /// The pieces of a span, between its blocks where they are known.
    fn pieces(&self, start: usize, end: usize) -> Result<(Vec<Piece>, Vec<Level>)> {
        let blocks = &self.blocks.blocks[..];
        let known = (!blocks.is_empty()).then(|| within_span(blocks, start, end));
        pieces(self.text, known, start, end, self.guard)
    }

    /// The pieces that meaning is asked of, each with the span that is embedded.
    pub fn asked(&self, meaning: &Meaning) -> Result<Vec<(usize, usize)>> {
        let blocks = &self.blocks.blocks[..];
        let mut spans = Vec::new();
        let mut ask = |start, end| -> Result<()> {
            let (pieces, _) = self.pieces(start, end)?;
            spans.extend(shown(&pieces, meaning.buffer));
            Ok(())
        };
        let end = self.text.len();
        let Some((depth, _)) = meaning.sections else {
            ask(0, end)?;
            return Ok(spans);
        };
        let outline = Outline::new(self.blocks);
        let made = self.depth(&outline, depth, meaning.target)?;
        let starts = sections(blocks, &outline, made.depth);
        let ends = starts.iter().skip(1).copied().chain([end]);
        let (blocks, within) = (self.blocks, &Within::Sections(depth, meaning.target, &[]));
        let labelled = true;
        let shown = Shown { cutting: self, blocks, outline: &outline, within, labelled };
        let reserved = shown.reserve()?;
        let packer = Packer::new(self.text, self.ruler, self.limit, self.guard);
        let packer = packer.reserving(&reserved);
        for (&start, end) in starts.iter().zip(ends) {
            self.guard.check()?;
            if start < end && packer.section(start, end)?.is_some_and(|(_, fits)| !fits) {
                ask(start, end)?;
            }
        }
        Ok(spans)
    }

    fn depth(&self, outline: &Outline, depth: Depth, target: usize) -> Result<Chosen> {
        match depth {
            Depth::All => Ok(Chosen::at(u16::MAX)),
            Depth::At(level) => Ok(Chosen::at(level)),
            Depth::Auto => {
                let size = |start, end| self.size(start, end);
                choose(&self.blocks.blocks, outline, self.text.len(), target, &size)
            }
        }
    }

    fn size(&self, start: usize, end: usize) -> Result<usize> {
        match self.text.trim(start, end) {
            Some((start, end)) => self.ruler.size(start, end),
            None => Ok(0),
        }
    }
}

/// The blocks that start in a span.
fn within_span(blocks: &[Block], start: usize, end: usize) -> &[Block] {
    let first = blocks.partition_point(|block| block.start < start);
    let last = blocks.partition_point(|block| block.start < end);
    &blocks[first..last]
}

/// Fails unless blocks are in order and lie in `text`: those that a caller handed in may be anything.
pub fn check(text: &str, blocks: &[Block]) -> Result<()> {
    let mut end = 0;
    for block in blocks {
        let Block { start, end: stop, head, .. } = *block;
        let inside = start >= end && stop >= start && (start..=stop).contains(&head);
        if !inside || ![start, stop, head].iter().all(|&at| text.is_char_boundary(at)) {
            return Err(Error::Text(format!("{start}..{stop} is no block of this text")));
        }
        end = stop;
    }
    Ok(())
}

/// What the blocks of a text say of the chunks at these spans.
pub fn describe(
    text: &Text<'_>,
    blocks: &Blocks,
    outline: &Outline,
    spans: impl Iterator<Item = (usize, usize)>,
) -> Structure {
    let all = &blocks.blocks[..];
    let headings = outline.headings.iter();
    Structure {
        carried: spans.map(|(start, end)| carried(text, all, outline, start, end)).collect(),
        titles: headings.clone().map(|heading| blocks.titles[heading.title].clone()).collect(),
        headings: headings
            .map(|heading| (heading.level, heading.parent, all[heading.block].start))
            .collect(),
        ..Structure::default()
    }
}

/// So many titles above one body are looked at together: there are no more around a clause.
const TITLES: usize = 8;

/// What stands before the chunks of one text, and how much of it keeps the size.
struct Shown<'c, 'a, 't, R: ?Sized> {
    cutting: &'c Cutting<'a, 't, R>,
    blocks: &'c Blocks,
    outline: &'c Outline,
    within: &'c Within<'c>,
    /// Whether headings get a label, of which nothing is known yet.
    labelled: bool,
}

/// What is reserved for a label behind a heading: one that is longer costs outer headings.
const LABEL: &str = " - Quantitative";

impl<R: Ruler + ?Sized> Shown<'_, '_, '_, R> {
    /// The least number of lost steps that `keep` agrees with, of what stands before a chunk.
    ///
    /// It is asked in growing strides, then by halves: less is longer, and a path may have thousands
    /// of headings. What it agrees with last is what it is.
    fn lose(
        &self,
        template: &Template,
        heading: Option<usize>,
        context: &str,
        notes: &str,
        keep: &mut dyn FnMut(&str, &str) -> Result<bool>,
    ) -> Result<usize> {
        let Cutting { title, .. } = self.cutting;
        let path = self.outline.path(heading);
        let titles: Vec<&str> = path
            .into_iter()
            .map(|heading| &self.blocks.titles[self.outline.headings[heading].title][..])
            .collect();
        let fill = Fill { title, path: &titles, context, notes };
        let steps = template.steps(&fill);
        let mut keeps = |lost| {
            self.cutting.guard.check()?;
            let (before, behind) = template.render(&fill, lost);
            keep(&before, &behind)
        };
        let (mut least, mut most, mut stride) = (0, 0, 1);
        while most < steps && !keeps(most)? {
            (least, most, stride) = (most + 1, steps.min(most + stride), 2 * stride);
        }
        while least < most {
            let middle = least.midpoint(most);
            if keeps(middle)? {
                most = middle;
            } else {
                least = middle + 1;
            }
        }
        Ok(most)
    }

    /// From which place on how many units are kept free: at most half of the size.
    fn reserve(&self) -> Result<Vec<(usize, usize)>> {
        let Some(template) = self.cutting.template else { return Ok(Vec::new()) };
        let most = self.cutting.limit.size / 2;
        let mut known = HashMap::new();
        let mut room = |heading, context: &str, notes: &str| -> Result<usize> {
            let plain = context.is_empty() && notes.is_empty();
            if let (true, Some(&room)) = (plain, known.get(&heading)) {
                return Ok(room);
            }
            let mut kept = 0;
            self.lose(template, heading, context, notes, &mut |before, behind| {
                let size = (self.cutting.count)(before)? + (self.cutting.count)(behind)?;
                if size <= most {
                    kept = size;
                }
                Ok(size <= most)
            })?;
            if self.labelled && kept > 0 && heading.is_some() && template.shows_path() {
                kept = most.min(kept + (self.cutting.count)(LABEL)?);
            }
            if plain {
                known.insert(heading, kept);
            }
            Ok(kept)
        };
        let blocks = &self.blocks.blocks;
        let text = self.cutting.text;
        let (mut rows, mut beside) = match self.within {
            Within::Rows(rows, _) => (&rows.rows[..], None),
            Within::Clauses(clauses, ..) => (&[][..], Some((*clauses, Notes::new(clauses)))),
            _ => (&[][..], None),
        };
        // Behind the body that titles go with, how many of them do, and what is said beside it.
        let (mut until, mut titles) = (text.len(), 0);
        let mut told: Option<(Option<usize>, Arc<str>, usize)> = None;
        let mut places = Vec::new();
        let mut body = blocks.len().checked_sub(1).and_then(|last| self.outline.in_force(last));
        for (i, block) in blocks.iter().enumerate().rev() {
            if block.kind.is_body() {
                body = self.outline.in_force(i);
                (until, titles) = (block.end, 0);
            } else {
                titles += 1;
                until = if titles > TITLES { block.end } else { until };
            }
            let header = head(text, block, block.head).map_or("", |(a, b)| &text.str[a..b]);
            let bare = if header.is_empty() { 0 } else { room(body, header, "")? };
            // What the parts of a row carry, from behind its key on, and what the row does.
            while let Some((row, before)) =
                rows.split_last().filter(|(row, _)| row.end > block.head)
                && block.kind == Kind::Table
            {
                if row.key > row.start {
                    let key = text.str[row.start..row.key].trim();
                    places.push((row.key, room(body, &joined(header, key), "")?));
                }
                places.push((row.start, bare.max(room(body, header, "")?)));
                rows = before;
            }
            if !header.is_empty() {
                places.push((block.head, bare));
            }
            let kept = match beside.as_mut() {
                Some((clauses, beside)) => {
                    let notes = beside.beside(block.start, until, clauses.of_heading(body));
                    let known = told
                        .take()
                        .filter(|(heading, note, _)| *heading == body && Arc::ptr_eq(note, &notes));
                    let kept = match known {
                        Some((.., kept)) => kept,
                        None => room(body, "", &notes)?,
                    };
                    told = Some((body, notes, kept));
                    kept
                }
                None => room(body, "", "")?,
            };
            places.push((block.start, kept));
        }
        places.push((0, places.last().map_or(room(None, "", "")?, |(_, room)| *room)));
        places.reverse();
        Ok(places)
    }

    /// Shortens what stands before one chunk until both keep the size.
    fn settle(&self, one: &mut Carried, chunk: &Packed, notes: &str) -> Result<()> {
        let Some(template) = self.cutting.template else { return Ok(()) };
        let Cutting { text, limit, count, .. } = self.cutting;
        let mut whole = String::new();
        let part = |span: Option<(usize, usize)>| span.map_or("", |(a, b)| &text.str[a..b]);
        let context = joined(part(one.context), part(one.key));
        one.lost = self.lose(template, one.heading, &context, notes, &mut |before, behind| {
            whole.clear();
            whole.extend([before, &text.str[chunk.start..chunk.end], behind]);
            Ok(count(&whole)? <= limit.size)
        })?;
        if one.lost > 0 {
            one.flags |= SHORTENED;
        }
        Ok(())
    }
}

/// The header of a table and the cells that say which row is meant, below each other.
fn joined(header: &str, key: &str) -> String {
    let gap = if header.is_empty() || key.is_empty() { "" } else { "\n" };
    format!("{header}{gap}{key}")
}
