//! Numbers as they are written: "7.2", "7A", "VII", "(a)(ii)"; their keys, and which comes after which.

use super::labels::Mark;
use crate::blocks::lines::roman;

/// The most parts of a number, and the most that a part may be: a year is none.
pub(super) const DEPTH: usize = 6;
const LARGEST: u32 = 199;
/// The most bytes of the key of an item.
pub(super) const LONGEST: usize = 64;
/// A part is a number with perhaps a letter behind it: "7a" comes between 7 and 8.
pub(super) const LETTERS: u32 = 27;

/// What counts the items of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Lower,
    Upper,
    LowerRoman,
    UpperRoman,
    Digit,
}
/// How many numbers may be missing between two clauses.
pub(super) const MISSING: u32 = 3;

/// How a number comes after another.
#[derive(PartialEq, Eq)]
pub(super) enum Follows {
    Next,
    Later,
    No,
}

/// A number of parts, with its length: "7.2", "7A.1". No part is a year or an amount.
pub(super) fn number(rest: &str) -> Option<(Vec<u32>, usize)> {
    let bytes = rest.as_bytes();
    let (mut parts, mut at) = (Vec::new(), 0);
    loop {
        let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0
            || digits > 3
            || (bytes[at] == b'0' && parts.is_empty() && !is_zero(&bytes[at..]))
        {
            return None;
        }
        let mut part: u32 = rest[at..at + digits].parse().ok()?;
        at += digits;
        if part > LARGEST || parts.len() == DEPTH {
            return None;
        }
        part *= LETTERS;
        let letter = bytes.get(at).filter(|byte| byte.is_ascii_alphabetic());
        if let Some(letter) = letter {
            if bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric) {
                return None;
            }
            part += u32::from(letter.to_ascii_lowercase() - b'a') + 1;
            at += 1;
        }
        parts.push(part);
        let more =
            bytes.get(at) == Some(&b'.') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
        if !more {
            break;
        }
        at += 1;
    }
    // "1,000" and "7/2" and "5-year" are none.
    let next = rest[at..].chars().next();
    let joined = next.is_some_and(|c| c.is_alphanumeric() || matches!(c, '/' | '%' | '°' | '\''))
        || (matches!(next, Some(',' | '-'))
            && bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric));
    (!joined).then_some((parts, at))
}

/// Whether a number is a zero of one part: that of a clause before the first, and no version's.
fn is_zero(bytes: &[u8]) -> bool {
    let digit = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_digit);
    !(digit(1) || bytes.get(1) == Some(&b'.') && digit(2))
}

/// The length of the items behind a number: "(a)(ii)". There are no more than a number has parts, as
/// every look-up of a key takes as long as it is.
pub(super) fn items(rest: &str) -> usize {
    let mut at = 0;
    for _ in 0..DEPTH {
        match bracketed(&rest[at..]) {
            Some(length) => at += length,
            None => break,
        }
    }
    at
}

/// The length of an item in brackets: "(a)", "(iv)", "(12)".
pub(super) fn bracketed(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    if bytes.first() != Some(&b'(') {
        return None;
    }
    let length = bytes[1..].iter().take(6).take_while(|b| b.is_ascii_alphanumeric()).count();
    (bytes.get(1 + length) == Some(&b')') && !styles(&rest[1..=length]).is_empty())
        .then_some(length + 2)
}

/// What the name of an item may be: a letter, a numeral, a number.
pub(super) fn styles(name: &str) -> Vec<(Style, u32)> {
    let mut found = Vec::new();
    let bytes = name.as_bytes();
    if bytes.is_empty() || bytes.len() > 5 {
        return found;
    }
    if bytes.iter().all(u8::is_ascii_digit) {
        if let Ok(value) = name.parse()
            && (1..=LARGEST).contains(&value)
            && bytes[0] != b'0'
        {
            found.push((Style::Digit, value));
        }
        return found;
    }
    let upper = bytes[0].is_ascii_uppercase();
    if let [letter] = bytes
        && letter.is_ascii_alphabetic()
    {
        let style = if upper { Style::Upper } else { Style::Lower };
        found.push((style, u32::from(letter.to_ascii_lowercase() - b'a') + 1));
    }
    if let Some(value) = roman(name).filter(|&value| value <= LARGEST) {
        found.push((if upper { Style::UpperRoman } else { Style::LowerRoman }, value));
    }
    found
}

/// The number of a named clause: of figures, a Roman numeral, of a part or a schedule a letter.
pub(super) fn counted(rest: &str, mark: &Mark) -> Option<(Vec<u32>, usize)> {
    if let Some(found) = number(rest) {
        return Some(found);
    }
    let length = rest.bytes().take(8).take_while(u8::is_ascii_uppercase).count();
    let name = &rest[..length];
    if length == 0 || rest[length..].starts_with(|c: char| c.is_alphanumeric()) {
        return None;
    }
    let letter = matches!(mark, Mark::Attached | Mark::Part) && length == 1;
    let value = match name.as_bytes() {
        [byte] if letter && !matches!(byte, b'I' | b'V' | b'X') => u32::from(byte - b'A') + 1,
        _ => roman(name)?,
    };
    (value <= LARGEST).then(|| (vec![value * LETTERS], length))
}

/// A number's key: the same for every way to write it.
pub(super) fn joined(parts: &[u32]) -> String {
    let mut key = String::new();
    for part in parts.iter().take(DEPTH) {
        if !key.is_empty() {
            key.push('.');
        }
        key.push_str(&(part / LETTERS).to_string());
        if let Some(letter) = (part % LETTERS).checked_sub(1) {
            key.push(char::from(b'a' + letter as u8));
        }
    }
    key
}

/// Whether a number begins a count.
pub(super) fn first(parts: &[u32]) -> bool {
    parts.iter().all(|&part| part / LETTERS <= 1)
}

/// How a number comes after another.
pub(super) fn follows(last: &[u32], parts: &[u32]) -> Follows {
    if last.is_empty() {
        return if first(parts) { Follows::Next } else { Follows::No };
    }
    let same = last.iter().zip(parts).take_while(|(a, b)| a == b).count();
    let Some(&part) = parts.get(same) else { return Follows::No };
    if !first(&parts[same + 1..]) || (part == 0 && same + 1 < parts.len()) {
        return Follows::No;
    }
    let Some(&before) = last.get(same) else {
        // Below the last one.
        let step = part / LETTERS;
        return match step {
            0 | 1 => Follows::Next,
            _ if step <= 1 + MISSING => Follows::Later,
            _ => Follows::No,
        };
    };
    if part <= before {
        return Follows::No;
    }
    match part / LETTERS - before / LETTERS {
        0 | 1 => Follows::Next,
        step if step <= 1 + MISSING => Follows::Later,
        _ => Follows::No,
    }
}
