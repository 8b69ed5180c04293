//! From text and tags to blocks.
//!
//! * `tags`: what starts and ends with an element
//! * `table`: rows and cells

mod table;
mod tags;

use super::Page;
use super::elements::{Element, Elements};
use super::origin::Origin;
use crate::blocks::{Block, Blocks, Kind};
use table::Grid;

/// How text is laid out where we stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// Blocks, blanks collapsed.
    Flow,
    /// As it is.
    Verbatim,
    /// One line for the row of a table.
    Row,
}

/// What comes between the text so far and the next one, in the same block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gap {
    None,
    /// A blank; where it stands in the HTML, if it does.
    Space(Option<usize>),
    /// A `br`.
    Line,
}

/// The block that is being written.
#[derive(Clone, Copy, Debug)]
struct Current {
    /// All that is known of it: where it ends is not.
    block: Block,
    /// Where the text ended before the block.
    before: usize,
}

/// Writes the readable text and its blocks.
#[derive(Debug)]
pub(super) struct Writer {
    text: Vec<u8>,
    blocks: Blocks,
    origin: Origin,
    title: Vec<u8>,
    elements: Elements,
    grids: Vec<Grid>,
    layout: Layout,
    current: Option<Current>,
    gap: Gap,
    /// Blanks at the start of a line of code before the first one that is not blank.
    indent: Vec<(u8, usize)>,
    /// Bytes that were looked at, elements that were closed, cells that were counted.
    #[cfg(test)]
    work: usize,
}

impl Writer {
    pub(super) fn new(html: &str) -> Self {
        Self {
            text: Vec::with_capacity(html.len() / 2),
            blocks: Blocks::default(),
            origin: Origin::default(),
            title: Vec::new(),
            elements: Elements::default(),
            grids: Vec::new(),
            layout: Layout::Flow,
            current: None,
            gap: Gap::None,
            indent: Vec::new(),
            #[cfg(test)]
            work: 0,
        }
    }

    /// Keeps account of work, for the tests.
    fn worked(&mut self, _steps: usize) {
        #[cfg(test)]
        {
            self.work += _steps;
        }
    }

    pub(super) fn finish(mut self) -> Page {
        self.end_block();
        // The tokenizer hands on whole characters of a text that was valid, so this never replaces.
        let text = String::from_utf8(self.text)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        let title = String::from_utf8_lossy(&self.title).trim().to_owned();
        Page {
            text,
            blocks: self.blocks,
            title,
            origin: self.origin,
            #[cfg(test)]
            work: self.work,
        }
    }

    /// Takes part of the page's title, blanks collapsed.
    pub(super) fn title(&mut self, piece: &[u8]) {
        self.worked(piece.len());
        for &byte in piece {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | b'\x0c' => {
                    if self.title.last().is_some_and(|&last| last != b' ') {
                        self.title.push(b' ');
                    }
                }
                _ => self.title.push(byte),
            }
        }
    }

    pub(super) fn has_title(&self) -> bool {
        !self.title.is_empty()
    }

    /// Takes characters that stand in the HTML from `at` on as they are.
    pub(super) fn copy(&mut self, piece: &[u8], at: usize) {
        self.worked(piece.len());
        if self.layout == Layout::Verbatim {
            self.copy_verbatim(piece, at);
            return;
        }
        let mut start = 0;
        while start < piece.len() {
            let blanks = count(&piece[start..], is_blank);
            if blanks > 0 {
                if self.gap == Gap::None {
                    self.gap = Gap::Space(Some(at + start));
                }
                start += blanks;
                continue;
            }
            // A single space is part of the stretch.
            let mut end = start + count(&piece[start..], |byte| !is_blank(byte));
            while end + 1 < piece.len() && piece[end] == b' ' && !is_blank(piece[end + 1]) {
                end += 1;
                end += count(&piece[end..], |byte| !is_blank(byte));
            }
            self.begin();
            self.origin.copied(self.text.len(), at + start, end - start);
            self.text.extend_from_slice(&piece[start..end]);
            start = end;
        }
    }

    fn copy_verbatim(&mut self, piece: &[u8], at: usize) {
        let mut start = 0;
        if self.current.is_none() {
            while let Some(&byte) = piece.get(start).filter(|&&byte| is_blank(byte)) {
                match byte {
                    b'\n' | b'\r' => self.indent.clear(),
                    _ => self.indent.push((byte, at + start)),
                }
                start += 1;
            }
            if start == piece.len() {
                return;
            }
            self.begin();
        }
        self.origin.copied(self.text.len(), at + start, piece.len() - start);
        self.text.extend_from_slice(&piece[start..]);
    }

    /// Takes characters that the HTML says by others, those of `html`.
    pub(super) fn say(&mut self, piece: &[u8], html: std::ops::Range<usize>) {
        self.worked(piece.len());
        if let [byte] = piece
            && is_blank(*byte)
        {
            match self.layout {
                Layout::Verbatim if self.current.is_some() => {}
                Layout::Verbatim => return,
                _ => return self.space(),
            }
        }
        self.begin();
        let start = self.text.len();
        self.text.extend_from_slice(piece);
        self.origin.said(start..self.text.len(), html);
    }

    /// Makes the text ready for a character: begins a block where none is open, closes the gap.
    fn begin(&mut self) {
        if self.current.is_some() && self.is_in_table() != (self.layout == Layout::Row) {
            self.end_block();
        }
        if self.layout == Layout::Row {
            self.begin_cell();
        } else if self.current.is_none() {
            self.begin_block();
        }
        match std::mem::replace(&mut self.gap, Gap::None) {
            Gap::None => {}
            Gap::Space(Some(at)) => {
                self.origin.copied(self.text.len(), at, 1);
                self.text.push(b' ');
            }
            Gap::Space(None) => self.text.push(b' '),
            Gap::Line => self.text.push(b'\n'),
        }
    }

    fn begin_block(&mut self) {
        self.gap = Gap::None;
        let heading = self.elements.in_scope(Element::Heading);
        let level = heading.and_then(|at| self.elements.at(at)).map_or(0, |entry| entry.level);
        let item = self
            .elements
            .innermost_of(Element::Item)
            .max(self.elements.innermost_of(Element::Definition));
        let is_own = item > self.elements.innermost_of(Element::Quote);
        let is_fresh = self
            .elements
            .at(item)
            .is_some_and(|entry| is_own && std::mem::replace(&mut entry.fresh, false));
        let kind = match self.layout {
            Layout::Row => Kind::Table,
            _ if level > 0 => Kind::Heading,
            Layout::Verbatim => Kind::Code,
            Layout::Flow if is_fresh => Kind::Item,
            Layout::Flow => Kind::Prose,
        };
        let before = self.text.len();
        if let Some(last) = self.blocks.blocks.last_mut() {
            self.text.extend_from_slice(b"\n\n");
            last.end += 1;
        }
        let start = self.text.len();
        let level = if kind == Kind::Heading { level } else { 0 };
        // A table may stand in less than what is open around its cells.
        let grid = self.grids.last().filter(|_| kind == Kind::Table);
        let depth = grid.map_or(self.elements.depth(), |grid| grid.depth);
        let block = Block { level, ..Block::new(kind, start, start) };
        let block = self.elements.place(depth, block);
        self.current = Some(Current { block, before });
        for (byte, at) in self.indent.drain(..) {
            if kind == Kind::Code {
                self.origin.copied(self.text.len(), at, 1);
                self.text.push(byte);
            }
        }
    }

    /// Ends the block that is being written, if any.
    fn end_block(&mut self) {
        self.end_row();
        self.gap = Gap::None;
        self.indent.clear();
        let Some(Current { mut block, before }) = self.current.take() else { return };
        let start = block.start;
        let end = start + trimmed(&self.text[start..]);
        self.worked(1 + self.text.len() - end);
        self.text.truncate(end);
        self.origin.truncate(end);
        // Of cells that are blank, separators are left, which say nothing.
        if end == start || !self.origin.reaches(start) {
            self.text.truncate(before);
            self.origin.truncate(before);
            self.elements.unplace(&block);
            if let Some(last) = self.blocks.blocks.last_mut() {
                last.end = before;
            }
            return;
        }
        block.end = end;
        if let (Kind::Table, Some(grid)) = (block.kind, self.grids.last())
            && !grid.is_heading
            && grid.head < end
        {
            block.head = grid.head;
        }
        if block.kind == Kind::Heading {
            self.blocks
                .titles
                .push(String::from_utf8_lossy(&self.text[start..end]).trim().to_owned());
        }
        self.blocks.blocks.push(block);
    }
}

/// What HTML collapses; other blanks, as that of `&nbsp;`, are text.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c')
}

/// How many bytes from the first on are of a kind.
fn count(bytes: &[u8], is_wanted: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|&byte| !is_wanted(byte)).unwrap_or(bytes.len())
}

/// The length without the blanks at the end.
fn trimmed(bytes: &[u8]) -> usize {
    let mut rest = bytes.trim_ascii_end();
    // The last character may be a blank that HTML does not collapse, as that of `&nbsp;`.
    while rest.last().is_some_and(|&byte| byte >= 0x80 || byte == b'\x0b') {
        let start = rest.iter().rposition(|&byte| byte & 0xc0 != 0x80).unwrap_or(0);
        match std::str::from_utf8(&rest[start..]) {
            Ok(last) if last.trim().is_empty() => rest = rest[..start].trim_ascii_end(),
            _ => break,
        }
    }
    rest.len()
}
