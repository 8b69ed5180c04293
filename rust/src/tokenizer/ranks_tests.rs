//! Ranks of a caller's own.

use super::{base64, read};
use crate::guard::Guard;
use crate::tokenizer::Tokenizer;

const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn encoded(bytes: &[u8]) -> String {
    let groups = bytes.chunks(3).flat_map(|group| {
        let bits = group.iter().fold(0u32, |bits, &byte| bits << 8 | u32::from(byte));
        let bits = bits << (8 * (3 - group.len()));
        (0..4).map(move |at| match at <= group.len() {
            true => char::from(SIGNS[(bits >> (18 - 6 * at) & 63) as usize]),
            false => '=',
        })
    });
    groups.collect()
}

/// The text of ranks: `tokens` with their ids, and every byte with ids from 1000 on.
fn ranks(tokens: &[(&str, u32)]) -> String {
    let bytes =
        (0..=255u8).map(|byte| format!("{} {}\n", encoded(&[byte]), 1000 + u32::from(byte)));
    let more = tokens.iter().map(|(token, id)| format!("{} {id}\n", encoded(token.as_bytes())));
    bytes.chain(more).collect()
}

#[test]
fn base64_is_read_as_written() {
    for length in 0..40 {
        let bytes: Vec<u8> = (0..length).map(|n| (n * 89 + 200) as u8).collect();
        assert_eq!(base64(encoded(&bytes).as_bytes()), Some(bytes));
    }
    for wrong in ["A", "AA", "AAA", "AA=A", "A===", "A A=", "AAA-", "AAAAA", "=", "=="] {
        assert_eq!(base64(wrong.as_bytes()), None, "{wrong}");
    }
}

#[test]
fn ids_need_not_be_places() {
    let text = ranks(&[("ab", 7), ("abc", 3), ("bc", 9), ("cd", 5)]);
    let tokenizer = Tokenizer::from_ranks(text.as_bytes(), "gpt2").unwrap();
    let ids = |text| tokenizer.encode(text, &Guard::never()).unwrap().0;
    // `cd` is merged before `ab`, and `abc` never comes about within `abcd`.
    assert_eq!(ids("abcd"), [7, 5]);
    assert_eq!(ids("abc"), [3]);
    assert_eq!(ids("b"), [1098]);
    assert_eq!(tokenizer.decode(&[7, 5, 1098]).unwrap(), b"abcdb");
    assert_eq!(tokenizer.vocab_size(), 260);
    let error = tokenizer.decode(&[8]).unwrap_err().to_string();
    assert_eq!(error, "8 is no token; no text has it");
}

/// tiktoken looks a pretoken up as a whole before it merges, so a token that no merges end in is met
/// there and nowhere else.
#[test]
fn a_token_that_merges_never_reach() {
    let text = ranks(&[("xyz", 1), ("longer", 2)]);
    let tokenizer = Tokenizer::from_ranks(text.as_bytes(), "cl100k").unwrap();
    let count = |text| tokenizer.count(text, &Guard::never()).unwrap();
    assert_eq!((count("xyz"), count("xyzz"), count(" xyz"), count("longer xyz.")), (1, 4, 4, 6));
}

#[test]
fn what_is_wrong_is_named() {
    let good = ranks(&[("ab", 7)]);
    for (text, words) in [
        ("QQ== x\n".to_owned(), "line 1 is not a token in base64 and its id"),
        (format!("{good}\n\nQUI=\n"), "line 260 is not a token in base64 and its id"),
        (format!("{good}QUI= 7\n"), "two tokens have the id 7"),
        (format!("{good}YWI= 8\n"), "the token b\"ab\" is there twice"),
        ("QQ== 0\n".to_owned(), "no token is the byte 0x00, so not every text has tokens"),
        (
            good.replace("/w== 1255\n", ""),
            "no token is the byte 0xff, so not every text has tokens",
        ),
        (ranks(&[(&"a".repeat(1025), 1)]), "the token in line 257 is longer than 1024 bytes"),
        (String::new(), "no token is the byte 0x00, so not every text has tokens"),
    ] {
        let error = read(text.as_bytes()).err().unwrap().to_string();
        assert_eq!(error, format!("the ranks cannot be used: {words}"));
    }
    let error = Tokenizer::from_ranks(good.as_bytes(), "\\w+").err().unwrap().to_string();
    assert_eq!(
        error,
        "pattern (\"\\\\w+\") is not one that cantle has a scanner for; those are gpt2, cl100k, llama3, qwen2, o200k"
    );
}
