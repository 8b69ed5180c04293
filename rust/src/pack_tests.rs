//! The laws of the packer on random text, for rulers that add up, do not, and count their work.

use std::cell::Cell;
use std::sync::atomic::AtomicBool;

use proptest::prelude::*;

use super::*;
use crate::chars::CharIndex;
use crate::cuts::separators::Separator;
use crate::ruler::measured::Measured;
use crate::ruler::plain::{Bytes, Chars};
use crate::ruler::words::Words;
use crate::split::Strategy as Cutting;

fn levels(strategy: &Cutting) -> &[Level] {
    match strategy {
        Cutting::Levels(levels) => levels,
        _ => &[],
    }
}

fn pack(text: &str, ruler: &dyn Ruler, limit: Limit, levels: Option<&[Level]>) -> Vec<Packed> {
    let whole = Text::new(text, text.is_ascii());
    let stop = AtomicBool::new(false);
    let guard = Guard::new(&stop, None);
    let packer = Packer::new(&whole, ruler, limit, &guard);
    match levels {
        Some(levels) => packer.by_levels(levels),
        None => packer.by_windows(),
    }
    .unwrap()
}

/// Checks every law that holds for any ruler; `exact` when sizes grow with the text.
fn check(text: &str, ruler: &dyn Ruler, limit: Limit, chunks: &[Packed]) {
    let whole = Text::new(text, false);
    let mut covered = 0;
    for (i, chunk) in chunks.iter().enumerate() {
        let at = format!("chunk {i} {}..{} of {text:?} by {limit:?}", chunk.start, chunk.end);
        assert!(chunk.start < chunk.end && chunk.end <= text.len(), "{at}");
        for border in [chunk.start, chunk.end] {
            assert!(text.is_char_boundary(border), "{at}");
            assert!(whole.graphemes.is_border(border), "{at}");
        }
        let size = ruler.size(chunk.start, chunk.end).unwrap();
        assert_eq!(size, chunk.size, "{at}");
        if size > limit.size {
            assert_eq!(whole.graphemes.next(chunk.start), chunk.end, "over the limit: {at}");
        }
        if limit.trim {
            assert!(whole.trim(chunk.start, chunk.end).is_some(), "blank: {at}");
        }
        if let Some(before) = i.checked_sub(1).map(|j| chunks[j]) {
            assert!(before.start < chunk.start && before.end < chunk.end, "order: {at}");
            if chunk.start < before.end {
                let shared = ruler.size(chunk.start, before.end).unwrap();
                assert!(shared <= limit.overlap, "{shared} shared: {at}");
            }
        }
        if chunk.start > covered {
            let gap = &text[covered..chunk.start];
            assert!(limit.trim && gap.chars().all(char::is_whitespace), "lost {gap:?}: {at}");
        }
        covered = chunk.end;
    }
    let rest = &text[covered..];
    assert!(rest.is_empty() || (limit.trim && rest.trim().is_empty()), "lost {rest:?}");
}

prop_compose! {
    fn limits()(size in 1usize..24, overlap in 0usize..24, min_size in 0usize..24, trim: bool)
        -> Limit {
        Limit { size, overlap: overlap % size, min_size: min_size % (size + 1), trim }
    }
}

const TEXT: &str = "[ab .!?\n\t\r,'\"é漢\u{301}\u{200d}👩🇫🇷\u{600}\u{a0}가ᄀ\u{2029}]{0,80}";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_laws_hold(text in TEXT, limit in limits()) {
        let index = CharIndex::new(&text, false);
        let words = Words::new(&text);
        let count = |part: &str| Ok(part.chars().filter(|c| c.is_alphanumeric()).count());
        // A ruler whose sizes fall as text grows, as token counts can.
        let jumpy = |part: &str| Ok(part.len() / 2 + 3 * (part.len() % 3));
        let asked = Measured::new(&text, count);
        let odd = Measured::new(&text, jumpy);
        let rulers: [&dyn Ruler; 5] =
            [&Bytes { len: text.len() }, &Chars::new(&index), &words, &asked, &odd];
        for ruler in rulers {
            for strategy in [Cutting::recursive(), Cutting::sentence()] {
                check(&text, ruler, limit, &pack(&text, ruler, limit, Some(levels(&strategy))));
            }
            check(&text, ruler, limit, &pack(&text, ruler, limit, None));
        }
    }
}

/// Counts what it is asked, and how long the stretches asked about are.
struct Counting<'r> {
    ruler: &'r dyn Ruler,
    calls: Cell<usize>,
    bytes: Cell<usize>,
}

impl Ruler for Counting<'_> {
    fn size(&self, a: usize, b: usize) -> Result<usize> {
        self.calls.set(self.calls.get() + 1);
        self.bytes.set(self.bytes.get() + b - a);
        self.ruler.size(a, b)
    }

    fn ahead(&self, a: usize, n: usize) -> Result<usize> {
        self.calls.set(self.calls.get() + 1);
        self.ruler.ahead(a, n)
    }

    fn behind(&self, b: usize, n: usize) -> Result<usize> {
        self.calls.set(self.calls.get() + 1);
        self.ruler.behind(b, n)
    }
}

#[test]
fn work_grows_linearly_on_hostile_text() {
    let seeds = [
        "a",
        " ",
        "\n",
        "\r",
        "\r\n",
        ".",
        ". ",
        "x\n",
        "a\n\n",
        "\u{301}",
        "🇫🇷",
        "e\u{301}",
        "ᄀ",
        "\u{2028}",
        "👩\u{200d}",
        "क्",
        "\"",
        "漢",
        "。",
        "Dr. ",
        "- \n",
        "\u{600}",
    ];
    for seed in seeds {
        let work = |n: usize| {
            let text = seed.repeat(n / seed.len());
            let ruler = Counting {
                ruler: &Bytes { len: text.len() },
                calls: Cell::new(0),
                bytes: Cell::new(0),
            };
            for overlap in [0, 20] {
                for trim in [true, false] {
                    let limit = Limit { size: 64, overlap, min_size: 10, trim };
                    for strategy in [Cutting::recursive(), Cutting::sentence()] {
                        pack(&text, &ruler, limit, Some(levels(&strategy)));
                    }
                    pack(&text, &ruler, limit, None);
                }
            }
            (ruler.calls.get(), ruler.bytes.get())
        };
        let (once, twice) = (work(40_000), work(80_000));
        assert!(twice.0 <= once.0 * 22 / 10 + 200, "{seed:?}: calls {once:?} {twice:?}");
        assert!(twice.1 <= once.1 * 22 / 10 + 200_000, "{seed:?}: bytes {once:?} {twice:?}");
    }
}

#[test]
fn pieces_of_an_opened_piece_pack_among_themselves() {
    let text = "aa bb.\n\ncc dd ee ff gg. hh ii.\n\njj kk.";
    let words = Words::new(text);
    let limit = Limit { size: 5, overlap: 0, min_size: 0, trim: true };
    let strategy = Cutting::recursive();
    let cut = |limit| {
        let chunks = pack(text, &words, limit, Some(levels(&strategy)));
        chunks.iter().map(|chunk| &text[chunk.start..chunk.end]).collect::<Vec<_>>()
    };
    assert_eq!(cut(limit), ["aa bb.", "cc dd ee ff gg.", "hh ii.", "jj kk."]);
    assert_eq!(
        cut(Limit { min_size: 3, ..limit }),
        ["aa bb.", "cc dd ee ff gg.", "hh ii.\n\njj kk."]
    );
}

/// Blank runs were once walked back at every cut in them, which no count of the ruler's work shows:
/// the run is so long that this test would take hours.
#[test]
fn blank_runs_are_passed_once() {
    for (head, blank, levels) in [
        ("a b ".repeat(200), "\n", Cutting::recursive()),
        ("word\n".repeat(40), " \n", Cutting::recursive()),
        ("a".into(), " ", Cutting::separators(vec![Separator::literal(" ", None).unwrap()])),
    ] {
        let text = format!("{head}{}{head}", blank.repeat(400_000));
        let words = Words::new(&text);
        for trim in [true, false] {
            let limit = Limit { size: 64, overlap: 8, min_size: 0, trim };
            for ruler in [&Bytes { len: text.len() } as &dyn Ruler, &words] {
                let chunks = pack(&text, ruler, limit, Some(self::levels(&levels)));
                assert!(!chunks.is_empty());
            }
        }
    }
}
