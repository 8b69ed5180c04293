//! The packer: turns cuts, a ruler and a budget into spans. It exists once.
//!
//! A text is opened level by level. The pieces of one level pack together, greedily, while the
//! chunk they make, trimmed and counted as a text of its own, keeps the limit. A piece that does
//! not fit alone is opened at the next level and its parts pack among themselves. Below the last
//! level come windows of grapheme clusters. Overlap is taken from the units of the chunk before,
//! as many whole ones as the overlap and the room beside the next piece allow.
//!
//! Positions come from the ruler's view of the whole text and are only a plan: every end and every
//! overlap that is used was counted on its own slice. A cluster that alone exceeds the limit is
//! kept whole and marked.

mod overlap;

use crate::cuts::Level;
use crate::error::Result;
use crate::guard::Guard;
use crate::meaning::turns::Turns;
use crate::ruler::{PAST, Ruler};
use crate::text::Text;

/// The budget of a chunk, in the ruler's unit.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Most units in a chunk, overlap included.
    pub size: usize,
    /// Most units that a chunk repeats from the one before.
    pub overlap: usize,
    /// Chunks below this are merged with a neighbour where `size` allows.
    pub min_size: usize,
    /// Whether blanks around a chunk are dropped.
    pub trim: bool,
}

impl Limit {
    /// Units that the text of a chunk from `start` may have, if so many are reserved: from which place
    /// on, and how many.
    #[must_use]
    pub fn left(&self, reserved: &[(usize, usize)], start: usize) -> usize {
        let behind = reserved.partition_point(|(from, _)| *from <= start);
        let reserved = behind.checked_sub(1).map_or(0, |i| reserved[i].1);
        self.size - reserved.min(self.size)
    }
}

/// One chunk's place and size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed {
    /// Byte offset of its first character.
    pub start: usize,
    /// Byte offset behind its last character.
    pub end: usize,
    /// Units in its text, counted on its own.
    pub size: usize,
}

/// How a stretch is opened that does not go into one chunk.
pub struct Opened<'v> {
    /// Where its pieces end, if they are known: the last one where the stretch does.
    pub pieces: Vec<usize>,
    /// Behind which of those a chunk ends, if it does not end before.
    pub turns: Option<Turns<'v>>,
    /// What else it is opened by.
    pub levels: Vec<Level>,
}

impl From<Vec<Level>> for Opened<'_> {
    fn from(levels: Vec<Level>) -> Self {
        Self { pieces: Vec::new(), turns: None, levels }
    }
}

/// Packs one text.
pub struct Packer<'a, 't, R: ?Sized> {
    text: &'a Text<'t>,
    ruler: &'a R,
    limit: Limit,
    guard: &'a Guard<'a>,
    chunks: Vec<Packed>,
    /// The untrimmed span of the last chunk.
    last: (usize, usize),
    /// Those of all chunks, which merging starts from; empty where nothing will be merged.
    spans: Vec<(usize, usize)>,
    /// Where the units of the last chunk start; unused while they are grapheme clusters.
    units: Vec<usize>,
    graphemes: bool,
    /// Where the section starts that is being packed: no overlap reaches before it.
    floor: usize,
    /// From which place on a chunk that starts there leaves how many units free, in order.
    reserved: &'a [(usize, usize)],
}

impl<'a, 't, R: Ruler + ?Sized> Packer<'a, 't, R> {
    /// A packer with nothing packed yet.
    pub fn new(text: &'a Text<'t>, ruler: &'a R, limit: Limit, guard: &'a Guard<'a>) -> Self {
        let (chunks, spans, units) = (Vec::new(), Vec::new(), Vec::new());
        let (last, graphemes, floor, reserved) = ((0, 0), false, 0, &[][..]);
        Self { text, ruler, limit, guard, chunks, last, spans, units, graphemes, floor, reserved }
    }

    /// Leaves room in each chunk for what is put before it: from each of these places on, so many
    /// units, less than the size. The first place is 0.
    #[must_use]
    pub fn reserving(mut self, reserved: &'a [(usize, usize)]) -> Self {
        self.reserved = reserved;
        self
    }

    /// Chunks made of the largest pieces that fit, opened through `levels`.
    pub fn by_levels(mut self, levels: &[Level]) -> Result<Vec<Packed>> {
        let end = self.text.len();
        if end > 0 {
            // The text as one piece above the first level: the general case without a special one.
            self.run(0, &[end], levels, None)?;
        }
        self.finish()
    }

    /// Chunks made of these pieces, that end where the text turns, and where no more fits.
    pub fn by_turns(mut self, opened: &Opened<'_>) -> Result<Vec<Packed>> {
        self.opened(0, self.text.len(), opened)?;
        self.finish()
    }

    fn opened(&mut self, start: usize, end: usize, opened: &Opened<'_>) -> Result<()> {
        let Opened { pieces, turns, levels } = opened;
        match &pieces[..] {
            [] if start == end => Ok(()),
            [] => self.run(start, &[end], levels, None),
            pieces => self.run(start, pieces, levels, turns.as_ref()),
        }
    }

    /// The same within each section, of which these are the starts: only what is too small crosses
    /// from one to the other. `inside` is asked how each section is opened that does not fit.
    pub fn by_sections<'v>(
        mut self,
        starts: &[usize],
        inside: impl Fn(usize, usize) -> Result<Opened<'v>>,
    ) -> Result<Vec<Packed>> {
        let ends = starts.iter().skip(1).copied().chain([self.text.len()]);
        for (&start, end) in starts.iter().zip(ends) {
            self.guard.check()?;
            if start == end || self.whole_section(start, end)? {
                continue;
            }
            self.floor = start;
            self.opened(start, end, &inside(start, end)?)?;
        }
        self.finish()
    }

    /// Packs a section if it fits; a blank one is packed with nothing.
    fn whole_section(&mut self, open: usize, close: usize) -> Result<bool> {
        let Some((chunk, fits)) = self.section(open, close)? else { return Ok(true) };
        if fits {
            self.push(chunk, open, close);
        }
        Ok(fits)
    }

    /// What a section would be as a chunk, and whether it fits; nothing for a blank one.
    pub fn section(&self, open: usize, close: usize) -> Result<Option<(Packed, bool)>> {
        let span = if self.limit.trim { self.text.trim(open, close) } else { Some((open, close)) };
        let Some((start, end)) = span else { return Ok(None) };
        let size = self.ruler.size(start, end)?;
        Ok(Some((Packed { start, end, size }, size <= self.budget(start))))
    }

    /// Windows that move by the units themselves, to the next grapheme border.
    pub fn by_windows(mut self) -> Result<Vec<Packed>> {
        self.windows(0, self.text.len())?;
        self.finish()
    }

    /// The whole text as one chunk, whatever its size.
    pub fn whole(mut self) -> Result<Vec<Packed>> {
        let end = self.text.len();
        if end > 0 {
            self.emit(0, end)?;
        }
        self.finish()
    }

    /// Packs the pieces that end at `cuts`, the first starting at `start`.
    fn run(
        &mut self,
        start: usize,
        cuts: &[usize],
        below: &[Level],
        turns: Option<&Turns<'_>>,
    ) -> Result<()> {
        let end = cuts[cuts.len() - 1];
        let (mut at, mut i) = (start, 0);
        while i < cuts.len() {
            self.guard.check()?;
            let mut first = i;
            if self.limit.trim {
                // Blank pieces come along, but it is the first visible one that has to fit.
                let visible = self.text.skip_blanks(at, end);
                if visible == end {
                    break;
                }
                first += up_to(&cuts[i..], visible);
            }
            let open = self.overlap_start(at, cuts[first])?;
            let turn = match turns {
                Some(turns) => self.turn(turns, open, at, i, cuts)?,
                None => None,
            };
            let n = match turn {
                Some(n) => n,
                None => self.fit(open, &cuts[i..])?,
            };
            if i + n <= first {
                if first > i {
                    // Their indent is too much: without it the piece may fit.
                    (at, i) = (cuts[first - 1], first);
                } else {
                    self.open(at, cuts[i], below)?;
                    (at, i) = (cuts[i], i + 1);
                }
                continue;
            }
            let close = cuts[i + n - 1];
            if self.emit(open, close)? && self.limit.overlap > 0 {
                self.units.retain(|&unit| !self.graphemes && unit > open && unit < at);
                self.units.push(at);
                // Blank pieces behind the last visible one are many at times, and repeat nothing.
                let end = self.chunks.last().map_or(close, |chunk| chunk.end);
                let inside = cuts[i..i + n - 1].partition_point(|&cut| cut < end);
                self.units.extend_from_slice(&cuts[i..i + inside]);
                self.graphemes = false;
            }
            (at, i) = (close, i + n);
        }
        Ok(())
    }

    /// Packs the parts of a piece that does not fit, by the first level that cuts it.
    fn open(&mut self, start: usize, end: usize, levels: &[Level]) -> Result<()> {
        let mut cuts = Vec::new();
        for (depth, level) in levels.iter().enumerate() {
            self.guard.check()?;
            level.cuts(self.text, start, end, self.guard, &mut cuts)?;
            if cuts.len() > 1 {
                return self.run(start, &cuts, &levels[depth + 1..], None);
            }
        }
        self.windows(start, end)
    }

    /// How many of the pieces that end at `cuts` a chunk from `open` holds.
    fn fit(&self, open: usize, cuts: &[usize]) -> Result<usize> {
        let end = cuts[cuts.len() - 1];
        let first = if self.limit.trim { self.text.trim_start(open, end) } else { open };
        if first == end {
            return Ok(cuts.len());
        }
        let plan = self.ruler.ahead(first, self.budget(first))?;
        let mut n = up_to(cuts, plan);
        let planned = n;
        while n > 0 && !self.ruler.adds_up() && !self.fits(open, cuts[n - 1])? {
            let tried =
                if self.limit.trim { self.text.trim_end(open, cuts[n - 1]) } else { cuts[n - 1] };
            n = cuts[..n].partition_point(|&cut| cut < tried);
        }
        if n < planned {
            return Ok(n);
        }
        // Where what is worth trying ends. Blanks do not count: trimmed, or in units that give
        // them no size, they fit as well. They are passed once, however many pieces they are.
        let past = self.text.str.floor_char_boundary(plan.saturating_add(PAST)).min(end);
        let mut reach = None;
        loop {
            if self.limit.trim && n > 0 {
                let visible = self.text.skip_blanks(cuts[n - 1], end);
                n += up_to(&cuts[n..], visible);
            }
            let Some(&next) = cuts.get(n) else { break };
            let near = next <= past
                || next <= *reach.get_or_insert_with(|| self.text.skip_blanks(past, end));
            if !near || !self.fits(open, next)? {
                break;
            }
            n += 1;
        }
        Ok(n)
    }

    /// How many of the pieces from `i` on, where the last chunk ends, a chunk from `open` holds up to
    /// the first turn behind which it is large enough; if that fits.
    fn turn(
        &self,
        turns: &Turns<'_>,
        open: usize,
        at: usize,
        i: usize,
        cuts: &[usize],
    ) -> Result<Option<usize>> {
        let budget = self.budget(open);
        // Spans are measured each time they have grown to twice their length: where one is too large,
        // what lies behind is not looked at. All in all that is no more than the chunk is long.
        let mut asked = FIRST_LOOK;
        let beyond = |piece: usize| {
            let bytes = cuts[piece] - open;
            if bytes < asked {
                return Ok(false);
            }
            asked = 2 * bytes;
            Ok(self.size(open, cuts[piece])? > budget)
        };
        // No chunk is large enough that ends before this place.
        let low = match turns.least {
            0 => 0,
            least => self.ruler.ahead(at, least)?.saturating_sub(PAST),
        };
        let holds = |piece: usize| {
            let close = cuts[piece];
            Ok(turns.least == 0 || (close >= low && self.size(at, close)? >= turns.least))
        };
        match turns.first(i, cuts.len(), beyond, holds)? {
            Some(last) if self.fits(open, cuts[last])? => Ok(Some(last + 1 - i)),
            _ => Ok(None),
        }
    }

    /// Units in the chunk that `open..close` makes.
    fn size(&self, open: usize, close: usize) -> Result<usize> {
        if !self.limit.trim {
            return self.ruler.size(open, close);
        }
        match self.text.trim(open, close) {
            Some((start, end)) => self.ruler.size(start, end),
            None => Ok(0),
        }
    }

    fn fits(&self, open: usize, close: usize) -> Result<bool> {
        if self.reserved.is_empty() && self.surely(open, close, self.limit.size) {
            return Ok(true);
        }
        let size = self.size(open, close)?;
        if self.reserved.is_empty() || size > self.limit.size {
            return Ok(size <= self.limit.size);
        }
        let start = if self.limit.trim { self.text.trim_start(open, close) } else { open };
        Ok(size <= self.budget(start))
    }

    /// Whether `open..close` has at most `most` units, trimmed or not, because of its bytes alone.
    fn surely(&self, open: usize, close: usize, most: usize) -> bool {
        self.ruler.adds_up() && close.saturating_sub(open) <= most
    }

    /// Units that the text of a chunk from `start` may have.
    fn budget(&self, start: usize) -> usize {
        self.limit.left(self.reserved, start)
    }

    /// Packs `start..end` by grapheme clusters: each window ends where its units do, or at the last
    /// border before that keeps the limit.
    fn windows(&mut self, start: usize, end: usize) -> Result<()> {
        let text = self.text;
        let mut at = start;
        let mut before = None;
        // A chunk that is trimmed may start where more is reserved.
        let holds = self.ruler.adds_up() && self.reserved.is_empty();
        while at < end {
            self.guard.check()?;
            let need = text.graphemes.next(at);
            let open = match before {
                None => self.overlap_start(at, need)?,
                Some(_) if self.limit.overlap == 0 => at,
                Some(before) => {
                    let low = self.ruler.behind(at, self.limit.overlap)?.max(before + 1);
                    let start = text.graphemes.ceil(low).min(at);
                    // What lies behind `low` is no more than the overlap, where counts add up.
                    if self.ruler.adds_up() && self.fits(start, need)? {
                        start
                    } else {
                        self.first_grapheme(low, at, at, need)?
                    }
                }
            };
            let mut close =
                text.graphemes.floor(self.ruler.ahead(open, self.budget(open))?.min(end));
            while close > at && !holds && !self.fits(open, close)? {
                close = text.graphemes.prev(close);
            }
            if close <= at {
                close = need;
            }
            self.emit(open, close)?;
            (before, at) = (Some(open), close);
            self.graphemes = true;
        }
        Ok(())
    }

    /// Adds the chunk that `open..close` makes, unless it is blank or inside the one before.
    fn emit(&mut self, open: usize, close: usize) -> Result<bool> {
        let (mut start, mut end) = (open, close);
        if self.limit.trim {
            match self.text.trim(open, close) {
                Some(span) => (start, end) = span,
                None => return Ok(false),
            }
        }
        if let Some(last) = self.chunks.last() {
            if end <= last.end {
                return Ok(false);
            }
            if start <= last.start {
                self.chunks.pop();
                self.spans.pop();
            }
        }
        let size = self.ruler.size(start, end)?;
        self.push(Packed { start, end, size }, open, close);
        Ok(true)
    }

    fn push(&mut self, chunk: Packed, open: usize, close: usize) {
        self.chunks.push(chunk);
        self.last = (open, close);
        if self.limit.min_size > 0 {
            self.spans.push(self.last);
        }
    }

    /// Merges chunks below `min_size` with the one before or after, where the limit allows.
    fn finish(mut self) -> Result<Vec<Packed>> {
        let min = self.limit.min_size;
        if min == 0 || self.chunks.iter().all(|chunk| chunk.size >= min) {
            return Ok(self.chunks);
        }
        let chunks = std::mem::take(&mut self.chunks);
        for (chunk, (open, close)) in chunks.into_iter().zip(std::mem::take(&mut self.spans)) {
            if let (Some(top), Some(&(top_open, _))) = (self.chunks.last(), self.spans.last())
                && (top.size < min || chunk.size < min)
                && self.fits(top_open, close)?
            {
                // The merged chunk ends behind both and starts where the first one does.
                self.chunks.pop();
                self.spans.pop();
                self.emit(top_open, close)?;
            } else {
                self.push(chunk, open, close);
            }
        }
        Ok(self.chunks)
    }
}

/// Bytes from which a chunk that is open is first measured on the way to a turn.
const FIRST_LOOK: usize = 256;

/// How many of `cuts` lie at or before `at`. Mostly few of many do: no place far behind is looked at.
fn up_to(cuts: &[usize], at: usize) -> usize {
    let mut step = 1;
    while cuts.get(step - 1).is_some_and(|&cut| cut <= at) {
        step *= 2;
    }
    let (low, high) = (step / 2, cuts.len().min(step));
    low + cuts[low..high].partition_point(|&cut| cut <= at)
}

#[cfg(test)]
#[path = "pack_tests.rs"]
mod tests;
