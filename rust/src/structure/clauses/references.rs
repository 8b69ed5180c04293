//! What a text refers to: "clause 7.2", "clauses 7.2, 7.3 and 7.4", "Articles 3 to 5", "paragraph 2
//! of Schedule 1"; and the notes that stand by the clauses that are referred to.
//!
//! References are found by the word before them, in one pass: what a list has taken is not read
//! again.

use std::cmp::Reverse;

use super::labels::Mark;
use super::numbers::{LONGEST, bracketed, counted, items, joined, number};
use super::words::{is_amount, word};
use super::{Clause, Clauses};
use crate::blocks::{Block, Kind};
use crate::error::Result;
use crate::guard::{ASK, Guard};

/// The words before a number that stand for the clause or the item of one.
const BELOW: [&str; 6] =
    ["paragraph", "paragraphs", "para.", "sub-clause", "subclause", "subsection"];
/// The most clauses that a range stands for: of a longer one, its ends alone.
const RANGE: usize = 64;
/// What a contract calls itself.
const ITSELF: [&str; 13] = [
    "agreement",
    "contract",
    "terms",
    "conditions",
    "policy",
    "deed",
    "lease",
    "licence",
    "license",
    "document",
    "order",
    "statement",
    "vertrag",
];

/// One mention of a clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Where the number stands.
    pub start: usize,
    /// Behind it.
    pub end: usize,
    /// The clause that the mention stands in.
    pub from: Option<u32>,
    /// The clause that is meant, where the text has it.
    pub to: Option<u32>,
    /// Which of the other documents' names follows.
    pub document: Option<u32>,
    /// The number, the same for every way to write it.
    pub key: String,
}

/// Everything that is mentioned, in order.
pub(super) fn read(
    text: &str,
    blocks: &[Block],
    clauses: &Clauses,
    names: &[String],
    guard: &Guard<'_>,
) -> Result<Vec<Reference>> {
    let mut reader = Reader { text, clauses, names, found: Vec::new(), part: None };
    let mut asked = 0;
    // A sentence may go on in the next block, where a line was taken for a title.
    let is_words =
        |block: &Block| !matches!(block.kind, Kind::Code | Kind::FrontMatter | Kind::Html);
    for blocks in blocks.chunk_by(|one, other| is_words(one) == is_words(other)) {
        let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else { continue };
        let mut at = first.start;
        while is_words(first)
            && let Some(cue) = reader.next_cue(at, last.end)
        {
            if cue.start - asked.min(cue.start) > ASK {
                asked = cue.start;
                guard.check()?;
            }
            at = reader.list(&cue, last.end).max(cue.end);
        }
    }
    Ok(reader.found)
}

/// A word that a number follows.
struct Cue {
    start: usize,
    end: usize,
    mark: Mark,
    word: &'static str,
    below: bool,
}

struct Reader<'r> {
    text: &'r str,
    clauses: &'r Clauses,
    names: &'r [String],
    found: Vec<Reference>,
    /// The schedule that was mentioned last, and behind it.
    part: Option<(u32, usize)>,
}

impl Reader<'_> {
    /// The next word that names a clause, from a place on.
    fn next_cue(&self, from: usize, end: usize) -> Option<Cue> {
        let bytes = self.text.as_bytes();
        // A letter may be of any alphabet: there is no part in "Départ 2".
        let inside =
            |at: usize| self.text[..at].chars().next_back().is_some_and(char::is_alphanumeric);
        let mut at = from;
        while at < end {
            let byte = bytes[at];
            if byte.is_ascii_alphabetic() {
                let length = bytes[at..end].iter().take_while(|b| b.is_ascii_alphabetic()).count();
                if (3..=11).contains(&length)
                    && !inside(at)
                    && let Some(cue) = self.cue(at, end)
                {
                    return Some(cue);
                }
                at += length;
            } else if self.text[at..].starts_with('§') {
                return self.cue(at, end);
            } else {
                at += 1;
                while at < end && !self.text.is_char_boundary(at) {
                    at += 1;
                }
            }
        }
        None
    }

    fn cue(&self, at: usize, end: usize) -> Option<Cue> {
        let rest = &self.text[at..end];
        if let Some((mark, word, length)) = word(rest) {
            return Some(Cue { start: at, end: at + length, mark, word, below: false });
        }
        let below = BELOW.iter().find(|below| {
            rest.get(..below.len()).is_some_and(|start| start.eq_ignore_ascii_case(below))
                && !rest[below.len()..].starts_with(|c: char| c.is_alphanumeric())
        })?;
        let (mark, word) = (Mark::Named, "clause");
        Some(Cue { start: at, end: at + below.len(), mark, word, below: true })
    }

    /// Reads the list of numbers behind a word; the place behind it.
    fn list(&mut self, cue: &Cue, end: usize) -> usize {
        let mut at = blanks(self.text, cue.end, end);
        if at == cue.end && cue.word != "§" {
            return cue.end;
        }
        let mut named: Vec<(usize, usize, String, bool)> = Vec::new();
        let mut range = false;
        let mut behind = cue.end;
        while let Some((key, length)) = self.label(at, end, cue, named.last().map(|one| &one.2[..]))
        {
            named.push((at, at + length, key, range));
            behind = at + length;
            match self.separator(behind, end) {
                Some((next, is_range)) => (at, range) = (next, is_range),
                None => break,
            }
        }
        if named.is_empty() {
            return cue.end;
        }
        // The number of a clause's own line is no reference to it.
        let own = self.clauses.at(cue.start);
        if let Some(own) = own {
            let own = &self.clauses.list[own];
            if cue.start >= own.start && named[0].0 < own.words && named.len() == 1 {
                return behind;
            }
        }
        let (scope, document, outside) = self.of(behind, end, cue);
        let from = own.map(|own| own as u32);
        let mut before: Option<u32> = None;
        for (start, stop, key, range) in named {
            let to = if outside { None } else { self.resolve(&key, cue, from, scope) };
            let key = if cue.mark == Mark::Named { key } else { format!("{} {key}", cue.word) };
            if range && let (Some(first), Some(last)) = (before, to) {
                for between in self.between(first, last) {
                    let (to, key) =
                        (Some(between), self.clauses.list[between as usize].key.clone());
                    self.found.push(Reference { start, end: stop, from, to, document, key });
                }
            }
            if cue.mark == Mark::Attached
                && let Some(to) = to
            {
                self.part = Some((to, stop));
            }
            before = to;
            self.found.push(Reference { start, end: stop, from, to, document, key });
        }
        behind
    }

    /// A number at a place: its key and its length. Items alone go on from the number before.
    fn label(
        &self,
        at: usize,
        end: usize,
        cue: &Cue,
        last: Option<&str>,
    ) -> Option<(String, usize)> {
        let rest = &self.text[at..end];
        if let Some(length) = bracketed(rest) {
            if cue.mark != Mark::Named {
                return None;
            }
            let length = length + items(&rest[length..]);
            let stem = last.map_or("", |last| last.rfind('(').map_or(last, |open| &last[..open]));
            let key = format!("{stem}{}", rest[..length].to_ascii_lowercase());
            return (key.len() <= LONGEST).then_some((key, length));
        }
        // Only figures follow in a list of small words: "clauses I and II" are rare, "clause I" is not.
        let (parts, length) = match number(rest) {
            Some(found) => found,
            None if last.is_none() || cue.mark != Mark::Named || cue.word.starts_with("art") => {
                counted(rest, &cue.mark)?
            }
            None => return None,
        };
        let tail = if cue.mark == Mark::Named { items(&rest[length..]) } else { 0 };
        let after = rest[length + tail..].trim_start();
        // "clause 7, 30 days", "clauses 7 and 20% of it"
        if last.is_some() && tail == 0 && parts.len() == 1 && is_amount(after) {
            return None;
        }
        let mut key = joined(&parts);
        key.push_str(&rest[length..length + tail].to_ascii_lowercase());
        Some((key, length + tail))
    }

    /// What stands between two numbers of a list: the place behind it, and whether it is a range.
    fn separator(&self, at: usize, end: usize) -> Option<(usize, bool)> {
        let mut next = blanks(self.text, at, end);
        let (mut any, mut range) = (false, false);
        loop {
            let rest = &self.text[next..end];
            let mark = rest.chars().next()?;
            if matches!(mark, ',' | ';' | '&' | '–' | '—') || (mark == '-' && next == at) {
                range |= matches!(mark, '–' | '—' | '-');
                any = true;
                next = blanks(self.text, next + mark.len_utf8(), end);
                continue;
            }
            let length =
                rest.bytes().take(8).take_while(|b| b.is_ascii_alphabetic() || *b == b'/').count();
            match &rest[..length].to_ascii_lowercase()[..] {
                "and" | "or" | "und" | "oder" | "and/or" | "both" => any = true,
                "to" | "through" | "until" | "bis" => (any, range) = (true, true),
                // "clause 7 and clause 8": the next word is found by itself.
                _ => break,
            }
            next = blanks(self.text, next + length, end);
        }
        (any && next > at).then_some((next, range))
    }

    /// What is named behind a list: a schedule of this text, or another document, by its number if
    /// it is one of `names`. The last says whether the list is about something else.
    fn of(&mut self, at: usize, end: usize, cue: &Cue) -> (Option<u32>, Option<u32>, bool) {
        let next = blanks(self.text, at, end);
        let rest = &self.text[next..end];
        // "Schedule 1, paragraph 2"
        // What stands between is looked at once: the next list is yet farther away.
        if let Some((part, behind)) = self.part.take()
            && behind <= cue.start
            && self.text[behind..cue.start].chars().all(|c| c == ',' || c.is_whitespace())
        {
            return (Some(part), None, false);
        }
        let linked = ["of", "to", "in"].iter().any(|word| {
            rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
                && rest[word.len()..].starts_with(char::is_whitespace)
        });
        if !linked {
            let upper = rest.bytes().take(12).take_while(u8::is_ascii_uppercase).count();
            let stands =
                next > at && upper > 2 && !rest[upper..].starts_with(char::is_alphanumeric);
            let around =
                self.text[cue.start..cue.end].bytes().any(|byte| byte.is_ascii_lowercase());
            return (None, None, stands && (around || cue.word == "§"));
        }
        let mut words = blanks(self.text, next + 2, end);
        if let Some((Mark::Attached, _, length)) = word(&self.text[words..end]) {
            let cue = self.cue(words, end);
            let at = blanks(self.text, words + length, end);
            if let Some(cue) = cue
                && let Some((key, _)) = self.label(at, end, &cue, None)
            {
                let part = self.clauses.known.get(&(0, format!("{} {key}", cue.word)));
                return (part.copied(), None, part.is_none());
            }
        }
        let mut definite = false;
        for article in ["the", "that", "its", "such"] {
            let start = self.text[words..end].get(..article.len());
            if start.is_some_and(|start| start.eq_ignore_ascii_case(article)) {
                let behind = blanks(self.text, words + article.len(), end);
                if behind > words + article.len() {
                    (words, definite) = (behind, true);
                    break;
                }
            }
        }
        let rest = &self.text[words..end];
        let is_here = |name: &String| {
            rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
                && !rest[name.len()..].starts_with(|c: char| c.is_alphanumeric())
        };
        // Of "Master" and "Master Agreement" the longer one is meant.
        let names = self.names.iter().enumerate().filter(|(_, name)| is_here(name));
        if let Some((i, _)) = names.min_by_key(|(_, name)| Reverse(name.len())) {
            return (None, Some(i as u32), true);
        }
        if !rest.starts_with(|c: char| c.is_uppercase()) {
            return (None, None, false);
        }
        // "of the Agreement" is this one, "of the Companies Act" is not; nor is "of Regulation 5".
        let mut capitals = 0;
        let mut itself = false;
        for word in rest.split_whitespace().take(3) {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
            if !bare.starts_with(char::is_uppercase) {
                break;
            }
            capitals += 1;
            itself = ITSELF.contains(&&bare.to_lowercase()[..]);
            if word.len() > bare.len() {
                break;
            }
        }
        (None, None, !(definite && capitals == 1 && itself))
    }

    /// The clause of a key, from the place of the mention.
    fn resolve(&self, key: &str, cue: &Cue, from: Option<u32>, scope: Option<u32>) -> Option<u32> {
        let known = &self.clauses.known;
        if cue.mark != Mark::Named {
            return known.get(&(0, format!("{} {key}", cue.word))).copied();
        }
        if let Some(part) = scope {
            let space = self.clauses.opened.get(&(part as usize));
            return space.and_then(|&space| self.within(space, key));
        }
        let space = from.map_or(0, |from| self.own_space(from as usize));
        if key.starts_with('(') {
            // An item of the clause that speaks, or of one around it.
            let mut above = from.map(|from| from as usize);
            while let Some(clause) = above {
                let Clause { space, key: stem, .. } = &self.clauses.list[clause];
                if let Some(found) = known.get(&(*space, format!("{stem}{key}"))) {
                    return Some(*found);
                }
                above = self.clauses.list[clause].above;
            }
            return None;
        }
        // Below a schedule, "paragraph 1" is its own and "clause 1" the body's, if there is one.
        let order = if cue.below { [space, 0] } else { [0, space] };
        order.into_iter().find_map(|space| self.within(space, key))
    }

    /// The clause of a key in one part; of an item that is none by itself, the clause that holds it.
    fn within(&self, space: u32, key: &str) -> Option<u32> {
        let mut key = key;
        loop {
            if let Some(found) = self.clauses.known.get(&(space, key.to_owned())) {
                return Some(*found);
            }
            key = &key[..key.rfind('(').filter(|&open| open > 0)?];
        }
    }

    fn own_space(&self, clause: usize) -> u32 {
        let own = self.clauses.opened.get(&clause).copied();
        own.unwrap_or(self.clauses.list[clause].space)
    }

    /// The clauses between two that stand in the same one.
    fn between(&self, first: u32, last: u32) -> Vec<u32> {
        let list = &self.clauses.list;
        let (one, other) = (&list[first as usize], &list[last as usize]);
        if first >= last || one.above != other.above || one.space != other.space {
            return Vec::new();
        }
        let mut found = Vec::new();
        // What lies between two neighbours is looked at no more often than a range may be long.
        for at in first + 1..last {
            let clause = &list[at as usize];
            if clause.above == one.above && clause.space == one.space {
                found.push(at);
            }
            if found.len() > RANGE || (at - first) as usize > 64 * RANGE {
                return Vec::new();
            }
        }
        found
    }
}

/// For each clause the ones that refer to it: not itself, nor what stands in it; none twice.
pub(super) fn referrers(clauses: &Clauses) -> Vec<Vec<u32>> {
    let mut made = vec![Vec::new(); clauses.list.len()];
    for reference in &clauses.references {
        if let (Some(from), Some(to)) = (reference.from, reference.to)
            && !clauses.is_within(from as usize, to as usize)
        {
            made[to as usize].push(from);
        }
    }
    for from in &mut made {
        from.sort_unstable();
        from.dedup();
    }
    made
}

/// The note by a clause that others refer to: "(See also clauses 7.3 and 8.)"; of a schedule, its
/// name alone. Nothing where there are none.
#[must_use]
pub fn note<'n>(from: impl Iterator<Item = (&'n str, &'n str)>) -> String {
    let mut parts: Vec<(&str, Vec<&str>)> = Vec::new();
    for (word, number) in from {
        let word = if self::word(number).is_some() { "" } else { word };
        match parts.last_mut() {
            Some((last, numbers)) if *last == word => numbers.push(number),
            _ => parts.push((word, vec![number])),
        }
    }
    if parts.is_empty() {
        return String::new();
    }
    let parts: Vec<String> = parts
        .into_iter()
        .map(|(word, numbers)| {
            let plural = match (word, numbers.len()) {
                ("" | "§", _) | (_, 1) => "",
                (word, _) if word.ends_with('.') => "",
                _ => "s",
            };
            let gap = if word.is_empty() { "" } else { " " };
            format!("{word}{plural}{gap}{}", listed(&numbers))
        })
        .collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    format!("(See also {}.)", listed(&parts))
}

fn listed(parts: &[&str]) -> String {
    match parts {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => parts.concat(),
    }
}

/// Behind the blanks from a place on; a blank line ends what is read together.
fn blanks(text: &str, at: usize, end: usize) -> usize {
    let rest = &text[at..end];
    let length = rest.len() - rest.trim_start().len();
    let blank = &rest[..length];
    let breaks = blank.matches(['\n', '\r']).count() - blank.matches("\r\n").count();
    if breaks > 1 { at } else { at + length }
}
