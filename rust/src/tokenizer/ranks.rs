//! A caller's ranks, as a `.tiktoken` file holds them, made into a vocabulary.
//!
//! A line is a token in base64, a blank and its id; the lower id is merged first. Merges are found by
//! the two tokens merged (`bpe.rs`), so each token needs the one pair that ends in it: the last one to
//! be merged in its own bytes. A token in whose bytes the merges stop short (some vocabularies hold
//! such) has none, and needs none: were it to come about within a longer piece, the merges in it would
//! have been those of its bytes alone until then, and would not have stopped short. It is a pretoken as
//! a whole, which is looked up before any merge, or it is never met.

use super::last_merge::last_merge;
use rustc_hash::FxHashMap;

use super::vocabulary::Vocabulary;
use crate::error::{Error, Result};

/// The longest token taken; finding its pair takes the square of it.
const LONGEST: usize = 1024;

/// Reads the text of a `.tiktoken` file.
pub(super) fn read(text: &[u8]) -> Result<Vocabulary> {
    let mut tokens = Vec::new();
    for (number, line) in (1..).zip(text.split(|&byte| byte == b'\n')) {
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        let parsed = parse(line)
            .ok_or_else(|| fault(format!("line {number} is not a token in base64 and its id")))?;
        if parsed.1.len() > LONGEST {
            return Err(fault(format!(
                "the token in line {number} is longer than {LONGEST} bytes"
            )));
        }
        tokens.push(parsed);
    }
    // A token of one byte is merged from none: its place among the ranks is free.
    tokens.sort_unstable_by_key(|(id, token)| (token.len() > 1, *id));
    let mut ranks: FxHashMap<&[u8], u32> = FxHashMap::default();
    let mut ids: FxHashMap<u32, u32> = FxHashMap::default();
    for (rank, (id, token)) in (0..).zip(&tokens) {
        if ranks.insert(token, rank).is_some() {
            return Err(fault(format!("the token {:?} is there twice", Shown(token))));
        }
        if ids.insert(*id, rank).is_some() {
            return Err(fault(format!("two tokens have the id {id}")));
        }
    }
    if let Some(byte) = (0..=u8::MAX).find(|byte| !ranks.contains_key(&[*byte][..])) {
        return Err(fault(format!(
            "no token is the byte 0x{byte:02x}, so not every text has tokens"
        )));
    }
    let mut singles = [0; 256];
    for (single, (_, token)) in singles.iter_mut().zip(&tokens) {
        *single = token[0];
    }
    let longer: Vec<_> = tokens[256..]
        .iter()
        .map(|(_, token)| {
            let halves =
                last_merge(token, &ranks).map(|at| (ranks[&token[..at]], ranks[&token[at..]]));
            (token.as_slice(), halves)
        })
        .collect();
    let ids = tokens.iter().map(|(id, _)| *id).collect();
    Vocabulary::new(&singles, &longer, ids)
        .ok_or_else(|| fault(format!("{} tokens are too many", tokens.len())))
}

fn fault(words: String) -> Error {
    Error::Tokenizer(format!("the ranks cannot be used: {words}"))
}

/// Bytes for a message.
struct Shown<'a>(&'a [u8]);

impl std::fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

/// An id and a token of one byte or more.
fn parse(line: &[u8]) -> Option<(u32, Vec<u8>)> {
    let at = line.iter().position(|&byte| byte == b' ')?;
    let id = std::str::from_utf8(line[at..].trim_ascii()).ok()?.parse().ok()?;
    base64(&line[..at]).filter(|token| !token.is_empty()).map(|token| (id, token))
}

/// The bytes that `text` is in base64.
pub(super) fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let body = text.strip_suffix(b"==").or_else(|| text.strip_suffix(b"=")).unwrap_or(text);
    if !text.len().is_multiple_of(4) || body.len() % 4 == 1 {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for group in body.chunks(4) {
        let mut bits = 0u32;
        for &sign in group {
            let value = match sign {
                b'A'..=b'Z' => sign - b'A',
                b'a'..=b'z' => sign - b'a' + 26,
                b'0'..=b'9' => sign - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                _ => return None,
            };
            bits = bits << 6 | u32::from(value);
        }
        bits <<= 6 * (4 - group.len());
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    Some(bytes)
}

#[cfg(test)]
#[path = "ranks_tests.rs"]
mod tests;
