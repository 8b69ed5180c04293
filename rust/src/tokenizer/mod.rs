//! From text to the ends of its tokens.
//!
//! `scan` cuts a text into pretokens (with the character classes of `classes`), `windows` does so 64 bytes
//! at a time where the text is ASCII (with the `masks` of such a stretch), `bpe` merges each
//! by the ranks of a `vocabulary` (`borders` tells where none will), `memo` remembers the short ones, `byte_pair` runs the three over
//! a text. `patterns` names the patterns there is a scanner for, `ranks` reads a caller's ranks and
//! `merges` those of a `tokenizer.json`. `word_piece` is the engine for tokenizers as in BERT, `unigram`
//! the one for those as in XLM-R and T5. `engine` says what such an engine is.
//! `file` chooses the road for a `tokenizer.json`. `foreign` is the road through the crate `tokenizers`
//! for any other tokenizer; `pieces` tells where a text may be cut on that road.
//! Rulers over spans of a text live in `ruler/`.

mod borders;
pub(crate) mod bpe;
mod byte_pair;
pub(crate) mod classes;
pub(crate) mod engine;
mod file;
pub(crate) mod foreign;
mod last_merge;
mod masks;
mod memo;
mod merges;
mod pairs;
pub(crate) mod patterns;
mod pieces;
mod ranks;
mod scan;
mod unigram;
mod vocabulary;
mod windows;
mod word_piece;
pub mod words;

use std::sync::{Arc, OnceLock};

use crate::error::{Error, Result};
use crate::guard::Guard;
use crate::ruler::tokens::{TokenMarks, TokenRuler};
use crate::ruler::{PAST, Ruler, reach};
use byte_pair::BytePair;
use engine::Engine;
use file::FromFile;
use patterns::Pattern;
use vocabulary::Vocabulary;

/// A bundled vocabulary, read once per process.
struct Shipped {
    pattern: Pattern,
    parts: &'static [&'static [u8]],
    /// An id among those of the tokens that is a special token's.
    hole: Option<u32>,
    read: OnceLock<Arc<BytePair>>,
}

impl Shipped {
    const fn new(pattern: Pattern, parts: &'static [&'static [u8]], hole: Option<u32>) -> Self {
        Self { pattern, parts, hole, read: OnceLock::new() }
    }
}

static R50K_MERGES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/r50k_base.merges"));
static P50K_MERGES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/p50k_base.merges"));
static CL100K_MERGES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/cl100k_base.merges"));
static O200K_MERGES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/o200k_base.merges"));

static R50K: Shipped = Shipped::new(Pattern::Gpt2, &[R50K_MERGES], None);
static P50K: Shipped = Shipped::new(Pattern::Gpt2, &[R50K_MERGES, P50K_MERGES], Some(50_256));
static CL100K: Shipped = Shipped::new(Pattern::Cl100k, &[CL100K_MERGES], None);
static O200K: Shipped = Shipped::new(Pattern::O200k, &[O200K_MERGES], None);

/// Names that differ in special tokens alone share a vocabulary, since no text holds such.
static SHIPPED: [(&str, &Shipped); 7] = [
    ("cl100k_base", &CL100K),
    ("o200k_base", &O200K),
    ("o200k_harmony", &O200K),
    ("gpt2", &R50K),
    ("r50k_base", &R50K),
    ("p50k_base", &P50K),
    ("p50k_edit", &P50K),
];

/// Encodes texts with one vocabulary. Cheap to clone; one may be used by many threads at once.
#[derive(Clone)]
pub struct Tokenizer(Kind);

#[derive(Clone)]
enum Kind {
    BytePair(Arc<BytePair>),
    File(Arc<FromFile>),
}

impl Tokenizer {
    /// The names [`Tokenizer::from_name`] knows.
    pub fn names() -> impl Iterator<Item = &'static str> {
        SHIPPED.iter().map(|&(name, _)| name)
    }

    /// The bundled tokenizer of this name.
    pub fn from_name(name: &str) -> Result<Self> {
        let Some(&(_, shipped)) = SHIPPED.iter().find(|(known, _)| *known == name) else {
            let known: Vec<_> = Self::names().collect();
            return Err(Error::Setting(format!(
                "no tokenizer is named {name:?}; the names known are {}",
                known.join(", ")
            )));
        };
        if let Some(ready) = shipped.read.get() {
            return Ok(Self(Kind::BytePair(ready.clone())));
        }
        let vocabulary = Vocabulary::read(shipped.parts, shipped.hole)?;
        let ready = Arc::new(BytePair::new(shipped.pattern, vocabulary));
        Ok(Self(Kind::BytePair(shipped.read.get_or_init(|| ready).clone())))
    }

    /// The tokenizer of the ranks in the text of a `.tiktoken` file, with a pattern's name or spelling.
    pub fn from_ranks(text: &[u8], pattern: &str) -> Result<Self> {
        let Some(pattern) = Pattern::find(pattern) else {
            let known: Vec<_> = Pattern::ALL.iter().map(|pattern| pattern.name()).collect();
            return Err(Error::Setting(format!(
                "pattern ({pattern:?}) is not one that cantle has a scanner for; those are {}",
                known.join(", ")
            )));
        };
        Ok(Self(Kind::BytePair(Arc::new(BytePair::new(pattern, ranks::read(text)?)))))
    }

    /// The tokenizer that a Hugging Face `tokenizer.json` describes.
    ///
    /// Its truncation and padding are left out. With `count_special`, every size includes the
    /// special tokens that the tokenizer puts around one text (`[CLS]`, `[SEP]`).
    pub fn from_json(json: &str, count_special: bool) -> Result<Self> {
        Ok(Self(Kind::File(Arc::new(FromFile::read(json, count_special)?))))
    }

    /// The name of the pattern that [`Tokenizer::from_ranks`] takes by this name or spelling.
    #[must_use]
    pub fn pattern_name(pattern: &str) -> Option<&'static str> {
        Pattern::find(pattern).map(Pattern::name)
    }

    /// How many tokens `text` has. An empty text has none.
    pub fn count(&self, text: &str, guard: &Guard<'_>) -> Result<usize> {
        match &self.0 {
            Kind::BytePair(engine) => engine.count(text, guard),
            Kind::File(file) => file.count(text, guard),
        }
    }

    /// The ids of the tokens of `text` and the byte offset at which each ends, specials left out.
    pub fn encode(&self, text: &str, guard: &Guard<'_>) -> Result<(Vec<u32>, Vec<usize>)> {
        match &self.0 {
            Kind::BytePair(engine) => engine.encode(text, guard),
            Kind::File(file) => file.encode(text, guard),
        }
    }

    /// The bytes that the tokens `ids` stand for.
    pub fn decode(&self, ids: &[u32]) -> Result<Vec<u8>> {
        let vocabulary = match &self.0 {
            Kind::BytePair(engine) => engine.vocabulary(),
            Kind::File(file) => return file.decode(ids),
        };
        let mut bytes = Vec::new();
        for &id in ids {
            let token = vocabulary.token_of(id).ok_or_else(|| {
                let end = vocabulary.id_end();
                let below = if (id as usize) < end {
                    "no text has it".to_owned()
                } else {
                    format!("ids are below {end}")
                };
                Error::Tokenizer(format!("{id} is no token; {below}"))
            })?;
            bytes.extend_from_slice(token);
        }
        Ok(bytes)
    }

    /// How many tokens the vocabulary holds. Of a bundled one, special tokens are not counted.
    pub fn vocab_size(&self) -> usize {
        match &self.0 {
            Kind::BytePair(engine) => engine.vocabulary().len(),
            Kind::File(file) => file.vocabulary_size(),
        }
    }

    /// Which road texts take, and why, for people.
    pub fn engine(&self) -> String {
        match &self.0 {
            Kind::BytePair(engine) => {
                format!("byte-level BPE, {} pattern: own engine", engine.pattern().name())
            }
            Kind::File(file) => file.told().to_owned(),
        }
    }

    /// What the caller should hear of, when the road is not the one that the file promises.
    #[must_use]
    pub fn warning(&self) -> Option<&str> {
        match &self.0 {
            Kind::BytePair(_) => None,
            Kind::File(file) => file.warning(),
        }
    }

    /// How many special tokens every size includes: those added around a text, when asked for.
    #[must_use]
    pub fn specials(&self) -> usize {
        match &self.0 {
            Kind::BytePair(_) => 0,
            Kind::File(file) => file.specials(),
        }
    }

    /// What one pass over `text`, on up to `threads` threads, finds for rulers over it.
    pub fn mark(&self, text: &str, threads: usize, guard: &Guard<'_>) -> Result<Marks> {
        match &self.0 {
            Kind::BytePair(engine) => {
                let bits = TokenMarks::new(&**engine, text, threads, guard)?;
                Ok(Marks(Found::Bits(Arc::new(bits))))
            }
            Kind::File(file) => file.mark(text, threads, guard).map(Marks),
        }
    }

    /// A ruler over `text`, from the marks that this tokenizer made of it.
    pub fn ruler<'t>(&self, text: &'t str, marks: &Marks) -> Result<Box<dyn Ruler + 't>> {
        match (&self.0, &marks.0) {
            (Kind::BytePair(engine), Found::Bits(bits)) => {
                Ok(Box::new(TokenRuler::new(engine.clone(), text, bits.clone())))
            }
            (Kind::BytePair(_), Found::Ends(_)) => {
                Err(Error::Internal("these marks are of another tokenizer".to_owned()))
            }
            (Kind::File(file), found) => file.ruler(text, found),
        }
    }

    /// A ruler over `text` in tokens, made on up to `threads` threads.
    pub fn measure<'t>(
        &self,
        text: &'t str,
        threads: usize,
        guard: &Guard<'_>,
    ) -> Result<Box<dyn Ruler + 't>> {
        self.ruler(text, &self.mark(text, threads, guard)?)
    }

    /// The byte offset, on a character boundary, of the longest beginning of `text` that has at most
    /// `n` tokens. Of the text no more is read than that takes.
    pub fn truncate(&self, text: &str, n: usize, guard: &Guard<'_>) -> Result<usize> {
        let mut read = n.saturating_mul(8).saturating_add(8 * PAST);
        loop {
            let part = &text[..text.floor_char_boundary(read.min(text.len()))];
            let ruler = self.measure(part, 1, guard)?;
            let end = reach(part, &*ruler, 0, n)?;
            // What lies well before the end of the part is the same with what follows.
            if part.len() == text.len() || end + 2 * PAST < part.len() {
                return Ok(end);
            }
            read = read.saturating_mul(4);
        }
    }
}

/// Where the tokens of one text end, as its tokenizer found them.
#[derive(Clone)]
pub struct Marks(Found);

#[derive(Clone)]
enum Found {
    /// By an engine of our own.
    Bits(Arc<TokenMarks>),
    /// By the crate `tokenizers`.
    Ends(Arc<Vec<usize>>),
}

impl Marks {
    /// How many tokens the text has, added specials left out.
    #[must_use]
    pub fn total(&self) -> usize {
        match &self.0 {
            Found::Bits(bits) => bits.total(),
            Found::Ends(ends) => ends.len(),
        }
    }
}

#[cfg(test)]
#[path = "tokenizer_tests.rs"]
pub(crate) mod tests;
