//! Lines and paragraphs.

use super::blank_lines;
use crate::chars::is_line_break;
use crate::text::Text;

/// Reports the offset behind every line break in `start..end`; the pair CR LF is one.
pub fn lines(text: &Text<'_>, start: usize, end: usize, found: &mut impl FnMut(usize)) {
    breaks(text, start, end, |at| {
        found(at);
        at
    });
}

/// Reports where each paragraph after the first starts: at the first line with something visible
/// behind a blank line, a form feed or a paragraph separator.
pub fn paragraphs(text: &Text<'_>, start: usize, end: usize, found: &mut impl FnMut(usize)) {
    let bytes = text.str.as_bytes();
    let rare = text.has_rare_breaks();
    let mut look = |at: usize| {
        // Most lines are followed by a letter: nothing to look for.
        if at < end && bytes[at].is_ascii_graphic() && !(rare && is_strong(text.str, at)) {
            return at;
        }
        // And most blanks are of ASCII.
        let (mut i, mut line) = (at, None);
        while !rare && i < end {
            match bytes[i] {
                b' ' | b'\t' => i += 1,
                b'\n' | b'\r' => {
                    i += 1;
                    line = Some(i);
                }
                b if b.is_ascii_graphic() => {
                    line.into_iter().for_each(&mut *found);
                    return i;
                }
                _ => break,
            }
        }
        let visible = text.skip_blanks(at, end);
        let blank = &text.str[at..visible];
        if visible < end && (is_strong(text.str, at) || blank.contains(is_line_break)) {
            let line = blank.rfind(is_line_break).map_or(0, |i| i + width(&blank[i..]));
            found(at + line);
        }
        visible
    };
    // Where a visible character of ASCII stands behind a break, no paragraph ends.
    let (mut at, mut from) = (start, start);
    while !rare && let Some(window) = bytes[from..end].first_chunk() {
        let mut bits = blank_lines::may_begin(window);
        while bits != 0 {
            let i = from + bits.trailing_zeros() as usize;
            bits &= bits - 1;
            if i >= at && !(bytes[i] == b'\r' && bytes[i + 1] == b'\n') {
                at = look(i + 1);
            }
        }
        from = (from + blank_lines::WINDOW).max(at);
    }
    breaks(text, from.max(at), end, look);
}

/// The bytes of the first character.
fn width(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

/// Calls `found` with the offset behind each line break; the search goes on where it says.
fn breaks(text: &Text<'_>, start: usize, end: usize, mut found: impl FnMut(usize) -> usize) {
    let bytes = &text.str.as_bytes()[..end];
    let mut at = start;
    if text.has_rare_breaks() {
        while let Some(next) = after_any_break(bytes, at) {
            at = found(next);
        }
        return;
    }
    for i in memchr::memchr2_iter(b'\n', b'\r', &bytes[start..]) {
        let i = start + i;
        if i < at || (bytes[i] == b'\r' && bytes.get(i + 1) == Some(&b'\n')) {
            continue;
        }
        at = found(i + 1);
    }
}

/// Whether the break that ends at `at` separates paragraphs by itself.
fn is_strong(text: &str, at: usize) -> bool {
    matches!(text[..at].chars().next_back(), Some('\u{c}' | '\u{2029}'))
}

/// The offset behind the next line break of any kind. NEL is C2 85; LS and PS are E2 80 A8 and
/// E2 80 A9.
fn after_any_break(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        at += bytes[at..].iter().position(|&b| matches!(b, 0x0a..=0x0d | 0xc2 | 0xe2))?;
        match (bytes[at], bytes.get(at + 1), bytes.get(at + 2)) {
            (b'\r', Some(b'\n'), _) => return Some(at + 2),
            (0x0a..=0x0d, _, _) => return Some(at + 1),
            (0xc2, Some(0x85), _) => return Some(at + 2),
            (0xe2, Some(0x80), Some(0xa8 | 0xa9)) => return Some(at + 3),
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(f: impl Fn(&Text<'_>, usize, usize, &mut dyn FnMut(usize)), text: &str) -> Vec<usize> {
        let mut found = Vec::new();
        f(&Text::new(text, text.is_ascii()), 0, text.len(), &mut |at| found.push(at));
        found
    }

    #[test]
    fn every_kind_of_line_break_ends_a_line_once() {
        let cases: [(&str, &[usize]); 6] = [
            ("a\nb\r\nc\rd", &[2, 5, 7]),
            ("a\u{85}b\u{2028}c\u{2029}d", &[3, 7, 11]),
            ("\u{c}a\u{b}", &[1, 3]),
            ("no break here â ê \u{c3}", &[]),
            ("", &[]),
            ("\n\n", &[1, 2]),
        ];
        for (text, want) in cases {
            assert_eq!(all(|t, a, b, f| lines(t, a, b, &mut |x| f(x)), text), want, "{text:?}");
        }
    }

    #[test]
    fn a_paragraph_starts_at_the_line_behind_a_blank_line() {
        let cases: [(&str, &[usize]); 8] = [
            ("a\nb", &[]),
            ("a\n\nb", &[3]),
            ("a\r\n\r\nb", &[5]),
            ("a\r\nb", &[]),
            ("a\n \t\n  b\n\n\n c", &[5, 11]),
            ("a\u{c}b", &[2]),
            ("a\u{2029}b", &[4]),
            ("a\n\n", &[]),
        ];
        for (text, want) in cases {
            let got = all(|t, a, b, f| paragraphs(t, a, b, &mut |x| f(x)), text);
            assert_eq!(got, want, "{text:?}");
        }
    }
}
