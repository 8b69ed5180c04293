//! What a character is to a file: part of a word, white space, or in need of a closer look.
//!
//! One look into 256 bytes for ASCII, one into pages of 256 characters for the rest. The table is made
//! from the charsmap when a file is read.

use rustc_hash::FxHashMap;
use unicode_segmentation::UnicodeSegmentation;

use super::charsmap::Charsmap;
use super::lattice::META;
use crate::tokenizer::file::Chosen;

/// Part of a word that stays as it is, wherever it stands.
pub(super) const WORD: u8 = 0;
/// Part of a word that may not stay as it is, or with which something else may not.
pub(super) const ODD: u8 = 1;
/// White space before and after, at which words end.
pub(super) const BLANK: u8 = 2;
/// White space that may take what follows it with it when it is replaced.
pub(super) const TAKES: u8 = 4;
/// No grapheme cluster ends between it and what follows, white space as well.
pub(super) const GLUE: u8 = 8;

const PAGE: usize = 256;

pub(super) struct Classes {
    ascii: [u8; 256],
    /// Whether all visible ASCII characters are parts of words that stay as they are.
    visible: bool,
    /// The page of each 256 characters.
    pages: Vec<u8>,
    flags: Vec<[u8; PAGE]>,
}

/// What the charsmap does with strings that start with a character.
#[derive(Default)]
struct Start {
    /// Whether the character alone is replaced, and if so whether by white space and nothing else.
    replaced: Option<bool>,
    /// Whether longer strings start with it.
    longer: bool,
}

impl Classes {
    /// The classes for files without a normaliser.
    pub(super) fn plain() -> Chosen<Self> {
        Self::of(&FxHashMap::default(), &[])
    }

    /// Reads a charsmap, and tells the classes with it.
    pub(super) fn read(table: &[u8]) -> Chosen<(Charsmap, Self)> {
        let mut starts: FxHashMap<char, Start> = FxHashMap::default();
        let mut seconds = Vec::new();
        let map = Charsmap::read(table, |string, new| {
            let mut chars = string.chars();
            let Some(first) = chars.next() else { return };
            let start = starts.entry(first).or_default();
            match chars.next() {
                None => {
                    let blank = !new.is_empty() && new.chars().all(char::is_whitespace);
                    start.replaced = Some(blank);
                }
                Some(second) => {
                    start.longer = true;
                    seconds.push(second);
                }
            }
        })?;
        let classes = Self::of(&starts, &seconds)?;
        Ok((map, classes))
    }

    fn of(starts: &FxHashMap<char, Start>, seconds: &[char]) -> Chosen<Self> {
        let mut classes = Self {
            ascii: [WORD; 256],
            visible: false,
            pages: vec![0; 0x11_0000 / PAGE],
            flags: vec![[WORD; PAGE]],
        };
        let blanks = (0..=0x3000).filter_map(char::from_u32).filter(|c| c.is_whitespace());
        let none = Start::default();
        for c in blanks.chain(starts.keys().copied()) {
            let start = starts.get(&c).unwrap_or(&none);
            let control = is_control(c);
            let class = match start.replaced {
                // One of a control character's clusters is itself alone.
                Some(true) if control => BLANK,
                Some(true) if c.is_whitespace() => BLANK | TAKES,
                None if c.is_whitespace() && !start.longer => BLANK,
                None if !c.is_whitespace() => WORD,
                _ => ODD,
            };
            classes.set(c, class)?;
        }
        for &second in seconds {
            classes.set(second, ODD)?;
        }
        for c in PREPENDED.iter().flat_map(|&(first, last)| first..=last) {
            classes.set(c, ODD | GLUE)?;
        }
        classes.set(META, ODD)?;
        classes.visible = (b'!'..=b'~').all(|byte| classes.ascii(byte) == WORD);
        Ok(classes)
    }

    fn set(&mut self, c: char, class: u8) -> Chosen<()> {
        let code = c as usize;
        if code < 0x80 {
            self.ascii[code] = class;
        }
        let page = &mut self.pages[code / PAGE];
        if *page == 0 && class != WORD {
            *page = u8::try_from(self.flags.len()).map_err(|_| "its charsmap is too large")?;
            self.flags.push([WORD; PAGE]);
        }
        if *page != 0 {
            self.flags[usize::from(*page)][code % PAGE] = class;
        }
        Ok(())
    }

    /// The length of the word that `bytes`, the lowest first, start with, if it is of visible ASCII
    /// characters that stay as they are, and ASCII white space follows within the sixteen.
    #[inline(always)]
    pub(super) fn short_word(&self, bytes: u128) -> Option<usize> {
        const EACH: u128 = u128::MAX / 0xff;
        const HIGH: u128 = EACH * 0x80;
        // A byte's high bit: it is `!` or above; it is 0x7f or above.
        let seen = (bytes | HIGH) - EACH * 0x21;
        let above = ((bytes & !HIGH) + EACH) | bytes;
        let others = (!seen | above) & HIGH;
        let length = others.trailing_zeros() as usize / 8;
        let behind = (bytes >> (8 * (length & 15))) as u8;
        let whole = self.visible && (1..16).contains(&length) && behind < 0x80;
        (whole && self.ascii(behind) & BLANK != 0).then_some(length)
    }

    /// The class of an ASCII character.
    #[inline(always)]
    pub(super) fn ascii(&self, byte: u8) -> u8 {
        self.ascii[usize::from(byte)]
    }

    /// The class of the character that starts at `at`, and its length; its lead byte is `lead`.
    #[inline]
    pub(super) fn wide(&self, text: &[u8], at: usize, lead: u8) -> (u8, usize) {
        let tail = |n: usize| usize::from(text.get(at + n).copied().unwrap_or(0x80) & 0x3f);
        let lead = usize::from(lead);
        let (code, length) = if lead < 0xe0 {
            ((lead & 0x1f) << 6 | tail(1), 2)
        } else if lead < 0xf0 {
            ((lead & 0x0f) << 12 | tail(1) << 6 | tail(2), 3)
        } else {
            ((lead & 0x07) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3), 4)
        };
        let page = self.pages.get(code / PAGE).map_or(0, |&page| usize::from(page));
        (self.flags[page][code % PAGE], length)
    }
}

/// Whether a grapheme cluster ends before and after `c` whatever stands there (but for U+000D U+000A).
fn is_control(c: char) -> bool {
    let beside = |text: String| text.graphemes(true).count() == 2;
    beside(format!("a{c}")) && beside(format!("{c}\u{301}"))
}

/// Whether a grapheme cluster goes on behind `c`, whatever stands there.
pub(super) fn joins(c: char) -> bool {
    PREPENDED.iter().any(|&(first, last)| (first..=last).contains(&c))
}

/// Characters that a grapheme cluster goes on behind, whatever stands there.
const PREPENDED: [(char, char); 15] = [
    ('\u{600}', '\u{605}'),
    ('\u{6dd}', '\u{6dd}'),
    ('\u{70f}', '\u{70f}'),
    ('\u{890}', '\u{891}'),
    ('\u{8e2}', '\u{8e2}'),
    ('\u{d4e}', '\u{d4e}'),
    ('\u{110bd}', '\u{110bd}'),
    ('\u{110cd}', '\u{110cd}'),
    ('\u{111c2}', '\u{111c3}'),
    ('\u{113d1}', '\u{113d1}'),
    ('\u{1193f}', '\u{1193f}'),
    ('\u{11941}', '\u{11941}'),
    ('\u{11a84}', '\u{11a89}'),
    ('\u{11d46}', '\u{11d46}'),
    ('\u{11f02}', '\u{11f02}'),
];

#[cfg(test)]
mod tests {
    use unicode_segmentation::UnicodeSegmentation;

    use super::{is_control, joins};

    #[test]
    fn nothing_else_joins_with_a_space_behind() {
        for c in (0..=0x10_ffff).filter_map(char::from_u32) {
            assert_eq!(joins(c), format!("{c} ").graphemes(true).count() == 1, "{c:?}");
        }
    }

    #[test]
    fn white_space_joins_with_nothing_before() {
        for c in (0..=0x10_ffff).filter_map(char::from_u32).filter(|c| c.is_whitespace()) {
            for before in
                ["a", "\u{1100}", "\u{ac00}", "\u{1f1e6}", "\u{1f469}\u{200d}", "क\u{94d}"]
            {
                let text = format!("{before}{c}");
                let last = text.graphemes(true).next_back().unwrap();
                assert_eq!(last.chars().next(), Some(c), "{text:?}");
            }
            assert!(is_control(c) || c == ' ' || c > '\u{9f}');
        }
    }
}
