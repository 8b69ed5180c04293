//! `_core.Splitter`: a strategy with its settings, checked when it is built.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

use super::columns::dict;
use super::enter::{attached, detached};
use super::errors::SettingError;
use super::texts::Texts;
use super::tokenizer::Tokenizer;
use crate::batch::{Columns, Source, split_all, split_measured};
use crate::cuts::separators::{Separator, Side};
use crate::error::Error;
use crate::pack::Limit;
use crate::split::{Splitter as Core, Strategy, Unit};

#[pyclass(frozen, module = "cantle._core")]
pub(super) struct Splitter {
    core: Core,
    /// The caller's function, when the unit is one.
    measure: Option<Py<PyAny>>,
}

/// A whole number of at least 0, or an error that names the argument and the value.
fn number(name: &str, value: &Bound<'_, PyAny>) -> PyResult<usize> {
    let is_bool = value.is_instance_of::<PyBool>();
    let number = value.extract::<usize>().ok().filter(|&n| n <= i64::MAX as usize);
    if let Some(number) = number.filter(|_| !is_bool) {
        return Ok(number);
    }
    if is_bool || value.call_method0("__index__").is_err() {
        let kind = value.get_type().qualname()?;
        let text = value.repr()?;
        return Err(PyTypeError::new_err(format!(
            "{name} ({text}) must be a whole number, not {kind}"
        )));
    }
    // Python refuses to write out a number of thousands of digits.
    let shown = value.str().map_or_else(|_| "a number too long to write".into(), |s| s.to_string());
    if value.lt(0)? {
        return Err(SettingError::new_err(format!("{name} ({shown}) must not be negative")));
    }
    Err(SettingError::new_err(format!("{name} ({shown}) must be smaller than 2**63")))
}

type SeparatorParts = (String, bool, Option<String>);

fn separators(parts: Vec<SeparatorParts>) -> PyResult<Vec<Separator>> {
    let mut levels = Vec::with_capacity(parts.len());
    for (pattern, is_regex, side) in parts {
        let side = match side.as_deref() {
            None => None,
            Some("end") => Some(Side::End),
            Some("start") => Some(Side::Start),
            Some(other) => {
                return Err(SettingError::new_err(format!(
                    "side ({other:?}) must be \"start\" or \"end\""
                )));
            }
        };
        levels.push(if is_regex {
            Separator::regex(&pattern, side)?
        } else {
            Separator::literal(&pattern, side)?
        });
    }
    Ok(levels)
}

#[pymethods]
impl Splitter {
    #[new]
    #[pyo3(signature = (strategy, size, overlap, unit, trim, min_size, separators))]
    fn new(
        strategy: &str,
        size: &Bound<'_, PyAny>,
        overlap: &Bound<'_, PyAny>,
        unit: &Bound<'_, PyAny>,
        trim: bool,
        min_size: &Bound<'_, PyAny>,
        separators: Option<Vec<SeparatorParts>>,
    ) -> PyResult<Self> {
        let limit = Limit {
            size: number("size", size)?,
            overlap: number("overlap", overlap)?,
            min_size: number("min_size", min_size)?,
            trim,
        };
        let strategy = match (strategy, separators) {
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

    /// Cuts each text; the columns of all.
    fn split<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        threads: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let threads = number("threads", threads)?;
        let texts = Texts::new(texts)?;
        dict(py, self.run(py, &texts.sources()?, threads)?)
    }

    /// Cuts inside spans: for row i, `texts[doc[i]]` from byte `start[i]` to `end[i]`, whose first
    /// character is number `char_start[i]`.
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
    ) -> PyResult<Bound<'py, PyDict>> {
        let threads = number("threads", threads)?;
        let texts = Texts::new(texts)?;
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
            sources.push(Source {
                text: part,
                ascii,
                doc,
                byte_start: a,
                char_start: chars,
                parent: Some(row as i64),
            });
        }
        dict(py, self.run(py, &sources, threads)?)
    }
}

impl Splitter {
    fn run(&self, py: Python<'_>, sources: &[Source<'_>], threads: usize) -> PyResult<Columns> {
        let core = &self.core;
        let Some(measure) = &self.measure else {
            return detached(py, |poll| split_all(core, sources, threads, poll));
        };
        attached(py, |poll, raised| {
            let ask = |text: &str| {
                let answer = measure.bind(py).call1((text,));
                answer
                    .and_then(|size| number("the size that unit returned", &size))
                    .map_err(|error| raised.keep(error, Error::Callable))
            };
            split_measured(core, sources, &ask, poll)
        })
    }
}
