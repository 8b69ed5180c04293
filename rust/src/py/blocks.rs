//! `_core.Blocks`: the blocks of one text, read off its form or handed in by the caller.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use super::columns::array;
use super::enter::detached;
use super::errors::SettingError;
use super::texts::borrow;
use crate::batch::Source;
use crate::blocks::{Block, Blocks as Core, Form, Format, Kind, Lists, markdown};

#[pyclass(frozen, module = "cantle._core")]
pub(super) struct Blocks(pub(super) Arc<Core>);

/// A form by its name.
pub(super) fn format(name: &str) -> PyResult<Format> {
    Format::from_name(name).ok_or_else(|| {
        let known = Format::ALL.map(|format| format!("{:?}", format.name())).join(", ");
        SettingError::new_err(format!("format ({name:?}) must be one of {known}"))
    })
}

#[pymethods]
impl Blocks {
    /// Columns in the order of the text: kinds by number, levels, how many lists and quotes each
    /// stands in and shares with the one before, the bits of `Lists`, byte offsets; a title for each heading; and where
    /// sections end before the next heading, for each block the title in force, or -1.
    #[new]
    #[pyo3(signature = (kind, level, depth, shared, lists, start, end, head, titles, scopes=None))]
    #[expect(clippy::too_many_arguments, reason = "one argument per column")]
    fn new(
        kind: Vec<u8>,
        level: Vec<u16>,
        depth: Vec<u16>,
        shared: Vec<u16>,
        lists: Vec<u8>,
        start: Vec<usize>,
        end: Vec<usize>,
        head: Vec<usize>,
        titles: Vec<String>,
        scopes: Option<Vec<i64>>,
    ) -> PyResult<Self> {
        let rows = kind.len();
        let small = [level.len(), depth.len(), shared.len(), lists.len()];
        let lengths = [&small[..], &[start.len(), end.len(), head.len()]].concat();
        if lengths.iter().any(|&length| length != rows) {
            return Err(SettingError::new_err("the columns of blocks differ in length"));
        }
        let mut blocks = Vec::with_capacity(rows);
        for (i, &number) in kind.iter().enumerate() {
            let Some(&kind) = Kind::ALL.get(usize::from(number)) else {
                return Err(SettingError::new_err(format!("kind[{i}] ({number}) is unknown")));
            };
            blocks.push(Block {
                kind,
                level: level[i],
                depth: depth[i],
                shared: shared[i],
                lists: Lists::from_bits(lists[i]),
                start: start[i],
                end: end[i],
                head: head[i],
            });
        }
        let headings = blocks.iter().filter(|block| block.kind == Kind::Heading).count();
        if titles.len() != headings {
            let given = titles.len();
            return Err(SettingError::new_err(format!(
                "titles has {given} entries for {headings} headings"
            )));
        }
        if scopes.as_ref().is_some_and(|scopes| scopes.len() != rows) {
            return Err(SettingError::new_err("the columns of blocks differ in length"));
        }
        let scopes = scopes.map(|all| all.into_iter().map(|at| u32::try_from(at).ok()).collect());
        Ok(Self(Arc::new(Core { blocks, titles, scopes })))
    }

    /// The blocks of a text of this form.
    #[staticmethod]
    fn read(py: Python<'_>, text: &Bound<'_, PyAny>, name: &str) -> PyResult<Self> {
        let (text, _) = borrow(text, &|| "text".into())?;
        let format = format(name)?;
        let blocks = detached(py, |_| Ok(format.blocks(text)))?;
        Ok(Self(Arc::new(blocks)))
    }

    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        let all = &self.0.blocks;
        let small = |of: fn(&Block) -> u16| array(py, all.iter().map(of).collect::<Vec<u16>>());
        let long = |of: fn(&Block) -> usize| {
            array(py, all.iter().map(|block| of(block) as i64).collect::<Vec<i64>>())
        };
        let kinds = all.iter().map(|block| block.kind as u8).collect::<Vec<u8>>();
        dict.set_item("kind", array(py, kinds))?;
        dict.set_item("level", small(|block| block.level))?;
        dict.set_item("depth", small(|block| block.depth))?;
        dict.set_item("shared", small(|block| block.shared))?;
        let lists = all.iter().map(|block| block.lists.bits()).collect::<Vec<u8>>();
        dict.set_item("lists", array(py, lists))?;
        dict.set_item("start", long(|block| block.start))?;
        dict.set_item("end", long(|block| block.end))?;
        dict.set_item("head", long(|block| block.head))?;
        dict.set_item("titles", &self.0.titles)?;
        let scopes = self.0.scopes.as_ref().map(|scopes| {
            let numbers = scopes.iter().map(|scope| scope.map_or(-1, i64::from));
            array(py, numbers.collect::<Vec<i64>>())
        });
        dict.set_item("scopes", scopes)?;
        Ok(dict)
    }

    fn __len__(&self) -> usize {
        self.0.blocks.len()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let columns = slf.get().columns(slf.py())?;
        let values = columns.values().to_tuple().into_any();
        Ok((slf.get_type().into_any(), values))
    }
}

/// How many events the parser of Markdown has for a text: its own pass, which benches compare with.
#[pyfunction]
pub(super) fn markdown_events(py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<usize> {
    let (text, _) = borrow(text, &|| "text".into())?;
    detached(py, |_| Ok(markdown::events(text)))
}

/// Tells each source its form, `None`, a name or blocks, and its title.
pub(super) fn tell<'s>(
    sources: &mut [Source<'s>],
    forms: Option<&'s [Bound<'_, PyAny>]>,
    titles: Option<&'s [String]>,
) -> PyResult<()> {
    for source in sources {
        let doc = usize::try_from(source.doc).unwrap_or(usize::MAX);
        if let Some(form) = forms.and_then(|forms| forms.get(doc)).filter(|form| !form.is_none()) {
            source.form = match form.cast::<Blocks>() {
                Ok(blocks) => Form::Read(&blocks.get().0),
                Err(_) => Form::In(format(form.cast::<PyString>()?.to_str()?)?),
            };
        }
        if let Some(title) = titles.and_then(|titles| titles.get(doc)) {
            source.title = title;
        }
    }
    Ok(())
}

/// The kinds of blocks, in the order of their numbers.
pub(super) fn kinds(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    PyList::new(py, Kind::ALL.map(Kind::name))
}

/// The forms that the core reads.
pub(super) fn formats(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    PyList::new(py, Format::ALL.map(Format::name))
}
