//! Plain text: paragraphs, list items, tables in columns, and titles that are underlined, numbered
//! ("1.2 Scope", "IV. Results") or named ("Chapter 3", "Appendix A").
//!
//! A number before some words is most often no title: it counts an item, an amount, a day, a version.
//! So a line is a title only if it stands alone, reads as a title (a capital, no end of a sentence,
//! few words), and its number follows from those before: titles are found first (`numbers`), then
//! the rest is read around them.

mod numbers;

use super::lines::{Line, Lines, rule, width};
use super::nesting::{Container, Nesting};
use super::{Block, Blocks, Kind};
use numbers::Title;

/// The shortest rule under a title, the longest title.
const RULE: usize = 3;
const TITLE: usize = 100;
/// What a title is underlined with.
const RULES: &str = "=-~^*#_\"+";

/// Reads the blocks of `text`.
#[must_use]
pub fn blocks(text: &str) -> Blocks {
    let mut reader = reader(text);
    reader.read();
    reader.found
}

fn reader(text: &str) -> Reader<'_> {
    let lines = Lines::new(text);
    Reader {
        titles: numbers::titles(&lines),
        lines,
        found: Blocks::default(),
        lists: Vec::new(),
        open: Nesting::default(),
        outline: Vec::new(),
    }
}

/// What gives a title its level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// The rule below, and whether one is above.
    Ruled(char, bool),
    /// A word of this rank, of the part with this number.
    Named(u16, Option<u32>),
    /// A number of so many parts.
    Numbered(u16),
    Roman,
    Letter,
}

struct Reader<'t> {
    lines: Lines<'t>,
    /// Titles with a number or a name, by line.
    titles: Vec<Title>,
    found: Blocks,
    /// The columns of the marks of the items that are open.
    lists: Vec<usize>,
    open: Nesting,
    /// The titles in force: their styles and levels.
    outline: Vec<(Style, u16)>,
}

impl Reader<'_> {
    fn read(&mut self) {
        let (mut at, mut title) = (0, 0);
        while let Some(line) = self.lines.get(at) {
            if line.is_blank() {
                at += 1;
                continue;
            }
            while self.titles.get(title).is_some_and(|title| title.line < at) {
                title += 1;
            }
            at = if let Some((next, style)) = self.ruled(at, &line) {
                self.ruled_title(at, next, style);
                next
            } else if self.titles.get(title).is_some_and(|title| title.line == at) {
                let style = self.titles[title].style;
                let number = self.titles[title].first;
                let words = self.lines.words(at).to_owned();
                let level = self.level(style, number);
                self.heading(at, at + 1, level, words);
                at + 1
            } else {
                self.rest(at, line)
            };
        }
    }

    /// A title with a rule below it, or a rule above and below: the next line, and the style.
    fn ruled(&self, at: usize, line: &Line) -> Option<(usize, Style)> {
        let words = &self.lines.text[line.first..line.end];
        let below = self.lines.words(at + 1);
        if let Some(over) = is_rule(words) {
            let is_title = self.lines.words(at + 2) == words && is_title(below);
            return (is_title && width(below) <= width(words) + 2)
                .then_some((at + 3, Style::Ruled(over, true)));
        }
        let under = is_rule(below)?;
        // What stands above a rule that is much shorter or longer is no title of it; two rules
        // below each other are a table, as is a line of columns.
        let (title, length) = (width(words), below.len());
        let stands_alone = at == 0 || self.lines.is_blank(at - 1);
        let fits = length + 2 >= title && length <= title + title / 2 + 4;
        let marks = is_rule(self.lines.words(at + 2)).is_some();
        (stands_alone && fits && !marks && is_title(words))
            .then_some((at + 2, Style::Ruled(under, false)))
    }

    fn ruled_title(&mut self, at: usize, next: usize, style: Style) {
        let line = if matches!(style, Style::Ruled(_, true)) { at + 1 } else { at };
        let words = self.lines.words(line).to_owned();
        let level = self.level(style, None);
        self.heading(at, next, level, words);
    }

    /// The level of a title of a style; it is in force from now on.
    fn level(&mut self, style: Style, number: Option<u32>) -> u16 {
        let is_closed = |open: Style| match (style, open) {
            (Style::Numbered(depth), Style::Numbered(other)) => other >= depth,
            (Style::Named(rank, _), Style::Named(other, _)) => other >= rank,
            (Style::Named(..), Style::Numbered(_) | Style::Roman | Style::Letter) => true,
            _ => open == style,
        };
        // All that is open from the first title on that cannot hold this one.
        if let Some(place) = self.outline.iter().position(|&(open, _)| is_closed(open)) {
            self.outline.truncate(place);
        }
        let level = match (style, self.outline.last().copied()) {
            (Style::Numbered(depth), Some((Style::Numbered(other), level))) => {
                level + depth - other
            }
            // "3.1" in the chapter 3 is one level below, not two.
            (Style::Numbered(depth), Some((Style::Named(_, Some(chapter)), level)))
                if depth > 1 && number == Some(chapter) =>
            {
                level + depth - 1
            }
            (Style::Numbered(depth), last) => last.map_or(0, |(_, level)| level) + depth,
            (_, last) => last.map_or(0, |(_, level)| level) + 1,
        };
        self.outline.push((style, level));
        level
    }

    fn heading(&mut self, at: usize, next: usize, level: u16, words: String) {
        self.close(0, false);
        self.leaf(Kind::Heading, at, next);
        if let Some(block) = self.found.blocks.last_mut() {
            block.level = level;
        }
        self.found.titles.push(words);
    }

    /// What is no title: an item, a table, a rule, a paragraph.
    fn rest(&mut self, at: usize, line: Line) -> usize {
        if let Some(content) = item(&self.lines.text[line.first..line.end]) {
            if !self.close(line.indent, true) {
                let ordered = !is_bullet(&self.lines.text[line.first..line.end]);
                self.open.enter(Container::List { ordered });
            }
            self.lists.push(line.indent);
            self.open.enter(Container::Item);
            let next = self.until_border(at + 1, Some(line.indent + content));
            self.leaf(Kind::Item, at, next);
            return next;
        }
        if is_rule(&self.lines.text[line.first..line.end]).is_some() && self.lines.is_blank(at + 1)
        {
            self.close(line.indent, false);
            self.leaf(Kind::Rule, at, at + 1);
            return at + 1;
        }
        // A further paragraph of an item stands deeper than its mark.
        self.close(line.indent, false);
        let next = self.until_border(at + 1, None);
        if let Some(head) = table(&self.lines, at, next) {
            self.leaf(Kind::Table, at, next);
            let head = self.lines.get(head).map_or(0, |line| line.start);
            if let Some(block) = self.found.blocks.last_mut().filter(|block| head < block.end) {
                block.head = block.head.max(head);
            }
        } else {
            self.leaf(Kind::Prose, at, next);
        }
        next
    }

    /// Behind the lines up to a blank one, an item's mark, or a title. `column` is that of an item's
    /// text: a number there goes on with it, as a bullet does not. In a paragraph, without a column,
    /// a number is an item's mark only if it begins a list.
    fn until_border(&self, from: usize, column: Option<usize>) -> usize {
        let mut next = from;
        while let Some(line) = self.lines.get(next).filter(|line| !line.is_blank()) {
            let words = &self.lines.text[line.first..line.end];
            let starts = match column {
                Some(column) => line.indent < column || is_bullet(words),
                None => {
                    is_bullet(words) || ["1.", "1)", "(1)"].iter().any(|n| words.starts_with(n))
                }
            };
            if starts && item(words).is_some() {
                break;
            }
            if self.titles.binary_search_by_key(&next, |title| title.line).is_ok() {
                break;
            }
            next += 1;
        }
        next
    }

    /// Closes the items whose mark does not stand before a column, and says whether the last one's
    /// list stays open: for another item at its column.
    fn close(&mut self, column: usize, is_item: bool) -> bool {
        while let Some(open) = self.lists.pop_if(|open| *open >= column) {
            self.open.leave();
            if is_item && open == column {
                return true;
            }
            self.open.leave();
        }
        false
    }

    fn leaf(&mut self, kind: Kind, at: usize, next: usize) {
        let place = |i: usize| self.lines.get(i).map_or(self.lines.text.len(), |line| line.start);
        let (start, end) = (place(at), place(next));
        let block = self.open.place(Block::new(kind, start, end));
        self.found.blocks.push(block);
    }
}

/// Whether words read as a title: not long, of some letters, no end of a sentence, no columns.
fn is_title(words: &str) -> bool {
    width(words) <= TITLE
        && words.chars().any(char::is_alphabetic)
        && !words.ends_with(['.', ',', ';'])
        && !words.contains("  ")
        && !words.contains(['\t', '|'])
        && !is_bullet(words)
}

/// The mark of a rule, if a line is one.
fn is_rule(words: &str) -> Option<char> {
    rule(words).filter(|&mark| words.len() >= RULE && RULES.contains(mark))
}

/// Where an item's text starts behind its mark; `None` for a line that is no item.
fn item(words: &str) -> Option<usize> {
    let mark = if is_bullet(words) {
        words.chars().next().map_or(0, char::len_utf8)
    } else {
        let open = usize::from(words.starts_with('('));
        let body = words[open..].bytes().take(4).take_while(u8::is_ascii_alphanumeric).count();
        let name = words.get(open..open + body)?;
        let is_number = (1..=3).contains(&body) && name.bytes().all(|b| b.is_ascii_digit());
        let is_letter = body == 1 || super::lines::roman(name).is_some();
        let end = words.as_bytes().get(open + body)?;
        // A capital with a dot is the start of a name.
        let is_initial = *end == b'.' && name.bytes().all(|b| b.is_ascii_uppercase());
        let is_closed = *end == b')' || (*end == b'.' && open == 0);
        if !(is_closed && (is_number || (is_letter && !is_initial))) {
            return None;
        }
        open + body + 1
    };
    let rest = &words[mark..];
    let blanks = rest.len() - rest.trim_start().len();
    (blanks > 0 && !rest.trim().is_empty()).then_some(mark + blanks)
}

fn is_bullet(words: &str) -> bool {
    let mut chars = words.chars();
    matches!(chars.next(), Some('-' | '*' | '+' | '•' | '‣' | '◦' | '▪' | '·' | '–'))
        && chars.next().is_some_and(char::is_whitespace)
}

/// If some lines are a table, the line behind its header (the first line if it has none): they all
/// are drawn by lines, or a column starts or ends at one place in all of them, behind a gap.
fn table(lines: &Lines<'_>, at: usize, next: usize) -> Option<usize> {
    if next < at + 2 {
        return None;
    }
    let drawn = |i: usize| lines.words(i).starts_with(['+', '|']);
    let mut head = at;
    let mut columns: Option<Vec<(bool, usize)>> = None;
    let (mut is_drawn, mut rows) = (true, 0);
    for i in at..next {
        let words = lines.words(i);
        is_drawn &= drawn(i);
        let is_border =
            words.bytes().all(|b| matches!(b, b'-' | b'=' | b' ' | b'+' | b'|' | b'\t'));
        if is_border {
            if head == at && i > at && i + 1 < next && i <= at + 2 {
                head = i + 1;
            }
            continue;
        }
        rows += 1;
        let found = gaps(words, lines.get(i)?.indent);
        columns = Some(match columns {
            None => found,
            Some(known) => shared(&known, &found),
        });
        if !is_drawn && columns.as_ref().is_none_or(Vec::is_empty) {
            return None;
        }
    }
    (is_drawn || rows > 1 && columns.is_some_and(|columns| !columns.is_empty())).then_some(head)
}

/// The columns at which words end before a gap (`false`) and start behind one (`true`). Two blanks
/// behind the end of a sentence are none.
fn gaps(words: &str, indent: usize) -> Vec<(bool, usize)> {
    let mut found = Vec::new();
    let (mut column, mut blanks, mut last, mut ended) = (indent, 0, ' ', indent);
    for c in words.chars() {
        match c {
            '\t' => {
                column += 8 - column % 8;
                blanks += 2;
            }
            ' ' => {
                if blanks == 0 {
                    ended = column;
                }
                column += 1;
                blanks += 1;
            }
            _ => {
                if blanks > 1 && !matches!(last, '.' | '!' | '?' | ':') {
                    found.push((false, ended));
                    found.push((true, column));
                }
                (blanks, last) = (0, c);
                column += width(c.encode_utf8(&mut [0; 4]));
            }
        }
    }
    if !found.is_empty() {
        found.push((false, column));
    }
    found.sort_unstable();
    found
}

/// What two sorted lists share. The end of a line is a border only where all lines end.
fn shared(one: &[(bool, usize)], two: &[(bool, usize)]) -> Vec<(bool, usize)> {
    one.iter().filter(|border| two.binary_search(border).is_ok()).copied().collect()
}

#[cfg(test)]
mod tests;
