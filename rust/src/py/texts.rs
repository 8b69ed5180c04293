//! Texts from Python: `str`, UTF-8 `bytes` and Arrow strings, borrowed, never copied.

use pyo3::exceptions::{PyTypeError, PyUnicodeEncodeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use super::arrow::strings::ArrowTexts;
use super::columns::{array, dict};
use super::enter::detached;
use super::errors::{SettingError, TextError};
use crate::batch::Source;
use crate::chars::CharIndex;
use crate::cuts::Level;
use crate::guard::{Guard, NEVER};
use crate::text::Text;

/// Borrows one text. `place` says which one it is in messages ("text" or "texts[3]").
pub(super) fn borrow<'a>(
    object: &'a Bound<'_, PyAny>,
    place: &dyn Fn() -> String,
) -> PyResult<(&'a str, bool)> {
    if let Ok(string) = object.cast::<PyString>() {
        let text = string.to_str().map_err(|error| surrogate(object.py(), &error, place))?;
        // UTF-8 as long as the text in characters means ASCII: known without reading.
        return Ok((text, text.len() == string.len()?));
    }
    if let Ok(bytes) = object.cast::<PyBytes>() {
        let bytes = bytes.as_bytes();
        let text = simdutf8::compat::from_utf8(bytes).map_err(|error| {
            let at = error.valid_up_to();
            TextError::new_err(format!(
                "{} is not UTF-8: the byte 0x{:02x} at position {at} is out of place",
                place(),
                bytes.get(at).copied().unwrap_or_default()
            ))
        })?;
        return Ok((text, text.is_ascii()));
    }
    let kind = object.get_type().qualname()?;
    Err(PyTypeError::new_err(format!("{} must be str or UTF-8 bytes, not {kind}", place())))
}

fn surrogate(py: Python<'_>, error: &PyErr, place: &dyn Fn() -> String) -> PyErr {
    if !error.is_instance_of::<PyUnicodeEncodeError>(py) {
        return error.clone_ref(py);
    }
    let at = error.value(py).getattr("start").and_then(|at| at.extract::<usize>());
    TextError::new_err(format!(
        "{} holds a lone surrogate at character {}: it cannot be written as UTF-8",
        place(),
        at.unwrap_or_default()
    ))
}

/// A text that failed: its number, and the exception.
pub(super) type Fault = (i32, PyErr);

/// The texts of a call: Python's own, or strings in Arrow buffers.
pub(super) enum Texts<'py> {
    Objects(Vec<Bound<'py, PyAny>>),
    Arrow(Bound<'py, ArrowTexts>),
}

impl<'py> Texts<'py> {
    pub(super) fn new(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        match object.cast::<ArrowTexts>() {
            Ok(texts) => Ok(Self::Arrow(texts.clone())),
            Err(_) => object.extract().map(Self::Objects),
        }
    }

    /// Borrows one text after the other, and says whether it is ASCII.
    pub(super) fn borrow(&self) -> Box<dyn Iterator<Item = PyResult<(&str, bool)>> + '_> {
        match self {
            Self::Objects(texts) => {
                let texts = texts.iter().enumerate();
                Box::new(texts.map(|(i, text)| borrow(text, &|| format!("texts[{i}]"))))
            }
            Self::Arrow(texts) => {
                let texts = texts.get();
                let read = texts.read();
                let mut flaws = texts.flaws().iter().peekable();
                Box::new((0..texts.len()).map(move |i| match flaws.next_if(|(row, _)| *row == i) {
                    Some((_, words)) => Err(TextError::new_err(words.clone())),
                    None => read(i),
                }))
            }
        }
    }

    /// Borrows every text as a document; the first has number 0. One that cannot be read is an empty
    /// document, and told of beside; without `skip`, the first such ends the reading.
    pub(super) fn sources(&self, skip: bool) -> PyResult<(Vec<Source<'_>>, Vec<Fault>)> {
        let (mut sources, mut unread) = (Vec::new(), Vec::new());
        for (i, text) in self.borrow().enumerate() {
            let doc = i32::try_from(i)
                .map_err(|_| SettingError::new_err("texts: more than 2**31 in one call"))?;
            let (text, ascii) = match text {
                Ok(text) => text,
                Err(error) => {
                    unread.push((doc, error));
                    if !skip {
                        break;
                    }
                    ("", true)
                }
            };
            sources.push(Source::new(text, ascii, doc));
        }
        Ok((sources, unread))
    }
}

/// The columns of the sentences of `text`, sizes in characters.
#[pyfunction]
pub(super) fn sentences<'py>(
    py: Python<'py>,
    text: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyDict>> {
    let (text, ascii) = borrow(text, &|| "text".into())?;
    let columns = detached(py, |poll| crate::batch::sentences(text, ascii, poll))?;
    dict(py, columns)
}

/// Each span of bytes without the blanks around it; one that holds nothing else is empty, where it
/// starts.
#[pyfunction]
pub(super) fn visible<'py>(
    py: Python<'py>,
    text: &Bound<'py, PyAny>,
    start: Vec<usize>,
    end: Vec<usize>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let (text, _) = borrow(text, &|| "text".into())?;
    if start.len() != end.len() {
        return Err(SettingError::new_err("the columns of spans differ in length"));
    }
    let mut spans = (Vec::with_capacity(start.len()), Vec::with_capacity(start.len()));
    for (start, end) in start.into_iter().zip(end) {
        let Some(part) = text.get(start..end) else {
            let words = format!("({start}, {end}) is no span of the text");
            return Err(SettingError::new_err(words));
        };
        let seen = part.trim_start();
        let first = if seen.is_empty() { start } else { end - seen.len() };
        spans.0.push(first as i64);
        spans.1.push((first + seen.trim_end().len()) as i64);
    }
    Ok((array(py, spans.0), array(py, spans.1)))
}

/// Character offsets of the cuts of one level, the text's end included. The test oracle packs them.
#[pyfunction]
pub(super) fn cuts<'py>(
    py: Python<'py>,
    text: &Bound<'py, PyAny>,
    level: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let (text, ascii) = borrow(text, &|| "text".into())?;
    let whole = Text::new(text, ascii);
    let mut ends = Vec::new();
    let level = match level {
        "paragraph" => Level::Paragraph,
        "line" => Level::Line,
        "sentence" => Level::Sentence,
        "word" => Level::Word,
        "word_part" => Level::WordPart,
        "grapheme" => {
            let mut at = 0;
            while at < text.len() {
                at = whole.graphemes.next(at);
                ends.push(at);
            }
            return Ok(chars_of(py, text, ascii, &ends));
        }
        other => return Err(SettingError::new_err(format!("level ({other:?}) is unknown"))),
    };
    level.cuts(&whole, 0, text.len(), &Guard::new(&NEVER, None), &mut ends)?;
    Ok(chars_of(py, text, ascii, &ends))
}

fn chars_of<'py>(py: Python<'py>, text: &str, ascii: bool, offsets: &[usize]) -> Bound<'py, PyAny> {
    let index = CharIndex::new(text, ascii);
    array(py, offsets.iter().map(|&at| index.rank(at) as i64).collect::<Vec<_>>())
}

/// Byte offsets for character offsets of the spans of `texts[number]` (`to_bytes`), or the other
/// way round; starts and ends by turns.
#[pyfunction]
pub(super) fn span_offsets<'py>(
    py: Python<'py>,
    text: &Bound<'py, PyAny>,
    number: usize,
    offsets: Vec<usize>,
    to_bytes: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let (text, ascii) = borrow(text, &|| format!("texts[{number}]"))?;
    let index = CharIndex::new(text, ascii);
    let most = if to_bytes { index.len() } else { text.len() };
    let mut out = Vec::with_capacity(offsets.len());
    for (i, at) in offsets.into_iter().enumerate() {
        let refuse = |words: String| {
            Err(SettingError::new_err(format!("spans[{number}][{}]: {words}", i / 2)))
        };
        if at > most {
            let unit = if to_bytes { "characters" } else { "bytes" };
            return refuse(format!(
                "{at} lies behind the end of the text, which has {most} {unit}"
            ));
        }
        if to_bytes {
            out.push(index.nth(at) as i64);
        } else if text.is_char_boundary(at) {
            out.push(index.rank(at) as i64);
        } else {
            return refuse(format!("byte offset {at} lies inside a character"));
        }
    }
    Ok(array(py, out))
}
