//! The engine against the crate.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::Tokenizer;
use super::super::engine::{Ends, Engine};
use super::super::foreign::Foreign;
use super::super::tests::{TEXTS, WORDPIECE};
use super::{GONE, MANY, WordPiece, read};
use crate::guard::Guard;
use crate::ruler::Ruler;
use crate::ruler::tokens::tests::ruler;

/// Tokens of all sorts; of many characters some forms are wanting, so that words are unknown.
fn tokens() -> Vec<String> {
    let mut tokens: Vec<String> = [
        "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "<unk>", "##", "@@",
    ]
    .into_iter()
    .chain(
        "the fox jump un unaff quick brown cafe caf\u{e9} na\u{ef}ve The HTTP HT it we".split(' '),
    )
    .chain("##es ##ed ##s ##aff ##able ##ff ##ly ##TP ##own ##\u{e9}s ##e\u{301}".split(' '))
    .chain(
        "@@able able \u{fc}ber stra\u{df}e ##\u{df}e \u{43f}\u{440}\u{438} ##\u{432}\u{435}\u{442}"
            .split(' '),
    )
    .chain(
        "\u{d55c}\u{ad6d} ##\u{c5b4} \u{1112}\u{1161} \u{1112}\u{1161}\u{11ab} ##\u{1100}\u{116e}"
            .split(' '),
    )
    .chain("i\u{307}s ##\u{307} \u{3c3}\u{3c2} ##\u{3c3} 20 ##26 1 ##0 2".split(' '))
    .map(str::to_owned)
    .collect();
    let singles = ('a'..='y')
        .chain('A'..='T')
        .chain('0'..='8')
        .chain("\u{e9}\u{e8}\u{e0}\u{130}\u{131}\u{df}\u{17f}\u{3b1}\u{3c3}\u{3c2}\u{439}\u{416}\u{436}".chars())
        .chain("\u{1100}\u{1161}\u{1112}\u{11ab}\u{116e}\u{d55c}\u{c5b4}\u{3042}\u{30ab}\u{ff21}\u{ff41}".chars())
        .chain("\u{301}\u{307}\u{323}\u{302e}\u{1d158}\u{1d165}\u{1d16d}\u{1d16e}\u{1d15e}\u{16ff0}\u{93e}\u{928}".chars())
        .chain("\u{0}\u{1}\u{7f}\u{85}\u{200b}\u{200d}\u{ad}\u{fffd}\u{e000}\u{1f600}\u{2212}\u{b4}\u{64b}".chars());
    for c in singles {
        tokens.push(c.to_string());
        if !matches!(c, 'q' | 'Q' | '\u{928}') {
            tokens.push(format!("##{c}"));
        }
    }
    let alone = "!\"#$%&'()*+,-./:;<=>?@[]^_`{|}\u{b7}\u{2014}\u{3002}\u{ff0c}\u{4e2d}\u{6587}\u{8c48}\u{f900}\u{20000}";
    tokens.extend(alone.chars().map(String::from));
    tokens.extend(["##\u{6587}", "##\u{4e2d}", "##-"].map(str::to_owned));
    tokens.sort();
    tokens.dedup();
    tokens
}

/// A file with all of [`tokens`] and a normalizer's settings.
fn file(clean_text: bool, chinese: bool, strip_accents: Option<bool>, lowercase: bool) -> Value {
    let mut file: Value = serde_json::from_str(WORDPIECE).unwrap();
    file["normalizer"] = json!({"type": "BertNormalizer", "clean_text": clean_text,
        "handle_chinese_chars": chinese, "strip_accents": strip_accents, "lowercase": lowercase});
    let vocab: serde_json::Map<_, _> =
        tokens().into_iter().zip(3..).map(|(token, id)| (token, json!(id))).collect();
    for added in file["added_tokens"].as_array_mut().unwrap() {
        added["id"] = vocab[added["content"].as_str().unwrap()].clone();
    }
    file["model"]["vocab"] = Value::Object(vocab);
    file
}

/// Files with all settings, and a few with other models.
fn files() -> Vec<Value> {
    let mut files = Vec::new();
    for bits in 0..24 {
        let strip_accents = [None, Some(true), Some(false)][bits / 8];
        files.push(file(bits & 1 == 0, bits & 2 == 0, strip_accents, bits & 4 == 0));
    }
    for (name, value) in [
        ("unk_token", json!("<unk>")),
        ("unk_token", json!("the")),
        ("continuing_subword_prefix", json!("")),
        ("continuing_subword_prefix", json!("@@")),
        ("continuing_subword_prefix", json!("no such")),
        ("max_input_chars_per_word", json!(3)),
        ("max_input_chars_per_word", json!(0)),
        ("max_input_chars_per_word", json!(4096)),
    ] {
        let mut other = file(true, true, None, name.starts_with('u'));
        other["model"][name] = value;
        files.push(other);
    }
    files
}

/// An engine and the crate.
struct Both {
    engine: Arc<WordPiece>,
    foreign: Foreign,
}

fn both() -> Vec<Both> {
    let both = files().into_iter().map(|file| {
        let (engine, _) = read(&file).unwrap();
        Both { engine: Arc::new(engine), foreign: Foreign::read(&file.to_string()).unwrap() }
    });
    both.collect()
}

impl Both {
    /// The end of the character that holds the byte before `end`, and of what is gone behind it.
    fn past_gone(&self, text: &str, end: usize) -> usize {
        let end = (end..).find(|&at| text.is_char_boundary(at)).unwrap();
        self.engine.characters.run(text.as_bytes(), end, GONE)
    }

    /// The engine's tokens of `text`, and that they are the crate's.
    fn same(&self, text: &str) {
        let guard = Guard::never();
        let (ids, ends) = self.engine.encode(text, &guard).unwrap();
        let (their_ids, their_ends) = self.foreign.encode(text, &guard).unwrap();
        let told = || format!("{text:?} {:?}", self.engine.characters.settings());
        assert_eq!(ids, their_ids, "{}", told());
        assert_eq!(self.engine.count(text, &guard).unwrap(), ids.len(), "{}", told());
        let mut walked = Ends::default();
        self.engine.walk(text, &guard, &mut walked).unwrap();
        assert_eq!(walked.0, ends, "{}", told());
        assert!(ends.is_sorted_by(|one, other| one < other), "{}", told());
        assert!(ends.last().is_none_or(|&end| end <= text.len()), "{}", told());
        // Of marks in another order the crate tells places that are none of theirs.
        let settings = self.engine.characters.settings();
        let moved = |c: char| {
            self.engine.characters.mapped(c).0 == MANY && !('\u{ac00}'..'\u{d7a4}').contains(&c)
        };
        if settings.strip_accents && text.chars().any(moved) {
            return;
        }
        for (&end, &theirs) in ends.iter().zip(&their_ends) {
            let theirs = self.past_gone(text, theirs);
            assert_eq!(self.past_gone(text, end), theirs, "{}", told());
            // Told in whole characters, unless many tokens come of one.
            assert!(end == theirs || !text.is_char_boundary(end), "{end} {}", told());
        }
    }

    /// Sizes of spans of `text` against counts of the slices.
    fn spans(&self, text: &str, spans: impl Iterator<Item = (usize, usize)>) {
        let guard = Guard::never();
        let ruler = ruler(&self.engine, text, 1);
        for (a, b) in spans {
            let slice = &text[a..b];
            let expected = self.engine.count(slice, &guard).unwrap();
            let told = || format!("{text:?} {a}..{b} {:?}", self.engine.characters.settings());
            assert_eq!(ruler.size(a, b).unwrap(), expected, "{}", told());
        }
    }

    /// The pretokens of `text` one by one, against the whole.
    fn pieces(&self, text: &str) {
        let (mut at, mut count) = (0, 0);
        while at < text.len() {
            let end = self.engine.next_pretoken(text, at);
            count += self.engine.count_piece(&text[at..end]).unwrap();
            at = end;
        }
        assert_eq!(count, self.engine.count(text, &Guard::never()).unwrap(), "{text:?}");
    }
}

const PARTS: &[&str] = &[
    "the",
    "The",
    "foxes",
    "unaffable",
    "UNAFFABLE",
    "quickly",
    "HTTPs",
    "it's",
    "q",
    "z",
    "caf\u{e9}s",
    "cafe\u{301}s",
    "e\u{301}\u{323}",
    "\u{301}",
    "\u{323}",
    "\u{130}stanbul",
    "\u{130}s",
    "stra\u{df}e",
    "\u{17f}",
    "\u{1e9e}",
    "\u{3a3}\u{3c2}",
    "\u{43f}\u{440}\u{438}\u{432}\u{435}\u{442}",
    "\u{439}",
    "\u{419}",
    "\u{416}",
    " ",
    " ",
    "  ",
    "\n",
    "\r\n",
    "\t",
    "\u{b}",
    "\u{c}",
    "\u{1c}",
    "\u{85}",
    "\u{a0}",
    "\u{2000}",
    "\u{2028}",
    "\u{3000}",
    "\u{180e}",
    "\u{0}",
    "\u{1}",
    "\u{7f}",
    "\u{ad}",
    "\u{200b}",
    "\u{200d}",
    "\u{feff}",
    "\u{fffd}",
    "\u{e000}",
    "\u{f0000}",
    "\u{378}",
    "\u{e0001}",
    ".",
    "!!",
    "##",
    "##s",
    "@@able",
    "-",
    "_",
    "$",
    "+",
    "^",
    "`",
    "|",
    "~",
    "[CLS]",
    "[UNK]",
    "\u{37e}",
    "\u{387}",
    "\u{1fef}",
    "\u{1ffd}",
    "\u{2260}",
    "=\u{338}",
    "\u{226e}",
    "\u{2329}",
    "\u{2014}",
    "\u{201c}",
    "\u{b7}",
    "\u{ff0c}",
    "\u{ff21}",
    "\u{ff41}\u{ff42}",
    "\u{ab}",
    "\u{bf}",
    "\u{4e2d}",
    "\u{4e2d}\u{6587}",
    "\u{8c48}",
    "\u{f900}",
    "\u{fa0e}",
    "\u{2f800}",
    "\u{20000}",
    "\u{9fff}",
    "\u{3042}",
    "\u{30ab}\u{3099}",
    "\u{30ac}",
    "\u{3002}",
    "\u{d55c}\u{ad6d}\u{c5b4}",
    "\u{d55c}",
    "\u{ac00}",
    "\u{1112}\u{1161}\u{11ab}",
    "\u{928}\u{92e}\u{938}\u{94d}\u{924}\u{947}",
    "\u{93e}",
    "\u{e33}",
    "\u{e31}",
    "\u{5e9}\u{5b8}",
    "\u{64b}",
    "\u{fb01}",
    "\u{1d15e}",
    "\u{1d160}",
    "\u{1d165}",
    "\u{1d16d}",
    "\u{1d16e}",
    "\u{302e}",
    "\u{302f}",
    "\u{16ff0}",
    "\u{344}",
    "\u{f73}",
    "\u{dd}",
    "\u{ddd}",
    "\u{212a}",
    "\u{212b}",
    "\u{1f600}",
    "\u{1f469}\u{200d}\u{1f680}",
    "\u{1f44d}\u{1f3fd}",
    "\u{661}",
    "\u{bd}",
    "\u{1e2ec}",
    "\u{1e94b}",
    "20",
    "2026",
    "100",
    "9",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "jumpedjumpedjumped",
    "\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}",
    "\u{d55c}\u{d55c}\u{d55c}\u{d55c}\u{d55c}\u{d55c}\u{d55c}",
];

fn nasty(most: usize) -> impl Strategy<Value = String> {
    let parts = proptest::collection::vec(proptest::sample::select(PARTS), 0..most);
    parts.prop_map(|parts| parts.concat())
}

/// Words around the length limit, of many kinds of characters, with what is gone inside.
fn runs() -> Vec<String> {
    let mut runs = Vec::new();
    for run in [
        "a",
        "\u{e9}",
        "\u{301}",
        "e\u{301}",
        "\u{d55c}",
        "\u{200b}",
        "a\u{200b}",
        "\u{1d15e}",
        "\u{302e}",
        "!",
        "\u{4e2d}",
        " ",
        "\u{1f600}",
        "\u{130}",
        "q",
    ] {
        for count in
            [1, 2, 14, 15, 16, 33, 34, 47, 48, 49, 50, 51, 63, 64, 65, 99, 100, 101, 130, 300]
        {
            for (head, tail) in
                [("", ""), ("x ", " x"), ("x", "\u{301}."), ("", "\u{200b} y"), ("-", "\u{3000}")]
            {
                runs.push(format!("{head}{}{tail}", run.repeat(count)));
            }
        }
    }
    runs
}

#[test]
fn texts_encode_as_by_the_crate() {
    let runs = runs();
    for both in both() {
        for text in TEXTS.iter().copied().chain(runs.iter().map(String::as_str)) {
            both.same(text);
            both.pieces(text);
        }
        let text = TEXTS.concat();
        both.same(&text.repeat(3));
        both.same(&PARTS.concat());
        both.same(&PARTS.join(" "));
    }
}

#[test]
fn every_character_between_letters() {
    let both = both();
    for start in
        (0..0x3000).chain(0xa000..0xa100).chain(0xf900..0xfb00).chain(0x1d100..0x1d200).step_by(64)
    {
        let chars = (start..start + 64).filter_map(char::from_u32);
        let text: String = chars.flat_map(|c| ['t', c, 'h', 'e', ' ']).collect();
        both.iter().step_by(3).for_each(|both| both.same(&text));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_text_encodes_as_by_the_crate(
        text in prop_oneof![nasty(40), nasty(8), "\\PC{0,60}", "[ -~\n]{0,200}", "[a-f\u{e9}\u{301}\u{200b} ]{0,150}"],
    ) {
        thread_local!(static BOTH: Vec<Both> = both());
        BOTH.with(|both| both.iter().for_each(|both| {
            both.same(&text);
            both.pieces(&text);
        }));
    }

    #[test]
    fn sizes_of_random_spans(
        text in nasty(60),
        spans in proptest::collection::vec((any::<proptest::sample::Index>(), any::<proptest::sample::Index>()), 10),
    ) {
        thread_local!(static BOTH: Vec<Both> = both());
        let borders = borders(&text);
        let spans: Vec<_> = spans.iter().map(|(one, other)| {
            let (one, other) = (*one.get(&borders), *other.get(&borders));
            (one.min(other), one.max(other))
        }).collect();
        BOTH.with(|both| both.iter().for_each(|both| both.spans(&text, spans.iter().copied())));
    }

    /// Both sides of a certain start, on their own, are as they were.
    #[test]
    fn certain_starts_are_certain(text in nasty(40)) {
        thread_local!(static BOTH: Vec<Both> = both());
        let guard = Guard::never();
        BOTH.with(|both| for Both { engine, .. } in both.iter().step_by(5) {
            let (_, whole) = engine.encode(&text, &guard).unwrap();
            let mut from = 0;
            while let Some(at) = engine.certain_start(&text, from) {
                let (_, mut ends) = engine.encode(&text[..at], &guard).unwrap();
                let (_, rest) = engine.encode(&text[at..], &guard).unwrap();
                ends.extend(rest.iter().map(|end| at + end));
                assert_eq!(&ends, &whole, "{text:?} {at}");
                from = at;
            }
        });
    }
}

fn borders(text: &str) -> Vec<usize> {
    (0..=text.len()).filter(|&at| text.is_char_boundary(at)).collect()
}

fn every_span(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let borders = borders(text);
    (0..borders.len()).flat_map(move |index| {
        let spans: Vec<_> = borders[index..].iter().map(|&b| (borders[index], b)).collect();
        spans
    })
}

#[test]
fn sizes_of_every_span() {
    let texts = [
        "the cafe\u{301}s, unaffable\u{200b}\u{301} \u{d55c}\u{ad6d}\u{c5b4}! \u{4e2d}\u{6587}\u{301}x \u{2260}\u{301}a \u{1d15e}\u{302e}\u{1d165}",
        "\u{301}\u{200b} \u{301}a\u{301} . \u{301}.\u{301} \u{85}b\u{85} \u{0}\u{1}c\u{fffd}d\u{2028}e",
        "  \u{130}s q\u{130}s-it's\r\n\tThe \u{3000} caf\u{e9}s UNAFFABLE",
    ];
    for both in both() {
        for text in TEXTS.iter().copied().filter(|text| text.len() < 120).chain(texts) {
            both.spans(text, every_span(text));
        }
    }
}

#[test]
fn parts_measured_by_several_threads_make_the_whole() {
    let seed = "Some words, 12345 of caf\u{e9}s.\n\nA line \r\n \u{200b} code(x)\ttab\n\u{6f22}\u{5b57} \u{301}end it's\n\n\n";
    let text = seed.repeat((2 << 20) / seed.len());
    let [both, ..] = &both()[..] else { panic!() };
    let one = ruler(&both.engine, &text, 1);
    for threads in [2, 3, 8] {
        let many = ruler(&both.engine, &text, threads);
        for at in (0..text.len()).step_by(997).filter(|&at| text.is_char_boundary(at)) {
            assert_eq!(one.size(0, at).unwrap(), many.size(0, at).unwrap());
            assert_eq!(one.ahead(at, 1000).unwrap(), many.ahead(at, 1000).unwrap());
        }
    }
}

#[test]
fn a_long_word_is_one_token_and_is_not_held() {
    let [both, ..] = &both()[..] else { panic!() };
    let guard = Guard::never();
    for run in ["a", "\u{e9}", "a\u{301}", "\u{1f600}", "\u{1d165}"] {
        let text = run.repeat(1_000_000);
        assert_eq!(both.engine.encode(&text, &guard).unwrap().1, [text.len()]);
        assert_eq!(both.engine.count(&text, &guard).unwrap(), 1);
    }
    let text = format!("a{}", "\u{301}\u{200b}".repeat(500_000));
    assert_eq!(both.engine.encode(&text, &guard).unwrap().1, [text.len()]);
    assert_eq!(both.engine.count(&text[1..], &guard).unwrap(), 0);
    assert_eq!(both.engine.count(&"!".repeat(1_000_000), &guard).unwrap(), 1_000_000);
}

/// Where the ends differ from the crate's: what is gone goes with what it stands behind.
#[test]
fn ends_take_in_what_is_gone() {
    let [both, ..] = &both()[..] else { panic!() };
    let ends = |text: &str| both.engine.encode(text, &Guard::never()).unwrap().1;
    let theirs = |text: &str| both.foreign.encode(text, &Guard::never()).unwrap().1;
    assert_eq!((ends("cafe\u{301} x"), theirs("cafe\u{301} x")), (vec![6, 8], vec![4, 8]));
    assert_eq!(
        (ends("un\u{301}aff\u{200b}.\u{301}"), theirs("un\u{301}aff\u{200b}.\u{301}")),
        (vec![10, 13], vec![7, 11])
    );
    assert_eq!((ends("\u{301}x"), theirs("\u{301}x")), (vec![3], vec![3]));
    // Three tokens of one syllable, at its three bytes.
    assert_eq!((ends("\u{ac04}"), theirs("\u{ac04}")), (vec![1, 2, 3], vec![3, 3, 3]));
}

#[test]
fn a_file_with_anything_else_is_left_to_the_crate_and_says_why() {
    let but = |change: &dyn Fn(&mut Value)| {
        let mut file = file(true, true, None, true);
        change(&mut file);
        Tokenizer::from_json(&file.to_string(), false).unwrap().engine()
    };
    assert_eq!(but(&|_| ()), "WordPiece, BertPreTokenizer: own engine");
    for (told, why) in [
        (but(&|file| file["normalizer"] = Value::Null), "texts are not normalised as in BERT"),
        (
            but(&|file| file["normalizer"] = json!({"type": "Lowercase"})),
            "texts are not normalised as in BERT",
        ),
        (
            but(&|file| file["pre_tokenizer"] = json!({"type": "Whitespace"})),
            "texts are not cut into words as in BERT",
        ),
        (
            but(&|file| file["model"]["unk_token"] = json!("[none]")),
            "it has no token for unknown words",
        ),
        (
            but(&|file| file["model"]["max_input_chars_per_word"] = json!(1_000_000)),
            "its words are not limited",
        ),
        (
            but(&|file| {
                let added = file["added_tokens"].as_array_mut().unwrap();
                added.push(
                    json!({"id": 999, "content": "tool", "single_word": false, "lstrip": false,
                    "rstrip": false, "normalized": true, "special": false}),
                );
            }),
            "a token is added that is looked for in normalised text",
        ),
    ] {
        assert!(told.contains(&format!("tokenizers crate ({why})")), "{told}");
    }
}

#[test]
fn a_text_with_an_added_token_is_left_to_the_crate() {
    let mut file = file(true, true, None, true);
    file["added_tokens"].as_array_mut().unwrap().push(json!({"id": 999, "content": "<Tool>",
        "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": false}));
    let tokenizer = Tokenizer::from_json(&file.to_string(), false).unwrap();
    assert!(tokenizer.engine().ends_with("own engine"));
    let foreign = Foreign::read(&file.to_string()).unwrap();
    let guard = Guard::never();
    for text in ["the <Tool> fox", "the <tool> fox", "[CLS] the"] {
        let theirs = foreign.encode(text, &guard).unwrap();
        assert_eq!(tokenizer.encode(text, &guard).unwrap(), theirs, "{text}");
    }
}
