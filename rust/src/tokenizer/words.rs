//! Tokens of many short texts by a tokenizer of Llama's kind, each word encoded once.
//!
//! Such a tokenizer has no pre-tokenizer: it puts a mark before the text and in place of each blank,
//! and merges whatever stands side by side. A text is therefore encoded whole, and slowly. But where no
//! token of the vocabulary has a mark behind another character, nothing is merged over the place before
//! the first mark of a word, and no merge makes a token that the vocabulary has not. So each word's
//! tokens are its own. Whether the vocabulary is so is for the caller to know.

use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::Tokenizer;
use super::pairs::{MOST, Pairs};
use crate::error::Result;
use crate::guard::Guard;

/// What stands in place of a blank.
const MARK: char = '\u{2581}';

/// Encodes texts by their words.
pub struct Words {
    tokenizer: Tokenizer,
    /// What words are encoded by, if the tokenizer does nothing else.
    pairs: Option<Pairs>,
    /// Most tokens that are remembered; with more, all are forgotten.
    most: usize,
    /// What calls before have learned. A call takes one, and starts anew where none is there.
    known: Mutex<Vec<Known>>,
}

/// The tokens of parts of words that were met, one behind the other, and where each one's stand. A first
/// part is known without its first mark: the tokenizer puts that there.
#[derive(Default)]
struct Known {
    /// Of parts behind others, and of first parts.
    places: [Places; 2],
    tokens: Vec<u32>,
}

/// Where the tokens of parts stand. Short ones lie in the table itself: a look-up then reads one line
/// of memory in place of two.
#[derive(Default)]
struct Places {
    short: FxHashMap<[u64; 2], (u32, u32)>,
    long: FxHashMap<Box<str>, (u32, u32)>,
}

impl Places {
    fn get(&self, word: &str) -> Option<(u32, u32)> {
        match short(word) {
            Some(key) => self.short.get(&key).copied(),
            None => self.long.get(word).copied(),
        }
    }

    fn insert(&mut self, word: &str, place: (u32, u32)) {
        match short(word) {
            Some(key) => self.short.insert(key, place),
            None => self.long.insert(word.into(), place),
        };
    }
}

/// The bytes of a short word, and how many they are.
fn short(word: &str) -> Option<[u64; 2]> {
    let mut key = [0; 16];
    key.get_mut(..word.len()).filter(|_| word.len() < 16)?.copy_from_slice(word.as_bytes());
    key[15] = word.len() as u8;
    let key = u128::from_le_bytes(key);
    Some([key as u64, (key >> 64) as u64])
}

impl Words {
    /// How many threads' knowledge is kept.
    const KEPT: usize = 4;

    /// Of a tokenizer that encodes words alone as in their text, and its file.
    #[must_use]
    pub fn new(tokenizer: Tokenizer, json: &str, most: usize) -> Self {
        let file = serde_json::from_str::<Value>(json);
        let pairs = file.ok().and_then(|file| Pairs::read(&file));
        Self { tokenizer, pairs, most, known: Mutex::default() }
    }

    /// The tokens of all texts, one behind the other, and where those of each end.
    pub fn encode(&self, texts: &[&str], guard: &Guard<'_>) -> Result<(Vec<u32>, Vec<usize>)> {
        let waiting = self.known.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut known = waiting.unwrap_or_default();
        let (mut tokens, mut ends) = (Vec::new(), Vec::with_capacity(texts.len()));
        for text in texts {
            guard.check()?;
            each(text, |word| self.add(word, &mut known, guard, &mut tokens))?;
            ends.push(tokens.len());
        }
        let mut at_rest = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if at_rest.len() < Self::KEPT {
            at_rest.push(known);
        }
        Ok((tokens, ends))
    }

    fn add(
        &self,
        word: &str,
        known: &mut Known,
        guard: &Guard<'_>,
        tokens: &mut Vec<u32>,
    ) -> Result<()> {
        match &self.pairs {
            Some(pairs) if word.len() <= MOST => {
                let mut at = 0;
                while at < word.len() {
                    let end = pairs.part_end(word, at);
                    let (part, is_first) = (&word[at..end], at == 0);
                    if !known.tell(part, is_first, tokens) {
                        let before = tokens.len();
                        pairs.encode(MARK, part, is_first, tokens);
                        known.keep(part, is_first, &tokens[before..]);
                    }
                    at = end;
                }
            }
            _ if known.tell(word, true, tokens) => {}
            _ => {
                let (own, _) = self.tokenizer.encode(word, guard)?;
                known.keep(word, true, &own);
                tokens.extend(own);
            }
        }
        if known.tokens.len() > self.most {
            *known = Known::default();
        }
        Ok(())
    }
}

impl Known {
    /// Appends the tokens of a part; false if it is not known.
    fn tell(&self, part: &str, is_first: bool, tokens: &mut Vec<u32>) -> bool {
        let place = self.places[usize::from(is_first)].get(part);
        let place = place.map(|(start, end)| &self.tokens[start as usize..end as usize]);
        tokens.extend_from_slice(place.unwrap_or_default());
        place.is_some()
    }

    fn keep(&mut self, part: &str, is_first: bool, tokens: &[u32]) {
        let start = self.tokens.len();
        self.tokens.extend_from_slice(tokens);
        // More than fit would have been forgotten long before.
        let place = (u32::try_from(start), u32::try_from(self.tokens.len()));
        if let (Ok(start), Ok(end)) = place {
            self.places[usize::from(is_first)].insert(part, (start, end));
        }
    }
}

/// Hands over each word without its first mark: the marks before it and, of the last one, those behind
/// it belong to it. The mark before the first word is not in the text.
fn each<'t>(text: &'t str, mut take: impl FnMut(&'t str) -> Result<()>) -> Result<()> {
    let (bytes, len) = (text.as_bytes(), text.len());
    let visible = text.trim_end_matches([' ', MARK]).len();
    let mut start = 0;
    while start < len {
        let mut end = start;
        while end < len && mark(bytes, end) > 0 {
            end += mark(bytes, end);
        }
        while end < len && mark(bytes, end) == 0 {
            end += 1;
        }
        if end == visible {
            end = len;
        }
        take(&text[start..end])?;
        start = if end < len { end + mark(bytes, end) } else { len };
    }
    Ok(())
}

/// Bytes of the mark, or of the blank that becomes one, at a place; 0 where there is none.
#[inline(always)]
fn mark(bytes: &[u8], at: usize) -> usize {
    match bytes[at..] {
        [b' ', ..] => 1,
        [0xE2, 0x96, 0x81, ..] => MARK.len_utf8(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_take_the_marks_before_them_and_the_last_one_those_behind_it() {
        for (text, words) in [
            ("", &[][..]),
            ("a", &["a"]),
            ("ab c", &["ab", "c"]),
            (" a", &[" a"]),
            ("a  b ", &["a", " b "]),
            ("   ", &["   "]),
            ("a\u{2581}b\u{2581} ", &["a", "b\u{2581} "]),
            ("\u{2580}\n \u{2582}", &["\u{2580}\n", "\u{2582}"]),
        ] {
            let mut found = Vec::new();
            each(text, |word| {
                found.push(word);
                Ok(())
            })
            .unwrap();
            assert_eq!(found, words, "{text:?}");
        }
    }
}
