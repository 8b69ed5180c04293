//! The borders against the crate's own segmentation, on every kind of character.

use proptest::prelude::*;

use super::*;

/// The slow, obvious version: every border of the text.
fn oracle(text: &str) -> Vec<usize> {
    text.grapheme_indices(true).map(|(start, _)| start).chain([text.len()]).collect()
}

fn clusters(text: &str) -> usize {
    text.graphemes(true).count()
}

fn agrees(text: &str) {
    let borders = oracle(text);
    let (warm, whole) = (Graphemes::new(text), Graphemes::new(text));
    whole.borders();
    for at in 0..=text.len() {
        let floor = *borders.iter().rfind(|&&b| b <= at).expect("the start");
        let ceil = *borders.iter().find(|&&b| b >= at).expect("the end");
        let next = borders.iter().find(|&&b| b > at).copied().unwrap_or(text.len());
        let prev = borders.iter().rfind(|&&b| b < at).copied().unwrap_or(0);
        for graphemes in [&Graphemes::new(text), &warm, &whole] {
            assert_eq!(graphemes.floor(at), floor, "floor {at} of {text:?}");
            assert_eq!(graphemes.ceil(at), ceil, "ceil {at} of {text:?}");
            assert_eq!(graphemes.next(at), next, "next {at} of {text:?}");
            assert_eq!(graphemes.prev(at), prev, "prev {at} of {text:?}");
            if text.is_char_boundary(at) {
                assert_eq!(graphemes.is_border(at), floor == at, "{at} of {text:?}");
            }
        }
    }
}

#[test]
fn every_listed_character_keeps_what_its_kind_promises() {
    for c in '\0'..=char::MAX {
        let joins_left = c != '\n' && clusters(&format!("a{c}")) == 1;
        let joins_right = c != '\r' && clusters(&format!("{c}a")) == 1;
        let kind = kind(c);
        // `Unsure` before `Plain` is called certain, so no prepended one may hide there.
        assert_eq!(kind == Kind::Prepend, joins_right, "{c:?} {:04X}", c as u32);
        if matches!(kind, Kind::Plain | Kind::Solid) {
            assert!(!joins_left, "{c:?} {:04X}", c as u32);
            // One of each sort that could join it: conjunct, pictograph, flag, jamo.
            for (left, right) in [
                (c, 'क'),
                ('क', c),
                (c, '👩'),
                ('👩', c),
                (c, '한'),
                ('하', c),
                ('한', c),
                ('©', c),
                ('\u{200B}', c),
            ] {
                assert_eq!(clusters(&format!("{left}{right}")), 2, "{left:?} {right:?}");
            }
        }
        let first = c.encode_utf8(&mut [0; 4]).as_bytes()[0];
        assert!(kind == Kind::Plain || !is_plain_lead(first), "{c:?}");
        if kind == Kind::Mark {
            for text in [format!("क{c}क"), format!("©{c}©"), format!("한{c}한"), format!("a{c}a")]
            {
                assert_eq!(clusters(&text), 2, "{text:?}");
                let first = text.graphemes(true).next();
                assert!(first.is_some_and(|first| first.ends_with(c)), "{text:?}");
            }
        }
        if kind == Kind::Plain {
            for left in
                ["क\u{94D}", "👩\u{200D}", "🇩", "\u{1100}", "\u{1161}", "a\u{301}", "\u{11A8}"]
            {
                assert_eq!(clusters(&format!("{left}{c}")), 2, "{left:?} {c:?}");
            }
        }
    }
}

#[test]
fn every_pair_of_ranges_is_cut_as_the_crate_cuts_it() {
    // The first and last character of every run of one kind, against each other.
    let mut edges = vec!['\r', '\n', ' ', 'a'];
    let mut previous = Kind::Unsure;
    let mut last = '\0';
    for c in '\0'..=char::MAX {
        let now = kind(c);
        if now != previous {
            edges.extend([last, c]);
        }
        (previous, last) = (now, c);
    }
    for &left in &edges {
        for &right in &edges {
            if is_certain(left, kind(left), right, kind(right)) {
                assert_eq!(clusters(&format!("{left}{right}")), 2, "{left:?} {right:?}");
            }
        }
    }
}

#[test]
fn seeds_at_every_alignment() {
    let seeds = [
        "",
        "\r\n",
        "e\u{301}",
        "👩\u{200D}👩\u{200D}👧",
        "🇩🇪🇫🇷🇮",
        "한\u{1112}\u{1161}\u{11AB}",
        "क\u{94D}ष\u{94D}ण",
        "\u{600}1",
        "👍🏽",
        "❤\u{FE0F}\u{200D}🔥",
    ];
    for seed in seeds {
        for pad in 0..9 {
            agrees(&format!("{}{seed}{}", "a".repeat(pad), "é".repeat(pad % 3)));
            agrees(&format!("{}{seed}", "क".repeat(pad)));
        }
    }
}

#[test]
fn clusters_longer_than_the_reach() {
    for unit in ["\u{301}", "🇩", "👩\u{200D}", "\u{1100}", "क\u{94D}", "\u{600}"] {
        agrees(&format!("a{}b", unit.repeat(200)));
        agrees(&unit.repeat(130));
    }
}

#[test]
fn a_text_without_certain_borders_is_segmented_once_and_then_answered_in_place() {
    let text = format!("a{}", "\u{301}".repeat(500_000));
    let graphemes = Graphemes::new(&text);
    assert!(graphemes.borders.get().is_none());
    for at in 1..200_000 {
        assert_eq!((graphemes.floor(at), graphemes.ceil(at)), (0, text.len()));
    }
    assert!(graphemes.borders.get().is_some());
}

#[test]
fn ordinary_text_is_never_segmented_whole() {
    for line in [
        "Plain words, naïve façade.\r\n",
        "庭に猫がいる。",
        "यह पहला वाक्य है। ",
        "비가 온다. ",
        "👩\u{200D}👧 ok ",
    ] {
        let text = line.repeat(50);
        let graphemes = Graphemes::new(&text);
        for at in 0..=text.len() {
            graphemes.ceil(graphemes.floor(at) + 1);
        }
        assert!(graphemes.borders.get().is_none(), "{line:?}");
    }
}

fn rich_text() -> impl Strategy<Value = String> {
    let bits = prop::sample::select(vec![
        "a",
        " ",
        "\r",
        "\n",
        "é",
        "\u{301}",
        "\u{308}",
        "\u{200D}",
        "\u{FE0F}",
        "🇩",
        "🇪",
        "👩",
        "👧",
        "❤",
        "🏽",
        "\u{1100}",
        "\u{1161}",
        "\u{11A8}",
        "한",
        "하",
        "क",
        "ष",
        "\u{94D}",
        "\u{93E}",
        "ক",
        "\u{9CD}",
        "\u{600}",
        "\u{6DD}",
        "\u{D4E}",
        "ด",
        "ำ",
        "ि",
        "़",
        "ं",
        "া",
        "漢",
        "。",
        "©",
        "\u{AD}",
        "\u{200B}",
        "\u{1F3FB}",
        "က",
        "\u{1039}",
        "ⴰ",
        "\u{E0061}",
    ]);
    prop::collection::vec(bits, 0..40).prop_map(|bits| bits.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn agrees_on_rich_text(text in rich_text()) {
        agrees(&text);
    }

    #[test]
    fn agrees_on_any_text(text in any::<String>()) {
        agrees(&text);
    }
}
