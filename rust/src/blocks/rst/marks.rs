//! What a line of reStructuredText starts with.

use super::super::lines::{Line, Lines, roman, rule};

/// What makes a line an item of a list. Items of one list have one mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Bullet(char),
    /// The character behind the number, and whether a bracket stands before it.
    Number(u8, bool),
    Field,
    Option,
    /// A term; its definition stands at this column.
    Definition(usize),
}

/// What stands behind two dots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Explicit<'t> {
    Empty,
    /// A footnote, a target, a substitution, a comment.
    Note,
    Directive(&'t str),
}

/// The mark of an item at `first` of a line, and the mark's length.
pub(super) fn item(
    lines: &Lines<'_>,
    at: usize,
    line: &Line,
    first: usize,
    column: usize,
) -> Option<(Mark, usize)> {
    let words = &lines.text[first..line.end];
    if let Some(found) = bullet(words) {
        return Some(found);
    }
    if let Some((format, length)) = number(words) {
        // A sentence that starts as a list would goes on at the same column.
        let next = lines.get(at + 1).filter(|next| !next.is_blank() && next.indent == column);
        let goes_on = next.is_some_and(|next| {
            number(&lines.text[next.first..next.end]).is_none_or(|(other, _)| other != format)
        });
        return (!goes_on).then_some((Mark::Number(format.0, format.1), length));
    }
    if field(words) {
        return Some((Mark::Field, 0));
    }
    if option(words) {
        let is_described = words.contains("  ")
            || lines.get(at + 1).is_some_and(|next| !next.is_blank() && next.indent > column);
        return is_described.then_some((Mark::Option, 0));
    }
    let below = lines.get(at + 1).filter(|next| !next.is_blank() && next.indent > column)?;
    let is_term = rule(words).is_none()
        && explicit(words).is_none()
        && !words.ends_with("::")
        && !["__ ", ">>> ", "| ", "+-"].iter().any(|mark| words.starts_with(mark))
        && !is_columns(words);
    is_term.then_some((Mark::Definition(below.indent), 0))
}

fn bullet(words: &str) -> Option<(Mark, usize)> {
    let mark = words.chars().next().filter(|c| matches!(c, '-' | '+' | '*' | '•' | '‣' | '⁃'))?;
    let rest = &words[mark.len_utf8()..];
    (rest.is_empty() || rest.starts_with(' ')).then_some((Mark::Bullet(mark), mark.len_utf8()))
}

/// The format of an enumerator, which is the mark behind it and whether one is before it, and its
/// length.
fn number(words: &str) -> Option<((u8, bool), usize)> {
    let open = usize::from(words.starts_with('('));
    let end = open + words[open..].bytes().take(16).position(|b| matches!(b, b'.' | b')'))?;
    let (body, mark) = (&words[open..end], words.as_bytes()[end]);
    let rest = &words[end + 1..];
    let is_number = body == "#"
        || (!body.is_empty() && body.bytes().all(|b| b.is_ascii_digit()))
        || (body.len() == 1 && body.as_bytes()[0].is_ascii_alphabetic())
        || roman(body).is_some();
    let is_closed = open == 0 || mark == b')';
    (is_number && is_closed && (rest.is_empty() || rest.starts_with(' ')))
        .then_some(((mark, open > 0), end + 1))
}

/// Whether a line starts with a field's name between colons.
fn field(words: &str) -> bool {
    let bytes = words.as_bytes();
    if bytes.first() != Some(&b':') || matches!(bytes.get(1), None | Some(b':' | b' ')) {
        return false;
    }
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b':' => match bytes.get(at + 1) {
                None | Some(b' ') => return bytes[at - 1] != b' ',
                Some(b'`') => return false,
                _ => {}
            },
            _ => {}
        }
        at += 1;
    }
    false
}

/// Whether a line starts with options of a command.
fn option(words: &str) -> bool {
    if !words.starts_with(['-', '/', '+']) {
        return false;
    }
    let options = words.split_once("  ").map_or(words, |(options, _)| options);
    options.split(", ").all(|option| {
        let (name, is_long) = match option.strip_prefix("--").or_else(|| option.strip_prefix('/')) {
            Some(name) => (name, true),
            None => (option.strip_prefix(['-', '+']).unwrap_or(""), false),
        };
        let length = if is_long {
            name.bytes().position(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')))
        } else {
            Some(1)
        };
        let (name, argument) =
            name.split_at_checked(length.unwrap_or(name.len())).unwrap_or(("", ""));
        let argument = argument.strip_prefix([' ', '=']).unwrap_or(argument);
        name.starts_with(|c: char| {
            c.is_ascii_alphanumeric() || (!is_long && matches!(c, '?' | '#'))
        }) && (argument.is_empty()
            || (argument.starts_with('<') && argument.ends_with('>'))
            || (argument.starts_with(|c: char| c.is_ascii_alphabetic())
                && argument.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))))
    })
}

/// What a line says behind two dots.
pub(super) fn explicit(words: &str) -> Option<Explicit<'_>> {
    let rest = words.strip_prefix("..")?;
    if rest.is_empty() {
        return Some(Explicit::Empty);
    }
    let rest = rest.strip_prefix(' ')?.trim_start();
    let Some(end) = rest.find("::") else { return Some(Explicit::Note) };
    let (name, behind) = (&rest[..end], &rest[end + 2..]);
    let name = name.strip_suffix(' ').unwrap_or(name);
    let is_name = name.starts_with(char::is_alphanumeric)
        && name.ends_with(char::is_alphanumeric)
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | ':'));
    let is_directive = is_name && (behind.is_empty() || behind.starts_with(' '));
    Some(if is_directive { Explicit::Directive(name) } else { Explicit::Note })
}

/// Whether a line is the top of a table drawn by lines.
pub(super) fn is_grid(words: &str) -> bool {
    words.len() >= 5
        && words.starts_with("+-")
        && words.ends_with("-+")
        && words.bytes().all(|b| matches!(b, b'+' | b'-'))
}

/// Whether a line marks columns by rules.
pub(super) fn is_columns(words: &str) -> bool {
    words.starts_with('=') && words.contains(' ') && words.bytes().all(|b| matches!(b, b'=' | b' '))
}
