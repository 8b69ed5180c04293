//! The keyword embedder.

use numpy::PyArrayMethods;
use pyo3::prelude::*;

use super::enter::detached;
use super::texts::borrow;
use crate::guard::Guard;
use crate::terms::Topics;
use std::sync::atomic::AtomicBool;

/// A vector for each text, one after the other: how much of each topic it holds, of length 1.
#[pyfunction]
pub(super) fn keyword_vectors<'py>(
    py: Python<'py>,
    texts: Vec<Bound<'py, PyAny>>,
    topics: Vec<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut borrowed = Vec::with_capacity(texts.len());
    for (i, text) in texts.iter().enumerate() {
        borrowed.push(borrow(text, &|| format!("texts[{i}]"))?.0);
    }
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
    let flat = numpy::IntoPyArray::into_pyarray(vectors, py);
    Ok(flat.reshape([borrowed.len(), topics.len()])?.into_any())
}
