//! The embedders that need no model.

use std::sync::atomic::AtomicBool;

use numpy::{
    IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;

use super::enter::detached;
use super::errors::SettingError;
use super::nearest::lines;
use super::texts::borrow;
use crate::guard::Guard;
use crate::meaning::vectors::{Vectors, means};
use crate::terms::{Terms, Topics};

/// A vector for each text, one after the other: how much of each topic it holds, of length 1.
#[pyfunction]
pub(super) fn keyword_vectors<'py>(
    py: Python<'py>,
    texts: Vec<Bound<'py, PyAny>>,
    topics: Vec<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let borrowed = borrowed(&texts)?;
    let topics = Topics::new(topics.iter().map(String::as_str));
    let vectors = detached(py, |poll| {
        let stop = AtomicBool::new(false);
        let guard = Guard::new(&stop, Some(poll));
        let mut vectors = Vec::with_capacity(borrowed.len() * topics.len());
        for text in &borrowed {
            guard.check()?;
            topics.vector(text, &mut vectors);
        }
        Ok(vectors)
    })?;
    Ok(vectors.into_pyarray(py).reshape([borrowed.len(), topics.len()])?.into_any())
}

/// The mean of some rows of a table at length 1, for each of many lists of rows that end at `ends`.
#[pyfunction]
pub(super) fn mean_vectors<'py>(
    py: Python<'py>,
    table: PyReadonlyArray2<'py, f32>,
    rows: PyReadonlyArray1<'py, u32>,
    ends: PyReadonlyArray1<'py, i64>,
) -> PyResult<Bound<'py, PyAny>> {
    let (data, width) = (lines(&table)?, table.shape()[1]);
    let rows = rows.as_slice()?;
    // A negative one is an end that no list has.
    let ends = ends.as_slice()?.iter().map(|&end| usize::try_from(end).unwrap_or(usize::MAX));
    let ends: Vec<usize> = ends.collect();
    let found = detached(py, |_| Ok(means(Vectors::new(data, width), rows, &ends)))?;
    let found = found.ok_or_else(|| SettingError::new_err("rows: one is not in the table"))?;
    Ok(found.into_pyarray(py).reshape([ends.len(), width])?.into_any())
}

type Searched<'py> = (Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<i64>>, Vec<String>);

/// The terms that texts are searched by: their numbers, where each text's end, and the vocabulary.
#[pyfunction]
pub(super) fn terms<'py>(
    py: Python<'py>,
    texts: Vec<Bound<'py, PyAny>>,
) -> PyResult<Searched<'py>> {
    let borrowed = borrowed(&texts)?;
    let (ids, ends, vocabulary) = detached(py, |poll| {
        let stop = AtomicBool::new(false);
        let guard = Guard::new(&stop, Some(poll));
        let mut terms = Terms::default();
        for text in &borrowed {
            guard.check()?;
            terms.read(text);
        }
        Ok(terms.finish())
    })?;
    Ok((ids.into_pyarray(py), ends.into_pyarray(py), vocabulary))
}

pub(super) fn borrowed<'t>(texts: &'t [Bound<'_, PyAny>]) -> PyResult<Vec<&'t str>> {
    let one = |(i, text)| Ok(borrow(text, &|| format!("texts[{i}]"))?.0);
    texts.iter().enumerate().map(one).collect()
}
