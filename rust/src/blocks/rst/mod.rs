//! reStructuredText, as docutils reads it: titles by the order of their adornments, lists, fields,
//! options, definitions, literal blocks, directives, tables, notes and comments.
//!
//! The lines are read once. What a line stands in is told by its indent, so the lists and bodies that
//! are open are a list of columns, and no depth of nesting needs a stack of calls.
//!
//! * `marks`: what a line starts with
//! * `title`: what a title says without its markup

mod marks;
mod title;

use super::lines::{Line, Lines, rule, width};
use super::nesting::{Container, Nesting};
use super::{Block, Blocks, Kind};
use marks::{Explicit, Mark};

/// Directives whose content is no running text.
const CODE: &[&str] = &[
    "autofunction",
    "code",
    "code-block",
    "digraph",
    "doctest",
    "graph",
    "graphviz",
    "highlight",
    "ipython",
    "literalinclude",
    "math",
    "mermaid",
    "parsed-literal",
    "plantuml",
    "plot",
    "productionlist",
    "prompt",
    "raw",
    "sourcecode",
    "testcode",
    "testoutput",
    "testsetup",
    "uml",
];
/// Directives that are a table.
const TABLES: &[&str] = &["csv-table", "flat-table", "list-table"];
/// The shortest rule that is one wherever it stands; a shorter one is text unless it fits a title.
const RULE: usize = 4;

/// Reads the blocks of `text`.
#[must_use]
pub fn blocks(text: &str) -> Blocks {
    let mut reader = Reader::new(Lines::new(text));
    reader.read();
    reader.found
}

/// What is open around a line.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// A list stands at this column; what a body holds starts there.
    indent: usize,
    /// A list's mark; `None` for the body of an item, a quote or a directive.
    list: Option<Mark>,
    /// The column of a body is that of the next line, if that is no less.
    is_loose: bool,
}

impl Open {
    /// Whether it is a list of items with this mark.
    fn holds(&self, mark: Mark) -> bool {
        match (self.list, mark) {
            (Some(Mark::Definition(_)), Mark::Definition(_)) => true,
            (list, mark) => list == Some(mark),
        }
    }
}

struct Reader<'t> {
    lines: Lines<'t>,
    found: Blocks,
    open: Vec<Open>,
    nesting: Nesting,
    /// An item's mark has been read, and nothing of its text.
    marked: bool,
    /// The adornments of titles, below and above, by level.
    styles: Vec<(char, Option<char>)>,
    /// No line that could end a simple table is left.
    no_borders: bool,
}

impl<'t> Reader<'t> {
    fn new(lines: Lines<'t>) -> Self {
        Self {
            lines,
            found: Blocks::default(),
            open: Vec::new(),
            nesting: Nesting::default(),
            marked: false,
            styles: Vec::new(),
            no_borders: false,
        }
    }

    fn read(&mut self) {
        let mut at = 0;
        while let Some(line) = self.lines.get(at) {
            at = if line.is_blank() { at + 1 } else { self.line(at, line) };
        }
    }

    /// Reads what starts with a line; says which line is next.
    fn line(&mut self, at: usize, line: Line) -> usize {
        let (mut first, mut column) = (line.first, line.indent);
        let mut mark = marks::item(&self.lines, at, &line, first, column);
        self.settle(column, mark.map(|(mark, _)| mark));
        // Marks may follow each other in one line.
        while let Some((kind, length)) = mark {
            if self.open.last().is_none_or(|open| !open.holds(kind)) {
                self.enter(column, Some(kind), false);
            }
            self.marked = true;
            if let Mark::Definition(indent) = kind {
                self.enter(indent, None, false);
                return self.block(Kind::Prose, at, at + 1);
            }
            if matches!(kind, Mark::Field | Mark::Option) {
                self.enter(column + 1, None, true);
                let next = self.while_deeper(at + 1, column);
                self.leaf(Kind::Prose, at, next);
                return next;
            }
            let rest = &self.lines.text[first + length..line.end];
            let blanks = rest.len() - rest.trim_start().len();
            if rest.is_empty() {
                self.enter(column + 1, None, true);
                return at + 1;
            }
            (first, column) = (first + length + blanks, column + length + blanks);
            self.enter(column, None, false);
            mark = marks::item(&self.lines, at, &line, first, column);
        }
        self.body(at, first, column, line)
    }

    /// Closes what a line at this column, with this mark of a list, does not stand in, and opens a
    /// quote if it stands deeper than it should.
    fn settle(&mut self, column: usize, mark: Option<Mark>) {
        while let Some(&top) = self.open.last() {
            let closed = match top.list {
                None => column < top.indent,
                Some(_) => column != top.indent || mark.is_none_or(|mark| !top.holds(mark)),
            };
            if !closed {
                break;
            }
            self.open.pop();
            self.nesting.leave();
            self.marked = false;
        }
        match self.open.last_mut() {
            Some(top) if top.is_loose => (top.indent, top.is_loose) = (column, false),
            Some(top) if column > top.indent => self.enter(column, None, false),
            None if column > 0 => self.enter(column, None, false),
            _ => {}
        }
    }

    /// Opens a list, or a body: of an item if a list is the innermost.
    fn enter(&mut self, indent: usize, list: Option<Mark>, is_loose: bool) {
        self.nesting.enter(match (list, self.open.last()) {
            (Some(mark), _) => Container::List { ordered: matches!(mark, Mark::Number(..)) },
            (None, Some(Open { list: Some(_), .. })) => Container::Item,
            (None, _) => Container::Other,
        });
        self.open.push(Open { indent, list, is_loose });
    }

    /// Reads a block that is no item; `first` and `column` tell where it starts in the line.
    fn body(&mut self, at: usize, first: usize, column: usize, line: Line) -> usize {
        let words = &self.lines.text[first..line.end];
        if let Some(explicit) = marks::explicit(words) {
            return self.explicit(at, column, explicit);
        }
        if words == "__" || words.starts_with("__ ") {
            return self.block(Kind::Note, at, self.while_deeper(at + 1, column));
        }
        if words == ">>>" || words.starts_with(">>> ") {
            return self.block(Kind::Code, at, self.while_level(at + 1, column));
        }
        if words == "|" || words.starts_with("| ") {
            return self.block(Kind::Prose, at, self.line_block(at + 1, column));
        }
        if marks::is_grid(words) {
            return self.grid(at, column);
        }
        if marks::is_columns(words)
            && let Some(next) = self.columns(at, column)
        {
            return next;
        }
        if self.open.is_empty()
            && let Some(next) = self.title(at, words)
        {
            return next;
        }
        self.paragraph(at, column, words)
    }

    /// A title, or a line that only separates.
    fn title(&mut self, at: usize, words: &str) -> Option<usize> {
        let below = self.lines.words(at + 1);
        let is_flush = self.lines.get(at + 1).is_some_and(|line| line.indent == 0);
        let Some(over) = rule(words) else {
            let under = rule(below).filter(|_| is_flush)?;
            if width(words) > below.len() && below.len() < RULE {
                return None;
            }
            self.heading((under, None), words, at, at + 2);
            return Some(at + 2);
        };
        if below.is_empty() {
            if words.len() < RULE {
                return None;
            }
            return Some(self.block(Kind::Rule, at, at + 1));
        }
        let is_title = self.lines.words(at + 2) == words
            && self.lines.get(at + 2).is_some_and(|line| line.indent == 0)
            && !(is_flush && rule(below).is_some());
        if !is_title || (width(below) > words.len() && words.len() < RULE) {
            return None;
        }
        self.heading((over, Some(over)), below, at, at + 3);
        Some(at + 3)
    }

    fn heading(&mut self, style: (char, Option<char>), words: &str, at: usize, next: usize) {
        let level = match self.styles.iter().position(|&known| known == style) {
            Some(level) => level + 1,
            None => {
                self.styles.push(style);
                self.styles.len()
            }
        };
        self.block(Kind::Heading, at, next);
        if let Some(block) = self.found.blocks.last_mut() {
            block.level = u16::try_from(level).unwrap_or(u16::MAX);
        }
        self.found.titles.push(title::plain(words));
    }

    /// A paragraph, and the literal block that a paragraph announces.
    fn paragraph(&mut self, at: usize, column: usize, words: &str) -> usize {
        let next = self.while_level(at + 1, column);
        let last = if next == at + 1 { words } else { self.lines.words(next - 1) };
        if last.ends_with("::") {
            let mut start = next;
            while self.lines.get(start).is_some_and(|line| line.is_blank()) {
                start += 1;
            }
            let end = self.literal(start, next, column);
            if end > start {
                // Two colons alone say nothing: they are part of what they announce.
                let is_bare = last == "::" && next == at + 1;
                if !is_bare {
                    self.leaf(Kind::Prose, at, next);
                }
                self.leaf(Kind::Code, if is_bare { at } else { start }, end);
                return end;
            }
        }
        self.leaf(Kind::Prose, at, next);
        next
    }

    /// Behind the literal block that starts with a line, if one does.
    fn literal(&self, start: usize, after: usize, column: usize) -> usize {
        let Some(line) = self.lines.get(start) else { return start };
        if line.indent > column {
            return self.indented(start, column);
        }
        // Without an indent each line starts with the same mark.
        let quote = self.lines.words(start).bytes().next().filter(u8::is_ascii_punctuation);
        let mut end = start;
        if line.indent == column && start > after {
            while quote.is_some()
                && self.lines.words(end).bytes().next() == quote
                && self.lines.get(end).is_some_and(|line| line.indent == column)
            {
                end += 1;
            }
        }
        end
    }

    fn explicit(&mut self, at: usize, column: usize, explicit: Explicit<'_>) -> usize {
        match explicit {
            Explicit::Empty if self.lines.is_blank(at + 1) => self.block(Kind::Note, at, at + 1),
            Explicit::Empty | Explicit::Note => {
                self.block(Kind::Note, at, self.indented(at + 1, column))
            }
            Explicit::Directive(name) => {
                // Names of a domain: `c:code`.
                let name = name.rsplit(':').next().unwrap_or(name);
                let is_table = TABLES.contains(&name);
                if is_table || CODE.contains(&name) {
                    let next = self.indented(at + 1, column);
                    let kind = if is_table { Kind::Table } else { Kind::Code };
                    self.leaf(kind, at, next);
                    self.set_head(self.content(at, next));
                    return next;
                }
                self.enter(column + 1, None, true);
                let next = self.while_deeper(at + 1, column);
                self.leaf(Kind::Prose, at, next);
                next
            }
        }
    }

    /// The line with which the content of a directive starts.
    fn content(&self, at: usize, next: usize) -> usize {
        let mut line = at + 1;
        while line < next && !self.lines.is_blank(line) {
            line += 1;
        }
        if line == next {
            return at + 1;
        }
        while self.lines.is_blank(line) && line < next {
            line += 1;
        }
        line
    }

    fn line_block(&self, from: usize, column: usize) -> usize {
        let mut next = from;
        while let Some(line) = self.lines.get(next).filter(|line| !line.is_blank()) {
            let words = &self.lines.text[line.first..line.end];
            let goes_on = line.indent == column && (words == "|" || words.starts_with("| "));
            if !goes_on && line.indent <= column {
                break;
            }
            next += 1;
        }
        next
    }

    /// A table drawn by lines.
    fn grid(&mut self, at: usize, column: usize) -> usize {
        let (mut next, mut head) = (at + 1, None);
        while let Some(line) = self.lines.get(next).filter(|line| line.indent == column) {
            let words = &self.lines.text[line.first..line.end];
            if !words.starts_with(['+', '|']) {
                break;
            }
            next += 1;
            if head.is_none() && words.starts_with("+=") {
                head = Some(next);
            }
        }
        self.leaf(Kind::Table, at, next);
        if let Some(head) = head {
            self.set_head(head);
        }
        next
    }

    /// A table whose columns are marked by rules above and below.
    fn columns(&mut self, at: usize, column: usize) -> Option<usize> {
        if self.no_borders {
            return None;
        }
        let (mut line, mut head) = (at + 1, None);
        loop {
            let Some(here) = self.lines.get(line) else {
                self.no_borders = true;
                return None;
            };
            if here.indent < column && !here.is_blank() {
                return None;
            }
            let words = &self.lines.text[here.first..here.end];
            if here.indent == column
                && words.starts_with('=')
                && words.bytes().all(|b| matches!(b, b'=' | b' '))
            {
                if head.is_some() || self.lines.is_blank(line + 1) {
                    break;
                }
                head = Some(line + 1);
            }
            line += 1;
        }
        self.leaf(Kind::Table, at, line + 1);
        if let Some(head) = head {
            self.set_head(head);
        }
        Some(line + 1)
    }

    /// Behind the lines at a column that no blank line interrupts.
    fn while_level(&self, from: usize, column: usize) -> usize {
        let mut next = from;
        while self.lines.get(next).is_some_and(|line| !line.is_blank() && line.indent == column) {
            next += 1;
        }
        next
    }

    /// Behind the lines deeper than a column that no blank line interrupts.
    fn while_deeper(&self, from: usize, column: usize) -> usize {
        let mut next = from;
        while self.lines.get(next).is_some_and(|line| !line.is_blank() && line.indent > column) {
            next += 1;
        }
        next
    }

    /// Behind the last line deeper than a column, blank lines between them included.
    fn indented(&self, from: usize, column: usize) -> usize {
        let (mut next, mut line) = (from, from);
        while let Some(here) = self.lines.get(line) {
            line += 1;
            if here.is_blank() {
                continue;
            }
            if here.indent <= column {
                break;
            }
            next = line;
        }
        next
    }

    /// Takes some lines as a block; says which line is next.
    fn block(&mut self, kind: Kind, at: usize, next: usize) -> usize {
        self.leaf(kind, at, next);
        next
    }

    fn leaf(&mut self, kind: Kind, at: usize, next: usize) {
        let place = |i: usize| self.lines.get(i).map_or(self.lines.text.len(), |line| line.start);
        let (start, end) = (place(at), place(next));
        let kind = if kind == Kind::Prose && self.marked { Kind::Item } else { kind };
        self.marked = false;
        self.found.blocks.push(self.nesting.place(Block::new(kind, start, end)));
    }

    /// Says with which line the rest of the last block starts, which its parts do not carry.
    fn set_head(&mut self, line: usize) {
        let head = self.lines.get(line).map_or(self.lines.text.len(), |line| line.start);
        if let Some(block) = self.found.blocks.last_mut().filter(|block| head < block.end) {
            block.head = head;
        }
    }
}

#[cfg(test)]
mod tests;
