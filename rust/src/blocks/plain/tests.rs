use proptest::prelude::*;

use super::*;
use crate::blocks::laws;

fn check(text: &str, found: &Blocks) {
    laws::check(text, found, |_| false);
}

/// The titles of a text with their levels.
fn headings(text: &str) -> Vec<(u16, String)> {
    let found = blocks(text);
    check(text, &found);
    let levels = found.blocks.iter().filter(|block| block.level > 0).map(|block| block.level);
    levels.zip(found.titles.clone()).collect()
}

fn seen(text: &str) -> Vec<(Kind, u16, &str)> {
    let found = blocks(text);
    check(text, &found);
    let blocks = found.blocks.iter();
    blocks.map(|block| (block.kind, block.depth, text[block.start..block.end].trim())).collect()
}

/// Titles one after the other with a paragraph below each.
fn document(titles: &[&str]) -> String {
    titles.iter().map(|title| format!("{title}\n\nSome text, as there is.\n\n")).collect()
}

#[test]
fn numbers_and_names_give_titles_their_level() {
    let cases: [&[(u16, &str)]; 9] = [
        &[
            (1, "1. Introduction"),
            (2, "1.1 Scope"),
            (3, "1.1.1 Who"),
            (2, "1.2 Terms"),
            (1, "2. Methods"),
        ],
        &[(1, "1 Introduction"), (1, "2 Methods"), (2, "2.1. Data"), (1, "3 Results")],
        &[
            (1, "Chapter 1: Dawn"),
            (2, "1.1 Light"),
            (1, "Chapter 2"),
            (2, "2.1 More"),
            (2, "2.2 Yet more"),
            (1, "Appendix A. Tables"),
            (2, "A.1 First"),
        ],
        &[
            (1, "Part I"),
            (2, "Chapter 1"),
            (2, "Chapter 2"),
            (1, "Part II"),
            (2, "Chapter 3 - The End"),
        ],
        &[(1, "I. Origins"), (1, "II. Growth"), (1, "III. Decline"), (1, "IV. Afterwards")],
        &[(1, "A. Background"), (1, "B. Findings")],
        &[(1, "Kapitel 4"), (1, "Anhang B"), (1, "Глава 5")],
        &[(1, "0 Foreword"), (1, "1 Einführung"), (2, "1.1 Überblick")],
        &[(1, "1. 概要"), (1, "2. 方法")],
    ];
    for want in cases {
        let titles: Vec<_> = want.iter().map(|&(_, title)| title).collect();
        let want: Vec<_> = want.iter().map(|&(level, title)| (level, title.to_owned())).collect();
        assert_eq!(headings(&document(&titles)), want);
    }
}

#[test]
fn rules_make_titles() {
    let text = "Top\n===\n\ntext\n\nSub\n---\ntext\n\n****\nOver\n****\n\n1. Numbered\n-----------\n\nTop two\n=======\n";
    let want = [(1, "Top"), (2, "Sub"), (3, "Over"), (2, "1. Numbered"), (1, "Top two")];
    assert_eq!(headings(text), want.map(|(level, title)| (level, title.to_owned())));
}

#[test]
fn false_friends_are_no_titles() {
    for text in [
        "1. buy milk\n2. buy bread\n",
        "1. buy milk\n\n2. buy bread\n",
        "1. Buy milk\n2. Buy bread\n3. Go home\n",
        "12.03.2024 Meeting\n\nWe met.\n",
        "3. March 2024\n\nWe met.\n",
        "2024 Was a good year\n\nIt was.\n",
        "1.2 million people came\n\nThey did.\n",
        "3.14 Is about pi\n\nIt is.\n",
        "2.0.1 Released today\n\n1.9.0 Released before\n\n",
        "1. This is a sentence that ends.\n\n2. So is this.\n",
        "I. Newton saw it\n\nHe did.\n",
        "C. Elegans\n\nA worm.\n",
        "5 Apples\n\nA recipe.\n",
        "Chapter 3 describes the method\n\nIt does.\n",
        "Part A of the agreement\n\nIt says.\n",
        "See\n1.1 Scope\nfor this.\n",
        "1.5 Kg of flour\n\n2.5 Kg of sugar\n\n",
        "007 Bond\n\nJames.\n",
        "Name   Age\n----------\nAnn    7\n",
        "a paragraph,\n-----------\n",
        "- item\n------\n",
        "word\n-- \n",
        "a\n====================================\n",
    ] {
        assert_eq!(headings(text), [], "{text:?}");
    }
}

#[test]
fn items_tables_and_paragraphs() {
    let text = "\
Shopping:
- milk
- bread,
  two loaves

  and more
    * inner
- end

1. one
2. two

    Name    Count
    -----   -----
    Apple       3
    Pear       12

Two words.  And two
blanks.  No table.

-----
last (c) line
";
    use Kind::{Item, Prose, Rule, Table};
    assert_eq!(
        seen(text),
        [
            (Prose, 0, "Shopping:"),
            (Item, 2, "- milk"),
            (Item, 2, "- bread,\n  two loaves"),
            (Prose, 2, "and more"),
            (Item, 4, "* inner"),
            (Item, 2, "- end"),
            (Item, 2, "1. one"),
            (Item, 2, "2. two"),
            (Table, 2, "Name    Count\n    -----   -----\n    Apple       3\n    Pear       12"),
            (Prose, 0, "Two words.  And two\nblanks.  No table."),
            (Prose, 0, "-----\nlast (c) line"),
        ]
    );
    let found = blocks(text);
    let table = found.blocks.iter().find(|block| block.kind == Table).unwrap();
    assert_eq!(text[table.start..table.head].trim(), "Name    Count\n    -----   -----");
    assert_eq!(seen("a\n\n---\n\nb")[1].0, Rule);
    assert_eq!(seen("+--+\n|a |\n+--+\n")[0].0, Table);
}

#[test]
fn work_grows_with_the_lines() {
    for part in [
        "1. A title\n\n",
        "- a\n",
        "  - a\n - b\n",
        "a\n==\n\n",
        "a  b\nc  d\n",
        "x\n",
        "1.1 A\n",
        "I. A\n\n",
    ] {
        let asked = |times: usize| {
            let text = part.repeat(times);
            let mut reader = reader(&text);
            reader.read();
            (reader.lines.asked.get(), reader.lines.len())
        };
        let ((one, _), (two, lines)) = (asked(2_000), asked(4_000));
        assert!(
            two <= 2 * one + 40 && two <= 40 * lines + 40,
            "{part:?}: {one}, {two} for {lines}"
        );
    }
}

const PARTS: &[&str] = &[
    "- ",
    "* ",
    "1. ",
    "2. ",
    "1.1 ",
    "(a) ",
    "IV. ",
    "I. ",
    "II. ",
    "A. ",
    "Chapter 1",
    "Appendix B: ",
    "====",
    "----",
    "***",
    "|",
    "+--+",
    "Title",
    "Title Two",
    "a  b",
    "c  d",
    ".",
    "  ",
    "    ",
    "\n",
    "\n",
    "\n\n",
    "\n\n",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn any_text_keeps_the_laws(text in laws::texts(PARTS)) {
        check(&text, &blocks(&text));
    }
}
