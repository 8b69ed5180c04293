//! The normaliser of SentencePiece, as the crate `tokenizers` reads it: a compiled table of strings
//! and what they become.
//!
//! A text is taken by grapheme clusters. One of fewer than six bytes is looked up whole, and the
//! shortest string of the table that it starts with decides for all of it; if there is none, or
//! it is longer, its characters are looked up one by one. What is not there stays.
//!
//! The table is the size of a trie in bytes, the trie (`darts`), then the replacements, each ended by
//! a zero byte. All numbers are of four bytes, the lowest first.

use unicode_segmentation::UnicodeSegmentation;

use super::classes::joins;
use crate::tokenizer::file::Chosen;

/// Bytes from which a grapheme cluster is not looked up whole.
const WHOLE: usize = 6;
/// The longest string looked for in a table; it is a hundredth of that in those there are.
const LONGEST: usize = 1024;

/// Nodes of a table, at most. Strings may have nodes in common, so the table's size is no bound.
const MOST: usize = 1 << 21;

#[derive(Default)]
pub(super) struct Charsmap {
    units: Vec<u32>,
    replacements: String,
}

/// A text that was normalised, and where each byte of it comes from.
#[derive(Default)]
pub(super) struct Normal {
    pub(super) text: String,
    /// For each byte, where the source character ends that it is put down to.
    pub(super) ends: Vec<u32>,
}

/// Characters of a result, put down to characters of the source.
///
/// The crate keeps, for a character, how many of the source it uses up: none if it is added, one if
/// it replaces one, more if others after that are dropped. What drops out is settled with the last
/// character before, even if that is another string's.
struct Aligned<'n> {
    normal: &'n mut Normal,
    source: &'n str,
    /// Bytes of the source used up.
    used: usize,
    /// The last character, until it is known what drops out behind it, and what it changes.
    last: Option<(char, isize)>,
}

impl Aligned<'_> {
    fn push(&mut self, c: char, change: isize) {
        self.settle();
        self.last = Some((c, change));
    }

    fn settle(&mut self) {
        let Some((c, change)) = self.last.take() else { return };
        if change <= 0 {
            self.skip(1);
        }
        let end = self.used;
        self.skip(change.min(0).unsigned_abs());
        self.normal.text.push(c);
        let ends = std::iter::repeat_n(end as u32, c.len_utf8());
        self.normal.ends.extend(ends);
    }

    /// Uses up `count` characters.
    fn skip(&mut self, count: usize) {
        let rest = self.source[self.used..].chars().take(count);
        self.used += rest.map(char::len_utf8).sum::<usize>();
    }

    fn replace(&mut self, old: &str, new: &str) {
        let count = |text: &str| text.chars().count();
        let (from, to) = (count(old), count(new));
        for (index, c) in new.chars().enumerate() {
            self.push(c, isize::from(index >= from));
        }
        if to < from {
            let gone = from - to;
            match &mut self.last {
                Some((_, change)) => *change -= gone as isize,
                // Nothing before it: the source starts behind.
                None => self.skip(gone),
            }
        }
    }
}

impl Charsmap {
    /// Reads a table, and calls `each` for every string in it with what that becomes.
    pub(super) fn read(table: &[u8], mut each: impl FnMut(&str, &str)) -> Chosen<Self> {
        let damaged = || "its charsmap is damaged".to_owned();
        let (size, rest) = table.split_first_chunk().ok_or_else(damaged)?;
        let size = u32::from_le_bytes(*size) as usize / 4 * 4;
        let (units, replacements) = rest.split_at_checked(size).ok_or_else(damaged)?;
        let units = units.as_chunks().0.iter().map(|unit| u32::from_le_bytes(*unit)).collect();
        let replacements = std::str::from_utf8(replacements).map_err(|_| damaged())?.to_owned();
        let map = Self { units, replacements };
        let root = *map.units.first().ok_or_else(damaged)?;
        let mut open = vec![(offset(root), Vec::new())];
        let mut nodes = 0;
        while let Some((base, string)) = open.pop() {
            nodes += 1;
            if string.len() > LONGEST || nodes > MOST {
                return Err(damaged());
            }
            for byte in 1..=u8::MAX {
                let at = base ^ usize::from(byte);
                let Some(&unit) = map.units.get(at) else {
                    // The crate would look there.
                    return Err(damaged());
                };
                if label(unit) != u32::from(byte) {
                    continue;
                }
                let mut longer = string.clone();
                longer.push(byte);
                let next = at ^ offset(unit);
                if has_leaf(unit) {
                    let value = map.units.get(next).copied().ok_or_else(damaged)?;
                    let string = std::str::from_utf8(&longer).map_err(|_| damaged())?;
                    each(string, map.replacement(value).ok_or_else(damaged)?);
                }
                open.push((next, longer));
            }
        }
        Ok(map)
    }

    /// What `part`, a grapheme cluster or a character, becomes.
    fn find(&self, part: &str) -> Option<&str> {
        let mut at = offset(*self.units.first()?);
        for &byte in part.as_bytes() {
            if byte == 0 {
                return None;
            }
            at ^= usize::from(byte);
            let unit = *self.units.get(at)?;
            if label(unit) != u32::from(byte) {
                return None;
            }
            at ^= offset(unit);
            if has_leaf(unit) {
                return self.replacement(*self.units.get(at)?);
            }
        }
        None
    }

    fn replacement(&self, unit: u32) -> Option<&str> {
        let rest = self.replacements.get((unit & !(1 << 31)) as usize..)?;
        let end = memchr::memchr(0, rest.as_bytes()).unwrap_or(rest.len());
        rest.get(..end)
    }

    /// Normalises `source` into `normal`.
    pub(super) fn normalise(&self, source: &str, normal: &mut Normal) {
        normal.text.clear();
        normal.ends.clear();
        let mut aligned = Aligned { normal, source, used: 0, last: None };
        let mut at = 0;
        while let Some(cluster) = first_cluster(&source[at..]) {
            at += cluster.len();
            if cluster.len() < WHOLE
                && let Some(new) = self.find(cluster)
            {
                aligned.replace(cluster, new);
                continue;
            }
            for (at, c) in cluster.char_indices() {
                let part = &cluster[at..at + c.len_utf8()];
                match self.find(part) {
                    Some(new) => aligned.replace(part, new),
                    None => aligned.push(c, 0),
                }
            }
        }
        aligned.settle();
    }
}

/// The first grapheme cluster of `text`.
#[inline]
fn first_cluster(text: &str) -> Option<&str> {
    let mut chars = text.chars();
    let first = chars.next()?;
    let behind = chars.next();
    // What follows starts anew, behind anything but the few characters that join with all.
    if behind.is_some_and(starts_a_cluster) && (starts_a_cluster(first) || !joins(first)) {
        return Some(&text[..first.len_utf8()]);
    }
    text.graphemes(true).next()
}

/// Characters with which a grapheme cluster starts wherever they stand, but behind those of
/// [`joins`]. More do; these are most of the letters and signs of large scripts.
#[inline]
fn starts_a_cluster(c: char) -> bool {
    matches!(c, ' '..='~' | '\u{c0}'..='\u{24f}' | '\u{391}'..='\u{3c9}' | '\u{410}'..='\u{44f}')
        || matches!(c, '\u{4e00}'..='\u{9fff}' | '\u{3001}'..='\u{3002}' | '\u{3041}'..='\u{3096}')
        || matches!(c, '\u{30a1}'..='\u{30fa}' | '\u{ff01}'..='\u{ff5e}' | '\u{5d0}'..='\u{5ea}')
        || matches!(c, '\u{620}'..='\u{64a}' | '\u{e01}'..='\u{e30}')
}

fn has_leaf(unit: u32) -> bool {
    unit >> 8 & 1 == 1
}

fn label(unit: u32) -> u32 {
    unit & (1 << 31 | 0xff)
}

fn offset(unit: u32) -> usize {
    ((unit >> 10) << ((unit & 1 << 9) >> 6)) as usize
}

impl Normal {
    /// `source` as it is.
    pub(super) fn copy(&mut self, source: &str) {
        self.text.clear();
        self.ends.clear();
        self.text.push_str(source);
        for (at, c) in source.char_indices() {
            let end = (at + c.len_utf8()) as u32;
            self.ends.extend(std::iter::repeat_n(end, c.len_utf8()));
        }
    }
}

#[cfg(test)]
mod tests {
    use unicode_segmentation::UnicodeSegmentation;

    use super::starts_a_cluster;

    #[test]
    fn clusters_start_where_they_are_said_to() {
        let before = [
            "a",
            "\u{1100}",
            "\u{ac00}",
            "\u{ac01}",
            "\u{1161}",
            "\u{1f1e6}",
            "\u{1f469}\u{200d}",
            "\u{915}\u{94d}",
            "\u{915}\u{94d}\u{200d}",
            "\u{301}",
            "\u{e33}",
            "\0",
        ];
        for c in (0..=0x10_ffff).filter_map(char::from_u32).filter(|&c| starts_a_cluster(c)) {
            for before in before {
                let text = format!("{before}{c}");
                let last = text.graphemes(true).next_back().unwrap();
                assert_eq!(last.chars().next(), Some(c), "{text:?}");
            }
        }
    }
}
