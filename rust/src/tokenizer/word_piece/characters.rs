//! What the normalizer and the pre-tokenizer of BERT make of each character.
//!
//! Both look at a character at a time, so a table tells all, with one exception: marks that are kept
//! and have a combining class are put in order with those around them (`Kinds::MANY`). The
//! rules are those of `normalizers/bert.rs` and `pre_tokenizers/bert.rs` of the crate `tokenizers`, and
//! the classes come from the crates that it takes them from, which know Unicode of about 2016. A test
//! compares every character under every setting. Pages of 256 characters are made when first met.

use std::sync::OnceLock;

use unicode_categories::UnicodeCategories;
use unicode_normalization_alignments::char::{canonical_combining_class, decompose_canonical};

use super::super::classes::decode;

/// Part of a word: becomes one character, `Page::mapped`.
pub(super) const WORD: u8 = 1;
/// Part of a word: becomes several characters, or may change places with a mark beside it.
pub(super) const MANY: u8 = 2;
/// A word by itself (punctuation, an ideograph): becomes one character.
pub(super) const ALONE: u8 = 4;
/// White space.
pub(super) const SPACE: u8 = 8;
/// Becomes nothing, and parts nothing.
pub(super) const GONE: u8 = 16;

/// The settings of a normalizer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) clean_text: bool,
    pub(super) handle_chinese_chars: bool,
    pub(super) strip_accents: bool,
    pub(super) lowercase: bool,
}

struct Page {
    kinds: [u8; 256],
    mapped: [char; 256],
}

pub(super) struct Characters {
    settings: Settings,
    /// Kinds of ASCII characters; 0 for every byte of a longer one.
    ascii: [u8; 256],
    pages: Box<[OnceLock<Box<Page>>]>,
}

impl Settings {
    /// The character in place of `c` once the text is cleaned; none if it is taken out.
    fn cleaned(self, c: char) -> Option<char> {
        if !self.clean_text || matches!(c, '\t' | '\n' | '\r') {
            return Some(c);
        }
        let out = matches!(c, '\0' | '\u{fffd}') || c.is_other();
        (!out).then_some(if c.is_whitespace() { ' ' } else { c })
    }

    /// The parts of `c` with their combining classes, and whether each is kept, before marks are put in
    /// order; each is lowercased later.
    pub(super) fn parts(self, c: char, mut part: impl FnMut(char, u8, bool)) {
        let Some(c) = self.cleaned(c) else { return };
        if self.strip_accents {
            decompose_canonical(c, |c| {
                part(c, canonical_combining_class(c), !c.is_mark_nonspacing());
            });
        } else {
            // Where nothing is decomposed, nothing is put in order.
            part(c, 0, true);
        }
    }

    pub(super) fn lower(self, c: char, mut each: impl FnMut(char)) {
        if self.lowercase { c.to_lowercase().for_each(each) } else { each(c) }
    }

    fn kind(self, c: char) -> (u8, char) {
        let mut only = None;
        let mut count = 0;
        let mut stays = true;
        self.parts(c, |c, class, kept| {
            if kept {
                stays &= class == 0;
                self.lower(c, |c| {
                    only = Some(c);
                    count += 1;
                });
            }
        });
        let Some(only) = only else { return (GONE, '\0') };
        let kind = if count > 1 || !stays {
            MANY
        } else if only.is_whitespace() {
            SPACE
        } else if only.is_ascii_punctuation()
            || only.is_punctuation()
            || self.handle_chinese_chars && is_ideograph(c)
        {
            ALONE
        } else {
            WORD
        };
        (kind, only)
    }
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{20000}'..='\u{2a6df}'
        | '\u{2a700}'..='\u{2b73f}' | '\u{2b740}'..='\u{2b81f}' | '\u{2b920}'..='\u{2ceaf}'
        | '\u{f900}'..='\u{faff}' | '\u{2f800}'..='\u{2fa1f}')
}

impl Characters {
    pub(super) fn new(settings: Settings) -> Self {
        let mut ascii = [0; 256];
        for (byte, kind) in (0..0x80).zip(&mut ascii) {
            *kind = settings.kind(char::from(byte)).0;
        }
        let pages = (0..0x1100).map(|_| OnceLock::new()).collect();
        Self { settings, ascii, pages }
    }

    pub(super) fn settings(&self) -> Settings {
        self.settings
    }

    #[inline]
    fn page(&self, code: u32) -> &Page {
        self.pages[(code >> 8) as usize].get_or_init(|| {
            let mut page = Page { kinds: [0; 256], mapped: ['\0'; 256] };
            let both = page.kinds.iter_mut().zip(&mut page.mapped);
            for (code, (kind, mapped)) in (code & !0xff..).zip(both) {
                if let Some(c) = char::from_u32(code) {
                    (*kind, *mapped) = self.settings.kind(c);
                }
            }
            Box::new(page)
        })
    }

    /// The kind of the character that starts at `at`, and its length; `(0, 0)` at the end of the text.
    #[inline]
    pub(super) fn kind(&self, text: &[u8], at: usize) -> (u8, usize) {
        match text.get(at) {
            None => (0, 0),
            Some(&byte) if byte < 0x80 => (self.ascii[usize::from(byte)], 1),
            Some(&byte) => {
                let (code, length) = decode(text, at, byte);
                (self.page(code).kinds[(code & 0xff) as usize], length)
            }
        }
    }

    /// As [`Characters::kind`], of a character itself, with what it becomes.
    #[inline]
    pub(super) fn mapped(&self, c: char) -> (u8, char) {
        let code = u32::from(c);
        let page = self.page(code);
        let at = (code & 0xff) as usize;
        (page.kinds[at], page.mapped[at])
    }

    /// The end of the run, from `at`, of characters of the kinds `wanted`.
    #[inline]
    pub(super) fn run(&self, text: &[u8], mut at: usize, wanted: u8) -> usize {
        loop {
            let (kind, length) = self.kind(text, at);
            if kind & wanted == 0 {
                return at;
            }
            at += length;
        }
    }
}

#[cfg(test)]
#[path = "characters_tests.rs"]
mod tests;
