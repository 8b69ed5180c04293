//! Large tables without the rows in their middle.
//!
//! The parser's tree has nodes for every cell, many times the bytes that these take in the text, and
//! of a table no more is asked than where it ends. A line that starts with a bar begins no block, and
//! ends none but by what closes HTML; so from a run of such lines that follow a header, what lies
//! between the first and the last changes nothing about blocks, wherever the run stands: in a table,
//! in a fence, in a comment.

use memchr::{memchr, memchr_iter};

use crate::blocks::Blocks;

/// Bytes of a text from which the search for tables is worth its time.
pub(super) const WORTH: usize = 1 << 20;
/// Rows of a table from which some are left out.
pub(super) const MANY: usize = 256;

/// A text without some rows.
pub(super) struct Short {
    pub(super) text: String,
    /// Places in `text`, and how many bytes are left out before each, all in all.
    left_out: Vec<(usize, usize)>,
}

impl Short {
    /// Leaves rows out of the tables that have at least `many` in a run; `None` if there is no such
    /// table.
    pub(super) fn new(text: &str, many: usize) -> Option<Self> {
        let mut short = Self { text: String::new(), left_out: Vec::new() };
        let mut kept = 0;
        let mut run = Run::default();
        let mut start = 0;
        let ends = memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1).chain([text.len()]);
        for end in ends {
            if run.goes_on(&text[start..end], start) {
                start = end;
                continue;
            }
            short.leave_out(text, &run, many, &mut kept);
            run = Run::after(&text[start..end]);
            start = end;
        }
        short.leave_out(text, &run, many, &mut kept);
        (kept > 0).then(|| {
            short.text.push_str(&text[kept..]);
            short
        })
    }

    fn leave_out(&mut self, text: &str, run: &Run, many: usize, kept: &mut usize) {
        if run.rows < many.max(3) {
            return;
        }
        self.text.push_str(&text[*kept..run.first]);
        *kept = run.last;
        self.left_out.push((self.text.len(), *kept - self.text.len()));
    }

    /// The blocks of the whole text.
    pub(super) fn back(&self, mut blocks: Blocks) -> Blocks {
        let place = |at: usize| {
            let behind = self.left_out.partition_point(|&(place, _)| place <= at);
            at + behind.checked_sub(1).map_or(0, |i| self.left_out[i].1)
        };
        for block in &mut blocks.blocks {
            block.start = place(block.start);
            block.end = place(block.end);
            block.head = place(block.head);
        }
        blocks
    }
}

/// Lines of a table, as far as it was read.
#[derive(Default)]
struct Run {
    state: State,
    /// The blanks before each line.
    indent: usize,
    /// Where the second row starts, and the last one.
    first: usize,
    last: usize,
    rows: usize,
}

#[derive(Default, PartialEq)]
enum State {
    /// A blank line, or the start of the text: no title of a link is open.
    #[default]
    Blank,
    /// Nothing that a table could follow.
    None,
    Header,
    Rows,
}

impl Run {
    /// What may begin behind a line that is no row.
    fn after(line: &str) -> Self {
        let state = if line.trim_ascii().is_empty() { State::Blank } else { State::None };
        Self { state, ..Self::default() }
    }

    /// Takes a line, which starts at `at`, if it is the next one of a table.
    fn goes_on(&mut self, line: &str, at: usize) -> bool {
        let bytes = line.as_bytes();
        let indent = bytes.iter().take_while(|&&b| b == b' ').count();
        if bytes.get(indent) != Some(&b'|') || memchr(b'>', bytes).is_some() {
            return false;
        }
        // A line of bars alone may end a table.
        if bytes.iter().all(|b| matches!(b, b'|' | b' ' | b'\t'..=b'\r')) {
            return false;
        }
        let same = indent == self.indent;
        match self.state {
            State::Blank if indent < 4 => (self.state, self.indent) = (State::Header, indent),
            State::Header if same && is_border(line) => self.state = State::Rows,
            State::Rows if same => {
                self.rows += 1;
                if self.rows == 2 {
                    self.first = at;
                }
                self.last = at;
            }
            _ => return false,
        }
        true
    }
}

/// Whether a line parts a header from the rows.
fn is_border(line: &str) -> bool {
    line.contains('-') && line.trim_ascii().bytes().all(|b| matches!(b, b'|' | b'-' | b':' | b' '))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::blocks::{Kind, laws};

    const PARTS: &[&str] = &[
        "| a |\n|---|\n| b |\n| c |\n| d |\n| e |\n",
        "\n| a | b |\n|:--|--:|\n| `c | d |\n| ` | e |\n| ![f](g |\n| h) |\n| i |\n",
        "  | a |\n  |---|\n  | b |\n  | c |\n  | d |\n  | e |\n",
        "| f |\n",
        "| --> |\n",
        "|\r\n",
        "| |\n",
        "| ``` |\n",
        "|---|\n",
        "\n\n",
        "# H\n",
        "===\n",
        "- x\n\n",
        "1. ",
        "> ",
        "```\n",
        "<!--\n",
        "-->\n",
        "<div>\n",
        "[a]: /u '\n",
        "'\n",
        "[^1]: note\n",
        "words\n",
        "    code\n",
    ];

    fn short(text: &str, many: usize) -> Option<Blocks> {
        Short::new(text, many).map(|short| short.back(super::super::read(&short.text)))
    }

    #[test]
    fn a_large_table_is_read_by_its_ends() {
        let table = format!("| a |\n|---|\n{}", "| cell |\n".repeat(1000));
        let text = format!("{table}\nmore\n\n{table}");
        let few = Short::new(&text, 256).expect("it has tables");
        assert!(few.text.len() < 100, "{:?}", few.text);
        let found = few.back(super::super::read(&few.text));
        assert_eq!(found, super::super::read(&text));
        let tables = found.blocks.iter().filter(|block| block.kind == Kind::Table);
        assert!(tables.clone().all(|block| text[block.start..block.end] == table));
        assert_eq!(tables.count(), 2);
        assert!(Short::new(&text, 1001).is_none());
        assert!(Short::new("", 0).is_none());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn what_is_left_out_changes_nothing(text in laws::texts(PARTS)) {
            if let Some(found) = short(&text, 0) {
                prop_assert_eq!(found, super::super::read(&text));
            }
        }
    }
}
