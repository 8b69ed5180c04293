//! BPE over characters, as of Llama's tokenizers: bytes for characters that the vocabulary has not, and
//! pairs merged wherever they stand, the first of the list first. For single words, and parts of them:
//! nothing is merged over a place where two characters meet that stand side by side in no token.

use rustc_hash::FxHashMap;
use serde_json::Value;

/// Bytes of the longest word that is merged here: each merge looks at all pairs that are left.
pub(super) const MOST: usize = 128;

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
    /// Whether two characters of ASCII stand side by side in some token.
    side_by_side: Vec<[bool; 128]>,
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
        let (mut of_char, mut side_by_side) = (FxHashMap::default(), vec![[false; 128]; 128]);
        for token in vocab.keys() {
            for two in token.as_bytes().windows(2).filter(|two| two.is_ascii()) {
                side_by_side[usize::from(two[0])][usize::from(two[1])] = true;
            }
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
        Some(Self { of_char, of_byte: of_byte?, merged, side_by_side })
    }

    /// Where the part of a word ends that starts at `at`: nothing is merged over its borders.
    pub(super) fn part_end(&self, word: &str, at: usize) -> usize {
        let apart = |two: &[u8]| {
            two.is_ascii()
                && two[0] != b' '
                && !self.side_by_side[usize::from(two[0])][usize::from(two[1])]
        };
        let rest = &word.as_bytes()[at..];
        rest.windows(2).position(apart).map_or(word.len(), |place| at + place + 1)
    }

    /// Appends the tokens of a part of a word, behind a mark if it is the first.
    pub(super) fn encode(&self, mark: char, part: &str, is_first: bool, tokens: &mut Vec<u32>) {
        let start = tokens.len();
        let chars = is_first.then_some(mark).into_iter().chain(part.chars());
        for c in chars.map(|c| if c == ' ' { mark } else { c }) {
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
    }

    fn pair(&self, one: u32, next: u32) -> (u32, u32) {
        self.merged.get(&(one, next)).copied().unwrap_or(NONE)
    }
}
