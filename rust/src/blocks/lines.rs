//! The lines of a text, for the forms that are read by lines.

use memchr::memchr2_iter;

/// One line. Offsets are bytes of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// Where it starts.
    pub(super) start: usize,
    /// Where its first character stands that is not blank; `end` for a blank line.
    pub(super) first: usize,
    /// Behind its last character that is not blank; `first` for a blank line.
    pub(super) end: usize,
    /// The column of `first`; a tab leads to the next multiple of eight.
    pub(super) indent: usize,
}

/// The lines of a text. They are found once, before any is asked for.
#[derive(Debug)]
pub(super) struct Lines<'t> {
    pub(super) text: &'t str,
    lines: Vec<Line>,
    /// How often a line was asked for: the work of a reader.
    #[cfg(test)]
    pub(super) asked: std::cell::Cell<usize>,
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let bytes = text.as_bytes();
        let mut lines = Vec::new();
        let mut start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let breaks = memchr2_iter(b'\n', b'\r', bytes)
            .filter(|&at| bytes[at] == b'\n' || bytes.get(at + 1) != Some(&b'\n'));
        for at in breaks.map(|at| at + 1).chain([text.len()]) {
            if start < at {
                lines.push(Line::new(text, start, at));
            }
            start = at;
        }
        Self {
            text,
            lines,
            #[cfg(test)]
            asked: std::cell::Cell::default(),
        }
    }

    pub(super) fn get(&self, i: usize) -> Option<Line> {
        #[cfg(test)]
        self.asked.set(self.asked.get() + 1);
        self.lines.get(i).copied()
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// What a line says, without the blanks around it; nothing if there is no such line.
    pub(super) fn words(&self, i: usize) -> &'t str {
        self.get(i).map_or("", |line| &self.text[line.first..line.end])
    }

    /// Whether a line is blank or not there.
    pub(super) fn is_blank(&self, i: usize) -> bool {
        self.get(i).is_none_or(|line| line.is_blank())
    }
}

impl Line {
    fn new(text: &str, start: usize, next: usize) -> Self {
        let line = &text[start..next];
        let end = start + line.trim_end().len();
        let mut indent = 0;
        let mut first = end;
        for (at, c) in text[start..end].char_indices() {
            match c {
                '\t' => indent += 8 - indent % 8,
                _ if c.is_whitespace() => indent += 1,
                _ => {
                    first = start + at;
                    break;
                }
            }
        }
        Self { start, first, end, indent }
    }

    pub(super) fn is_blank(&self) -> bool {
        self.first == self.end
    }
}

/// The mark that a line is made of, repeated: a punctuation character of ASCII.
pub(super) fn rule(words: &str) -> Option<char> {
    let mark = words.chars().next().filter(char::is_ascii_punctuation)?;
    words.bytes().all(|byte| byte == mark as u8).then_some(mark)
}

/// The columns that a text takes in a font of one width: two for the wide characters of East Asia,
/// none for marks that combine.
pub(super) fn width(words: &str) -> usize {
    if words.is_ascii() {
        return words.len();
    }
    words
        .chars()
        .map(|c| match c {
            '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' | '\u{fe00}'..='\u{fe0f}' => 0,
            '\u{1100}'..='\u{115f}'
            | '\u{2e80}'..='\u{303e}'
            | '\u{3041}'..='\u{a4cf}'
            | '\u{ac00}'..='\u{d7a3}'
            | '\u{f900}'..='\u{faff}'
            | '\u{fe30}'..='\u{fe6f}'
            | '\u{ff00}'..='\u{ff60}'
            | '\u{ffe0}'..='\u{ffe6}'
            | '\u{1f300}'..='\u{1f64f}'
            | '\u{1f900}'..='\u{1f9ff}'
            | '\u{20000}'..='\u{3fffd}' => 2,
            _ => 1,
        })
        .sum()
}

/// The value of a Roman numeral in one case; none for what is not written as one would be.
pub(crate) fn roman(words: &str) -> Option<u32> {
    const SIGNS: [(&str, u32); 13] = [
        ("M", 1000),
        ("CM", 900),
        ("D", 500),
        ("CD", 400),
        ("C", 100),
        ("XC", 90),
        ("L", 50),
        ("XL", 40),
        ("X", 10),
        ("IX", 9),
        ("V", 5),
        ("IV", 4),
        ("I", 1),
    ];
    if words.is_empty() || words.len() > 15 {
        return None;
    }
    let upper = words.to_ascii_uppercase();
    if words != upper && words != words.to_ascii_lowercase() {
        return None;
    }
    let (mut rest, mut value) = (upper.as_str(), 0);
    for (sign, worth) in SIGNS {
        // Only these four may be repeated, and three times at most.
        let most = if matches!(sign, "M" | "C" | "X" | "I") { 3 } else { 1 };
        for _ in 0..most {
            if let Some(after) = rest.strip_prefix(sign) {
                (rest, value) = (after, value + worth);
            }
        }
    }
    // What is left is out of order; `IXI` would pass by its signs alone.
    let is_sound = rest.is_empty()
        && !["IXI", "IVI", "XCX", "XLX", "CMC", "CDC"].iter().any(|bad| upper.contains(bad));
    is_sound.then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_know_their_breaks_and_indents() {
        let lines = Lines::new("\u{feff}a\r\n\r\n \t b \rc");
        let seen: Vec<_> = (0..lines.len())
            .map(|i| (lines.get(i).unwrap().start, lines.get(i).unwrap().indent, lines.words(i)))
            .collect();
        assert_eq!(seen, [(3, 0, "a"), (6, 0, ""), (8, 9, "b"), (14, 0, "c")]);
        assert_eq!(Lines::new("").len(), 0);
        assert!(lines.is_blank(1) && lines.is_blank(4) && !lines.is_blank(3));
    }

    #[test]
    fn roman_numerals_are_read_as_they_are_written() {
        for (words, value) in
            [("I", 1), ("iv", 4), ("IX", 9), ("XLII", 42), ("MCMXCIX", 1999), ("mmm", 3000)]
        {
            assert_eq!(roman(words), Some(value), "{words}");
        }
        for words in ["", "IIII", "Iv", "VX", "IC", "IXI", "ABC", "VV", "LL", "IIX"] {
            assert_eq!(roman(words), None, "{words}");
        }
    }

    #[test]
    fn a_rule_is_one_mark() {
        assert_eq!(rule("===="), Some('='));
        assert_eq!(rule("=-="), None);
        assert_eq!(rule("aaa"), None);
        assert_eq!(rule(""), None);
        assert_eq!((width("abc"), width("漢字"), width("e\u{301}")), (3, 4, 1));
    }
}
