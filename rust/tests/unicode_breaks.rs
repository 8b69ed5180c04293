//! Unicode's own break tests, against our grapheme borders and the crate that the cuts rest on.
//!
//! The files are those of Debian's package `unicode-data` (Unicode 15.0), or of the directory
//! named by `CANTLE_UNICODE_DIR`. The crate implements Unicode 17; the lines that a later version
//! changed are listed below, each with its reason.

use std::path::PathBuf;

use cantle::cuts::graphemes::Graphemes;
use unicode_segmentation::UnicodeSegmentation;

/// Where the package puts the files.
const PACKAGED: &str = "/usr/share/unicode/auxiliary";

/// U+2701 was `Extended_Pictographic` in version 15 and no longer is in 17, so that a joiner
/// before it joins nothing. (U+2702, which stayed one, is still joined.)
const SCISSORS: &str = "÷ 2701 × 200D × 2701 ÷";
/// The same character after a letter and a joiner.
const LETTER_AND_SCISSORS: &str = "÷ 0061 × 200D × 2701 ÷";

/// A text and the byte offsets at which it breaks, both ends included.
struct Line {
    text: String,
    breaks: Vec<usize>,
    source: String,
}

fn lines(name: &str) -> Vec<Line> {
    let folder = std::env::var_os("CANTLE_UNICODE_DIR").map_or(PACKAGED.into(), PathBuf::from);
    let path = folder.join(name);
    let file = std::fs::read_to_string(&path).unwrap_or_else(|error| {
        panic!(
            "{}: {error}. Install Debian's package `unicode-data` (apt-get install unicode-data), \
             or name the directory of the Unicode break tests in CANTLE_UNICODE_DIR.",
            path.display()
        )
    });
    file.lines().filter_map(parse).collect()
}

/// Reads `÷ 0020 × 0308 ÷ 0020 ÷  # remark`; lines without marks are remarks.
fn parse(line: &str) -> Option<Line> {
    let marks = line.split('#').next()?.trim();
    let (mut text, mut breaks) = (String::new(), Vec::new());
    for item in marks.split_whitespace() {
        match item {
            "÷" => breaks.push(text.len()),
            "×" => {}
            code => {
                let code = u32::from_str_radix(code, 16).expect("a code point");
                // Surrogates cannot stand in UTF-8; older files hold some.
                text.push(char::from_u32(code)?);
            }
        }
    }
    (!breaks.is_empty()).then(|| Line { text, breaks, source: marks.to_owned() })
}

/// Every line breaks as it says, but for `changed` ones, which must all differ.
fn check(name: &str, changed: &[&str], breaks: impl Fn(&str) -> Vec<usize>) {
    let lines = lines(name);
    assert!(lines.len() > 500, "{name} holds {} lines", lines.len());
    let packaged = std::env::var_os("CANTLE_UNICODE_DIR").is_none();
    let differing: Vec<&str> = lines
        .iter()
        .filter(|line| breaks(&line.text) != line.breaks)
        .map(|line| line.source.as_str())
        .collect();
    let unknown: Vec<_> = differing.iter().filter(|line| !changed.contains(line)).collect();
    assert!(unknown.is_empty(), "{name}: {} lines differ: {unknown:#?}", unknown.len());
    if packaged {
        assert_eq!(differing.len(), changed.len(), "{name}: the list of changed lines is stale");
    }
}

fn starts<'t>(pieces: impl Iterator<Item = (usize, &'t str)>, text: &str) -> Vec<usize> {
    pieces.map(|(start, _)| start).chain([text.len()]).collect()
}

#[test]
fn graphemes() {
    check("GraphemeBreakTest.txt", &[SCISSORS], |text| {
        let graphemes = Graphemes::new(text);
        let boundaries = (0..=text.len()).filter(|&at| text.is_char_boundary(at));
        boundaries.filter(|&at| graphemes.is_border(at)).collect()
    });
}

#[test]
fn words() {
    check("WordBreakTest.txt", &[SCISSORS, LETTER_AND_SCISSORS], |text| {
        starts(text.split_word_bound_indices(), text)
    });
}

#[test]
fn sentences() {
    check("SentenceBreakTest.txt", &[], |text| starts(text.split_sentence_bound_indices(), text));
}
