//! Tables of text: CSV and its like, one block with the first record as its header.
//!
//! The records are found by `csv-core`, so that a line break inside of quotes ends none.

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use super::markdown::line_end;
use super::{Block, Blocks, Kind};

/// What separates the fields of a record, in the order in which ties are decided.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// Reads the one block of a table whose fields are separated by `delimiter`.
#[must_use]
pub fn blocks(text: &str, delimiter: u8) -> Blocks {
    let mut found = Blocks::default();
    let mut records = records(text, delimiter);
    if let Some((start, header)) = records.next() {
        let end = text.trim_end().len();
        let end = line_end(text, end.max(start));
        // A header without records is a table of one row.
        let head = if header < end { header } else { start };
        found.blocks.push(Block { head, ..Block::new(Kind::Table, start, end) });
    }
    found
}

/// What most often separates the fields of the first record, outside of quotes; a comma if nothing
/// does.
#[must_use]
pub fn delimiter(text: &str) -> u8 {
    let Some((start, end)) = records(text, DELIMITERS[0]).next() else { return DELIMITERS[0] };
    let mut counts = [0_usize; DELIMITERS.len()];
    let first = &text[start..end];
    for at in marks(first, |byte| DELIMITERS.contains(&byte)) {
        let found = DELIMITERS.iter().position(|&mark| mark == first.as_bytes()[at]);
        found.into_iter().for_each(|i| counts[i] += 1);
    }
    let most = counts.iter().copied().max().unwrap_or(0);
    counts.iter().position(|&count| count == most).map_or(DELIMITERS[0], |i| DELIMITERS[i])
}

/// Where a record has marks between its fields. A quote opens at the start of a field alone, as for the
/// reader of records; in `5" pipe` it is a letter.
pub fn marks(record: &str, is_mark: impl Fn(u8) -> bool) -> impl Iterator<Item = usize> {
    let (mut quoted, mut opens) = (false, true);
    record.bytes().enumerate().filter_map(move |(at, byte)| {
        let mark = !quoted && is_mark(byte);
        let quote = byte == b'"' && (quoted || opens);
        quoted ^= quote;
        // Behind the closing quote another one is part of the field, which goes on.
        opens = mark || quote;
        mark.then_some(at)
    })
}

/// The records of a table, as spans of bytes with their line break. Blank lines are none.
pub fn records(text: &str, delimiter: u8) -> impl Iterator<Item = (usize, usize)> {
    let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let reader = ReaderBuilder::new().delimiter(delimiter).build();
    Records { text, reader, at }
}

struct Records<'t> {
    text: &'t str,
    reader: Reader,
    at: usize,
}

impl Iterator for Records<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text.as_bytes();
        // Where nothing but blanks is left no record starts, though a reader would find one.
        while self.at < bytes.len() {
            let line = line_end(self.text, self.at);
            if !self.text[self.at..line].trim().is_empty() {
                break;
            }
            self.at = line;
        }
        if self.at == bytes.len() {
            return None;
        }
        let start = self.at;
        let (mut field, mut ends) = ([0; 4096], [0; 64]);
        loop {
            let (result, read, _, _) =
                self.reader.read_record(&bytes[self.at..], &mut field, &mut ends);
            self.at += read;
            match result {
                ReadRecordResult::Record => break,
                // The reader drops a byte order mark; what is not blank is a record all the same.
                ReadRecordResult::End => {
                    self.at = bytes.len();
                    break;
                }
                ReadRecordResult::InputEmpty => self.at = bytes.len(),
                ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {}
            }
        }
        // The reader leaves the second character of CR LF to the next record.
        if bytes[..self.at].ends_with(b"\r") && bytes.get(self.at) == Some(&b'\n') {
            self.at += 1;
        }
        Some((start, self.at))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::blocks::laws;

    fn seen(text: &str) -> Vec<&str> {
        records(text, delimiter(text)).map(|(start, end)| &text[start..end]).collect()
    }

    #[test]
    fn records_keep_the_line_breaks_in_quotes() {
        assert_eq!(
            seen("\u{feff}a,b\r\n\"x\ny\",2\r\n\r\n \n3,\"say \"\"no\"\"\"\n"),
            ["a,b\r\n", "\"x\ny\",2\r\n", "3,\"say \"\"no\"\"\"\n"]
        );
        assert_eq!(seen("a;b,c;d\n1;2;3"), ["a;b,c;d\n", "1;2;3"]);
        assert_eq!(seen("a\tb\r1\t2"), ["a\tb\r", "1\t2"]);
        assert_eq!(seen("\"never closed\n1,2\n"), ["\"never closed\n1,2\n"]);
        assert_eq!(seen(" \n\n"), [""; 0]);
        assert_eq!(
            seen("5\" pipe;a,b;\"c;\"\"d\"\n1;2;3"),
            ["5\" pipe;a,b;\"c;\"\"d\"\n", "1;2;3"]
        );
        assert_eq!(delimiter("5\" pipe;a,b;\"c;,,,\"\"d\"\n1;2;3"), b';');
        assert_eq!(seen("word\nmore"), ["word\n", "more"]);
    }

    #[test]
    fn a_table_is_one_block_with_a_header() {
        let text = "\n\"a\nb\",c\n1,2\n\n";
        let found = blocks(text, b',');
        laws::check(text, &found, |_| false);
        let block = found.blocks[0];
        assert_eq!(&text[block.start..block.head], "\"a\nb\",c\n");
        assert_eq!(&text[block.start..block.end], "\"a\nb\",c\n1,2\n");
        let alone = blocks("a,b\n", b',').blocks[0];
        assert_eq!((alone.start, alone.head, alone.end), (0, 0, 4));
    }

    fn is_blank(text: &str) -> bool {
        text.trim_start_matches('\u{feff}').trim().is_empty()
    }

    const PARTS: &[&str] = &[",", "\"", "\"\"", "a", "\n", "\r\n", "\r", ";", "\t", "|", " "];

    proptest! {
        #[test]
        fn any_text_keeps_the_laws(text in laws::texts(PARTS)) {
            let mark = delimiter(&text);
            laws::check(&text, &blocks(&text, mark), |_| false);
            let mut end = 0;
            for (start, next) in records(&text, mark) {
                prop_assert!(end <= start && start < next);
                prop_assert!(is_blank(&text[end..start]));
                end = next;
            }
            prop_assert!(is_blank(&text[end..]));
        }
    }
}
