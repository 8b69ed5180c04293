//! The pretoken patterns that are known, by name and by how they are spelt.

/// Which pattern cuts a text into pretokens. The scanners are in `scan.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    Gpt2,
    Cl100k,
    Llama3,
    Qwen2,
    O200k,
}

use Pattern::{Cl100k, Gpt2, Llama3, O200k, Qwen2};

/// Every spelling in use, the one of tiktoken 0.14 first where there is one. Those of one pattern
/// match the same stretches of every text: they differ in what backtracks.
const SPELLINGS: &[(Pattern, &str)] = &[
    (Gpt2, r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"),
    (Gpt2, r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"),
    (Gpt2, r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"),
    (Gpt2, r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"),
    (
        Cl100k,
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    ),
    // tiktoken before `\s++$` came in; it and the next are Llama 3's as well.
    (
        Llama3,
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+",
    ),
    (
        Llama3,
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
    (
        Qwen2,
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
    (
        O200k,
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
];

impl Pattern {
    /// All of them.
    pub(crate) const ALL: [Pattern; 5] = [Gpt2, Cl100k, Llama3, Qwen2, O200k];

    /// What it is called.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Gpt2 => "gpt2",
            Cl100k => "cl100k",
            Llama3 => "llama3",
            Qwen2 => "qwen2",
            O200k => "o200k",
        }
    }

    /// The pattern of this name or spelling.
    pub(crate) fn find(text: &str) -> Option<Self> {
        let named = Self::ALL.into_iter().find(|pattern| pattern.name() == text);
        named.or_else(|| {
            let spelt = SPELLINGS.iter().find(|(_, spelling)| *spelling == text);
            spelt.map(|&(pattern, _)| pattern)
        })
    }

    /// The pattern of this spelling in a `tokenizer.json`. There `$` is the end of a line, and `{1,3}+`
    /// means more than one such run, so a spelling that holds them is another pattern.
    pub(super) fn in_json(text: &str) -> Option<Self> {
        let same = !text.contains('$') && Self::ALL.iter().all(|pattern| pattern.name() != text);
        Self::find(text).filter(|_| same)
    }

    /// Its spellings.
    #[cfg(test)]
    pub(super) fn spellings(self) -> impl Iterator<Item = &'static str> {
        SPELLINGS.iter().filter(move |(pattern, _)| *pattern == self).map(|&(_, spelling)| spelling)
    }
}
