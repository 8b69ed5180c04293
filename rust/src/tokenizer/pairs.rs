//! BPE over characters, as of Llama's tokenizers: bytes for characters that the vocabulary has not, and
//! pairs merged wherever they stand, the first of the list first. For single words.

use rustc_hash::FxHashMap;
use serde_json::Value;

/// Most symbols of a word that is merged here: each merge looks at all that are left.
const MOST: usize = 64;

/// What pairs of tokens become.
pub(super) struct Pairs {
    of_char: FxHashMap<char, u32>,
    of_byte: Vec<u32>,
    /// Of two tokens side by side the place in the list, and the token.
    merged: FxHashMap<(u32, u32), (u32, u32)>,
}

impl Pairs {
    /// Of a file of the kind; none where its model does more, or less.
    pub(super) fn read(file: &Value) -> Option<Self> {
        let model = &file["model"];
        let set = |name: &str| model[name].as_str().is_some_and(|text| !text.is_empty());
        let other = model["type"] != "BPE"
            || model["byte_fallback"] != true
            || model["ignore_merges"] == true
            || model["dropout"].as_f64().is_some_and(|dropout| dropout > 0.0)
            || set("continuing_subword_prefix")
            || set("end_of_word_suffix");
        if other {
            return None;
        }
        let vocab = model["vocab"].as_object()?;
        let id = |token: &str| vocab.get(token)?.as_u64().and_then(|id| u32::try_from(id).ok());
        let of_byte: Option<Vec<u32>> =
            (0..=255).map(|byte| id(&format!("<0x{byte:02X}>"))).collect();
        let mut of_char = FxHashMap::default();
        for token in vocab.keys() {
            let mut chars = token.chars();
            if let (Some(c), None) = (chars.next(), chars.next()) {
                of_char.insert(c, id(token)?);
            }
        }
        let mut merged = FxHashMap::default();
        for (place, pair) in (0..).zip(model["merges"].as_array()?) {
            let (left, right) = match pair {
                Value::String(pair) => pair.split_once(' ')?,
                pair => (pair[0].as_str()?, pair[1].as_str()?),
            };
            // Of a pair that is listed twice the last place counts.
            merged.insert((id(left)?, id(right)?), (place, id(&format!("{left}{right}"))?));
        }
        Some(Self { of_char, of_byte: of_byte?, merged })
    }

    /// Appends the tokens of a word behind a mark; false if it is too long.
    pub(super) fn encode(&self, mark: char, word: &str, tokens: &mut Vec<u32>) -> bool {
        if word.len() > MOST {
            return false;
        }
        let start = tokens.len();
        for c in std::iter::once(mark).chain(word.chars()) {
            let c = if c == ' ' { mark } else { c };
            match self.of_char.get(&c) {
                Some(&token) => tokens.push(token),
                None => {
                    let mut bytes = [0; 4];
                    let bytes = c.encode_utf8(&mut bytes).bytes();
                    tokens.extend(bytes.map(|byte| self.of_byte[usize::from(byte)]));
                }
            }
        }
        let mut end = tokens.len();
        loop {
            let pairs = tokens[start..end].windows(2).enumerate();
            let found = pairs.filter_map(|(i, pair)| {
                self.merged.get(&(pair[0], pair[1])).map(|&(place, token)| (place, i, token))
            });
            let Some((_, i, token)) = found.min() else { break };
            tokens[start + i] = token;
            tokens.remove(start + i + 1);
            end -= 1;
        }
        true
    }
}
