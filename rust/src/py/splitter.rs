//! `_core.Splitter`: a strategy with its settings, checked when it is built.

use std::cell::RefCell;
use std::collections::VecDeque;

use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use super::blocks::tell;
use super::columns::{array, dict};
use super::enter::{attached, detached};
use super::errors::SettingError;
use super::nearest::lines;
use super::settings::{
    ClauseParts, HierarchyParts, MeaningParts, RowParts, SeparatorParts, StructuralParts, clauses,
    hierarchy, meaning, number, rows, separators, structural,
};
use super::texts::Texts;
use super::tokenizer::Tokenizer;
use crate::batch::asking::{Asked, asked_all, asked_measured};
use crate::batch::{Columns, Source, split_all, split_measured};
use crate::error::Error;
use crate::meaning::pieces::Piece;
use crate::meaning::vectors::Vectors;
use crate::pack::Limit;
use crate::split::{Splitter as Core, Strategy, Unit};

#[pyclass(frozen, module = "cantle._core")]
pub(super) struct Splitter {
    core: Core,
    /// The caller's function, when the unit is one.
    measure: Option<Py<PyAny>>,
}

/// The pieces of texts between what `asked` says of them and cutting.
#[pyclass(frozen, module = "cantle._core")]
pub(super) struct Pieces(Vec<Vec<Piece>>);

/// The vectors of all pieces, the row at which those of each text start, and behind the last, and the
/// pieces as `asked` found them.
type VectorParts<'py> = (PyReadonlyArray2<'py, f32>, Vec<usize>, PyRef<'py, Pieces>);

/// Gives each source the vectors of its pieces.
fn give<'s>(sources: &mut [Source<'s>], vectors: Option<&'s VectorParts<'_>>) -> PyResult<()> {
    let Some((matrix, rows, pieces)) = vectors else { return Ok(()) };
    let (data, width) = (lines(matrix)?, matrix.shape()[1]);
    for (source, span) in sources.iter_mut().zip(rows.windows(2)) {
        let (start, end) = (span[0].checked_mul(width), span[1].checked_mul(width));
        let data = start.zip(end).and_then(|(start, end)| data.get(start..end));
        let data = data.ok_or_else(|| SettingError::new_err("vectors: rows that are not there"))?;
        source.vectors = Some(Vectors::new(data, width));
    }
    if pieces.0.len() == sources.len() {
        for (source, pieces) in sources.iter_mut().zip(&pieces.0) {
            source.pieces = pieces;
        }
    }
    Ok(())
}

#[pymethods]
impl Splitter {
    #[new]
    #[pyo3(signature = (strategy, size, overlap, unit, trim, min_size, separators, structural=None, rows=None, clauses=None, meaning=None, hierarchy=None))]
    #[expect(clippy::too_many_arguments, reason = "one argument per setting")]
    fn new(
        strategy: &str,
        size: &Bound<'_, PyAny>,
        overlap: &Bound<'_, PyAny>,
        unit: &Bound<'_, PyAny>,
        trim: bool,
        min_size: &Bound<'_, PyAny>,
        separators: Option<Vec<SeparatorParts>>,
        structural: Option<StructuralParts<'_>>,
        rows: Option<RowParts<'_>>,
        clauses: Option<ClauseParts>,
        meaning: Option<MeaningParts<'_>>,
        hierarchy: Option<HierarchyParts<'_>>,
    ) -> PyResult<Self> {
        let limit = Limit {
            size: number("size", size)?,
            overlap: number("overlap", overlap)?,
            min_size: number("min_size", min_size)?,
            trim,
        };
        let strategy = match (strategy, separators) {
            ("structural", _) => Strategy::Structural(self::structural(structural, limit.size)?),
            ("rows", _) => Strategy::Rows(self::rows(rows)?),
            ("clauses", _) => Strategy::Clauses(self::clauses(clauses)?),
            ("meaning", _) => Strategy::Meaning(self::meaning(meaning)?),
            ("hierarchical", _) => Strategy::Hierarchical(self::hierarchy(hierarchy)?),
            ("recursive", Some(parts)) => Strategy::separators(self::separators(parts)?),
            ("recursive", None) => Strategy::recursive(),
            ("sentence", _) => Strategy::sentence(),
            ("window", _) => Strategy::Window,
            ("whole", _) => Strategy::Whole,
            (other, _) => {
                return Err(SettingError::new_err(format!("strategy ({other:?}) is unknown")));
            }
        };
        let (unit, measure) = if let Ok(tokenizer) = unit.cast::<Tokenizer>() {
            (Unit::Tokens(tokenizer.get().core.clone()), None)
        } else if let Ok(name) = unit.cast::<PyString>() {
            let unit = match name.to_str()? {
                "bytes" => Unit::Bytes,
                "chars" => Unit::Chars,
                "words" => Unit::Words,
                other => {
                    return Err(SettingError::new_err(format!("unit ({other:?}) is unknown")));
                }
            };
            (unit, None)
        } else {
            (Unit::Measured, Some(unit.clone().unbind()))
        };
        Ok(Self { core: Core::new(strategy, unit, limit)?, measure })
    }

    /// The same with other splitters, of which each text names one.
    fn routed(&self, py: Python<'_>, routes: Vec<PyRef<'_, Splitter>>) -> Self {
        let routes = routes.iter().map(|route| route.core.clone()).collect();
        let measure = self.measure.as_ref().map(|measure| measure.clone_ref(py));
        Self { core: self.core.clone().routed(routes), measure }
    }

    /// Cuts each text; the columns of all, and `failures`: for each text that could not be read or cut
    /// its number, the exception, and which of `unread`, `cut` and `unit` failed. Without `skip`, the
    /// first failure ends the call.
    ///
    /// For each text `forms` holds `None`, the name of its form or its blocks, and `titles` its title.
    #[pyo3(signature = (texts, threads, skip, forms=None, titles=None, routes=None, vectors=None))]
    #[expect(clippy::too_many_arguments, reason = "one argument per column")]
    fn split<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        threads: &Bound<'py, PyAny>,
        skip: bool,
        forms: Option<Vec<Bound<'py, PyAny>>>,
        titles: Option<Vec<String>>,
        routes: Option<Vec<u32>>,
        vectors: Option<VectorParts<'py>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let threads = number("threads", threads)?;
        let texts = Texts::new(texts)?;
        let (mut sources, unread) = texts.sources(skip)?;
        tell(&mut sources, forms.as_deref(), titles.as_deref())?;
        for source in &mut sources {
            let doc = usize::try_from(source.doc).unwrap_or(usize::MAX);
            source.route = routes.as_ref().and_then(|routes| routes.get(doc).copied());
        }
        if unread.is_empty() || skip {
            give(&mut sources, vectors.as_ref())?;
        }
        let mut failures: Vec<_> =
            unread.into_iter().map(|(doc, error)| (doc, error, "unread")).collect();
        let columns = if skip || failures.is_empty() {
            let (columns, more) = self.run(py, &sources, threads, skip)?;
            failures.extend(more);
            failures.sort_by_key(|(doc, ..)| *doc);
            columns
        } else {
            Columns::default()
        };
        let dict = dict(py, columns)?;
        let failures = failures.into_iter().map(|(doc, error, at)| (doc, error.into_value(py), at));
        dict.set_item("failures", PyList::new(py, failures.collect::<Vec<_>>())?)?;
        Ok(dict)
    }

    /// Cuts inside spans: for row i, `texts[doc[i]]` from byte `start[i]` to `end[i]`, whose first
    /// character is number `char_start[i]`.
    #[pyo3(signature = (texts, doc, start, end, char_start, threads, routes=None, vectors=None, titles=None))]
    #[expect(clippy::too_many_arguments, reason = "one argument per column")]
    fn split_within<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        doc: Vec<i32>,
        start: Vec<usize>,
        end: Vec<usize>,
        char_start: Vec<usize>,
        threads: &Bound<'py, PyAny>,
        routes: Option<Vec<u32>>,
        vectors: Option<VectorParts<'py>>,
        titles: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let threads = number("threads", threads)?;
        let texts = Texts::new(texts)?;
        let mut sources = within(&texts, &doc, &start, &end, &char_start)?;
        entitle(&mut sources, titles.as_deref());
        for (row, source) in sources.iter_mut().enumerate() {
            source.route = routes.as_ref().and_then(|routes| routes.get(row).copied());
        }
        give(&mut sources, vectors.as_ref())?;
        let (columns, failures) = self.run(py, &sources, threads, false)?;
        match failures.into_iter().next() {
            Some((_, error, _)) => Err(error),
            None => dict(py, columns),
        }
    }

    /// What has to be embedded before the texts are cut, or these spans of them: for each its text's
    /// place, or its span's, and where it starts and ends in the text, in bytes and in characters; and
    /// what cutting is handed, so that it need not look for the same once more.
    /// Without `skip`, nothing where a text cannot be read: cutting will say which.
    #[pyo3(signature = (texts, threads, skip, forms=None, spans=None, titles=None))]
    #[expect(clippy::too_many_arguments, reason = "one argument per column")]
    fn asked<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        threads: &Bound<'py, PyAny>,
        skip: bool,
        forms: Option<Vec<Bound<'py, PyAny>>>,
        spans: Option<Spans>,
        titles: Option<Vec<String>>,
    ) -> PyResult<(Bound<'py, PyDict>, Pieces)> {
        let threads = number("threads", threads)?;
        let texts = Texts::new(texts)?;
        let sources = if let Some((doc, start, end, char_start)) = spans {
            let mut sources = within(&texts, &doc, &start, &end, &char_start)?;
            entitle(&mut sources, titles.as_deref());
            sources
        } else {
            let (mut sources, unread) = texts.sources(skip)?;
            if !unread.is_empty() && !skip {
                sources.clear();
            }
            tell(&mut sources, forms.as_deref(), titles.as_deref())?;
            sources
        };
        let core = &self.core;
        let asked: Asked = match &self.measure {
            None => detached(py, |poll| asked_all(core, &sources, threads, poll))?,
            Some(measure) => attached(py, |poll, raised| {
                // What the function raises comes out when the text is cut.
                let ask = |text: &str| {
                    answer(py, measure, text).map_err(|error| {
                        if error.is_instance_of::<PyException>(py) {
                            Error::Callable
                        } else {
                            raised.keep(error, Error::Interrupted)
                        }
                    })
                };
                asked_measured(core, &sources, &ask, poll)
            })?,
        };
        let dict = PyDict::new(py);
        let [byte_start, byte_end] = asked.bytes;
        let [char_start, char_end] = asked.chars;
        dict.set_item("source", array(py, asked.source))?;
        dict.set_item("byte_start", array(py, byte_start))?;
        dict.set_item("byte_end", array(py, byte_end))?;
        dict.set_item("char_start", array(py, char_start))?;
        dict.set_item("char_end", array(py, char_end))?;
        Ok((dict, Pieces(asked.pieces)))
    }
}

/// For each span the number of its text, where it starts and ends in bytes, and its first character.
type Spans = (Vec<i32>, Vec<usize>, Vec<usize>, Vec<usize>);

/// These spans of the texts as sources, each with its row as parent.
fn within<'t>(
    texts: &'t Texts<'_>,
    doc: &[i32],
    start: &[usize],
    end: &[usize],
    char_start: &[usize],
) -> PyResult<Vec<Source<'t>>> {
    let whole = texts.borrow().collect::<PyResult<Vec<_>>>()?;
    let mut sources = Vec::with_capacity(doc.len());
    for (row, &doc) in doc.iter().enumerate() {
        let place = usize::try_from(doc).ok().and_then(|doc| whole.get(doc));
        let span = (start.get(row), end.get(row), char_start.get(row));
        let (Some(&(text, ascii)), (Some(&a), Some(&b), Some(&chars))) = (place, span) else {
            return Err(SettingError::new_err(format!("parents[{row}] names no text")));
        };
        let Some(part) = text.get(a..b) else {
            return Err(SettingError::new_err(format!(
                "parents[{row}]: {a}..{b} is no span of its text"
            )));
        };
        let source = Source::new(part, ascii, doc);
        let parent = Some(row as i64);
        sources.push(Source { byte_start: a, char_start: chars, parent, ..source });
    }
    Ok(sources)
}

/// Gives each source a title, in their order.
fn entitle<'t>(sources: &mut [Source<'t>], titles: Option<&'t [String]>) {
    for (source, title) in sources.iter_mut().zip(titles.unwrap_or_default()) {
        source.title = title;
    }
}

/// What the caller's function says of a text.
fn answer(py: Python<'_>, measure: &Py<PyAny>, text: &str) -> PyResult<usize> {
    // A function may write to the Arrow buffer that the text lies in.
    let text = PyString::from_bytes(py, text.as_bytes())?;
    let answer = measure.bind(py).call1((text,));
    answer.and_then(|size| number("the size that unit returned", &size))
}

/// A document that failed: its number, the exception, and what failed.
type Failed = (i32, PyErr, &'static str);

impl Splitter {
    fn run(
        &self,
        py: Python<'_>,
        sources: &[Source<'_>],
        threads: usize,
        skip: bool,
    ) -> PyResult<(Columns, Vec<Failed>)> {
        let core = &self.core;
        let Some(measure) = &self.measure else {
            let cut = detached(py, |poll| split_all(core, sources, threads, skip, poll))?;
            let failures = cut.failures.into_iter();
            return Ok((cut.columns, failures.map(|f| (f.doc, f.error.into(), "cut")).collect()));
        };
        // What the function raised, in the order of the documents: the first ends a document.
        let own = RefCell::new(VecDeque::new());
        let cut = attached(py, |poll, raised| {
            let ask = |text: &str| {
                answer(py, measure, text).map_err(|error| {
                    if error.is_instance_of::<PyException>(py) {
                        own.borrow_mut().push_back(error);
                        Error::Callable
                    } else {
                        raised.keep(error, Error::Interrupted)
                    }
                })
            };
            split_measured(core, sources, &ask, skip, poll)
        })?;
        let mut own = own.into_inner();
        let failures = cut.failures.into_iter().map(|failure| match failure.error {
            Error::Callable => match own.pop_front() {
                Some(error) => (failure.doc, error, "unit"),
                None => (failure.doc, Error::Callable.into(), "cut"),
            },
            error => (failure.doc, error.into(), "cut"),
        });
        Ok((cut.columns, failures.collect()))
    }
}
