//! A text cut by its blocks.

use std::collections::HashMap;

use crate::blocks::{Block, Blocks};
use crate::cuts::Level;
use crate::error::{Error, Result};
use crate::guard::Guard;
use crate::pack::{Limit, Packed, Packer};
use crate::ruler::Ruler;
use crate::structure::carried::{Carried, SHORTENED, carried, head};
use crate::structure::depth::{Chosen, Depth, choose};
use crate::structure::prefix::{Fill, Template};
use crate::structure::{Outline, levels, sections};
use crate::text::Text;

/// What the blocks of a text say about its chunks.
#[derive(Clone, Debug, Default)]
pub struct Structure {
    /// For each chunk.
    pub carried: Vec<Carried>,
    /// The headings, for each its level, its parent, and where its block starts.
    pub headings: Vec<(u16, Option<usize>, usize)>,
    /// Their titles.
    pub titles: Vec<String>,
    /// How deep the text was cut, where that was chosen for it.
    pub chosen: Option<Chosen>,
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
    /// Blocks and the sentences in them: packed together while they fit, opened at these levels.
    Sentences(&'l [Level]),
}

impl<R: Ruler + ?Sized> Cutting<'_, '_, R> {
    /// Cuts the text; `otherwise` cuts it where the blocks have no say.
    pub fn run(
        &self,
        within: &Within<'_>,
        otherwise: impl FnOnce(Packer<'_, '_, R>) -> Result<Vec<Packed>>,
    ) -> Result<(Vec<Packed>, Structure)> {
        check(self.text.str, &self.blocks.blocks)?;
        let blocks = &self.blocks.blocks[..];
        let outline = Outline::new(self.blocks);
        let shown = Shown { cutting: self, outline: &outline };
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
                    let first = blocks.partition_point(|block| block.start < start);
                    let last = blocks.partition_point(|block| block.start < end);
                    let blocks = &blocks[first..last];
                    let mut levels = levels::headings(blocks, made.depth);
                    levels.extend(levels::blocks(self.text, blocks, &fits)?);
                    levels.extend(levels::words(self.text, blocks, &fits, self.guard)?);
                    levels.extend_from_slice(below);
                    Ok(levels)
                })?
            }
            Within::Blocks(below) => {
                let mut levels = levels::blocks(self.text, blocks, &fits)?;
                levels.extend_from_slice(below);
                packer.by_levels(&levels)?
            }
            Within::Sentences(below) => {
                let mut levels = levels::sentences(self.text, blocks, self.guard)?;
                levels.extend_from_slice(below);
                packer.by_levels(&levels)?
            }
        };
        let spans = chunks.iter().map(|chunk| (chunk.start, chunk.end));
        let mut structure = describe(self.text, self.blocks, &outline, spans);
        structure.chosen = chosen;
        for (one, chunk) in structure.carried.iter_mut().zip(&chunks) {
            shown.settle(one, chunk)?;
        }
        Ok((chunks, structure))
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
        chosen: None,
    }
}

/// What stands before the chunks of one text, and how much of it keeps the size.
struct Shown<'c, 'a, 't, R: ?Sized> {
    cutting: &'c Cutting<'a, 't, R>,
    outline: &'c Outline,
}

impl<R: Ruler + ?Sized> Shown<'_, '_, '_, R> {
    /// The least number of lost steps that `keep` agrees with, of what stands before a chunk.
    ///
    /// It is asked in growing strides, then by halves: less is longer, and a path may have thousands
    /// of headings. What it agrees with last is what it is.
    fn lose(
        &self,
        template: &Template,
        heading: Option<usize>,
        context: Option<(usize, usize)>,
        keep: &mut dyn FnMut(&str, &str) -> Result<bool>,
    ) -> Result<usize> {
        let Cutting { text, blocks, title, .. } = self.cutting;
        let path = self.outline.path(heading);
        let titles: Vec<&str> = path
            .into_iter()
            .map(|heading| &blocks.titles[self.outline.headings[heading].title][..])
            .collect();
        let context = context.map_or("", |(start, end)| &text.str[start..end]);
        let fill = Fill { title, path: &titles, context, notes: "" };
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
        let mut room = |heading, context: Option<(usize, usize)>| -> Result<usize> {
            if let (None, Some(&room)) = (context, known.get(&heading)) {
                return Ok(room);
            }
            let mut kept = 0;
            self.lose(template, heading, context, &mut |before, behind| {
                let size = (self.cutting.count)(before)? + (self.cutting.count)(behind)?;
                if size <= most {
                    kept = size;
                }
                Ok(size <= most)
            })?;
            if context.is_none() {
                known.insert(heading, kept);
            }
            Ok(kept)
        };
        let blocks = &self.cutting.blocks.blocks;
        let mut places = Vec::new();
        let mut body = blocks.len().checked_sub(1).and_then(|last| self.outline.in_force(last));
        for (i, block) in blocks.iter().enumerate().rev() {
            if block.kind.is_body() {
                body = self.outline.in_force(i);
            }
            if let Some(context) = head(self.cutting.text, block, block.head) {
                places.push((block.head, room(body, Some(context))?));
            }
            places.push((block.start, room(body, None)?));
        }
        places.push((0, places.last().map_or(room(None, None)?, |(_, room)| *room)));
        places.reverse();
        Ok(places)
    }

    /// Shortens what stands before one chunk until both keep the size.
    fn settle(&self, one: &mut Carried, chunk: &Packed) -> Result<()> {
        let Some(template) = self.cutting.template else { return Ok(()) };
        let Cutting { text, limit, count, .. } = self.cutting;
        let mut whole = String::new();
        one.lost = self.lose(template, one.heading, one.context, &mut |before, behind| {
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
