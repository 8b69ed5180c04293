//! The roads of a file, each against the crate.

use proptest::prelude::*;
use serde_json::{Value, json};
use tokenizers::TokenizerBuilder;
use tokenizers::models::bpe::{BPE, BpeTrainerBuilder};
use tokenizers::pre_tokenizers::byte_level::ByteLevel;

use super::super::Tokenizer;
use super::super::foreign::Foreign;
use super::super::patterns::Pattern;
use super::super::tests::{TEXTS, WORDPIECE};
use super::FromFile;
use crate::guard::Guard;

/// A byte-level BPE trained on the test texts, as a file.
fn trained() -> Value {
    let mut trainer = BpeTrainerBuilder::new()
        .show_progress(false)
        .vocab_size(700)
        .initial_alphabet(ByteLevel::alphabet().into_iter().collect())
        .build();
    let mut tokenizer = TokenizerBuilder::<
        BPE,
        tokenizers::NormalizerWrapper,
        ByteLevel,
        tokenizers::PostProcessorWrapper,
        tokenizers::DecoderWrapper,
    >::new()
    .with_model(BPE::default())
    .with_normalizer(None)
    .with_pre_tokenizer(Some(ByteLevel::new(false, true, true)))
    .with_post_processor(None)
    .with_decoder(None)
    .build()
    .unwrap();
    let texts = TEXTS.iter().flat_map(|text| [*text; 3]);
    tokenizer.train(&mut trainer, texts.map(str::to_owned)).unwrap();
    serde_json::from_str(&tokenizer.to_string(false).unwrap()).unwrap()
}

/// `file` with a known pattern in place of its own.
fn with_pattern(file: &Value, pattern: Pattern, behavior: &str, invert: bool) -> Value {
    let spelling = pattern.spellings().last().unwrap();
    let mut file = file.clone();
    file["pre_tokenizer"] = json!({"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": spelling}, "behavior": behavior, "invert": invert},
        {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false},
    ]});
    file
}

fn read(file: &Value) -> FromFile {
    FromFile::read(&file.to_string(), false).unwrap()
}

/// The engine's tokens of `text`, and that they are the crate's.
fn same(file: &FromFile, text: &str) {
    let guard = Guard::never();
    let (ids, ends) = file.encode(text, &guard).unwrap();
    let (theirs, their_ends) = file.foreign.encode(text, &guard).unwrap();
    assert_eq!(ids, theirs, "{text:?}");
    assert_eq!(file.count(text, &guard).unwrap(), ids.len(), "{text:?}");
    // The crate tells ends in whole characters.
    let whole = |end: &usize| (*end..).find(|&at| text.is_char_boundary(at)).unwrap();
    let ends: Vec<_> = ends.iter().map(whole).collect();
    assert_eq!(ends, their_ends, "{text:?}");
}

/// Files that an engine takes: each pattern, merges listed in both ways, a normal form.
fn taken() -> Vec<FromFile> {
    let plain = trained();
    let known = Pattern::ALL.into_iter().filter(|pattern| *pattern != Pattern::Cl100k);
    let mut files: Vec<_> =
        known.map(|pattern| with_pattern(&plain, pattern, "Isolated", false)).collect();
    files.push(with_pattern(&plain, Pattern::Llama3, "Removed", true));
    let mut composed = with_pattern(&plain, Pattern::Qwen2, "Isolated", false);
    composed["normalizer"] = json!({"type": "NFC"});
    composed["model"]["ignore_merges"] = json!(true);
    composed["added_tokens"] = json!([
        {"id": 700, "content": "<tool>", "single_word": false, "lstrip": false, "rstrip": false,
         "normalized": false, "special": false},
        {"id": 701, "content": "<|end|>", "single_word": false, "lstrip": false, "rstrip": false,
         "normalized": false, "special": true},
    ]);
    files.push(composed);
    let mut spaced = plain.clone();
    let merges = plain["model"]["merges"].as_array().unwrap().iter();
    let merges = merges.map(|pair| match pair {
        Value::String(pair) => json!(pair),
        pair => json!(format!("{} {}", pair[0].as_str().unwrap(), pair[1].as_str().unwrap())),
    });
    spaced["model"]["merges"] = merges.collect();
    files.extend([plain, spaced]);
    let files: Vec<_> = files.iter().map(read).collect();
    for file in &files {
        assert!(file.told().ends_with(": own engine"), "{}", file.told());
        assert_eq!(file.warning(), None);
    }
    files
}

#[test]
fn engines_encode_as_the_crate_does() {
    for file in taken() {
        for text in TEXTS {
            same(&file, text);
            same(&file, &text.replace("the", "<tool>the<|end|>"));
        }
    }
}

proptest! {
    #[test]
    fn engines_encode_any_text_as_the_crate_does(
        text in "\\PC{0,60}|[ -~\n]{0,120}|(\\s|[a-z']|e\u{301}|\u{fa1e}|\u{f900}){0,60}",
    ) {
        thread_local!(static FILES: Vec<FromFile> = taken());
        FILES.with(|files| files.iter().for_each(|file| same(file, &text)));
    }
}

#[test]
fn a_token_that_no_merge_makes_is_met_whole_or_never() {
    let mut file = trained();
    file["model"]["vocab"]["\u{120}zqxj"] = json!(9999);
    for (ignored, ids) in [(true, 1), (false, 5)] {
        file["model"]["ignore_merges"] = json!(ignored);
        let tokenizer = read(&file);
        assert!(tokenizer.told().ends_with("own engine"));
        assert_eq!(tokenizer.encode(" zqxj", &Guard::never()).unwrap().0.len(), ids);
        same(&tokenizer, " zqxj zqxj");
    }
}

/// Such a token would be merged inside a longer pretoken as well.
#[test]
fn a_token_of_two_bytes_that_no_merge_makes_has_no_engine() {
    let mut file = trained();
    file["model"]["ignore_merges"] = json!(true);
    file["model"]["vocab"]["qz"] = json!(9999);
    let told = read(&file).told().to_owned();
    assert!(told.contains("has a token of two that no merge makes"), "{told}");
    file["model"]["ignore_merges"] = json!(false);
    let tokenizer = read(&file);
    assert!(tokenizer.told().ends_with("own engine"));
    same(&tokenizer, "qz xqzx");
}

#[test]
fn a_file_with_anything_else_is_left_to_the_crate_and_says_why() {
    let plain = trained();
    let but = |change: &dyn Fn(&mut Value)| {
        let mut file = plain.clone();
        change(&mut file);
        read(&file).told().to_owned()
    };
    for (told, why) in [
        (but(&|file| file["normalizer"] = json!({"type": "NFKC"})), "texts are normalised"),
        (but(&|file| file["model"]["dropout"] = json!(0.5)), "the model has a dropout"),
        (
            but(&|file| file["pre_tokenizer"]["add_prefix_space"] = json!(true)),
            "its pre-tokenizer has no scanner",
        ),
        (
            but(&|file| {
                *file = with_pattern(file, Pattern::Gpt2, "Isolated", false);
                file["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = json!("\\w+|\\W");
            }),
            "its pattern is none that there is a scanner for",
        ),
        (
            but(&|file| *file = with_pattern(file, Pattern::Cl100k, "Isolated", false)),
            "its pattern is none that there is a scanner for",
        ),
        (
            but(&|file| *file = with_pattern(file, Pattern::Gpt2, "MergedWithNext", false)),
            "its pattern is none that there is a scanner for",
        ),
    ] {
        assert!(told.contains(&format!("tokenizers crate ({why})")), "{told}");
    }
}

/// What an engine of one kind gives for another kind of file, so as to see the check at work.
#[test]
fn an_engine_that_differs_steps_aside() {
    let file = read(&with_pattern(&trained(), Pattern::Gpt2, "Isolated", false));
    let other = Foreign::read(WORDPIECE).unwrap();
    let fault = file.road.check(&other, "The fox").unwrap_err();
    assert!(fault.starts_with("its token 0 of a probe is Some("), "{fault}");
}

#[test]
fn added_specials_count_where_asked_for() {
    let mut file = trained();
    file["post_processor"] = json!({"type": "BertProcessing", "sep": ["a", 64], "cls": ["b", 65]});
    let with = Tokenizer::from_json(&file.to_string(), true).unwrap();
    let without = Tokenizer::from_json(&file.to_string(), false).unwrap();
    let guard = Guard::never();
    let text = "The foxes jumped. ";
    let bare = without.count(text, &guard).unwrap();
    assert_eq!(with.count(text, &guard).unwrap(), bare + 2);
    assert_eq!(with.count("", &guard).unwrap(), 0);
    let (with, without) =
        (with.measure(text, 1, &guard).unwrap(), without.measure(text, 1, &guard).unwrap());
    for (a, b) in [(0, text.len()), (4, 9), (3, 3)] {
        let extra = if a == b { 0 } else { 2 };
        assert_eq!(with.size(a, b).unwrap(), without.size(a, b).unwrap() + extra);
    }
    assert_eq!(with.ahead(4, 5).unwrap(), without.ahead(4, 3).unwrap());
    assert_eq!(with.behind(9, 4).unwrap(), without.behind(9, 2).unwrap());
}
