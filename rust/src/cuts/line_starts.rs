//! Does a line begin something new: a heading, a list item?
//!
//! Only as much as the end of a sentence needs; what a document's blocks are is told by `blocks`.

/// Whether a list item or a heading begins at `at`, the first non-blank of a line.
pub(super) fn begins_block(text: &str, at: usize) -> bool {
    let rest = &text[at..];
    let blank = |i: usize| rest.get(i..).is_some_and(begins_blank);
    match rest.as_bytes().first() {
        Some(b'-' | b'*' | b'+') => blank(1),
        Some(b'#') => is_heading(text, at),
        Some(b'(') => numbering(&rest[1..])
            .is_some_and(|len| rest[1 + len..].starts_with(')') && blank(len + 2)),
        Some(b'0'..=b'9') => numbering(rest).is_some_and(|len| {
            let after = &rest[len..];
            after.starts_with(['.', ')']) && blank(len + 1) || after.starts_with(['、', '．'])
        }),
        Some(b'a'..=b'z' | b'A'..=b'Z') => {
            numbering(rest).is_some_and(|len| rest[len..].starts_with(')') && blank(len + 1))
        }
        Some(_) => {
            let mut chars = rest.chars();
            let first = chars.next();
            first.is_some_and(|c| "•‣◦▪●○".contains(c))
                || first.is_some_and(|c| "一二三四五六七八九十".contains(c))
                    && chars.next() == Some('、')
        }
        None => false,
    }
}

/// The length of a short number, a single letter or a small Roman number at the start of `rest`.
fn numbering(rest: &str) -> Option<usize> {
    let run = |of: &[u8]| rest.bytes().take(5).take_while(|b| of.contains(b)).count();
    let (digits, roman) = (run(b"0123456789"), run(b"ivx"));
    match (digits, roman) {
        (1..=3, _) => Some(digits),
        (0, 2..=4) => Some(roman),
        (0, _) if rest.starts_with(|c: char| c.is_ascii_alphabetic()) => Some(1),
        _ => None,
    }
}

/// Whether an ATX heading begins at `at`, the first non-blank of a line.
pub(super) fn is_heading(text: &str, at: usize) -> bool {
    let rest = &text[at..];
    let level = rest.bytes().take(7).take_while(|&b| b == b'#').count();
    (1..=6).contains(&level) && begins_blank(&rest[level..])
}

fn begins_blank(rest: &str) -> bool {
    rest.chars().next().is_none_or(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_begin() {
        for text in [
            "- a", "* a", "+\ta", "-", "-\n", "• a", "•a", "1. a", "12) a", "123. a", "a) b",
            "Z) b", "iv) b", "(1) b", "(a) b", "(iii) b", "# a", "###### a", "#", "1、a", "二、a",
            "1．a",
        ] {
            assert!(begins_block(text, 0), "{text:?}");
        }
    }

    #[test]
    fn nothing_begins() {
        for text in [
            "",
            "a",
            "-a",
            "--",
            "-5",
            "**a**",
            "1.5",
            "1",
            "1999. a",
            "a. b",
            "ab) c",
            "(a b)",
            "(2019) a",
            "#a",
            "####### a",
            "§ a",
            "(",
            "(1",
            "1.a",
            "二人、",
        ] {
            assert!(!begins_block(text, 0), "{text:?}");
        }
    }
}
