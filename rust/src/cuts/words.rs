//! Words: runs of anything but Unicode White_Space, and the parts UAX #29 sees in them.

use unicode_segmentation::UnicodeSegmentation;

use crate::error::Result;
use crate::guard::{ASK, Guard};

/// Reports the start of every word in `start..end`. A word that `start` stands inside counts.
pub fn starts(text: &str, start: usize, end: usize, found: &mut impl FnMut(usize)) {
    let bytes = text.as_bytes();
    let mut blank = true;
    let mut i = start;
    while i < end {
        let b = bytes[i];
        let (is_blank, len) = if b < 0x80 {
            (matches!(b, b' ' | b'\t'..=b'\r'), 1)
        } else {
            match text[i..].chars().next() {
                Some(c) => (c.is_whitespace(), c.len_utf8()),
                None => break,
            }
        };
        if blank && !is_blank {
            found(i);
        }
        blank = is_blank;
        i += len;
    }
}

/// Reports the word boundaries of UAX #29 in `start..end`.
pub fn parts(
    text: &str,
    start: usize,
    end: usize,
    guard: &Guard<'_>,
    found: &mut impl FnMut(usize),
) -> Result<()> {
    let mut asked = 0;
    for (at, _) in text[start..end].split_word_bound_indices() {
        if at - asked > ASK {
            guard.check()?;
            asked = at;
        }
        found(start + at);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_runs_of_anything_but_white_space() {
        let text = "\u{1c}a\u{85}b\u{3000}漢 字\u{200b}x  ";
        let mut found = Vec::new();
        starts(text, 0, text.len(), &mut |at| found.push(&text[at..]));
        let want: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(found.len(), want.len());
        assert!(found.iter().zip(want).all(|(a, b)| a.starts_with(b)));
    }
}
