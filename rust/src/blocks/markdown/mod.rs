//! Markdown: CommonMark with the tables, footnotes and struck text of GitHub, and front matter.
//!
//! The parser sees the text without the marks inside its lines (`quiet`), and without the rows in the
//! middle of large tables (`rows`): these say nothing about blocks, and cost the most.
//!
//! The parser's events are read once, without a stack of calls: of what a leaf stands in, a byte for
//! each depth is kept. What the parser takes out of its tree, the definitions of links, is found in
//! the lines between two leaves.

mod quiet;
mod rows;

use memchr::{memchr_iter, memchr2, memrchr2};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::nesting::{Container, Nesting};
use super::{Block, Blocks, Kind};

/// Reads the blocks of `text`.
#[must_use]
pub fn blocks(text: &str) -> Blocks {
    // A carriage return that stands alone ends a line as well, but the parser loses what follows one
    // behind indented code. As long as the other, it moves nothing.
    let alone =
        memchr_iter(b'\r', text.as_bytes()).any(|at| text.as_bytes().get(at + 1) != Some(&b'\n'));
    if !alone {
        return read_short(text);
    }
    let mut lines: String = String::with_capacity(text.len());
    for line in text.split_inclusive('\r') {
        match line.strip_suffix('\r') {
            Some(before) if !text[lines.len() + line.len()..].starts_with('\n') => {
                lines.push_str(before);
                lines.push('\n');
            }
            _ => lines.push_str(line),
        }
    }
    read_short(&lines)
}

/// Reads a large text without the rows in the middle of its large tables.
fn read_short(text: &str) -> Blocks {
    let short = (text.len() >= rows::WORTH).then(|| rows::Short::new(text, rows::MANY)).flatten();
    match short {
        Some(short) => short.back(read(&short.text)),
        None => read(text),
    }
}

fn read(text: &str) -> Blocks {
    read_by(text, quiet::quiet)
}

/// Reads the blocks by what the parser makes of what it is shown, which has the same blocks in the
/// same places, and says the same in headings.
fn read_by(text: &str, shown: impl Fn(&str) -> String) -> Blocks {
    let mut reader = Reader::new(text);
    let body = reader.front_matter();
    let shown = shown(&text[body..]);
    // Front matter is not the parser's, which would take a rule in the middle of a text for some.
    for (event, range) in Parser::new_ext(&shown, options()).into_offset_iter() {
        reader.read(event, body + range.start, body + range.end);
    }
    reader.close();
    reader.between(text.len());
    reader.found
}

/// How many events the parser has for `text`.
#[must_use]
pub fn events(text: &str) -> usize {
    Parser::new_ext(text, options()).into_offset_iter().count()
}

/// What is read beside CommonMark.
#[must_use]
pub fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
}

/// Bytes of a block, by which room is made for them.
const A_BLOCK: usize = 96;

struct Reader<'t> {
    text: &'t str,
    found: Blocks,
    /// Lists, items, quotes and footnotes that are open.
    open: Nesting,
    /// How many of them are footnotes.
    notes: usize,
    /// Whether the innermost is an item of which nothing has been seen yet.
    marked: bool,
    /// Where the last leaf ends: what starts before is inside it.
    end: usize,
    /// The title that is being read, if the leaf is a heading.
    title: Option<String>,
    /// The text of a tight list's item, which the parser gives no events of its own.
    tight: Option<(usize, usize)>,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str) -> Self {
        let blocks = Vec::with_capacity(text.len() / A_BLOCK + 8);
        let found = Blocks { blocks, ..Blocks::default() };
        Self {
            text,
            found,
            open: Nesting::default(),
            notes: 0,
            marked: false,
            end: 0,
            title: None,
            tight: None,
        }
    }

    /// Takes what stands before the Markdown: a byte order mark, settings. Says where they end.
    fn front_matter(&mut self) -> usize {
        let start = if self.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let Some(end) = front_matter(&self.text[start..]) else { return start };
        self.end = start + end;
        self.found.blocks.push(Block::new(Kind::FrontMatter, 0, self.end));
        self.end
    }

    #[inline]
    fn read(&mut self, event: Event<'_>, start: usize, end: usize) {
        match event {
            Event::Start(tag) => match tag {
                Tag::List(first) => self.enter(Container::List { ordered: first.is_some() }),
                Tag::BlockQuote(_) => self.enter(Container::Other),
                Tag::Item => {
                    self.enter(Container::Item);
                    self.marked = true;
                }
                Tag::FootnoteDefinition(_) => {
                    self.enter(Container::Other);
                    self.notes += 1;
                }
                Tag::Paragraph => self.leaf(Kind::Prose, 0, start, end),
                Tag::Heading { level, .. } => {
                    self.leaf(Kind::Heading, level as u16, start, end);
                    let heads = self.found.blocks.last().is_some_and(|b| b.kind == Kind::Heading);
                    self.title = heads.then(String::new);
                }
                Tag::CodeBlock(kind) => {
                    self.leaf(Kind::Code, 0, start, end);
                    if matches!(kind, pulldown_cmark::CodeBlockKind::Fenced(_)) {
                        self.head(line_end(self.text, start));
                    }
                }
                Tag::HtmlBlock => self.leaf(Kind::Html, 0, start, end),
                Tag::Table(_) => {
                    self.leaf(Kind::Table, 0, start, end);
                    self.head(line_end(self.text, line_end(self.text, start)));
                }
                _ => self.inline(start, end),
            },
            Event::End(tag) => match tag {
                TagEnd::List(_) | TagEnd::Item | TagEnd::BlockQuote(_) => self.leave(),
                TagEnd::FootnoteDefinition => {
                    self.leave();
                    self.notes -= 1;
                }
                TagEnd::Heading(_) => {
                    if let Some(title) = self.title.take() {
                        self.found.titles.push(plain(title));
                    }
                }
                _ => {}
            },
            Event::Rule => self.leaf(Kind::Rule, 0, start, end),
            Event::Text(text) | Event::Code(text) => match &mut self.title {
                Some(title) => title.push_str(&text),
                None => self.inline(start, end),
            },
            Event::SoftBreak | Event::HardBreak => match &mut self.title {
                Some(title) => title.push(' '),
                None => self.inline(start, end),
            },
            _ => self.inline(start, end),
        }
    }

    fn enter(&mut self, container: Container) {
        self.close();
        self.open.enter(container);
        self.marked = false;
    }

    fn leave(&mut self) {
        self.close();
        self.marked = false;
        self.open.leave();
    }

    /// Something inside a leaf, or a part of the text of a tight list's item.
    fn inline(&mut self, start: usize, end: usize) {
        if start >= self.end {
            match &mut self.tight {
                Some(span) => span.1 = span.1.max(end),
                None => self.tight = Some((start, end)),
            }
        }
    }

    /// Ends the text of a tight list's item, if one is open.
    fn close(&mut self) {
        if let Some((start, end)) = self.tight.take() {
            self.push(Kind::Prose, 0, start, end);
        }
    }

    fn leaf(&mut self, kind: Kind, level: u16, start: usize, end: usize) {
        self.close();
        self.push(kind, level, start, end);
    }

    fn push(&mut self, kind: Kind, level: u16, start: usize, end: usize) {
        let text = self.text;
        let first = line_start(text, start).max(self.end);
        if first > self.end {
            self.between(first);
        }
        let kind = match kind {
            _ if self.notes > 0 => Kind::Note,
            Kind::Prose if self.marked => Kind::Item,
            kind => kind,
        };
        self.marked = false;
        let level = if kind == Kind::Heading { level } else { 0 };
        let end = full_lines(text, first, end).max(first);
        // As of a fence that is opened in an item and holds nothing.
        if text[first..end].trim_ascii().is_empty() {
            return;
        }
        let block = self.open.place(Block { level, ..Block::new(kind, first, end) });
        self.found.blocks.push(block);
        self.end = end;
    }

    /// Says where what every part of the last leaf carries ends.
    fn head(&mut self, end: usize) {
        if let Some(block) = self.found.blocks.last_mut().filter(|block| block.kind.stays_whole()) {
            block.head = end.min(block.end);
        }
    }

    /// Finds the definitions of links between the last leaf and `next`: all else there is blank, or
    /// marks of lists and quotes.
    fn between(&mut self, next: usize) {
        let bytes = self.text.as_bytes();
        let mut at = self.end;
        while at < next {
            let marks = bytes[at..next].iter().take_while(|&&b| is_mark(b)).count();
            if at + marks == next || bytes[at + marks] != b'[' {
                let stop = memchr2(b'\n', b'\r', &bytes[at + marks..next]);
                at = stop.map_or(next, |stop| at + marks + stop + 1);
                continue;
            }
            let start = line_start(self.text, at + marks).max(self.end);
            let mut end = line_end(self.text, start).min(next);
            while end < next && !is_blank(&bytes[end..line_end(self.text, end).min(next)]) {
                end = line_end(self.text, end).min(next);
            }
            let note = self.open.place(Block::new(Kind::Note, start, end));
            self.found.blocks.push(note);
            (self.end, at) = (end, end);
        }
    }
}

/// Whether a byte may belong to a mark of a list or a quote, or to the blanks around it.
fn is_mark(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'>' | b'-' | b'*' | b'+' | b'.' | b')')
        || byte.is_ascii_digit()
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n' | b'>'))
}

/// Where the line that holds `at` starts.
fn line_start(text: &str, at: usize) -> usize {
    memrchr2(b'\n', b'\r', &text.as_bytes()[..at]).map_or(0, |i| i + 1)
}

/// Behind the break of the line that holds `at`.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    match memchr2(b'\n', b'\r', &bytes[at..]) {
        Some(i) if bytes[at + i] == b'\r' && bytes.get(at + i + 1) == Some(&b'\n') => at + i + 2,
        Some(i) => at + i + 1,
        None => bytes.len(),
    }
}

/// The end of the last line of `start..end` that is not blank.
fn full_lines(text: &str, start: usize, end: usize) -> usize {
    let bytes = &text.as_bytes()[start..end];
    let blank = |b: &&u8| matches!(b, b' ' | b'\t' | b'\r' | b'\n');
    let seen = bytes.len() - bytes.iter().rev().take_while(blank).count();
    line_end(text, start + seen)
}

/// Where the front matter at the start of `text` ends, if there is some: lines between two of `---`
/// (or `+++`), the first of which sets something. Without that, a rule at the start of a text would
/// make front matter of everything up to the next.
fn front_matter(text: &str) -> Option<usize> {
    let (fence, equals) = match text.get(..3) {
        Some("---") => ("---", ':'),
        Some("+++") => ("+++", '='),
        _ => return None,
    };
    let mut at = line_end(text, 0);
    if !text[3..at].trim().is_empty() {
        return None;
    }
    let mut sets = None;
    while at < text.len() {
        let next = line_end(text, at);
        let line = text[at..next].trim_end();
        if line == fence || (line == "..." && fence == "---") {
            return sets.unwrap_or(true).then_some(next);
        }
        if sets.is_none() {
            if line.is_empty() {
                return None;
            }
            if !line.starts_with('#') {
                // Of TOML, the first line may also open a table.
                let opens = equals == '=' && line.starts_with('[');
                sets = Some(opens || line.contains(equals));
            }
        }
        if sets == Some(false) {
            return None;
        }
        at = next;
    }
    None
}

/// A title without what is no part of its words: blanks around it, and the attributes that some
/// dialects put behind it (`{#name}`).
fn plain(title: String) -> String {
    let mut words = title.trim();
    if let Some(at) = words.strip_suffix('}').and_then(|before| before.rfind('{'))
        && words.as_bytes().get(at + 1).is_some_and(|b| matches!(b, b'#' | b'.' | b':'))
        && at > 0
    {
        words = words[..at].trim_end();
    }
    if words.len() == title.len() { title } else { words.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_places_and_titles() {
        let text = "\u{feff}---\na: b\n---\n# *T*\n\n- x\n  - y\n\n  z\n-\n\n[l]: /u\n  'v'\n\n| a |\n|-|\n| 1 |\n";
        let found = blocks(text);
        let seen: Vec<_> = found
            .blocks
            .iter()
            .map(|b| (b.kind, b.depth, b.shared, &text[b.start..b.end], b.head - b.start))
            .collect();
        let want = [
            (Kind::FrontMatter, 0, 0, "\u{feff}---\na: b\n---\n", 0),
            (Kind::Heading, 0, 0, "# *T*\n", 0),
            (Kind::Item, 2, 0, "- x\n", 0),
            (Kind::Item, 4, 2, "  - y\n", 0),
            (Kind::Prose, 2, 2, "  z\n", 0),
            (Kind::Note, 0, 0, "[l]: /u\n  'v'\n", 0),
            (Kind::Table, 0, 0, "| a |\n|-|\n| 1 |\n", 10),
        ];
        assert_eq!(seen, want);
        assert_eq!(found.titles, ["T"]);
    }

    #[test]
    fn front_matter_sets_something_and_ends() {
        let cases = [
            ("---\na: b\n---\nx", Some(13)),
            ("---\na: b\n...\nx", Some(13)),
            ("---\r\na: b\r\n---\r\nx", Some(16)),
            ("---\n# note\na:\n---", Some(17)),
            ("---\n---\n", Some(8)),
            ("+++\n[t]\na = 1\n+++\n", Some(18)),
            ("+++\na: 1\n+++\n", None),
            ("---\n\na: b\n---\n", None),
            ("---\nwords\n---\n", None),
            ("---\na: b\n", None),
            ("----\na: b\n----\n", None),
            ("a\n", None),
        ];
        for (text, want) in cases {
            assert_eq!(front_matter(text), want, "{text:?}");
        }
    }
}
