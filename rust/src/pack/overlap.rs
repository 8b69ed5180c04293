//! What a chunk repeats of the one before.

use super::Packer;
use crate::error::Result;
use crate::ruler::Ruler;

impl<R: Ruler + ?Sized> Packer<'_, '_, R> {
    /// Where the chunk whose first new piece is `at..need` starts, overlap included.
    pub(super) fn overlap_start(&self, at: usize, need: usize) -> Result<usize> {
        let Some(last) = self.chunks.last().filter(|_| self.limit.overlap > 0) else {
            return Ok(at);
        };
        // Trimmed, only blanks lie between the last chunk and `at`.
        let (mut shared_end, mut need_end) = (at, need);
        if self.limit.trim {
            shared_end = last.end;
            need_end = self.text.trim_end(at, need);
        }
        let least = last.start.max(self.last.0);
        let low = (least + 1)
            .max(self.floor)
            .max(self.ruler.behind(shared_end, self.limit.overlap)?)
            .max(self.ruler.behind(need_end, self.limit.size)?);
        if low >= at {
            return Ok(at);
        }
        if self.graphemes {
            return self.first_grapheme(low, at, shared_end, need);
        }
        let units = &self.units[..];
        let least = least.max(self.floor.saturating_sub(1));
        let min = units.partition_point(|&unit| unit <= least);
        let mut i = units.partition_point(|&unit| unit < low);
        let planned = i;
        while i > min && self.may_start(units[i - 1], shared_end, need)? {
            i -= 1;
        }
        if i == planned {
            while i < units.len() && !self.may_start(units[i], shared_end, need)? {
                i += 1;
            }
        }
        match units.get(i) {
            // Units that have no size, such as blanks counted in words, repeat nothing.
            Some(&unit) if unit < shared_end && self.size(unit, shared_end)? > 0 => Ok(unit),
            _ => Ok(at),
        }
    }

    pub(super) fn first_grapheme(
        &self,
        low: usize,
        at: usize,
        shared_end: usize,
        need: usize,
    ) -> Result<usize> {
        let mut start = self.text.graphemes.ceil(low).min(at);
        while start < at && !self.may_start(start, shared_end, need)? {
            start = self.text.graphemes.next(start);
        }
        Ok(start)
    }

    /// Whether a chunk up to `need` may repeat `start..shared_end`.
    fn may_start(&self, start: usize, shared_end: usize, need: usize) -> Result<bool> {
        let most = self.limit.overlap;
        Ok((start >= shared_end
            || self.surely(start, shared_end, most)
            || self.size(start, shared_end)? <= most)
            && self.fits(start, need)?)
    }
}
