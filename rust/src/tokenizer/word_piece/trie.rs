//! A vocabulary as a double-array trie of bytes: the longest token at a place in one walk.
//!
//! A node is a cell's index. The child of node `n` by byte `b` is the cell `base(n) + b`, if that cell's
//! owner is `n`: one look, and most are near each other. Cells are given out once, when it is made.

/// No cell.
const NONE: u32 = u32::MAX;

/// The bit of a base that says that a token ends here.
const TOKEN: u32 = 1 << 31;

/// Free cells tried for a node's children before those cells are given up for the nodes to come.
const TRIES: usize = 16;

/// What a walk reads, and no more, so that most of it stays near.
#[derive(Clone, Copy)]
struct Cell {
    /// With [`TOKEN`] on top.
    base: u32,
    owner: u32,
}

const FREE: Cell = Cell { base: 0, owner: NONE };

pub(super) struct Trie {
    cells: Vec<Cell>,
    /// By node, where a token ends.
    ids: Vec<u32>,
}

/// A place in the trie.
#[derive(Clone, Copy)]
pub(super) struct Node(u32);

impl Trie {
    pub(super) const ROOT: Node = Node(0);

    /// The trie of `tokens` with their ids; each is there once.
    pub(super) fn new(mut tokens: Vec<(&[u8], u32)>) -> Self {
        tokens.sort_unstable();
        let mut cells = vec![FREE];
        let mut ids = Vec::new();
        // Cells before it are taken or given up.
        let mut from = 1;
        // Nodes whose children are to be placed: the tokens below, and the depth.
        let mut open = vec![(0, 0..tokens.len(), 0)];
        let mut children: Vec<(u8, std::ops::Range<usize>)> = Vec::new();
        while let Some((node, mut below, depth)) = open.pop() {
            if let Some(&(token, id)) = tokens[below.clone()].first()
                && token.len() == depth
            {
                cells[node].base = TOKEN;
                if node >= ids.len() {
                    ids.resize(node + 1, 0);
                }
                ids[node] = id;
                below.start += 1;
            }
            children.clear();
            for place in below {
                let byte = tokens[place].0[depth];
                match children.last_mut() {
                    Some((last, span)) if *last == byte => span.end = place + 1,
                    _ => children.push((byte, place..place + 1)),
                }
            }
            let Some(&(first, _)) = children.first() else { continue };
            let free = |cells: &[Cell], at: usize| cells.get(at).is_none_or(|c| c.owner == NONE);
            let mut tries = 0;
            let mut at = from.max(usize::from(first) + 1);
            loop {
                if free(&cells, at) {
                    let base = at - usize::from(first);
                    if children.iter().all(|&(byte, _)| free(&cells, base + usize::from(byte))) {
                        break;
                    }
                    tries += 1;
                }
                at += 1;
            }
            if tries > TRIES {
                from = at;
            }
            let base = at - usize::from(first);
            cells[node].base |= base as u32;
            for (byte, span) in children.drain(..) {
                let child = base + usize::from(byte);
                if child >= cells.len() {
                    cells.resize(child + 1, FREE);
                }
                cells[child].owner = node as u32;
                open.push((child, span, depth + 1));
            }
            while !free(&cells, from) {
                from += 1;
            }
        }
        Self { cells, ids }
    }

    /// The child of a node by a byte, and whether a token ends there.
    #[inline(always)]
    fn child(&self, Node(node): Node, base: u32, byte: u8) -> Option<(Node, u32)> {
        let place = base + u32::from(byte);
        let cell = self.cells.get(place as usize)?;
        (cell.owner == node).then_some((Node(place), cell.base))
    }

    /// Where `bytes` lead from the root.
    pub(super) fn walk(&self, bytes: &[u8]) -> Option<Node> {
        bytes.iter().try_fold(Self::ROOT, |node, &byte| {
            let base = self.cells[node.0 as usize].base & !TOKEN;
            self.child(node, base, byte).map(|(child, _)| child)
        })
    }

    /// The longest token below `node` that `bytes` begin with, at least a byte: its length, and where
    /// it ends.
    #[inline(always)]
    pub(super) fn longest(
        &self,
        mut node: Node,
        bytes: impl Iterator<Item = u8>,
    ) -> Option<(usize, Node)> {
        let (mut length, mut end) = (0, node);
        let mut base = self.cells[node.0 as usize].base;
        for (at, byte) in bytes.enumerate() {
            let Some((child, below)) = self.child(node, base & !TOKEN, byte) else { break };
            (node, base) = (child, below);
            if base & TOKEN != 0 {
                (length, end) = (at + 1, node);
            }
        }
        (length > 0).then_some((length, end))
    }

    /// The id of the token that ends at `node`.
    pub(super) fn id(&self, Node(node): Node) -> u32 {
        self.ids[node as usize]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::Trie;

    proptest! {
        #[test]
        fn finds_the_longest(
            tokens in proptest::collection::btree_set("[a-d\u{e9}\u{ff}]{0,6}", 0..200),
            texts in proptest::collection::vec("[a-e\u{e9}\u{ff}]{0,9}", 20),
            prefix in "[a-d]{0,2}",
        ) {
            let numbered = |tokens: &BTreeSet<String>| -> Vec<(String, u32)> {
                tokens.iter().cloned().zip(7..).collect()
            };
            let listed = numbered(&tokens);
            let trie = Trie::new(listed.iter().map(|(token, id)| (token.as_bytes(), *id)).collect());
            for text in texts {
                let expected = listed
                    .iter()
                    .filter_map(|(token, id)| Some((token.strip_prefix(&prefix)?, *id)))
                    .filter(|(token, _)| !token.is_empty() && text.starts_with(token))
                    .map(|(token, id)| (token.len(), id))
                    .max();
                let found = trie
                    .walk(prefix.as_bytes())
                    .and_then(|node| trie.longest(node, text.bytes()))
                    .map(|(length, end)| (length, trie.id(end)));
                prop_assert_eq!(found, expected);
            }
        }
    }
}
