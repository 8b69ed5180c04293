//! The columns of chunks whose documents' blocks are known: kind, heading path and context.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::{LargeStringBuilder, ListBuilder};
use arrow_array::types::{Int32Type, Int64Type, UInt8Type};
use arrow_array::{
    ArrayRef, DictionaryArray, Int32Array, Int64Array, LargeStringArray, UInt8Array,
};
use arrow_schema::{ArrowError, DataType, Field};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyDictMethods};

use super::strings::{ArrowTexts, Strings};
use super::write::column;
use crate::blocks::Kind;

/// The names of the columns, which mean ours whether they are there or not.
pub(super) const NAMES: [&str; 3] = ["kind", "heading_path", "context"];

/// What the columns are made of: one row a chunk, then one a heading, then one a context.
pub(super) struct Structure {
    kind: UInt8Array,
    heading: Int32Array,
    context: Int32Array,
    key: Option<Int32Array>,
    above: Int32Array,
    titles: Arc<Strings>,
    context_start: Int64Array,
    context_end: Int64Array,
    kinds: ArrayRef,
}

impl Structure {
    pub(super) fn new(columns: &Bound<'_, PyDict>) -> PyResult<Option<Self>> {
        if !columns.contains("kind")? {
            return Ok(None);
        }
        let titles = columns.as_any().get_item("titles")?;
        let names = Kind::ALL.map(|kind| Some(kind.name()));
        Ok(Some(Self {
            kind: column::<UInt8Type>(columns, "kind")?,
            heading: column::<Int32Type>(columns, "heading")?,
            context: column::<Int32Type>(columns, "context")?,
            key: match columns.contains("key")? {
                true => Some(column::<Int32Type>(columns, "key")?),
                false => None,
            },
            above: column::<Int32Type>(columns, "above")?,
            titles: Arc::clone(&titles.cast::<ArrowTexts>()?.get().strings),
            context_start: column::<Int64Type>(columns, "context_byte_start")?,
            context_end: column::<Int64Type>(columns, "context_byte_end")?,
            kinds: Arc::new(LargeStringArray::from_iter(names)),
        }))
    }

    /// How many chunks there are.
    pub(super) fn len(&self) -> usize {
        self.kind.len()
    }

    /// The columns' types, in the order of [`NAMES`].
    pub(super) fn types() -> [DataType; 3] {
        let item = Field::new_list_field(DataType::LargeUtf8, true);
        [
            DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::LargeUtf8)),
            DataType::List(Arc::new(item)),
            DataType::LargeUtf8,
        ]
    }

    /// The columns of some rows; `text` gives a span of a row's document.
    pub(super) fn columns(
        &self,
        rows: Range<usize>,
        text: impl Fn(usize, i64, i64) -> Result<String, ArrowError>,
    ) -> Result<[ArrayRef; 3], ArrowError> {
        let missing = |what: &str, row: i32| {
            ArrowError::InvalidArgumentError(format!("there is no {what} {row}"))
        };
        let codes: Int32Array =
            rows.clone().map(|row| Some(i32::from(self.kind.value(row)))).collect();
        let kinds = DictionaryArray::<Int32Type>::try_new(codes, self.kinds.clone())?;
        let mut paths = ListBuilder::new(LargeStringBuilder::new());
        let mut path = Vec::new();
        for row in rows.clone() {
            path.clear();
            let mut heading = self.heading.value(row);
            while let Ok(at) = usize::try_from(heading) {
                // A heading stands under an earlier one, which ends every path.
                if at >= self.titles.len() || self.above.value(at) >= heading {
                    return Err(missing("heading", heading));
                }
                path.push(at);
                heading = self.above.value(at);
            }
            path.iter().rev().for_each(|&at| paths.values().append_value(self.titles.get(at).0));
            paths.append(true);
        }
        let mut contexts = LargeStringBuilder::new();
        let span = |row: usize, at: i32| match usize::try_from(at) {
            Ok(at) if at < self.context_start.len() => {
                text(row, self.context_start.value(at), self.context_end.value(at)).map(Some)
            }
            Ok(_) => Err(missing("context", at)),
            Err(_) => Ok(None),
        };
        for row in rows {
            let head = span(row, self.context.value(row))?;
            let key = match &self.key {
                Some(key) if row < key.len() => span(row, key.value(row))?,
                _ => None,
            };
            match (head, key) {
                (Some(head), Some(key)) => contexts.append_value(format!("{head}\n{key}")),
                (one, other) => contexts.append_option(one.or(other)),
            }
        }
        Ok([Arc::new(kinds), Arc::new(paths.finish()), Arc::new(contexts.finish())])
    }
}
