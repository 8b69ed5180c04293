//! The hot paths of the core, each over texts that are made here and are the same in every run.
//!
//!     cargo bench -p cantle                       times, by divan
//!     python benches/instructions.py              instructions, by callgrind: steady on a busy machine
//!
//! `kernels --list` names the kernels; `kernels --once NAME` runs one of them once, after a first run
//! that fills what is kept between calls.

use std::hint::black_box;

use cantle::blocks::{Form, Format};
use cantle::chars::CharIndex;
use cantle::cuts::Level;
use cantle::guard::Guard;
use cantle::pack::Limit;
use cantle::split::{Document, Splitter, Strategy, Unit};
use cantle::text::Text;
use cantle::tokenizer::Tokenizer;

const BYTES: usize = 300_000;
const LONG: usize = 2_000_000;

const ENGLISH: &[&str] = &[
    "the",
    "of",
    "and",
    "to",
    "in",
    "a",
    "is",
    "that",
    "for",
    "it",
    "as",
    "was",
    "with",
    "be",
    "by",
    "on",
    "not",
    "he",
    "which",
    "or",
    "retrieval",
    "chunk",
    "documents",
    "splitter",
    "boundaries",
    "tokenizer",
    "measure",
    "sentence",
    "paragraphs",
    "throughput",
    "Internationally",
    "London",
    "2026",
    "3.14",
    "don't",
    "e.g.",
    "HTTP",
    "snake_case",
    "well-known",
];
const MIXED: &[&str] = &[
    "слово",
    "предложение",
    "и",
    "на",
    "текст",
    "λόγος",
    "κείμενο",
    "漢字の文章",
    "分割する",
    "中文文本",
    "한국어",
    "문장",
    "नमस्ते",
    "שלום",
    "العربية",
    "naïve",
    "straße",
    "café",
    "👍🏽",
    "word",
];

/// Texts of natural shape: words of unequal frequency, sentences, paragraphs.
fn text(words: &[&str], bytes: usize) -> String {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as usize % below
    };
    let mut text = String::with_capacity(bytes + 100);
    let mut sentence = 0;
    while text.len() < bytes {
        // The smaller of two places: the first words come most often.
        let word = words[next(words.len()).min(next(words.len()))];
        text.push_str(word);
        // A word of its own now and then, as texts have them.
        if next(12) == 0 {
            for _ in 0..2 + next(4) {
                text.push(char::from(b'a' + next(26) as u8));
            }
        }
        sentence += 1;
        match next(90) {
            0 => text.push_str(".\n\n"),
            1..=5 if sentence > 4 => {
                sentence = 0;
                text.push_str(". ");
            }
            6..=8 => text.push_str(", "),
            9 => text.push('\n'),
            _ => text.push(' '),
        }
    }
    text
}

fn code(bytes: usize) -> String {
    let line = ["    let value = self.items[index].map(|item| item.len() + 12);\n", "\n", "}\n"];
    let mut text = String::new();
    for (n, words) in text_words(bytes).enumerate() {
        text.push_str(line[n % 7 % 3]);
        text.push_str("    fn ");
        text.push_str(&words);
        text.push_str("(&mut self, n: usize) -> Option<&str> { self.find(n)? } // ");
        text.push_str(&words);
        text.push('\n');
        if text.len() > bytes {
            break;
        }
    }
    text
}

fn text_words(bytes: usize) -> impl Iterator<Item = String> {
    let words = text(ENGLISH, bytes);
    let words: Vec<_> =
        words.split_whitespace().map(|word| word.replace(['.', ','], "_")).collect();
    words.into_iter()
}

/// What is measured, and over which text.
type Kernel = (&'static str, fn() -> String, fn() -> Box<dyn Fn(&str)>);

const KERNELS: &[Kernel] = &[
    ("tokens cl100k english", || text(ENGLISH, BYTES), || tokens("cl100k_base")),
    ("tokens cl100k mixed", || text(MIXED, BYTES), || tokens("cl100k_base")),
    ("tokens cl100k code", || code(BYTES), || tokens("cl100k_base")),
    ("tokens o200k english", || text(ENGLISH, BYTES), || tokens("o200k_base")),
    ("tokens cl100k one letter", || "a".repeat(BYTES), || tokens("cl100k_base")),
    ("windows chars english", || text(ENGLISH, BYTES), || split(Strategy::Window, Unit::Chars)),
    ("windows chars mixed", || text(MIXED, BYTES), || split(Strategy::Window, Unit::Chars)),
    (
        "recursive chars english",
        || text(ENGLISH, BYTES),
        || split(Strategy::recursive(), Unit::Chars),
    ),
    ("recursive chars mixed", || text(MIXED, BYTES), || split(Strategy::recursive(), Unit::Chars)),
    ("windows of 1000 english", || text(ENGLISH, LONG), || split_by(Strategy::Window, 1000, 100)),
    ("windows of 1000 mixed", || text(MIXED, LONG), || split_by(Strategy::Window, 1000, 100)),
    (
        "recursive of 1000 english",
        || text(ENGLISH, LONG),
        || split_by(Strategy::recursive(), 1000, 0),
    ),
    ("recursive of 1000 mixed", || text(MIXED, LONG), || split_by(Strategy::recursive(), 1000, 0)),
    (
        "recursive tokens english",
        || text(ENGLISH, BYTES),
        || split(Strategy::recursive(), cl100k()),
    ),
    ("sentence tokens english", || text(ENGLISH, BYTES), || split(Strategy::sentence(), cl100k())),
    ("sentence ends mixed", || text(MIXED, BYTES), || cuts(Level::Sentence)),
    ("word parts mixed", || text(MIXED, BYTES), || cuts(Level::WordPart)),
    ("blocks markdown", || document("# Title ", "- item ", "\n\n"), || blocks(Format::Markdown)),
    ("blocks html", page, || Box::new(html)),
    ("blocks rst", || document("Title\n=====\n\n", "- item ", "\n\n"), || blocks(Format::Rst)),
    ("blocks text", || document("Title\n=====\n\n", "- item ", "\n\n"), || blocks(Format::Plain)),
    ("blocks csv", || document("", "\"a\", b, ", "\n"), || blocks(Format::Csv)),
    ("graphemes mixed", || text(MIXED, BYTES), || Box::new(graphemes)),
];

fn cl100k() -> Unit {
    Unit::Tokens(Tokenizer::from_name("cl100k_base").expect("it is bundled"))
}

fn tokens(name: &str) -> Box<dyn Fn(&str)> {
    let tokenizer = Tokenizer::from_name(name).expect("it is bundled");
    Box::new(move |text| {
        black_box(tokenizer.mark(text, 1, &Guard::never()).expect("any text has tokens").total());
    })
}

fn split(strategy: Strategy, unit: Unit) -> Box<dyn Fn(&str)> {
    split_to(strategy, unit, 400, 40)
}

/// Cuts a text to so many characters.
fn split_by(strategy: Strategy, size: usize, overlap: usize) -> Box<dyn Fn(&str)> {
    split_to(strategy, Unit::Chars, size, overlap)
}

fn split_to(strategy: Strategy, unit: Unit, size: usize, overlap: usize) -> Box<dyn Fn(&str)> {
    let limit = Limit { size, overlap, min_size: 0, trim: true };
    let splitter = Splitter::new(strategy, unit, limit).expect("the settings are sound");
    Box::new(move |text| {
        let ascii = text.is_ascii();
        let index = CharIndex::new(text, ascii);
        let whole = Text::new(text, ascii);
        let (form, title, vectors) = (Form::Unknown, "", None);
        let document = Document { text: &whole, index: &index, form, title, vectors, pieces: &[] };
        let chunks = splitter.split(document, None, 1, &Guard::never());
        black_box(chunks.expect("any text can be cut").chunks.len());
    })
}

fn cuts(level: Level) -> Box<dyn Fn(&str)> {
    Box::new(move |text| {
        let whole = Text::new(text, text.is_ascii());
        let mut cuts = Vec::new();
        level.cuts(&whole, 0, text.len(), &Guard::never(), &mut cuts).expect("any text has cuts");
        black_box(cuts.len());
    })
}

fn blocks(format: Format) -> Box<dyn Fn(&str)> {
    Box::new(move |text| {
        black_box(format.blocks(text).blocks.len());
    })
}

fn html(text: &str) {
    black_box(cantle::blocks::html::read(text).blocks.blocks.len());
}

/// Paragraphs, every fourth behind a title and every fourth an item.
fn document(title: &str, item: &str, end: &str) -> String {
    let english = text(ENGLISH, BYTES);
    let paragraphs = english.split("\n\n").enumerate();
    let marked = paragraphs.map(|(n, words)| {
        let mark = match n % 4 {
            0 => title,
            1 => item,
            _ => "",
        };
        [mark, words, end].concat()
    });
    marked.collect()
}

/// A page with the markup of one that is written by a generator.
fn page() -> String {
    let english = text(ENGLISH, BYTES);
    let paragraphs = english.split("\n\n").enumerate();
    let marked = paragraphs.map(|(n, words)| match n % 4 {
        0 => format!(
            "<section id=\"s{n}\"><h2>{}<a href=\"#s{n}\">&para;</a></h2>\n",
            &words[..words.len().min(30)]
        ),
        1 => format!("<ul class=\"simple\">\n<li><p>{words}</p></li>\n</ul></section>\n"),
        2 => format!("<p>{}</p>\n", words.replacen("the ", "<em>the</em> &amp; ", 4)),
        _ => format!("<table><tr><th>a</th><td>{words}</td></tr></table>\n"),
    });
    marked.collect()
}

fn graphemes(text: &str) {
    let whole = Text::new(text, text.is_ascii());
    let (mut at, mut count) = (0, 0);
    while at < text.len() {
        at = whole.graphemes.next(at);
        count += 1;
    }
    black_box(count);
}

/// What callgrind counts: nothing outside of this function.
#[inline(never)]
fn measured_kernel(run: &dyn Fn(&str), text: &str) {
    run(black_box(text));
    black_box(());
}

fn names() -> impl Iterator<Item = &'static str> {
    KERNELS.iter().map(|(name, ..)| *name)
}

#[divan::bench(args = names())]
fn kernel(bencher: divan::Bencher<'_, '_>, name: &str) {
    let (_, text, make) = KERNELS.iter().find(|(known, ..)| *known == name).expect("it is listed");
    let (text, run) = (text(), make());
    bencher
        .counter(divan::counter::BytesCount::of_str(&text))
        .bench_local(|| measured_kernel(&run, &text));
}

fn main() {
    let arguments: Vec<_> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("--list") => names().for_each(|name| println!("{name}")),
        Some("--once") => {
            let wanted = arguments.get(2).expect("--once NAME [FILE]");
            let kernel = KERNELS.iter().find(|(name, ..)| name == wanted);
            let (_, text, make) = kernel.expect("a name that --list prints");
            let own = |path| std::fs::read_to_string(path).expect("a file of text");
            let (text, run) = (arguments.get(3).map_or_else(text, own), make());
            run(&text);
            measured_kernel(&*run, &text);
        }
        _ => divan::main(),
    }
}
