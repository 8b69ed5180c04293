//! The capsules of the Arrow PyCapsule interface.

use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{ArrayRef, RecordBatchReader, make_array};
use arrow_schema::{ArrowError, Field, FieldRef, Schema};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::error::Error;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// An error of a producer, or of what it handed over.
pub(super) fn failed(error: &ArrowError) -> Error {
    Error::Text(format!("texts: the Arrow data cannot be read: {error}"))
}

/// Runs what reads a producer's structures: where they break the format's rules it may panic.
fn guarded<T>(work: impl FnOnce() -> Result<T, ArrowError>) -> Result<T, Error> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(|error| failed(&error)),
        Err(_) => Err(Error::Text("texts: the Arrow data break the rules of the format".into())),
    }
}

/// What a producer gives: arrays one after the other, or one.
pub(super) enum Source {
    Stream(Box<ArrayStreamReader>),
    One(Option<ArrayRef>),
}

impl Source {
    /// The next array; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<ArrayRef>, Error> {
        match self {
            Source::Stream(reader) => guarded(|| reader.next().transpose()),
            Source::One(array) => Ok(array.take()),
        }
    }
}

/// Asks `object` for its Arrow data; the field says of which type.
pub(super) fn import(object: &Bound<'_, PyAny>) -> PyResult<(Source, FieldRef)> {
    if let Ok(export) = object.getattr("__arrow_c_stream__") {
        let answer = export.call0()?;
        let capsule = answer.cast::<PyCapsule>().map_err(PyErr::from)?;
        let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
        // SAFETY: by the PyCapsule interface a capsule of this name points to an initialised
        // stream, which the consumer moves out by leaving a released one in its place; the
        // capsule is alive, and the interpreter lock keeps others away from it.
        let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
        if stream.release().is_none() {
            return Err(Error::Text("texts: the Arrow stream was consumed before".into()).into());
        }
        let reader = guarded(|| ArrayStreamReader::try_new(stream))?;
        let field = Arc::clone(arrow_array::ArrayReader::field(&reader));
        return Ok((Source::Stream(Box::new(reader)), field));
    }
    let answer = object.getattr("__arrow_c_array__")?.call0()?;
    let pair = answer.cast::<PyTuple>().map_err(PyErr::from)?;
    if pair.len() != 2 {
        return Err(PyTypeError::new_err("__arrow_c_array__ must return a pair of capsules"));
    }
    let (first, second) = (pair.get_item(0)?, pair.get_item(1)?);
    let (schema, array) = (
        first.cast::<PyCapsule>().map_err(PyErr::from)?,
        second.cast::<PyCapsule>().map_err(PyErr::from)?,
    );
    let schema = schema.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
    let array = array.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
    // SAFETY: as for the stream: capsules of these names point to initialised structures; the
    // schema is only read while its capsule is alive, the array is moved out.
    let (schema, array) = unsafe { (schema.as_ref(), FFI_ArrowArray::from_raw(array.as_ptr())) };
    if array.is_released() || schema.release().is_none() {
        return Err(Error::Text("texts: the Arrow array was released before".into()).into());
    }
    let field = Arc::new(guarded(|| Field::try_from(schema))?);
    let array = guarded(|| {
        // SAFETY: the array was produced for this schema, as the interface demands.
        let data = unsafe { from_ffi_and_data_type(array, field.data_type().clone()) };
        data.map(make_array)
    })?;
    Ok((Source::One(Some(array)), field))
}

/// A schema for another library.
pub(super) fn schema<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    let value = FFI_ArrowSchema::try_from(schema).map_err(|error| failed(&error))?;
    PyCapsule::new_with_value(py, value, SCHEMA)
}

/// A stream for another library.
pub(super) fn stream(
    py: Python<'_>,
    reader: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
}
