//! Byte-level BPE from a `tokenizer.json`: its merges made into a vocabulary.
//!
//! A file lists pairs, the first to be merged first, and may list more than one for a token. Of these
//! one alone is ever merged: the last in the encoding of the token's own bytes (`bpe.rs`). Its place in
//! the list is the token's rank. A token whose own bytes are not encoded to it comes of no merge, and
//! only a whole pretoken is ever that token, where the file says that merges are ignored then.

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::byte_pair::BytePair;
use super::file::{Chosen, Fit};
use super::patterns::Pattern;
use super::vocabulary::Vocabulary;

/// The engine for a file whose model is a BPE, or why there is none.
pub(super) fn read(file: &Value) -> Chosen<(BytePair, Fit)> {
    let model = &file["model"];
    let composed = match file["normalizer"]["type"].as_str() {
        None if file["normalizer"].is_null() => false,
        Some("NFC") => true,
        _ => return Err("texts are normalised".to_owned()),
    };
    let set = |name: &str| model[name].as_str().is_some_and(|text| !text.is_empty());
    if model["dropout"].as_f64().is_some_and(|dropout| dropout > 0.0) {
        return Err("the model has a dropout".to_owned());
    }
    if set("continuing_subword_prefix") || set("end_of_word_suffix") {
        return Err("the model marks parts of words".to_owned());
    }
    let pattern = pattern(&file["pre_tokenizer"])?;
    let vocabulary = vocabulary(model)
        .ok_or("its vocabulary is not one of bytes, or has a token of two that no merge makes")?;
    Ok((BytePair::new(pattern, vocabulary), Fit::of(file, composed)?))
}

/// The pattern that texts are cut by, of a pre-tokenizer that then turns bytes into characters.
fn pattern(pre_tokenizer: &Value) -> Chosen<Pattern> {
    let bytes = |step: &Value, by_pattern: bool| {
        step["type"] == "ByteLevel"
            && step["add_prefix_space"] == false
            && step["use_regex"].as_bool().unwrap_or(true) == by_pattern
    };
    if bytes(pre_tokenizer, true) {
        return Ok(Pattern::Gpt2);
    }
    let steps = pre_tokenizer["pretokenizers"].as_array().map_or(&[][..], Vec::as_slice);
    let [split, last] = steps else { return Err("its pre-tokenizer has no scanner".to_owned()) };
    if split["type"] != "Split" || !bytes(last, false) {
        return Err("its pre-tokenizer has no scanner".to_owned());
    }
    // Every known pattern matches every text throughout, so nothing lies between the matches.
    let whole = split["behavior"] == "Isolated"
        || (split["behavior"] == "Removed" && split["invert"] == true);
    let spelling = split["pattern"]["Regex"].as_str().filter(|_| whole);
    spelling
        .and_then(Pattern::in_json)
        .ok_or_else(|| "its pattern is none that there is a scanner for".to_owned())
}

/// The vocabulary of a model, if its tokens are of bytes and every byte is one.
fn vocabulary(model: &Value) -> Option<Vocabulary> {
    let alphabet = alphabet();
    let bytes_of = |token: &str| -> Option<Vec<u8>> {
        token.chars().map(|sign| alphabet.get(&sign).copied()).collect()
    };
    let mut ids: FxHashMap<Vec<u8>, u32> = FxHashMap::default();
    for (token, id) in model["vocab"].as_object()? {
        // What is not spelt in bytes, a special token mostly, no merge makes and no pretoken is.
        if let Some(bytes) = bytes_of(token) {
            ids.insert(bytes, u32::try_from(id.as_u64()?).ok()?);
        }
    }
    let mut places: FxHashMap<(Vec<u8>, Vec<u8>), u32> = FxHashMap::default();
    for (place, pair) in (0..).zip(model["merges"].as_array()?) {
        let (left, right) = match pair {
            Value::String(pair) => pair.split_once(' ')?,
            pair => (pair[0].as_str()?, pair[1].as_str()?),
        };
        // Of a pair that is there twice the crate keeps the last.
        places.insert((bytes_of(left)?, bytes_of(right)?), place);
    }
    let mut singles = [0; 256];
    for (byte, single) in (0..=u8::MAX).zip(&mut singles) {
        ids.contains_key(&[byte][..]).then_some(())?;
        *single = byte;
    }
    let whole = model["ignore_merges"] == true;
    let mut tokens = Vec::new();
    for (token, &id) in ids.iter().filter(|(token, _)| token.len() > 1) {
        match last_merge(token, &places) {
            Some((at, place)) => tokens.push((place, token, id, Some(at))),
            // Two bytes that are a token are merged (`Vocabulary::pair`).
            None if whole && token.len() == 2 => return None,
            None if whole => tokens.push((u32::MAX, token, id, None)),
            None => {}
        }
    }
    // No two tokens have a place in common, but for those that have none.
    tokens.sort_unstable_by_key(|&(place, token, ..)| (place, token));
    let mut ranks: FxHashMap<&[u8], u32> = FxHashMap::default();
    for (byte, rank) in singles.chunks(1).zip(0..) {
        ranks.insert(byte, rank);
    }
    for (&(_, token, ..), rank) in tokens.iter().zip(256..) {
        ranks.insert(token, rank);
    }
    let merged: Option<Vec<_>> = tokens
        .iter()
        .map(|&(_, token, _, at)| {
            let halves = match at {
                None => None,
                Some(at) => Some((*ranks.get(&token[..at])?, *ranks.get(&token[at..])?)),
            };
            Some((token.as_slice(), halves))
        })
        .collect();
    let single_ids = singles.iter().map(|byte| ids[&[*byte][..]]);
    let all = single_ids.chain(tokens.iter().map(|&(_, _, id, _)| id)).collect();
    Vocabulary::new(&singles, &merged?, all)
}

/// Where the two parts meet that are the last to be merged in `token`, and the place of that pair in
/// the list, if the token ends as one.
fn last_merge(token: &[u8], places: &FxHashMap<(Vec<u8>, Vec<u8>), u32>) -> Option<(usize, u32)> {
    let mut bounds: Vec<usize> = (0..=token.len()).collect();
    loop {
        let pairs = bounds.windows(3).enumerate();
        let found = pairs.filter_map(|(at, pair)| {
            let halves = (token[pair[0]..pair[1]].to_vec(), token[pair[1]..pair[2]].to_vec());
            Some((*places.get(&halves)?, at + 1))
        });
        let (place, at) = found.min()?;
        if bounds.len() == 3 {
            return Some((bounds[1], place));
        }
        bounds.remove(at);
    }
}

/// The bytes by the characters that stand for them in such files: those that can be seen stand for
/// themselves, the others for the characters from U+0100 on.
fn alphabet() -> FxHashMap<char, u8> {
    let mut next = 0x100;
    let signs = (0..=u8::MAX).map(|byte| {
        let seen = matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
        let sign = if seen { u32::from(byte) } else { next };
        next += u32::from(!seen);
        (char::from_u32(sign).unwrap_or_default(), byte)
    });
    signs.collect()
}
