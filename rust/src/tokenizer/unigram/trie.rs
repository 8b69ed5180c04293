//! Tokens by their bytes: a double array, so that a step is one look into memory.
//!
//! A node's children lie at its base, XORed with their bytes; each tells the byte that leads to it. No
//! two nodes have the same base, so the byte is all that need be checked.

use std::ops::Range;

use crate::tokenizer::file::Chosen;

/// In place of an id.
pub(super) const NONE: u32 = u32::MAX;
/// Bits of a link that tell the byte.
const LABEL: u32 = 9;
/// In place of a byte, where none leads.
const FREE: u32 = (1 << LABEL) - 1;
/// Slots that share all but the last eight bits; the children of a node lie in one block.
const BLOCK: usize = 256;
/// The base of a node without children: a block past any trie's end.
const NOWHERE: usize = (1 << (32 - LABEL)) - BLOCK;
/// Free slots that are tried before a block is added.
const TRIED: usize = 64;

/// A node: what leads here, what is here, where it goes on. Sixteen bytes.
#[derive(Clone, Copy)]
pub(super) struct Unit {
    /// The base above the byte.
    link: u32,
    /// The id of the token that ends here, or [`NONE`].
    pub(super) id: u32,
    /// Its score.
    pub(super) score: f64,
}

impl Unit {
    pub(super) const UNUSED: Self =
        Self { link: (NOWHERE as u32) << LABEL | FREE, id: NONE, score: 0.0 };

    fn set_base(&mut self, base: usize) {
        self.link = (base as u32) << LABEL | self.link & FREE;
    }

    fn set_label(&mut self, label: u32) {
        self.link = self.link >> LABEL << LABEL | label;
    }
}

pub(super) struct Trie(Vec<Unit>);

/// A token, its id and its score.
pub(super) type Entry<'v> = (&'v [u8], u32, f64);

impl Trie {
    /// Where every walk starts.
    #[inline]
    pub(super) fn root(&self) -> Unit {
        self.0.first().copied().unwrap_or(Unit::UNUSED)
    }

    /// The node that `byte` leads to.
    #[inline(always)]
    pub(super) fn step(&self, from: Unit, byte: u8) -> Option<Unit> {
        let slot = from.link >> LABEL ^ u32::from(byte);
        let unit = *self.0.get(slot as usize)?;
        (unit.link & FREE == u32::from(byte)).then_some(unit)
    }

    /// The node at the end of `bytes`.
    pub(super) fn find(&self, from: Unit, bytes: &[u8]) -> Option<Unit> {
        bytes.iter().try_fold(from, |unit, &byte| self.step(unit, byte))
    }

    /// The trie of `entries`, sorted by their bytes, none there twice.
    pub(super) fn new(entries: &[Entry<'_>]) -> Chosen<Self> {
        let mut slots = Slots::new();
        // Nodes whose children are still to be placed: slot, entries below, bytes read.
        let mut open = vec![(0, 0..entries.len(), 0)];
        let mut children: Vec<(u8, Range<usize>)> = Vec::new();
        while let Some((slot, below, depth)) = open.pop() {
            let Range { mut start, end } = below;
            if let Some(&(token, id, score)) = entries[..end].get(start)
                && token.len() == depth
            {
                slots.units[slot].id = id;
                slots.units[slot].score = score;
                start += 1;
            }
            while start < end {
                let byte = entries[start].0[depth];
                let rest = &entries[start..end];
                let same = rest.partition_point(|(token, ..)| token[depth] == byte);
                children.push((byte, start..start + same));
                start += same;
            }
            if children.is_empty() {
                continue;
            }
            let base = slots.base(&children);
            if slots.units.len() > NOWHERE {
                return Err("its vocabulary is too large".to_owned());
            }
            slots.units[slot].set_base(base);
            for (byte, _) in &children {
                slots.take(base ^ usize::from(*byte), *byte);
            }
            let below = children.drain(..).rev();
            open.extend(below.map(|(byte, below)| (base ^ usize::from(byte), below, depth + 1)));
        }
        Ok(Self(slots.units))
    }
}

/// A double array that is being filled.
struct Slots {
    units: Vec<Unit>,
    /// Which bases some node has.
    bases: Vec<bool>,
    /// Each free slot's neighbours among the free: a ring, with slot 0, the root's, as its head.
    before: Vec<usize>,
    after: Vec<usize>,
}

impl Slots {
    fn new() -> Self {
        let mut slots =
            Self { units: Vec::new(), bases: Vec::new(), before: vec![0], after: vec![0] };
        slots.grow();
        slots
    }

    /// Adds a block of free slots.
    fn grow(&mut self) {
        let first = self.units.len().max(1);
        self.units.resize(self.units.len() + BLOCK, Unit::UNUSED);
        self.bases.resize(self.units.len(), false);
        for slot in first..self.units.len() {
            let last = self.before[0];
            self.before.push(last);
            self.after.push(0);
            self.after[last] = slot;
            self.before[0] = slot;
        }
    }

    /// Takes a hole out of the ring.
    fn leave(&mut self, slot: usize) {
        let (before, after) = (self.before[slot], self.after[slot]);
        self.after[before] = after;
        self.before[after] = before;
    }

    fn take(&mut self, slot: usize, byte: u8) {
        self.leave(slot);
        self.units[slot].set_label(u32::from(byte));
    }

    fn is_free(&self, slot: usize) -> bool {
        slot != 0 && self.units[slot].link & FREE == FREE
    }

    /// A base of no other node, at which there is room for `children`.
    fn base(&mut self, children: &[(u8, Range<usize>)]) -> usize {
        // The oldest holes are for an only child; more find room where much is free still.
        if children.len() == 1 {
            if let Some(base) = self.fitting(children, &self.after) {
                self.bases[base] = true;
                return base;
            }
            // Holes at which so little fits are not worth another try.
            for _ in 0..TRIED {
                let slot = self.after[0];
                self.leave(slot);
                (self.before[slot], self.after[slot]) = (slot, slot);
            }
        }
        if let Some(base) = self.fitting(children, &self.before) {
            self.bases[base] = true;
            return base;
        }
        let base = self.units.len();
        self.grow();
        self.bases[base] = true;
        base
    }

    /// As [`Slots::base`], of the first few holes in the order of `next`.
    fn fitting(&self, children: &[(u8, Range<usize>)], next: &[usize]) -> Option<usize> {
        let first = children.first().map_or(0, |&(byte, _)| usize::from(byte));
        let holes = std::iter::successors(Some(next[0]), |&slot| Some(next[slot]));
        let holes = holes.take_while(|&slot| slot != 0).take(TRIED);
        let mut bases = holes.map(|slot| slot ^ first).filter(|&base| !self.bases[base]);
        bases.find(|base| children.iter().all(|&(byte, _)| self.is_free(base ^ usize::from(byte))))
    }
}

#[cfg(test)]
#[path = "trie_tests.rs"]
mod tests;
