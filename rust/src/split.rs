//! The strategies of the core: checked settings, and one function over one text.

use crate::chars::CharIndex;
use crate::cuts::Level;
use crate::cuts::separators::Separator;
use crate::error::{Error, Result};
use crate::guard::Guard;
use crate::pack::{Limit, Packed, Packer};
use crate::ruler::Ruler;
use crate::ruler::measured::Measured;
use crate::ruler::plain::{Bytes, Chars};
use crate::ruler::words::Words;
use crate::text::Text;
use crate::tokenizer::Tokenizer;

/// What a size is counted in.
#[derive(Clone)]
pub enum Unit {
    /// UTF-8 bytes.
    Bytes,
    /// Unicode code points.
    Chars,
    /// Runs of anything but White_Space.
    Words,
    /// Tokens of a tokenizer.
    Tokens(Tokenizer),
    /// Whatever the caller's function says; it comes with the call.
    Measured,
}

/// A caller's function from a text to its size.
pub type Measure<'m> = &'m dyn Fn(&str) -> Result<usize>;

/// How a text is cut.
#[derive(Clone, Debug)]
pub enum Strategy {
    /// Not at all: one chunk.
    Whole,
    /// Windows of a fixed number of units that move by `size - overlap`.
    Window,
    /// The largest meaningful pieces that fit, opened through these levels.
    Levels(Vec<Level>),
}

impl Strategy {
    /// Paragraphs, then lines, sentences, words and what UAX #29 sees inside words.
    #[must_use]
    pub fn recursive() -> Self {
        use Level::{Line, Paragraph, Sentence, Word, WordPart};
        Self::Levels(vec![Paragraph, Line, Sentence, Word, WordPart])
    }

    /// The caller's separators, in order.
    #[must_use]
    pub fn separators(separators: Vec<Separator>) -> Self {
        Self::Levels(separators.into_iter().map(Level::Separator).collect())
    }

    /// Sentences; only one that is too large is opened.
    #[must_use]
    pub fn sentence() -> Self {
        Self::Levels(vec![Level::Sentence, Level::Word, Level::WordPart])
    }
}

/// Each level that opens a piece takes a frame of the stack.
const MOST_LEVELS: usize = 256;

/// A strategy with its settings, checked.
#[derive(Clone)]
pub struct Splitter {
    strategy: Strategy,
    unit: Unit,
    limit: Limit,
}

impl Splitter {
    /// Checks the settings against each other.
    pub fn new(strategy: Strategy, unit: Unit, limit: Limit) -> Result<Self> {
        let Limit { size, overlap, min_size, .. } = limit;
        if size == 0 {
            return Err(Error::Setting("size (0) must be at least 1".into()));
        }
        if overlap >= size {
            return Err(Error::Setting(format!(
                "overlap ({overlap}) must be smaller than size ({size})"
            )));
        }
        if min_size > size {
            return Err(Error::Setting(format!(
                "min_size ({min_size}) must not be larger than size ({size})"
            )));
        }
        if let Strategy::Levels(levels) = &strategy
            && levels.len() > MOST_LEVELS
        {
            return Err(Error::Setting(format!(
                "separators has {} entries; at most {MOST_LEVELS} are taken",
                levels.len()
            )));
        }
        if let Unit::Tokens(tokenizer) = &unit {
            let added = tokenizer.specials();
            if added >= size {
                return Err(Error::Setting(format!(
                    "size ({size}) leaves no room for text: the tokenizer adds {added} special \
                     tokens and count_special is on"
                )));
            }
        }
        Ok(Self { strategy, unit, limit })
    }

    /// The most units in a chunk.
    #[must_use]
    pub fn size(&self) -> usize {
        self.limit.size
    }

    /// Cuts one text, whose character index is `index`, on up to `threads` threads.
    pub fn split(
        &self,
        text: &Text<'_>,
        index: &CharIndex<'_>,
        measure: Option<Measure<'_>>,
        threads: usize,
        guard: &Guard<'_>,
    ) -> Result<Vec<Packed>> {
        match (&self.unit, measure) {
            (Unit::Bytes, _) => self.pack(text, &Bytes { len: text.len() }, guard),
            (Unit::Chars, _) => self.pack(text, &Chars { index }, guard),
            (Unit::Words, _) => self.pack(text, &Words::new(text.str), guard),
            (Unit::Tokens(tokenizer), _) => {
                self.pack(text, &*tokenizer.measure(text.str, threads, guard)?, guard)
            }
            (Unit::Measured, Some(measure)) => {
                self.pack(text, &Measured::new(text.str, measure), guard)
            }
            (Unit::Measured, None) => {
                Err(Error::Internal("a measured unit was used without its function".into()))
            }
        }
    }

    fn pack<R: Ruler + ?Sized>(
        &self,
        text: &Text<'_>,
        ruler: &R,
        guard: &Guard<'_>,
    ) -> Result<Vec<Packed>> {
        let packer = Packer::new(text, ruler, self.limit, guard);
        match &self.strategy {
            Strategy::Whole => packer.whole(),
            // A word is wider than a border: its windows are runs of whole words.
            Strategy::Window if matches!(self.unit, Unit::Words) => {
                packer.by_levels(&[Level::Word])
            }
            Strategy::Window => packer.by_windows(),
            Strategy::Levels(levels) => packer.by_levels(levels),
        }
    }
}
