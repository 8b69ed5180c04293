//! `_core.ArrowTable`: the columns that documents carry, kept as they came.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, RecordBatch, RecordBatchIterator, UInt64Array, downcast_dictionary_array,
    types,
};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, SchemaRef, TimeUnit};
use arrow_select::interleave::interleave;
use arrow_select::take::take;
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList, PyTuple, PyType};

use super::capsule::{self, failed};

/// Batches of one schema, one row per document.
#[pyclass(frozen, module = "cantle._core")]
#[derive(Clone)]
pub(in crate::py) struct ArrowTable {
    pub(super) schema: SchemaRef,
    pub(super) batches: Vec<RecordBatch>,
    /// The first row of each batch.
    starts: Vec<usize>,
    rows: usize,
}

impl ArrowTable {
    pub(super) fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        let mut rows = 0;
        let batches: Vec<_> = batches.into_iter().filter(|batch| batch.num_rows() > 0).collect();
        let starts = batches
            .iter()
            .map(|batch| {
                let start = rows;
                rows += batch.num_rows();
                start
            })
            .collect();
        Self { schema, batches, starts, rows }
    }

    /// Another handle on the same columns.
    pub(super) fn shared(&self) -> Arc<Self> {
        Arc::new(self.clone())
    }

    fn place(&self, row: usize) -> (usize, usize) {
        let batch = self.starts.partition_point(|&start| start <= row) - 1;
        (batch, row - self.starts[batch])
    }

    /// The value of one column for each of `docs`.
    pub(super) fn repeat(&self, column: usize, docs: &[i32]) -> Result<ArrayRef, ArrowError> {
        let rows = docs.iter().map(|&doc| doc as usize);
        let (Some(least), Some(most)) = (rows.clone().min(), rows.clone().max()) else {
            return Ok(arrow_array::new_empty_array(self.schema.field(column).data_type()));
        };
        if most >= self.rows {
            return Err(ArrowError::InvalidArgumentError(format!("document {most} is not there")));
        }
        let (first, last) = (self.place(least).0, self.place(most).0);
        if first == last {
            let start = self.starts[first];
            let indices = UInt64Array::from_iter_values(rows.map(|row| (row - start) as u64));
            return take(self.batches[first].column(column), &indices, None);
        }
        let arrays: Vec<&dyn Array> =
            self.batches[first..=last].iter().map(|batch| batch.column(column).as_ref()).collect();
        let places: Vec<_> = rows
            .map(|row| {
                let (batch, row) = self.place(row);
                (batch - first, row)
            })
            .collect();
        interleave(&arrays, &places)
    }
}

#[pymethods]
impl ArrowTable {
    /// From `__reduce__`: the table as an Arrow IPC stream.
    #[new]
    fn from_ipc(data: &Bound<'_, PyBytes>) -> PyResult<Self> {
        let reader = StreamReader::try_new(data.as_bytes(), None).map_err(|e| failed(&e))?;
        let schema = reader.schema();
        let batches = reader.collect::<Result<Vec<_>, _>>().map_err(|e| failed(&e))?;
        Ok(Self::new(schema, batches))
    }

    fn __len__(&self) -> usize {
        self.rows
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<&str> {
        self.schema.fields().iter().map(|field| field.name().as_str()).collect()
    }

    /// One document's values by column.
    fn row<'py>(&self, py: Python<'py>, doc: usize) -> PyResult<Bound<'py, PyDict>> {
        if doc >= self.rows {
            return Err(PyIndexError::new_err(format!("document {doc} of {}", self.rows)));
        }
        let (batch, row) = self.place(doc);
        let dict = PyDict::new(py);
        for (field, column) in self.schema.fields().iter().zip(self.batches[batch].columns()) {
            let value = value(py, column, row)?.ok_or_else(|| {
                PyTypeError::new_err(format!(
                    "column {:?} is {}, which has no Python value here: read documents.carried \
                     with a library of Arrow",
                    field.name(),
                    field.data_type()
                ))
            })?;
            dict.set_item(field.name(), value)?;
        }
        Ok(dict)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::schema(py, &self.schema)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches: Vec<Result<_, ArrowError>> = self.batches.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        capsule::stream(py, Box::new(reader))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
        let write = || {
            let mut writer = StreamWriter::try_new(Vec::new(), &self.schema)?;
            self.batches.iter().try_for_each(|batch| writer.write(batch))?;
            writer.into_inner()
        };
        let data = py.detach(write).map_err(|e: ArrowError| failed(&e))?;
        Ok((py.get_type::<Self>(), PyTuple::new(py, [PyBytes::new(py, &data)])?))
    }
}

/// A value as Python's own; `None` for a type that has none here.
fn value<'py>(
    py: Python<'py>,
    array: &dyn Array,
    row: usize,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    macro_rules! number {
        ($type:ident) => {
            array.as_primitive::<types::$type>().value(row).into_pyobject(py)?.into_any()
        };
    }
    if array.is_null(row) || array.data_type() == &DataType::Null {
        return Ok(Some(py.None().into_bound(py)));
    }
    let bytes = |bytes: &[u8]| PyBytes::new(py, bytes).into_any();
    let found = match array.data_type() {
        DataType::Boolean => array.as_boolean().value(row).into_pyobject(py)?.to_owned().into_any(),
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::Float32 => number!(Float32Type),
        DataType::Float64 => number!(Float64Type),
        DataType::Utf8 => text(py, array.as_string::<i32>().value(row).as_bytes())?,
        DataType::LargeUtf8 => text(py, array.as_string::<i64>().value(row).as_bytes())?,
        DataType::Utf8View => text(py, array.as_string_view().value(row).as_bytes())?,
        DataType::Binary => bytes(array.as_binary::<i32>().value(row)),
        DataType::LargeBinary => bytes(array.as_binary::<i64>().value(row)),
        DataType::BinaryView => bytes(array.as_binary_view().value(row)),
        DataType::Dictionary(..) => {
            return downcast_dictionary_array!(
                array => match array.key(row) {
                    Some(key) => value(py, array.values(), key),
                    None => Ok(None),
                },
                _ => Ok(None)
            );
        }
        DataType::List(_) => return list(py, &array.as_list::<i32>().value(row)),
        DataType::LargeList(_) => return list(py, &array.as_list::<i64>().value(row)),
        DataType::FixedSizeList(..) => {
            return list(py, &array.as_fixed_size_list().value(row));
        }
        DataType::Struct(fields) => {
            let dict = PyDict::new(py);
            for (field, column) in fields.iter().zip(array.as_struct().columns()) {
                let Some(value) = value(py, column, row)? else { return Ok(None) };
                dict.set_item(field.name(), value)?;
            }
            dict.into_any()
        }
        DataType::Date32 => {
            let days = array.as_primitive::<types::Date32Type>().value(row);
            let module = py.import("datetime")?;
            let epoch = module.getattr("date")?.call1((1970, 1, 1))?;
            epoch.call_method1("__add__", (module.getattr("timedelta")?.call1((days,))?,))?
        }
        DataType::Timestamp(unit, zone) => {
            return timestamp(py, array, row, *unit, zone.as_deref()).map(Some);
        }
        DataType::Decimal128(..) => {
            let number = array.as_primitive::<types::Decimal128Type>().value_as_string(row);
            py.import("decimal")?.getattr("Decimal")?.call1((number,))?
        }
        _ => return Ok(None),
    };
    Ok(Some(found))
}

fn text<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    // A producer may have lied about UTF-8: Python decides, and says what is wrong.
    PyBytes::new(py, bytes).call_method1("decode", ("utf-8",))
}

fn list<'py>(py: Python<'py>, values: &dyn Array) -> PyResult<Option<Bound<'py, PyAny>>> {
    let list = PyList::empty(py);
    for i in 0..values.len() {
        let Some(value) = value(py, values, i)? else { return Ok(None) };
        list.append(value)?;
    }
    Ok(Some(list.into_any()))
}

/// `datetime` has microseconds: nanoseconds below are cut off.
fn timestamp<'py>(
    py: Python<'py>,
    array: &dyn Array,
    row: usize,
    unit: TimeUnit,
    zone: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let micros = match unit {
        TimeUnit::Second => {
            array.as_primitive::<types::TimestampSecondType>().value(row).saturating_mul(1_000_000)
        }
        TimeUnit::Millisecond => {
            array.as_primitive::<types::TimestampMillisecondType>().value(row).saturating_mul(1_000)
        }
        TimeUnit::Microsecond => array.as_primitive::<types::TimestampMicrosecondType>().value(row),
        TimeUnit::Nanosecond => {
            array.as_primitive::<types::TimestampNanosecondType>().value(row).div_euclid(1_000)
        }
    };
    let module = py.import("datetime")?;
    let utc = module.getattr("timezone")?.getattr("utc")?;
    let kind = module.getattr("datetime")?;
    let epoch = match zone {
        None => kind.call1((1970, 1, 1))?,
        Some(_) => kind.call1((1970, 1, 1, 0, 0, 0, 0, &utc))?,
    };
    let time =
        epoch.call_method1("__add__", (module.getattr("timedelta")?.call1((0, 0, micros))?,))?;
    match zone {
        None | Some("UTC" | "+00:00") => Ok(time),
        Some(zone) => {
            let zone = match py.import("zoneinfo")?.getattr("ZoneInfo")?.call1((zone,)) {
                Ok(zone) => zone,
                // An offset such as +02:00, or a zone that this machine does not know: the same
                // moment in UTC.
                Err(_) => utc,
            };
            time.call_method1("astimezone", (zone,))
        }
    }
}
