//! Tokens by their bytes: a double array, so that a step is one look into memory.
//!
//! A node's children lie at its base, XORed with their bytes; each tells the byte that leads to it. No
//! two nodes have the same base, so the byte is all that need be checked.

use std::ops::Range;

use crate::tokenizer::file::Chosen;

/// Bits of a link that tell the byte, or that there is none.
const LABEL: u32 = 9;
/// In place of a byte, where none leads.
const FREE: u32 = (1 << LABEL) - 1;
/// The bit of a link that tells of a token.
const TOKEN: u32 = 1 << LABEL;
/// Where a link's base starts.
const BASE: u32 = LABEL + 1;
/// Slots that share all but the last eight bits; the children of a node lie in one block.
const BLOCK: usize = 256;
/// The base of a node without children: a block past any trie's end.
const NOWHERE: usize = (1 << (32 - BASE)) - BLOCK;
/// Free slots that are tried before a block is added.
const TRIED: usize = 64;
/// The link of a slot without a node.
const UNUSED: u32 = (NOWHERE as u32) << BASE | FREE;

/// A node, found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Node {
    link: u32,
    slot: u32,
}

impl Node {
    /// A node that nothing leads on from.
    pub(super) const NONE: Self = Self { link: UNUSED, slot: 0 };

    /// Whether a token ends here.
    #[inline(always)]
    pub(super) fn is_token(self) -> bool {
        self.link & TOKEN != 0
    }
}

/// Links, four bytes for a step; what is known of tokens lies apart, since most steps end at none.
pub(super) struct Trie {
    /// For each slot its node's base, whether a token ends there, and the byte that leads there.
    links: Vec<u32>,
    scores: Vec<f64>,
    ids: Vec<u32>,
}

/// A token, its id and its score.
pub(super) type Entry<'v> = (&'v [u8], u32, f64);

impl Trie {
    /// Where every walk starts.
    #[inline]
    pub(super) fn root(&self) -> Node {
        self.links.first().map_or(Node::NONE, |&link| Node { link, slot: 0 })
    }

    /// The node that `byte` leads to.
    #[inline(always)]
    pub(super) fn step(&self, from: Node, byte: u8) -> Option<Node> {
        let slot = from.link >> BASE ^ u32::from(byte);
        let link = *self.links.get(slot as usize)?;
        (link & FREE == u32::from(byte)).then_some(Node { link, slot })
    }

    /// The node at the end of `bytes`.
    pub(super) fn find(&self, from: Node, bytes: &[u8]) -> Option<Node> {
        bytes.iter().try_fold(from, |node, &byte| self.step(node, byte))
    }

    /// The score of the token that ends at `node`.
    #[inline(always)]
    pub(super) fn score(&self, node: Node) -> f64 {
        self.scores[node.slot as usize]
    }

    /// The id of the token that ends at `node`.
    #[inline(always)]
    pub(super) fn id(&self, node: Node) -> u32 {
        self.ids[node.slot as usize]
    }

    /// The trie of `entries`, sorted by their bytes, none there twice.
    pub(super) fn new(entries: &[Entry<'_>]) -> Chosen<Self> {
        let mut slots = Slots::new();
        let mut tokens = Vec::with_capacity(entries.len());
        // Nodes whose children are still to be placed: slot, entries below, bytes read.
        let mut open = vec![(0, 0..entries.len(), 0)];
        let mut children: Vec<(u8, Range<usize>)> = Vec::new();
        while let Some((slot, below, depth)) = open.pop() {
            let Range { mut start, end } = below;
            if let Some(&(token, id, score)) = entries[..end].get(start)
                && token.len() == depth
            {
                slots.links[slot] |= TOKEN;
                tokens.push((slot, id, score));
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
            if slots.links.len() > NOWHERE {
                return Err("its vocabulary is too large".to_owned());
            }
            slots.set_base(slot, base);
            for (byte, _) in &children {
                slots.take(base ^ usize::from(*byte), *byte);
            }
            let below = children.drain(..).rev();
            open.extend(below.map(|(byte, below)| (base ^ usize::from(byte), below, depth + 1)));
        }
        let links = slots.links;
        let mut trie = Self { scores: vec![0.0; links.len()], ids: vec![0; links.len()], links };
        for (slot, id, score) in tokens {
            trie.scores[slot] = score;
            trie.ids[slot] = id;
        }
        Ok(trie)
    }
}

/// A double array that is being filled.
struct Slots {
    links: Vec<u32>,
    /// Which bases some node has.
    bases: Vec<bool>,
    /// Each free slot's neighbours among the free: a ring, with slot 0, the root's, as its head.
    before: Vec<usize>,
    after: Vec<usize>,
}

impl Slots {
    fn new() -> Self {
        let mut slots =
            Self { links: Vec::new(), bases: Vec::new(), before: vec![0], after: vec![0] };
        slots.grow();
        slots
    }

    /// Adds a block of free slots.
    fn grow(&mut self) {
        let first = self.links.len().max(1);
        self.links.resize(self.links.len() + BLOCK, UNUSED);
        self.bases.resize(self.links.len(), false);
        for slot in first..self.links.len() {
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
        self.links[slot] = self.links[slot] & !FREE | u32::from(byte);
    }

    fn set_base(&mut self, slot: usize, base: usize) {
        self.links[slot] = (base as u32) << BASE | self.links[slot] & (TOKEN | FREE);
    }

    fn is_free(&self, slot: usize) -> bool {
        slot != 0 && self.links[slot] & FREE == FREE
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
        let base = self.links.len();
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
