//! Every character under every setting, against the crate.

use tokenizers::normalizers::BertNormalizer;
use tokenizers::pre_tokenizers::bert::BertPreTokenizer;
use tokenizers::tokenizer::{
    NormalizedString, Normalizer, OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer,
};

use super::{ALONE, Characters, GONE, MANY, SPACE, Settings, WORD};

/// Stays what it is under every setting, and nothing else becomes it.
const EDGE: char = '\u{2603}';

/// All settings.
fn settings() -> impl Iterator<Item = Settings> {
    (0..16).map(|bits| Settings {
        clean_text: bits & 1 != 0,
        handle_chinese_chars: bits & 2 != 0,
        strip_accents: bits & 4 != 0,
        lowercase: bits & 8 != 0,
    })
}

/// What the crate makes of each of the characters: a kind (of `MANY`, `WORD`), and what it becomes.
fn theirs(settings: Settings, chars: &[char]) -> Vec<(u8, String)> {
    let Settings { clean_text, handle_chinese_chars, strip_accents, lowercase } = settings;
    let normalizer =
        BertNormalizer::new(clean_text, handle_chinese_chars, Some(strip_accents), lowercase);
    let text: String = chars.iter().flat_map(|&c| [EDGE, c, EDGE, '\n']).collect();
    let mut text = NormalizedString::from(text);
    normalizer.normalize(&mut text).unwrap();
    let mut text = PreTokenizedString::from(text);
    BertPreTokenizer.pre_tokenize(&mut text).unwrap();
    let splits = text.get_splits(OffsetReferential::Normalized, OffsetType::Byte);
    let mut splits = splits.into_iter().map(|(split, ..)| split);
    let mut found = Vec::new();
    let edge = EDGE.to_string();
    while let Some(split) = splits.next() {
        let inner = split.strip_prefix(EDGE).unwrap();
        if let Some(inner) = inner.strip_suffix(EDGE) {
            found.push((if inner.is_empty() { GONE } else { WORD }, inner.to_owned()));
            continue;
        }
        // What parts the edges: all of it, but for white space.
        assert_eq!(split, edge);
        let alone: String = splits.by_ref().take_while(|split| *split != edge).collect();
        found.push(if alone.is_empty() { (SPACE, " ".to_owned()) } else { (ALONE, alone) });
    }
    found
}

/// Compares all characters of `codes`.
fn compare(codes: std::ops::Range<u32>) {
    let chars: Vec<char> = codes.filter_map(char::from_u32).collect();
    for settings in settings() {
        let characters = Characters::new(settings);
        for some in chars.chunks(4096) {
            for (&c, (kind, becomes)) in some.iter().zip(theirs(settings, some)) {
                let (ours, mapped) = characters.mapped(c);
                let mut bytes = [0; 4];
                let bytes = c.encode_utf8(&mut bytes).as_bytes();
                assert_eq!(characters.kind(bytes, 0), (ours, bytes.len()));
                let told = format!("{c:?} {settings:?}");
                if ours == MANY {
                    // Ends inside a character lie at its bytes.
                    let mut parts = String::new();
                    settings.parts(c, |part, _, kept| {
                        settings.lower(part, |c| parts.extend(kept.then_some(c)));
                    });
                    assert_eq!((WORD, &parts), (kind, &becomes), "{told}");
                    assert!(parts.chars().count() <= bytes.len(), "{told}");
                } else {
                    assert_eq!(ours, kind, "{told}");
                    if matches!(kind, WORD | ALONE) {
                        assert_eq!(mapped.to_string(), becomes, "{told}");
                    }
                }
            }
        }
    }
}

#[test]
fn characters_map_as_by_the_crate() {
    compare(0..0x4000);
    // Of the large scripts, which are alike within, some; all of them when this was written.
    for start in [0x4dc0, 0x9f00, 0xa000, 0xd780, 0xe000, 0xf800, 0xff00, 0x10000, 0x1d100, 0x1e900]
    {
        compare(start..start + 0x200);
    }
    for start in [0x1f300, 0x20000, 0x2a600, 0x2f800, 0x3_0000, 0xe_0000, 0x10_ff00] {
        compare(start..start + 0x100);
    }
}
