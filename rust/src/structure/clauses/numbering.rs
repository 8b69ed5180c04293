//! Which of the lines that start with a number are clauses, and which stands in which.
//!
//! A number alone proves little, so it must follow from those before: be the next one, or the first
//! below. One that does not may begin a count where the next line with a number goes on from it.
//! One pass over the lines, and a stack of the clauses that are open.

use std::collections::HashMap;

use super::candidates::{Before, Candidate, Found, Plain};
use super::labels::Mark;
use super::numbers::{Follows, LETTERS, LONGEST, MISSING, Style, first, follows, joined};
use super::{Clause, Space};

/// What a title of a section is, in the outline: a clause, or a heading without a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Clause(usize),
    Heading(usize),
}

/// The clauses of a text, and what stands in what.
#[derive(Default)]
pub(super) struct Numbering {
    pub(super) clauses: Vec<Clause>,
    pub(super) spaces: Vec<Space>,
    /// The clauses by space and number.
    pub(super) known: HashMap<(u32, String), u32>,
    /// In the order of the text, each with the entry that it stands under.
    pub(super) entries: Vec<(Entry, Option<usize>)>,
    stack: Vec<Open>,
    /// The last number in the space.
    last: Vec<u32>,
    /// Whether a part has begun whose clauses may be counted anew.
    fresh: Option<usize>,
    space: u32,
    /// Whether a number was met that is no clause's.
    refused: bool,
}

/// A clause or a heading that is open.
struct Open {
    entry: usize,
    rank: Rank,
    /// The level of the heading that it is; 0 for none.
    heading: u16,
    parts: Vec<u32>,
    indent: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Rank {
    Part,
    Attached,
    Heading,
    Article,
    Number,
    Item(Style, u32),
}

impl Numbering {
    /// Chooses the clauses among all that is found.
    pub(super) fn read(found: Vec<Found<'_>>) -> Self {
        let mut made = Self { spaces: vec![Space { clause: None }], ..Self::default() };
        // For each place the number that comes next.
        let mut ahead: Vec<Option<Vec<u32>>> = vec![None; found.len()];
        let mut next = None;
        for (i, one) in found.iter().enumerate().rev() {
            ahead[i].clone_from(&next);
            if let Found::Candidate(candidate) = one {
                if candidate.before == Before::Cue && !candidate.apart {
                    continue;
                }
                match candidate.label.mark {
                    Mark::Numbered | Mark::Named => next = Some(candidate.label.parts.clone()),
                    Mark::Attached => next = None,
                    _ => {}
                }
            }
        }
        for (one, ahead) in found.into_iter().zip(ahead) {
            match one {
                Found::Heading(plain) => made.heading(&plain),
                Found::Candidate(candidate) => made.candidate(&candidate, ahead.as_deref()),
            }
        }
        made
    }

    fn heading(&mut self, plain: &Plain) {
        while let Some(top) = self.stack.last() {
            let holds = match top.rank {
                Rank::Item(..) => false,
                Rank::Part | Rank::Attached => top.heading == 0 || top.heading < plain.level,
                _ => top.heading > 0 && top.heading < plain.level,
            };
            if holds {
                break;
            }
            self.stack.pop();
        }
        let parent = self.stack.last().map(|open| open.entry);
        self.entries.push((Entry::Heading(plain.block), parent));
        self.open(Rank::Heading, plain.level, Vec::new(), 0);
    }

    fn open(&mut self, rank: Rank, heading: u16, parts: Vec<u32>, indent: usize) {
        let entry = self.entries.len() - 1;
        self.stack.push(Open { entry, rank, heading, parts, indent });
    }

    fn candidate(&mut self, one: &Candidate<'_>, ahead: Option<&[u32]>) {
        match &one.label.mark {
            Mark::Part | Mark::Attached if one.apart || one.before == Before::Stop => {
                self.part(one);
            }
            Mark::Named if one.apart || one.before == Before::Stop => self.number(one, ahead),
            Mark::Part | Mark::Attached | Mark::Named => {}
            Mark::Numbered => self.number(one, ahead),
            Mark::Item(styles) => self.item(one, styles),
        }
    }

    fn part(&mut self, one: &Candidate<'_>) {
        let attached = one.label.mark == Mark::Attached;
        let (mut word, rest) = (one.label.word.to_owned(), one.label.written);
        word[..1].make_ascii_uppercase();
        let number = format!("{word} {rest}");
        let key = format!("{} {}", one.label.word, joined(&one.label.parts));
        if self.known.contains_key(&(0, key.clone())) {
            return;
        }
        while let Some(top) = self.stack.last() {
            let holds = match top.rank {
                Rank::Heading => one.heading > top.heading,
                // A part of a schedule; a schedule ends every part.
                Rank::Attached => !attached,
                _ => false,
            };
            if holds {
                break;
            }
            self.stack.pop();
        }
        let clause = self.push(one, number, 0, key, one.label.word);
        let rank = if attached { Rank::Attached } else { Rank::Part };
        self.open(rank, one.heading, Vec::new(), one.indent);
        if attached {
            self.anew(clause);
        } else {
            self.fresh = Some(clause);
        }
    }

    /// Numbers start anew below a clause.
    fn anew(&mut self, clause: usize) {
        self.space = self.spaces.len() as u32;
        self.spaces.push(Space { clause: Some(clause) });
        self.last.clear();
        self.fresh = None;
    }

    fn number(&mut self, one: &Candidate<'_>, ahead: Option<&[u32]>) {
        let label = &one.label;
        let parts = &label.parts;
        let follows = follows(&self.last, parts);
        let named = label.mark == Mark::Named;
        let goes_on = ahead.is_some_and(|ahead| self::follows(parts, ahead) == Follows::Next);
        // A part that counts anew has a space of its own.
        let restarts = self.fresh.is_some() && first(parts) && follows != Follows::Next;
        let believed = if label.weak || !(one.apart || one.heading > 0) {
            let here = one.apart || one.before == Before::Stop;
            here && (follows == Follows::Next || (self.last.is_empty() && !label.weak && goes_on))
        } else if self.last.is_empty() {
            // A text may begin with any clause, if others follow or it is the only one.
            first(parts)
                || named
                || goes_on
                || (parts.len() > 1 && ahead.is_none() && !self.refused)
        } else {
            restarts || follows != Follows::No || named || (goes_on && parts.len() > 1)
        };
        if one.before == Before::Cue && !one.apart {
            return;
        }
        // A list inside of a clause: deeper than the clause, or counted on from its own start.
        let listed = parts.len() == 1 && !named && label.tail.is_empty() && one.heading == 0;
        if listed && self.is_listed(one, believed && follows == Follows::Next, restarts) {
            let value = parts[0] / LETTERS;
            if parts[0].is_multiple_of(LETTERS) {
                self.item(one, &[(Style::Digit, value)]);
            }
            return;
        }
        if !believed {
            self.refused = true;
            return;
        }
        if restarts && let Some(clause) = self.fresh {
            self.anew(clause);
        }
        self.fresh = None;
        let rank = if matches!(label.word, "article" | "artikel" | "art." | "§") {
            Rank::Article
        } else {
            Rank::Number
        };
        let article = self.stack.iter().rev().find(|open| open.rank == Rank::Article);
        // "Section 1" of an article is counted within it.
        let within = article
            .filter(|open| label.word == "section" && !parts.starts_with(&open.parts))
            .or(article.filter(|open| label.word == "section" && *parts == open.parts))
            .and_then(|open| self.clause_of(open.entry));
        let mut key = joined(parts);
        key.push_str(&label.tail.to_ascii_lowercase());
        if let Some(article) = within {
            key = format!("{}/{key}", self.clauses[article].key);
        }
        if self.known.contains_key(&(self.space, key.clone())) {
            return;
        }
        while let Some(top) = self.stack.last() {
            let below = top.parts.len() < parts.len() && parts.starts_with(&top.parts);
            let holds = match top.rank {
                Rank::Part | Rank::Attached => true,
                Rank::Heading => one.heading == 0 || one.heading > top.heading,
                Rank::Article => rank == Rank::Number,
                Rank::Number => below,
                Rank::Item(..) => false,
            };
            if holds {
                break;
            }
            self.stack.pop();
        }
        let mut number = format!("{}{}", label.written, label.tail);
        let holder = within.or(self.spaces[self.space as usize].clause);
        if let Some(holder) = holder {
            number = format!("{}, {number}", self.clauses[holder].number);
        }
        self.push(one, number, self.space, key, if named { label.word } else { "" });
        self.last.clone_from(parts);
        self.open(rank, one.heading, parts.clone(), one.indent);
    }

    /// Whether a single number counts the items of a list inside of a clause.
    fn is_listed(&self, one: &Candidate<'_>, next: bool, restarts: bool) -> bool {
        let value = one.label.parts[0] / LETTERS;
        let list =
            self.stack.iter().rev().find(|open| matches!(open.rank, Rank::Item(Style::Digit, _)));
        if let Some(list) = list {
            let counts_on = matches!(list.rank, Rank::Item(_, last) if last + 1 == value);
            return counts_on && (!next || one.indent >= list.indent);
        }
        let clause = self
            .stack
            .iter()
            .rev()
            .find(|open| matches!(open.rank, Rank::Number | Rank::Article | Rank::Item(..)));
        let Some(clause) = clause else { return false };
        let in_article = clause.rank == Rank::Article;
        value == 1 && !restarts && (!next || in_article || one.indent > clause.indent)
    }

    fn item(&mut self, one: &Candidate<'_>, styles: &[(Style, u32)]) {
        if !one.apart && one.before != Before::Stop {
            return;
        }
        // The list that it goes on with, the innermost first; or a list that it begins.
        let mut place = None;
        for (at, open) in self.stack.iter().enumerate().rev() {
            let Rank::Item(style, last) = open.rank else { break };
            let value = styles.iter().find(|(other, _)| *other == style).map(|(_, value)| *value);
            if value.is_some_and(|value| value > last && value - last <= MISSING) {
                place = Some((at, style, value.unwrap_or(last)));
                break;
            }
        }
        let (style, value) = match place {
            Some((at, style, value)) => {
                self.stack.truncate(at);
                (style, value)
            }
            None => {
                // A style that is open counts one list at a time.
                let is_open = |style: Style| {
                    let items = self.stack.iter().rev();
                    items
                        .map_while(|open| match open.rank {
                            Rank::Item(style, _) => Some(style),
                            _ => None,
                        })
                        .any(|open| open == style)
                };
                let begins = |&&(style, value): &&(Style, u32)| value == 1 && !is_open(style);
                match styles.iter().find(begins) {
                    Some(&found) if self.stack.iter().any(|open| open.rank != Rank::Heading) => {
                        found
                    }
                    _ => return,
                }
            }
        };
        let parent = self.stack.iter().rev().find_map(|open| self.clause_of(open.entry));
        let (space, stem, shown) = match parent {
            Some(parent) => {
                let parent = &self.clauses[parent];
                // Items of a schedule stand in its own space.
                let attached = self.spaces[self.space as usize]
                    .clause
                    .is_some_and(|clause| self.clauses[clause].start == parent.start);
                if attached {
                    (self.space, String::new(), parent.number.clone())
                } else {
                    (parent.space, parent.key.clone(), parent.number.clone())
                }
            }
            None => return,
        };
        let name = one.label.written.trim_end_matches(['.', ')']);
        let key = format!("{stem}({})", name.to_ascii_lowercase());
        if key.len() > LONGEST || self.known.contains_key(&(space, key.clone())) {
            return;
        }
        let number = format!("{shown}({name})");
        self.push(one, number, space, key, "");
        self.open(Rank::Item(style, value), 0, Vec::new(), one.indent);
    }

    pub(super) fn clause_of(&self, entry: usize) -> Option<usize> {
        match self.entries[entry].0 {
            Entry::Clause(clause) => Some(clause),
            Entry::Heading(_) => None,
        }
    }

    fn push(
        &mut self,
        one: &Candidate<'_>,
        number: String,
        space: u32,
        key: String,
        word: &'static str,
    ) -> usize {
        let clause = self.clauses.len();
        let above = self.stack.iter().rev().find_map(|open| self.clause_of(open.entry));
        // A number without a word is called what the one that it stands in is called.
        let word = match above {
            Some(above) if word.is_empty() && self.spaces[space as usize].clause != Some(above) => {
                self.clauses[above].word
            }
            _ => word,
        };
        let word = if word.is_empty() || word == "part" { "clause" } else { word };
        let parent = self.stack.last().map(|open| open.entry);
        self.known.insert((space, key.clone()), clause as u32);
        self.clauses.push(Clause {
            start: one.start,
            words: one.start + one.label.behind,
            number,
            title: String::new(),
            word,
            above,
            space,
            key,
            item: matches!(one.label.mark, Mark::Item(_)),
        });
        self.entries.push((Entry::Clause(clause), parent));
        clause
    }
}
