//! What the documents' blocks say of their chunks, handed over; and what stands before a chunk when
//! it is embedded.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::arrow::strings::ArrowTexts;
use super::blocks::tell;
use super::columns::array;
use super::texts::Texts;
use crate::blocks::Form;
use crate::chars::CharIndex;
use crate::structure::Outline;
use crate::structure::clauses::columns::ClauseColumns;
use crate::structure::columns::StructureColumns;
use crate::structure::cutting::{check, describe};
use crate::structure::prefix::{Fill, Template};
use crate::text::Text;

/// Adds the columns to `dict`: those of chunks beside the others, and under `structure` the tables
/// that they name rows of.
pub(super) fn add(
    py: Python<'_>,
    dict: &Bound<'_, PyDict>,
    mut columns: StructureColumns,
    rows: usize,
) -> PyResult<()> {
    if columns.is_empty() {
        return Ok(());
    }
    columns.fill(rows);
    dict.set_item("kind", array(py, columns.kind))?;
    dict.set_item("heading", array(py, columns.heading))?;
    dict.set_item("context", array(py, columns.context))?;
    if columns.key.iter().any(|&key| key >= 0) {
        dict.set_item("key", array(py, columns.key))?;
    }
    if columns.lost.iter().any(|&lost| lost > 0) {
        dict.set_item("lost", array(py, columns.lost))?;
    }
    let [first, last] = columns.blocks;
    if first.iter().any(|&block| block >= 0) {
        dict.set_item("block_start", array(py, first))?;
        dict.set_item("block_end", array(py, last))?;
    }
    let tables = PyDict::new(py);
    tables.set_item("level", array(py, columns.level))?;
    tables.set_item("above", array(py, columns.above))?;
    tables.set_item("heading_doc", array(py, columns.heading_doc))?;
    tables.set_item("heading_start", array(py, columns.heading_start))?;
    tables.set_item("titles", ArrowTexts::owned(&columns.titles)?)?;
    let [byte_start, byte_end, char_start, char_end] = columns.contexts;
    tables.set_item("context_byte_start", array(py, byte_start))?;
    tables.set_item("context_byte_end", array(py, byte_end))?;
    tables.set_item("context_char_start", array(py, char_start))?;
    tables.set_item("context_char_end", array(py, char_end))?;
    let [doc, depth] = columns.settled;
    let settled = doc.len();
    tables.set_item("settled_doc", array(py, doc))?;
    tables.set_item("settled_depth", array(py, depth))?;
    let shape = [settled, columns.sections.len() / settled.max(1)];
    for (name, table) in
        [("sections", array(py, columns.sections)), ("medians", array(py, columns.medians))]
    {
        tables.set_item(name, table.call_method1("reshape", (shape[0], shape[1]))?)?;
    }
    if columns.clauses.any {
        dict.set_item("clauses", self::clauses(py, dict, columns.clauses)?)?;
    }
    dict.set_item("structure", tables)
}

/// The tables of clauses and of references; the columns of chunks go into `dict`.
fn clauses<'py>(
    py: Python<'py>,
    dict: &Bound<'py, PyDict>,
    columns: ClauseColumns,
) -> PyResult<Bound<'py, PyDict>> {
    dict.set_item("clause", array(py, columns.clause))?;
    dict.set_item("note", array(py, columns.note))?;
    let tables = PyDict::new(py);
    tables.set_item("notes", ArrowTexts::owned(&columns.notes)?)?;
    tables.set_item("doc", array(py, columns.doc))?;
    tables.set_item("byte_start", array(py, columns.start))?;
    tables.set_item("above", array(py, columns.above))?;
    for (name, words) in ["number", "title", "word", "key"].into_iter().zip(&columns.words) {
        tables.set_item(name, ArrowTexts::owned(words)?)?;
    }
    for (name, ends) in ["source", "target", "document"].into_iter().zip(columns.ends) {
        tables.set_item(name, array(py, ends))?;
    }
    tables.set_item("reference_doc", array(py, columns.reference_doc))?;
    for (name, at) in ["reference_start", "reference_end"].into_iter().zip(columns.spans) {
        tables.set_item(name, array(py, at))?;
    }
    tables.set_item("reference_key", ArrowTexts::owned(&columns.keys)?)?;
    Ok(tables)
}

/// What stands before a chunk's text and behind it, without the first `lost` steps.
#[pyfunction]
pub(super) fn render(
    template: &str,
    title: &str,
    path: Vec<String>,
    context: &str,
    notes: &str,
    lost: usize,
) -> PyResult<(String, String)> {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let fill = Fill { title, path: &path, context, notes };
    Ok(Template::new(template)?.render(&fill, lost))
}

/// The note by a clause that these refer to: for each its word and its number.
#[pyfunction]
pub(super) fn note(clauses: Vec<(String, String)>) -> String {
    crate::structure::clauses::note(clauses.iter().map(|(word, number)| (&word[..], &number[..])))
}

/// What the blocks of texts say of a caller's own spans, in the order of the texts; `part` holds the
/// flags that follow.
#[pyfunction]
pub(super) fn carried<'py>(
    py: Python<'py>,
    texts: &Bound<'py, PyAny>,
    forms: Vec<Bound<'py, PyAny>>,
    doc: Vec<i32>,
    start: Vec<usize>,
    end: Vec<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let texts = Texts::new(texts)?;
    let (mut sources, _) = texts.sources(false)?;
    tell(&mut sources, Some(&forms), None)?;
    let spans: Vec<_> = doc.iter().zip(start.into_iter().zip(end)).collect();
    let mut columns = StructureColumns::default();
    let mut flags = Vec::with_capacity(spans.len());
    let mut row = 0;
    for source in &sources {
        let rows = spans[row..].iter().take_while(|(doc, _)| **doc == source.doc).count();
        if let Form::Read(blocks) = source.form {
            check(source.text, &blocks.blocks)?;
            let text = Text::new(source.text, source.ascii);
            let own = spans[row..row + rows].iter().map(|(_, span)| *span);
            let structure = describe(&text, blocks, &Outline::new(blocks), own);
            flags.extend(structure.carried.iter().map(|one| one.flags));
            columns.push(row, source, &CharIndex::new(source.text, source.ascii), structure);
        } else {
            flags.resize(flags.len() + rows, 0);
        }
        row += rows;
    }
    let dict = PyDict::new(py);
    add(py, &dict, columns, row)?;
    dict.set_item("part", array(py, flags))?;
    Ok(dict)
}
