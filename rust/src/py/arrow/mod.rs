//! Arrow in and out, through the PyCapsule interface. No Python library of Arrow is needed.
//!
//! * `strings`: texts (or ids) that lie in Arrow buffers: `_core.ArrowTexts`
//! * `read`: an array, a stream or a table, part by part: `_core.ArrowReader`
//! * `table`: the columns of a table that are neither text nor id: `_core.ArrowTable`
//! * `write`: chunks as a stream of record batches: `_core.ArrowChunks`
//! * `structure`: the columns of chunks that blocks are known of
//! * `capsule`: what both directions share

pub(super) mod capsule;
mod clauses;
pub(super) mod read;
pub(super) mod strings;
mod structure;
pub(super) mod table;
pub(super) mod write;
