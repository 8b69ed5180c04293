//! Which lines are titles by their number or their name.

use super::super::lines::{Lines, roman, width};
use super::{Style, item};

/// Words that name a part of a document, with their rank: what ranks higher holds what ranks lower.
const NAMES: &[(&str, u16)] = &[
    ("annex", 2),
    ("annexe", 2),
    ("anhang", 2),
    ("anexo", 2),
    ("appendix", 2),
    ("article", 3),
    ("artikel", 3),
    ("book", 1),
    ("buch", 1),
    ("capitolo", 2),
    ("capítulo", 2),
    ("chapitre", 2),
    ("chapter", 2),
    ("exhibit", 2),
    ("hoofdstuk", 2),
    ("kapitel", 2),
    ("kapitola", 2),
    ("part", 1),
    ("parte", 1),
    ("partie", 1),
    ("rozdział", 2),
    ("schedule", 2),
    ("section", 3),
    ("sección", 3),
    ("teil", 1),
    ("volume", 1),
    ("глава", 2),
    ("приложение", 2),
    ("раздел", 3),
    ("часть", 1),
];
/// The most columns and words of a title.
const COLUMNS: usize = 90;
const WORDS: usize = 14;
/// The most parts of a number, and the most that one of them may be: a year, an amount, a day with
/// its leading zero are no numbers of a section.
const PARTS: usize = 6;
const LARGEST: u32 = 199;
/// How many numbers may be missing between two titles.
const MISSING: u32 = 3;

/// A line that is a title.
#[derive(Clone, Debug)]
pub(super) struct Title {
    pub(super) line: usize,
    pub(super) style: Style,
    /// The first part of its number.
    pub(super) first: Option<u32>,
    /// The parts of its number.
    parts: Vec<u32>,
}

/// The titles of a text, by line: the lines that read as one and whose numbers follow each other.
pub(super) fn titles(lines: &Lines<'_>) -> Vec<Title> {
    let mut found = Vec::new();
    for line in 0..lines.len() {
        if let Some(title) = candidate(lines, line) {
            found.push(title);
        }
    }
    chosen(found)
}

/// The title that a line may be.
fn candidate(lines: &Lines<'_>, at: usize) -> Option<Title> {
    let line = lines.get(at)?;
    let words = &lines.text[line.first..line.end];
    let start = words.chars().next()?;
    if !(start.is_alphanumeric()) || line.end - line.first > 4 * COLUMNS {
        return None;
    }
    let (style, parts, title) = named(words).or_else(|| numbered(words))?;
    let is_named = matches!(style, Style::Named(..));
    // A paragraph may begin right below a title of several parts, or of a name.
    let is_apart = (at == 0 || lines.is_blank(at - 1))
        && (lines.is_blank(at + 1) || is_named || parts.len() > 1);
    let reads = if title.is_empty() { is_named } else { reads_as_title(title) };
    (is_apart && reads && width(words) <= COLUMNS).then(|| Title {
        line: at,
        style,
        first: parts.first().copied(),
        parts,
    })
}

/// "Chapter 3: Words": the style, the number, the words.
fn named(words: &str) -> Option<(Style, Vec<u32>, &str)> {
    let (name, rest) = words.split_once(' ')?;
    let is_capital = name.chars().next().is_some_and(char::is_uppercase);
    if !is_capital || name.chars().count() > 12 {
        return None;
    }
    let lower = name.to_lowercase();
    let rank = NAMES.iter().find(|(known, _)| *known == lower)?.1;
    let rest = rest.trim_start();
    let length =
        rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.')).unwrap_or(rest.len());
    let label = rest[..length].trim_end_matches('.');
    let behind = &rest[label.len()..];
    let number = match label.as_bytes() {
        [letter @ b'A'..=b'Z'] if rank == 2 && roman(label).is_none_or(|_| lower != "chapter") => {
            Some(u32::from(letter - b'A') + 1)
        }
        _ => label
            .parse()
            .ok()
            .filter(|&number| number <= LARGEST)
            .or_else(|| roman(label).filter(|_| label.bytes().all(|b| b.is_ascii_uppercase()))),
    }?;
    let title = behind.trim_start_matches(['.', ':', '–', '—', '-', ' ', '\t']);
    // "Part A of the agreement" is no title; a mark or a capital must follow.
    let is_marked = behind.is_empty() || behind.starts_with(['.', ':', ' ', '\t']);
    is_marked.then_some((Style::Named(rank, Some(number)), vec![number], title))
}

/// "1.2 Words", "IV. Words", "B. Words": the style, the number, the words.
fn numbered(words: &str) -> Option<(Style, Vec<u32>, &str)> {
    let length = words.find([' ', '\t', '\u{3000}'])?;
    let (label, title) = (&words[..length], words[length..].trim_start());
    let bare = label.strip_suffix(['.', ')', ':']).unwrap_or(label);
    let is_marked = bare.len() < label.len();
    if bare.bytes().all(|b| b.is_ascii_uppercase()) {
        let number = roman(bare);
        return match bare.as_bytes() {
            // "I.", "V.", "X." are Roman, "C." and "D." letters.
            [letter] if is_marked && !matches!(letter, b'I' | b'V' | b'X') => {
                Some((Style::Letter, vec![u32::from(letter - b'A') + 1], title))
            }
            _ if is_marked => number.map(|number| (Style::Roman, vec![number], title)),
            _ => None,
        };
    }
    let mut parts = Vec::new();
    for (i, part) in bare.split('.').enumerate() {
        let number = match part.as_bytes() {
            [letter @ b'A'..=b'Z'] if i == 0 => u32::from(letter - b'A') + 1,
            [b'0', _, ..] | [] => return None,
            digits if digits.len() <= 3 && digits.iter().all(u8::is_ascii_digit) => {
                part.parse().ok()?
            }
            _ => return None,
        };
        if number > LARGEST || parts.len() == PARTS {
            return None;
        }
        parts.push(number);
    }
    let depth = u16::try_from(parts.len()).ok()?;
    Some((Style::Numbered(depth), parts, title))
}

/// Whether words read as a title: a capital first (or a letter of a script that has none), no end
/// of a sentence, few words.
fn reads_as_title(title: &str) -> bool {
    let Some(first) = title.chars().find(|c| !matches!(c, '"' | '“' | '«' | '(' | '\'' | '‘'))
    else {
        return false;
    };
    first.is_alphabetic()
        && !first.is_lowercase()
        && !title.ends_with(['.', ',', ';', '!', '。', '，', '；'])
        && !title.contains("  ")
        && !title.contains(['\t', '|'])
        && title.split_whitespace().count() <= WORDS
        && item(title).is_none()
}

/// Keeps the titles whose numbers follow each other. Titles by one number, letter or Roman numeral
/// need another one of their kind, or one below them: alone they may be anything.
fn chosen(found: Vec<Title>) -> Vec<Title> {
    let mut kept: Vec<Title> = Vec::with_capacity(found.len());
    // The last number of each kind, and the place of the last that may yet turn out to be alone.
    let mut last: [Vec<u32>; 3] = Default::default();
    let mut alone: [Option<usize>; 3] = [None; 3];
    let mut dropped = Vec::new();
    for title in found {
        let kind = match title.style {
            Style::Ruled(..) => continue,
            Style::Named(_, number) => {
                // Numbers start anew, or with that of the part.
                last = Default::default();
                last[0].extend(number);
                kept.push(title);
                continue;
            }
            Style::Numbered(_) => 0,
            Style::Roman => 1,
            Style::Letter => 2,
        };
        if !follows(&last[kind], &title.parts) {
            continue;
        }
        let leads_on = last[kind].first().is_some_and(|&before| before < title.parts[0]);
        if title.parts.len() == 1 && title.parts[0] <= 1 && !leads_on {
            // It begins a count; the one before it was none if nothing came of it.
            dropped.extend(alone[kind].replace(kept.len()));
        } else {
            alone[kind] = None;
        }
        last[kind].clone_from(&title.parts);
        kept.push(title);
    }
    dropped.extend(alone.into_iter().flatten());
    for &place in &dropped {
        kept[place].parts.clear();
    }
    kept.retain(|title| !title.parts.is_empty() || matches!(title.style, Style::Named(_, None)));
    kept
}

/// Whether a number may come after another: one below it, or the next or almost next of one of its
/// parts. The first of all begins a count.
fn follows(last: &[u32], parts: &[u32]) -> bool {
    let same = last.iter().zip(parts).take_while(|(a, b)| a == b).count();
    let Some(&part) = parts.get(same) else { return false };
    let is_first = |parts: &[u32]| parts.iter().all(|&part| part <= 1);
    match last.get(same) {
        Some(&before) => {
            let is_next =
                part > before && part - before <= 1 + MISSING && is_first(&parts[same + 1..]);
            // A count may begin anew, as in a second document of one file.
            is_next || (same == 0 && parts.len() == 1 && part <= 1)
        }
        None => is_first(&parts[same..]),
    }
}
