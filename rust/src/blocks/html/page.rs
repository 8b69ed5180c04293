//! From text and tags to blocks.

use super::Page;
use super::elements::{Element, Elements};
use super::origin::Origin;
use crate::blocks::{Block, Blocks, Kind};

/// A cell that already holds so many bytes when a further block starts in it is part of a layout:
/// what it holds is read as if there were no table.
const LONGEST_CELL: usize = 1000;

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

/// A table that is open.
#[derive(Debug, Default)]
struct Grid {
    depth: usize,
    /// Its cells hold blocks.
    is_layout: bool,
    /// No row but header rows so far.
    is_heading: bool,
    /// Cells of the row so far, and how many of them are separated from the one before.
    cells: usize,
    separated: usize,
    /// Whether a cell of the row is not a header.
    has_data: bool,
    /// Where the row starts in the text, if it has text.
    row: Option<usize>,
    /// Where the cell's text starts.
    cell: usize,
    /// Behind the header rows.
    head: usize,
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
        }
    }

    pub(super) fn finish(mut self) -> Page {
        self.end_block();
        // The tokenizer hands on whole characters of a text that was valid, so this never replaces.
        let text = String::from_utf8(self.text)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        let title = String::from_utf8_lossy(&self.title).trim().to_owned();
        Page { text, blocks: self.blocks, title, origin: self.origin }
    }

    /// Takes part of the page's title, blanks collapsed.
    pub(super) fn title(&mut self, piece: &[u8]) {
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

    /// Whether what is being written is a table.
    fn is_in_table(&self) -> bool {
        self.current.is_some_and(|current| current.block.kind == Kind::Table)
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

    /// Makes the text ready for a character of a cell: begins the table, the row, the cell.
    fn begin_cell(&mut self) {
        if self.current.is_none() {
            self.begin_block();
            if let Some(grid) = self.grids.last_mut() {
                (grid.row, grid.is_heading, grid.head) = (None, true, self.text.len());
            }
        }
        let Some(grid) = self.grids.last_mut() else { return };
        if grid.row.is_none() {
            if self.current.is_some_and(|current| current.block.start < self.text.len()) {
                self.text.push(b'\n');
                if grid.is_heading {
                    grid.head = self.text.len();
                }
            }
            grid.row = Some(self.text.len());
            grid.cell = self.text.len();
            grid.separated = 1;
            // Cells without text come first: their separators alone.
            while grid.separated < grid.cells {
                self.text.extend_from_slice(b"| ");
                grid.separated += 1;
            }
            self.gap = Gap::None;
        } else if grid.separated < grid.cells {
            self.text.push(b' ');
            while grid.separated < grid.cells {
                self.text.extend_from_slice(b"| ");
                grid.separated += 1;
            }
            grid.cell = self.text.len();
            self.gap = Gap::None;
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

    fn end_row(&mut self) {
        let Some(grid) = self.grids.last_mut() else { return };
        if grid.row.take().is_some() && grid.has_data {
            grid.is_heading = false;
        }
        (grid.cells, grid.separated, grid.has_data) = (0, 0, false);
    }

    /// A block starts or ends here: a border, or in a line no more than a blank.
    fn border(&mut self, is_start: bool) {
        match self.layout {
            Layout::Flow if self.is_in_table() => {}
            Layout::Flow => match self.heading() {
                Some(_) if self.current.is_some() => self.space(),
                _ => self.end_block(),
            },
            Layout::Row => {
                let cell = self.grids.last().map_or(0, |grid| grid.cell);
                if is_start && self.current.is_some() && self.text.len() - cell > LONGEST_CELL {
                    self.lay_out();
                } else {
                    self.space();
                }
            }
            Layout::Verbatim => {
                if self.current.is_some() && self.text.last() != Some(&b'\n') {
                    self.text.push(b'\n');
                }
            }
        }
    }

    /// The next text stands apart.
    fn space(&mut self) {
        if self.gap == Gap::None && self.layout != Layout::Verbatim {
            self.gap = Gap::Space(None);
        }
    }

    /// The place of the heading that the text belongs to.
    fn heading(&mut self) -> Option<usize> {
        let place = self.elements.in_scope(Element::Heading)?;
        self.elements.at(place).filter(|entry| entry.level > 0).map(|_| place)
    }

    /// Ends what no heading can hold the rest of.
    fn end_heading(&mut self) {
        if let Some(place) = self.heading()
            && self.current.is_some()
        {
            if let Some(entry) = self.elements.at(place) {
                entry.level = 0;
            }
            self.end_block();
        }
    }

    /// From here on the innermost table is no table but a layout.
    fn lay_out(&mut self) {
        if self.grids.last().is_some_and(|grid| !grid.is_layout) {
            self.end_block();
            if let Some(grid) = self.grids.last_mut() {
                grid.is_layout = true;
            }
            self.set_layout();
        }
    }

    fn set_layout(&mut self) {
        let cell = self
            .elements
            .innermost_of(Element::Cell)
            .max(self.elements.innermost_of(Element::HeadCell));
        let is_cell = cell > self.elements.innermost_of(Element::Table);
        let is_data = self.grids.last().is_some_and(|grid| !grid.is_layout);
        let now = if is_cell && is_data {
            Layout::Row
        } else if self.elements.in_scope(Element::Pre).is_some() && self.heading().is_none() {
            Layout::Verbatim
        } else {
            Layout::Flow
        };
        self.layout = now;
    }

    /// Takes the start of an element.
    pub(super) fn start(&mut self, element: Element, level: u16) {
        match element {
            Element::Break => return self.line(),
            Element::Apart => return self.space(),
            Element::Caption
            | Element::Head
            | Element::Body
            | Element::Row
            | Element::Cell
            | Element::HeadCell
                if self.grids.is_empty() =>
            {
                return;
            }
            _ => {}
        }
        if let Some(place) = self.elements.closed_by_start(element) {
            self.close(place);
        }
        match element {
            Element::Heading | Element::Pre | Element::Table | Element::Quote => {
                self.end_heading();
                if self.layout == Layout::Row {
                    self.lay_out();
                }
                self.end_block();
            }
            Element::List | Element::Definitions | Element::Rule | Element::Paragraph => {
                self.end_heading();
                self.border(true);
                if element == Element::Rule && self.layout == Layout::Verbatim {
                    self.end_block();
                }
            }
            Element::Row => self.row(),
            Element::Cell | Element::HeadCell => {
                // A cell without a row begins one.
                if self.elements.in_table(Element::Row).is_none() {
                    self.row();
                    self.elements.push(Element::Row, 0);
                }
                self.cell(element == Element::Cell);
            }
            Element::Caption => self.end_block(),
            _ => self.border(true),
        }
        if element != Element::Rule {
            self.elements.push(element, level);
            if element == Element::Table {
                let depth = self.elements.depth();
                self.grids.push(Grid { is_heading: true, depth, ..Grid::default() });
            }
            self.set_layout();
        }
    }

    /// Takes the end of an element.
    pub(super) fn end(&mut self, element: Element) {
        match element {
            Element::Break => self.line(),
            Element::Apart => self.space(),
            Element::Rule => {}
            _ => {
                if let Some(place) = self.elements.closed_by_end(element) {
                    self.close(place);
                }
            }
        }
    }

    /// Closes every element from a place on.
    fn close(&mut self, place: usize) {
        while self.elements.len() >= place {
            let Some(entry) = self.elements.pop() else { return };
            match entry.element {
                Element::Table => {
                    self.end_block();
                    self.grids.pop();
                }
                Element::Heading | Element::Pre | Element::Caption => self.end_block(),
                Element::Row => self.row(),
                Element::Cell | Element::HeadCell => {
                    if self.layout != Layout::Row {
                        self.end_block();
                    }
                }
                _ => self.border(false),
            }
            self.set_layout();
        }
    }

    /// A row starts or ends.
    fn row(&mut self) {
        if self.grids.last().is_some_and(|grid| grid.is_layout) {
            self.end_block();
        } else {
            self.end_row();
        }
    }

    /// A cell starts.
    fn cell(&mut self, is_data: bool) {
        let is_head = self.elements.in_table(Element::Head).is_some();
        let Some(grid) = self.grids.last_mut() else { return };
        if grid.is_layout {
            self.end_block();
            return;
        }
        grid.cells += 1;
        grid.has_data |= is_data && !is_head;
    }

    /// A `br`; two of them are a border.
    fn line(&mut self) {
        let is_heading = self.heading().is_some();
        match self.layout {
            Layout::Verbatim if self.current.is_some() => self.text.push(b'\n'),
            Layout::Verbatim => self.indent.clear(),
            Layout::Row => self.space(),
            Layout::Flow if is_heading => self.space(),
            Layout::Flow if self.gap == Gap::Line => self.end_block(),
            Layout::Flow => {
                if self.current.is_some() {
                    self.gap = Gap::Line;
                }
            }
        }
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
