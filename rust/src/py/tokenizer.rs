//! `_core.Tokenizer`.

use std::sync::atomic::AtomicBool;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::columns::array;
use super::enter::detached;
use super::texts::borrow;
use crate::guard::Guard;
use crate::tokenizer::Tokenizer as Core;

#[pyclass(frozen, module = "cantle._core")]
pub(super) struct Tokenizer {
    pub(super) core: Core,
}

/// The names of the bundled vocabularies.
#[pyfunction]
pub(super) fn vocabularies() -> Vec<&'static str> {
    Core::names().collect()
}

/// The name of the pretoken pattern with this name or spelling, if it is a known one.
#[pyfunction]
pub(super) fn pattern_name(pattern: &str) -> Option<&'static str> {
    Core::pattern_name(pattern)
}

#[pymethods]
impl Tokenizer {
    #[staticmethod]
    fn from_name(py: Python<'_>, name: &str) -> PyResult<Self> {
        detached(py, |_| Core::from_name(name)).map(|core| Self { core })
    }

    #[staticmethod]
    fn from_json(py: Python<'_>, json: &str, count_special: bool) -> PyResult<Self> {
        detached(py, |_| Core::from_json(json, count_special)).map(|core| Self { core })
    }

    #[staticmethod]
    fn from_ranks(py: Python<'_>, ranks: &[u8], pattern: &str) -> PyResult<Self> {
        detached(py, |_| Core::from_ranks(ranks, pattern)).map(|core| Self { core })
    }

    fn count(&self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<usize> {
        let (text, _) = borrow(text, &|| "text".into())?;
        let stop = AtomicBool::new(false);
        detached(py, |poll| self.core.count(text, &Guard::new(&stop, Some(poll))))
    }

    /// Ids and the byte offset behind each token.
    fn encode<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (text, _) = borrow(text, &|| "text".into())?;
        let stop = AtomicBool::new(false);
        let (ids, ends) =
            detached(py, |poll| self.core.encode(text, &Guard::new(&stop, Some(poll))))?;
        let ends = ends.into_iter().map(|end| end as i64).collect::<Vec<_>>();
        Ok((array(py, ids), array(py, ends)))
    }

    fn decode<'py>(&self, py: Python<'py>, ids: Vec<u32>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = detached(py, |_| self.core.decode(&ids))?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[getter]
    fn engine(&self) -> String {
        self.core.engine()
    }

    #[getter]
    fn vocab_size(&self) -> usize {
        self.core.vocab_size()
    }

    #[getter]
    fn specials(&self) -> usize {
        self.core.specials()
    }
}
