//! What the blocks of every form keep, and texts that try to break it.

use proptest::prelude::*;

use super::{Block, Blocks, Kind};

/// Checks the laws of [`Blocks`] over `text`. `is_mark` says whether a line between two blocks that
/// is not blank may belong to none, as one that holds nothing but marks.
pub(crate) fn check(text: &str, found: &Blocks, is_mark: impl Fn(&str) -> bool) {
    let mut end = 0;
    let mut before = 0;
    for block in &found.blocks {
        let Block { kind, level, depth, shared, lists, start, head, .. } = *block;
        assert!(end <= start, "blocks stand in order and apart: {block:?} of {text:?}");
        assert!(start < block.end && block.end <= text.len(), "{block:?} of {text:?}");
        assert!(start <= head && head <= block.end, "{block:?} of {text:?}");
        for at in [start, head, block.end] {
            assert!(text.is_char_boundary(at), "{block:?} of {text:?}");
        }
        assert!(is_line_start(text, start), "a block starts a line: {block:?} of {text:?}");
        assert!(is_line_start(text, block.end) || block.end == text.len(), "{block:?} of {text:?}");
        assert!(
            !text[start..block.end].trim().is_empty(),
            "no block is blank: {block:?} of {text:?}"
        );
        assert_eq!(kind == Kind::Heading, level > 0, "{block:?} of {text:?}");
        assert!(shared <= depth && shared <= before, "{block:?} behind {before} of {text:?}");
        // In no list without a depth, and in none together that shares nothing.
        assert!(depth > 0 || lists.bits() & 7 == 0, "{block:?} of {text:?}");
        assert!(shared > 0 || lists.bits() >> 3 == 0, "{block:?} of {text:?}");
        check_left(text, end, start, &is_mark);
        (end, before) = (block.end, depth);
    }
    check_left(text, end, text.len(), &is_mark);
    let headings = found.blocks.iter().filter(|block| block.kind == Kind::Heading).count();
    assert_eq!(found.titles.len(), headings, "{text:?}");
    for title in &found.titles {
        assert_eq!(title, title.trim(), "{text:?}");
    }
}

/// What no block covers is blank.
fn check_left(text: &str, start: usize, end: usize, is_mark: impl Fn(&str) -> bool) {
    for line in text[start..end].split(['\n', '\r']) {
        let line = line.trim_start_matches('\u{feff}');
        assert!(line.trim().is_empty() || is_mark(line), "{line:?} is in no block of {text:?}");
    }
}

fn is_line_start(text: &str, at: usize) -> bool {
    matches!(&text[..at], "" | "\u{feff}") || text[..at].ends_with(['\n', '\r'])
}

/// Texts of a form: its own marks and words in any order.
pub(crate) fn texts(parts: &'static [&'static str]) -> impl Strategy<Value = String> {
    let part = prop_oneof![
        8 => prop::sample::select(parts).prop_map(str::to_owned),
        2 => prop::sample::select(&["\n", "\n\n", " ", "\r\n", "\t", "\u{a0}", "Word", "ä", "漢字"][..])
            .prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(part, 0..60).prop_map(|parts| parts.concat())
}

mod markdown {
    use proptest::prelude::*;

    use crate::blocks::markdown::blocks;

    const PARTS: &[&str] = &[
        "# ",
        "## ",
        "===",
        "---",
        "- ",
        "1. ",
        "> ",
        "```",
        "~~~",
        "    ",
        "| a | b |",
        "|---|---|",
        "[a]: b",
        "[^1]: ",
        "<div>",
        "</div>",
        "<!--",
        "-->",
        "***",
        "word",
        "*em*",
        "`code`",
        "\\",
        "\n",
        "\n\n",
    ];

    /// Whether a line holds nothing but marks of lists and quotes.
    fn is_marks(line: &str) -> bool {
        line.chars().all(|c| " \t>-*+.)".contains(c) || c.is_ascii_digit())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]

        #[test]
        fn any_markdown_keeps_the_laws(text in super::texts(PARTS)) {
            // What CommonMark takes for text though it is blank.
            let is_strange = |c: char| c.is_whitespace() && !" \t\n\r".contains(c);
            let text: String = text.chars().map(|c| if is_strange(c) { 'x' } else { c }).collect();
            super::check(&text, &blocks(&text), is_marks);
        }
    }
}
