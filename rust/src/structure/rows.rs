//! The rows of tables: where each starts, which of its cells say what it is, and whether it is empty.
//!
//! Of CSV and its like, rows are the reader's records; elsewhere they are lines, and of a table that
//! is drawn, what stands between two rules.

use memchr::{memchr_iter, memchr2_iter};

use crate::blocks::table::{delimiter, marks, records};
use crate::blocks::{Block, Blocks, Format, Kind};
use crate::cuts::Level;
use crate::error::Result;
use crate::structure::carried::{Carried, PART};
use crate::text::Text;

/// The chunk is a row of a table without a value.
pub const EMPTY: u32 = 8;

/// One row, its line break included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Where it starts, behind the header of its table.
    pub start: usize,
    /// Where the next starts.
    pub end: usize,
    /// Behind the cells that say which row it is; `start` where there are none.
    pub key: usize,
    /// Whether no cell has a value.
    pub empty: bool,
}

/// The rows of all tables of a text, in order, and the places where cells start.
#[derive(Debug, Default)]
pub struct Rows {
    /// In the order of the text.
    pub rows: Vec<Row>,
    /// Where a cell starts that is not the first of its row.
    cells: Vec<usize>,
}

impl Rows {
    /// Reads the rows of the tables among `blocks`. The first `keys` cells say which row it is.
    #[must_use]
    pub fn read(text: &str, blocks: &[Block], form: Option<Format>, keys: usize) -> Self {
        let mut found = Self::default();
        let mark = match form {
            Some(Format::Csv) => Some(delimiter(text)),
            Some(Format::Tsv) => Some(b'\t'),
            _ => None,
        };
        for block in blocks.iter().filter(|block| block.kind == Kind::Table) {
            match mark {
                Some(mark) => {
                    let rest = &text[block.head..block.end];
                    for (start, end) in records(rest, mark) {
                        found.record(text, block.head + start, block.head + end, mark, keys);
                    }
                }
                None => found.lines(text, block, keys),
            }
        }
        found
    }

    /// The rows of a table by its lines.
    fn lines(&mut self, text: &str, block: &Block, keys: usize) {
        let first = text[block.start..block.end].trim_start();
        let drawn = first.starts_with("+-") || first.starts_with("+=");
        let bytes = text.as_bytes();
        let (mut start, mut at) = (None, block.head);
        // In a drawn table a row starts behind a rule, which belongs to the row before.
        let mut opens = true;
        while at < block.end {
            let next = line_end(bytes, at, block.end);
            let line = text[at..next].trim();
            let rule = is_rule(line, drawn);
            if !rule && !line.is_empty() && (opens || !drawn) {
                if let Some(start) = start.replace(at) {
                    self.lined(text, start, at, keys, drawn);
                }
                opens = false;
            }
            opens |= rule;
            at = next;
        }
        if let Some(start) = start {
            self.lined(text, start, block.end, keys, drawn);
        }
    }

    /// A row whose cells stand between bars.
    fn lined(&mut self, text: &str, start: usize, end: usize, keys: usize, drawn: bool) {
        let words = text[start..end].trim_end();
        let bytes = words.as_bytes();
        let first = words.len() - words.trim_start().len();
        let barred = bytes.get(first) == Some(&b'|');
        // The first bar of a line that starts with one opens its first cell; an escaped one is a letter.
        let is_mark = |&i: &usize| i > first && bytes[i - 1] != b'\\';
        let marks = memchr_iter(b'|', bytes).filter(is_mark);
        // A cell that is drawn ends with its mark.
        let key = self.cells(start, words.len(), marks, keys).map(|at| at + usize::from(barred));
        let is_value = |c: char| !(c.is_whitespace() || c == '|' || drawn && "-=+:".contains(c));
        let empty = !words.contains(is_value);
        self.rows.push(Row { start, end, key: key.unwrap_or(start), empty });
    }

    /// Takes the cells of a row between marks; the mark behind those that say which row it is.
    fn cells(
        &mut self,
        start: usize,
        length: usize,
        marks: impl Iterator<Item = usize>,
        keys: usize,
    ) -> Option<usize> {
        let mut key = None;
        for (i, at) in marks.enumerate() {
            if i + 1 == keys {
                key = Some(start + at);
            }
            if at + 1 < length {
                self.cells.push(start + at + 1);
            }
        }
        key
    }

    /// A record of CSV.
    fn record(&mut self, text: &str, start: usize, end: usize, mark: u8, keys: usize) {
        let words = text[start..end].trim_end();
        let marks = marks(words, |byte| byte == mark);
        let key = self.cells(start, words.len(), marks, keys).unwrap_or(start);
        let is_value = |c: char| !(c.is_whitespace() || c == '"' || c == char::from(mark));
        self.rows.push(Row { start, end, key, empty: !words.contains(is_value) });
    }

    /// Where the sections start that rows are, and what stands between tables. The first row of a
    /// table takes the header along, and the headings right above.
    #[must_use]
    pub fn sections(&self, text: &str, blocks: &[Block]) -> Vec<usize> {
        let mut starts = vec![0];
        let mut row = 0;
        // Where the headings start that stand right above, if any do.
        let mut above = None;
        let mut behind = false;
        let first = blocks.first().map_or(0, |block| block.start);
        // A byte order mark is no chunk of its own.
        let first = first.min(text.len() - text.trim_start_matches('\u{feff}').trim_start().len());
        for block in blocks {
            let start = above.unwrap_or(block.start);
            let start = if start == first { 0 } else { start };
            if block.kind == Kind::Table {
                starts.push(start);
                while self.rows.get(row).is_some_and(|row| row.start < block.start) {
                    row += 1;
                }
                let own = self.rows[row..].iter().take_while(|row| row.start < block.end);
                starts.extend(own.skip(1).map(|row| row.start));
                (above, behind) = (None, true);
            } else if block.kind == Kind::Heading {
                above = Some(start);
                behind = false;
                starts.push(start);
            } else {
                if behind {
                    starts.push(start);
                }
                (above, behind) = (None, false);
            }
        }
        starts.dedup();
        starts
    }

    /// The levels that a row in this span is opened by: behind what stands above it, if it fits without, then
    /// between its cells, the first of which go with a header that no row fits below.
    pub fn levels(
        &self,
        blocks: &[Block],
        start: usize,
        end: usize,
        fits: &dyn Fn(usize, usize) -> Result<bool>,
    ) -> Result<[Level; 2]> {
        let cells = |at: usize| self.cells.partition_point(|&cell| cell < at);
        let (mut heads, mut cells) = (Vec::new(), self.cells[cells(start)..cells(end)].to_vec());
        let mut heading = false;
        let mut row = self.rows.partition_point(|row| row.start < start);
        for block in blocks {
            if block.kind == Kind::Table {
                while self.rows.get(row).is_some_and(|row| row.start < block.head) {
                    row += 1;
                }
                let first = self.rows.get(row).filter(|row| row.start < block.end);
                let alone = match first {
                    Some(row) => fits(row.start, row.end)?,
                    None => false,
                };
                let places = if alone { &mut heads } else { &mut cells };
                places.extend(heading.then_some(block.start));
                places.extend((block.head > block.start).then_some(block.head));
            }
            heading = block.kind == Kind::Heading;
        }
        cells.sort_unstable();
        Ok([Level::Places(heads), Level::Places(cells)])
    }

    /// Says of a chunk at `start..end` what a row is.
    pub fn carry(&self, text: &Text<'_>, start: usize, end: usize, one: &mut Carried) {
        let at = self.rows.partition_point(|row| row.end <= start);
        let Some(row) = self.rows.get(at).filter(|row| row.start < end) else { return };
        one.kind = Kind::Row;
        let whole = text.trim(row.start, row.end).unwrap_or((row.start, row.end));
        if start <= whole.0 && whole.1 <= end {
            one.flags &= !PART;
            one.flags |= if row.empty { EMPTY } else { 0 };
        } else {
            one.flags |= PART;
            one.key = (row.key > row.start && start >= row.key).then(|| {
                let (from, to) = text.trim(row.start, row.key).unwrap_or((row.start, row.key));
                (from, to)
            });
        }
    }
}

/// The blocks without what the levels of rows see to: tables are opened as rows, not as lines.
#[must_use]
pub fn without_tables(blocks: &[Block]) -> Vec<Block> {
    let plain = |block: &Block| match block.kind {
        Kind::Table => Block { kind: Kind::Prose, ..*block },
        _ => *block,
    };
    blocks.iter().map(plain).collect()
}

/// The blocks, their tables without headers: the first record is a row like others.
#[must_use]
pub fn without_headers(blocks: &Blocks) -> Blocks {
    let mut plain = blocks.clone();
    for block in &mut plain.blocks {
        if block.kind == Kind::Table {
            block.head = block.start;
        }
    }
    plain
}

/// Whether a line only draws. In a table that is not drawn, one with bars is a rule where lines cross:
/// `| - | - |` holds two values.
fn is_rule(line: &str, drawn: bool) -> bool {
    line.bytes().all(|b| b"-=+|: ".contains(&b))
        && line.contains(['-', '='])
        && (drawn || !line.contains('|') || line.contains("-+-") || line.contains("=+="))
}

fn line_end(bytes: &[u8], at: usize, end: usize) -> usize {
    match memchr2_iter(b'\n', b'\r', &bytes[at..end]).next() {
        Some(i) if bytes[at + i] == b'\r' && bytes.get(at + i + 1) == Some(&b'\n') => {
            (at + i + 2).min(end)
        }
        Some(i) => at + i + 1,
        None => end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::{markdown, table};

    fn seen(
        text: &str,
        blocks: &Blocks,
        form: Option<Format>,
        keys: usize,
    ) -> Vec<(String, String)> {
        let rows = Rows::read(text, &blocks.blocks, form, keys);
        let part = |a: usize, b: usize| text[a..b].to_owned();
        rows.rows.iter().map(|row| (part(row.start, row.end), part(row.start, row.key))).collect()
    }

    #[test]
    fn rows_of_csv_are_records() {
        let text = "id;text\n1;\"a;b\nc\"\n;;\n2;d";
        let blocks = table::blocks(text, b';');
        let found = seen(text, &blocks, Some(Format::Csv), 1);
        let want = [("1;\"a;b\nc\"\n", "1"), (";;\n", ""), ("2;d", "2")];
        assert_eq!(found, want.map(|(a, b)| (a.to_owned(), b.to_owned())));
        let rows = Rows::read(text, &blocks.blocks, Some(Format::Csv), 1).rows;
        assert_eq!(rows.iter().map(|row| row.empty).collect::<Vec<_>>(), [false, true, false]);
    }

    #[test]
    fn rows_of_markdown_are_lines() {
        let text = "# T\n\n| a | b |\n|---|---|\n| 1 | x \\| y |\n|  | |\n\nEnd.\n";
        let blocks = markdown::blocks(text);
        let found = seen(text, &blocks, None, 1);
        let want = [("| 1 | x \\| y |\n", "| 1 |"), ("|  | |\n", "|  |")];
        assert_eq!(found, want.map(|(a, b)| (a.to_owned(), b.to_owned())));
        let rows = Rows::read(text, &blocks.blocks, None, 1);
        assert!(rows.rows[1].empty && !rows.rows[0].empty);
        let starts = rows.sections(text, &blocks.blocks);
        let parts: Vec<&str> = starts.iter().map(|&at| &text[at..at + 3]).collect();
        assert_eq!(parts, ["# T", "|  ", "End"]);
    }

    #[test]
    fn a_drawn_row_may_have_lines() {
        let text = "+---+---+\n| a | b |\n+===+===+\n| 1 | x |\n|   | y |\n+---+---+\n| 2 | z |\n+---+---+\n";
        let head = text.find("| 1").expect("a row");
        let block = Block { head, ..Block::new(Kind::Table, 0, text.len()) };
        let rows = Rows::read(text, &[block], None, 0).rows;
        let found: Vec<&str> = rows.iter().map(|row| &text[row.start..row.end]).collect();
        assert_eq!(found, ["| 1 | x |\n|   | y |\n+---+---+\n", "| 2 | z |\n+---+---+\n"]);
    }

    #[test]
    fn a_row_may_hold_marks_alone() {
        let text = "| f | win |\n|---|---|\n| - | = |\n| + | + |\n| -- | |\n|  | |\n";
        let blocks = markdown::blocks(text);
        let rows = Rows::read(text, &blocks.blocks, None, 1).rows;
        let found: Vec<&str> = rows.iter().map(|row| &text[row.start..row.end]).collect();
        assert_eq!(found, ["| - | = |\n", "| + | + |\n", "| -- | |\n", "|  | |\n"]);
        assert_eq!(
            rows.iter().map(|row| row.empty).collect::<Vec<_>>(),
            [false, false, false, true]
        );
    }

    #[test]
    fn a_quote_inside_a_field_is_a_letter() {
        let text = "size,what\n5\" pipe,long\n\"6\"\", a\",x\n";
        let blocks = table::blocks(text, b',');
        let found = seen(text, &blocks, Some(Format::Csv), 1);
        let want = [("5\" pipe,long\n", "5\" pipe"), ("\"6\"\", a\",x\n", "\"6\"\", a\"")];
        assert_eq!(found, want.map(|(a, b)| (a.to_owned(), b.to_owned())));
    }

    #[test]
    fn a_byte_order_mark_goes_with_the_first_row() {
        let text = "\u{feff}\na,b\n1,2\n3,4\n";
        let blocks = table::blocks(text, b',').blocks;
        let rows = Rows::read(text, &blocks, Some(Format::Csv), 1);
        assert_eq!(rows.sections(text, &blocks), [0, text.find("3,").expect("a row")]);
    }
}
