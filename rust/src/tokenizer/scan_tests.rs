//! The scanners against the reference's patterns, run by the reference's regex engine.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use fancy_regex::Regex;
use proptest::prelude::*;

use super::{Cl100k, Gpt2, Llama3, O200k, Qwen2, Scan};
use crate::tokenizer::classes;
use crate::tokenizer::patterns::Pattern;

/// One or more of every class that a pattern tells apart, of every length in UTF-8.
const ALPHABET: &[&str] = &[
    "a",
    "B",
    "s",
    "S",
    "t",
    "l",
    "v",
    "r",
    "e",
    "m",
    "'",
    "'",
    "\u{17f}",
    "\u{212a}",
    "1",
    "٣",
    "²",
    "Ⅷ",
    "𝟘",
    " ",
    " ",
    "\t",
    "\n",
    "\r",
    "\u{b}",
    "\u{85}",
    "\u{a0}",
    "\u{2003}",
    "\u{2028}",
    "\u{3000}",
    "\u{200b}",
    "\u{1c}",
    "\0",
    ".",
    "!",
    "/",
    "\u{301}",
    "\u{93f}",
    "ǅ",
    "ʰ",
    "ª",
    "中",
    "ß",
    "É",
    "ж",
    "𝒜",
    "𐐨",
    "😀",
    "\u{fe0f}",
    "\u{e0100}",
    "\u{e000}",
];

/// One character for every set of flags a character can have.
fn representatives() -> Vec<char> {
    let mut seen = BTreeSet::new();
    let mut buffer = [0; 4];
    (char::MIN..=char::MAX)
        .filter(|c| seen.insert(classes::class(c.encode_utf8(&mut buffer).as_bytes(), 0).0))
        .collect()
}

fn scanned<S: Scan>(text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut at = 0;
    while at < text.len() {
        at = S::next(text.as_bytes(), at);
        ends.push(at);
    }
    ends
}

fn matched(pattern: &Regex, text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    for found in pattern.find_iter(text) {
        let found = found.unwrap();
        assert_eq!(found.start(), ends.last().copied().unwrap_or(0), "the pattern skips no text");
        ends.push(found.end());
    }
    ends
}

/// Every pattern with its first spelling, and the other spellings.
struct Spelt {
    pattern: Pattern,
    first: Regex,
    others: Vec<Regex>,
}

static PATTERNS: LazyLock<Vec<Spelt>> = LazyLock::new(|| {
    let spelt = |pattern: Pattern| {
        let mut regexes = pattern.spellings().map(|spelling| Regex::new(spelling).unwrap());
        Spelt { pattern, first: regexes.next().unwrap(), others: regexes.collect() }
    };
    Pattern::ALL.into_iter().map(spelt).collect()
});

fn by_hand(pattern: Pattern, text: &str) -> Vec<usize> {
    match pattern {
        Pattern::Gpt2 => scanned::<Gpt2>(text),
        Pattern::Cl100k => scanned::<Cl100k>(text),
        Pattern::Llama3 => scanned::<Llama3>(text),
        Pattern::Qwen2 => scanned::<Qwen2>(text),
        Pattern::O200k => scanned::<O200k>(text),
    }
}

#[track_caller]
fn agree(text: &str) {
    for spelt in &*PATTERNS {
        let expected = matched(&spelt.first, text);
        assert_eq!(by_hand(spelt.pattern, text), expected, "{:?} {text:?}", spelt.pattern);
    }
}

/// As [`agree`], for every spelling.
#[track_caller]
fn agree_all(text: &str) {
    agree(text);
    for spelt in &*PATTERNS {
        for other in &spelt.others {
            assert_eq!(by_hand(spelt.pattern, text), matched(other, text), "{other} {text:?}");
        }
    }
}

#[test]
fn every_text_of_four_classes() {
    let mut alphabet = representatives();
    alphabet.extend(['\'', 's', ' ', '\u{17f}', '/', '\r']);
    assert!(alphabet.len() > 12);
    let mut text = String::new();
    for &a in &alphabet {
        for &b in &alphabet {
            for &c in &alphabet {
                for &d in &alphabet {
                    text.clear();
                    text.extend([a, b, c, d]);
                    agree(&text);
                }
            }
        }
    }
}

#[test]
fn every_character_in_a_few_places() {
    for c in char::MIN..=char::MAX {
        agree(&format!("{c}a{c}{c} {c}\n1{c}"));
    }
}

#[test]
fn every_text_of_three_classes_in_every_spelling() {
    let mut alphabet = representatives();
    alphabet.extend(['\'', 's', ' ', '/', '\r']);
    for &a in &alphabet {
        for &b in &alphabet {
            for &c in &alphabet {
                agree_all(&String::from_iter([a, b, c]));
            }
        }
    }
}

#[test]
fn contractions_whole_and_cut_short() {
    let quoted = ["s", "d", "m", "t", "ll", "ve", "re", "\u{17f}", "l", "v", "r", "lv", "el", "x"];
    for ending in quoted {
        for ending in [ending.to_owned(), ending.to_uppercase()] {
            for stem in ["", "it", "IT", "中", "1", " ", "!", "\u{301}", "don'"] {
                for tail in ["", "s", " ", "'s", "\n"] {
                    agree(&format!("{stem}'{ending}{tail}"));
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn random_texts(parts in proptest::collection::vec(proptest::sample::select(ALPHABET), 0..40)) {
        agree_all(&parts.concat());
    }

    #[test]
    fn runs(parts in proptest::collection::vec((proptest::sample::select(ALPHABET), 1usize..9), 0..9)) {
        let text: String = parts.iter().map(|(part, times)| part.repeat(*times)).collect();
        agree_all(&text);
    }
}
