//! The columns of chunks that were cut at clauses: number, title, the number above, notes.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::LargeStringBuilder;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Int32Array};
use arrow_schema::ArrowError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyDictMethods};

use super::strings::{ArrowTexts, Strings};
use super::write::column;

/// The names of the columns.
pub(super) const NAMES: [&str; 4] = ["clause_number", "clause_title", "clause_parent", "notes"];

/// One row a chunk, then one a clause, then one a note.
pub(super) struct Clauses {
    clause: Int32Array,
    note: Int32Array,
    above: Int32Array,
    numbers: Arc<Strings>,
    titles: Arc<Strings>,
    notes: Arc<Strings>,
}

impl Clauses {
    pub(super) fn new(columns: &Bound<'_, PyDict>) -> PyResult<Option<Self>> {
        if !columns.contains("clause")? {
            return Ok(None);
        }
        let strings = |name: &str| -> PyResult<Arc<Strings>> {
            let texts = columns.as_any().get_item(name)?;
            Ok(Arc::clone(&texts.cast::<ArrowTexts>()?.get().strings))
        };
        Ok(Some(Self {
            clause: column::<Int32Type>(columns, "clause")?,
            note: column::<Int32Type>(columns, "note")?,
            above: column::<Int32Type>(columns, "clause_above")?,
            numbers: strings("clause_numbers")?,
            titles: strings("clause_titles")?,
            notes: strings("clause_notes")?,
        }))
    }

    /// How many chunks there are.
    pub(super) fn len(&self) -> usize {
        self.clause.len().min(self.note.len())
    }

    /// The columns of some rows, in the order of [`NAMES`]; null where there is nothing.
    pub(super) fn columns(&self, rows: Range<usize>) -> Result<Vec<ArrayRef>, ArrowError> {
        let above = |row: usize| {
            let clause = usize::try_from(self.clause.value(row)).ok();
            clause.filter(|&at| at < self.above.len()).map_or(-1, |at| self.above.value(at))
        };
        Ok(vec![
            texts(rows.clone(), &self.numbers, |row| self.clause.value(row))?,
            texts(rows.clone(), &self.titles, |row| self.clause.value(row))?,
            texts(rows.clone(), &self.numbers, above)?,
            texts(rows, &self.notes, |row| self.note.value(row))?,
        ])
    }
}

fn texts(
    rows: Range<usize>,
    table: &Strings,
    of: impl Fn(usize) -> i32,
) -> Result<ArrayRef, ArrowError> {
    let mut out = LargeStringBuilder::new();
    for row in rows {
        match usize::try_from(of(row)) {
            Ok(at) if at < table.len() => out.append_value(table.get(at).0),
            Ok(at) => {
                let words = format!("there is no clause or note {at}");
                return Err(ArrowError::InvalidArgumentError(words));
            }
            Err(_) => out.append_null(),
        }
    }
    Ok(Arc::new(out.finish()))
}
