//! The clauses and references of many documents, a column each.

use std::sync::Arc;

use super::Clauses;
use crate::batch::Source;
use crate::structure::columns::NONE;

/// Rows for chunks, for clauses and for references. Offsets are half-open and within the document.
#[derive(Default)]
pub struct ClauseColumns {
    /// For each chunk the row of the clause that it starts in; -1 for none.
    pub clause: Vec<i32>,
    /// For each chunk the row of what is said beside it; -1 for nothing.
    pub note: Vec<i32>,
    /// What is said beside chunks.
    pub notes: Vec<String>,
    /// For each clause its document.
    pub doc: Vec<i32>,
    /// For each clause where its line starts, in bytes.
    pub start: Vec<i64>,
    /// For each clause the row of the one that it stands in; -1 for none.
    pub above: Vec<i32>,
    /// For each clause its number, its title, its word and its key, which starts with the part of the
    /// text that it is counted in.
    pub words: [Vec<String>; 4],
    /// For each reference the rows of the clauses that it stands in and means, -1 for none; and the
    /// number of another document's name.
    pub ends: [Vec<i32>; 3],
    /// For each reference its document.
    pub reference_doc: Vec<i32>,
    /// For each reference where its number starts and ends, in bytes.
    pub spans: [Vec<i64>; 2],
    /// For each reference the key that it names.
    pub keys: Vec<String>,
    /// Whether any document was cut at its clauses.
    pub any: bool,
}

impl ClauseColumns {
    /// Fills up to `rows` chunks without a clause.
    pub(crate) fn fill(&mut self, rows: usize) {
        self.clause.resize(rows, NONE);
        self.note.resize(rows, NONE);
    }

    pub(crate) fn push(
        &mut self,
        source: &Source<'_>,
        clauses: Option<&Clauses>,
        notes: Vec<(Option<usize>, Arc<str>)>,
    ) {
        let Some(clauses) = clauses else { return };
        self.any = true;
        let first = self.start.len();
        let row = |clause: Option<usize>| clause.map_or(NONE, |clause| (first + clause) as i32);
        for clause in &clauses.list {
            self.doc.push(source.doc);
            self.start.push((source.byte_start + clause.start) as i64);
            self.above.push(row(clause.above));
            self.words[0].push(clause.number.clone());
            self.words[1].push(clause.title.clone());
            self.words[2].push(clause.word.to_owned());
            self.words[3].push(clauses.key(clause));
        }
        for reference in &clauses.references {
            self.ends[0].push(row(reference.from.map(|from| from as usize)));
            self.ends[1].push(row(reference.to.map(|to| to as usize)));
            self.ends[2].push(reference.document.map_or(NONE, |document| document as i32));
            self.reference_doc.push(source.doc);
            self.spans[0].push((source.byte_start + reference.start) as i64);
            self.spans[1].push((source.byte_start + reference.end) as i64);
            self.keys.push(reference.key.clone());
        }
        let mut last: Option<Arc<str>> = None;
        for (clause, note) in notes {
            self.clause.push(row(clause));
            if note.is_empty() {
                self.note.push(NONE);
                continue;
            }
            if !last.is_some_and(|last| Arc::ptr_eq(&last, &note)) {
                self.notes.push(String::from(&*note));
            }
            self.note.push(self.notes.len() as i32 - 1);
            last = Some(note);
        }
    }

    /// Adds another's rows; both are filled.
    pub(crate) fn append(&mut self, mut other: Self) {
        let shift = |column: &mut Vec<i32>, by: usize| {
            column.iter_mut().filter(|row| **row != NONE).for_each(|row| *row += by as i32);
        };
        let clauses = self.start.len();
        shift(&mut other.clause, clauses);
        shift(&mut other.note, self.notes.len());
        shift(&mut other.above, clauses);
        shift(&mut other.ends[0], clauses);
        shift(&mut other.ends[1], clauses);
        self.any |= other.any;
        self.clause.append(&mut other.clause);
        self.note.append(&mut other.note);
        self.notes.append(&mut other.notes);
        self.doc.append(&mut other.doc);
        self.start.append(&mut other.start);
        self.above.append(&mut other.above);
        self.reference_doc.append(&mut other.reference_doc);
        self.keys.append(&mut other.keys);
        for (mine, theirs) in self.words.iter_mut().zip(&mut other.words) {
            mine.append(theirs);
        }
        for (mine, theirs) in self.ends.iter_mut().zip(&mut other.ends) {
            mine.append(theirs);
        }
        for (mine, theirs) in self.spans.iter_mut().zip(&mut other.spans) {
            mine.append(theirs);
        }
    }
}
