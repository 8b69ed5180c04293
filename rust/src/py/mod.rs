//! The Python module `cantle._core`. The only folder that names pyo3.
//!
//! Docstrings live in Python; `_core.pyi` holds the types and is checked against this module.

mod arrow;
mod blocks;
mod columns;
mod enter;
mod errors;
mod html;
mod nearest;
mod settings;
mod splitter;
mod structure;
mod terms;
mod texts;
mod tokenizer;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    if cfg!(debug_assertions) {
        let warn = py.import("warnings")?.getattr("warn")?;
        warn.call1(("this is a debug build of cantle: it is many times slower",))?;
    }
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("OVERSIZE", crate::batch::OVERSIZE)?;
    module.add("PART", crate::batch::PART)?;
    module.add("EMPTY", crate::structure::rows::EMPTY)?;
    module.add("SHORTENED", crate::batch::SHORTENED)?;
    module.add("KINDS", blocks::kinds(py)?)?;
    module.add("FORMATS", blocks::formats(py)?)?;
    module.add("TEMPLATE", crate::structure::prefix::TEMPLATE)?;
    module.add("SettingError", py.get_type::<errors::SettingError>())?;
    module.add("TextError", py.get_type::<errors::TextError>())?;
    module.add("TokenizerError", py.get_type::<errors::TokenizerError>())?;
    module.add("InternalError", py.get_type::<errors::InternalError>())?;
    module.add_class::<splitter::Splitter>()?;
    module.add_class::<splitter::Pieces>()?;
    module.add_class::<blocks::Blocks>()?;
    module.add_class::<html::Origin>()?;
    module.add_class::<tokenizer::Tokenizer>()?;
    module.add_class::<tokenizer::TokenRuler>()?;
    module.add_class::<tokenizer::Words>()?;
    module.add_class::<arrow::strings::ArrowTexts>()?;
    module.add_class::<arrow::read::ArrowReader>()?;
    module.add_class::<arrow::table::ArrowTable>()?;
    module.add_class::<arrow::write::ArrowChunks>()?;
    module.add_function(wrap_pyfunction!(tokenizer::vocabularies, module)?)?;
    module.add_function(wrap_pyfunction!(tokenizer::pattern_name, module)?)?;
    module.add_function(wrap_pyfunction!(blocks::markdown_events, module)?)?;
    module.add_function(wrap_pyfunction!(html::read_html, module)?)?;
    module.add_function(wrap_pyfunction!(nearest::unit_rows, module)?)?;
    module.add_function(wrap_pyfunction!(nearest::vector_scores, module)?)?;
    module.add_function(wrap_pyfunction!(nearest::best_rows, module)?)?;
    module.add_function(wrap_pyfunction!(structure::render, module)?)?;
    module.add_function(wrap_pyfunction!(structure::carried, module)?)?;
    module.add_function(wrap_pyfunction!(structure::note, module)?)?;
    module.add_function(wrap_pyfunction!(terms::keyword_vectors, module)?)?;
    module.add_function(wrap_pyfunction!(terms::mean_vectors, module)?)?;
    module.add_function(wrap_pyfunction!(terms::terms, module)?)?;
    module.add_function(wrap_pyfunction!(texts::sentences, module)?)?;
    module.add_function(wrap_pyfunction!(texts::visible, module)?)?;
    module.add_function(wrap_pyfunction!(texts::cuts, module)?)?;
    module.add_function(wrap_pyfunction!(texts::span_offsets, module)?)?;
    Ok(())
}
