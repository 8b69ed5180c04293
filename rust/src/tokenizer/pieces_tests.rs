//! Pieces against the whole, for tokenizers of each kind that may be cut.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Cuts, PIECE};
use crate::guard::Guard;
use crate::tokenizer::foreign::Foreign;
use crate::tokenizer::patterns::Pattern;
use crate::tokenizer::tests::WORDPIECE;

/// Byte-level BPE with a few merges.
fn bpe() -> Value {
    let mut vocabulary = serde_json::Map::new();
    let bytes = (b'!'..=b'~').map(char::from).chain('¡'..='¬').chain('®'..='ÿ');
    let bytes: Vec<String> = bytes.chain('\u{100}'..='\u{143}').map(String::from).collect();
    assert_eq!(bytes.len(), 256);
    let merges = ["Ġ t", "h e", "Ġt he", "Ċ Ċ", "Ġ Ġ", "a b", "1 2", "Ġ a", ". Ċ", "Ċ a", "Ġ Ċ"];
    let merged = merges.iter().map(|merge| merge.replace(' ', ""));
    for (id, token) in bytes.iter().cloned().chain(merged).enumerate() {
        vocabulary.insert(token, id.into());
    }
    json!({"type": "BPE", "vocab": vocabulary, "merges": merges})
}

fn unigram() -> Value {
    let pieces =
        ["<unk>", "▁", "▁the", "▁a", "the", "a", "b", "t", "h", "e", "\n", ".", "▁ab", "中"];
    let scored: Vec<Value> =
        pieces.iter().enumerate().map(|(n, piece)| json!([piece, -(n as f64)])).collect();
    json!({"type": "Unigram", "unk_id": 0, "vocab": scored})
}

fn file(model: &Value, pre_tokenizer: &Value, normalizer: &Value, added: &Value) -> String {
    json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": added,
        "normalizer": normalizer, "pre_tokenizer": pre_tokenizer, "post_processor": null,
        "decoder": null, "model": model,
    })
    .to_string()
}

fn added(content: &str, changes: Value) -> Value {
    let mut token = json!({"id": 900, "content": content, "single_word": false, "lstrip": false,
                           "rstrip": false, "normalized": false, "special": false});
    for (key, value) in changes.as_object().unwrap() {
        token[key] = value.clone();
    }
    json!([token])
}

fn byte_level(prefix: bool, regex: bool) -> Value {
    json!({"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": true, "use_regex": regex})
}

fn split(regex: &str, behavior: &str, invert: bool) -> Value {
    json!({"type": "Split", "pattern": {"Regex": regex}, "behavior": behavior, "invert": invert})
}

fn sequence(key: &str, steps: &[Value]) -> Value {
    json!({"type": "Sequence", key: steps})
}

fn metaspace(scheme: &str) -> Value {
    json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": true})
}

/// Tokenizers with the cuts that are certain for them.
fn tokenizers() -> Vec<(String, Cuts)> {
    let (bpe, unigram) = (bpe(), unigram());
    let none = Value::Null;
    let plain = json!([]);
    let both = Cuts::SpacesAndLines;
    let gpt2 = byte_level(false, true);
    let words = json!({"type": "WhitespaceSplit"});
    let mut list = vec![
        (WORDPIECE.to_owned(), both),
        (file(&bpe, &gpt2, &none, &plain), both),
        (file(&bpe, &byte_level(true, true), &none, &plain), Cuts::Spaces),
        (file(&bpe, &gpt2, &json!({"type": "NFC"}), &plain), both),
        (file(&bpe, &gpt2, &json!({"type": "NFKC"}), &plain), both),
        (file(&bpe, &gpt2, &json!({"type": "Lowercase"}), &plain), both),
        (file(&bpe, &gpt2, &none, &added("<x>", json!({}))), both),
        (file(&bpe, &gpt2, &none, &added("ab", json!({"single_word": true}))), both),
        (file(&bpe, &gpt2, &none, &added("<m>", json!({"special": true, "lstrip": true}))), both),
        (file(&bpe, &gpt2, &none, &added("<x>", json!({"rstrip": true}))), Cuts::Nowhere),
        (file(&bpe, &gpt2, &none, &added("a b", json!({}))), Cuts::Nowhere),
        (file(&bpe, &gpt2, &none, &added("\n", json!({"special": true}))), Cuts::Nowhere),
        (file(&bpe, &gpt2, &json!({"type": "StripAccents"}), &plain), Cuts::Nowhere),
        (file(&bpe, &gpt2, &json!({"type": "Prepend", "prepend": "x"}), &plain), Cuts::Nowhere),
        (
            file(
                &bpe,
                &gpt2,
                &json!({"type": "Strip", "strip_left": true, "strip_right": true}),
                &plain,
            ),
            Cuts::Nowhere,
        ),
        (file(&bpe, &byte_level(false, false), &none, &plain), Cuts::Nowhere),
        (file(&bpe, &none, &none, &plain), Cuts::Nowhere),
        (file(&unigram, &metaspace("always"), &none, &plain), Cuts::Nowhere),
        (file(&unigram, &words, &none, &plain), both),
        (file(&unigram, &json!({"type": "Whitespace"}), &json!({"type": "Nmt"}), &plain), both),
    ];
    for scheme in ["always", "first", "never"] {
        let steps = sequence("pretokenizers", &[words.clone(), metaspace(scheme)]);
        list.push((file(&unigram, &steps, &none, &plain), Cuts::Spaces));
    }
    let normalizers =
        sequence("normalizers", &[json!({"type": "NFD"}), json!({"type": "StripAccents"})]);
    list.push((file(&unigram, &words, &normalizers, &plain), both));
    list.push((file(&bpe, &gpt2, &normalizers, &plain), Cuts::Nowhere));
    for pattern in Pattern::ALL {
        for spelling in pattern.spellings().filter(|spelling| !spelling.contains('$')) {
            for (behavior, invert, cuts) in [
                ("Isolated", false, both),
                ("Removed", true, both),
                ("Removed", false, Cuts::Nowhere),
            ] {
                let steps = [split(spelling, behavior, invert), byte_level(false, false)];
                let steps = sequence("pretokenizers", &steps);
                list.push((file(&bpe, &steps, &none, &plain), cuts));
            }
        }
    }
    for unknown in [r"\s+|\S+", "gpt2"] {
        let steps = [split(unknown, "Isolated", false), byte_level(false, false)];
        list.push((file(&bpe, &sequence("pretokenizers", &steps), &none, &plain), Cuts::Nowhere));
    }
    list
}

fn read() -> Vec<(Foreign, Cuts, String)> {
    let read = |(json, cuts): (String, Cuts)| (Foreign::read(&json).unwrap(), cuts, json);
    tokenizers().into_iter().map(read).collect()
}

#[test]
fn which_cuts_are_certain() {
    for (foreign, cuts, json) in read() {
        let start: String = json.split("\"model\"").next().unwrap().into();
        assert_eq!(foreign.cuts(), cuts, "{start} {}", &json[json.len() - 900..]);
    }
}

const PARTS: &[&str] = &[
    "the", "a", "ab", "中", "文", "é", "e\u{301}", "\u{301}", "A", "Ж", "1", "12", "123", ".",
    "!\n", "/", "'s", "'", "<x>", "<m>", "<x> ", " ", " ", " ", "  ", "\n", "\n", "\n\n", "\r\n",
    "\t", "\u{a0}", "\u{3000}", "。", "。\n中", "\u{b4}", "\u{37a}", "\u{200b}", "\0", "ﷺ", "가",
    "ｶ", "İ", "ſ", "\u{93f}", "क",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Every cut that could be taken anywhere, taken.
    #[test]
    fn pieces_are_the_whole(parts in proptest::collection::vec(proptest::sample::select(PARTS), 0..60)) {
        thread_local! {
            static READ: Vec<(Foreign, Cuts, String)> = read();
        }
        let text = parts.concat();
        READ.with(|tokenizers| {
            for (foreign, cuts, json) in tokenizers {
                let whole = foreign.encode_pieces(&text, |_, _| text.len(), &Guard::never()).unwrap();
                let least = |text: &str, from: usize| cuts.next_cut(text, from + 1);
                let pieces = foreign.encode_pieces(&text, least, &Guard::never()).unwrap();
                assert_eq!(pieces, whole, "{text:?} {json:.900}");
                assert_eq!(foreign.count(&text, &Guard::never()).unwrap(), whole.0.len());
            }
        });
    }
}

#[test]
fn a_long_text_goes_in_pieces_and_a_short_one_does_not() {
    let text = "the a ab\n".repeat(3 * PIECE / 9 + 1);
    let cuts = Cuts::SpacesAndLines;
    let end = cuts.piece(&text, 0);
    assert!((PIECE..PIECE + 9).contains(&end), "{end}");
    assert_eq!(Cuts::Nowhere.piece(&text, 0), text.len());
    assert_eq!(cuts.piece(&text[..2 * PIECE], 0), 2 * PIECE);
    let solid = "a".repeat(3 * PIECE);
    assert_eq!(cuts.piece(&solid, 0), solid.len());
    for (foreign, ..) in read() {
        let whole = foreign.encode_pieces(&text, |_, _| text.len(), &Guard::never()).unwrap();
        assert_eq!(foreign.encode(&text, &Guard::never()).unwrap(), whole);
    }
}

#[test]
fn a_long_text_can_be_stopped() {
    let text = "the a ab\n".repeat(3 * PIECE / 9);
    let stop = std::sync::atomic::AtomicBool::new(false);
    let polls = std::cell::Cell::new(0);
    let poll = || {
        polls.set(polls.get() + 1);
        Err(crate::error::Error::Interrupted)
    };
    let foreign = Foreign::read(WORDPIECE).unwrap();
    let long = text.repeat(40);
    assert!(foreign.count(&long, &Guard::new(&stop, Some(&poll))).is_err());
    assert_eq!(polls.get(), 1);
}
