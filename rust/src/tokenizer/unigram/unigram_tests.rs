//! The engine against the crate.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::Tokenizer;
use super::super::engine::{Ends, Engine};
use super::super::foreign::Foreign;
use super::super::tests::TEXTS;
use super::{Unigram, read};
use crate::guard::Guard;
use crate::ruler::Ruler;
use crate::ruler::tokens::tests::ruler;
use crate::ruler::tokens::{TokenMarks, TokenRuler};

/// What a charsmap of the tests does: white space of all kinds, things that vanish, grow, shrink, come
/// apart in words, and clusters of which but the start is known.
const REPLACED: &[(&str, &str)] = &[
    ("\n", " "),
    ("\t", " "),
    ("\r", " "),
    ("\u{a0}", " "),
    ("\u{3000}", " "),
    ("\u{200b}", " "),
    ("\u{1}", ""),
    ("\u{200d}", ""),
    ("\u{ad}", ""),
    ("\u{fb01}", "fi"),
    ("\u{bd}", "1\u{2044}2"),
    ("\u{a8}", " \u{308}"),
    ("e\u{301}", "\u{e9}"),
    ("a\u{308}\u{304}", "\u{1df}"),
    ("\u{fdfa}", "abxab ab ab abxx ab"),
    ("\u{ff21}", "A"),
    ("\u{600}", "p"),
    ("\u{2122}", "TM"),
    ("\u{1100}\u{1161}", "\u{ac00}"),
    ("\u{2580}", "\u{2581}"),
    ("\u{2126}", "\u{3a9}"),
];

/// A charsmap in base64, a block of the double array for each node.
fn charsmap(replaced: &[(&str, &str)]) -> String {
    let mut replacements = Vec::new();
    // The root, then every node's block; block 0 holds the root alone.
    let mut nodes: Vec<Vec<u8>> = vec![Vec::new()];
    let mut units = vec![0u32; 2 * 256];
    let link = |from: usize, to: usize| ((from ^ to) as u32) << 10;
    units[0] = link(0, 256);
    for (string, new) in replaced {
        let mut block = 256;
        for (length, &byte) in (1..).zip(string.as_bytes()) {
            let path = &string.as_bytes()[..length];
            let at = block ^ usize::from(byte);
            block = match nodes.iter().position(|node| node == path) {
                Some(node) => (node + 1) * 256,
                None => {
                    nodes.push(path.to_vec());
                    let block = nodes.len() * 256;
                    units.resize(block + 256, 0);
                    units[at] = link(at, block) | u32::from(byte);
                    block
                }
            };
            if length == string.len() {
                units[at] |= 1 << 8;
                units[block] = replacements.len() as u32 | 1 << 31;
            }
        }
        replacements.extend(new.as_bytes());
        replacements.push(0);
    }
    let mut table = (4 * units.len() as u32).to_le_bytes().to_vec();
    table.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
    table.extend(replacements);
    encoded(&table)
}

fn encoded(bytes: &[u8]) -> String {
    const SIGNS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, i| bits << 8 | u32::from(*group.get(i).unwrap_or(&0)));
        for i in 0..4 {
            let sign = SIGNS[(bits >> (18 - 6 * i) & 0x3f) as usize] as char;
            text.push(if i > group.len() { '=' } else { sign });
        }
    }
    text
}

/// Scores that tie, tokens of several characters and of parts of clusters, and the unknown one.
fn usual() -> Value {
    json!([
        ["<s>", 0.0],
        ["<unk>", 0.0],
        ["\u{2581}", -2.0],
        ["a", -1.0],
        ["b", -1.0],
        ["ab", -2.0],
        ["\u{2581}a", -3.0],
        ["\u{2581}ab", -4.0],
        ["ba", -1.5],
        ["aba", -3.25],
        ["bab", -2.5],
        ["the", -3.1],
        ["\u{2581}the", -2.9],
        ["T", -4.0],
        ["M", -4.5],
        ["\u{e9}", -5.0],
        ["e", -4.2],
        ["\u{301}", -6.0],
        ["A", -4.0],
        ["1", -3.0],
        ["\u{2044}", -5.5],
        ["f", -3.75],
        ["fi", -3.7],
        ["\u{4e2d}", -7.0],
        ["\u{4e2d}\u{6587}", -8.0],
        ["\u{6587}\u{5b57}", -8.0],
        ["\u{ac00}", -6.5],
        [".", -2.25],
        ["...", -5.0],
        ["o", -3.3],
        ["in", -3.6],
        ["\u{2581}i", -4.4],
        ["n", -3.0],
    ])
}

/// Scores above zero, so that the unknown token is worth having; no U+2581; tokens twice.
fn odd() -> Value {
    json!([
        ["xy", 20.0],
        ["a", 11.0],
        ["b", 30.0],
        ["ab", 41.0],
        ["x", 100.0],
        ["?", 12.0],
        ["\u{2581}q", 15.0],
        ["a", 12.0],
        ["<unk>", 25.0],
        ["?!", 10.0],
        ["!?!", 10.0],
        ["", 50.0],
        ["t", 15.0],
        ["th", 30.0],
        ["he", 30.0],
    ])
}

/// A file of such a vocabulary.
fn file(vocabulary: &Value, unknown: usize, normalizer: &Value) -> Value {
    json!({
        "version": "1.0", "truncation": null, "padding": null, "post_processor": null, "decoder": null,
        "added_tokens": [
            {"id": 1, "content": "<s>", "single_word": true, "lstrip": true, "rstrip": true,
             "normalized": true, "special": true},
        ],
        "normalizer": normalizer,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "WhitespaceSplit"},
            {"type": "Metaspace", "replacement": "\u{2581}", "prepend_scheme": "always", "split": true},
        ]},
        "model": {"type": "Unigram", "unk_id": unknown, "vocab": vocabulary, "byte_fallback": false},
    })
}

/// An engine and the crate's tokenizer.
struct Both {
    engine: Arc<Unigram>,
    foreign: Foreign,
    /// Whether there is a charsmap.
    replaces: bool,
}

impl Both {
    fn of(file: &Value) -> Self {
        let (engine, _) = read(file).unwrap();
        let foreign = Foreign::read(&file.to_string()).unwrap();
        Self { engine: Arc::new(engine), foreign, replaces: !file["normalizer"].is_null() }
    }

    /// Each vocabulary, with and without a charsmap. The unknown token of one is a usual one.
    fn all() -> Vec<Self> {
        let map = json!({"type": "Precompiled", "precompiled_charsmap": charsmap(REPLACED)});
        let idle = json!({"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "});
        let steps = json!({"type": "Sequence", "normalizers": [map, idle]});
        [
            file(&usual(), 1, &map),
            file(&usual(), 27, &steps),
            file(&usual(), 1, &Value::Null),
            file(&odd(), 8, &map),
        ]
        .iter()
        .map(Self::of)
        .collect()
    }

    fn same(&self, text: &str) {
        let guard = Guard::never();
        let (ids, ends) = self.engine.encode(text, &guard).unwrap();
        let (theirs, their_ends) = self.foreign.encode(text, &guard).unwrap();
        assert_eq!(ids, theirs, "{text:?}");
        assert_eq!(self.engine.count(text, &guard).unwrap(), ids.len(), "{text:?}");
        // Of a text that starts with what is removed the crate tells other ends.
        if !(self.replaces && text.starts_with(['\u{1}', '\u{200d}', '\u{ad}'])) {
            assert_eq!(ends, their_ends, "{text:?}");
        }
        let mut bytes = Ends::default();
        self.engine.walk(text, &guard, &mut bytes).unwrap();
        let whole = |end: &usize| (*end..).find(|&at| text.is_char_boundary(at)).unwrap();
        assert_eq!(bytes.0.iter().map(whole).collect::<Vec<_>>(), ends, "{text:?}");
        // More tokens than bytes end in a character only where every byte has one.
        for pair in bytes.0.windows(2).filter(|pair| pair[0] == pair[1]) {
            let start = text[..whole(&pair[0])].char_indices().next_back().unwrap().0;
            assert!((start + 1..=pair[0]).all(|at| bytes.0.contains(&at)), "{text:?}");
        }
    }

    fn ruler<'t>(&self, text: &'t str) -> TokenRuler<'t, Unigram> {
        ruler(&self.engine, text, 1)
    }

    fn span(&self, ruler: &TokenRuler<'_, Unigram>, text: &str, a: usize, b: usize) {
        let expected = self.foreign.count(&text[a..b], &Guard::never()).unwrap();
        assert_eq!(ruler.size(a, b).unwrap(), expected, "{text:?} {a}..{b}");
    }

    fn every_span(&self, text: &str) {
        let ruler = self.ruler(text);
        let borders = borders(text);
        for (index, &a) in borders.iter().enumerate() {
            for &b in &borders[index..] {
                self.span(&ruler, text, a, b);
            }
        }
    }
}

fn borders(text: &str) -> Vec<usize> {
    (0..=text.len()).filter(|&at| text.is_char_boundary(at)).collect()
}

const PARTS: &[&str] = &[
    "a",
    "b",
    "ab",
    "abab",
    "x",
    "xy",
    "q",
    "the",
    " the",
    "T",
    "fi",
    "?!",
    "!?!",
    ".",
    "...",
    "<unk>",
    "<s>",
    " ",
    "  ",
    "\n",
    "\r\n",
    "\r",
    "\t",
    "\u{a0}",
    "\u{3000}",
    "\u{200b}",
    "\u{85}",
    "\u{2028}",
    "\u{1}",
    "\u{ad}",
    "\u{200d}",
    "\u{fb01}",
    "\u{bd}",
    "\u{a8}",
    "e",
    "\u{301}",
    "\u{308}",
    "\u{304}",
    "\u{951}",
    "\u{93f}",
    "\u{fdfa}",
    "\u{ff21}",
    "\u{600}",
    "\u{6dd}",
    "\u{2122}",
    "\u{1100}",
    "\u{1161}",
    "\u{11a8}",
    "\u{2580}",
    "\u{2581}",
    "\u{2126}",
    "\u{1f469}",
    "\u{1f1e8}",
    "\u{4e2d}",
    "\u{6587}",
    "\u{5b57}",
    "\0",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "babababababababa",
    "\u{4e2d}\u{6587}\u{5b57}\u{4e2d}\u{6587}",
];

#[test]
fn encodes_as_the_crate_does() {
    for both in Both::all() {
        TEXTS.iter().for_each(|text| both.same(text));
        for one in PARTS {
            both.same(one);
            for other in PARTS {
                both.same(&[one, *other].concat());
                both.same(&["x", one, other, "ab"].concat());
            }
        }
    }
}

#[test]
fn sizes_of_every_span() {
    for both in Both::all() {
        for text in TEXTS.iter().filter(|text| text.len() < 100) {
            both.every_span(text);
        }
        for parts in PARTS.chunks(4).chain(PARTS[17..].chunks(5)).chain(PARTS[31..].chunks(3)) {
            both.every_span(&parts.concat());
            both.every_span(&parts.join("\u{301}"));
            both.every_span(&parts.join(" "));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn encodes_any_text_as_the_crate_does(
        text in prop_oneof![
            proptest::collection::vec(proptest::sample::select(PARTS), 1..40).prop_map(|parts| parts.concat()),
            "\\PC{0,40}|[ -~\n]{0,80}|(\\s|[a-z']|e\u{301}|\\p{M}|\\p{Cc}){0,40}",
        ],
        spans in proptest::collection::vec((any::<proptest::sample::Index>(), any::<proptest::sample::Index>()), 5),
    ) {
        thread_local!(static ALL: Vec<Both> = Both::all());
        ALL.with(|all| for both in all {
            both.same(&text);
            let ruler = both.ruler(&text);
            let borders = borders(&text);
            for (one, other) in &spans {
                let (one, other) = (*one.get(&borders), *other.get(&borders));
                both.span(&ruler, &text, one.min(other), one.max(other));
            }
        });
    }

    /// Both sides of a certain start, on their own, are as they were.
    #[test]
    fn certain_starts_are_certain(
        parts in proptest::collection::vec(proptest::sample::select(PARTS), 1..40),
    ) {
        thread_local!(static ALL: Vec<Both> = Both::all());
        let text = parts.concat();
        ALL.with(|all| for Both { engine, .. } in all {
            let guard = Guard::never();
            let (whole, _) = engine.encode(&text, &guard).unwrap();
            let mut from = 0;
            while let Some(at) = engine.certain_start(&text, from) {
                let (mut ids, _) = engine.encode(&text[..at], &guard).unwrap();
                ids.extend(engine.encode(&text[at..], &guard).unwrap().0);
                assert_eq!(ids, whole, "{text:?} {at}");
                from = at;
            }
        });
    }
}

/// Words longer than what is settled at once, with a token at every place, and with unknown ones across.
#[test]
fn long_words_are_settled_as_they_go() {
    for both in Both::all() {
        for unit in [
            "ab",
            "x",
            "ab.x",
            "aab",
            "\u{4e2d}\u{6587}\u{5b57}",
            "\u{bd}",
            "\u{2581}ab",
            "\u{fdfa}",
        ] {
            both.same(&unit.repeat(14_000 / unit.len()));
        }
        both.same(&format!("{}{}{}", "a".repeat(4090), "q".repeat(20), "b".repeat(9000)));
    }
}

#[test]
fn positions_are_those_of_the_whole_encoding() {
    let text = "q\u{fdfa}\u{fdfa} x \u{bd}q \u{fdfa}ab the  \n";
    for both in Both::all() {
        let ruler = both.ruler(text);
        let mut ends = Ends::default();
        both.engine.walk(text, &Guard::never(), &mut ends).unwrap();
        for at in 0..=text.len() {
            let first = ends.0.partition_point(|&end| end <= at);
            let last = ends.0.partition_point(|&end| end < at);
            for n in 1..40 {
                let ahead = ends.0.get(first + n - 1).copied().unwrap_or(text.len());
                assert_eq!(ruler.ahead(at, n).unwrap(), ahead, "ahead {at} {n}");
                let behind = last.checked_sub(n).map_or(0, |index| ends.0[index]);
                assert_eq!(ruler.behind(at, n).unwrap(), behind, "behind {at} {n}");
            }
        }
    }
}

#[test]
fn parts_measured_by_several_threads_make_the_whole() {
    let text = "the \u{fdfa} ab\n\u{bd} q\u{3000}x fi.\u{fdfa} ".repeat(60_000);
    for both in Both::all() {
        let marks =
            |threads| TokenMarks::new(&*both.engine, &text, threads, &Guard::never()).unwrap();
        assert!(marks(1) == marks(3));
    }
}

#[test]
fn a_file_with_anything_else_is_left_to_the_crate_and_says_why() {
    let map = json!({"type": "Precompiled", "precompiled_charsmap": charsmap(REPLACED)});
    let plain = file(&usual(), 1, &map);
    let told = |file: &Value| Tokenizer::from_json(&file.to_string(), false).unwrap().engine();
    assert_eq!(told(&plain), "Unigram, WhitespaceSplit + Metaspace: own engine");
    let but = |change: &dyn Fn(&mut Value)| {
        let mut file = plain.clone();
        change(&mut file);
        told(&file)
    };
    let added = json!({"id": 99, "content": "<x>", "single_word": false, "lstrip": false,
        "rstrip": false, "normalized": true, "special": false});
    for (told, why) in [
        (
            but(&|file| file["model"]["byte_fallback"] = json!(true)),
            "the model falls back to bytes",
        ),
        (but(&|file| file["model"]["unk_id"] = Value::Null), "it has no unknown token"),
        (
            but(&|file| file["normalizer"] = json!({"type": "NFKC"})),
            "texts are normalised by more than a charsmap",
        ),
        (
            but(&|file| file["pre_tokenizer"] = file["pre_tokenizer"]["pretokenizers"][1].take()),
            "its pre-tokenizer is not one of words with U+2581",
        ),
        (
            but(&|file| {
                file["pre_tokenizer"]["pretokenizers"][1]["prepend_scheme"] = json!("first");
            }),
            "its pre-tokenizer is not one of words with U+2581",
        ),
        (
            but(&|file| file["added_tokens"] = json!([added])),
            "an added token is looked for in what is normalised",
        ),
    ] {
        assert!(told.contains(&format!("tokenizers crate ({why})")), "{told}");
    }
}
