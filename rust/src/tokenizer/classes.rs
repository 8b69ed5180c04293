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
        } else if is_ideograph(byte) && wanted & (UPPER | LOWER | LETTER) != 0 {
            at = ideographs(text, at);
        } else {
            let (flags, length) = wide(text, at, byte);
            if flags & wanted == 0 {
                return at;
            }
            at += length;
        }
    }
}

/// Whether a character is told by its first byte to be a letter of neither case, three bytes long: most
/// of Chinese, and of the syllables of Korean.
#[inline(always)]
pub(super) fn is_ideograph(lead: u8) -> bool {
    matches!(lead, 0xe5..=0xe9 | 0xeb | 0xec)
}

/// The end of the run of such characters from `at`.
#[inline(always)]
pub(super) fn ideographs(text: &[u8], mut at: usize) -> usize {
    while text.get(at).is_some_and(|&lead| is_ideograph(lead)) {
        at += 3;
    }
    at
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
    let tail = |byte: u8| u32::from(byte & 0x3f);
    let head = u32::from(lead);
    if let (0xe0..0xf0, Some(&[_, b, c])) = (lead, text.get(at..).and_then(<[u8]>::first_chunk)) {
        return ((head & 0x0f) << 12 | tail(b) << 6 | tail(c), 3);
    }
    let tail = |n: usize| tail(text.get(at + n).copied().unwrap_or(0x80));
    if lead < 0xe0 {
        ((head & 0x1f) << 6 | tail(1), 2)
    } else if lead < 0xf0 {
        ((head & 0x0f) << 12 | tail(1) << 6 | tail(2), 3)
    } else {
        ((head & 0x07) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3), 4)
    }
}

/// Whether `text` is white space throughout.
pub(crate) fn is_blank(text: &[u8]) -> bool {
    run(text, 0, BLANK) == text.len()
}
