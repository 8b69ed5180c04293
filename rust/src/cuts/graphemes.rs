//! Grapheme borders of one text, answered without segmenting all of it.
//!
//! Here lives the shortcut: between most characters a border is certain from the two of them
//! alone, and where it is not, a bounded stretch is segmented. The rules themselves (extended
//! grapheme clusters of UAX #29, Unicode 17) are those of the crate `unicode-segmentation`.

use std::cell::OnceCell;

use unicode_segmentation::UnicodeSegmentation;

/// How many bytes a question may look back for a certain border, and ahead for the next one,
/// before the whole text is segmented instead.
const REACH: usize = 256;

/// How many marks in a row are stepped over one by one.
const GLANCES: usize = 4;

/// Answers questions about grapheme borders of one text without segmenting all of it.
///
/// Offsets are bytes; the start and the end of the text are borders. A question costs a bounded
/// amount of work. The first one that finds no certain border within reach (a megabyte of marks,
/// of flags, of joined emoji) pays once for a pass over the text, and the later ones profit.
pub struct Graphemes<'t> {
    text: &'t str,
    borders: OnceCell<Borders>,
}

impl<'t> Graphemes<'t> {
    /// Ready to answer about `text`, of which nothing is read yet.
    pub fn new(text: &'t str) -> Self {
        Self { text, borders: OnceCell::new() }
    }

    /// Whether a cluster ends or begins at `at`, which lies on a character boundary.
    #[inline]
    pub fn is_border(&self, at: usize) -> bool {
        let bytes = self.text.as_bytes();
        if at == 0 || at >= bytes.len() {
            return true;
        }
        let (left, right) = (bytes[at - 1], bytes[at]);
        if left < 0x80 && right < 0x80 {
            return left != b'\r' || right != b'\n';
        }
        let before = if left < 0x80 { left } else { lead(&bytes[..at]) };
        if is_plain_lead(before) && is_plain_lead(right) {
            return true;
        }
        self.is_border_beyond_ascii(at)
    }

    /// The last border at or before `at`, which may lie inside a character.
    #[inline]
    pub fn floor(&self, at: usize) -> usize {
        if at >= self.text.len() {
            return self.text.len();
        }
        if self.parts_ascii(at) { at } else { self.floor_anywhere(at) }
    }

    /// Whether a border lies at `at`, inside the text, between two characters of ASCII.
    #[inline]
    fn parts_ascii(&self, at: usize) -> bool {
        let bytes = self.text.as_bytes();
        at == 0 || bytes[at - 1] | bytes[at] < 0x80 && bytes[at] != b'\n'
    }

    fn floor_anywhere(&self, at: usize) -> usize {
        let at = char_floor(self.text, at);
        if self.is_border(at) { at } else { self.floor_inside(at) }
    }

    /// The first border at or after `at`, which may lie inside a character.
    #[inline]
    pub fn ceil(&self, at: usize) -> usize {
        if at >= self.text.len() {
            return self.text.len();
        }
        if self.parts_ascii(at) { at } else { self.ceil_anywhere(at) }
    }

    fn ceil_anywhere(&self, at: usize) -> usize {
        let mut at = char_ceil(self.text, at);
        if self.is_border(at) {
            return at;
        }
        for _ in 0..GLANCES {
            at = char_ceil(self.text, at + 1);
            match self.at_a_glance(at) {
                Some(true) => return at,
                Some(false) => {}
                None => break,
            }
        }
        if self.is_border(at) { at } else { self.ceil_inside(at) }
    }

    /// The first border after `at`; at the end of the text, the end.
    #[inline]
    pub fn next(&self, at: usize) -> usize {
        self.ceil(at.saturating_add(1))
    }

    /// The last border before `at`; at the start of the text, the start.
    #[inline]
    pub fn prev(&self, at: usize) -> usize {
        if at == 0 { 0 } else { self.floor(at.min(self.text.len()) - 1) }
    }

    fn is_border_beyond_ascii(&self, at: usize) -> bool {
        self.at_a_glance(at).unwrap_or_else(|| self.floor_inside(at) == at)
    }

    /// Whether a border lies at the character boundary `at`, where the characters next to it say
    /// so.
    fn at_a_glance(&self, at: usize) -> Option<bool> {
        let (Some(left), Some(right)) =
            (self.text[..at].chars().next_back(), self.text[at..].chars().next())
        else {
            return Some(true);
        };
        match (kind(left), kind(right)) {
            (left_kind, right_kind) if is_certain(left, left_kind, right, right_kind) => Some(true),
            // A mark joins anything but a control.
            (Kind::Mark | Kind::Solid, Kind::Mark) => Some(false),
            (Kind::Plain, Kind::Mark) if left.is_alphabetic() => Some(false),
            (Kind::Mark, Kind::Solid) if self.is_marked_only(at) => Some(true),
            _ => None,
        }
    }

    /// Whether nothing but a few plain marks stands between `at` and the character they mark, so
    /// that no joiner and no virama binds the two sides.
    fn is_marked_only(&self, at: usize) -> bool {
        let mut kinds = self.text[..at].chars().rev().take(8).map(kind);
        kinds.find(|&kind| kind != Kind::Mark).is_some_and(|base| base != Kind::Unsure)
    }

    /// [`Self::floor`] of a character boundary inside the text, by segmenting.
    #[cold]
    fn floor_inside(&self, at: usize) -> usize {
        if let Some(borders) = self.borders.get() {
            return borders.floor(at);
        }
        let Some(anchor) = self.anchor(at) else { return self.borders().floor(at) };
        // Whether a border lies at `at` follows from the text up to and with the character there.
        let end = char_ceil(self.text, at + 1);
        let stretch = self.text[anchor..end].grapheme_indices(true);
        stretch.map(|(offset, _)| anchor + offset).next_back().unwrap_or(anchor)
    }

    /// [`Self::ceil`] of a character boundary that is no border, by segmenting.
    #[cold]
    fn ceil_inside(&self, at: usize) -> usize {
        if let Some(borders) = self.borders.get() {
            return borders.ceil(at);
        }
        let Some(anchor) = self.anchor(at) else { return self.borders().ceil(at) };
        let end = char_floor(self.text, at + REACH);
        let mut stretch = self.text[anchor..end].grapheme_indices(true);
        match stretch.find(|(offset, _)| anchor + offset >= at) {
            Some((offset, _)) => anchor + offset,
            None if end == self.text.len() => end,
            None => self.borders().ceil(at),
        }
    }

    /// The nearest certain border at or before `at`, if there is one within reach.
    fn anchor(&self, at: usize) -> Option<usize> {
        let low = char_floor(self.text, at.saturating_sub(REACH));
        let mut border = at;
        let mut right = self.text[at..].chars().next()?;
        let mut right_kind = kind(right);
        for (offset, left) in self.text[low..at].char_indices().rev() {
            let left_kind = kind(left);
            if is_certain(left, left_kind, right, right_kind) {
                return Some(border);
            }
            (border, right, right_kind) = (low + offset, left, left_kind);
        }
        (low == 0).then_some(0)
    }

    fn borders(&self) -> &Borders {
        self.borders.get_or_init(|| Borders::of(self.text))
    }
}

/// All borders of a text, found in one pass.
struct Borders {
    /// Bit `i % 64` of word `i / 64` is set when a border lies at byte `i`.
    bits: Vec<u64>,
    /// For each word, the last border before it; 0 for the first.
    before: Vec<usize>,
    /// For each word, the first border after it.
    after: Vec<usize>,
}

impl Borders {
    fn of(text: &str) -> Self {
        let words = text.len() / 64 + 1;
        let mut bits = vec![0_u64; words];
        let starts = text.grapheme_indices(true).map(|(start, _)| start);
        for border in starts.chain([text.len()]) {
            bits[border / 64] |= 1 << (border % 64);
        }
        let (mut before, mut after) = (vec![0; words], vec![text.len(); words]);
        for word in 1..words {
            before[word] = last_bit(bits[word - 1], word - 1).unwrap_or(before[word - 1]);
        }
        for word in (1..words).rev() {
            after[word - 1] = first_bit(bits[word], word).unwrap_or(after[word]);
        }
        Self { bits, before, after }
    }

    fn floor(&self, at: usize) -> usize {
        let word = at / 64;
        let up_to = u64::MAX >> (63 - at % 64);
        last_bit(self.bits[word] & up_to, word).unwrap_or(self.before[word])
    }

    fn ceil(&self, at: usize) -> usize {
        let word = at / 64;
        let onward = u64::MAX << (at % 64);
        first_bit(self.bits[word] & onward, word).unwrap_or(self.after[word])
    }
}

fn first_bit(bits: u64, word: usize) -> Option<usize> {
    (bits != 0).then(|| word * 64 + bits.trailing_zeros() as usize)
}

fn last_bit(bits: u64, word: usize) -> Option<usize> {
    (bits != 0).then(|| word * 64 + 63 - bits.leading_zeros() as usize)
}

/// The first byte of the last character of `bytes`, if that has two or three bytes.
#[inline]
fn lead(bytes: &[u8]) -> u8 {
    match bytes {
        [.., lead @ 0xC0..=0xFF, _] | [.., lead @ 0xE0..=0xFF, _, _] => *lead,
        _ => 0xFF,
    }
}

/// Whether all characters that begin with this byte are [`Kind::Plain`]: ASCII, most of
/// Latin, Cyrillic and Han.
#[inline]
fn is_plain_lead(byte: u8) -> bool {
    matches!(byte, 0..=0x7F | 0xC3..=0xCB | 0xD0..=0xD1 | 0xE4..=0xE9)
}

fn char_floor(text: &str, at: usize) -> usize {
    if at >= text.len() {
        return text.len();
    }
    (0..=at).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0)
}

fn char_ceil(text: &str, at: usize) -> usize {
    (at..text.len()).find(|&i| text.is_char_boundary(i)).unwrap_or(text.len())
}

/// What is known of a character without the full tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Joins nothing: `Grapheme_Cluster_Break` is Other or a control, and the character is
    /// neither an `Extended_Pictographic` nor a consonant that may form a conjunct.
    Plain,
    /// Joins no plain or solid neighbour, though it may join through what stands between or
    /// around: pictographs (through a joiner), Indic consonants (through a virama), Hangul
    /// syllables (with single jamo).
    Solid,
    /// Joins what precedes it, and binds nothing that follows.
    Mark,
    /// Joins what follows it.
    Prepend,
    /// Anything else: marks, joiners, regional indicators, jamo, scripts not listed.
    Unsure,
}

/// Whether a border between two neighbours follows from their kinds alone.
fn is_certain(left: char, left_kind: Kind, right: char, right_kind: Kind) -> bool {
    match (left_kind, right_kind) {
        (Kind::Plain, Kind::Plain) => left != '\r' || right != '\n',
        (Kind::Plain | Kind::Solid, Kind::Plain | Kind::Solid) => true,
        // Only a prepended character joins a plain one from the left.
        (Kind::Unsure | Kind::Mark, Kind::Plain) => true,
        _ => false,
    }
}

/// The kind of a character. Conservative: a character may be called unsure though it is plain.
///
/// Whole blocks are listed where no character of them joins; a test compares every one with the
/// crate, so that a new version of Unicode cannot make this wrong unnoticed.
#[inline]
fn kind(c: char) -> Kind {
    match c as u32 {
        0xA9 | 0xAE => Kind::Solid,
        // What most text consists of, before the long table.
        0..0x300 | 0x400..=0x482 | 0x3041..=0x3098 | 0x309B..=0x30FF | 0x4E00..=0x9FFF => {
            Kind::Plain
        }
        0xAC00..=0xD7A3 => Kind::Solid,
        code => kind_in_table(code),
    }
}

fn kind_in_table(code: u32) -> Kind {
    use Kind::{Mark, Plain, Prepend, Solid, Unsure};
    match code {
        // Han, kana, bopomofo, CJK punctuation, Yi.
        0x3030 | 0x303D | 0x3297 | 0x3299 => Solid,
        0x2E80..=0x3029 | 0x3031..=0x3098 | 0x309B..=0xA48F => Plain,
        0xF900..=0xFB1D | 0xFB1F..=0xFDFF => Plain,
        0xFE10..=0xFE19 | 0xFE30..=0xFF9D | 0xFFE0..=0xFFEF => Plain,
        0x20000..=0x323AF => Plain,
        // Greek, Cyrillic, Armenian, Hebrew, Arabic.
        0x370..=0x482 | 0x48A..=0x590 | 0x5BE | 0x5C8..=0x5FF => Plain,
        0x606..=0x60F | 0x61B..=0x64A | 0x660..=0x66F | 0x671..=0x6D5 => Plain,
        0x6EE..=0x6FF => Plain,
        // Thai, Lao.
        0xE01..=0xE30 | 0xE32 | 0xE3F..=0xE46 | 0xE4F..=0xE5B => Plain,
        0xE81..=0xEB0 | 0xEB2 | 0xEC0..=0xEC6 | 0xED0..=0xEDF => Plain,
        // Letters and digits of the Indic scripts, Tibetan, Myanmar, Khmer.
        0x904..=0x939 | 0x93D | 0x958..=0x961 | 0x964..=0x980 => Solid,
        0x985..=0x9B9 | 0x9DC..=0x9E1 | 0x9E6..=0x9FC => Solid,
        0xA05..=0xA39 | 0xA59..=0xA6F | 0xA85..=0xAB9 | 0xAE6..=0xAF9 => Solid,
        0xB05..=0xB39 | 0xB5C..=0xB61 | 0xB66..=0xB77 | 0xB83..=0xBB9 | 0xBE6..=0xBFA => Solid,
        0xC05..=0xC39 | 0xC58..=0xC61 | 0xC66..=0xC6F | 0xC85..=0xCB9 | 0xCE6..=0xCEF => Solid,
        0xD05..=0xD3A | 0xD5F..=0xD61 | 0xD66..=0xD7F | 0xD85..=0xDC6 | 0xDE6..=0xDEF => Solid,
        0xF00..=0xF17 | 0xF40..=0xF6C | 0x1000..=0x102A | 0x103F..=0x1055 => Solid,
        0x1780..=0x17B3 | 0x17D4..=0x17DC | 0x17E0..=0x17F9 => Solid,
        // Georgian, Ethiopic, Latin and Greek with accents.
        0x10A0..=0x10FF | 0x1200..=0x135C | 0x1360..=0x1399 => Plain,
        0x1E00..=0x1FFF | 0xA720..=0xA7FF => Plain,
        // Punctuation, symbols, arrows, mathematics, boxes, pictographs.
        0x203C | 0x2049 => Solid,
        0x2000..=0x200B | 0x200E..=0x20CF => Plain,
        0x2100..=0x2BFF => Solid,
        0x1F000..=0x1F0FF | 0x1F200..=0x1F3FA | 0x1F400..=0x1FAFF => Solid,
        // Marks: accents, points, and the vowel signs of Indic scripts but for those that bind
        // consonants.
        0x300..=0x34E | 0x350..=0x36F | 0x591..=0x5BD | 0x64B..=0x65F | 0x670 => Mark,
        0x900..=0x903 | 0x93A..=0x93C | 0x93E..=0x94C | 0x94E..=0x94F | 0x951..=0x957 => Mark,
        0x962..=0x963 | 0x981..=0x983 | 0x9BC | 0x9BE..=0x9C4 | 0x9C7..=0x9C8 | 0x9CB..=0x9CC => {
            Mark
        }
        0xA01..=0xA03 | 0xA3C | 0xA3E..=0xA42 | 0xA47..=0xA48 | 0xA4B..=0xA4C | 0xA70..=0xA71 => {
            Mark
        }
        0xA81..=0xA83 | 0xABC | 0xABE..=0xAC5 | 0xAC7..=0xAC9 | 0xACB..=0xACC | 0xB01..=0xB03 => {
            Mark
        }
        0xBBE..=0xBC2
        | 0xBC6..=0xBC8
        | 0xBCA..=0xBCD
        | 0xC00..=0xC04
        | 0xC3E..=0xC44
        | 0xC46..=0xC48
        | 0xC4A..=0xC4C
        | 0xC81..=0xC83 => Mark,
        0xCBE..=0xCC4
        | 0xCC6..=0xCC8
        | 0xCCA..=0xCCD
        | 0xD00..=0xD03
        | 0xD3E..=0xD44
        | 0xD46..=0xD48
        | 0xD4A..=0xD4C => Mark,
        0xE31 | 0xE33..=0xE3A | 0xE47..=0xE4E | 0xEB1 | 0xEB3..=0xEBC | 0xEC8..=0xECE => Mark,
        0x600..=0x605 | 0x6DD | 0x70F | 0x890..=0x891 | 0x8E2 | 0xD4E => Prepend,
        0x110BD | 0x110CD | 0x111C2..=0x111C3 | 0x113D1 | 0x1193F | 0x11941 => Prepend,
        0x11A84..=0x11A89 | 0x11D46 | 0x11F02 => Prepend,
        _ => Unsure,
    }
}

#[cfg(test)]
#[path = "graphemes_tests.rs"]
mod tests;
