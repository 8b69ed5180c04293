//! Many texts at once: threads scoped to the call, results in order, columns out.
//!
//! * [`asking`]: what has to be embedded before texts are cut

pub mod asking;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::blocks::Form;
use crate::chars::CharIndex;
use crate::cuts::sentences::sentence_ends;
use crate::error::{Error, Result};
use crate::guard::Guard;
use crate::meaning::Compared;
use crate::meaning::pieces::Piece;
use crate::meaning::vectors::Vectors;
use crate::pack::Packed;
use crate::split::{Document, Made, Measure, Splitter};
use crate::structure::columns::StructureColumns;
use crate::text::Text;
use crate::tokenizer::Tokenizer;

/// Bytes of text from which a second thread earns its start.
const WORTH_A_THREAD: usize = 1 << 16;

/// The chunk is larger than the limit: one indivisible unit is.
pub const OVERSIZE: u32 = 1;
pub use crate::structure::carried::{PART, SHORTENED};

/// One text to cut.
#[derive(Clone, Copy)]
pub struct Source<'t> {
    /// The text.
    pub text: &'t str,
    /// Whether it is all ASCII.
    pub ascii: bool,
    /// The document it belongs to.
    pub doc: i32,
    /// Where it starts in its document, in bytes and characters.
    pub byte_start: usize,
    /// See `byte_start`.
    pub char_start: usize,
    /// The row of the chunk it is, when it is one.
    pub parent: Option<i64>,
    /// What is known of its form.
    pub form: Form<'t>,
    /// Its document's title; empty where it has none.
    pub title: &'t str,
    /// Which of the splitter's routes it takes.
    pub route: Option<u32>,
    /// The vectors of its pieces, where it is cut by them.
    pub vectors: Option<Vectors<'t>>,
    /// Its pieces, where [`asking`] found them.
    pub pieces: &'t [Piece],
}

impl<'t> Source<'t> {
    /// A whole text of which no more is known.
    #[must_use]
    pub fn new(text: &'t str, ascii: bool, doc: i32) -> Self {
        let (form, title) = (Form::Unknown, "");
        Self {
            text,
            ascii,
            doc,
            byte_start: 0,
            char_start: 0,
            parent: None,
            form,
            title,
            route: None,
            vectors: None,
            pieces: &[],
        }
    }
}

/// The chunks of some texts, a column each. All offsets are half-open and within the document.
#[derive(Default)]
pub struct Columns {
    /// The document's number.
    pub doc: Vec<i32>,
    /// The chunk's number within its document.
    pub ordinal: Vec<i32>,
    /// Byte offsets of the first character.
    pub byte_start: Vec<i64>,
    /// Byte offsets behind the last character.
    pub byte_end: Vec<i64>,
    /// Character offsets; empty while all are equal to the byte offsets.
    pub char_start: Vec<i64>,
    /// See `char_start`.
    pub char_end: Vec<i64>,
    /// Units in the chunk.
    pub size: Vec<i64>,
    /// Bits: [`OVERSIZE`], [`PART`], [`SHORTENED`].
    pub flags: Vec<u32>,
    /// The row of the parent; empty when the texts are no chunks.
    pub parent: Vec<i64>,
    /// What the documents' blocks say of the chunks; without rows where no blocks are known.
    pub structure: StructureColumns,
    /// The pieces whose vectors were compared.
    pub compared: ComparedColumns,
    /// The levels of groups above the chunks, the one next to them first; none without chunks.
    pub levels: Vec<GroupColumns>,
}

/// Groups of one level, in order.
#[derive(Default)]
pub struct GroupColumns {
    /// Behind which chunk each ends.
    pub ends: Vec<i64>,
    /// Units in it.
    pub size: Vec<i64>,
}

impl GroupColumns {
    /// Adds groups of chunks, of which the first is the row `rows`.
    fn extend(&mut self, rows: usize, ends: impl Iterator<Item = i64>, sizes: &[i64]) {
        self.ends.extend(ends.map(|end| rows as i64 + end));
        self.size.extend_from_slice(sizes);
    }
}

/// Pieces whose vectors were compared, in order. Offsets are half-open and within the document.
#[derive(Default)]
pub struct ComparedColumns {
    /// The document's number.
    pub doc: Vec<i32>,
    /// See [`Compared`].
    pub byte_start: Vec<i64>,
    /// See [`Compared`].
    pub byte_end: Vec<i64>,
    /// See [`Compared`].
    pub distance: Vec<f64>,
    /// See [`Compared`].
    pub threshold: Vec<f64>,
}

impl ComparedColumns {
    fn push(&mut self, source: &Source<'_>, compared: &[Compared]) {
        for one in compared {
            self.doc.push(source.doc);
            self.byte_start.push((source.byte_start + one.start) as i64);
            self.byte_end.push((source.byte_start + one.end) as i64);
            self.distance.push(one.distance);
            self.threshold.push(one.threshold);
        }
    }

    fn append(&mut self, other: &mut Self) {
        self.doc.append(&mut other.doc);
        self.byte_start.append(&mut other.byte_start);
        self.byte_end.append(&mut other.byte_end);
        self.distance.append(&mut other.distance);
        self.threshold.append(&mut other.threshold);
    }
}

impl Columns {
    /// The number of chunks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.doc.len()
    }

    /// Whether there is no chunk.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.doc.is_empty()
    }

    fn fill_chars(&mut self) {
        if self.char_start.is_empty() {
            self.char_start.extend_from_slice(&self.byte_start);
            self.char_end.extend_from_slice(&self.byte_end);
        }
    }

    fn push(&mut self, source: &Source<'_>, index: &CharIndex<'_>, made: Made, size: usize) {
        let Made { chunks, structure, compared, levels } = made;
        self.compared.push(source, &compared);
        let rows = self.len();
        self.levels.resize_with(levels.len().max(self.levels.len()), GroupColumns::default);
        for (column, groups) in self.levels.iter_mut().zip(levels) {
            let sizes: Vec<i64> = groups.sizes.iter().map(|&size| size as i64).collect();
            column.extend(rows, groups.ends.iter().map(|&end| end as i64), &sizes);
        }
        let same = source.ascii && source.byte_start == source.char_start;
        if !same {
            self.fill_chars();
        }
        let first = match (self.doc.last(), self.ordinal.last()) {
            (Some(&doc), Some(&ordinal)) if doc == source.doc => ordinal + 1,
            _ => 0,
        };
        let characters = !same || !self.char_start.is_empty();
        let byte = |at: usize| (source.byte_start + at) as i64;
        let char = |at: usize| (source.char_start + index.rank(at)) as i64;
        let count = chunks.len();
        self.doc.extend(std::iter::repeat_n(source.doc, count));
        self.ordinal.extend((first..).take(count));
        self.byte_start.extend(chunks.iter().map(|chunk| byte(chunk.start)));
        self.byte_end.extend(chunks.iter().map(|chunk| byte(chunk.end)));
        if characters {
            self.char_start.extend(chunks.iter().map(|chunk| char(chunk.start)));
            self.char_end.extend(chunks.iter().map(|chunk| char(chunk.end)));
        }
        self.size.extend(chunks.iter().map(|chunk| chunk.size as i64));
        let oversize = |chunk: &Packed| if chunk.size > size { OVERSIZE } else { 0 };
        self.flags.extend(chunks.iter().map(oversize));
        if let Some(parent) = source.parent {
            self.parent.extend(std::iter::repeat_n(parent, count));
        }
        if let Some(structure) = structure {
            for (flags, carried) in self.flags[rows..].iter_mut().zip(&structure.carried) {
                *flags |= carried.flags;
            }
            self.structure.push(rows, source, index, structure);
        }
    }

    fn append(&mut self, mut other: Columns) {
        let (rows, more) = (self.len(), other.len());
        self.structure.append(rows, more, std::mem::take(&mut other.structure));
        self.compared.append(&mut other.compared);
        self.levels.resize_with(self.levels.len().max(other.levels.len()), GroupColumns::default);
        for (mine, theirs) in self.levels.iter_mut().zip(std::mem::take(&mut other.levels)) {
            mine.extend(rows, theirs.ends.into_iter(), &theirs.size);
        }
        if rows == 0 {
            other.structure = std::mem::take(&mut self.structure);
            other.compared = std::mem::take(&mut self.compared);
            other.levels = std::mem::take(&mut self.levels);
            *self = other;
            return;
        }
        if more == 0 {
            return;
        }
        if !self.char_start.is_empty() || !other.char_start.is_empty() {
            self.fill_chars();
            other.fill_chars();
        }
        if let (Some(&doc), Some(&ordinal)) = (self.doc.last(), self.ordinal.last()) {
            // One document's parts may lie in two blocks.
            for (theirs, number) in other.doc.iter().zip(&mut other.ordinal) {
                if *theirs != doc {
                    break;
                }
                *number += ordinal + 1;
            }
        }
        self.doc.append(&mut other.doc);
        self.ordinal.append(&mut other.ordinal);
        self.byte_start.append(&mut other.byte_start);
        self.byte_end.append(&mut other.byte_end);
        self.char_start.append(&mut other.char_start);
        self.char_end.append(&mut other.char_end);
        self.size.append(&mut other.size);
        self.flags.append(&mut other.flags);
        self.parent.append(&mut other.parent);
    }
}

/// A document that could not be cut.
#[derive(Debug)]
pub struct Failure {
    /// Its number.
    pub doc: i32,
    /// Why.
    pub error: Error,
}

/// What a call made of its texts.
#[derive(Default)]
pub struct Cut {
    /// The chunks of those that were cut.
    pub columns: Columns,
    /// Those that were not, in order; the first alone unless failures are skipped.
    pub failures: Vec<Failure>,
}

/// Cuts all texts on up to `threads` threads (0: one per core). The result does not depend on it.
///
/// A text that fails has no chunks. With `skip` the others are cut all the same; without, those
/// before it are.
pub fn split_all(
    splitter: &Splitter,
    sources: &[Source<'_>],
    threads: usize,
    skip: bool,
    poll: &dyn Fn() -> Result<()>,
) -> Result<Cut> {
    // How many cores there are is not asked for one text that no second thread could help with.
    let alone = sources.len() == 1 && !splitter.divides_a_text();
    let threads = if alone { 1 } else { threads };
    let parts = in_blocks(
        sources,
        threads,
        poll,
        |block, within, guard| split_block(splitter, block, None, within, skip, guard),
        |cut| !skip && !cut.failures.is_empty(),
    )?;
    let mut whole = Cut::default();
    for part in parts {
        whole.columns.append(part.columns);
        whole.failures.extend(part.failures);
        if !skip && !whole.failures.is_empty() {
            whole.failures.truncate(1);
            break;
        }
    }
    Ok(whole)
}

/// How many tokens each text has, on up to `threads` threads (0: one per core).
///
/// # Errors
/// The first text that fails, in order, and why; an interruption has no text.
pub fn count_all(
    tokenizer: &Tokenizer,
    sources: &[Source<'_>],
    threads: usize,
    poll: &dyn Fn() -> Result<()>,
) -> Result<(Vec<i64>, Option<Failure>)> {
    let count = |block: &[Source<'_>], _: usize, guard: &Guard<'_>| {
        let mut counts = Vec::with_capacity(block.len());
        for source in block {
            guard.check()?;
            match tokenizer.count(source.text, guard) {
                Ok(count) => counts.push(count as i64),
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                Err(error) => return Ok((counts, Some(Failure { doc: source.doc, error }))),
            }
        }
        Ok((counts, None))
    };
    let parts = in_blocks(sources, threads, poll, count, |(_, failure)| failure.is_some())?;
    let mut all = Vec::with_capacity(sources.len());
    for (counts, failure) in parts {
        all.extend(counts);
        if failure.is_some() {
            return Ok((all, failure));
        }
    }
    Ok((all, None))
}

/// Works on blocks of neighbouring texts on up to `threads` threads (0: one per core); the results in
/// the order of the texts. Each call of `work` may use as many threads as it is told.
///
/// Blocks behind the first whose result is the `last` are left out, or some of them.
fn in_blocks<T: Send>(
    sources: &[Source<'_>],
    threads: usize,
    poll: &dyn Fn() -> Result<()>,
    work: impl Fn(&[Source<'_>], usize, &Guard<'_>) -> Result<T> + Sync,
    last: impl Fn(&T) -> bool + Sync,
) -> Result<Vec<T>> {
    let bytes: usize = sources.iter().map(|source| source.text.len()).sum();
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    // How many cores there are is asked only where more than one is of use: the system takes longer
    // to answer than a short text to be cut.
    let most = 1 + bytes / WORTH_A_THREAD;
    let all = most.min(if threads == 0 && most > 1 { cores() } else { threads.max(1) });
    // Threads beyond the number of texts work within each.
    let threads = all.min(sources.len());
    let within = all / threads.max(1);
    let stop = AtomicBool::new(false);
    if threads <= 1 {
        return Ok(vec![work(sources, within, &Guard::new(&stop, Some(poll)))?]);
    }
    let blocks = blocks(sources, bytes / (threads * 8));
    let next = AtomicUsize::new(0);
    let end = AtomicUsize::new(blocks.len());
    let done: Mutex<Vec<(usize, Result<T>)>> = Mutex::new(Vec::with_capacity(blocks.len()));
    let take = |guard: &Guard<'_>| {
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i > end.load(Ordering::Relaxed) {
                break;
            }
            let Some(block) = blocks.get(i) else { break };
            let result = work(block, within, guard);
            match &result {
                Err(_) => stop.store(true, Ordering::Relaxed),
                Ok(part) if last(part) => {
                    end.fetch_min(i, Ordering::Relaxed);
                }
                Ok(_) => {}
            }
            if let Ok(mut done) = done.lock() {
                done.push((i, result));
            }
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> =
            (1..threads).map(|_| scope.spawn(|| take(&Guard::new(&stop, None)))).collect();
        // The caller's own thread works too, and keeps listening while the others finish.
        let guard = Guard::new(&stop, Some(poll));
        take(&guard);
        while workers.iter().any(|worker| !worker.is_finished()) {
            std::thread::sleep(Duration::from_micros(200));
            // A failed check has raised `stop`: the others end soon and say so.
            let _ = guard.check();
        }
    });
    let mut done = done.into_inner().map_err(|_| Error::Internal("a worker failed".into()))?;
    done.sort_unstable_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Cuts all texts on the caller's thread, with the caller's own function as ruler where needed.
pub fn split_measured(
    splitter: &Splitter,
    sources: &[Source<'_>],
    measure: Measure<'_>,
    skip: bool,
    poll: &dyn Fn() -> Result<()>,
) -> Result<Cut> {
    let stop = AtomicBool::new(false);
    split_block(splitter, sources, Some(measure), 1, skip, &Guard::new(&stop, Some(poll)))
}

fn split_block(
    splitter: &Splitter,
    sources: &[Source<'_>],
    measure: Option<Measure<'_>>,
    within: usize,
    skip: bool,
    guard: &Guard<'_>,
) -> Result<Cut> {
    let mut cut = Cut::default();
    for source in sources {
        guard.check()?;
        let splitter = splitter.route(source.route);
        let index = CharIndex::new(source.text, source.ascii);
        let work = || {
            let text = Text::new(source.text, source.ascii);
            let (form, title) = (source.form, source.title);
            let Source { vectors, pieces, .. } = *source;
            let document = Document { text: &text, index: &index, form, title, vectors, pieces };
            splitter.split(document, measure, within, guard)
        };
        // A defect that one text brings to light is that text's failure.
        let result = catch_unwind(AssertUnwindSafe(work));
        match result.unwrap_or_else(|panic| Err(Error::from_panic(&*panic))) {
            Ok(made) => cut.columns.push(source, &index, made, splitter.size()),
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => {
                cut.failures.push(Failure { doc: source.doc, error });
                if !skip {
                    break;
                }
            }
        }
    }
    Ok(cut)
}

/// The sentences of one text without the blanks between them; sizes in characters.
pub fn sentences(text: &str, ascii: bool, poll: &dyn Fn() -> Result<()>) -> Result<Columns> {
    let stop = AtomicBool::new(false);
    let whole = Text::new(text, ascii);
    let index = CharIndex::new(text, ascii);
    let mut ends = Vec::new();
    sentence_ends(text, &Guard::new(&stop, Some(poll)), &mut ends)?;
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let chunks: Vec<Packed> = starts
        .zip(&ends)
        .filter_map(|(start, &end)| whole.trim(start, end))
        .map(|(start, end)| Packed { start, end, size: index.rank(end) - index.rank(start) })
        .collect();
    let mut columns = Columns::default();
    let made = Made::from((chunks, None));
    columns.push(&Source::new(text, ascii, 0), &index, made, usize::MAX);
    Ok(columns)
}

/// Neighbouring texts of about `bytes` together, so that short ones do not cost a hand-over each.
fn blocks<'s, 't>(sources: &'s [Source<'t>], bytes: usize) -> Vec<&'s [Source<'t>]> {
    let mut blocks = Vec::new();
    let (mut start, mut length) = (0, 0);
    for (i, source) in sources.iter().enumerate() {
        length += source.text.len();
        if length >= bytes.max(1) {
            blocks.push(&sources[start..=i]);
            (start, length) = (i + 1, 0);
        }
    }
    if start < sources.len() {
        blocks.push(&sources[start..]);
    }
    blocks
}
