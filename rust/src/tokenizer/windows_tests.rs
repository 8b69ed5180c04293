//! What windows tell is what the scanners find, which `scan_tests.rs` holds against the patterns.

use proptest::prelude::*;

use super::{Starts, WINDOW};
use crate::tokenizer::masks::Portable;
use crate::tokenizer::scan::{Cl100k, Gpt2, Llama3, O200k, Qwen2, Scan};

/// Of every class that a window tells apart, and some that it does not know.
const ALPHABET: &[&str] = &[
    "a", "B", "s", "T", "l", "L", "v", "r", "E", "m", "d", "'", "'", "1", "23", " ", " ", "  ",
    "\t", "\n", "\r", "\u{b}", "/", "!", "-", "\u{1c}", "\0", "\u{7f}", "word", "Word", "     ",
    "é", "\u{17f}", "\u{a0}", "\u{2003}", "—", "中", "٣", "\u{301}", "😀",
];

#[track_caller]
fn agree<S: Scan>(text: &str) {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut starts = Starts::new();
    while at < bytes.len() {
        starts.fill::<S, Portable>(bytes, at, bytes.len());
        let bounds = starts.bounds();
        assert!(bounds.len() > 1);
        let told: Vec<usize> = starts
            .stretches()
            .iter()
            .flat_map(|stretch| {
                (0..64).filter(|bit| stretch.starts >> bit & 1 != 0).map(|bit| stretch.at + bit)
            })
            .collect();
        assert_eq!(told, bounds[..bounds.len() - 1], "{text:?}");
        for pair in bounds.windows(2) {
            assert_eq!(pair[0], at, "{text:?}");
            at = S::next(bytes, at);
            assert_eq!(pair[1], at, "{text:?}");
        }
    }
}

#[track_caller]
fn agree_all(text: &str) {
    agree::<Gpt2>(text);
    agree::<Cl100k>(text);
    agree::<Llama3>(text);
    agree::<Qwen2>(text);
    agree::<O200k>(text);
}

/// `text` at the start of a window, with something behind that fills it.
#[track_caller]
fn agree_padded(text: &str) {
    for tail in [" a", "B", "\n", "!"] {
        agree_all(&format!("{text}{}", tail.repeat(WINDOW)));
    }
}

#[test]
fn every_text_of_five_classes() {
    let alphabet = ['s', 'T', '\'', '1', ' ', '\t', '\n', '/', '!', 'é'];
    let mut text = String::new();
    for number in 0..alphabet.len().pow(5) {
        text.clear();
        text.extend(
            (0..5).map(|place| alphabet[number / alphabet.len().pow(place) % alphabet.len()]),
        );
        agree_padded(&text);
    }
}

#[test]
fn contractions_at_every_place() {
    for ending in
        ["s", "S", "d", "m", "T", "ll", "lL", "Ve", "re", "\u{17f}", "l", "v", "lv", "x", "'s"]
    {
        for stem in ["it", "it'd", " ", "!", "\n", "1", "é"] {
            for tail in ["", "s", "B", " ", "'s", "'S's", "\n", "!"] {
                for before in 0..WINDOW + 8 {
                    let text = format!(
                        "{}{stem}'{ending}{tail}",
                        ". ".repeat(before / 2) + &"x"[before % 2..]
                    );
                    agree_all(&(text + &" word".repeat(WINDOW)));
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30_000))]

    #[test]
    fn random_texts(parts in proptest::collection::vec(proptest::sample::select(ALPHABET), 0..200)) {
        agree_all(&parts.concat());
    }

    #[test]
    fn ascii(text in "[a-cA-C's1-3 \n\r\t/!-]{60,200}") {
        agree_all(&text);
    }

    #[test]
    fn runs(parts in proptest::collection::vec((proptest::sample::select(ALPHABET), 1usize..70), 0..9)) {
        let text: String = parts.iter().map(|(part, times)| part.repeat(*times)).collect();
        agree_all(&text);
    }
}
