//! The merges against the rule as it is stated, and the work they do.

use proptest::prelude::*;

use super::{SHORT, WORK, merge, merge_long, merge_short};
use crate::guard::{Guard, NEVER};
use crate::tokenizer::vocabulary::{NONE, Vocabulary};

fn vocabularies() -> [&'static Vocabulary; 4] {
    crate::tokenizer::tests::bundled().map(|bundled| bundled.vocabulary())
}

/// tiktoken's rule by bytes: the lowest rank first, the leftmost of equals.
fn by_the_rule(vocabulary: &Vocabulary, piece: &[u8]) -> Vec<usize> {
    let mut bounds: Vec<usize> = (0..=piece.len()).collect();
    loop {
        let ranks = bounds.windows(3).enumerate();
        let ranks = ranks.map(|(at, pair)| (vocabulary.rank(&piece[pair[0]..pair[2]]), at + 1));
        match ranks.min() {
            Some((rank, at)) if rank != NONE => bounds.remove(at),
            _ => return bounds.split_off(1),
        };
    }
}

fn listed(words: impl IntoIterator<Item = (usize, u64)>) -> Vec<usize> {
    let bits = words.into_iter().flat_map(|(at, word)| {
        (0..64).filter(move |bit| word >> bit & 1 != 0).map(move |bit| at + bit + 1)
    });
    bits.collect()
}

fn windowed(vocabulary: &Vocabulary, piece: &[u8]) -> Vec<usize> {
    let mut words = Vec::new();
    merge(vocabulary, piece, &Guard::new(&NEVER, None), |at, word| words.push((at, word))).unwrap();
    listed(words)
}

fn heaped(vocabulary: &Vocabulary, piece: &[u8]) -> Vec<usize> {
    listed((0..).step_by(64).zip(merge_long(vocabulary, piece)))
}

#[track_caller]
fn agree(piece: &[u8]) {
    for vocabulary in vocabularies() {
        let expected = by_the_rule(vocabulary, piece);
        if piece.len() <= SHORT {
            assert_eq!(listed([(0, merge_short(vocabulary, piece))]), expected, "{piece:?}");
        }
        assert_eq!(heaped(vocabulary, piece), expected, "heap {piece:?}");
        assert_eq!(windowed(vocabulary, piece), expected, "windows {piece:?}");
    }
}

#[test]
fn every_length_of_a_repeated_stretch() {
    for stretch in ["a", "-", " ", "\n", "\r\n", "ab", "=-", "中", "é", "abc", "/*", "0", "aab"] {
        for length in 1..300 {
            let text: Vec<u8> = stretch.bytes().cycle().take(length).collect();
            agree(&text);
        }
    }
}

#[test]
fn a_stretch_longer_than_a_leap() {
    for stretch in ["a", " ", "ab", "\n"] {
        for tail in ["", "b", "zq!", " x"] {
            let text = stretch.repeat(40_000) + tail;
            for vocabulary in vocabularies() {
                let expected = heaped(vocabulary, text.as_bytes());
                assert_eq!(windowed(vocabulary, text.as_bytes()), expected, "{stretch:?} {tail:?}");
            }
        }
    }
}

#[test]
fn each_token_is_its_own_encoding() {
    for vocabulary in vocabularies() {
        for rank in 0..vocabulary.len() as u32 {
            let token = vocabulary.token(rank).unwrap();
            assert_eq!(vocabulary.rank(token), rank);
            assert_eq!(windowed(vocabulary, token), [token.len()], "{token:?}");
        }
    }
}

/// Bytes that went into windows for `piece`.
fn work(vocabulary: &Vocabulary, piece: &[u8]) -> usize {
    WORK.set(0);
    windowed(vocabulary, piece);
    WORK.get()
}

#[test]
fn work_grows_with_the_length() {
    let mixed: String = (0..4000u32).map(|n| char::from(b'a' + (n * n % 97 % 26) as u8)).collect();
    for stretch in
        ["a", " ", "ab", "=", "-", "\n", "zq", "\0", "abcdefghijklmnopqrstuvwxyz", &mixed]
    {
        for vocabulary in vocabularies() {
            for length in [50_000, 100_000, 200_000] {
                let text: Vec<u8> = stretch.bytes().cycle().take(length).collect();
                let work = work(vocabulary, &text);
                assert!(work < 4 * length, "{stretch:.9?}: {work} bytes merged for {length}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn random_bytes(piece in proptest::collection::vec(any::<u8>(), 1..200)) {
        agree(&piece);
    }

    #[test]
    fn random_letters(piece in "[a-e ]{1,300}|[a-z]{1,300}|[A-Za-z0-9+/]{1,300}|[ \n=-]{1,300}") {
        agree(piece.as_bytes());
    }

    #[test]
    fn random_scripts(piece in "[中文字符的一是不了人我]{1,90}|[а-я]{1,90}|[\u{900}-\u{97f}]{1,70}") {
        agree(piece.as_bytes());
    }

    #[test]
    fn repeats_with_a_fault(
        stretch in "[ab =]{1,9}", times in 1usize..200, fault in "[abc =]{0,3}", more in 0usize..60,
    ) {
        let text = stretch.repeat(times) + &fault + &stretch.repeat(more);
        agree(text.as_bytes());
    }
}
