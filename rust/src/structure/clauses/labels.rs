//! What a line starts with: the number of a clause, or something that only looks like one.

use super::numbers::{Style, bracketed, counted, items, number, styles};
use super::words::{reads, word};

/// What a line starts with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// "Part 2", "Chapter IV".
    Part,
    /// "Schedule 2", "Annex A".
    Attached,
    /// "Article 7", "Section 7.2(b)", "§ 7".
    Named,
    /// "7.2", "7."
    Numbered,
    /// "(a)", "iv)", "b.": the styles that it may be of, with its value in each.
    Item(Vec<(Style, u32)>),
}

/// The number that a line starts with.
#[derive(Clone, Debug)]
pub(super) struct Label<'t> {
    pub(super) mark: Mark,
    /// The word before it, in lower case: "section", "schedule". Empty where there is none.
    pub(super) word: &'static str,
    /// The parts of a number; of an item none.
    pub(super) parts: Vec<u32>,
    /// The items behind a number, as in "7(b)".
    pub(super) tail: &'t str,
    /// As it is written, without the word, brackets of an item kept: "7.2", "VII", "(a)".
    pub(super) written: &'t str,
    /// Where the words behind it start, in the line.
    pub(super) behind: usize,
    /// Whether what follows reads like the middle of a sentence: only the next number in order is
    /// believed.
    pub(super) weak: bool,
}

/// The number of a clause at the start of a line; the line without its break.
pub(super) fn label(line: &str) -> Option<Label<'_>> {
    let start = marks(line);
    let rest = &line[start..];
    let first = rest.chars().next()?;
    let mut found = if first == '(' {
        item(rest)?
    } else if first.is_ascii_digit() {
        numbered(rest)?
    } else if first == '§' || first.is_alphabetic() {
        named(rest).or_else(|| item(rest))?
    } else {
        return None;
    };
    found.behind += start;
    // An entry of a table of contents ends with the number of a page.
    (!is_entry(&line[found.behind..])).then_some(found)
}

/// Behind the marks of headings, lists, quotes and bold text.
fn marks(line: &str) -> usize {
    // A byte order mark may stand before all of them.
    let mut at = line.len() - line.trim_start_matches('\u{feff}').trim_start().len();
    loop {
        let rest = &line[at..];
        let hashes = rest.bytes().take_while(|&byte| byte == b'#').count();
        let mark = match rest.as_bytes().first() {
            Some(b'#') if hashes <= 6 => hashes,
            Some(b'>') => 1,
            Some(b'-' | b'+' | b'*') if rest[1..].starts_with([' ', '\t']) => 1,
            Some(b'*') if rest.starts_with("**") => 2,
            Some(b'_') if rest.starts_with("__") => 2,
            _ if rest.starts_with('•') => '•'.len_utf8(),
            _ => return at,
        };
        let after = &rest[mark..];
        at += mark + (after.len() - after.trim_start().len());
    }
}

/// "7.2", "7.", "7A": a number, then a blank.
fn numbered(rest: &str) -> Option<Label<'_>> {
    let (parts, length) = number(rest)?;
    let bytes = rest.as_bytes();
    let written = &rest[..length];
    let tail_length = items(&rest[length..]);
    let mut behind = length + tail_length;
    let marked = bytes.get(behind).is_some_and(|byte| matches!(byte, b'.' | b')' | b':'));
    if bytes.get(behind) == Some(&b')') && parts.len() == 1 && tail_length == 0 {
        return item(rest);
    }
    behind += usize::from(marked);
    behind += usize::from(rest[behind..].starts_with("**")) * 2;
    let gap = rest[behind..].len() - rest[behind..].trim_start().len();
    let words = &rest[behind + gap..];
    if (gap == 0 && !words.is_empty()) || (words.is_empty() && !marked && parts.len() == 1) {
        return None;
    }
    let weak = reads(words, &parts)?;
    // "7 Payment" may be anything: a mark or a wide gap says that it is a number of its own.
    let set_off = marked || gap > 1 || rest[behind..].starts_with('\t');
    let weak = weak || (parts.len() == 1 && !set_off && words.split_whitespace().count() > 8);
    Some(Label {
        mark: Mark::Numbered,
        word: "",
        parts,
        tail: &rest[length..length + tail_length],
        written,
        behind: behind + gap,
        weak,
    })
}

/// "(a) words", "a) words", "b. words".
fn item(rest: &str) -> Option<Label<'_>> {
    let (name, length) = if let Some(length) = bracketed(rest) {
        (&rest[1..length - 1], length)
    } else {
        let length = rest.bytes().take(6).take_while(u8::is_ascii_alphanumeric).count();
        let closed = match rest.as_bytes().get(length)? {
            b')' => true,
            // "A. Smith" is a name.
            b'.' => rest[..length].bytes().all(|byte| byte.is_ascii_lowercase()),
            _ => false,
        };
        if !closed {
            return None;
        }
        (&rest[..length], length + 1)
    };
    let styles = styles(name);
    let after = &rest[length..];
    let words = after.trim_start();
    if styles.is_empty() || (!words.is_empty() && words.len() == after.len()) {
        return None;
    }
    Some(Label {
        mark: Mark::Item(styles),
        word: "",
        parts: Vec::new(),
        tail: "",
        written: name,
        behind: rest.len() - words.len(),
        weak: false,
    })
}

/// "Section 7.2(b) Words", "Article IV", "§ 7", "Schedule 2: Words".
fn named(rest: &str) -> Option<Label<'_>> {
    let (mark, word, length) = word(rest)?;
    // A title begins with a capital.
    if rest.chars().next().is_some_and(char::is_lowercase) {
        return None;
    }
    let gap = rest[length..].len() - rest[length..].trim_start_matches([' ', '\t', '\u{a0}']).len();
    let at = length + gap;
    if gap == 0 && word != "§" {
        return None;
    }
    let (parts, digits) = counted(&rest[at..], &mark)?;
    let tail = items(&rest[at + digits..]);
    let end = at + digits + tail;
    let after = rest[end..].trim_start_matches("**");
    let words = after.trim_start();
    let begins = |c: char| {
        c.is_uppercase()
            || matches!(c, '"' | '“' | '[' | '(' | '‘' | '*' | '«')
            || (c.is_alphabetic() && !c.is_lowercase())
    };
    let (titled, behind) = match after.chars().next() {
        None => (true, rest.len()),
        Some('.' | ':' | '–' | '—' | '-') => {
            let words = after.trim_start_matches(['.', ':', '–', '—', '-', ' ', '\t']);
            (after.len() > words.len() + 1 || words.is_empty(), rest.len() - words.len())
        }
        Some(c) if c.is_whitespace() => {
            let words = words.trim_start_matches(['–', '—', '-', ':', ' ', '\t']);
            (words.starts_with(begins) || words.is_empty(), rest.len() - words.len())
        }
        Some(_) => return None,
    };
    titled.then_some(Label {
        mark,
        word,
        parts,
        tail: &rest[at + digits..end],
        written: &rest[at..at + digits],
        behind,
        weak: false,
    })
}

/// Whether words are an entry of a table of contents: leaders or a gap, and the number of a page.
fn is_entry(words: &str) -> bool {
    let words = words.trim_end();
    let title = words.trim_end_matches(|c: char| c.is_ascii_digit());
    if title.len() == words.len() || title.is_empty() {
        return false;
    }
    let bare = title.trim_end();
    let gap = &title[bare.len()..];
    bare.ends_with(['…', '·', '_'])
        || bare.ends_with("..")
        || bare.ends_with(". .")
        || gap.contains('\t')
        || gap.len() > 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(line: &str) -> Option<String> {
        let label = label(line)?;
        let strength = if label.weak { "?" } else { "" };
        Some(
            format!("{}{}{} {}", label.word, label.written, label.tail, strength).trim().to_owned(),
        )
    }

    #[test]
    fn numbers_of_clauses_are_read_in_every_form() {
        for (line, want) in [
            ("7.2  Invoices fall due thirty days after issue.", "7.2"),
            ("7.2.1 the Supplier shall", "7.2.1 ?"),
            ("7. Payment", "7"),
            ("## 7 Payment", "7"),
            ("- (a) deliver the goods;", "a"),
            ("    (iv) and install them.", "iv"),
            ("b) pay", "b"),
            ("Article 7", "article7"),
            ("ARTICLE VII - Payment", "articleVII"),
            ("§ 7 Zahlung", "§7"),
            ("§7a Verzug", "§7a"),
            ("Section 7(b) Notice", "section7(b)"),
            ("Section 7.01. Payment.", "section7.01"),
            ("**Schedule 2**", "schedule2"),
            ("SCHEDULE 2: PRICES", "schedule2"),
            ("Annex A", "annexA"),
            ("**7.2 Payment.** Invoices fall due.", "7.2"),
            ("> 7.2 Payment", "7.2"),
            ("7A.1 Late payment", "7A.1"),
            ("0. Definitions", "0"),
        ] {
            assert_eq!(seen(line).as_deref(), Some(want), "{line}");
        }
    }

    #[test]
    fn false_friends_are_none() {
        for line in [
            "7.2 million dollars were paid",
            "7.2 Million",
            "30 days after issue",
            "5 January 2024",
            "1. Mai 2024",
            "2024.01.15 Released",
            "1.2.0 - 2024-01-15",
            "1.2.0 (2024-01-15)",
            "## 2.0 Released",
            "12.05.2024",
            "2024",
            "7",
            "7.2%",
            "0.1.0 Words",
            "007. Words",
            "7.2 % of the price",
            "1,000 Units",
            "7/2 Time",
            "3.5 GB of memory",
            "10.50 EUR",
            "Figure 7.2 Payment",
            "Table 3: Prices",
            "Page 7",
            "7 of 12",
            "7.2 Payment ........ 14",
            "7.2 Payment\t14",
            "Clause 7.2 does not bind customers",
            "Section 7, and what follows",
            "section 7 Payment",
            "Article 7 of the Treaty",
            "A. Smith signed it",
            "(see below)",
            "(2024) It was",
            "I am",
        ] {
            assert_eq!(seen(line), None, "{line}");
        }
    }
}
