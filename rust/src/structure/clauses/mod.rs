//! The numbered clauses of a contract, a policy, a statute: their numbers, their titles, what
//! stands in what, and which clause refers to which.
//!
//! * `words`, `numbers`: what names a clause, and how it is counted
//! * `labels`: what a line starts with, and what only looks like a number
//! * `candidates`: the lines that may start a clause
//! * `numbering`: which of those lines are clauses
//! * `references`: what the text refers to, and the notes that follow from it
//!
//! Everything is read off the original text once, line by line, before anything is cut.

mod candidates;
pub mod columns;
mod labels;
mod numbering;
mod numbers;
mod references;
mod words;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::blocks::{Block, Blocks, Format, Kind};
use crate::error::Result;
use crate::guard::Guard;
use crate::structure::{Heading, Outline};
use candidates::candidates;
use numbering::{Entry, Numbering};
pub use references::{Reference, note};

/// The most columns and words of a title.
const COLUMNS: usize = 90;
const WORDS: usize = 12;
/// The most words of a title that its clause goes on behind.
const RUN_IN: usize = 6;
/// The words of a title that have no capital.
const SMALL: &[&str] = &[
    "a", "an", "and", "as", "at", "by", "de", "der", "des", "die", "du", "et", "etc", "for",
    "from", "in", "la", "of", "on", "or", "per", "the", "to", "und", "von", "with",
];

/// A clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// Where its line starts.
    pub start: usize,
    /// Where the words behind its number start.
    pub words: usize,
    /// Its whole number, as it is written: "7.2", "7.2(a)", "VII", "Schedule 2, 1.1".
    pub number: String,
    /// What it is called; empty where it has no title.
    pub title: String,
    /// What a reference calls it: "clause", "article", "section", "§", or the word of a schedule.
    pub word: &'static str,
    /// The clause that it stands in.
    pub above: Option<usize>,
    /// The part of the text whose numbers are counted together.
    pub space: u32,
    /// Its number within that part, the same for every way to write it.
    pub key: String,
    /// Whether it is an item, "(a)", of the one above.
    pub item: bool,
}

/// A part of a text with numbers of its own: the body, or a schedule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Space {
    /// The schedule.
    clause: Option<usize>,
}

/// The clauses of a text.
#[derive(Default)]
pub struct Clauses {
    /// In the order of the text.
    pub list: Vec<Clause>,
    /// What the text refers to, in its order.
    pub references: Vec<Reference>,
    /// For each clause the ones that refer to it, in order, none twice and not itself.
    pub referrers: Vec<Vec<u32>>,
    spaces: Vec<Space>,
    /// The space that a clause opens.
    opened: HashMap<usize, u32>,
    known: HashMap<(u32, String), u32>,
    entries: Vec<(Entry, Option<usize>)>,
}

/// The form of a text of which nothing is known: Markdown if it has a heading of that form.
#[must_use]
pub fn form(text: &str) -> Format {
    let heading = |line: &str| {
        let hashes = line.bytes().take_while(|&byte| byte == b'#').count();
        (1..=6).contains(&hashes) && line[hashes..].starts_with([' ', '\t'])
    };
    let text = text.trim_start_matches('\u{feff}');
    if text.split(['\n', '\r']).any(heading) { Format::Markdown } else { Format::Plain }
}

impl Clauses {
    /// Reads the clauses and the references of a text whose blocks are known. `names` are what the
    /// text may call other documents.
    pub fn read(text: &str, blocks: &Blocks, names: &[String], guard: &Guard<'_>) -> Result<Self> {
        let found = candidates(text, &blocks.blocks, guard)?;
        let Numbering { clauses, spaces, known, entries, .. } = Numbering::read(found);
        let opens = |(space, of): (usize, &Space)| Some((of.clause?, space as u32));
        let opened = spaces.iter().enumerate().filter_map(opens).collect();
        let mut made = Self { list: clauses, spaces, opened, known, entries, ..Self::default() };
        made.title(text, blocks);
        made.references = references::read(text, &blocks.blocks, &made, names, guard)?;
        made.referrers = references::referrers(&made);
        Ok(made)
    }

    /// The key of a clause in the whole text: behind that of its schedule, if it stands in one.
    #[must_use]
    pub fn key(&self, clause: &Clause) -> String {
        match self.spaces[clause.space as usize].clause {
            Some(part) => format!("{}, {}", self.list[part].key, clause.key),
            None => clause.key.clone(),
        }
    }

    /// The clause that a place stands in.
    #[must_use]
    pub fn at(&self, place: usize) -> Option<usize> {
        self.list.partition_point(|clause| clause.start <= place).checked_sub(1)
    }

    /// Whether a clause is another, or stands in it.
    #[must_use]
    pub fn is_within(&self, clause: usize, other: usize) -> bool {
        let mut next = Some(clause);
        while let Some(clause) = next {
            if clause == other {
                return true;
            }
            next = self.list[clause].above;
        }
        false
    }

    /// Where the words of a clause end: where the next one starts.
    fn end(&self, clause: usize, text: &str) -> usize {
        self.list.get(clause + 1).map_or(text.len(), |next| next.start)
    }

    /// Finds the title of each clause: its line if that reads as one, or a few words of it before a
    /// dot.
    fn title(&mut self, text: &str, blocks: &Blocks) {
        // Where the next clause or heading starts.
        let mut ends = vec![text.len(); self.list.len()];
        let mut next = text.len();
        for (entry, _) in self.entries.iter().rev() {
            next = match *entry {
                Entry::Clause(clause) => {
                    ends[clause] = next;
                    self.list[clause].start
                }
                Entry::Heading(block) => blocks.blocks[block].start,
            };
        }
        for (i, end) in ends.into_iter().enumerate() {
            let words = &text[self.list[i].words.min(end)..end];
            let line = words.split(['\n', '\r']).next().unwrap_or_default();
            let rest = &words[line.len()..];
            let below = rest.strip_prefix("\r\n").or_else(|| rest.get(1..)).unwrap_or_default();
            let below = bare(below.split(['\n', '\r']).next().unwrap_or_default());
            let alone = below.is_empty()
                || (is_capital(line) && below.starts_with(|c: char| !c.is_lowercase()));
            let mut line = bare(line);
            // The number may stand alone above its title.
            if line.is_empty() && !self.list[i].item {
                line = bare(rest.trim_start().split(['\n', '\r']).next().unwrap_or_default());
            }
            let short = line.len() <= 4 * COLUMNS && line.split_whitespace().count() <= WORDS;
            // "1. Definitions." is a title where something follows.
            let stopped = line.strip_suffix('.').filter(|line| is_capital(line));
            let stopped = stopped.filter(|_| !rest.trim().is_empty());
            let line = if alone { stopped.unwrap_or(line) } else { line };
            let title = if short && alone && !self.list[i].item && reads_as_title(line) {
                line
            } else {
                run_in(line)
            };
            self.list[i].title = title.to_owned();
        }
    }

    /// The blocks of the text, each clause the start of one, and its outline: clauses, and headings
    /// without a number.
    #[must_use]
    pub fn outline(&self, text: &str, blocks: &Blocks) -> (Blocks, Outline) {
        let mut made = Blocks::default();
        // For each block of the new ones the clause or the block that starts with it.
        let mut starts: HashMap<usize, usize> = HashMap::new();
        let mut next = 0;
        for block in &blocks.blocks {
            let mut block = *block;
            while let Some(clause) = self.list.get(next).filter(|clause| clause.start < block.end) {
                if clause.start > block.start {
                    let end = clause.start;
                    made.blocks.push(Block { end, head: block.head.min(end), ..block });
                    block = Block {
                        start: end,
                        head: end.max(block.head),
                        shared: block.depth,
                        ..block
                    };
                }
                // A clause that goes on in items speaks, though its line reads as a title.
                let speaks = self.list.get(next + 1).is_some_and(|item| {
                    item.item && item.above == Some(next) && item.start >= block.end
                });
                if block.kind != Kind::Heading || speaks {
                    let title = !speaks && self.is_title(next, text);
                    block.kind = if title { Kind::Heading } else { Kind::Clause };
                    block.level = u16::from(block.kind == Kind::Heading);
                    block.head = block.start;
                }
                starts.insert(next, made.blocks.len());
                next += 1;
            }
            made.blocks.push(block);
        }
        let mut titles = blocks.titles.iter();
        let titled: Vec<&str> = blocks
            .blocks
            .iter()
            .map(|block| match block.kind {
                Kind::Heading => titles.next().map_or("", String::as_str),
                _ => "",
            })
            .collect();
        let of_block: HashMap<usize, usize> =
            made.blocks.iter().enumerate().map(|(i, block)| (block.start, i)).collect();
        let mut headings = Vec::with_capacity(self.entries.len());
        for (entry, parent) in &self.entries {
            let (block, title) = match *entry {
                Entry::Clause(clause) => {
                    let Clause { number, title, .. } = &self.list[clause];
                    let gap = if title.is_empty() { "" } else { " " };
                    (starts.get(&clause).copied(), format!("{number}{gap}{title}"))
                }
                Entry::Heading(block) => {
                    let start = blocks.blocks[block].start;
                    (of_block.get(&start).copied(), titled[block].to_owned())
                }
            };
            let level = parent.map_or(1, |parent: usize| {
                let above: &Heading = &headings[parent];
                above.level.saturating_add(1)
            });
            let title_number = made.titles.len();
            made.titles.push(title);
            headings.push(Heading {
                block: block.unwrap_or(0),
                title: title_number,
                level,
                parent: *parent,
            });
        }
        let mut in_force = Vec::with_capacity(made.blocks.len());
        let mut last = None;
        let mut at = 0;
        for i in 0..made.blocks.len() {
            while headings.get(at).is_some_and(|heading: &Heading| heading.block <= i) {
                last = Some(at);
                at += 1;
            }
            in_force.push(last);
        }
        (made, Outline { headings, in_force })
    }

    /// Whether a clause says nothing but its title: the next one stands in it.
    fn is_title(&self, clause: usize, text: &str) -> bool {
        let Clause { words, title, .. } = &self.list[clause];
        let next = self.list.get(clause + 1);
        let below = next.is_some_and(|next| next.above == Some(clause) && !next.item);
        let end = self.end(clause, text);
        below && bare(&text[(*words).min(end)..end]).len() <= title.len()
    }

    /// The clause of an entry of the outline, or that it stands in.
    #[must_use]
    pub fn of_heading(&self, heading: Option<usize>) -> Option<usize> {
        let mut next = heading;
        while let Some(entry) = next {
            let (found, above) = self.entries[entry];
            if let Entry::Clause(clause) = found {
                return Some(clause);
            }
            next = above;
        }
        None
    }

    /// Where the chunks start: at each clause, items left out unless they are asked for, and at each
    /// heading. One that says nothing but its title goes with what follows.
    #[must_use]
    pub fn sections(&self, blocks: &Blocks, outline: &Outline, items: bool) -> Vec<usize> {
        let mut starts = vec![0];
        let mut body = false;
        let mut at = 0;
        for (i, block) in blocks.blocks.iter().enumerate() {
            let mut opens = false;
            while outline.headings.get(at).is_some_and(|heading| heading.block == i) {
                opens |= match self.entries[at].0 {
                    Entry::Clause(clause) => items || !self.list[clause].item,
                    Entry::Heading(_) => true,
                };
                at += 1;
            }
            if opens && body {
                starts.push(block.start);
                body = false;
            }
            body |= block.kind.is_body();
        }
        starts
    }

    /// Where items start, the outer ones first: a clause that is too large is opened there.
    #[must_use]
    pub fn items(&self) -> [Vec<usize>; 2] {
        let outer = |clause: &Clause| clause.above.is_none_or(|above| !self.list[above].item);
        let all = || self.list.iter().filter(|clause| clause.item);
        [
            all().filter(|clause| outer(clause)).map(|clause| clause.start).collect(),
            all().map(|clause| clause.start).collect(),
        ]
    }

    /// The clauses that start in a span.
    fn starting(&self, start: usize, end: usize) -> Range<usize> {
        let before = |place: usize| self.list.partition_point(|clause| clause.start < place);
        before(start)..before(end)
    }

    /// What is said beside a chunk: the clauses that refer to those in it, none of them in it.
    #[must_use]
    pub fn notes(&self, start: usize, end: usize, clause: Option<usize>) -> String {
        let Range { start: first, end: last } = self.starting(start, end);
        let mut from: Vec<u32> = Vec::new();
        let own = clause.filter(|clause| !(first..last).contains(clause));
        for clause in own.into_iter().chain(first..last) {
            from.extend(&self.referrers[clause]);
        }
        from.sort_unstable();
        from.dedup();
        from.retain(|&clause| {
            let clause = clause as usize;
            !(first..last).contains(&clause) && own.is_none_or(|own| !self.is_within(clause, own))
        });
        note(from.iter().map(|&clause| {
            let clause = &self.list[clause as usize];
            (clause.word, &clause.number[..])
        }))
    }
}

/// What is said beside chunks in the order of the text: all parts of a clause share one note, that of a
/// clause which thousands refer to as well.
pub struct Notes<'c> {
    clauses: &'c Clauses,
    last: Option<(usize, Arc<str>)>,
}

impl<'c> Notes<'c> {
    /// No note is made yet.
    #[must_use]
    pub fn new(clauses: &'c Clauses) -> Self {
        Self { clauses, last: None }
    }

    /// What is said beside a chunk that starts in a clause.
    pub fn beside(&mut self, start: usize, end: usize, clause: Option<usize>) -> Arc<str> {
        let mut others = self.clauses.starting(start, end);
        let alone = clause.filter(|&clause| others.all(|other| other == clause));
        if let (Some(clause), Some((last, note))) = (alone, &self.last)
            && clause == *last
        {
            return Arc::clone(note);
        }
        let note: Arc<str> = self.clauses.notes(start, end, clause).into();
        self.last = alone.map(|clause| (clause, Arc::clone(&note)));
        note
    }
}

/// Words without the marks of bold text and of headings around them.
fn bare(words: &str) -> &str {
    words.trim().trim_start_matches(['*', '_']).trim_end_matches(['*', '_', '#']).trim()
}

fn reads_as_title(words: &str) -> bool {
    let first = words.chars().find(|c| c.is_alphanumeric());
    first.is_some_and(|c| !c.is_lowercase())
        && words.chars().count() <= COLUMNS
        && !words.ends_with(['.', ',', ';', ':', '。', '；'])
        && !words.contains(['\t', '|'])
}

/// Whether every word but small ones begins with a capital, and there are few.
fn is_capital(words: &str) -> bool {
    let is_small = |word: &str| SMALL.contains(&word);
    words.split_whitespace().count() <= RUN_IN + 2
        && words
            .split_whitespace()
            .all(|word| is_small(word) || word.starts_with(|c: char| !c.is_lowercase()))
}

/// The title that a clause goes on behind: "Payment. Invoices fall due".
fn run_in(line: &str) -> &str {
    let Some(at) = line.find(['.', ':', '–', '—']) else { return "" };
    let title = bare(&line[..at]);
    let mark = line[at..].chars().next().map_or(1, char::len_utf8);
    let rest = bare(&line[at + mark..]);
    let is_title = !rest.is_empty()
        && line[at + mark..].starts_with([' ', '*', '_', '\t'])
        && reads_as_title(title)
        && (1..=RUN_IN).contains(&title.split_whitespace().count())
        && is_capital(title)
        && title.chars().any(char::is_alphabetic);
    if is_title { title } else { "" }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
