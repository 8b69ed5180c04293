//! `_core.ArrowChunks`: chunks as a stream of record batches, made as they are asked for.
//!
//! Columns of numbers are the NumPy arrays themselves. Texts are copied into large strings, or
//! shown as views into the documents' own bytes. A batch is made without the interpreter lock, on
//! whichever thread asks; Python objects are kept alive until the last buffer is released.

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::builder::make_view;
use arrow_array::types::{ArrowPrimitiveType, Int32Type, Int64Type, UInt32Type};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Int32Array, Int64Array, LargeStringArray, PrimitiveArray,
    RecordBatch, RecordBatchReader, StringViewArray,
};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use numpy::{Element, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};

use super::capsule;
use super::clauses::{Clauses, NAMES as CLAUSES};
use super::strings::{ArrowTexts, INLINE, Row, Strings};
use super::structure::{NAMES, Structure};
use super::table::ArrowTable;
use crate::py::errors::SettingError;
use crate::py::texts::borrow;

/// A batch ends with this many rows, or this many bytes of copied text.
const ROWS: usize = 1 << 16;
const BYTES: usize = 1 << 25;
/// The furthest place in a buffer that a view can name.
const REACH: usize = i32::MAX as usize;

/// A Python object that owns bytes which Arrow buffers show.
struct Owner(Option<Py<PyAny>>);

impl Drop for Owner {
    fn drop(&mut self) {
        let object = self.0.take();
        // Whoever releases the last buffer may not hold the interpreter lock. When the interpreter
        // has gone, the object has nowhere to go either.
        let mut object = AssertUnwindSafe(object);
        if Python::try_attach(|_| drop(object.take())).is_none() {
            std::mem::forget(object.take());
        }
    }
}

fn owner(object: &Bound<'_, PyAny>) -> Arc<AssertUnwindSafe<Owner>> {
    Arc::new(AssertUnwindSafe(Owner(Some(object.clone().unbind()))))
}

/// A NumPy array as an Arrow array over the same memory.
pub(super) fn column<T: ArrowPrimitiveType>(
    columns: &Bound<'_, PyDict>,
    name: &str,
) -> PyResult<PrimitiveArray<T>>
where
    T::Native: Element,
{
    let object = columns.as_any().get_item(name)?;
    let array: PyReadonlyArray1<'_, T::Native> = object.extract()?;
    let values = array.as_slice()?;
    let length = std::mem::size_of_val(values);
    let buffer = match NonNull::new(values.as_ptr().cast_mut().cast::<u8>()) {
        // SAFETY: the array's memory is `length` bytes from there, aligned for its type, and lives
        // as long as the array, which the owner keeps; the arrays of chunks are never written to.
        Some(start) if length > 0 => unsafe {
            Buffer::from_custom_allocation(start, length, owner(&object))
        },
        _ => Buffer::from(&[0_u8; 0]),
    };
    if length == 0 {
        return Ok(PrimitiveArray::from_iter_values([]));
    }
    Ok(PrimitiveArray::new(ScalarBuffer::new(buffer, 0, array.len()), None))
}

/// Python's texts as strings in buffers of their own, one a document.
fn held(texts: &Bound<'_, PyTuple>) -> PyResult<Strings> {
    let owner = owner(texts.as_any());
    let mut strings = Strings::default();
    for (i, object) in texts.iter().enumerate() {
        let (text, ascii) = borrow(&object, &|| format!("texts[{i}]"))?;
        // SAFETY: the text lies in an immutable `str` or `bytes` that the tuple keeps alive, and the
        // owner keeps the tuple.
        let buffer = unsafe {
            let start = NonNull::new_unchecked(text.as_ptr().cast_mut());
            Buffer::from_custom_allocation(start, text.len(), owner.clone())
        };
        strings.buffers.push(buffer);
        strings.rows.push(Row { start: 0, len: text.len(), buffer: i as u32, ascii });
    }
    Ok(strings)
}

fn texts(object: &Bound<'_, PyAny>) -> PyResult<Arc<Strings>> {
    if let Ok(texts) = object.cast::<ArrowTexts>() {
        return Ok(Arc::clone(&texts.get().strings));
    }
    Ok(Arc::new(held(object.cast::<PyTuple>()?)?))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Texts {
    Large,
    View,
    Absent,
}

/// All that the batches are made of.
struct Whole {
    schema: SchemaRef,
    doc: Int32Array,
    ordinal: Int32Array,
    byte_start: Int64Array,
    byte_end: Int64Array,
    /// The columns that are given out as they are, in order.
    plain: Vec<ArrayRef>,
    structure: Option<Structure>,
    clauses: Option<Clauses>,
    documents: Arc<Strings>,
    /// The documents' ids, or the number of the first where they are derived.
    ids: Result<Arc<Strings>, usize>,
    name: String,
    texts: Texts,
    /// Different metadata, and which of them each document has.
    metadata: Option<(ArrayRef, Int32Array)>,
    carried: Option<Arc<ArrowTable>>,
}

impl Whole {
    fn text(&self, row: usize) -> Result<&str, ArrowError> {
        self.slice(row, self.byte_start.value(row), self.byte_end.value(row))
    }

    /// A span of the document of a row.
    fn slice(&self, row: usize, start: i64, end: i64) -> Result<&str, ArrowError> {
        let doc = self.document(row)?;
        let span = usize::try_from(start).ok().zip(usize::try_from(end).ok());
        let text = self.documents.get(doc).0;
        span.and_then(|(start, end)| text.get(start..end)).ok_or_else(|| {
            ArrowError::InvalidArgumentError(format!(
                "chunk {row}: {start}..{end} is no span of its text"
            ))
        })
    }

    fn document(&self, row: usize) -> Result<usize, ArrowError> {
        let doc = self.doc.value(row);
        let known = usize::try_from(doc).ok().filter(|&doc| doc < self.documents.len());
        known.ok_or_else(|| {
            ArrowError::InvalidArgumentError(format!("chunk {row}: there is no document {doc}"))
        })
    }

    /// The row behind the batch that starts at `start`.
    fn end(&self, start: usize) -> usize {
        let most = self.doc.len().min(start + ROWS);
        if self.texts != Texts::Large {
            return most;
        }
        let mut bytes = 0;
        for row in start..most {
            bytes += (self.byte_end.value(row) - self.byte_start.value(row)).max(0) as usize;
            if bytes > BYTES {
                return row.max(start + 1);
            }
        }
        most
    }

    fn batch(&self, start: usize, end: usize) -> Result<RecordBatch, ArrowError> {
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.schema.fields().len());
        let rows = start..end;
        // "source" is made first: "id" starts with it.
        let source = strings(rows.clone(), |row, out| {
            let doc = self.document(row)?;
            match &self.ids {
                Ok(ids) => out.extend_from_slice(ids.get(doc).0.as_bytes()),
                Err(first) => write!(out, "doc{}", first + doc)?,
            }
            Ok(())
        })?;
        columns.push(Arc::new(strings(rows.clone(), |row, out| {
            out.extend_from_slice(source.value(row - start).as_bytes());
            Ok(write!(out, "_{}_{}", self.name, self.ordinal.value(row))?)
        })?));
        columns.push(Arc::new(source));
        columns.extend(self.plain.iter().map(|column| column.slice(start, end - start)));
        if let Some(structure) = &self.structure {
            let text = |row, start, end| self.slice(row, start, end).map(str::to_owned);
            columns.extend(structure.columns(start..end, text)?);
        }
        if let Some(clauses) = &self.clauses {
            columns.extend(clauses.columns(start..end)?);
        }
        match self.texts {
            Texts::Absent => {}
            Texts::Large => columns.push(Arc::new(strings(rows, |row, out| {
                out.extend_from_slice(self.text(row)?.as_bytes());
                Ok(())
            })?)),
            Texts::View => columns.push(Arc::new(self.views(start, end)?)),
        }
        let docs = &self.doc.values()[start..end];
        if let Some((values, codes)) = &self.metadata {
            let keys: Int32Array =
                docs.iter().map(|&doc| codes.values().get(doc as usize).copied()).collect();
            columns.push(Arc::new(DictionaryArray::<Int32Type>::try_new(keys, values.clone())?));
        }
        if let Some(carried) = &self.carried {
            for column in 0..carried.schema.fields().len() {
                columns.push(carried.repeat(column, docs)?);
            }
        }
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
    }

    /// Views into the documents' buffers, each cut down to what the batch shows of it.
    fn views(&self, start: usize, end: usize) -> Result<StringViewArray, ArrowError> {
        struct Window {
            buffer: usize,
            start: usize,
            end: usize,
        }
        let mut windows: Vec<Window> = Vec::new();
        let mut open: HashMap<usize, usize> = HashMap::new();
        let mut views = Vec::with_capacity(end - start);
        for row in start..end {
            let text = self.text(row)?.as_bytes();
            if text.len() <= INLINE {
                views.push(make_view(text, 0, 0));
                continue;
            }
            let document = self.documents.rows[self.document(row)?];
            let buffer = document.buffer as usize;
            let at = document.start + self.byte_start.value(row) as usize;
            let behind = at + text.len();
            let known = open
                .get(&buffer)
                .copied()
                .filter(|&i| windows[i].start <= at && behind - windows[i].start <= REACH);
            let i = known.unwrap_or_else(|| {
                windows.push(Window { buffer, start: at, end: behind });
                open.insert(buffer, windows.len() - 1);
                windows.len() - 1
            });
            if text.len() > REACH {
                return Err(ArrowError::InvalidArgumentError(format!(
                    "chunk {row} has {} bytes: a string view holds less than 2 GiB",
                    text.len()
                )));
            }
            windows[i].end = windows[i].end.max(behind);
            views.push(make_view(text, i as u32, (at - windows[i].start) as u32));
        }
        let buffers: Vec<Buffer> = windows
            .iter()
            .map(|w| self.documents.buffers[w.buffer].slice_with_length(w.start, w.end - w.start))
            .collect();
        // SAFETY: each view was made from a slice of a `str`, and names that slice's place within
        // the window of its buffer; windows cover all slices that name them.
        Ok(unsafe { StringViewArray::new_unchecked(views.into(), buffers.into(), None) })
    }
}

/// Large strings, one a row, written one behind the other by `write`, which writes whole `str`s.
fn strings(
    rows: std::ops::Range<usize>,
    write: impl Fn(usize, &mut Vec<u8>) -> Result<(), ArrowError>,
) -> Result<LargeStringArray, ArrowError> {
    let mut offsets = Vec::with_capacity(rows.len() + 1);
    let mut data = Vec::new();
    offsets.push(0_i64);
    for row in rows {
        write(row, &mut data)?;
        offsets.push(data.len() as i64);
    }
    // SAFETY: only whole `str`s were written, so that each row is UTF-8; the offsets ascend from 0
    // to the data's length.
    Ok(unsafe {
        let offsets = OffsetBuffer::new_unchecked(offsets.into());
        LargeStringArray::new_unchecked(offsets, Buffer::from_vec(data), None)
    })
}

/// The batches one after the other.
struct Batches {
    whole: Arc<Whole>,
    at: usize,
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.at;
        if start >= self.whole.doc.len() {
            return None;
        }
        // A panic must not unwind into the library that asks.
        let made = catch_unwind(AssertUnwindSafe(|| {
            let end = self.whole.end(start);
            (end, self.whole.batch(start, end))
        }));
        let (end, batch) = made.unwrap_or_else(|_| {
            (usize::MAX, Err(ArrowError::ComputeError("a defect of cantle".into())))
        });
        self.at = if batch.is_ok() { end } else { usize::MAX };
        Some(batch)
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.whole.schema)
    }
}

/// `wanted`, or behind `document_` where it is taken.
fn free(taken: &mut HashSet<String>, wanted: &str) -> String {
    let mut name = wanted.to_owned();
    while !taken.insert(name.clone()) {
        name = format!("document_{name}");
    }
    name
}

#[pyclass(frozen, module = "cantle._core")]
pub(in crate::py) struct ArrowChunks(Arc<Whole>);

#[pymethods]
impl ArrowChunks {
    /// `ids` are texts, or the number of the first document; `metadata` holds different texts and
    /// which of them each document has.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "one argument per part of a table")]
    fn new(
        columns: &Bound<'_, PyDict>,
        documents: &Bound<'_, PyAny>,
        ids: &Bound<'_, PyAny>,
        name: String,
        texts: Option<&str>,
        metadata: Option<(Vec<String>, Vec<i32>)>,
        carried: Option<Bound<'_, ArrowTable>>,
        about: String,
    ) -> PyResult<Self> {
        let texts = match texts {
            Some("large") => Texts::Large,
            Some("view") => Texts::View,
            None => Texts::Absent,
            Some(other) => {
                return Err(SettingError::new_err(format!(
                    "texts ({other:?}) must be \"large\", \"view\" or None"
                )));
            }
        };
        let ids = match ids.extract::<usize>() {
            Ok(first) => Err(first),
            Err(_) => match ids.cast::<ArrowTexts>() {
                Ok(ids) => Ok(Arc::clone(&ids.get().strings)),
                Err(_) => Ok(Arc::new(Strings::owned(&ids.extract::<Vec<String>>()?)?)),
            },
        };
        let doc = column::<Int32Type>(columns, "doc")?;
        let ordinal = column::<Int32Type>(columns, "ordinal")?;
        let byte_start = column::<Int64Type>(columns, "byte_start")?;
        let byte_end = column::<Int64Type>(columns, "byte_end")?;
        let mut plain: Vec<(&str, ArrayRef)> = vec![
            ("doc", Arc::new(doc.clone())),
            ("ordinal", Arc::new(ordinal.clone())),
            ("byte_start", Arc::new(byte_start.clone())),
            ("byte_end", Arc::new(byte_end.clone())),
        ];
        for name in ["char_start", "char_end", "size"] {
            plain.push((name, Arc::new(column::<Int64Type>(columns, name)?)));
        }
        plain.push(("flags", Arc::new(column::<UInt32Type>(columns, "flags")?)));
        if columns.contains("parent")? {
            plain.push(("parent", Arc::new(column::<Int64Type>(columns, "parent")?)));
        }
        let structure = Structure::new(columns)?;
        let clauses = Clauses::new(columns)?;
        let rows = structure.as_ref().map_or(doc.len(), Structure::len);
        let numbered = clauses.as_ref().map_or(doc.len(), Clauses::len);
        if rows != doc.len()
            || numbered != doc.len()
            || plain.iter().any(|(_, column)| column.len() != doc.len())
        {
            return Err(SettingError::new_err("the columns of chunks differ in length"));
        }
        let mut taken = HashSet::new();
        let mut fields = Vec::new();
        let mut field = |name: &str, kind: &DataType| {
            fields.push(Field::new(free(&mut taken, name), kind.clone(), true));
        };
        field("id", &DataType::LargeUtf8);
        field("source", &DataType::LargeUtf8);
        plain.iter().for_each(|(name, column)| field(name, column.data_type()));
        if structure.is_some() {
            NAMES.iter().zip(Structure::types()).for_each(|(name, kind)| field(name, &kind));
        }
        if clauses.is_some() {
            CLAUSES.iter().for_each(|name| field(name, &DataType::LargeUtf8));
        }
        match texts {
            Texts::Large => field("text", &DataType::LargeUtf8),
            Texts::View => field("text", &DataType::Utf8View),
            Texts::Absent => {}
        }
        if metadata.is_some() {
            let kinds = (Box::new(DataType::Int32), Box::new(DataType::LargeUtf8));
            field("metadata", &DataType::Dictionary(kinds.0, kinds.1));
        }
        // These names mean ours, whether the column is there or not: a reader of many files must
        // not meet two meanings.
        for name in ["parent", "text", "metadata"].into_iter().chain(NAMES) {
            taken.insert(name.to_owned());
        }
        let carried = carried.map(|table| table.get().shared());
        for given in carried.iter().flat_map(|table| table.schema.fields()) {
            let name = free(&mut taken, given.name());
            fields.push(given.as_ref().clone().with_name(name).with_nullable(true));
        }
        let about = HashMap::from([("cantle".to_owned(), about)]);
        let metadata = match metadata {
            None => None,
            Some((values, codes)) => {
                let values: ArrayRef = Arc::new(LargeStringArray::from(values));
                Some((values, Int32Array::from(codes)))
            }
        };
        Ok(Self(Arc::new(Whole {
            schema: Arc::new(Schema::new(fields).with_metadata(about)),
            doc,
            ordinal,
            byte_start,
            byte_end,
            plain: plain.into_iter().map(|(_, column)| column).collect(),
            structure,
            clauses,
            documents: self::texts(documents)?,
            ids,
            name,
            texts,
            metadata,
            carried,
        })))
    }

    fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::schema(py, &self.0.schema)
    }

    fn stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::stream(py, Box::new(Batches { whole: Arc::clone(&self.0), at: 0 }))
    }
}
