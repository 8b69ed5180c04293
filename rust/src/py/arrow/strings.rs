//! `_core.ArrowTexts`: strings that lie in Arrow buffers, borrowed, never copied.
//!
//! Every encoding of strings becomes the same thing: the buffers, and for each row its place in
//! one of them. A place is checked once, when it is taken in.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, types};
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyRange, PyString, PyTuple, PyType};
use simdutf8::basic::from_utf8;

use crate::error::Error;

/// The longest string that a view holds itself.
pub(super) const INLINE: usize = 12;
const NO_BUFFER: u32 = u32::MAX;

/// Where a row's bytes lie.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) start: usize,
    pub(super) len: usize,
    pub(super) buffer: u32,
    pub(super) ascii: bool,
}

const EMPTY: Row = Row { start: 0, len: 0, buffer: NO_BUFFER, ascii: true };

/// Checked UTF-8 in Arrow buffers.
#[derive(Default)]
pub(super) struct Strings {
    pub(super) buffers: Vec<Buffer>,
    pub(super) rows: Vec<Row>,
    /// Rows that could not be taken in, and why, in order. They are empty strings.
    pub(super) flaws: Vec<(usize, String)>,
}

/// What a null becomes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Nulls {
    /// An empty string.
    Empty,
    /// An error.
    Refused,
}

/// Whether a type holds strings, in any encoding. Bytes count: they are checked to be UTF-8.
pub(super) fn is_text(kind: &DataType) -> bool {
    use DataType::{Binary, BinaryView, Dictionary, LargeBinary, LargeUtf8, Utf8, Utf8View};
    match kind {
        Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView => true,
        Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

enum Layout<'a> {
    Offsets32(&'a [i32]),
    Offsets64(&'a [i64]),
    Views(&'a [u128], usize),
}

/// One array of strings, before its rows are checked.
struct Values<'a> {
    layout: Layout<'a>,
    nulls: Option<&'a NullBuffer>,
    buffers: &'a [Buffer],
    /// The number of `buffers[0]` among the buffers kept.
    first: u32,
    len: usize,
}

enum Flaw {
    Bounds,
    Utf8(usize, u8),
}

impl<'a> Values<'a> {
    fn new(data: &'a ArrayData, first: u32) -> Option<Self> {
        use DataType::{Binary, BinaryView, LargeBinary, LargeUtf8, Utf8, Utf8View};
        let (offset, len, buffers) = (data.offset(), data.len(), data.buffers());
        let layout = match data.data_type() {
            _ if len == 0 => Layout::Offsets32(&[]),
            Utf8 | Binary => {
                Layout::Offsets32(buffers.first()?.typed_data().get(offset..=offset + len)?)
            }
            LargeUtf8 | LargeBinary => {
                Layout::Offsets64(buffers.first()?.typed_data().get(offset..=offset + len)?)
            }
            Utf8View | BinaryView => {
                Layout::Views(buffers.first()?.typed_data().get(offset..offset + len)?, offset)
            }
            _ => return None,
        };
        Some(Self { layout, nulls: data.nulls(), buffers, first, len })
    }

    /// The checked place of row `i`; `None` where it is null.
    fn row(&self, i: usize) -> Result<Option<Row>, Flaw> {
        if self.nulls.is_some_and(|nulls| nulls.is_null(i)) {
            return Ok(None);
        }
        let (buffer, start, len) = match self.layout {
            Layout::Offsets32(offsets) => between(offsets[i].into(), offsets[i + 1].into())?,
            Layout::Offsets64(offsets) => between(offsets[i], offsets[i + 1])?,
            Layout::Views(views, offset) => {
                // Length; then the bytes, or four of them, the buffer and the place within.
                let view = views[i];
                let len = view as u32 as usize;
                if len <= INLINE {
                    (0, (offset + i) * 16 + 4, len)
                } else {
                    (1 + (view >> 64) as u32 as usize, (view >> 96) as u32 as usize, len)
                }
            }
        };
        let bytes = self.buffers.get(buffer).ok_or(Flaw::Bounds)?.as_slice();
        let end = start.checked_add(len).ok_or(Flaw::Bounds)?;
        let bytes = bytes.get(start..end).ok_or(Flaw::Bounds)?;
        let ascii = bytes.is_ascii();
        if !ascii && let Err(error) = simdutf8::compat::from_utf8(bytes) {
            let at = error.valid_up_to();
            return Err(Flaw::Utf8(at, bytes[at]));
        }
        Ok(Some(Row { start, len, buffer: self.first + buffer as u32, ascii }))
    }
}

fn between(start: i64, end: i64) -> Result<(usize, usize, usize), Flaw> {
    match (usize::try_from(start), usize::try_from(end)) {
        (Ok(start), Ok(end)) if start <= end => Ok((1, start, end - start)),
        _ => Err(Flaw::Bounds),
    }
}

/// The keys of a dictionary-encoded array, as they are; those of null rows mean nothing.
fn keys(data: &ArrayData, kind: &DataType) -> Option<Vec<i64>> {
    fn widen<T: ArrowNativeType>(data: &ArrayData) -> Option<Vec<i64>> {
        let keys = data.buffers().first()?.typed_data::<T>();
        let keys = keys.get(data.offset()..data.offset() + data.len())?;
        Some(keys.iter().map(|key| key.to_i64().unwrap_or(-1)).collect())
    }
    match kind {
        _ if data.is_empty() => Some(Vec::new()),
        DataType::Int8 => widen::<i8>(data),
        DataType::Int16 => widen::<i16>(data),
        DataType::Int32 => widen::<i32>(data),
        DataType::Int64 => widen::<i64>(data),
        DataType::UInt8 => widen::<u8>(data),
        DataType::UInt16 => widen::<u16>(data),
        DataType::UInt32 => widen::<u32>(data),
        DataType::UInt64 => widen::<u64>(data),
        _ => None,
    }
}

impl Strings {
    /// Takes in the rows of one array. `place` names a row in messages ("texts[3]"). What is wrong
    /// with a string is noted as a flaw of its row; with the array, an error.
    pub(super) fn extend(
        &mut self,
        array: &dyn Array,
        nulls: Nulls,
        place: &dyn Fn(usize) -> String,
    ) -> Result<(), Error> {
        let data = array.to_data();
        let first = self.buffers.len() as u32;
        let outside = |i: usize| format!("{} lies outside its Arrow buffers", place(i));
        let broken = |i: usize| Error::Text(outside(i));
        let told = |i: usize, flaw: Flaw| match flaw {
            Flaw::Bounds => outside(i),
            Flaw::Utf8(at, byte) => format!(
                "{} is not UTF-8: the byte 0x{byte:02x} at position {at} is out of place",
                place(i)
            ),
        };
        let null = |i: usize| match nulls {
            Nulls::Empty => Ok(EMPTY),
            Nulls::Refused => Err(Error::Text(format!("{} is null", place(i)))),
        };
        self.rows.reserve(data.len());
        if let DataType::Dictionary(kind, _) = data.data_type() {
            let keys = keys(&data, kind).ok_or_else(|| broken(0))?;
            let dictionary = data.child_data().first().ok_or_else(|| broken(0))?;
            let values = Values::new(dictionary, first).ok_or_else(|| broken(0))?;
            // Each value is checked when the first row uses it.
            let mut known: Vec<Option<Option<Row>>> = vec![None; values.len];
            for (i, key) in keys.into_iter().enumerate() {
                if data.nulls().is_some_and(|nulls| nulls.is_null(i)) {
                    self.rows.push(null(i)?);
                    continue;
                }
                let key = usize::try_from(key).ok().filter(|&key| key < values.len);
                let key = key.ok_or_else(|| broken(i))?;
                let found = match known[key] {
                    Some(row) => Ok(row),
                    None => values.row(key),
                };
                match found {
                    Ok(row) => {
                        known[key] = Some(row);
                        self.rows.push(row.map_or_else(|| null(i), Ok)?);
                    }
                    Err(flaw) => self.flaw(told(i, flaw)),
                }
            }
            self.buffers.extend_from_slice(dictionary.buffers());
        } else {
            let values = Values::new(&data, first).ok_or_else(|| broken(0))?;
            for i in 0..values.len {
                match values.row(i) {
                    Ok(row) => self.rows.push(row.map_or_else(|| null(i), Ok)?),
                    Err(flaw) => self.flaw(told(i, flaw)),
                }
            }
            self.buffers.extend_from_slice(data.buffers());
        }
        Ok(())
    }

    fn flaw(&mut self, words: String) {
        self.flaws.push((self.rows.len(), words));
        self.rows.push(EMPTY);
    }

    /// Itself, if every row could be taken in.
    pub(super) fn sound(self) -> Result<Self, Error> {
        match self.flaws.first() {
            None => Ok(self),
            Some((_, words)) => Err(Error::Text(words.clone())),
        }
    }

    /// Takes in whole numbers as their decimal digits.
    pub(super) fn extend_numbers(
        &mut self,
        array: &ArrayRef,
        place: &dyn Fn(usize) -> String,
    ) -> Result<(), Error> {
        macro_rules! digits {
            ($($kind:ident => $type:ident),*) => {
                match array.data_type() {
                    $(DataType::$kind => {
                        let numbers = array.as_primitive::<types::$type>();
                        self.push_all(numbers.len(), |i| {
                            numbers.is_valid(i).then(|| numbers.value(i).to_string())
                        }, place)
                    })*
                    kind => Err(Error::Internal(format!("{kind} is no whole number"))),
                }
            };
        }
        digits!(Int8 => Int8Type, Int16 => Int16Type, Int32 => Int32Type, Int64 => Int64Type,
            UInt8 => UInt8Type, UInt16 => UInt16Type, UInt32 => UInt32Type, UInt64 => UInt64Type)
    }

    fn push_all(
        &mut self,
        count: usize,
        text: impl Fn(usize) -> Option<String>,
        place: &dyn Fn(usize) -> String,
    ) -> Result<(), Error> {
        let mut bytes = Vec::new();
        for i in 0..count {
            let Some(text) = text(i) else {
                return Err(Error::Text(format!("{} is null", place(i))));
            };
            self.rows.push(Row {
                start: bytes.len(),
                len: text.len(),
                buffer: self.buffers.len() as u32,
                ascii: text.is_ascii(),
            });
            bytes.extend_from_slice(text.as_bytes());
        }
        self.buffers.push(Buffer::from_vec(bytes));
        Ok(())
    }

    /// Strings of its own: a copy, for short ones.
    pub(super) fn owned(texts: &[String]) -> Result<Self, Error> {
        let mut strings = Self::default();
        strings.push_all(texts.len(), |i| texts.get(i).cloned(), &|_| String::new())?;
        Ok(strings)
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The string of a row that there is, and whether it is ASCII.
    pub(super) fn get(&self, i: usize) -> (&str, bool) {
        let row = self.rows[i];
        let Some(buffer) = self.buffers.get(row.buffer as usize) else { return ("", true) };
        let bytes = &buffer.as_slice()[row.start..row.start + row.len];
        // SAFETY: `row()` found these bytes to be UTF-8 when it made the row, and by the format's
        // contract nobody writes to an Arrow buffer that was handed over.
        (unsafe { std::str::from_utf8_unchecked(bytes) }, row.ascii)
    }

    /// Two rows that hold the same string, the later one first.
    fn twice(&self) -> Option<(usize, usize)> {
        let mut seen = HashMap::with_capacity(self.len());
        (0..self.len()).find_map(|i| seen.insert(self.get(i).0, i).map(|other| (i, other)))
    }
}

/// Strings in Arrow buffers, as a sequence of `str` made on demand.
#[pyclass(frozen, sequence, module = "cantle._core")]
pub(in crate::py) struct ArrowTexts {
    pub(super) strings: Arc<Strings>,
    /// Whether no call has cut or counted them since they were read.
    fresh: AtomicBool,
}

impl ArrowTexts {
    /// Strings of its own: a copy, for short ones.
    pub(in crate::py) fn owned(texts: &[String]) -> Result<Self, Error> {
        Ok(Strings::owned(texts)?.into())
    }
}

impl From<Strings> for ArrowTexts {
    fn from(strings: Strings) -> Self {
        Self { strings: Arc::new(strings), fresh: AtomicBool::new(true) }
    }
}

impl ArrowTexts {
    pub(in crate::py) fn len(&self) -> usize {
        self.strings.len()
    }

    pub(in crate::py) fn get(&self, i: usize) -> (&str, bool) {
        self.strings.get(i)
    }

    /// The text at `i`, for the work of a call; an error if somebody wrote to its buffer since it was
    /// read. The first call comes right behind the reading, and need not look again.
    pub(in crate::py) fn read<'t>(&'t self) -> impl Fn(usize) -> PyResult<(&'t str, bool)> {
        let fresh = self.fresh.swap(false, Ordering::Relaxed);
        move |i| {
            let (text, ascii) = self.get(i);
            let bytes = text.as_bytes();
            let same = || if ascii { bytes.is_ascii() } else { from_utf8(bytes).is_ok() };
            if fresh || same() { Ok((text, ascii)) } else { Err(overwritten(i)) }
        }
    }

    pub(in crate::py) fn flaws(&self) -> &[(usize, String)] {
        &self.strings.flaws
    }

    fn part(&self, doc: usize, start: usize, end: usize) -> PyResult<&str> {
        let part = (doc < self.len()).then(|| self.get(doc).0.get(start..end)).flatten();
        part.ok_or_else(|| {
            PyValueError::new_err(format!("{start}..{end} is no span of text {doc}"))
        })
    }
}

/// A text, or a part of it, as Python takes it. It was UTF-8 when it was read; Python looks at it again,
/// as somebody may have written to the buffer since.
fn string<'py>(py: Python<'py>, text: usize, part: &str) -> PyResult<Bound<'py, PyString>> {
    PyString::from_bytes(py, part.as_bytes()).map_err(|_| overwritten(text))
}

fn overwritten(text: usize) -> PyErr {
    let why = "is not what it was: its Arrow buffer was written to after it was read";
    Error::Text(format!("text {text} {why}")).into()
}

#[pymethods]
impl ArrowTexts {
    /// From `__reduce__`: the strings one behind the other, and where each ends.
    #[new]
    fn new(data: &Bound<'_, PyBytes>, ends: &Bound<'_, PyBytes>) -> PyResult<Self> {
        let broken = || PyValueError::new_err("data and ends do not hold texts");
        let text = std::str::from_utf8(data.as_bytes()).map_err(|_| broken())?;
        let ends = ends.as_bytes();
        let mut rows = Vec::with_capacity(ends.len() / 8);
        let mut start = 0;
        for end in ends.chunks(8) {
            let end = u64::from_le_bytes(end.try_into().map_err(|_| broken())?) as usize;
            let ascii = text.get(start..end).ok_or_else(broken)?.is_ascii();
            rows.push(Row { start, len: end - start, buffer: 0, ascii });
            start = end;
        }
        let buffers = vec![Buffer::from(data.as_bytes())];
        Ok(Strings { buffers, rows, flaws: Vec::new() }.into())
    }

    fn __len__(&self) -> usize {
        self.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, i: isize) -> PyResult<Bound<'py, PyString>> {
        let len = self.len();
        let at = if i < 0 { i.checked_add_unsigned(len) } else { Some(i) };
        let at = at.and_then(|at| usize::try_from(at).ok()).filter(|&at| at < len);
        let at = at.ok_or_else(|| PyIndexError::new_err(format!("text {i} of {len}")))?;
        string(py, at, self.get(at).0)
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let rows = PyRange::new(slf.py(), 0, slf.len()? as isize)?;
        slf.py().import("builtins")?.getattr("map")?.call1((slf.getattr("__getitem__")?, rows))
    }

    /// The part of a text between two byte offsets.
    fn slice<'py>(
        &self,
        py: Python<'py>,
        doc: usize,
        start: usize,
        end: usize,
    ) -> PyResult<Bound<'py, PyString>> {
        string(py, doc, self.part(doc, start, end)?)
    }

    /// Many parts.
    fn slices<'py>(
        &self,
        py: Python<'py>,
        doc: Vec<usize>,
        start: Vec<usize>,
        end: Vec<usize>,
    ) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for ((doc, start), end) in doc.into_iter().zip(start).zip(end) {
            list.append(self.slice(py, doc, start, end)?)?;
        }
        Ok(list)
    }

    /// Two equal strings: the later row and the earlier one.
    fn twice(&self, py: Python<'_>) -> Option<(usize, usize)> {
        py.detach(|| self.strings.twice())
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
        let (mut data, mut ends) = (Vec::new(), Vec::with_capacity(8 * self.len()));
        for i in 0..self.len() {
            data.extend_from_slice(self.get(i).0.as_bytes());
            ends.extend_from_slice(&(data.len() as u64).to_le_bytes());
        }
        let parts = PyTuple::new(py, [PyBytes::new(py, &data), PyBytes::new(py, &ends)])?;
        Ok((py.get_type::<Self>(), parts))
    }
}
