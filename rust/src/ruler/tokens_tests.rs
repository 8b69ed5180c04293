//! The ruler against counts of the slices themselves.

use proptest::prelude::*;

use std::sync::Arc;

use super::{TokenMarks, TokenRuler, WORTH_A_THREAD, parts};
use crate::guard::{Guard, NEVER};
use crate::ruler::{Ruler, reach};
use crate::tokenizer::engine::Engine;
use crate::tokenizer::tests::{NAMES, TEXTS, bundled};
use crate::tokenizer::{Tokenizer, bpe};

fn guard() -> Guard<'static> {
    Guard::new(&NEVER, None)
}

/// A ruler over `text`.
pub(crate) fn ruler<'t, E: Engine>(
    engine: &Arc<E>,
    text: &'t str,
    threads: usize,
) -> TokenRuler<'t, E> {
    let marks = TokenMarks::new(&**engine, text, threads, &guard()).unwrap();
    TokenRuler::new(engine.clone(), text, Arc::new(marks))
}

fn borders(text: &str) -> Vec<usize> {
    (0..=text.len()).filter(|&at| text.is_char_boundary(at)).collect()
}

/// Every span of `text`, with each tokenizer.
fn every_span(text: &str) {
    for (name, bundled) in NAMES.into_iter().zip(bundled()) {
        let tokenizer = Tokenizer::from_name(name).unwrap();
        let ruler = ruler(bundled, text, 1);
        let borders = borders(text);
        for (index, &a) in borders.iter().enumerate() {
            for &b in &borders[index..] {
                let expected = tokenizer.count(&text[a..b], &guard()).unwrap();
                assert_eq!(ruler.size(a, b).unwrap(), expected, "{name} {text:?} {a}..{b}");
            }
        }
    }
}

#[test]
fn sizes_of_every_span() {
    for text in TEXTS {
        every_span(text);
    }
}

#[test]
fn sizes_of_every_span_of_runs() {
    for run in [" ", "\n", " \n", "\r\n", "a", "1", "!", "'s", "中", "\u{301}", "\t ", "-\n"] {
        for tail in ["", "x", " x", "\n", "!", "1", "\u{3000}y"] {
            every_span(&(run.repeat(30) + tail));
        }
    }
}

#[test]
fn positions_are_those_of_the_whole_encoding() {
    for (name, bundled) in NAMES.into_iter().zip(bundled()) {
        let tokenizer = Tokenizer::from_name(name).unwrap();
        for text in TEXTS {
            let (_, ends) = tokenizer.encode(text, &guard()).unwrap();
            let ruler = ruler(bundled, text, 1);
            for at in 0..=text.len() {
                // The token that holds byte `at`, and the one that holds the byte before.
                let first = ends.partition_point(|&end| end <= at);
                let last = ends.partition_point(|&end| end < at);
                for n in [0, 1, 2, 3, 7, 50, 500, usize::MAX] {
                    let ahead = match n.checked_sub(1) {
                        None => at,
                        Some(n) => *ends.get(first.saturating_add(n)).unwrap_or(&text.len()),
                    };
                    assert_eq!(ruler.ahead(at, n).unwrap(), ahead, "{text:?} ahead {at} {n}");
                    let behind = match (n, at) {
                        (0, _) | (_, 0) => at,
                        _ => last.checked_sub(n).map_or(0, |index| ends[index]),
                    };
                    assert_eq!(ruler.behind(at, n).unwrap(), behind, "{text:?} behind {at} {n}");
                }
            }
        }
    }
}

/// `reach` from every place of `text` and for every budget, against a look at all ends.
fn every_reach(text: &str) {
    for (name, bundled) in NAMES.into_iter().zip(bundled()) {
        let ruler = ruler(bundled, text, 1);
        let borders = borders(text);
        for (index, &a) in borders.iter().enumerate() {
            let sizes: Vec<_> =
                borders[index..].iter().map(|&b| (b, ruler.size(a, b).unwrap())).collect();
            let most = sizes.iter().map(|&(_, size)| size).max().unwrap();
            for budget in 0..=most + 1 {
                let furthest = sizes.iter().rev().find(|&&(_, size)| size <= budget).unwrap().0;
                let found = reach(text, &ruler, a, budget).unwrap();
                assert_eq!(found, furthest, "{name} {text:?} from {a}, budget {budget}");
            }
        }
    }
}

#[test]
fn reach_is_the_furthest() {
    for text in TEXTS {
        every_reach(text);
    }
    for run in [" ", "\n", " \n", "\r\n", "a", "1", "!", "'s", "中", "\u{301}", "\t ", "-\n"] {
        for tail in ["", "x", " x", "\n", "!"] {
            every_reach(&(run.repeat(20) + tail));
        }
    }
}

#[test]
fn reach_stops_looking_at_some_point() {
    let [cl100k, ..] = bundled();
    let text = "z".repeat(100_000);
    let ruler = ruler(cl100k, &text, 1);
    let end = reach(&text, &ruler, 1, 100).unwrap();
    assert!(ruler.size(1, end).unwrap() <= 100);
    assert!(ruler.size(1, end + 1).unwrap() > 100);
}

/// The spans that are measured grow with the budget, not with what lies behind it.
#[test]
fn reach_looks_at_what_the_budget_reaches() {
    struct Counted<'r, R> {
        inner: &'r R,
        bytes: std::cell::Cell<usize>,
    }
    impl<R: Ruler> Ruler for Counted<'_, R> {
        fn size(&self, a: usize, b: usize) -> crate::error::Result<usize> {
            self.bytes.set(self.bytes.get() + b - a);
            self.inner.size(a, b)
        }
        fn ahead(&self, a: usize, n: usize) -> crate::error::Result<usize> {
            self.inner.ahead(a, n)
        }
        fn behind(&self, b: usize, n: usize) -> crate::error::Result<usize> {
            self.inner.behind(b, n)
        }
        fn furthest(&self, a: usize, n: usize) -> crate::error::Result<usize> {
            self.inner.furthest(a, n)
        }
    }
    for (name, bundled) in NAMES.into_iter().zip(bundled()) {
        for part in ["7", "'s", "z", "ab", "\n", ".", "中", "\u{301}", "1234567890", " x", "\u{0}"]
        {
            let text = part.repeat(60_000 / part.len());
            let inner = ruler(bundled, &text, 1);
            for a in [0, 1, 2, 3, 5].map(|at| text.floor_char_boundary(at)) {
                let ruler = Counted { inner: &inner, bytes: Default::default() };
                let end = reach(&text, &ruler, a, 10).unwrap();
                assert!(inner.size(a, end).unwrap() <= 10, "{name} {part:?} {a}");
                assert!(ruler.bytes.get() < 300_000, "{name} {part:?} {a}: {}", ruler.bytes.get());
            }
        }
    }
}

#[test]
fn a_span_that_is_none_is_refused() {
    let [cl100k, ..] = bundled();
    let ruler = ruler(cl100k, "é", 1);
    for (a, b) in [(1, 2), (0, 1), (2, 0), (0, 3)] {
        assert!(ruler.size(a, b).is_err());
    }
}

const PARTS: &[&str] = &[
    "word",
    "The",
    " it's",
    "'LL",
    "'",
    "HTTPServer",
    " ",
    "  ",
    "\n",
    "\r\n",
    "\t",
    "\n\n",
    " \n ",
    "1",
    "12",
    "1234",
    ".",
    "!!",
    "//",
    " -",
    "é",
    "e\u{301}",
    "\u{301}",
    "中文",
    "字",
    "日本語",
    "。",
    "😀",
    "👨\u{200d}👩",
    "\u{a0}",
    "\u{3000}",
    "\u{85}",
    "ж",
    "Ж",
    "नमस्ते",
    "ǅ",
    "ʰ",
    "\u{17f}",
    "==",
    "aaaaaaaaaaaaaaaaaaaaaaaa",
    "aGVsbG8gd29ybGQhIHRoaXMgaXMgYmFzZTY0",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn sizes_of_random_spans(
        parts in proptest::collection::vec(proptest::sample::select(PARTS), 1..120),
        spans in proptest::collection::vec((any::<proptest::sample::Index>(), any::<proptest::sample::Index>()), 20),
    ) {
        let text = parts.concat();
        let borders = borders(&text);
        for (name, bundled) in NAMES.into_iter().zip(bundled()) {
            let tokenizer = Tokenizer::from_name(name).unwrap();
            let ruler = ruler(bundled, &text, 1);
            for (one, other) in &spans {
                let (one, other) = (*one.get(&borders), *other.get(&borders));
                let (a, b) = (one.min(other), one.max(other));
                let expected = tokenizer.count(&text[a..b], &guard()).unwrap();
                prop_assert_eq!(ruler.size(a, b).unwrap(), expected, "{} {}..{}", name, a, b);
            }
        }
    }
}

#[test]
fn parts_measured_by_several_threads_make_the_whole() {
    let seed =
        "Some words, 12345 of them.\n\nA line \r\n \n  code(x)\ttab\n漢字かな\nend it's\n\n\n";
    let text = seed.repeat(4 * WORTH_A_THREAD / seed.len());
    for bundled in bundled() {
        let one = ruler(bundled, &text, 1);
        for threads in [2, 3, 8] {
            let many = ruler(bundled, &text, threads);
            assert!(many.marks == one.marks, "{threads} threads");
        }
    }
    let [cl100k, _, r50k, _] = bundled();
    assert!(parts(&**cl100k, &text, 4).len() == 4);
    for (bundled, text) in
        [(cl100k, "no place\n1 to\n cut"), (r50k, "no\nplace\n\n to\n1\n cut"), (cl100k, "")]
    {
        assert!(matches!(parts(&**bundled, text, 3).as_slice(), [all] if *all == (0..text.len())));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Both sides of a certain start, on their own, are as they were.
    #[test]
    fn certain_starts_are_certain(
        parts in proptest::collection::vec(proptest::sample::select(PARTS), 1..60),
    ) {
        let text = parts.concat();
        for (name, bundled) in NAMES.into_iter().zip(bundled()) {
            let tokenizer = Tokenizer::from_name(name).unwrap();
            let (_, whole) = tokenizer.encode(&text, &guard()).unwrap();
            let mut from = 0;
            while let Some(at) = bundled.certain_start(&text, from) {
                let (_, mut ends) = tokenizer.encode(&text[..at], &guard()).unwrap();
                let (_, rest) = tokenizer.encode(&text[at..], &guard()).unwrap();
                ends.extend(rest.iter().map(|end| at + end));
                prop_assert_eq!(&ends, &whole, "{} {:?} {}", name, text, at);
                from = at;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Spans of pretokens far longer than what is merged at their ends.
    #[test]
    fn sizes_inside_long_pretokens(
        parts in proptest::collection::vec(
            prop_oneof![
                "[a-z]{1,40}".boxed(),
                "[a-zA-Z]{20,90}".boxed(),
                "(ab|abc|a){5,60}".boxed(),
                "[\u{4e00}-\u{4fff}\u{3040}-\u{30ff}]{1,60}".boxed(),
                "[\u{410}-\u{450}]{1,60}".boxed(),
                "[=\\-#*]{1,60}".boxed(),
                " {1,300}".boxed(),
            ],
            8..60,
        ),
        spans in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 40),
    ) {
        let text = parts.concat();
        let borders: Vec<usize> =
            text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        for (name, bundled) in NAMES.into_iter().zip(bundled()) {
            let tokenizer = Tokenizer::from_name(name).unwrap();
            let ruler = ruler(bundled, &text, 1);
            for (one, other) in &spans {
                let (one, other) = (*one.get(&borders), *other.get(&borders));
                let (a, b) = (one.min(other), one.max(other));
                let expected = tokenizer.count(&text[a..b], &guard()).unwrap();
                prop_assert_eq!(ruler.size(a, b).unwrap(), expected, "{} {}..{} {:?}", name, a, b, text);
            }
        }
    }
}

/// A span inside a megabyte without a blank is merged at its ends only.
#[test]
fn a_long_pretoken_is_not_merged_again() {
    let mut state = 1u32;
    let mut letter = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b'a' + (state >> 24) as u8 % 26)
    };
    let text: String = (0..100_000).map(|_| letter()).collect();
    for bundled in bundled() {
        let ruler = ruler(bundled, &text, 1);
        for (a, b) in [(0, 99_999), (1, 100_000), (17, 60_001), (50_000, 50_300)] {
            let before = bpe::work();
            let size = ruler.size(a, b).unwrap();
            assert!(bpe::work() - before <= 1024, "{a}..{b}");
            assert_eq!(size, bundled.count(&text[a..b], &guard()).unwrap());
        }
    }
}
