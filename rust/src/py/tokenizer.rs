//! `_core.Tokenizer`.

use std::sync::atomic::AtomicBool;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::columns::array;
use super::enter::{attached, detached};
use super::errors::SettingError;
use super::settings::number;
use super::terms::borrowed;
use super::texts::{Fault, Texts, borrow};
use crate::batch::count_all;
use crate::chars::{CharIndex, Counts};
use crate::guard::Guard;
use crate::ruler::{Ruler, reach};
use crate::tokenizer::words::Words as CoreWords;
use crate::tokenizer::{Marks, Tokenizer as Core};

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

    /// How many tokens each text has; the number and the exception of the first that failed.
    fn count_all<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        threads: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyAny>, Option<Fault>)> {
        let threads = number("threads", threads)?;
        let texts = Texts::new(texts)?;
        let (sources, unread) = texts.sources(false)?;
        if let Some(failure) = unread.into_iter().next() {
            return Ok((array(py, Vec::<i64>::new()), Some(failure)));
        }
        let (counts, failure) =
            detached(py, |poll| count_all(&self.core, &sources, threads, poll))?;
        let failure = failure.map(|failure| (failure.doc, failure.error.into()));
        Ok((array(py, counts), failure))
    }

    /// The byte and the character offset of the longest beginning that has at most `n` tokens.
    fn truncate(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        n: &Bound<'_, PyAny>,
    ) -> PyResult<(usize, usize)> {
        let (text, ascii) = borrow(text, &|| "text".into())?;
        let n = number("n", n)?;
        let stop = AtomicBool::new(false);
        let end = detached(py, |poll| self.core.truncate(text, n, &Guard::new(&stop, Some(poll))))?;
        Ok((end, if ascii { end } else { text[..end].chars().count() }))
    }

    /// A ruler over `text`.
    fn measure(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        bytes: bool,
        threads: &Bound<'_, PyAny>,
    ) -> PyResult<TokenRuler> {
        let (text, ascii) = borrow(text, &|| "text".into())?;
        let threads = match number("threads", threads)? {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        let stop = AtomicBool::new(false);
        detached(py, |poll| {
            let marks = self.core.mark(text, threads, &Guard::new(&stop, Some(poll)))?;
            let counts = CharIndex::new(text, ascii || bytes).into_counts();
            Ok(TokenRuler { tokenizer: self.core.clone(), text: text.into(), marks, counts })
        })
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
    fn warning(&self) -> Option<&str> {
        self.core.warning()
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

/// A ruler over a text of its own.
#[pyclass(frozen, module = "cantle._core")]
pub(super) struct TokenRuler {
    tokenizer: Core,
    text: Box<str>,
    marks: Marks,
    /// Of characters, or of bytes where offsets count these.
    counts: Counts,
}

impl TokenRuler {
    fn index(&self) -> CharIndex<'_> {
        self.counts.index(&self.text)
    }

    fn ruler(&self) -> PyResult<Box<dyn Ruler + '_>> {
        Ok(self.tokenizer.ruler(&self.text, &self.marks)?)
    }

    /// The byte offset for an offset that a caller gave; `name` is what it is called.
    fn place(&self, name: &dyn Fn() -> String, at: usize) -> PyResult<usize> {
        let index = self.index();
        if at > index.len() {
            return Err(SettingError::new_err(format!(
                "{} ({at}) lies behind the end of the text, which is {}",
                name(),
                index.len()
            )));
        }
        let byte = index.nth(at);
        if self.text.is_char_boundary(byte) {
            return Ok(byte);
        }
        Err(SettingError::new_err(format!("{} ({at}) lies inside a character", name())))
    }

    fn span(&self, row: Option<usize>, a: usize, b: usize) -> PyResult<(usize, usize)> {
        let name = |name: &str| row.map_or(name.to_owned(), |row| format!("{name}[{row}]"));
        let (start, end) = (self.place(&|| name("a"), a)?, self.place(&|| name("b"), b)?);
        if start > end {
            return Err(SettingError::new_err(format!(
                "{} ({b}) must not be smaller than {} ({a})",
                name("b"),
                name("a")
            )));
        }
        Ok((start, end))
    }
}

#[pymethods]
impl TokenRuler {
    fn size(&self, py: Python<'_>, a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> PyResult<usize> {
        let (a, b) = self.span(None, number("a", a)?, number("b", b)?)?;
        let ruler = self.ruler()?;
        attached(py, |_, _| ruler.size(a, b))
    }

    fn sizes<'py>(
        &self,
        py: Python<'py>,
        a: Vec<usize>,
        b: Vec<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if a.len() != b.len() {
            return Err(SettingError::new_err(format!(
                "a has {} entries, and b {}",
                a.len(),
                b.len()
            )));
        }
        let ruler = self.ruler()?;
        let spans = a.iter().zip(&b).enumerate();
        let spans: Vec<_> =
            spans.map(|(row, (&a, &b))| self.span(Some(row), a, b)).collect::<PyResult<_>>()?;
        let sizes = attached(py, |poll, _| {
            let stop = AtomicBool::new(false);
            let guard = Guard::new(&stop, Some(poll));
            let sizes = spans.iter().map(|&(a, b)| {
                guard.check()?;
                ruler.size(a, b).map(|size| size as i64)
            });
            sizes.collect::<crate::error::Result<Vec<_>>>()
        })?;
        Ok(array(py, sizes))
    }

    fn reach(
        &self,
        py: Python<'_>,
        a: &Bound<'_, PyAny>,
        budget: &Bound<'_, PyAny>,
    ) -> PyResult<usize> {
        let a = self.place(&|| "a".into(), number("a", a)?)?;
        let budget = number("budget", budget)?;
        let ruler = self.ruler()?;
        let end = attached(py, |_, _| reach(&self.text, &*ruler, a, budget))?;
        Ok(self.index().rank(end))
    }

    /// Where token number `n` starts: in characters, the one that it starts in.
    fn nth(&self, py: Python<'_>, n: &Bound<'_, PyAny>) -> PyResult<usize> {
        let n = number("n", n)?;
        if n > self.total() {
            return Err(SettingError::new_err(format!(
                "n ({n}) must be at most the number of tokens, {}",
                self.total()
            )));
        }
        let specials = self.tokenizer.specials();
        let ruler = self.ruler()?;
        let at = attached(py, |_, _| ruler.ahead(0, n + if n > 0 { specials } else { 0 }))?;
        let index = self.index();
        // Blanks that belong to no token lie before the text's end.
        let at = if n > 0 && n == self.total() { self.text.len() } else { at };
        Ok(match index.len() == self.text.len() {
            true => at,
            false => index.rank(self.text.floor_char_boundary(at)),
        })
    }

    #[getter]
    fn total(&self) -> usize {
        self.marks.total()
    }
}

/// Encodes many short texts by their words, each of them once.
#[pyclass(frozen, module = "cantle._core")]
pub(super) struct Words(CoreWords);

#[pymethods]
impl Words {
    #[new]
    fn new(py: Python<'_>, tokenizer: &Tokenizer, json: &str, most: usize) -> PyResult<Self> {
        detached(py, |_| Ok(Self(CoreWords::new(tokenizer.core.clone(), json, most))))
    }

    /// The tokens of all texts, one behind the other, and where those of each end.
    fn encode<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let borrowed = borrowed(&texts)?;
        let stop = AtomicBool::new(false);
        let (tokens, ends) =
            detached(py, |poll| self.0.encode(&borrowed, &Guard::new(&stop, Some(poll))))?;
        let ends = ends.into_iter().map(|end| end as i64).collect::<Vec<_>>();
        Ok((array(py, tokens), array(py, ends)))
    }
}
