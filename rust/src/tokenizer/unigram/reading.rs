//! Which tokenizer files are of the family, and what is read of them.

use serde_json::Value;

use super::Unigram;
use super::classes::Classes;
use super::lattice::{META, Model};
use crate::tokenizer::file::{Chosen, Fit};
use crate::tokenizer::memo::Pool;
use crate::tokenizer::ranks::base64;

/// The engine for a file whose model is a Unigram, or why there is none.
pub(in crate::tokenizer) fn read(file: &Value) -> Chosen<(Unigram, Fit)> {
    let charsmap = charsmap(&file["normalizer"])?;
    let added = file["added_tokens"].as_array().map_or(&[][..], Vec::as_slice);
    let sought = |token: &Value| token["special"] != true && token["normalized"] != false;
    if charsmap.is_some() && added.iter().any(sought) {
        return Err("an added token is looked for in what is normalised".to_owned());
    }
    if !cuts_words(&file["pre_tokenizer"]) {
        return Err("its pre-tokenizer is not one of words with U+2581".to_owned());
    }
    let model = &file["model"];
    if model["byte_fallback"] == true {
        return Err("the model falls back to bytes".to_owned());
    }
    let unknown = model["unk_id"].as_u64().and_then(|id| u32::try_from(id).ok());
    let unknown = unknown.ok_or("it has no unknown token")?;
    let tokens = model["vocab"].as_array().ok_or("it has no vocabulary")?;
    let tokens: Option<Vec<_>> =
        tokens.iter().map(|token| Some((token[0].as_str()?, token[1].as_f64()?))).collect();
    let model = Model::new(&tokens.ok_or("its vocabulary cannot be read")?, unknown)?;
    let (charsmap, classes) = match charsmap {
        None => (None, Classes::plain()?),
        Some(table) => {
            let table = base64(table.as_bytes()).ok_or("its charsmap is damaged")?;
            let (map, classes) = Classes::read(&table)?;
            (Some(map), classes)
        }
    };
    Ok((Unigram { charsmap, classes, model, memos: Pool::default() }, Fit::of(file, false)?))
}

/// The charsmap of a normalizer that does nothing else to words.
fn charsmap(normalizer: &Value) -> Chosen<Option<&str>> {
    let other = || Err("texts are normalised by more than a charsmap".to_owned());
    match normalizer["type"].as_str() {
        None if normalizer.is_null() => Ok(None),
        Some("Precompiled") => match normalizer["precompiled_charsmap"].as_str() {
            // An empty one does nothing.
            Some(table) => Ok(Some(table)),
            None => other(),
        },
        Some("Sequence") => {
            let steps = normalizer["normalizers"].as_array().map_or(&[][..], Vec::as_slice);
            let mut found = None;
            for step in steps {
                // White space goes at the ends of words in any case, and several make one gap.
                let idle = step["type"] == "Strip"
                    || (step["type"] == "Replace"
                        && step["pattern"]["Regex"] == " {2,}"
                        && step["content"] == " ");
                if idle {
                    continue;
                }
                match (charsmap(step)?, found) {
                    (Some(table), None) => found = Some(table),
                    _ => return other(),
                }
            }
            Ok(found)
        }
        _ => other(),
    }
}

/// Whether a pre-tokenizer drops white space, puts U+2581 in front of words and cuts in front of it.
fn cuts_words(pre_tokenizer: &Value) -> bool {
    let steps = pre_tokenizer["pretokenizers"].as_array().map_or(&[][..], Vec::as_slice);
    let [split, meta] = steps else { return false };
    let always = match &meta["prepend_scheme"] {
        Value::Null => meta["add_prefix_space"] != false,
        scheme => scheme == "always" && meta["add_prefix_space"] != false,
    };
    pre_tokenizer["type"] == "Sequence"
        && split["type"] == "WhitespaceSplit"
        && meta["type"] == "Metaspace"
        && meta["replacement"].as_str().is_some_and(|sign| sign.chars().eq([META]))
        && meta["split"] != false
        && always
}
