//! `_core.read_html`: a page's readable text and its blocks; `_core.Origin`: the way back.

use std::sync::Arc;

use pyo3::prelude::*;

use super::blocks::Blocks;
use super::columns::array;
use super::enter::detached;
use super::errors::SettingError;
use super::texts::borrow;
use crate::blocks::html::{self, Run};

/// Where the readable text of a page stands in its HTML.
#[pyclass(frozen, module = "cantle._core")]
pub(super) struct Origin(html::Origin);

#[pymethods]
impl Origin {
    /// Runs as columns: where each starts in the text and in the HTML, and how many bytes are the
    /// same in both.
    #[new]
    fn new(text: Vec<usize>, html: Vec<usize>, copied: Vec<usize>) -> PyResult<Self> {
        if text.len() != html.len() || text.len() != copied.len() {
            return Err(SettingError::new_err("the columns of runs differ in length"));
        }
        let rows = text.into_iter().zip(html).zip(copied);
        let runs = rows.map(|((text, html), copied)| Run { text, html, copied }).collect();
        let origin = html::Origin::from_runs(runs);
        origin.map(Self).ok_or_else(|| SettingError::new_err("the runs are not in order"))
    }

    /// Where the HTML says what stands in each span of the text, in bytes.
    fn locate<'py>(
        &self,
        py: Python<'py>,
        start: Vec<usize>,
        end: Vec<usize>,
    ) -> (Bound<'py, PyAny>, Bound<'py, PyAny>) {
        let spans = start.into_iter().zip(end).map(|(start, end)| self.0.locate(start..end));
        let (starts, ends) = spans.map(|span| (span.start as i64, span.end as i64)).unzip();
        (array::<i64>(py, starts), array::<i64>(py, ends))
    }

    fn __len__(&self) -> usize {
        self.0.runs().len()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyAny>, Runs) {
        let runs = slf.get().0.runs();
        let column = |of: fn(&Run) -> usize| runs.iter().map(of).collect();
        let columns = (column(|run| run.text), column(|run| run.html), column(|run| run.copied));
        (slf.get_type().into_any(), columns)
    }
}

type Runs = (Vec<usize>, Vec<usize>, Vec<usize>);

/// The readable text of a page, its blocks, its title, and where the text stands in the HTML.
#[pyfunction]
pub(super) fn read_html(
    py: Python<'_>,
    text: &Bound<'_, PyAny>,
) -> PyResult<(String, Blocks, String, Origin)> {
    let (text, _) = borrow(text, &|| "text".into())?;
    let page = detached(py, |_| Ok(html::read(text)))?;
    Ok((page.text, Blocks(Arc::new(page.blocks)), page.title, Origin(page.origin)))
}
