//! A tokenizer from a Hugging Face `tokenizer.json`: which road its texts take.
//!
//! There are two. The crate `tokenizers` reads every file and is exact, and slow (`foreign.rs`). Engines
//! of our own take the families that can be told by looking at the file: byte-level BPE with a known
//! pattern, WordPiece as in BERT, and Unigram as in XLM-R. An engine encodes [`PROBE`] when the file is
//! read, as the crate does; if they differ, it steps aside, and [`FromFile::warning`] says so.
//!
//! Two things in a file may bring a text on the slow road although its family has an engine. A string
//! that the file adds as a token but not as a special one (`<tool_call>`) is looked for in every text
//! before all else, so a text that holds one is left to the crate. So is a text that is not in the
//! normal form C, if the file brings texts to it. Slices of any other text are like it, so a text
//! stays on its road however it is cut.

use std::sync::Arc;

use aho_corasick::AhoCorasick;
use serde_json::Value;

use super::byte_pair::BytePair;
use super::engine::Engine;
use super::foreign::Foreign;
use super::unigram::{self, Unigram};
use super::word_piece::{self, WordPiece};
use super::{Found, merges};
use crate::error::{Error, Result};
use crate::guard::Guard;
use crate::ruler::Ruler;
use crate::ruler::encoded::EncodedRuler;
use crate::ruler::specials::WithSpecials;
use crate::ruler::tokens::{TokenMarks, TokenRuler};

/// What an engine must encode as the crate does before it is used.
const PROBE: &str = "Hello, world! It's the 3rd of May 2026; 1234567 DON'T we'll THEY'RE can't.\n\n\
    \tdef f(x):\r\n        return x**2  # caf\u{e9} na\u{ef}ve \u{130}stanbul stra\u{df}e \u{17f}\n   \n\
    https://example.org/a_b?c=1&d=%20 <|endoftext|> [CLS] </s> <unk> \u{2581}x C:\\dir e-mail@x.io\n\
    \u{4e2d}\u{6587}\u{5b57}\u{7b26}\u{ff0c}\u{65e5}\u{672c}\u{8a9e}\u{306e}\u{30c6}\u{30ad}\u{30b9}\u{30c8}\
    \u{3002}\u{d55c}\u{ad6d}\u{c5b4} \u{43f}\u{440}\u{438}\u{432}\u{435}\u{442} \u{3a9}\u{3bc}\u{3ad}\u{3b3}\u{3b1} \
    \u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{645}\u{631}\u{62d}\u{628}\u{627} \u{928}\u{92e}\u{938}\u{94d}\u{924}\u{947} \
    \u{e2a}\u{e27}\u{e31}\u{e2a}\u{e14}\u{e35} \u{1f469}\u{200d}\u{1f680}\u{1f44d}\u{1f3fd} \u{2014}\u{201c}q\u{201d}\u{2026}\
    \u{a0}\u{2003}x \u{fb01}n \u{ff21}\u{ff11} \u{bd} \u{2167} \u{663}\u{664} aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa \
    antidisestablishmentarianism XMLHttpRequest snake_case __init__ 3.14159e-10 $9,99 #!?&*()[]{}<>~`^|";

/// What an engine is made of, or why there is none.
pub(super) type Chosen<T> = std::result::Result<T, String>;

/// A tokenizer as its file describes it, without truncation, padding and added specials.
pub(crate) struct FromFile {
    foreign: Arc<Foreign>,
    road: Road,
    fit: Fit,
    /// Which road, and why, for people.
    told: String,
    warning: Option<String>,
    /// Special tokens that count towards each text that is not empty.
    specials: usize,
}

/// What takes the texts that `Fit` lets pass.
enum Road {
    BytePair(Arc<BytePair>),
    WordPiece(Arc<WordPiece>),
    Unigram(Arc<Unigram>),
    Crate,
}

/// One expression for every engine, another for the crate.
macro_rules! by_road {
    ($road:expr, $engine:ident => $own:expr, $theirs:expr) => {
        match $road {
            Road::BytePair($engine) => $own,
            Road::WordPiece($engine) => $own,
            Road::Unigram($engine) => $own,
            Road::Crate => $theirs,
        }
    };
}

/// Which texts an engine takes.
#[derive(Default)]
pub(super) struct Fit {
    /// Strings that are tokens before all else.
    added: Option<AhoCorasick>,
    /// Whether texts are brought to the normal form C.
    composed: bool,
}

impl Fit {
    /// `composed`: whether the file brings texts to the normal form C, and does nothing else to them.
    pub(super) fn of(file: &Value, composed: bool) -> Chosen<Self> {
        let added = file["added_tokens"].as_array().map_or(&[][..], Vec::as_slice);
        let taken = added.iter().filter(|token| token["special"] != true);
        let literals: Vec<_> = taken.filter_map(|token| token["content"].as_str()).collect();
        let added = if literals.is_empty() {
            None
        } else {
            Some(AhoCorasick::new(literals).map_err(|fault| format!("added tokens: {fault}"))?)
        };
        Ok(Self { added, composed })
    }

    fn takes(&self, text: &str) -> bool {
        let plain = !self.composed || is_composed(text);
        plain && !self.added.as_ref().is_some_and(|added| added.is_match(text))
    }
}

/// Whether a text is certain to be in the normal form C.
fn is_composed(text: &str) -> bool {
    use unicode_normalization::{IsNormalized, is_nfc_quick};
    text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes
}

/// The engine for a file and which texts it takes, or why there is none.
fn choose(file: &Value) -> Chosen<(Road, Fit)> {
    match file["model"]["type"].as_str() {
        Some("BPE") => {
            let (engine, fit) = merges::read(file)?;
            Ok((Road::BytePair(Arc::new(engine)), fit))
        }
        Some("WordPiece") => {
            let (engine, fit) = word_piece::read(file)?;
            Ok((Road::WordPiece(Arc::new(engine)), fit))
        }
        Some("Unigram") => {
            let (engine, fit) = unigram::read(file)?;
            Ok((Road::Unigram(Arc::new(engine)), fit))
        }
        _ => Err("there is no engine for this model".to_owned()),
    }
}

impl FromFile {
    pub(super) fn read(json: &str, count_special: bool) -> Result<Self> {
        let foreign = Foreign::read(json)?;
        let file = serde_json::from_str(json)
            .map_err(|fault| Error::Tokenizer(format!("tokenizer.json cannot be read: {fault}")))?;
        let mut warning = None;
        let chosen = choose(&file).and_then(|(road, fit)| {
            let asked = [PROBE, " ", "x", "\n\n x  "];
            let checked = asked.into_iter().try_for_each(|text| road.check(&foreign, text));
            if let Err(fault) = checked {
                warning = Some(format!(
                    "the engine for {} is not used: {fault}; texts take the exact road through \
                     the crate tokenizers",
                    foreign.kind()
                ));
                return Err("the engine differed from the crate".to_owned());
            }
            Ok((road, fit))
        });
        let kind = foreign.kind();
        let (road, fit, told) = match chosen {
            Ok((road, fit)) => (road, fit, format!("{kind}: own engine")),
            Err(why) => {
                let told = format!("{kind}: tokenizers crate ({why}); {}", foreign.manner());
                (Road::Crate, Fit::default(), told)
            }
        };
        let specials = if count_special { foreign.specials() } else { 0 };
        Ok(Self { foreign: Arc::new(foreign), road, fit, told, warning, specials })
    }

    pub(super) fn told(&self) -> &str {
        &self.told
    }

    pub(super) fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    pub(super) fn specials(&self) -> usize {
        self.specials
    }

    pub(super) fn vocabulary_size(&self) -> usize {
        self.foreign.vocabulary_size()
    }

    fn road_of(&self, text: &str) -> &Road {
        if self.fit.takes(text) { &self.road } else { &Road::Crate }
    }

    pub(super) fn count(&self, text: &str, guard: &Guard<'_>) -> Result<usize> {
        if text.is_empty() {
            return Ok(0);
        }
        let count = by_road!(
            self.road_of(text),
            engine => engine.count(text, guard)?,
            self.foreign.count(text, guard)?
        );
        Ok(count + self.specials)
    }

    pub(super) fn encode(&self, text: &str, guard: &Guard<'_>) -> Result<(Vec<u32>, Vec<usize>)> {
        by_road!(
            self.road_of(text),
            engine => engine.encode(text, guard),
            self.foreign.encode(text, guard)
        )
    }

    pub(super) fn decode(&self, ids: &[u32]) -> Result<Vec<u8>> {
        match &self.road {
            Road::BytePair(engine) => {
                let mut bytes = Vec::new();
                for &id in ids {
                    match engine.vocabulary().token_of(id) {
                        Some(token) => bytes.extend_from_slice(token),
                        None => bytes.extend(self.foreign.decode(&[id])?),
                    }
                }
                Ok(bytes)
            }
            _ => self.foreign.decode(ids),
        }
    }

    /// What one pass over `text` finds.
    pub(super) fn mark(&self, text: &str, threads: usize, guard: &Guard<'_>) -> Result<Found> {
        guard.check()?;
        Ok(by_road!(
            self.road_of(text),
            engine => Found::Bits(Arc::new(TokenMarks::new(&**engine, text, threads, guard)?)),
            Found::Ends(Arc::new(self.foreign.encode(text, guard)?.1))
        ))
    }

    /// A ruler over `text`, whose marks are given.
    pub(super) fn ruler<'t>(&self, text: &'t str, marks: &Found) -> Result<Box<dyn Ruler + 't>> {
        let inner: Box<dyn Ruler + 't> = match marks {
            Found::Ends(ends) => {
                Box::new(EncodedRuler::new(self.foreign.clone(), text, ends.clone()))
            }
            Found::Bits(bits) => by_road!(
                &self.road,
                engine => Box::new(TokenRuler::new(engine.clone(), text, bits.clone())),
                return Err(Error::Internal("these marks are of another tokenizer".to_owned()))
            ),
        };
        Ok(match self.specials {
            0 => inner,
            specials => Box::new(WithSpecials { specials, inner }),
        })
    }
}

impl Road {
    /// Whether the engine encodes `text` as the crate does.
    fn check(&self, foreign: &Foreign, text: &str) -> Chosen<()> {
        let guard = Guard::never();
        let own = by_road!(self, engine => engine.encode(text, &guard), return Ok(()));
        let (own, _) = own.map_err(|fault| fault.to_string())?;
        let (theirs, _) = foreign.encode(text, &guard).map_err(|fault| fault.to_string())?;
        if own == theirs {
            return Ok(());
        }
        let at = own.iter().zip(&theirs).take_while(|(one, other)| one == other).count();
        Err(format!(
            "its token {at} of a probe is {:?}, and {:?} by the crate",
            own.get(at),
            theirs.get(at)
        ))
    }
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
