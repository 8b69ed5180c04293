//! One text with what every cutter asks of it: grapheme borders, blanks, trimming.
//!
//! A blank is Unicode White_Space. Trimming drops whole clusters only: a blank that carries a
//! combining mark, or stands in the cluster of a prepended sign, is visible and stays.

use std::cell::OnceCell;

use crate::chars::is_line_break;
use crate::cuts::graphemes::Graphemes;

/// A text being cut. All offsets are bytes.
pub struct Text<'t> {
    /// The text itself.
    pub str: &'t str,
    /// Whether every byte is ASCII, as far as known without reading.
    pub ascii: bool,
    /// Its grapheme borders.
    pub graphemes: Graphemes<'t>,
    rare_breaks: OnceCell<bool>,
}

impl<'t> Text<'t> {
    /// Reads nothing. `ascii` may be false for an ASCII text: it is a shortcut, not a fact needed.
    #[must_use]
    pub fn new(str: &'t str, ascii: bool) -> Self {
        Self { str, ascii, graphemes: Graphemes::new(str), rare_breaks: OnceCell::new() }
    }

    /// Whether a line ends anywhere by something else than LF, CR or both; found once.
    #[must_use]
    pub fn has_rare_breaks(&self) -> bool {
        *self.rare_breaks.get_or_init(|| {
            let bytes = self.str.as_bytes();
            if self.ascii {
                memchr::memchr2(b'\x0b', b'\x0c', bytes).is_some()
            } else {
                has_rare_break(bytes)
            }
        })
    }

    /// The length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.str.len()
    }

    /// Whether there is no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.str.is_empty()
    }

    /// The first character at or after `at` (a border) that is no blank, as its cluster's start;
    /// `end` when there is none before it.
    #[must_use]
    #[inline]
    pub fn skip_blanks(&self, at: usize, end: usize) -> usize {
        let bytes = self.str.as_bytes();
        let mut i = at;
        if i < end && bytes[i].is_ascii_graphic() {
            return at;
        }
        while i < end {
            match bytes[i] {
                b' ' | b'\t'..=b'\r' => i += 1,
                0..=0x7f => break,
                _ => match self.str[i..].chars().next() {
                    Some(c) if c.is_whitespace() => i += c.len_utf8(),
                    _ => break,
                },
            }
        }
        if i >= end {
            end
        } else if i == at {
            at
        } else {
            self.graphemes.floor(i).max(at)
        }
    }

    /// The end of the last cluster in `start..at` that is not all blanks; `start` when there is none.
    #[must_use]
    #[inline]
    pub fn trim_end(&self, start: usize, at: usize) -> usize {
        let bytes = self.str.as_bytes();
        let mut i = at;
        if i > start && bytes[i - 1].is_ascii_graphic() {
            return at;
        }
        while i > start {
            match bytes[i - 1] {
                b' ' | b'\t'..=b'\r' => i -= 1,
                0..=0x7f => break,
                _ => match self.str[..i].chars().next_back() {
                    Some(c) if c.is_whitespace() => i -= c.len_utf8(),
                    _ => break,
                },
            }
        }
        if i <= start {
            start
        } else if i == at {
            at
        } else {
            self.graphemes.ceil(i).min(at)
        }
    }

    /// Where a chunk that may start at `at` starts once trimmed: at the first visible character's
    /// line, so that its indent stays, if that line starts within the chunk; else at the character.
    #[must_use]
    #[inline]
    pub fn trim_start(&self, at: usize, end: usize) -> usize {
        let first = self.skip_blanks(at, end);
        if first == end || first == at {
            return first;
        }
        let mut line = first;
        while line > 0 {
            let Some(c) = self.str[..line].chars().next_back() else { break };
            if is_line_break(c) {
                return line;
            }
            if line <= at {
                return first;
            }
            line -= c.len_utf8();
        }
        if line >= at { line } else { first }
    }

    /// `start..end` without the blanks around it; `None` when nothing visible is left.
    #[must_use]
    #[inline]
    pub fn trim(&self, start: usize, end: usize) -> Option<(usize, usize)> {
        let a = self.trim_start(start, end);
        if a == end {
            return None;
        }
        Some((a, self.trim_end(a, end)))
    }
}

/// Whether there is a VT, an FF, a NEL (C2 85), an LS or a PS (E2 80 A8 or A9).
fn has_rare_break(bytes: &[u8]) -> bool {
    /// Bytes that are asked together whether one of them may begin such a break.
    const WINDOW: usize = 64;
    let may = |byte: u8| byte.wrapping_sub(0x0b) < 2 || byte & 0xdf == 0xc2;
    let is = |at: usize| {
        matches!(bytes[at..], [0x0b | 0x0c, ..] | [0xc2, 0x85, ..] | [0xe2, 0x80, 0xa8 | 0xa9, ..])
    };
    let (windows, rest) = bytes.as_chunks::<WINDOW>();
    let last = bytes.len() - rest.len();
    // Without a branch in it, so that it becomes vector code.
    let any = |window: &[u8; WINDOW]| window.iter().fold(0, |any, &b| any | u8::from(may(b))) != 0;
    (0..).step_by(WINDOW).zip(windows).any(|(at, window)| any(window) && (at..at + WINDOW).any(is))
        || (last..bytes.len()).any(is)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_go_and_the_first_indent_stays() {
        let cases = [
            ("  \n\n    code\n  ", Some("    code")),
            ("   \n", None),
            ("", None),
            ("  a  ", Some("  a")),
            ("x", Some("x")),
            ("\u{2003}\u{a0}a\u{3000}", Some("\u{2003}\u{a0}a")),
            (" \u{301}b ", Some(" \u{301}b")),
            ("\u{600} \n", Some("\u{600} ")),
        ];
        for (text, want) in cases {
            let whole = Text::new(text, false);
            let got = whole.trim(0, text.len()).map(|(a, b)| &text[a..b]);
            assert_eq!(got, want, "{text:?}");
        }
    }

    #[test]
    fn rare_breaks_are_found_at_every_place() {
        let breaks = ["\x0b", "\x0c", "\u{85}", "\u{2028}", "\u{2029}"];
        let others = ["\n", "\r\n", "\r", "\u{c2}", "\u{2027}", "\u{20a8}", "\u{202a}", "\u{1105}"];
        for before in 0..140 {
            for (kind, rare) in [(&breaks[..], true), (&others[..], false)] {
                for middle in kind {
                    let text = format!("{}{middle}{}", "é".repeat(before), "n".repeat(before % 67));
                    assert_eq!(Text::new(&text, false).has_rare_breaks(), rare, "{text:?}");
                }
            }
        }
    }

    #[test]
    fn a_start_inside_a_line_drops_its_blanks() {
        let text = "one   two\n   three";
        let whole = Text::new(text, true);
        assert_eq!(whole.trim_start(3, text.len()), 6);
        assert_eq!(whole.trim_start(4, text.len()), 6);
        assert_eq!(whole.trim_start(9, text.len()), 10, "the line starts within the chunk");
        assert_eq!(whole.trim_start(10, text.len()), 10, "the chunk starts the line");
        assert_eq!(whole.trim_start(11, text.len()), 13);
    }
}
