//! Tables: one line for each row, their cells parted by bars; or, where cells hold what no line can, no
//! table at all but a layout.

use super::super::elements::Element;
use super::{Gap, Writer};
use crate::blocks::Kind;

/// A table that is open.
#[derive(Debug, Default)]
pub(super) struct Grid {
    pub(super) depth: usize,
    /// Its cells hold blocks.
    pub(super) is_layout: bool,
    /// No row but header rows so far.
    pub(super) is_heading: bool,
    /// Cells of the row so far, and how many of them are separated from the one before.
    pub(super) cells: usize,
    pub(super) separated: usize,
    /// Whether a cell of the row is not a header.
    pub(super) has_data: bool,
    /// Where the row starts in the text, if it has text.
    pub(super) row: Option<usize>,
    /// Where the cell's text starts.
    pub(super) cell: usize,
    /// Behind the header rows.
    pub(super) head: usize,
}

impl Writer {
    /// Whether what is being written is a table.
    pub(super) fn is_in_table(&self) -> bool {
        self.current.is_some_and(|current| current.block.kind == Kind::Table)
    }

    /// Makes the text ready for a character of a cell: begins the table, the row, the cell.
    pub(super) fn begin_cell(&mut self) {
        if self.current.is_none() {
            self.begin_block();
            if let Some(grid) = self.grids.last_mut() {
                (grid.row, grid.is_heading, grid.head) = (None, true, self.text.len());
            }
        }
        self.worked(self.grids.last().map_or(0, |grid| grid.cells.saturating_sub(grid.separated)));
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

    pub(super) fn end_row(&mut self) {
        let Some(grid) = self.grids.last_mut() else { return };
        if grid.row.take().is_some() && grid.has_data {
            grid.is_heading = false;
        }
        (grid.cells, grid.separated, grid.has_data) = (0, 0, false);
    }

    /// From here on the innermost table is no table but a layout.
    pub(super) fn lay_out(&mut self) {
        if self.grids.last().is_some_and(|grid| !grid.is_layout) {
            self.end_block();
            if let Some(grid) = self.grids.last_mut() {
                grid.is_layout = true;
            }
            self.set_layout();
        }
    }

    /// A row starts or ends.
    pub(super) fn row(&mut self) {
        if self.grids.last().is_some_and(|grid| grid.is_layout) {
            self.end_block();
        } else {
            self.end_row();
        }
    }

    /// A cell starts.
    pub(super) fn cell(&mut self, is_data: bool) {
        let is_head = self.elements.in_table(Element::Head).is_some();
        let Some(grid) = self.grids.last_mut() else { return };
        if grid.is_layout {
            self.end_block();
            return;
        }
        grid.cells += 1;
        grid.has_data |= is_data && !is_head;
    }
}
