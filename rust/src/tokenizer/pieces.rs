//! Where a text may be cut for a foreign tokenizer, so that the tokens of the pieces, one after the
//! other, are those of the whole.
//!
//! There are two kinds of cut. *Space*: a visible character, the cut, U+0020. *Line*: a visible
//! character, U+000A, the cut, a letter or digit. Each step of a tokenizer must leave them be:
//!
//! * *Added tokens* are looked for first. None may hold white space, so none crosses a cut, and none
//!   may take in the white space beside it.
//! * *Normalizer*: of those that are taken, each maps a character, or a character with the marks that
//!   follow it, by itself. Both cuts stand before a character that starts anew, and no composition
//!   reaches over U+0020 or U+000A.
//! * *Pre-tokenizer*, either one that drops white space first: words depend on themselves. Or one of
//!   the patterns of `patterns.rs`, on the text as it is, up to marks and case: none of them has a
//!   stretch in which U+0020 follows a visible character, nor one in which a letter or digit follows
//!   U+000A; so both cuts are borders in the whole text, and what follows is matched as it was, for no
//!   pattern looks back. What precedes a space cut ends visibly and so does not look ahead either
//!   (`ruler/tokens.rs`, *End*). What precedes a line cut ends in one U+000A, the first white space
//!   after a visible character: it is a match of its own, or the end of one, cut or not.
//! * *Model*: it is handed one stretch at a time.
//!
//! Anything else (Metaspace on its own, prepending and stripping normalizers, an unknown pattern) has
//! no certain cut. The first metaspace of a text is one of the things that tell its start, so after
//! Metaspace only spaces are cut at: there, and nowhere else, no word begins a piece.

use tokenizers::normalizers::NormalizerWrapper;
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::tokenizer::{NormalizedString, SplitDelimiterBehavior};
use tokenizers::{ModelWrapper, Normalizer, Tokenizer};

use super::patterns::Pattern;

/// Bytes of a piece at least: about 20 ms of work.
const PIECE: usize = 1 << 15;

/// Which cuts are certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cuts {
    Nowhere,
    Spaces,
    SpacesAndLines,
}

impl Cuts {
    pub(super) fn of(tokenizer: &Tokenizer) -> Self {
        let Some(pre_tokenizer) = tokenizer.get_pre_tokenizer() else { return Self::Nowhere };
        let normalizer = tokenizer.get_normalizer();
        let added = tokenizer.get_added_tokens_decoder();
        let added_stay = added.values().all(|token| {
            let plain = |c: char| match normalizer {
                Some(_) if token.normalized => c.is_ascii_graphic(),
                _ => !c.is_whitespace(),
            };
            let taken = !token.special;
            token.content.chars().all(plain) && !(taken && (token.lstrip || token.rstrip))
        });
        let (cuts, drops_blanks) = by_pre_tokenizer(pre_tokenizer);
        if !added_stay || !normalizer.is_none_or(|normalizer| is_local(normalizer, drops_blanks)) {
            return Self::Nowhere;
        }
        cuts
    }

    /// The end of a piece of `text` that starts at `from`: a certain cut, or the end of the text.
    pub(super) fn piece(self, text: &str, from: usize) -> usize {
        let bytes = text.as_bytes();
        if self == Self::Nowhere || bytes.len() - from <= 2 * PIECE {
            return bytes.len();
        }
        self.next_cut(text, from + PIECE)
    }

    /// The first certain cut at `first` or after, or the end of the text.
    fn next_cut(self, text: &str, first: usize) -> usize {
        let bytes = text.as_bytes();
        let rest = if self == Self::Nowhere { &[] } else { bytes.get(first..).unwrap_or(&[]) };
        for at in memchr::memchr2_iter(b' ', b'\n', rest) {
            let at = first + at;
            if !text[..at].chars().next_back().is_some_and(is_visible) {
                continue;
            }
            if bytes[at] == b' ' {
                return at;
            }
            let next = text[at + 1..].chars().next();
            if self == Self::SpacesAndLines && next.is_some_and(starts_a_word) {
                return at + 1;
            }
        }
        bytes.len()
    }
}

/// What a pre-tokenizer lets be, and whether it drops white space before all else.
fn by_pre_tokenizer(pre_tokenizer: &PreTokenizerWrapper) -> (Cuts, bool) {
    use PreTokenizerWrapper as Pre;
    match pre_tokenizer {
        Pre::BertPreTokenizer(_) | Pre::Whitespace(_) | Pre::WhitespaceSplit(_) => {
            (Cuts::SpacesAndLines, true)
        }
        Pre::ByteLevel(bytes) if bytes.use_regex => (by_prefix(bytes.add_prefix_space), false),
        Pre::Split(split) if is_known(split) => (Cuts::SpacesAndLines, false),
        Pre::Sequence(steps) => {
            let Some((first, more)) = steps.as_ref().split_first() else {
                return (Cuts::Nowhere, false);
            };
            // The steps after the first see its stretches one at a time; those that add something in
            // front of a text's first stretch see a piece's start as such.
            let cuts = match by_pre_tokenizer(first) {
                (Cuts::SpacesAndLines, drops) => {
                    let prefix = more.iter().any(|step| match step {
                        Pre::Metaspace(_) => true,
                        Pre::ByteLevel(bytes) => bytes.add_prefix_space,
                        _ => false,
                    });
                    (by_prefix(prefix), drops)
                }
                other => other,
            };
            let nested = more.iter().any(|step| matches!(step, Pre::Sequence(_)));
            if nested { (Cuts::Nowhere, false) } else { cuts }
        }
        _ => (Cuts::Nowhere, false),
    }
}

fn by_prefix(added: bool) -> Cuts {
    if added { Cuts::Spaces } else { Cuts::SpacesAndLines }
}

/// Whether a split cuts a text into the matches of a known pattern. All of them match every text
/// throughout, so it makes no difference whether what lies between is kept.
fn is_known(split: &Split) -> bool {
    let SplitPattern::Regex(regex) = &split.pattern else { return false };
    let whole = matches!(
        (&split.behavior, split.invert),
        (SplitDelimiterBehavior::Isolated, _) | (SplitDelimiterBehavior::Removed, true)
    );
    whole && Pattern::in_json(regex).is_some()
}

/// Whether a normalizer maps characters, with their marks, one by one, and a space to a space; to
/// other white space and to none as well, if a pre-tokenizer follows that drops white space.
fn is_local(normalizer: &NormalizerWrapper, drops_blanks: bool) -> bool {
    use NormalizerWrapper as Norm;
    match normalizer {
        Norm::NFC(_) | Norm::NFD(_) | Norm::NFKC(_) | Norm::NFKD(_) | Norm::Lowercase(_) => true,
        Norm::BertNormalizer(_) | Norm::StripAccents(_) | Norm::Nmt(_) => drops_blanks,
        Norm::Precompiled(_) => {
            drops_blanks
                && [" ", "\n"].into_iter().all(|blank| {
                    let mut text = NormalizedString::from(blank);
                    normalizer.normalize(&mut text).is_ok()
                        && !text.get().is_empty()
                        && text.get().chars().all(char::is_whitespace)
                })
        }
        Norm::Sequence(steps) => steps.as_ref().iter().all(|step| is_local(step, drops_blanks)),
        _ => false,
    }
}

/// Characters that are visible, stay so under every normalizer taken, and do not join with what
/// follows. More are; these are enough to find a cut.
fn is_visible(c: char) -> bool {
    c.is_ascii_graphic()
        || starts_a_word(c)
        || matches!(c, '\u{c0}'..='\u{24f}' | '\u{391}'..='\u{3c9}' | '\u{5d0}'..='\u{5ea}')
        || matches!(c, '\u{620}'..='\u{64a}' | '\u{6d4}' | '\u{904}'..='\u{939}' | '\u{964}')
        || matches!(c, '\u{e01}'..='\u{e30}' | '\u{3001}' | '\u{3002}' | '\u{ff01}'..='\u{ff5e}')
}

/// Letters and digits that stay such under every normalizer taken, and join with nothing before.
fn starts_a_word(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || matches!(c, '\u{410}'..='\u{44f}' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}')
        || matches!(c, '\u{4e00}'..='\u{9fcc}' | '\u{ac00}'..='\u{d7a3}')
}

/// The model and the pre-tokenizer, for people.
pub(super) fn describe(tokenizer: &Tokenizer) -> String {
    let model = match tokenizer.get_model() {
        ModelWrapper::BPE(_) => "BPE",
        ModelWrapper::WordPiece(_) => "WordPiece",
        ModelWrapper::WordLevel(_) => "WordLevel",
        ModelWrapper::Unigram(_) => "Unigram",
    };
    let pre_tokenizer = tokenizer.get_pre_tokenizer();
    format!("{model}, {}", pre_tokenizer.map_or("no pre-tokenizer".to_owned(), name))
}

fn name(pre_tokenizer: &PreTokenizerWrapper) -> String {
    use PreTokenizerWrapper as Pre;
    let name = match pre_tokenizer {
        Pre::BertPreTokenizer(_) => "BertPreTokenizer",
        Pre::ByteLevel(bytes) if bytes.use_regex => "ByteLevel with the gpt2 pattern",
        Pre::ByteLevel(_) => "ByteLevel",
        Pre::Delimiter(_) => "CharDelimiterSplit",
        Pre::Metaspace(_) => "Metaspace",
        Pre::Whitespace(_) => "Whitespace",
        Pre::WhitespaceSplit(_) => "WhitespaceSplit",
        Pre::Punctuation(_) => "Punctuation",
        Pre::Digits(_) => "Digits",
        Pre::UnicodeScripts(_) => "UnicodeScripts",
        Pre::FixedLength(_) => "FixedLength",
        Pre::Split(split) => {
            let known = match &split.pattern {
                SplitPattern::Regex(regex) if is_known(split) => Pattern::in_json(regex),
                _ => None,
            };
            return match known {
                Some(pattern) => format!("Split by the {} pattern", pattern.name()),
                None => "Split by an unknown pattern".to_owned(),
            };
        }
        Pre::Sequence(steps) => {
            return steps.as_ref().iter().map(name).collect::<Vec<_>>().join(" + ");
        }
    };
    name.to_owned()
}

#[cfg(test)]
#[path = "pieces_tests.rs"]
mod tests;
