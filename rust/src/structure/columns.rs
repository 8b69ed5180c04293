//! What the blocks of many documents say of their chunks, a column each.

use crate::batch::Source;
use crate::blocks::{Form, Kind};
use crate::chars::CharIndex;
use crate::structure::clauses::columns::ClauseColumns;
use crate::structure::cutting::Structure;
use crate::structure::depth::TRIED;

/// Where no row is named.
pub(crate) const NONE: i32 = -1;

/// Rows for chunks, for headings, for heads of tables and fences, and for documents. Offsets are
/// half-open and within the document.
#[derive(Default)]
pub struct StructureColumns {
    /// For each chunk the number of its [`Kind`].
    pub kind: Vec<u8>,
    /// For each chunk the row of its heading; -1 for none.
    pub heading: Vec<i32>,
    /// For each chunk the row of its context; -1 for none.
    pub context: Vec<i32>,
    /// For each chunk the row of a second context, the key of its row; -1 for none.
    pub key: Vec<i32>,
    /// For each chunk how many steps of what stands before it were lost.
    pub lost: Vec<u16>,
    /// For each chunk the first block that it touches, and behind the last.
    pub blocks: [Vec<i32>; 2],
    /// For each heading its level.
    pub level: Vec<u16>,
    /// For each heading the row of the one that it stands under; -1 for none.
    pub above: Vec<i32>,
    /// For each heading where its block starts, in bytes.
    pub heading_start: Vec<i64>,
    /// For each heading its document.
    pub heading_doc: Vec<i32>,
    /// For each heading what it says.
    pub titles: Vec<String>,
    /// For each context where it starts and ends, in bytes and in characters.
    pub contexts: [Vec<i64>; 4],
    /// The clauses, where documents were cut at them.
    pub clauses: ClauseColumns,
    /// For each document whose depth was settled its number and the depth.
    pub settled: [Vec<i32>; 2],
    /// For each of those the number of sections and the median of their sizes, at each depth tried.
    pub sections: Vec<i64>,
    /// See `sections`; NaN where a depth was not tried.
    pub medians: Vec<f64>,
}

impl StructureColumns {
    /// Whether nothing is known of any document.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kind.is_empty() && self.settled[0].is_empty()
    }

    /// Fills up to `rows` chunks of which nothing is known.
    pub(crate) fn fill(&mut self, rows: usize) {
        self.kind.resize(rows, Kind::Prose as u8);
        self.heading.resize(rows, NONE);
        self.context.resize(rows, NONE);
        self.key.resize(rows, NONE);
        self.clauses.fill(rows);
        self.lost.resize(rows, 0);
        self.blocks.iter_mut().for_each(|column| column.resize(rows, NONE));
    }

    /// Adds a document whose first chunk is the row `rows`.
    pub(crate) fn push(
        &mut self,
        rows: usize,
        source: &Source<'_>,
        index: &CharIndex<'_>,
        structure: Structure,
    ) {
        self.fill(rows);
        let headings = self.level.len();
        let row =
            |heading: Option<usize>| heading.map_or(NONE, |heading| (headings + heading) as i32);
        for (level, parent, start) in structure.headings {
            self.level.push(level);
            self.above.push(row(parent));
            self.heading_start.push((source.byte_start + start) as i64);
            self.heading_doc.push(source.doc);
        }
        self.titles.extend(structure.titles);
        self.clauses.push(source, structure.clauses.as_ref(), structure.notes);
        let (mut last, mut last_key) = (None, None);
        let handed_in = matches!(source.form, Form::Read(_));
        for one in structure.carried {
            self.kind.push(one.kind as u8);
            self.heading.push(row(one.heading));
            self.lost.push(one.lost.min(u16::MAX.into()) as u16);
            let span =
                if handed_in { (one.blocks.0 as i32, one.blocks.1 as i32) } else { (NONE, NONE) };
            self.blocks[0].push(span.0);
            self.blocks[1].push(span.1);
            let context = self.context(&mut last, source, index, one.context);
            self.context.push(context);
            let key = self.context(&mut last_key, source, index, one.key);
            self.key.push(key);
        }
        if let Some(chosen) = structure.chosen {
            self.settled[0].push(source.doc);
            self.settled[1].push(chosen.depth.into());
            self.sections.extend(chosen.sections.map(|n| n as i64));
            self.medians.extend(chosen.median);
            debug_assert_eq!(self.medians.len(), TRIED.len() * self.settled[0].len());
        }
    }

    /// The row of a context. Parts of one table, and of one row, follow each other.
    fn context(
        &mut self,
        last: &mut Option<(usize, i32)>,
        source: &Source<'_>,
        index: &CharIndex<'_>,
        span: Option<(usize, usize)>,
    ) -> i32 {
        let Some((start, end)) = span else { return NONE };
        if let Some((_, row)) = last.filter(|(before, _)| *before == start) {
            return row;
        }
        self.contexts[0].push((source.byte_start + start) as i64);
        self.contexts[1].push((source.byte_start + end) as i64);
        self.contexts[2].push((source.char_start + index.rank(start)) as i64);
        self.contexts[3].push((source.char_start + index.rank(end)) as i64);
        let row = self.contexts[0].len() as i32 - 1;
        *last = Some((start, row));
        row
    }

    /// Adds another's rows; `rows` and `more` are the chunks of this and of the other.
    pub(crate) fn append(&mut self, rows: usize, more: usize, mut other: Self) {
        if self.is_empty() && other.is_empty() {
            return;
        }
        self.fill(rows);
        other.fill(more);
        let shift = |column: &mut Vec<i32>, by: usize| {
            column.iter_mut().filter(|row| **row != NONE).for_each(|row| *row += by as i32);
        };
        shift(&mut other.heading, self.level.len());
        shift(&mut other.above, self.level.len());
        shift(&mut other.context, self.contexts[0].len());
        shift(&mut other.key, self.contexts[0].len());
        self.kind.append(&mut other.kind);
        self.heading.append(&mut other.heading);
        self.context.append(&mut other.context);
        self.key.append(&mut other.key);
        self.clauses.append(other.clauses);
        self.lost.append(&mut other.lost);
        self.level.append(&mut other.level);
        self.above.append(&mut other.above);
        self.heading_start.append(&mut other.heading_start);
        self.heading_doc.append(&mut other.heading_doc);
        self.titles.append(&mut other.titles);
        for (mine, theirs) in self.blocks.iter_mut().zip(&mut other.blocks) {
            mine.append(theirs);
        }
        for (mine, theirs) in self.contexts.iter_mut().zip(&mut other.contexts) {
            mine.append(theirs);
        }
        for (mine, theirs) in self.settled.iter_mut().zip(&mut other.settled) {
            mine.append(theirs);
        }
        self.sections.append(&mut other.sections);
        self.medians.append(&mut other.medians);
    }
}
