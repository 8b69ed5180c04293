//! The best way through the tokens of one piece, as the crate `tokenizers` finds it.
//!
//! From left to right: at each character, every token that starts there is offered to the place where
//! it ends, which keeps the first of those with the highest sum of scores. A character that is no
//! token is offered as the unknown token, at the lowest score of all less ten. The sums are made in the same
//! order of the same numbers, so they are the same to the last bit, and so are ties.
//!
//! A piece is U+2581 and what follows it, and only the latter is handed over: place 0 is before the
//! U+2581, place 1 behind it. Where no token reaches further than the place at hand, every way goes
//! through it, and what lies before is settled. A long piece is settled at such places, so memory is
//! bounded by how far the vocabulary's tokens chain: a few kilobytes for text, and sixteen times the
//! piece for a run of one character, at worst.

use super::trie::{Entry, Node, Trie};
use crate::error::Result;
use crate::guard::{ASK, Guard};
use crate::tokenizer::file::Chosen;

/// What every piece starts with.
pub(super) const META: char = '\u{2581}';
/// Its length.
pub(super) const META_LEN: usize = META.len_utf8();
/// Places after which a piece is settled where it can be.
const SETTLE: usize = 4096;
/// Bytes behind the U+2581 of a short piece.
pub(super) const SHORT: usize = 46;
/// What the score of an unknown character is below the lowest.
const PENALTY: f64 = 10.0;

pub(super) struct Model {
    trie: Trie,
    /// The node behind U+2581.
    meta: Node,
    /// The score of an unknown character.
    unknown: f64,
    unknown_id: u32,
    /// Where the unknown token's own text leads, if it is spelt out.
    unknown_node: Option<Node>,
    /// Bytes of the longest token.
    longest: usize,
}

/// A place in a piece: the best way there.
#[derive(Clone, Copy, Default)]
struct Place {
    score: f64,
    /// How far back the last token starts; 0 where no way ends.
    length: u32,
    /// Whether it is the unknown token.
    unknown: bool,
}

/// Room for the places of a piece, to be used again.
#[derive(Default)]
pub(super) struct Lattice {
    /// From the first place that is not settled on.
    places: Vec<Place>,
    steps: Vec<usize>,
}

/// A token of a piece, from place to place; or several unknown ones in a row, which are one.
#[derive(Clone, Copy)]
pub(super) struct Token {
    from: usize,
    pub(super) to: usize,
}

impl Model {
    /// The model of tokens with their scores, by id.
    pub(super) fn new(tokens: &[(&str, f64)], unknown_id: u32) -> Chosen<Self> {
        let mut entries: Vec<Entry<'_>> = (0..)
            .zip(tokens)
            .filter(|(_, (token, _))| !token.is_empty())
            .map(|(id, &(token, score))| (token.as_bytes(), id, score))
            .collect();
        entries.sort_unstable_by_key(|&(token, id, _)| (token, std::cmp::Reverse(id)));
        // Of those that are there twice the crate takes the last.
        entries.dedup_by_key(|&mut (token, ..)| token);
        let trie = Trie::new(&entries)?;
        let mut bytes = [0; META_LEN];
        let meta = trie.find(trie.root(), META.encode_utf8(&mut bytes).as_bytes());
        let spelt = tokens.get(unknown_id as usize).map_or("", |(token, _)| token);
        let unknown_node = trie.find(trie.root(), spelt.as_bytes());
        // Another token of the same text is the one that is met.
        let unknown_node =
            unknown_node.filter(|&node| node.is_token() && trie.id(node) == unknown_id);
        let lowest = tokens.iter().map(|&(_, score)| score).fold(f64::INFINITY, f64::min);
        Ok(Self {
            meta: meta.unwrap_or(Node::NONE),
            unknown: lowest - PENALTY,
            unknown_id,
            unknown_node,
            longest: entries.iter().map(|(token, ..)| token.len()).max().unwrap_or(0).max(4),
            trie,
        })
    }

    /// The id of a token of the piece that ends in `rest`.
    ///
    /// The crate looks tokens up by their text, several unknown ones as one.
    pub(super) fn id(&self, rest: &[u8], token: Token) -> u32 {
        let (start, from) =
            if token.from == 0 { (self.meta, 0) } else { (self.trie.root(), token.from - 1) };
        match self.trie.find(start, &rest[from..token.to - 1]) {
            Some(node) if node.is_token() => self.trie.id(node),
            _ => self.unknown_id,
        }
    }

    /// As [`Model::tokens`], where `rest` has at most [`SHORT`] bytes, and a byte or more: a bit for each
    /// byte with which a token ends, and whether one ends before them all.
    pub(super) fn short(&self, rest: &[u8]) -> (u64, bool) {
        let end = rest.len() + 1;
        let mut room = [Place::default(); SHORT + 2];
        let Some(places) = room.get_mut(..=end) else { return (0, false) };
        self.offer_with_meta(rest, places);
        let mut at = 1;
        while at < end {
            at += self.offer(&rest[at - 1..], &mut places[at..]).0;
        }
        // From right to left; of unknown ones in a row the last ends.
        let (mut ends, mut joined) = (0, false);
        let mut to = end;
        while to > 0 {
            let Place { length, unknown, .. } = places[to];
            if !(unknown && joined) {
                ends |= 1 << to;
            }
            joined = unknown;
            to -= length as usize;
        }
        (ends >> 2, ends & 2 != 0)
    }

    /// Tells the tokens of the piece that ends in `rest` from left to right.
    pub(super) fn tokens(
        &self,
        rest: &[u8],
        lattice: &mut Lattice,
        guard: &Guard<'_>,
        mut tell: impl FnMut(Token),
    ) -> Result<()> {
        let end = rest.len() + 1;
        let Lattice { places, steps } = lattice;
        places.clear();
        places.resize((end + 1).min(SETTLE), Place::default());
        let mut joined: Option<Token> = None;
        // The first place not settled, the furthest one reached, when to ask the guard.
        let (mut base, mut reach, mut ask) = (0, 1, ASK);
        let mut at = 0;
        loop {
            if at == end || (reach == at && at - base >= SETTLE) {
                steps.clear();
                let mut to = at;
                while to > base {
                    steps.push(to);
                    to -= places[to - base].length as usize;
                }
                for &to in steps.iter().rev() {
                    let Place { length, unknown, .. } = places[to - base];
                    let token = Token { from: to - length as usize, to };
                    match &mut joined {
                        Some(joined) if unknown => joined.to = to,
                        _ => {
                            joined.take().into_iter().for_each(&mut tell);
                            if unknown {
                                joined = Some(token);
                            } else {
                                tell(token);
                            }
                        }
                    }
                }
                if at == end {
                    joined.into_iter().for_each(tell);
                    return Ok(());
                }
                let score = places[at - base].score;
                places.clear();
                places.push(Place { score, ..Place::default() });
                base = at;
            }
            if at >= ask {
                guard.check()?;
                ask = at + ASK;
            }
            let need = (at + self.longest).min(end) - base + 1;
            if places.len() < need {
                places.resize((need + SETTLE).min(end - base + 1), Place::default());
            }
            let open = &mut places[at - base..];
            let (width, furthest) = match at.checked_sub(1) {
                None => (1, self.offer_with_meta(rest, open)),
                Some(from) => self.offer(&rest[from..], open),
            };
            reach = reach.max(at + furthest);
            at += width;
        }
    }

    /// Offers all tokens that start with U+2581, from the first of `places`, to the others, and tells
    /// the furthest reached.
    fn offer_with_meta(&self, rest: &[u8], places: &mut [Place]) -> usize {
        let mut furthest = 1;
        let mut node = self.meta;
        if node.is_token() {
            self.offer_token(node, 0.0, 1, places);
        } else {
            self.offer_unknown(0.0, 1, places);
        }
        for (length, &byte) in (2..).zip(rest) {
            match self.trie.step(node, byte) {
                None => break,
                Some(next) => node = next,
            }
            if node.is_token() {
                self.offer_token(node, 0.0, length, places);
                furthest = length;
            }
        }
        furthest
    }

    /// Offers all tokens that `text` starts with, from the first of `places`, to the others. Gives the
    /// width of a character and the furthest place reached.
    #[inline(always)]
    fn offer(&self, text: &[u8], places: &mut [Place]) -> (usize, usize) {
        let before = places[0].score;
        let width = text.first().map_or(1, |&first| width(first));
        let mut furthest = 0;
        let mut single = false;
        let mut node = self.trie.root();
        for (length, &byte) in (1..).zip(text) {
            match self.trie.step(node, byte) {
                None => break,
                Some(next) => node = next,
            }
            if node.is_token() {
                self.offer_token(node, before, length, places);
                single |= length == width;
                furthest = length;
            }
        }
        if !single {
            self.offer_unknown(before, width, places);
            furthest = furthest.max(width);
        }
        (width, furthest)
    }

    #[inline(always)]
    fn offer_token(&self, node: Node, before: f64, length: usize, places: &mut [Place]) {
        let place = &mut places[length];
        let score = self.trie.score(node) + before;
        if place.length == 0 || score > place.score {
            let unknown = self.unknown_node == Some(node);
            *place = Place { score, length: length as u32, unknown };
        }
    }

    fn offer_unknown(&self, before: f64, length: usize, places: &mut [Place]) {
        let place = &mut places[length];
        let score = self.unknown + before;
        if place.length == 0 || score > place.score {
            *place = Place { score, length: length as u32, unknown: true };
        }
    }
}

/// The length of the character that starts with `first`.
#[inline(always)]
fn width(first: u8) -> usize {
    match first {
        0..0xc0 => 1,
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        _ => 4,
    }
}
