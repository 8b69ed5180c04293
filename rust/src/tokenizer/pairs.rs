//! BPE over characters, as of Llama's tokenizers: bytes for characters that the vocabulary has not, and
//! pairs merged wherever they stand, the first of the list first. For single words.

use rustc_hash::FxHashMap;
use serde_json::Value;

/// Bytes of the longest word that is merged here: each merge looks at all pairs that are left.
const MOST: usize = 128;

/// More symbols than a word's bytes make: three, where the mark is none of the vocabulary's.
const MARK: usize = 3;

/// No merge.
const NONE: (u32, u32) = (u32::MAX, 0);

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
        // What each token becomes with the next. A merge changes two of these, and takes one away.
        let mut pairs = [NONE; MOST + MARK];
        let mut left = tokens.len() - start - 1;
        for (pair, two) in pairs.iter_mut().zip(tokens[start..].windows(2)) {
            *pair = self.pair(two[0], two[1]);
        }
        while let Some((at, &(place, token))) =
            pairs[..left].iter().enumerate().min_by_key(|(_, (place, _))| *place)
            && place < NONE.0
        {
            let here = start + at;
            tokens[here] = token;
            tokens.remove(here + 1);
            pairs.copy_within(at + 1..left, at);
            left -= 1;
            if at < left {
                pairs[at] = self.pair(token, tokens[here + 1]);
            }
            if let Some(before) = at.checked_sub(1) {
                pairs[before] = self.pair(tokens[here - 1], token);
            }
        }
        true
    }

    fn pair(&self, one: u32, next: u32) -> (u32, u32) {
        self.merged.get(&(one, next)).copied().unwrap_or(NONE)
    }
}
