//! The lists, items and quotes that are open, and what they say of a block.

use super::Block;

/// What a block can stand in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Container {
    List {
        /// Whether its items are numbered: their order means something.
        ordered: bool,
    },
    Item,
    /// A quote, or anything else that is no list.
    Other,
}

/// The lists that a block stands in, and those of them that it shares with the block before.
///
/// Three bits for each of the two: whether the innermost of lists and items is a list ([`Self::LIST`])
/// or an item ([`Self::ITEM`]), and whether any list is a numbered one ([`Self::ORDERED`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lists(u8);

impl Lists {
    const LIST: u8 = 1;
    const ITEM: u8 = 2;
    const ORDERED: u8 = 4;
    /// By how much the bits of what is shared are shifted.
    const SHARED: u32 = 3;

    /// Its bits.
    #[must_use]
    pub fn bits(self) -> u8 {
        self.0
    }

    /// From bits that [`Self::bits`] gave.
    #[must_use]
    pub fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// What is said of one who stands in `container` inside of what these bits say.
    fn inside(bits: u8, container: Container) -> u8 {
        match container {
            Container::List { ordered } => {
                bits & Self::ORDERED | Self::LIST | if ordered { Self::ORDERED } else { 0 }
            }
            Container::Item => bits & Self::ORDERED | Self::ITEM,
            Container::Other => bits,
        }
    }
}

/// What is open where a reader stands. What is asked of it is kept for every depth, so that no depth
/// needs a search.
#[derive(Clone, Debug, Default)]
pub(super) struct Nesting {
    open: Vec<u8>,
    /// The fewest that were open since the last block.
    least: usize,
}

impl Nesting {
    pub(super) fn enter(&mut self, container: Container) {
        self.open.push(Lists::inside(self.open.last().copied().unwrap_or(0), container));
    }

    pub(super) fn leave(&mut self) {
        self.open.pop();
        self.share(self.open.len());
    }

    /// How many are open.
    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    /// The next block shares no more than this with the last one.
    pub(super) fn share(&mut self, most: usize) {
        self.least = self.least.min(most);
    }

    /// A block that stands here.
    pub(super) fn place(&mut self, block: Block) -> Block {
        self.place_at(self.depth(), block)
    }

    /// A block that stands in the outermost `depth` of what is open.
    pub(super) fn place_at(&mut self, depth: usize, block: Block) -> Block {
        let shared = self.least.min(depth);
        self.least = depth;
        let bits = |depth: usize| depth.checked_sub(1).map_or(0, |last| self.open[last]);
        let lists = Lists(bits(depth) | bits(shared) << Lists::SHARED);
        let count = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
        Block { depth: count(depth), shared: count(shared), lists, ..block }
    }
}
