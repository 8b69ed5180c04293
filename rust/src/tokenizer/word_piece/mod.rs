//! The engine for tokenizers as in BERT: normalizer, pre-tokenizer and WordPiece model in one pass.
//!
//! *Characters.* The normalizer maps one character at a time, and the pre-tokenizer looks at one at a
//! time (`characters.rs`). So each character of a text is part of a word, a word alone, white space, or
//! gone, whatever stands beside it, and a word is the run of such parts between what parts them.
//! What is gone (control characters, stripped accents) parts nothing. Only kept marks depend on others:
//! they are put in order between two characters that are none, and so within a word.
//!
//! *Pretokens.* One is a word, or a character alone, with all up to the next: what is gone, and white
//! space. White space and what is gone at the start of a text is one as well, with no token. So a pretoken
//! that starts with a part of a word ends where the run of parts and of what is gone has ended,
//! then white space and what is gone, and nothing before its start matters: slices that start inside a word or
//! before a combining mark, too, for the characters left in them map as before. A pretoken that is
//! cut off is rescanned by the ruler; one that ends at a cut is as it was (nothing looks ahead).
//!
//! *Model.* The longest token at the start of a word, then the longest that is spelt with the prefix
//! (`##`), and so on; a word that comes to no end, or of more than so many characters, is one unknown
//! token. The prefix is walked once in the trie of all tokens, so a word costs at most its length times that
//! of the longest token. A character alone is one token, known or not.
//!
//! *Ends.* A token ends with its last character, and with what is gone behind that: the accent of
//! a letter does not come to stand in front of the next token. The crate tells the end of the letter
//! instead. If many tokens come from one character, those before the last end at its first bytes: no
//! character becomes more than it has bytes (tested). Words are remembered as they stand in the text.

mod blocks;
mod characters;
mod trie;
mod word;

use serde_json::Value;
use tokenizers::normalizers::BertNormalizer;

use super::engine::{Engine, Sink};
use super::file::{Chosen, Fit};
use super::memo::{self, Key, Memo, Pool};
use crate::error::Result;
use crate::guard::{ASK, Guard};
use blocks::Block;
use characters::{ALONE, Characters, GONE, MANY, SPACE, Settings, WORD};
use trie::{Node, Trie};
use word::Word;

/// What stands in a word.
const IN_WORD: u8 = WORD | MANY | GONE;
/// What stands between words.
const BETWEEN: u8 = SPACE | GONE;
/// Characters of the longest word at most, for a word is held while it is tokenized.
const LONGEST: u64 = 1 << 12;

pub(crate) struct WordPiece {
    characters: Characters,
    /// ASCII letters and digits as they are normalised.
    folded: [u8; 256],
    trie: Trie,
    /// Where tokens inside a word start in the trie, if there are any.
    inside: Option<Node>,
    unknown: u32,
    /// Words of more characters are unknown.
    most: usize,
    memos: Pool,
}

/// The engine for a file whose model is a WordPiece, or why there is none.
pub(super) fn read(file: &Value) -> Chosen<(WordPiece, Fit)> {
    let normalizer = &file["normalizer"];
    if normalizer["type"] != "BertNormalizer" {
        return Err("texts are not normalised as in BERT".to_owned());
    }
    if file["pre_tokenizer"]["type"] != "BertPreTokenizer" {
        return Err("texts are not cut into words as in BERT".to_owned());
    }
    let added = file["added_tokens"].as_array().map_or(&[][..], Vec::as_slice);
    if added.iter().any(|token| token["special"] != true && token["normalized"] != false) {
        return Err("a token is added that is looked for in normalised text".to_owned());
    }
    let normalizer: BertNormalizer = serde_json::from_value(normalizer.clone())
        .map_err(|fault| format!("its normalizer cannot be read: {fault}"))?;
    let engine = WordPiece::of(normalizer, &file["model"])?;
    Ok((engine, Fit::of(file, false)?))
}

impl WordPiece {
    fn of(normalizer: BertNormalizer, model: &Value) -> Chosen<Self> {
        let settings = Settings {
            clean_text: normalizer.clean_text,
            handle_chinese_chars: normalizer.handle_chinese_chars,
            strip_accents: normalizer.strip_accents.unwrap_or(normalizer.lowercase),
            lowercase: normalizer.lowercase,
        };
        let most = model["max_input_chars_per_word"].as_u64().filter(|&most| most <= LONGEST);
        let most = most.ok_or("its words are not limited")? as usize;
        let listed = model["vocab"].as_object().ok_or("it has no vocabulary")?;
        let mut tokens = Vec::with_capacity(listed.len());
        for (token, id) in listed {
            let id = id.as_u64().and_then(|id| u32::try_from(id).ok());
            tokens.push((token.as_bytes(), id.ok_or("an id is none")?));
        }
        let unknown = model["unk_token"].as_str().and_then(|token| listed.get(token)?.as_u64());
        let unknown = unknown.ok_or("it has no token for unknown words")? as u32;
        let prefix = model["continuing_subword_prefix"].as_str().ok_or("it has no prefix")?;
        let trie = Trie::new(tokens);
        let mut folded = [0; 256];
        for (byte, folded) in (0..=u8::MAX).zip(&mut folded) {
            *folded = if settings.lowercase { byte.to_ascii_lowercase() } else { byte };
        }
        Ok(Self {
            characters: Characters::new(settings),
            folded,
            inside: trie.walk(prefix.as_bytes()),
            trie,
            unknown,
            most,
            memos: Pool::default(),
        })
    }

    /// Tells the tokens of a word that is normalised but for case: their ends, in it and in the trie.
    /// Says no if the word is unknown after all.
    #[inline]
    fn pieces(&self, word: &[u8], mut piece: impl FnMut(usize, Node)) -> bool {
        let mut node = Trie::ROOT;
        let mut at = 0;
        while at < word.len() {
            let rest = word[at..].iter().map(|&byte| self.folded[usize::from(byte)]);
            let Some((length, end)) = self.trie.longest(node, rest) else { return false };
            at += length;
            piece(at, end);
            match self.inside {
                Some(inside) => node = inside,
                None => return at == word.len(),
            }
        }
        true
    }

    /// The ends of the tokens of a word of ASCII letters and digits, up to 64.
    #[inline(never)]
    fn ascii_ends(&self, word: &[u8]) -> u64 {
        let mut ends = 0;
        if word.len() <= self.most && self.pieces(word, |end, _| ends |= 1 << (end - 1)) {
            return ends;
        }
        1 << (word.len() - 1)
    }

    /// Tells the tokens of a word as it stands: their ends and ids.
    fn tokens(&self, text: &str, word: &mut Word, mut token: impl FnMut(usize, u32)) {
        if word.read(&self.characters, text, self.most) {
            let (bytes, ends) = word.parts();
            if self.pieces(bytes, |_, _| ()) {
                self.pieces(bytes, |end, node| token(ends[end - 1], self.trie.id(node)));
                return;
            }
        }
        token(text.len(), self.unknown);
    }

    /// The ends of the tokens of a word of up to 64 bytes.
    #[inline(never)]
    fn word_ends(&self, text: &str, word: &mut Word) -> u64 {
        if word.read(&self.characters, text, self.most) {
            let (bytes, places) = word.parts();
            let mut ends = 0;
            if self.pieces(bytes, |end, _| ends |= 1 << (places[end - 1] - 1)) {
                return ends;
            }
        }
        1 << (text.len() - 1)
    }

    /// Where the word or the character alone ends that starts at `at`, with what is gone behind it, and
    /// its kind; of what stands between words, the end of all that.
    #[inline]
    fn core(&self, text: &[u8], at: usize) -> (usize, u8) {
        let (kind, length) = self.characters.kind(text, at);
        let wanted = match kind {
            ALONE => GONE,
            WORD | MANY => IN_WORD,
            _ => BETWEEN,
        };
        (self.characters.run(text, at + length, wanted), kind)
    }

    fn pass(
        &self,
        text: &str,
        memo: &mut Memo,
        guard: &Guard<'_>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let bytes = text.as_bytes();
        let word = &mut Word::default();
        let mut at = 0;
        let (end, kind) = self.core(bytes, 0);
        if kind & BETWEEN != 0 {
            sink.pretoken(0);
            at = end;
        }
        while at < bytes.len() {
            guard.check()?;
            let stop = bytes.len().min(at + ASK);
            while at < stop {
                // Between words of another script a block would serve for little.
                if bytes[at..].first_chunk::<8>().is_some_and(|bytes| bytes.is_ascii()) {
                    let done = self.block(bytes, at, memo, sink);
                    at += done;
                    if done > 0 {
                        continue;
                    }
                }
                let (end, kind) = self.core(bytes, at);
                if kind & BETWEEN == 0 {
                    sink.pretoken(at);
                    if kind == ALONE {
                        sink.ends(end - 1, 1);
                    } else {
                        self.word(text, at, end, word, memo, sink);
                    }
                }
                at = end;
            }
        }
        Ok(())
    }

    /// The words that lie whole in the 64 bytes from `at` on and hold nothing but ASCII letters and
    /// digits, the punctuation, and the white space, up to where something else comes. Gives how far.
    #[inline(always)]
    fn block(&self, text: &[u8], at: usize, memo: &mut Memo, sink: &mut impl Sink) -> usize {
        let rest = &text[at..];
        let mut end = 64;
        let Block { word, blank, odd } = match rest.first_chunk::<64>() {
            Some(bytes) => Block::of(bytes),
            None => {
                let mut bytes = [b' '; 64];
                bytes[..rest.len()].copy_from_slice(rest);
                Block::of(&bytes)
            }
        };
        if odd != 0 {
            end = odd.trailing_zeros();
        }
        // What stands right before may go on, or take in what is gone.
        if end > 0 && blank >> (end - 1) & 1 == 0 {
            let before = (!word << (64 - end)).leading_zeros().min(end);
            end -= before.max(1);
        }
        if end == 0 {
            return 0;
        }
        let done = u64::MAX >> (64 - end);
        let word = word & done;
        let mut ends = !(word | blank) & done;
        let (mut firsts, mut lasts) = (word & !(word << 1), word & !(word >> 1));
        sink.pretokens(at, firsts | ends);
        while firsts != 0 {
            let first = firsts.trailing_zeros() as usize;
            let length = lasts.trailing_zeros() as usize + 1 - first;
            firsts &= firsts - 1;
            lasts &= lasts - 1;
            let start = at + first;
            let make = || self.ascii_ends(&text[start..start + length]);
            ends |= match length {
                ..=memo::LONG => remembered(memo, text, start, length, make),
                _ => make(),
            } << first;
        }
        sink.ends(at, ends);
        rest.len().min(end as usize)
    }

    /// The ends of the tokens of one word.
    fn word(
        &self,
        text: &str,
        at: usize,
        end: usize,
        word: &mut Word,
        memo: &mut Memo,
        sink: &mut impl Sink,
    ) {
        let piece = &text[at..end];
        if piece.len() <= memo::LONG {
            let make = || self.word_ends(piece, word);
            sink.ends(at, remembered(memo, text.as_bytes(), at, piece.len(), make));
        } else {
            self.tokens(piece, word, |end, _| sink.ends(at + end - 1, 1));
        }
    }
}

/// The ends of the tokens of the word `text[at..at + length]`, of at most [`memo::LONG`] bytes.
#[inline(always)]
fn remembered(
    memo: &mut Memo,
    text: &[u8],
    at: usize,
    length: usize,
    make: impl FnOnce() -> u64,
) -> u64 {
    if length <= memo::SHORT {
        memo.ends(Key::of(text, at, length), make)
    } else {
        memo.long_ends(&text[at..at + length], make)
    }
}

impl Engine for WordPiece {
    fn walk(&self, text: &str, guard: &Guard<'_>, sink: &mut impl Sink) -> Result<()> {
        self.memos.with(|memo| self.pass(text, memo, guard, sink))
    }

    fn next_pretoken(&self, text: &str, at: usize) -> usize {
        let (end, _) = self.core(text.as_bytes(), at);
        self.characters.run(text.as_bytes(), end, BETWEEN)
    }

    fn count_piece(&self, pretoken: &str) -> Result<usize> {
        let (end, kind) = self.core(pretoken.as_bytes(), 0);
        let mut count = 0;
        match kind {
            ALONE => count = 1,
            WORD | MANY => self.tokens(&pretoken[..end], &mut Word::default(), |_, _| count += 1),
            _ => {}
        }
        Ok(count)
    }

    fn looks_ahead(&self, _: &str) -> bool {
        false
    }

    /// A space or line feed with an ASCII letter or digit behind: white space belongs to what stands
    /// before, and such a character starts a word.
    fn certain_start(&self, text: &str, from: usize) -> Option<usize> {
        let rest = text.as_bytes().get(from..)?;
        let mut blanks = memchr::memchr2_iter(b' ', b'\n', rest).map(|at| at + 1);
        let at = blanks.find(|&at| rest.get(at).is_some_and(u8::is_ascii_alphanumeric))?;
        Some(from + at)
    }

    fn encode(&self, text: &str, guard: &Guard<'_>) -> Result<(Vec<u32>, Vec<usize>)> {
        let (mut ids, mut ends) = (Vec::new(), Vec::new());
        let mut word = Word::default();
        let mut at = 0;
        let mut due = 0;
        while at < text.len() {
            if at >= due {
                guard.check()?;
                due = at + ASK;
            }
            let (end, kind) = self.core(text.as_bytes(), at);
            if kind & BETWEEN == 0 {
                self.tokens(&text[at..end], &mut word, |end, id| {
                    ids.push(id);
                    ends.push(at + end);
                });
            }
            at = end;
        }
        Ok((ids, ends))
    }
}

#[cfg(test)]
#[path = "word_piece_tests.rs"]
mod tests;
