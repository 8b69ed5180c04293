//! The class of a character, as the pretoken patterns ask for it: one byte of flags.
//!
//! The tables are written by `build.rs` from `regex-syntax`, the source of the reference's own
//! regex classes. ASCII is one look into 256 bytes; the rest goes through pages of 256 characters.

/// `\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}`: may stand in the first half of an o200k word.
pub(super) const UPPER: u8 = 1;
/// `\p{Ll}\p{Lm}\p{Lo}\p{M}`: may stand in the second half of an o200k word.
pub(super) const LOWER: u8 = 2;
/// `\p{L}`.
pub(super) const LETTER: u8 = 4;
/// `\p{N}`.
pub(super) const NUMBER: u8 = 8;
/// `\s`, Unicode White_Space.
pub(super) const BLANK: u8 = 16;
/// `[\r\n]`.
pub(super) const NEWLINE: u8 = 32;
/// `[^\s\p{L}\p{N}]`.
pub(super) const OTHER: u8 = 64;
/// `[^\r\n\p{L}\p{N}]`: may precede a word as part of it.
pub(super) const PREFIX: u8 = 128;

/// Flags of ASCII characters; 0 for every byte of a longer one.
static ASCII: &[u8; 256] = include_bytes!(concat!(env!("OUT_DIR"), "/ascii.classes"));
static PAGES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/pages.classes"));
static BLOCKS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/blocks.classes"));

/// Flags of the character that starts at `at`, and its length; `(0, 0)` at the end of the text.
#[inline(always)]
pub(super) fn class(text: &[u8], at: usize) -> (u8, usize) {
    match text.get(at) {
        Some(&byte) if byte < 0x80 => (ASCII[byte as usize], 1),
        Some(&byte) => wide(text, at, byte),
        None => (0, 0),
    }
}

/// The end of the run, from `at`, of characters that bear any flag of `wanted`.
#[inline(always)]
pub(super) fn run(text: &[u8], mut at: usize, wanted: u8) -> usize {
    loop {
        let Some(&byte) = text.get(at) else { return at };
        if ASCII[byte as usize] & wanted != 0 {
            at += 1;
        } else if byte < 0x80 {
            return at;
        } else {
            let (flags, length) = wide(text, at, byte);
            if flags & wanted == 0 {
                return at;
            }
            at += length;
        }
    }
}

/// As [`class`], for a character of more than one byte with the lead byte `lead`.
#[inline]
fn wide(text: &[u8], at: usize, lead: u8) -> (u8, usize) {
    let (code, length) = decode(text, at, lead);
    let block = usize::from(PAGES[(code >> 8) as usize]);
    (BLOCKS[block << 8 | (code & 0xff) as usize], length)
}

/// The character of more than one byte that starts at `at` with the lead byte `lead`, and its length.
#[inline]
pub(super) fn decode(text: &[u8], at: usize, lead: u8) -> (u32, usize) {
    let tail = |n: usize| u32::from(text.get(at + n).copied().unwrap_or(0x80) & 0x3f);
    let lead = u32::from(lead);
    if lead < 0xe0 {
        ((lead & 0x1f) << 6 | tail(1), 2)
    } else if lead < 0xf0 {
        ((lead & 0x0f) << 12 | tail(1) << 6 | tail(2), 3)
    } else {
        ((lead & 0x07) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3), 4)
    }
}

/// Whether `text` is white space throughout.
pub(crate) fn is_blank(text: &[u8]) -> bool {
    run(text, 0, BLANK) == text.len()
}
