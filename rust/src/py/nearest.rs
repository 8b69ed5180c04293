//! Scores of vectors, and the best of them.

use numpy::{
    Element, IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;

use super::enter::detached;
use super::errors::SettingError;
use crate::nearest::{Metric, best, scores};
use crate::products::units;

/// How near the rows at `places` [queries, m] of `vectors` are to each of `queries`.
#[pyfunction]
pub(super) fn vector_scores<'py>(
    py: Python<'py>,
    metric: &str,
    vectors: PyReadonlyArray2<'py, f32>,
    places: PyReadonlyArray2<'py, i64>,
    queries: PyReadonlyArray2<'py, f32>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let metric = Metric::named(metric)
        .ok_or_else(|| SettingError::new_err(format!("metric ({metric}) is not known")))?;
    let (count, width) = (places.shape()[0], places.shape()[1]);
    if vectors.shape()[1] != queries.shape()[1] || count != queries.shape()[0] {
        return Err(SettingError::new_err("vectors, places and queries do not fit each other"));
    }
    let dimensions = queries.shape()[1];
    let (rows, places, queries) = (lines(&vectors)?, lines(&places)?, lines(&queries)?);
    let found = detached(py, |poll| {
        let mut found = Vec::with_capacity(places.len());
        for query in 0..count {
            poll_each(query, poll)?;
            let places = &places[query * width..(query + 1) * width];
            let query = &queries[query * dimensions..(query + 1) * dimensions];
            match scores(metric, rows, places, query) {
                Some(one) => found.extend_from_slice(&one),
                None => return Ok(None),
            }
        }
        Ok(Some(found))
    })?;
    let found = found.ok_or_else(|| SettingError::new_err("places: a row that is not there"))?;
    found.into_pyarray(py).reshape([count, width])
}

/// Vectors at length 1; a zero vector stays what it is.
#[pyfunction]
pub(super) fn unit_rows<'py>(
    py: Python<'py>,
    vectors: PyReadonlyArray2<'py, f32>,
) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let (data, shape) = (lines(&vectors)?, [vectors.shape()[0], vectors.shape()[1]]);
    detached(py, |_| Ok(units(data, shape[1])))?.into_pyarray(py).reshape(shape)
}

type Best<'py> = (Bound<'py, PyArray2<i64>>, Bound<'py, PyArray2<f32>>);

/// The `k` best of each line of `rows` by its scores, both [queries, m].
#[pyfunction]
pub(super) fn best_rows<'py>(
    py: Python<'py>,
    rows: PyReadonlyArray2<'py, i64>,
    scores: PyReadonlyArray2<'py, f64>,
    k: usize,
) -> PyResult<Best<'py>> {
    if rows.shape() != scores.shape() {
        return Err(SettingError::new_err("rows and scores do not fit each other"));
    }
    let (count, width) = (rows.shape()[0], rows.shape()[1]);
    let (rows, scores) = (lines(&rows)?, lines(&scores)?);
    let (found, points) = detached(py, |_| {
        let (mut found, mut points) = (Vec::new(), Vec::new());
        for line in 0..count {
            let line = line * width..(line + 1) * width;
            let (row, point) = best(&rows[line.clone()], &scores[line], k);
            found.extend(row);
            points.extend(point);
        }
        Ok((found, points))
    })?;
    let shape = [count, width.min(k)];
    let found: Bound<'py, PyArray1<i64>> = found.into_pyarray(py);
    Ok((found.reshape(shape)?, points.into_pyarray(py).reshape(shape)?))
}

/// The lines of a matrix, one behind the other; fails where its columns are.
pub(super) fn lines<'a, T: Element>(matrix: &'a PyReadonlyArray2<'_, T>) -> PyResult<&'a [T]> {
    if !matrix.is_c_contiguous() {
        return Err(SettingError::new_err("a matrix is not in C order"));
    }
    Ok(matrix.as_slice()?)
}

/// Asks for an interrupt now and then: it takes longer than a query's scores.
fn poll_each(
    query: usize,
    poll: &dyn Fn() -> crate::error::Result<()>,
) -> crate::error::Result<()> {
    if query % 256 == 255 { poll() } else { Ok(()) }
}
