//! `_core.ArrowReader`: documents from an Arrow array, stream or table, part by part.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, FieldRef, Fields, Schema, SchemaRef};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::capsule::{Source, import};
use super::strings::{ArrowTexts, Nulls, Strings, is_text};
use super::table::ArrowTable;
use crate::error::{Error, Result};
use crate::py::enter::detached;
use crate::py::errors::SettingError;

/// Which columns of a table are what.
struct Table {
    text: (usize, String),
    id: Option<(usize, String)>,
    carried: Vec<usize>,
    schema: SchemaRef,
}

struct State {
    source: Source,
    /// Arrays that were read and not given out.
    pending: VecDeque<ArrayRef>,
    /// Rows given out so far.
    given: usize,
    rows: usize,
}

impl State {
    /// The arrays of the next `most` rows.
    fn part(&mut self, most: usize, poll: &dyn Fn() -> Result<()>) -> Result<Vec<ArrayRef>> {
        while self.rows < most {
            poll()?;
            let Some(array) = self.source.next()? else { break };
            self.rows += array.len();
            self.pending.push_back(array);
        }
        let (mut part, mut left) = (Vec::new(), most);
        while left > 0
            && let Some(array) = self.pending.pop_front()
        {
            let take = array.len().min(left);
            if take < array.len() {
                self.pending.push_front(array.slice(take, array.len() - take));
                part.push(array.slice(0, take));
            } else if take > 0 {
                part.push(array);
            }
            left -= take;
            self.rows -= take;
        }
        Ok(part)
    }
}

#[pyclass(frozen, module = "cantle._core")]
pub(in crate::py) struct ArrowReader {
    state: Mutex<State>,
    /// `None` where the arrays are the texts themselves.
    table: Option<Table>,
    /// What the texts are called in messages.
    name: String,
    /// Whether a string that is none is an error at once.
    strict: bool,
}

fn named(fields: &Fields) -> String {
    let names: Vec<_> =
        fields.iter().map(|field| format!("{:?} ({})", field.name(), field.data_type())).collect();
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

fn find(fields: &Fields, argument: &str, name: &str) -> PyResult<usize> {
    let mut places = (0..fields.len()).filter(|&i| fields[i].name() == name);
    match (places.next(), places.next()) {
        (Some(i), None) => Ok(i),
        (Some(_), Some(_)) => Err(SettingError::new_err(format!(
            "{argument} ({name:?}) names more than one column of texts"
        ))),
        _ => Err(SettingError::new_err(format!(
            "{argument} ({name:?}) names no column of texts; its columns: {}",
            named(fields)
        ))),
    }
}

impl Table {
    fn new(field: &FieldRef, fields: &Fields, text: &str, id: Option<&str>) -> PyResult<Self> {
        let text_at = find(fields, "text", text)?;
        let kind = fields[text_at].data_type();
        if !is_text(kind) {
            return Err(PyTypeError::new_err(format!(
                "column {text:?} of texts must hold strings, not {kind}"
            )));
        }
        let id = match id {
            None => None,
            Some(id) => {
                let at = find(fields, "id", id)?;
                let kind = fields[at].data_type();
                if !is_text(kind) && !kind.is_integer() {
                    return Err(PyTypeError::new_err(format!(
                        "column {id:?} of texts must hold strings or whole numbers as ids, not \
                         {kind}"
                    )));
                }
                Some((at, id.to_owned()))
            }
        };
        let taken = |i: usize| i == text_at || id.as_ref().is_some_and(|(at, _)| *at == i);
        let carried: Vec<_> = (0..fields.len()).filter(|&i| !taken(i)).collect();
        let kept: Fields = carried.iter().map(|&i| Arc::clone(&fields[i])).collect();
        let schema = Arc::new(Schema::new(kept).with_metadata(field.metadata().clone()));
        Ok(Self { text: (text_at, text.to_owned()), id, carried, schema })
    }
}

#[pymethods]
impl ArrowReader {
    /// `name` is what messages call the texts; `text` and `id` name columns of a table.
    #[new]
    #[pyo3(signature = (source, name, text, id, strict))]
    fn new(
        source: &Bound<'_, PyAny>,
        name: String,
        text: Option<&str>,
        id: Option<&str>,
        strict: bool,
    ) -> PyResult<Self> {
        let (source, field) = import(source)?;
        let table = match (field.data_type(), text) {
            (DataType::Struct(fields), Some(text)) => Some(Table::new(&field, fields, text, id)?),
            (kind, _) if is_text(kind) || (name == "ids" && kind.is_integer()) => None,
            (kind, _) => {
                return Err(PyTypeError::new_err(format!(
                    "{name} must be an Arrow array of strings, not of {kind}"
                )));
            }
        };
        if table.is_none()
            && let Some(id) = id
        {
            return Err(SettingError::new_err(format!(
                "id ({id:?}) names a column, and texts is no table"
            )));
        }
        let state = State { source, pending: VecDeque::new(), given: 0, rows: 0 };
        Ok(Self { state: Mutex::new(state), table, name, strict })
    }

    /// The next `most` documents, or all: texts, ids and carried columns where there are any. A string
    /// that is none, of an array that holds documents, is told of when it is cut.
    fn read(
        &self,
        py: Python<'_>,
        most: Option<usize>,
    ) -> PyResult<(ArrowTexts, Option<ArrowTexts>, Option<ArrowTable>)> {
        detached(py, |poll| self.part(most.unwrap_or(usize::MAX), poll))
    }
}

type Part = (ArrowTexts, Option<ArrowTexts>, Option<ArrowTable>);

impl ArrowReader {
    fn part(&self, most: usize, poll: &dyn Fn() -> Result<()>) -> Result<Part> {
        let mut state =
            self.state.lock().map_err(|_| Error::Internal("a reader that failed".into()))?;
        let arrays = state.part(most, poll)?;
        let mut texts = Strings::default();
        let Some(table) = &self.table else {
            for array in &arrays {
                let first = state.given;
                let place = |i: usize| format!("{}[{}]", self.name, first + i);
                if array.data_type().is_integer() {
                    texts.extend_numbers(array, &place)?;
                } else if self.name == "ids" {
                    texts.extend(array, Nulls::Refused, &place)?;
                } else {
                    texts.extend(array, Nulls::Empty, &place)?;
                }
                state.given += array.len();
            }
            let texts = if self.strict { texts.sound()? } else { texts };
            return Ok((texts.into(), None, None));
        };
        let mut ids = table.id.as_ref().map(|_| Strings::default());
        let mut batches = Vec::new();
        for array in &arrays {
            let rows = array.as_struct();
            let first = state.given;
            let place = |column: &str, i: usize| format!("column {column:?}, row {}", first + i);
            if let Some(i) = rows.nulls().and_then(|nulls| nulls.iter().position(|valid| !valid)) {
                return Err(Error::Text(format!(
                    "{}[{}] is a row that is null",
                    self.name,
                    first + i
                )));
            }
            let (text, column) = &table.text;
            texts.extend(rows.column(*text), Nulls::Empty, &|i| place(column, i))?;
            if let (Some(ids), Some((id, column))) = (&mut ids, &table.id) {
                let array = rows.column(*id);
                if array.data_type().is_integer() {
                    ids.extend_numbers(array, &|i| place(column, i))?;
                } else {
                    ids.extend(array, Nulls::Refused, &|i| place(column, i))?;
                }
            }
            let columns = table.carried.iter().map(|&i| Arc::clone(rows.column(i))).collect();
            let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
            let batch =
                RecordBatch::try_new_with_options(Arc::clone(&table.schema), columns, &options);
            batches.push(batch.map_err(|error| super::capsule::failed(&error))?);
            state.given += array.len();
        }
        let carried = (!table.carried.is_empty())
            .then(|| ArrowTable::new(Arc::clone(&table.schema), batches));
        let ids = ids.map(Strings::sound).transpose()?;
        Ok((texts.into(), ids.map(Into::into), carried))
    }
}
