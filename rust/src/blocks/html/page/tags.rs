//! What starts and ends with an element: blocks, lines, layouts.

use super::super::elements::Element;
use super::table::Grid;
use super::{Gap, Layout, Writer};

/// A cell that already holds so many bytes when a further block starts in it is part of a layout:
/// what it holds is read as if there were no table.
const LONGEST_CELL: usize = 1000;

impl Writer {
    /// Takes the start of an element.
    pub(in crate::blocks::html) fn start(&mut self, element: Element, level: u16) {
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
    pub(in crate::blocks::html) fn end(&mut self, element: Element) {
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
    pub(super) fn close(&mut self, place: usize) {
        while self.elements.len() >= place {
            self.worked(1);
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

    /// A block starts or ends here: a border, or in a line no more than a blank.
    pub(super) fn border(&mut self, is_start: bool) {
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

    /// A `br`; two of them are a border.
    pub(super) fn line(&mut self) {
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

    /// The next text stands apart.
    pub(super) fn space(&mut self) {
        if self.gap == Gap::None && self.layout != Layout::Verbatim {
            self.gap = Gap::Space(None);
        }
    }

    /// The place of the heading that the text belongs to.
    pub(super) fn heading(&mut self) -> Option<usize> {
        let place = self.elements.in_scope(Element::Heading)?;
        self.elements.at(place).filter(|entry| entry.level > 0).map(|_| place)
    }

    /// Ends what no heading can hold the rest of.
    pub(super) fn end_heading(&mut self) {
        if let Some(place) = self.heading()
            && self.current.is_some()
        {
            if let Some(entry) = self.elements.at(place) {
                entry.level = 0;
            }
            self.end_block();
        }
    }

    pub(super) fn set_layout(&mut self) {
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
}
