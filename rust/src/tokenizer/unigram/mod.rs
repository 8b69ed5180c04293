//! Unigram from a `tokenizer.json`, as in XLM-R and T5: words at white space, each the best sum of
//! scores.
//!
//! The file normalises a text by a charsmap (`charsmap.rs`) or not at all, cuts it at white space, which goes,
//! puts U+2581 in front of each word that does not start with one, and cuts words in front of each U+2581. What
//! comes of that are *pieces*, on their own to the model (`lattice.rs`). `memo` remembers words.
//!
//! **Pretokens.** White space, none or more, and a word behind it. A pretoken starts where white space
//! follows something else, so its end depends on what is read from its start, and nothing looks ahead.
//!
//! **Pretokens depend on themselves.** The charsmap is applied to grapheme clusters, so all that
//! matters is that a cluster ends before each pretoken, and that the pretoken's own first cluster becomes
//! something that starts with white space; then neither words nor clusters reach over. `classes.rs` calls
//! BLANK only what fulfils both:
//! * White space or control characters, which join with nothing before them, but for a few characters of class
//!   Prepend, behind which no pretoken starts; and U+000A behind U+000D, both of which are white space.
//! * Either left as it is (no string of the charsmap starts with it), or replaced by white space only.
//!   In the latter case it may take the marks that follow it with it; they belong to the same pretoken.
//!
//! A text may start anywhere, within a cluster or a word, as a text of its own: the argument holds for every
//! text, and so for every slice of one.
//!
//! **The fast way.** A word of characters none of which is in the charsmap alone, nor second in a string
//! of it, stays as it is: at no cluster, and no character, does any string of the charsmap fit. If it has no
//! U+2581, it is one piece. Other words are normalised, with the white space in front where that
//! may join with them, and then cut as the crate does it. Both ways are a function of the bytes
//! they are given, and so are remembered by these.
//!
//! **Ends.** A token ends where the source character does that its last byte is put down to. A U+2581
//! that is put in front is put down to the word's first character; so it, and the token behind it, may
//! end with the same character. Tokens that do end at the bytes within it, and those for which there is
//! no byte are told apart ([`Sink::more`]). All are as the crate has them, but for a text that begins
//! with characters that are removed: there the crate loses count, and its ends are too low throughout.
//!
//! **Long words.** Time is linear in any case. A word that is normalised is held once more, with four
//! bytes for each of its own, and see `lattice.rs`.

mod charsmap;
mod classes;
mod lattice;
mod reading;
mod trie;

use unicode_segmentation::UnicodeSegmentation;

use self::charsmap::{Charsmap, Normal};
use self::classes::{BLANK, Classes, GLUE, ODD, TAKES};
use self::lattice::{Lattice, META, META_LEN, Model, Token};
pub(super) use self::reading::read;
use super::engine::{Engine, Sink};
use super::memo::{self, Key, Memo, Pool};
use crate::error::Result;
use crate::guard::{ASK, Guard};

/// Bytes of the longest stretch that the memo remembers; what it remembers has [`MORE`] and [`LEFT`] besides.
const LONG: usize = lattice::SHORT;
/// A bit of a remembered word: one token more ends with its first byte.
const MORE: u64 = 1 << LONG;
/// A bit of a remembered word: there are more tokens than bytes somewhere, and no other bit is right.
const LEFT: u64 = 2 << LONG;
const _: () = assert!(LONG + 2 == memo::LONG);

/// Bytes of the longest stretch of which the memo's table for short ones has room for both bits.
const SHORT: usize = memo::SHORT - 1;

/// What is remembered of a short stretch, in 16 bits.
#[inline(always)]
fn packed(held: u64) -> u64 {
    held & (MORE - 1) | held >> LONG << SHORT
}

/// The other way round.
#[inline(always)]
fn unpacked(short: u64) -> u64 {
    short & ((1 << SHORT) - 1) | short >> SHORT << LONG
}

/// A Unigram tokenizer of the family.
pub(crate) struct Unigram {
    charsmap: Option<Charsmap>,
    classes: Classes,
    model: Model,
    memos: Pool,
}

/// A pretoken, as it is read.
struct Pretoken {
    /// Where its last blank starts; where it starts itself, if it has none.
    blank: usize,
    /// Where its word starts.
    word: usize,
    end: usize,
    /// The flags of its last blank and of the characters of its word.
    flags: u8,
}

/// Room to be used again from word to word.
#[derive(Default)]
struct Scratch {
    normal: Normal,
    lattice: Lattice,
}

/// A token of a stretch: the bytes of its piece behind the U+2581, the token there, where it ends in the
/// source.
struct Found<'p> {
    rest: &'p [u8],
    token: Token,
    end: usize,
}

impl Unigram {
    /// Reads the pretoken that starts at `at`.
    #[inline(always)]
    fn pretoken(&self, text: &[u8], at: usize) -> Pretoken {
        let (mut blank, mut word, mut flags) = (at, at, 0);
        while let Some(&byte) = text.get(word) {
            let (class, length) = self.class(text, word, byte);
            if class & BLANK == 0 {
                break;
            }
            blank = word;
            word += length;
            flags = class & TAKES;
        }
        let mut end = word;
        // Behind a character that joins with white space.
        let mut glued = usize::MAX;
        while let Some(&byte) = text.get(end) {
            let class = self.classes.ascii(byte);
            if byte < 0x80 && class == 0 {
                end += 1;
                continue;
            }
            let (class, length) = self.class(text, end, byte);
            if class & BLANK != 0 {
                if glued != end {
                    break;
                }
                flags |= ODD;
            } else {
                flags |= class;
            }
            end += length;
            if class & GLUE != 0 {
                glued = end;
            }
        }
        Pretoken { blank, word, end, flags }
    }

    #[inline(always)]
    fn class(&self, text: &[u8], at: usize, lead: u8) -> (u8, usize) {
        if lead < 0x80 { (self.classes.ascii(lead), 1) } else { self.classes.wide(text, at, lead) }
    }

    /// Where the stretch of a pretoken starts that its tokens depend on: at its word, or before the
    /// blank in front, if that may join with it.
    #[inline(always)]
    fn stretch(&self, text: &str, pretoken: &Pretoken) -> usize {
        let &Pretoken { blank, word, end, flags } = pretoken;
        if flags & (ODD | TAKES) == 0 || blank == word {
            return word;
        }
        let first = text[blank..end].graphemes(true).next();
        if first.is_some_and(|cluster| cluster.len() > word - blank) { blank } else { word }
    }

    /// The tokens of a stretch from left to right. `odd`: whether it need be normalised or cut.
    fn tokens(
        &self,
        stretch: &str,
        odd: bool,
        scratch: &mut Scratch,
        guard: &Guard<'_>,
        mut tell: impl FnMut(Found<'_>),
    ) -> Result<()> {
        let Scratch { normal, lattice } = scratch;
        if !odd {
            let rest = stretch.as_bytes();
            let first = stretch.chars().next().map_or(0, char::len_utf8);
            return self.model.tokens(rest, lattice, guard, |token| {
                let end = if token.to == 1 { first } else { token.to - 1 };
                tell(Found { rest, token, end });
            });
        }
        match &self.charsmap {
            Some(charsmap) => charsmap.normalise(stretch, normal),
            None => normal.copy(stretch),
        }
        let Normal { text, ends } = normal;
        let mut at = 0;
        for word in text.split(char::is_whitespace) {
            let bytes = word.as_bytes();
            let ends = &ends[at..at + word.len()];
            at += word.len() + text[at + word.len()..].chars().next().map_or(0, char::len_utf8);
            let mut start = 0;
            while start < word.len() {
                // Where the U+2581 ends, and what stands behind it.
                let meta = ends[start] as usize;
                if word[start..].starts_with(META) {
                    start += META_LEN;
                }
                let rest = word[start..].find(META).map_or(word.len(), |length| start + length);
                let (rest, ends) = (&bytes[start..rest], &ends[start..rest]);
                self.model.tokens(rest, lattice, guard, |token| {
                    let end = match token.to.checked_sub(2) {
                        Some(last) => ends[last] as usize,
                        None => meta,
                    };
                    tell(Found { rest, token, end });
                })?;
                start += rest.len();
            }
        }
        Ok(())
    }

    /// What the memo remembers of a stretch of at most [`LONG`] bytes.
    #[inline(never)]
    fn remembered(&self, stretch: &str, odd: bool, scratch: &mut Scratch) -> u64 {
        if !odd {
            let (bits, meta) = self.model.short(stretch.as_bytes());
            let width = stretch.chars().next().map_or(1, char::len_utf8);
            // A U+2581 on its own ends with the first character, behind which another token may end.
            return match (meta, bits >> (width - 1) & 1 != 0) {
                (false, _) => bits,
                (true, false) => bits | 1 << (width - 1),
                (true, true) if width > 1 => bits | 1 << (width - 2),
                (true, true) => bits | MORE,
            };
        }
        let mut ends = ByCharacter::new(stretch);
        let (mut bits, mut more) = (0, 0);
        let mut put = |at: usize, word: u64, left: usize| {
            bits |= word << at;
            if left > 0 {
                more |= if left == 1 && at == 0 && word == 1 { MORE } else { LEFT };
            }
        };
        // No guard is asked for so few bytes.
        let told = self.tokens(stretch, odd, scratch, &Guard::never(), |found| {
            ends.push(found.end, &mut put);
        });
        ends.settle(&mut put);
        if told.is_err() { LEFT } else { bits | more }
    }

    /// Tells a stretch that starts at `at` and that the memo does not hold.
    #[inline(never)]
    fn unremembered(
        &self,
        stretch: &str,
        at: usize,
        odd: bool,
        scratch: &mut Scratch,
        guard: &Guard<'_>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let mut ends = ByCharacter::new(stretch);
        let mut put = |from: usize, word: u64, left: usize| {
            sink.ends(at + from, word);
            if left > 0 {
                sink.more(at + from + word.trailing_ones() as usize - 1, left);
            }
        };
        self.tokens(stretch, odd, scratch, guard, |found| ends.push(found.end, &mut put))?;
        ends.settle(&mut put);
        Ok(())
    }

    /// Tells of a stretch that starts at `at` what the memo holds, if that is all.
    #[inline(always)]
    fn tell(at: usize, held: u64, sink: &mut impl Sink) -> bool {
        if held < MORE {
            sink.ends(at, held);
        } else if held & LEFT == 0 {
            sink.more(at, 1);
            sink.ends(at, held ^ MORE);
        } else {
            return false;
        }
        true
    }

    #[inline(always)]
    fn pass(
        &self,
        text: &str,
        memo: &mut Memo,
        guard: &Guard<'_>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let mut scratch = Scratch::default();
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            guard.check()?;
            let stop = bytes.len().min(at + ASK);
            while at < stop {
                sink.pretoken(at);
                // The usual case first: one blank and a short word.
                if let Some([blank, rest @ ..]) = bytes[at..].first_chunk::<17>()
                    && *blank < 0x80
                    && self.classes.ascii(*blank) == BLANK
                    && let Some(length) = self.classes.short_word(u128::from_le_bytes(*rest))
                    && length <= SHORT
                {
                    let start = at + 1;
                    at = start + length;
                    let key = Key::of(bytes, start, length);
                    let make = || packed(self.remembered(&text[start..at], false, &mut scratch));
                    let held = unpacked(memo.ends(key, make));
                    // A word of ASCII characters has tokens for its bytes, and one more at most.
                    Self::tell(start, held, sink);
                    continue;
                }
                let pretoken = self.pretoken(bytes, at);
                at = pretoken.end;
                let start = self.stretch(text, &pretoken);
                let odd = pretoken.flags & ODD != 0 || start != pretoken.word;
                let length = at - start;
                let mut make = || self.remembered(&text[start..at], odd, &mut scratch);
                let held = if length <= SHORT {
                    if length == 0 {
                        continue;
                    }
                    unpacked(memo.ends(Key::of(bytes, start, length), || packed(make())))
                } else if length <= LONG {
                    memo.long_ends(&bytes[start..at], make)
                } else {
                    LEFT
                };
                if !Self::tell(start, held, sink) {
                    self.unremembered(&text[start..at], start, odd, &mut scratch, guard, sink)?;
                }
            }
        }
        Ok(())
    }

    /// The tokens of the pretoken that starts at `at`, and where it ends.
    fn pretoken_tokens(
        &self,
        text: &str,
        at: usize,
        scratch: &mut Scratch,
        guard: &Guard<'_>,
        mut tell: impl FnMut(usize, Found<'_>),
    ) -> Result<usize> {
        let pretoken = self.pretoken(text.as_bytes(), at);
        let start = self.stretch(text, &pretoken);
        let end = pretoken.end;
        if start < end {
            let odd = pretoken.flags & ODD != 0 || start != pretoken.word;
            self.tokens(&text[start..end], odd, scratch, guard, |found| tell(start, found))?;
        }
        Ok(end)
    }
}

impl Engine for Unigram {
    fn walk(&self, text: &str, guard: &Guard<'_>, sink: &mut impl Sink) -> Result<()> {
        self.memos.with(|memo| self.pass(text, memo, guard, sink))
    }

    fn next_pretoken(&self, text: &str, at: usize) -> usize {
        self.pretoken(text.as_bytes(), at).end
    }

    fn count_piece(&self, pretoken: &str) -> Result<usize> {
        let mut count = 0;
        let mut scratch = Scratch::default();
        self.pretoken_tokens(pretoken, 0, &mut scratch, &Guard::never(), |_, _| count += 1)?;
        Ok(count)
    }

    fn looks_ahead(&self, _: &str) -> bool {
        false
    }

    /// A blank with a part of a word in front, both ASCII.
    fn certain_start(&self, text: &str, from: usize) -> Option<usize> {
        let is = |byte: u8, class: u8| byte < 0x80 && self.classes.ascii(byte) == class;
        let pairs = text.as_bytes().get(from..)?.windows(2);
        let at =
            pairs.enumerate().find(|(_, pair)| is(pair[0], classes::WORD) && is(pair[1], BLANK));
        at.map(|(at, _)| from + at + 1)
    }

    fn encode(&self, text: &str, guard: &Guard<'_>) -> Result<(Vec<u32>, Vec<usize>)> {
        let (mut ids, mut ends) = (Vec::new(), Vec::new());
        let mut scratch = Scratch::default();
        let (mut at, mut ask) = (0, ASK);
        while at < text.len() {
            if at >= ask {
                guard.check()?;
                ask = at + ASK;
            }
            at = self.pretoken_tokens(text, at, &mut scratch, guard, |start, found| {
                ids.push(self.model.id(found.rest, found.token));
                ends.push(start + found.end);
            })?;
        }
        Ok((ids, ends))
    }
}

/// Brings together the tokens that end with the same character of a stretch.
struct ByCharacter<'s> {
    stretch: &'s str,
    end: usize,
    count: usize,
}

impl<'s> ByCharacter<'s> {
    fn new(stretch: &'s str) -> Self {
        Self { stretch, end: 0, count: 0 }
    }

    /// A token ends at `end`, not before the last. Puts those that ended earlier: bits from a byte on,
    /// and how many tokens more there are than bits, which end with the last.
    #[inline]
    fn push(&mut self, end: usize, put: impl FnMut(usize, u64, usize)) {
        if end != self.end {
            self.settle(put);
            self.end = end;
        }
        self.count += 1;
    }

    fn settle(&mut self, mut put: impl FnMut(usize, u64, usize)) {
        let Self { stretch, end, count } = *self;
        if count > 0 {
            let width = stretch[..end].chars().next_back().map_or(1, char::len_utf8);
            let bits = count.min(width);
            put(end - bits, (1 << bits) - 1, count - bits);
        }
        self.count = 0;
    }
}

#[cfg(test)]
#[path = "unigram_tests.rs"]
mod tests;
