//! Sizes in tokens of any tokenizer, from one encoding of the whole text.
//!
//! The encoding gives positions to plan with. A size is settled by encoding the slice, since
//! nothing is known about where such a tokenizer may be cut.

use std::sync::Arc;

use super::Ruler;
use crate::error::{Error, Result};
use crate::guard::Guard;
use crate::tokenizer::foreign::Foreign;

/// Measures one text in tokens of a foreign tokenizer.
pub struct EncodedRuler<'t> {
    text: &'t str,
    tokenizer: Arc<Foreign>,
    /// Where each token ends; never falling, with repeats where one character came to many tokens.
    /// What lies between two ends belongs to the later token.
    ends: Arc<Vec<usize>>,
}

impl<'t> EncodedRuler<'t> {
    /// A ruler over `text`, whose tokens end at `ends`.
    pub(crate) fn new(tokenizer: Arc<Foreign>, text: &'t str, ends: Arc<Vec<usize>>) -> Self {
        Self { text, tokenizer, ends }
    }
}

impl Ruler for EncodedRuler<'_> {
    fn size(&self, a: usize, b: usize) -> Result<usize> {
        let slice = self
            .text
            .get(a..b)
            .ok_or_else(|| Error::Internal(format!("{a}..{b} is no span of the text measured")))?;
        self.tokenizer.count(slice, &Guard::never())
    }

    fn ahead(&self, a: usize, n: usize) -> Result<usize> {
        let Some(more) = n.checked_sub(1) else { return Ok(a) };
        let first = self.ends.partition_point(|&end| end <= a);
        Ok(self.ends.get(first.saturating_add(more)).copied().unwrap_or(self.text.len()))
    }

    fn behind(&self, b: usize, n: usize) -> Result<usize> {
        if n == 0 {
            return Ok(b);
        }
        let mut past = self.ends.partition_point(|&end| end <= b);
        let open = past == 0 || self.ends[past - 1] < b;
        if open && past < self.ends.len() {
            past += 1; // the token that `b` stands inside
        }
        // `past` tokens lie before `b`; the last of those left over ends where the answer starts.
        let Some(left) = past.checked_sub(n + 1) else { return Ok(0) };
        Ok(self.ends[left])
    }
}

#[cfg(test)]
#[path = "encoded_tests.rs"]
mod tests;
