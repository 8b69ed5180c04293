//! A tokenizer from a Hugging Face `tokenizer.json`, run by the crate `tokenizers`.
//!
//! What a file may hold and a count must not depend on is taken off: truncation, padding, and the
//! post-processor, whose special tokens are a constant per text and whose trimming of offsets
//! would hide where tokens end. Special strings that stand in a text are ordinary text.
//!
//! The crate takes a text in one go: most of a second for a megabyte, and 190 bytes of
//! memory for each of the text. So a long text is handed over in pieces where that is certain to change nothing.

use std::str::FromStr;

use tokenizers::{PostProcessor, PostProcessorWrapper, Tokenizer};

use super::pieces::{self, Cuts};
use crate::error::{Error, Result};
use crate::guard::Guard;

pub(crate) struct Foreign {
    tokenizer: Tokenizer,
    cuts: Cuts,
    /// Tokens that the file adds around a text.
    specials: usize,
}

impl Foreign {
    pub(crate) fn read(json: &str) -> Result<Self> {
        let fault = |fault: tokenizers::Error| {
            Error::Tokenizer(format!("tokenizer.json cannot be read: {fault}"))
        };
        let mut tokenizer = Tokenizer::from_str(json).map_err(fault)?;
        tokenizer.with_truncation(None).map_err(fault)?;
        tokenizer.with_padding(None);
        tokenizer.set_encode_special_tokens(true);
        let specials = tokenizer.get_post_processor().map_or(0, |added| added.added_tokens(false));
        tokenizer.with_post_processor(None::<PostProcessorWrapper>);
        let cuts = Cuts::of(&tokenizer);
        Ok(Self { tokenizer, cuts, specials })
    }

    #[cfg(test)]
    pub(super) fn cuts(&self) -> Cuts {
        self.cuts
    }

    /// What the file holds, for people.
    pub(super) fn kind(&self) -> String {
        pieces::describe(&self.tokenizer)
    }

    /// How texts are handed over, for people.
    pub(super) fn manner(&self) -> &'static str {
        match self.cuts {
            Cuts::Nowhere => "no cut is certain, so each text is encoded whole",
            _ => "long texts are encoded in pieces",
        }
    }

    /// Special tokens that the file adds around a text. No count holds them.
    pub(crate) fn specials(&self) -> usize {
        self.specials
    }

    /// How many tokens `text` has.
    pub(crate) fn count(&self, text: &str, guard: &Guard<'_>) -> Result<usize> {
        let mut count = 0;
        let mut at = 0;
        while at < text.len() {
            guard.check()?;
            let end = self.cuts.piece(text, at);
            let encoding = self.tokenizer.encode_fast(&text[at..end], false);
            count += encoding.map_err(cannot_encode)?.len();
            at = end;
        }
        Ok(count)
    }

    /// The ids of the tokens of `text`, specials left out, and the byte offset at which each ends.
    ///
    /// Of a text that was normalised, a token may be empty in the source, or lie before the one
    /// ahead of it; an end is never before the last.
    pub(crate) fn encode(&self, text: &str, guard: &Guard<'_>) -> Result<(Vec<u32>, Vec<usize>)> {
        self.encode_pieces(text, |text, at| self.cuts.piece(text, at), guard)
    }

    /// As [`Foreign::encode`]; `piece` tells where the piece of the text that starts at a place ends.
    pub(super) fn encode_pieces(
        &self,
        text: &str,
        piece: impl Fn(&str, usize) -> usize,
        guard: &Guard<'_>,
    ) -> Result<(Vec<u32>, Vec<usize>)> {
        let (mut ids, mut ends) = (Vec::new(), Vec::new());
        let mut last = 0;
        let mut at = 0;
        while at < text.len() {
            guard.check()?;
            let stop = piece(text, at);
            let encoding = self.tokenizer.encode(&text[at..stop], false).map_err(cannot_encode)?;
            ids.extend_from_slice(encoding.get_ids());
            ends.extend(encoding.get_offsets().iter().map(|&(_, end)| {
                last = (at + end).clamp(last, stop);
                last
            }));
            at = stop;
        }
        Ok((ids, ends))
    }

    pub(super) fn decode(&self, ids: &[u32]) -> Result<Vec<u8>> {
        self.tokenizer
            .decode(ids, false)
            .map(String::into_bytes)
            .map_err(|fault| Error::Tokenizer(format!("the ids cannot be decoded: {fault}")))
    }

    pub(super) fn vocabulary_size(&self) -> usize {
        self.tokenizer.get_vocab_size(true)
    }
}

fn cannot_encode(fault: tokenizers::Error) -> Error {
    Error::Tokenizer(format!("the tokenizer cannot encode a text: {fault}"))
}
