//! Pieces merged between borders against pieces merged whole.

use proptest::prelude::*;

use super::super::tests::bundled;
use super::{Borders, bpe, character, is_whole};
use crate::guard::Guard;
use crate::tokenizer::memo::{Memo, Pool};
use crate::tokenizer::vocabulary::{NONE, Vocabulary};

/// The ends of the tokens of `piece`, one bit per byte.
fn between(
    borders: &Borders,
    vocabulary: &Vocabulary,
    piece: &[u8],
    memo: Option<&mut Memo>,
) -> Vec<bool> {
    let mut found = vec![false; piece.len()];
    let mut last = 0;
    let put = |at: usize, word: u64| {
        assert!(at >= last && word != 0);
        last = at;
        (0..64).filter(|bit| word >> bit & 1 != 0).for_each(|bit| found[at + bit] = true);
    };
    borders.merge(vocabulary, piece, memo, &Guard::never(), put).unwrap();
    found
}

fn whole(vocabulary: &Vocabulary, piece: &[u8]) -> Vec<bool> {
    let mut found = vec![false; piece.len()];
    if vocabulary.rank(piece) != NONE {
        found[piece.len() - 1] = true;
        return found;
    }
    let put = |at: usize, word: u64| {
        (0..64).filter(|bit| word >> bit & 1 != 0).for_each(|bit| found[at + bit] = true);
    };
    bpe::merge(vocabulary, piece, &Guard::never(), put).unwrap();
    found
}

fn same(piece: &str) {
    for engine in bundled() {
        let vocabulary = engine.vocabulary();
        let piece = piece.as_bytes();
        let (borders, expected) = (engine.borders(), whole(vocabulary, piece));
        assert_eq!(between(borders, vocabulary, piece, None), expected, "{piece:?}");
        Pool::default().with(|memo| {
            for _ in 0..2 {
                assert_eq!(between(borders, vocabulary, piece, Some(memo)), expected, "{piece:?}");
            }
        });
    }
}

#[test]
fn pieces_of_many_scripts() {
    for piece in [
        "a",
        "\u{e9}",
        "中",
        "第一章概论这是一个关于分词的测试包含标点数字和混排",
        "ABC漢字かなカナ한국어ABC",
        "日本語のテキストも少しありますがそれだけではありません東京都",
        "предложение",
        "привет中文слово",
        "นมสสวัสดีชาวโลก",
        "👍🏽👨\u{200d}👩\u{200d}👧中👦🇨🇿🇯🇵",
        "。。。、、、！？「」『』",
    ] {
        same(piece);
    }
    same(&"的".repeat(500));
    same(&"中文字符".repeat(300));
    same(&"\u{fffd}漢\u{ac00}\u{d7a3}\u{800}\u{ffff}".repeat(30));
}

/// Of two characters that a token holds side by side, one of them perhaps in part, it is not told that
/// nothing crosses their border.
#[test]
fn every_token_crosses_its_own_borders() {
    for engine in bundled() {
        let borders = engine.borders();
        for token in engine.vocabulary().tokens().filter(|token| !token.is_ascii()) {
            // What a text with this token may hold: the token with the rest of its first and last
            // character, of which every completion has the same bytes at the border.
            let borders_inside = (1..token.len()).filter(|&at| token[at] & 0xc0 != 0x80);
            for at in borders_inside {
                let start = (0..at).rev().find(|&at| token[at] & 0xc0 != 0x80);
                let (next, length) = character(token, at);
                let next_whole = is_whole(token[at], length);
                let whole = start.map(|start| character(token, start).0);
                let one = whole.unwrap_or(0xe0_8000 | u32::from(token[at - 1]));
                let other = if next_whole { next } else { 0 };
                assert!(borders.may_cross(one, other, token[at]), "{token:?} at {at}");
            }
        }
    }
}

const PARTS: &[&str] = &[
    "的",
    "一",
    "是",
    "中",
    "国",
    "人",
    "漢",
    "字",
    "の",
    "に",
    "は",
    "を",
    "ア",
    "ン",
    "한",
    "국",
    "어",
    "，",
    "。",
    "、",
    "！",
    "和",
    "国",
    "電",
    "龍",
    "鑫",
    "\u{9fff}",
    "\u{3400}",
    "a",
    "Z",
    "é",
    "ж",
    "ن",
    "न",
    "\u{301}",
    "👍",
    "\u{200d}",
    "中国",
    "一个",
    "です",
    "ました",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn random_pieces(parts in proptest::collection::vec(proptest::sample::select(PARTS), 1..60)) {
        same(&parts.concat());
    }

    #[test]
    fn any_characters(piece in "[\u{3000}-\u{9fff}\u{ac00}-\u{d7a3}]{1,40}|\\PC{1,40}") {
        same(&piece);
    }
}
