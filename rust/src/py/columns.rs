//! Columns of the core as read-only NumPy arrays, handed over without a copy.

use numpy::{Element, IntoPyArray, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::structure;
use crate::batch::Columns;

/// A vector as an array that nobody can write to.
pub(super) fn array<'py, T: Element>(py: Python<'py>, mut values: Vec<T>) -> Bound<'py, PyAny> {
    // Vectors grow by doubling; what they did not fill is given back.
    values.shrink_to_fit();
    let array = values.into_pyarray(py);
    array.readwrite().make_nonwriteable();
    array.into_any()
}

/// The columns by name. Character columns are the byte columns where all is ASCII; `parent` is
/// there only for chunks cut within chunks.
pub(super) fn dict(py: Python<'_>, columns: Columns) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    let rows = columns.len();
    dict.set_item("doc", array(py, columns.doc))?;
    dict.set_item("ordinal", array(py, columns.ordinal))?;
    let byte_start = array(py, columns.byte_start);
    let byte_end = array(py, columns.byte_end);
    if columns.char_start.is_empty() {
        dict.set_item("char_start", &byte_start)?;
        dict.set_item("char_end", &byte_end)?;
    } else {
        dict.set_item("char_start", array(py, columns.char_start))?;
        dict.set_item("char_end", array(py, columns.char_end))?;
    }
    dict.set_item("byte_start", byte_start)?;
    dict.set_item("byte_end", byte_end)?;
    dict.set_item("size", array(py, columns.size))?;
    dict.set_item("flags", array(py, columns.flags))?;
    if !columns.parent.is_empty() {
        dict.set_item("parent", array(py, columns.parent))?;
    }
    structure::add(py, &dict, columns.structure, rows)?;
    if !columns.compared.doc.is_empty() {
        let compared = PyDict::new(py);
        compared.set_item("doc", array(py, columns.compared.doc))?;
        compared.set_item("byte_start", array(py, columns.compared.byte_start))?;
        compared.set_item("byte_end", array(py, columns.compared.byte_end))?;
        compared.set_item("distance", array(py, columns.compared.distance))?;
        compared.set_item("threshold", array(py, columns.compared.threshold))?;
        dict.set_item("compared", compared)?;
    }
    if !columns.levels.is_empty() {
        let levels = columns.levels.into_iter();
        let pairs = levels.map(|level| (array(py, level.ends), array(py, level.size)));
        dict.set_item("levels", PyList::new(py, pairs.collect::<Vec<_>>())?)?;
    }
    Ok(dict)
}
