//! The strategies of the core: checked settings, and one function over one text.
//!
//! * [`hierarchical`]: chunks with levels of groups above them

mod hierarchical;

use std::borrow::Cow;

use crate::blocks::{Blocks, Form, Format};
use crate::chars::CharIndex;
use crate::cuts::Level;
use crate::cuts::separators::Separator;
use crate::error::{Error, Result};
use crate::guard::Guard;
use crate::meaning::hierarchical::{Groups, Hierarchy};
use crate::meaning::pieces::{Piece, pieces, shown};
use crate::meaning::vectors::Vectors;
use crate::meaning::{Compared, Meaning, Reading};
use crate::pack::{Limit, Packed, Packer};
use crate::ruler::Ruler;
use crate::ruler::measured::Measured;
use crate::ruler::plain::{Bytes, Chars};
use crate::ruler::words::Words;
use crate::structure::clauses::{self, Clauses};
use crate::structure::cutting::{Cutting, Structure, Within, check};
use crate::structure::depth::Depth;
use crate::structure::prefix::Template;
use crate::structure::rows::{Rows, without_headers};
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
    /// At the document's own structure.
    Structural(Structural),
    /// At the rows of its tables.
    Rows(RowCuts),
    /// At its numbered clauses.
    Clauses(ClauseCuts),
    /// Where the vectors of its pieces say that it turns to something else.
    Meaning(Meaning),
    /// The largest meaningful pieces that fit, with levels of groups above them.
    Hierarchical(Hierarchy),
}

/// How a document is cut at the rows of its tables.
#[derive(Clone, Debug)]
pub struct RowCuts {
    /// How many of the first cells say which row it is.
    pub keys: usize,
    /// Whether tables have headers.
    pub header: bool,
    /// See [`Structural`].
    pub format: Format,
    /// See [`Structural`].
    pub template: Option<Template>,
}

/// How a document is cut at its clauses.
#[derive(Clone, Debug)]
pub struct ClauseCuts {
    /// Whether each item is a chunk.
    pub items: bool,
    /// What the text may call other documents.
    pub names: Vec<String>,
    /// The form of a text of which nothing else is known, if it is not to be told by the text.
    pub format: Option<Format>,
    /// See [`Structural`].
    pub template: Option<Template>,
}

/// How a document is cut at its structure.
#[derive(Clone, Debug)]
pub struct Structural {
    /// Which headings start a section.
    pub depth: Depth,
    /// About how many units a section should have, for [`Depth::Auto`].
    pub target: usize,
    /// The form of a text of which nothing else is known.
    pub format: Format,
    /// What stands before a chunk when it is embedded, where it counts towards the size.
    pub template: Option<Template>,
}

/// What a text is opened at of which nothing is known.
const RECURSIVE: [Level; 5] =
    [Level::Paragraph, Level::Line, Level::Sentence, Level::Word, Level::WordPart];
/// What the words of a block are opened at.
const WORDS: [Level; 3] = [Level::Sentence, Level::Word, Level::WordPart];

impl Strategy {
    /// Paragraphs, then lines, sentences, words and what UAX #29 sees inside words.
    #[must_use]
    pub fn recursive() -> Self {
        Self::Levels(RECURSIVE.to_vec())
    }

    /// The caller's separators, in order.
    #[must_use]
    pub fn separators(separators: Vec<Separator>) -> Self {
        Self::Levels(separators.into_iter().map(Level::Separator).collect())
    }

    /// Sentences; only one that is too large is opened.
    #[must_use]
    pub fn sentence() -> Self {
        Self::Levels(WORDS.to_vec())
    }
}

/// Each level that opens a piece takes a frame of the stack.
const MOST_LEVELS: usize = 256;

/// One text to cut, with what is known of it.
#[derive(Clone, Copy)]
pub struct Document<'a, 't> {
    /// The text.
    pub text: &'a Text<'t>,
    /// Its characters.
    pub index: &'a CharIndex<'t>,
    /// Its form.
    pub form: Form<'a>,
    /// Its title; empty where it has none.
    pub title: &'a str,
    /// The vectors of its pieces, where it is cut by them.
    pub vectors: Option<Vectors<'a>>,
    /// Its pieces, where they were found before: see [`Wanted::pieces`].
    pub pieces: &'a [Piece],
}

/// What has to be embedded before a text is cut.
#[derive(Default)]
pub struct Wanted {
    /// The spans, in order.
    pub spans: Vec<(usize, usize)>,
    /// The pieces that they stand for, so that they need not be found again; none where blocks had a
    /// say.
    pub pieces: Vec<Piece>,
}

/// What one text was cut into.
pub struct Made {
    /// The chunks.
    pub chunks: Vec<Packed>,
    /// What its blocks say of them, where blocks are known.
    pub structure: Option<Structure>,
    /// The pieces whose vectors were compared.
    pub compared: Vec<Compared>,
    /// The levels of groups above the chunks, the one next to them first.
    pub levels: Vec<Groups>,
}

impl From<(Vec<Packed>, Option<Structure>)> for Made {
    fn from((chunks, structure): (Vec<Packed>, Option<Structure>)) -> Self {
        Self { chunks, structure, compared: Vec::new(), levels: Vec::new() }
    }
}

/// What is done with one text under the ruler of its unit.
trait Task {
    type Answer;

    fn run<R: Ruler + ?Sized>(
        self,
        splitter: &Splitter,
        document: Document<'_, '_>,
        ruler: &R,
        count: &dyn Fn(&str) -> Result<usize>,
        guard: &Guard<'_>,
    ) -> Result<Self::Answer>;
}

/// Cutting it.
struct Cut;

impl Task for Cut {
    type Answer = Made;

    fn run<R: Ruler + ?Sized>(
        self,
        splitter: &Splitter,
        document: Document<'_, '_>,
        ruler: &R,
        count: &dyn Fn(&str) -> Result<usize>,
        guard: &Guard<'_>,
    ) -> Result<Made> {
        splitter.cut(document, ruler, count, guard)
    }
}

/// Finding the pieces that are embedded before it is cut.
struct Ask<'m>(&'m Meaning);

impl Task for Ask<'_> {
    type Answer = Wanted;

    fn run<R: Ruler + ?Sized>(
        self,
        splitter: &Splitter,
        document: Document<'_, '_>,
        ruler: &R,
        count: &dyn Fn(&str) -> Result<usize>,
        guard: &Guard<'_>,
    ) -> Result<Self::Answer> {
        let Document { text, form, title, .. } = document;
        let format = self.0.sections.map(|(_, format)| format);
        let Some(blocks) = form.blocks(text.str, format) else {
            let (pieces, _) = pieces(text, None, 0, text.len(), guard)?;
            let spans = shown(&pieces, self.0.buffer).collect();
            return Ok(Wanted { spans, pieces });
        };
        check(text.str, &blocks.blocks)?;
        let (limit, blocks, template) = (splitter.limit, &*blocks, self.0.template.as_ref());
        let cutting = Cutting { text, ruler, limit, guard, blocks, count, template, title };
        Ok(Wanted { spans: cutting.asked(self.0)?, pieces: Vec::new() })
    }
}

/// A strategy with its settings, checked.
#[derive(Clone)]
pub struct Splitter {
    strategy: Strategy,
    unit: Unit,
    limit: Limit,
    /// What documents may be cut by instead: see [`Splitter::route`].
    routes: Vec<Splitter>,
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
        Ok(Self { strategy, unit, limit, routes: Vec::new() })
    }

    /// The same with other ways to cut, of which each document names one.
    #[must_use]
    pub fn routed(self, routes: Vec<Splitter>) -> Self {
        Self { routes, ..self }
    }

    /// What a document is cut by that names a route; itself where it names none.
    #[must_use]
    pub fn route(&self, route: Option<u32>) -> &Self {
        route.and_then(|route| self.routes.get(route as usize)).unwrap_or(self)
    }

    /// The most units in a chunk.
    #[must_use]
    pub fn size(&self) -> usize {
        self.limit.size
    }

    /// Whether more than one thread can work on one text: only tokens are counted so.
    #[must_use]
    pub fn divides_a_text(&self) -> bool {
        matches!(self.unit, Unit::Tokens(_))
    }

    /// Cuts one text on up to `threads` threads; what its blocks say of the chunks comes along where
    /// blocks are known.
    pub fn split(
        &self,
        document: Document<'_, '_>,
        measure: Option<Measure<'_>>,
        threads: usize,
        guard: &Guard<'_>,
    ) -> Result<Made> {
        self.under_ruler(Cut, document, measure, threads, guard)
    }

    /// The spans of one text that have to be embedded before it is cut, in order.
    pub fn asked(
        &self,
        document: Document<'_, '_>,
        measure: Option<Measure<'_>>,
        threads: usize,
        guard: &Guard<'_>,
    ) -> Result<Wanted> {
        match &self.strategy {
            // Only sections are measured: whether they fit.
            Strategy::Meaning(meaning) if meaning.sections.is_none() => {
                let bytes = Bytes { len: document.text.len() };
                Ask(meaning).run(self, document, &bytes, &|text| Ok(text.len()), guard)
            }
            Strategy::Meaning(meaning) => {
                self.under_ruler(Ask(meaning), document, measure, threads, guard)
            }
            Strategy::Hierarchical(Hierarchy::Joined(_)) => {
                self.under_ruler(hierarchical::Ask, document, measure, threads, guard)
            }
            _ => Ok(Wanted::default()),
        }
    }

    fn under_ruler<T: Task>(
        &self,
        task: T,
        document: Document<'_, '_>,
        measure: Option<Measure<'_>>,
        threads: usize,
        guard: &Guard<'_>,
    ) -> Result<T::Answer> {
        let Document { text, index, .. } = document;
        match (&self.unit, measure) {
            (Unit::Bytes, _) => {
                let count = |text: &str| Ok(text.len());
                task.run(self, document, &Bytes { len: text.len() }, &count, guard)
            }
            (Unit::Chars, _) if text.ascii => {
                let count = |text: &str| Ok(text.len());
                task.run(self, document, &Bytes { len: text.len() }, &count, guard)
            }
            (Unit::Chars, _) => {
                let count = |text: &str| Ok(text.chars().count());
                task.run(self, document, &Chars::new(index), &count, guard)
            }
            (Unit::Words, _) => {
                let count = |text: &str| Words::new(text).size(0, text.len());
                task.run(self, document, &Words::new(text.str), &count, guard)
            }
            (Unit::Tokens(tokenizer), _) => {
                let count = |text: &str| tokenizer.count(text, guard);
                let ruler = tokenizer.measure(text.str, threads, guard)?;
                task.run(self, document, &*ruler, &count, guard)
            }
            (Unit::Measured, Some(measure)) => {
                // As of a chunk, the size of nothing is not asked for.
                let count = |text: &str| if text.is_empty() { Ok(0) } else { measure(text) };
                task.run(self, document, &Measured::new(text.str, measure), &count, guard)
            }
            (Unit::Measured, None) => {
                Err(Error::Internal("a measured unit was used without its function".into()))
            }
        }
    }

    fn cut<R: Ruler + ?Sized>(
        &self,
        document: Document<'_, '_>,
        ruler: &R,
        count: &dyn Fn(&str) -> Result<usize>,
        guard: &Guard<'_>,
    ) -> Result<Made> {
        let Document { text, form, title, .. } = document;
        let limit = self.limit;
        if let Strategy::Hierarchical(own) = &self.strategy {
            return self.hierarchical(own, document, ruler, count, guard);
        }
        let (format, template) = match &self.strategy {
            Strategy::Structural(own) => (Some(own.format), own.template.as_ref()),
            Strategy::Rows(own) => (Some(own.format), own.template.as_ref()),
            Strategy::Clauses(own) => {
                let format = own.format.unwrap_or_else(|| clauses::form(text.str));
                (Some(format), own.template.as_ref())
            }
            Strategy::Meaning(own) => {
                (own.sections.map(|(_, format)| format), own.template.as_ref())
            }
            _ => (None, None),
        };
        let vectors = document.vectors.unwrap_or(Vectors::new(&[], 0));
        let reading = Reading::new(vectors, document.pieces);
        let blocks = match form.blocks(text.str, format) {
            Some(blocks) => blocks,
            // What stands before its chunks is settled as where no block has a say.
            None if template.is_some() => Cow::Owned(Blocks::default()),
            None => {
                let packer = Packer::new(text, ruler, limit, guard);
                let Strategy::Meaning(meaning) = &self.strategy else {
                    return Ok((self.pack(packer)?, None).into());
                };
                let (blocks, template) = (&Blocks::default(), None);
                let cutting = Cutting { text, ruler, limit, guard, blocks, count, template, title };
                let opened =
                    cutting.opened(meaning, &reading, &[], (0, text.len()), &WORDS[1..])?;
                let chunks = packer.by_turns(&opened)?;
                let compared = reading.finish()?;
                return Ok(Made { compared, ..(chunks, None).into() });
            }
        };
        let known = match form {
            Form::In(format) => Some(format),
            Form::Unknown => format,
            Form::Read(_) => None,
        };
        let blocks = match &self.strategy {
            Strategy::Rows(own) if !own.header => Cow::Owned(without_headers(&blocks)),
            _ => blocks,
        };
        // Blocks that a caller handed in may be anything.
        check(text.str, &blocks.blocks)?;
        let (mut rows, mut found) = (None, None);
        let within = match &self.strategy {
            Strategy::Rows(own) => {
                let read = Rows::read(text.str, &blocks.blocks, known, own.keys);
                Within::Rows(rows.insert(read), &WORDS[1..])
            }
            Strategy::Clauses(own) => {
                let read = Clauses::read(text.str, &blocks, &own.names, guard)?;
                Within::Clauses(found.insert(read), own.items, &WORDS[1..])
            }
            Strategy::Meaning(own) => Within::Meaning(own, &reading, &WORDS[1..]),
            Strategy::Structural(own) => Within::Sections(own.depth, own.target, &WORDS[1..]),
            Strategy::Levels(levels) => match &levels[..] {
                [Level::Sentence, below @ ..] => Within::Sentences(below),
                levels => Within::Blocks(levels),
            },
            Strategy::Whole | Strategy::Window | Strategy::Hierarchical(_) => Within::Text,
        };
        let blocks = &*blocks;
        let cutting = Cutting { text, ruler, limit, guard, blocks, count, template, title };
        let (chunks, mut structure) = cutting.run(&within, |packer| self.pack(packer))?;
        structure.clauses = found;
        Ok(Made { compared: reading.finish()?, ..(chunks, Some(structure)).into() })
    }

    /// Packs a text of whose blocks nothing is known, or which have no say.
    fn pack<R: Ruler + ?Sized>(&self, packer: Packer<'_, '_, R>) -> Result<Vec<Packed>> {
        match &self.strategy {
            Strategy::Whole => packer.whole(),
            // A word is wider than a border: its windows are runs of whole words.
            Strategy::Window if matches!(self.unit, Unit::Words) => {
                packer.by_levels(&[Level::Word])
            }
            Strategy::Window => packer.by_windows(),
            Strategy::Levels(levels) => packer.by_levels(levels),
            Strategy::Structural(_)
            | Strategy::Rows(_)
            | Strategy::Clauses(_)
            | Strategy::Hierarchical(_)
            | Strategy::Meaning(_) => {
                Err(Error::Internal("a document is cut at its structure without blocks".into()))
            }
        }
    }
}
