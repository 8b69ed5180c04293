//! Where the next pretoken ends: patterns (`patterns.rs`), written out by hand.
//!
//! A pretoken is what the byte-pair merge never reaches across. Each scanner is *memoryless*: the
//! end depends on the text from `at` on and on nothing before it, for the patterns hold no
//! look-behind. The only look-ahead is in the alternatives for white space, `\s++$` and
//! `\s+(?!\S)`, so a pretoken that is not blank throughout keeps its end when the text after it
//! changes or goes. `ruler/tokens.rs` builds on both.
//!
//! Every scanner reads a stretch at most a fixed number of times over a whole text.

use super::classes::{
    BLANK, LETTER, LOWER, NEWLINE, NUMBER, OTHER, PREFIX, UPPER, class, ideographs, run,
};
use super::masks::Masks;

/// A pretoken pattern.
pub(super) trait Scan {
    /// The end of the pretoken that starts at `at`, which lies before the end of the text.
    fn next(text: &[u8], at: usize) -> usize;

    /// Bit `i` is set if a pretoken is certain to start at `at + i`, where `masks` are of `text[at..]`
    /// and one starts at `at`. None is left out before the last one told.
    fn starts(masks: &Masks, text: &[u8], at: usize) -> u64;
}

/// `'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s`
pub(super) struct Gpt2;

impl Scan for Gpt2 {
    #[inline(always)]
    fn next(text: &[u8], at: usize) -> usize {
        let (mut flags, length) = class(text, at);
        let mut after = at + length;
        if text[at] == b'\'' {
            match (text.get(at + 1), text.get(at + 2)) {
                (Some(b's' | b'd' | b'm' | b't'), _) => return at + 2,
                (Some(b'l'), Some(b'l')) | (Some(b'v' | b'r'), Some(b'e')) => return at + 3,
                _ => {}
            }
        } else if text[at] == b' ' {
            let (next, next_length) = class(text, after);
            if next & (LETTER | NUMBER | OTHER) != 0 {
                (flags, after) = (next, after + next_length);
            }
        }
        // Each character is in just one of the three, or blank.
        match flags & (LETTER | NUMBER | OTHER) {
            0 => Blanks::from(text, at).all_but_the_last(),
            class => run(text, after, class),
        }
    }

    #[inline(always)]
    fn starts(masks: &Masks, text: &[u8], at: usize) -> u64 {
        masks.gpt2(text, at)
    }
}

/// `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+|
/// ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s`
pub(super) type Cl100k = Words<true, 3>;

/// As [`Cl100k`] without `\s++$`.
pub(super) type Llama3 = Words<false, 3>;

/// As [`Llama3`] with `\p{N}` in place of `\p{N}{1,3}`.
pub(super) type Qwen2 = Words<false, 1>;

/// The pattern of [`Cl100k`], with or without `\s++$` (`CLOSING`) and with up to `DIGITS` numbers.
pub(super) struct Words<const CLOSING: bool, const DIGITS: usize>;

impl<const CLOSING: bool, const DIGITS: usize> Scan for Words<CLOSING, DIGITS> {
    #[inline(always)]
    fn next(text: &[u8], at: usize) -> usize {
        let (flags, length) = class(text, at);
        let after = at + length;
        if flags & LETTER != 0 {
            return run(text, after, LETTER);
        }
        if flags & PREFIX != 0 {
            if let Some(end) = contraction(text, at) {
                return end;
            }
            let (next, next_length) = class(text, after);
            if next & LETTER != 0 {
                return run(text, after + next_length, LETTER);
            }
            if flags & OTHER != 0 || (text[at] == b' ' && next & OTHER != 0) {
                return newlines(text, run(text, after, OTHER));
            }
        }
        if flags & NUMBER != 0 {
            return digits::<DIGITS>(text, after);
        }
        let blank = Blanks::from(text, at);
        if CLOSING && blank.closing { blank.end } else { blank.cut() }
    }

    #[inline(always)]
    fn starts(masks: &Masks, text: &[u8], at: usize) -> u64 {
        masks.words::<DIGITS>(text, at)
    }
}

/// `[^\r\n\p{L}\p{N}]?[U]*[L]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|
/// [^\r\n\p{L}\p{N}]?[U]+[L]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|
/// \p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
/// with `U` = [`UPPER`] and `L` = [`LOWER`].
pub(super) struct O200k;

impl Scan for O200k {
    #[inline(always)]
    fn next(text: &[u8], at: usize) -> usize {
        let (flags, length) = class(text, at);
        let after = at + length;
        if flags & LETTER != 0 {
            return match word(text, at) {
                Word::First(end) | Word::Second(end) => end,
                Word::None => after,
            };
        }
        if flags & PREFIX != 0 {
            match (word(text, after), flags & UPPER != 0) {
                (Word::First(end), _) | (Word::Second(end), false) => return end,
                // A mark is a word by the first alternative, without a prefix, before the
                // second alternative is tried.
                (_, true) => return contraction(text, after).unwrap_or(after),
                (Word::None, false) => {}
            }
            if flags & OTHER != 0 || (text[at] == b' ' && class(text, after).0 & OTHER != 0) {
                return newlines_and_slashes(text, run(text, after, OTHER));
            }
        }
        if flags & NUMBER != 0 {
            return digits::<3>(text, after);
        }
        Blanks::from(text, at).cut()
    }

    #[inline(always)]
    fn starts(masks: &Masks, text: &[u8], at: usize) -> u64 {
        masks.o200k(text, at)
    }
}

/// How an o200k word without its prefix is matched.
enum Word {
    /// By `[U]*[L]+`, to here.
    First(usize),
    /// By `[U]+[L]*`, to here.
    Second(usize),
    None,
}

/// The word that starts at `at`.
///
/// `[U]*` takes the whole run of upper-half characters. If a character of the lower half alone
/// follows, `[L]+` goes on from there. If not, `[U]*` gives back characters until one of them is
/// in both halves; that one is the last such in the run, and `[L]+` ends right after it, since
/// what follows is of the upper half alone or the run's end. If the run holds none, the second
/// alternative takes the run as it is.
#[inline(always)]
fn word(text: &[u8], start: usize) -> Word {
    let mut at = start;
    let mut both = start;
    loop {
        let (flags, length) = class(text, at);
        if flags & UPPER != 0 {
            at += length;
            if flags & LOWER != 0 {
                at = ideographs(text, at);
                both = at;
            }
        } else if flags & LOWER != 0 {
            let end = run(text, at + length, LOWER);
            return Word::First(contraction(text, end).unwrap_or(end));
        } else {
            break;
        }
    }
    if both > start {
        return Word::First(contraction(text, both).unwrap_or(both));
    }
    if at > start { Word::Second(contraction(text, at).unwrap_or(at)) } else { Word::None }
}

/// The end of `(?i:'s|'t|'re|'ve|'m|'ll|'d)` at `at`, if it stands there.
#[inline(always)]
pub(super) fn contraction(text: &[u8], at: usize) -> Option<usize> {
    if text.get(at) != Some(&b'\'') {
        return None;
    }
    let letter = |n: usize| text.get(at + n).map_or(0, |byte| byte | 0x20);
    match (letter(1), letter(2)) {
        (b's' | b'd' | b'm' | b't', _) => Some(at + 2),
        (b'l', b'l') | (b'v' | b'r', b'e') => Some(at + 3),
        // U+017F, long s, folds to s; the only letter of the seven with a fold beyond ASCII.
        _ if text.get(at + 1..at + 3) == Some("\u{17f}".as_bytes()) => Some(at + 3),
        _ => None,
    }
}

/// `\p{N}{1,MOST}` of which the first character ends at `at`.
#[inline]
fn digits<const MOST: usize>(text: &[u8], mut at: usize) -> usize {
    for _ in 1..MOST {
        let (flags, length) = class(text, at);
        if flags & NUMBER == 0 {
            break;
        }
        at += length;
    }
    at
}

/// `[\r\n]*`.
#[inline]
fn newlines(text: &[u8], mut at: usize) -> usize {
    while let Some(b'\r' | b'\n') = text.get(at) {
        at += 1;
    }
    at
}

/// `[\r\n/]*`.
#[inline]
fn newlines_and_slashes(text: &[u8], mut at: usize) -> usize {
    while let Some(b'\r' | b'\n' | b'/') = text.get(at) {
        at += 1;
    }
    at
}

/// A run of white space.
struct Blanks {
    /// Where it ends.
    end: usize,
    /// The end of its last newline.
    newline: Option<usize>,
    /// Where its last character starts, if it has more than one.
    last: Option<usize>,
    /// Whether the text ends with it.
    closing: bool,
}

impl Blanks {
    #[inline]
    fn from(text: &[u8], start: usize) -> Self {
        let mut end = start;
        let (mut newline, mut last) = (None, None);
        loop {
            let (flags, length) = class(text, end);
            if flags & BLANK == 0 {
                return Self { end, newline, last, closing: end == text.len() };
            }
            if end > start {
                last = Some(end);
            }
            end += length;
            if flags & NEWLINE != 0 {
                newline = Some(end);
            }
        }
    }

    /// `\s*[\r\n]+`, else `\s+(?!\S)`, else `\s`.
    #[inline]
    fn cut(&self) -> usize {
        self.newline.unwrap_or_else(|| self.all_but_the_last())
    }

    /// `\s+(?!\S)`, else `\s`.
    #[inline]
    fn all_but_the_last(&self) -> usize {
        match self.last {
            Some(last) if !self.closing => last,
            _ => self.end,
        }
    }
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
