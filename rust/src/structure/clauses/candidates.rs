//! The lines that may start a clause, and how the line before each of them ends.

use memchr::memchr2;

use super::labels::{self, Label};
use super::words::CUES;
use crate::blocks::{Block, Kind};
use crate::error::Result;
use crate::guard::{ASK, Guard};

/// A line that may start a clause.
#[derive(Clone, Debug)]
pub(super) struct Candidate<'t> {
    /// Where the line starts.
    pub(super) start: usize,
    /// The column of its first mark.
    pub(super) indent: usize,
    pub(super) label: Label<'t>,
    /// The level of the heading that it is; 0 for none.
    pub(super) heading: u16,
    /// Whether a paragraph, an item or a heading starts here.
    pub(super) apart: bool,
    /// What the line before ends with.
    pub(super) before: Before,
}

/// How the line before ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// With the end of a sentence or of a part of one.
    Stop,
    /// In the middle of a sentence.
    Middle,
    /// With a word that a number belongs to.
    Cue,
}

/// How a line ends.
pub(super) fn before(line: &str) -> Before {
    let line = line.trim_end();
    let Some(last) = line.chars().next_back() else { return Before::Stop };
    if matches!(last, '.' | ';' | ':' | '!' | '?' | '"' | '”' | '。' | '；') {
        return Before::Stop;
    }
    let word = line.rsplit(char::is_whitespace).next().unwrap_or_default();
    let start = line.len() - word.len();
    let word = word.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let closes = line[..start].trim_end().ends_with([';', ',', '.', ':']);
    match &word[..] {
        "and" | "or" if closes => Before::Stop,
        word if CUES.contains(&word) || word.ends_with(',') || word == "§" => Before::Cue,
        _ => Before::Middle,
    }
}

/// A heading without a number, which holds what stands below it.
pub(super) struct Plain {
    pub(super) block: usize,
    pub(super) level: u16,
}

/// What is found in the order of the text.
pub(super) enum Found<'t> {
    Candidate(Candidate<'t>),
    Heading(Plain),
}

/// The lines that may start a clause, and the headings that do not, in order.
pub(super) fn candidates<'t>(
    text: &'t str,
    blocks: &[Block],
    guard: &Guard<'_>,
) -> Result<Vec<Found<'t>>> {
    let mut found = Vec::new();
    let mut asked = 0;
    // How the line before ends, and where it does.
    let (mut end, mut ended) = (Before::Stop, 0);
    for (i, block) in blocks.iter().enumerate() {
        if matches!(block.kind, Kind::Code | Kind::Html | Kind::FrontMatter | Kind::Row) {
            continue;
        }
        // Numbers with a gap behind them look like columns to a reader of plain text.
        let table = block.kind == Kind::Table;
        let first = text[block.start..].trim_start_matches('\u{feff}').trim_start();
        if table && first.starts_with(['|', '+', '<']) {
            continue;
        }
        let heading = if block.kind == Kind::Heading { block.level } else { 0 };
        let mut at = block.start;
        if ended != block.start {
            end = Before::Stop;
        }
        // A reader of plain text may take the end of a reference for the start of an item.
        let mut apart = end != Before::Cue;
        let mut any = false;
        while at < block.end {
            if at - asked.min(at) > ASK {
                asked = at;
                guard.check()?;
            }
            let rest = &text[at..block.end];
            let length = memchr2(b'\n', b'\r', rest.as_bytes()).unwrap_or(rest.len());
            let line = &rest[..length];
            if !line.trim().is_empty() {
                let label = labels::label(line);
                let of_columns = |label: &labels::Label<'_>| {
                    line[label.behind..].trim_end().contains("  ") || line.contains('\t')
                };
                if let Some(label) = label.filter(|label| !(table && of_columns(label))) {
                    let indent = line.len() - line.trim_start().len();
                    // A heading is one clause; its rule is none.
                    if !(heading > 0 && any) {
                        found.push(Found::Candidate(Candidate {
                            start: at,
                            indent,
                            label,
                            heading,
                            apart,
                            before: end,
                        }));
                        any = true;
                    }
                }
                end = before(line);
            }
            apart = line.trim().is_empty();
            at += length + if rest[length..].starts_with("\r\n") { 2 } else { 1 };
        }
        ended = block.end;
        if heading > 0 && !any && block.starts_section() {
            found.push(Found::Heading(Plain { block: i, level: heading }));
        }
    }
    Ok(found)
}
