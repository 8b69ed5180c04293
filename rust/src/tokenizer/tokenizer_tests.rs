//! The tokenizers as they are used.

use std::sync::Arc;

use proptest::prelude::*;

use super::byte_pair::BytePair;
use super::engine::Engine;
use super::{Kind, Tokenizer};
use crate::error::Error;
use crate::guard::Guard;

/// Texts of many kinds, whole.
pub(crate) const TEXTS: &[&str] = &[
    "",
    "a",
    "The quick brown fox jumps over the lazy dog. It's what foxes do, isn't it? 'Tis so.\n",
    "'tis don't I'LL we've THEY'RE o'clock 's 'S '\u{17f} it\u{17f} rock'n'roll can''t",
    "fn main() {\n    let x = vec![1, 2, 3];\n\tprintln!(\"{:?}\", x); // 100_000\n}\n\n\n",
    "第一章　概论。这是一个关于分词的测试，包含标点、数字１２３和ABC混排。\r\n日本語のテキストも少し。",
    "👍🏽 family: 👨\u{200d}👩\u{200d}👧\u{200d}👦 flags 🇨🇿🇯🇵 keycap 1\u{fe0f}\u{20e3} 😀😀😀😀",
    "a  b   c    d\t\te \n\n f \r\n\r\n  g\u{a0}\u{a0}h\u{2003}\u{3000} \u{85}\n   ",
    "3.14159265358979 1234567890123456789012345678901234567890 ٣٤٥٦٧ Ⅻ²³ 0x7fff_ffff",
    "!!!\n\n??? ...\r\n--- /// ---/\n/*\n*/\n{};\n\n\n\n",
    "e\u{301}e\u{301} \u{301}\u{301} नमस्ते दुनिया สวัสดีชาวโลก Ελλάδα Привет, мир! שלום עולם",
    "camelCaseHTTPServerIDs XMLHttpRequest ǅungla ʰaspirated ªº İstanbul ßtraße McDonald'sX",
    "                                                                                        x",
    "<|endoftext|> and <|im_start|> are ordinary text here",
    "aGVsbG8gd29ybGQhIHRoaXMgaXMgYmFzZTY0IHdpdGhvdXQgYW55IGJsYW5rcyBhdCBhbGwgYW5kIGl0IGdvZXMgb24",
    "\0\0\u{1}\u{1b}[0m\u{7f}\u{200b}\u{feff}",
];

/// The bundled vocabularies, each once.
pub(crate) const NAMES: [&str; 4] = ["cl100k_base", "o200k_base", "r50k_base", "p50k_base"];

/// The tokenizers of [`NAMES`].
pub(crate) fn bundled() -> [&'static Arc<BytePair>; 4] {
    NAMES.map(|name| {
        Tokenizer::from_name(name).unwrap();
        let (_, shipped) = super::SHIPPED.iter().find(|(known, _)| *known == name).unwrap();
        shipped.read.get().unwrap()
    })
}

/// A WordPiece tokenizer of a few words in the manner of BERT, with truncation and padding set.
pub(crate) const WORDPIECE: &str = r###"{
  "version": "1.0",
  "truncation": {"direction": "Right", "max_length": 6, "strategy": "LongestFirst", "stride": 0},
  "padding": {"strategy": {"Fixed": 6}, "direction": "Right", "pad_to_multiple_of": null,
              "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"},
  "added_tokens": [
    {"id": 0, "content": "[PAD]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true},
    {"id": 2, "content": "[CLS]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true},
    {"id": 3, "content": "[SEP]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}
  ],
  "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                 "strip_accents": null, "lowercase": true},
  "pre_tokenizer": {"type": "BertPreTokenizer"},
  "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
  "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
  "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "the": 4, "fox": 5,
                      "##es": 6, "jump": 7, "##ed": 8, ".": 9, "[": 10, "]": 11, "cl": 12, "##s": 13}}
}"###;

fn joined(tokenizer: &Tokenizer, text: &str) {
    let (ids, ends) = tokenizer.encode(text, &Guard::never()).unwrap();
    assert_eq!(tokenizer.count(text, &Guard::never()).unwrap(), ids.len(), "{text:?}");
    assert_eq!(ids.len(), ends.len());
    assert_eq!(tokenizer.decode(&ids).unwrap(), text.as_bytes());
    let mut start = 0;
    for (&id, &end) in ids.iter().zip(&ends) {
        assert_eq!(tokenizer.decode(&[id]).unwrap(), &text.as_bytes()[start..end]);
        start = end;
    }
    assert_eq!(start, text.len());
}

#[test]
fn tokens_joined_are_the_text() {
    for name in Tokenizer::names() {
        let tokenizer = Tokenizer::from_name(name).unwrap();
        for text in TEXTS {
            joined(&tokenizer, text);
        }
        joined(&tokenizer, &TEXTS.concat().repeat(300));
    }
}

/// Ids that tiktoken 0.14.0 gives.
#[test]
fn ids_of_the_reference() {
    let text = "Hello, world! It's 2026: naïve 中文 😀\n\n  done";
    let cl100k = Tokenizer::from_name("cl100k_base").unwrap();
    assert_eq!(
        cl100k.encode(text, &Guard::never()).unwrap().0,
        [
            9906, 11, 1917, 0, 1102, 596, 220, 2366, 21, 25, 95980, 588, 73958, 17161, 91416, 271,
            220, 2884
        ]
    );
    let o200k = Tokenizer::from_name("o200k_base").unwrap();
    assert_eq!(
        o200k.encode(text, &Guard::never()).unwrap().0,
        [13225, 11, 2375, 0, 7744, 220, 1323, 21, 25, 153475, 737, 83711, 146996, 220, 4167]
    );
    assert_eq!((cl100k.vocab_size(), o200k.vocab_size()), (100_256, 199_998));
}

#[test]
fn a_memo_changes_nothing() {
    let Kind::BytePair(used) = Tokenizer::from_name("cl100k_base").unwrap().0 else { panic!() };
    let text = TEXTS.concat().repeat(3);
    let mut at = 0;
    let mut count = 0;
    while at < text.len() {
        let end = used.next_pretoken(&text, at);
        count += used.count_piece(&text[at..end]).unwrap();
        at = end;
    }
    let tokenizer = Tokenizer::from_name("cl100k_base").unwrap();
    for _ in 0..3 {
        assert_eq!(tokenizer.count(&text, &Guard::never()).unwrap(), count);
    }
}

#[test]
fn many_threads_agree() {
    fn shared<T: Send + Sync + Clone>(_: &T) {}
    shared(&Tokenizer::from_name("o200k_base").unwrap());
    let tokenizer = Tokenizer::from_name("o200k_base").unwrap();
    let text = TEXTS.concat().repeat(20);
    let count = tokenizer.count(&text, &Guard::never()).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5 {
                    assert_eq!(tokenizer.clone().count(&text, &Guard::never()).unwrap(), count);
                }
            });
        }
    });
}

#[test]
fn a_pass_can_be_stopped() {
    let stop = std::sync::atomic::AtomicBool::new(true);
    let tokenizer = Tokenizer::from_name("cl100k_base").unwrap();
    let outcome = tokenizer.measure("some text", 1, &Guard::new(&stop, None));
    assert!(matches!(outcome, Err(Error::Interrupted)));
}

#[test]
fn errors_name_what_was_wrong() {
    let message = |error: Option<Error>| error.unwrap().to_string();
    assert_eq!(
        message(Tokenizer::from_name("cl100k").err()),
        "no tokenizer is named \"cl100k\"; the names known are \
         cl100k_base, o200k_base, o200k_harmony, gpt2, r50k_base, p50k_base, p50k_edit"
    );
    let tokenizer = Tokenizer::from_name("cl100k_base").unwrap();
    assert_eq!(
        message(tokenizer.decode(&[1, 100_256]).err()),
        "100256 is no token; ids are below 100256"
    );
    let error = message(Tokenizer::from_json("{}", false).err());
    assert!(error.starts_with("tokenizer.json cannot be read: "), "{error}");
}

#[test]
fn truncation_padding_and_specials_of_a_file_do_not_count() {
    let text = "The foxes jumped. [CLS] the fox jumped. the the the";
    let plain = Tokenizer::from_json(WORDPIECE, false).unwrap();
    let (ids, ends) = plain.encode(text, &Guard::never()).unwrap();
    assert_eq!(ids, [4, 5, 6, 7, 8, 9, 10, 12, 13, 11, 4, 5, 7, 8, 9, 4, 4, 4]);
    assert_eq!(ends[..6], [3, 7, 9, 14, 16, 17]);
    assert_eq!(plain.count(text, &Guard::never()).unwrap(), 18);
    assert_eq!(plain.count("", &Guard::never()).unwrap(), 0);
    let special = Tokenizer::from_json(WORDPIECE, true).unwrap();
    assert_eq!(special.count(text, &Guard::never()).unwrap(), 20);
    assert_eq!(special.count("", &Guard::never()).unwrap(), 0);
    assert_eq!(special.vocab_size(), 14);
}

proptest! {
    #[test]
    fn any_text(text in "\\PC{0,80}|[ -~\n]{0,200}|(\\s|[a-z']){0,60}") {
        for name in Tokenizer::names() {
            joined(&Tokenizer::from_name(name).unwrap(), &text);
        }
    }
}
