//! Pretokens found 64 bytes at a time: one bit per byte for every class, and algebra over whole words.
//!
//! A window is the 64 bytes from the start of a pretoken on. The scanners of `scan.rs` are
//! memoryless, so nothing before the window matters and bits shifted in from there are zero; no
//! carry goes from window to window. What comes behind it does matter, so a start is told only
//! where it is certain, and the next window begins at the last one told. A window that tells none
//! behind its own (a long pretoken, a text that is not ASCII) leaves one pretoken to the scanner.
//!
//! Only the ASCII characters before the first other one count as the window. The rules, for a
//! pattern with `[^\r\n\p{L}\p{N}]?+\p{L}++` (`scan.rs` spells them all; letters `L`, numbers `N`,
//! white space `S`, newlines `[\r\n]`, `H` the white space that is none, and all others `O`):
//!
//! * *O* starts at the first of a run, unless a space stands before: ` ?[^\s\p{L}\p{N}]++` has
//!   taken that, for of a run of white space the last is left to what follows (`\s+(?!\S)`).
//! * *L* starts at the first of a run, unless a prefix stands before: any `H` (the last of its run,
//!   so it is left), or an `O` that starts (it is the only one of its run).
//! * *N* starts at the first of a run and after every `DIGITS` of it.
//! * *S*: newlines right behind `O` belong to it. Of the rest of the run, what ends with its last
//!   newline is one pretoken, what follows is another, but for its last, which always starts.
//! * Contractions are rare, so each is looked at alone.
//!
//! The pattern of gpt2 has a space for the only prefix, any number of `N`, and white space without a
//! rule for newlines. In that of o200k a word starts at a capital behind a small letter as well, and a
//! contraction belongs to the word before it unless that is the end of another one; a slash among the
//! newlines behind `O` ends what is told.
//!
//! Each rule but those for `H` looks back only. The last of a run of white space is known by what
//! follows, so a run that reaches the end of the window tells nothing but its start. The end of the text
//! is in no window that tells of it, so `\s++$` is the scanner's.
//!
//! Scanning alone is 3 to 4 times as fast as with the scanners on English and code.

use super::masks::{Lanes, Masks, WINDOW, below};
use super::memo::MOST;
use super::scan::{Scan, contraction};

/// Bytes at the end of a window of which a start is not told, so that one may read ahead a little.
const MARGIN: usize = 3;

/// The bits behind each of `bits`.
#[inline(always)]
fn behind(bits: u64) -> u64 {
    bits << 1
}

impl Masks {
    fn other(&self) -> u64 {
        below(self.known) & !(self.letter | self.number | self.blank)
    }

    /// How many bits of `starts` to trust: not those inside the run of white space at the end.
    #[inline(always)]
    fn certain(&self) -> u64 {
        let beyond = !below(self.known);
        let open = (self.blank | beyond).leading_ones() as usize;
        let run = WINDOW - open;
        below((run + 1).min(self.known.saturating_sub(MARGIN)))
    }

    /// Where white space starts behind `taken`, newlines that belong to what is before them; the
    /// rule with newlines.
    #[inline(always)]
    fn blanks(&self, taken: u64) -> u64 {
        let rest = self.blank & !taken;
        let first = rest & !behind(rest);
        let flat = self.blank & !self.newline;
        let last = flat & !(self.blank >> 1);
        // Runs of H behind a newline start unless a newline follows them.
        let lines = flat & behind(self.newline);
        let follows = flat.wrapping_add(lines) & !flat & self.blank;
        let lines = if follows == 0 { lines } else { lines & self.closed(flat, last) };
        first | last | lines
    }

    /// The runs of `flat` of which the last bit is in `last`.
    #[cold]
    fn closed(&self, flat: u64, last: u64) -> u64 {
        let flat = flat.reverse_bits();
        (flat & !flat.wrapping_add(last.reverse_bits())).reverse_bits()
    }

    /// Where numbers start, `digits` to a pretoken.
    #[inline(always)]
    fn numbers<const DIGITS: usize>(&self) -> u64 {
        let number = self.number;
        if DIGITS == 1 {
            return number;
        }
        let mut starts = number & !behind(number);
        let full = number & number << 1 & number << 2 & number << 3;
        let mut step = starts << 3 & full;
        while step != 0 {
            starts |= step;
            step = step << 3 & full;
        }
        starts
    }

    /// As `scan::Gpt2`.
    #[inline(always)]
    pub(super) fn gpt2(&self, text: &[u8], at: usize) -> u64 {
        let spaced = behind(self.space);
        let first = |class: u64| class & !behind(class) & !spaced;
        let other = first(self.other());
        let blank = self.blank & !behind(self.blank) | self.blank & !(self.blank >> 1);
        let mut starts = 1 | first(self.letter) | first(self.number) | other | blank;
        let mut quotes = other & self.quote & self.letter >> 1;
        while quotes != 0 {
            let quote = quotes.trailing_zeros();
            quotes &= quotes - 1;
            let length = match text.get(at + quote as usize + 1..).unwrap_or_default() {
                [b's' | b'd' | b'm' | b't', ..] => 2,
                [b'l', b'l', ..] | [b'v' | b'r', b'e', ..] => 3,
                _ => continue,
            };
            starts = starts & !(2 << quote) | (1 << length) << quote;
        }
        starts & self.certain()
    }

    /// As `scan::Words`.
    #[inline(always)]
    pub(super) fn words<const DIGITS: usize>(&self, text: &[u8], at: usize) -> u64 {
        let other = self.other();
        // Newlines behind O: the sum carries through each such run.
        let taken = self.newline & !self.newline.wrapping_add(self.newline & behind(other));
        let other = other & !behind(other) & !behind(self.space);
        let prefix = self.blank & !self.newline | other;
        let letter = self.letter & !behind(self.letter | prefix);
        let mut starts = 1 | letter | other | self.numbers::<DIGITS>() | self.blanks(taken);
        let mut quotes = other & self.quote & self.letter >> 1;
        while quotes != 0 {
            let quote = quotes.trailing_zeros() as usize;
            quotes &= quotes - 1;
            if let Some(end) = contraction(text, at + quote) {
                starts |= 1u64.checked_shl((end - at) as u32).unwrap_or(0);
            }
        }
        starts & self.certain()
    }

    /// As `scan::O200k`.
    #[inline(always)]
    pub(super) fn o200k(&self, text: &[u8], at: usize) -> u64 {
        let mut certain = self.certain();
        let other = self.other();
        let lines = self.newline | self.slash;
        let taken = lines & !lines.wrapping_add(self.newline & behind(other));
        // What follows a slash among those newlines is left to the scanner.
        let slashes = taken & self.slash;
        if slashes != 0 {
            certain &= slashes.wrapping_sub(1) & !slashes;
        }
        let taken = taken & self.newline;
        let other = other & !behind(other) & !behind(self.space);
        let prefix = self.blank & !self.newline | other;
        let letter = self.letter & !behind(self.letter | prefix);
        let humps = self.upper & behind(self.letter & !self.upper);
        let mut starts = 1 | letter | humps | other | self.numbers::<3>() | self.blanks(taken);
        let mut quotes = self.quote & behind(self.letter) & self.letter >> 1;
        let mut closed = 0;
        while quotes != 0 {
            let quote = quotes.trailing_zeros() as usize;
            quotes &= quotes - 1;
            // One right behind another is a prefix.
            if let Some(end) = contraction(text, at + quote).filter(|_| quote != closed) {
                closed = end - at;
                let end = 1u64.checked_shl(closed as u32).unwrap_or(0);
                starts = starts & !(end.wrapping_sub(1) & u64::MAX << quote) | end;
            }
        }
        starts & certain
    }
}

/// Pretokens that are enough for a batch.
const BATCH: usize = MOST - WINDOW;

/// Bytes for which the scanner goes on alone once a window has told nothing.
const ALONE: usize = 32;

/// A stretch of at most 64 bytes that starts with a pretoken, or one pretoken of any length.
#[derive(Clone, Copy)]
pub(super) struct Stretch {
    /// Where it starts.
    pub(super) at: usize,
    /// Bit `i` is set if a pretoken starts at `at + i`.
    pub(super) starts: u64,
}

/// Where some pretokens that follow each other start, and where the last of them ends.
pub(super) struct Starts {
    /// Eight are written at once, needed or not.
    at: [usize; Self::ROOM + 8],
    count: usize,
    stretches: [Stretch; BATCH],
    stretch_count: usize,
}

impl Starts {
    /// Pretokens that there is room for: a batch, and what one more window may tell.
    pub(super) const ROOM: usize = MOST;

    pub(super) fn new() -> Self {
        Self {
            at: [0; Self::ROOM + 8],
            count: 0,
            stretches: [Stretch { at: 0, starts: 0 }; BATCH],
            stretch_count: 0,
        }
    }

    /// The start of each pretoken, and the end of the last.
    #[inline(always)]
    pub(super) fn bounds(&self) -> &[usize] {
        &self.at[..=self.count]
    }

    /// The same pretokens, by stretches.
    #[inline(always)]
    pub(super) fn stretches(&self) -> &[Stretch] {
        &self.stretches[..self.stretch_count]
    }

    /// Finds a batch of pretokens from `from` on, where one starts, or those that start before `stop`.
    #[inline(always)]
    pub(super) fn fill<S: Scan, L: Lanes>(&mut self, text: &[u8], from: usize, stop: usize) {
        let mut at = from;
        let mut alone = from;
        let mut count = 0;
        let mut stretches = 0;
        while count < BATCH && at < stop && stretches < BATCH {
            let stretch = &mut self.stretches[stretches];
            stretches += 1;
            if at >= alone
                && let Some(window) = text[at..].first_chunk()
            {
                let starts = S::starts(&Masks::of::<L>(window), text, at);
                if starts > 1 {
                    // The last one is where the next window begins.
                    let last = 63 - starts.leading_zeros() as usize;
                    let starts = starts ^ 1 << last;
                    *stretch = Stretch { at, starts };
                    let more = starts.count_ones() as usize;
                    let mut rest = starts;
                    for slots in self.at[count..].chunks_exact_mut(8).take(more.div_ceil(8)) {
                        for slot in slots {
                            *slot = at + rest.trailing_zeros() as usize;
                            rest &= rest.wrapping_sub(1);
                        }
                    }
                    count += more;
                    at += last;
                    continue;
                }
                alone = at + ALONE;
            }
            *stretch = Stretch { at, starts: 1 };
            self.at[count] = at;
            count += 1;
            at = S::next(text, at);
        }
        self.at[count] = at;
        self.count = count;
        self.stretch_count = stretches;
    }
}

#[cfg(test)]
#[path = "windows_tests.rs"]
mod tests;
