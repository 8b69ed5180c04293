use proptest::prelude::*;

use super::*;
use crate::blocks::laws;

/// Each block as its kind, its depth and what it says; a heading's level stands for its depth.
fn seen(text: &str) -> Vec<(Kind, u16, &str)> {
    let found = blocks(text);
    check(text, &found);
    let level = |block: &Block| if block.level > 0 { block.level } else { block.depth };
    let blocks = found.blocks.iter();
    blocks.map(|block| (block.kind, level(block), text[block.start..block.end].trim())).collect()
}

fn check(text: &str, found: &Blocks) {
    laws::check(text, found, is_marks);
}

/// Whether a line is made of marks of items alone.
fn is_marks(line: &str) -> bool {
    line.split_whitespace().all(|mark| {
        mark.trim_matches(['(', ')', '.', '#', '-', '*', '+', '•', '‣', '⁃']).len() <= 15
            && mark.chars().count() <= 18
    })
}

#[test]
fn titles_take_their_level_from_the_order_of_adornments() {
    let text = "\
====
 Top
====

Intro
text

Part
====
Sub ``x``
~~~~~~~~~
1. Numbered
~~~~~~~~~~~

Other
=====
not
a title
=======

abc
==
......

Title
---
";
    use Kind::{Heading, Prose, Rule};
    assert_eq!(
        seen(text),
        [
            (Heading, 1, "====\n Top\n===="),
            (Prose, 0, "Intro\ntext"),
            (Heading, 2, "Part\n===="),
            (Heading, 3, "Sub ``x``\n~~~~~~~~~"),
            (Heading, 3, "1. Numbered\n~~~~~~~~~~~"),
            (Heading, 2, "Other\n====="),
            (Prose, 0, "not\na title\n======="),
            (Prose, 0, "abc\n==\n......"),
            (Prose, 0, "Title\n---"),
        ]
    );
    assert_eq!(blocks(text).titles, ["Top", "Part", "Sub x", "1. Numbered", "Other"]);
    assert_eq!(
        seen("a\n\n-----\n\nb").iter().map(|block| block.0).collect::<Vec<_>>(),
        [Prose, Rule, Prose]
    );
}

#[test]
fn what_a_line_stands_in_is_told_by_its_column() {
    let text = "\
- one
  more

  second paragraph

  * inner
- two

1. first
#. next

term
   its meaning

   - a list
other
   meaning

    quoted

:field: value
   goes on
:two: b

-a, --all=X  does it
--long
    described
";
    use Kind::{Item, Prose};
    assert_eq!(
        seen(text),
        [
            (Item, 2, "- one\n  more"),
            (Prose, 2, "second paragraph"),
            (Item, 4, "* inner"),
            (Item, 2, "- two"),
            (Item, 2, "1. first"),
            (Item, 2, "#. next"),
            (Item, 2, "term"),
            (Prose, 2, "its meaning"),
            (Item, 4, "- a list"),
            (Item, 2, "other"),
            (Prose, 2, "meaning"),
            (Prose, 3, "quoted"),
            (Item, 2, ":field: value\n   goes on"),
            (Item, 2, ":two: b"),
            (Item, 2, "-a, --all=X  does it"),
            (Item, 2, "--long\n    described"),
        ]
    );
    let shared: Vec<_> = blocks(text).blocks.iter().map(|block| block.shared).collect();
    assert_eq!(shared, [0, 2, 2, 1, 0, 1, 0, 2, 2, 1, 2, 2, 0, 1, 0, 1]);
}

#[test]
fn code_tables_and_notes_are_whole() {
    let text = "\
Look::

    Title
    =====

    x

.. code-block:: python
   :linenos:

   def f():

       pass

.. note:: Beware.

   Of this.

.. _target:
.. a comment
   Title
   =====

   more
.. [1] A footnote
   goes on.

>>> 1 + 1
2

+----+----+
| a  | b  |
+====+====+
| 1  | 2  |
+----+----+

==  ===
a   b
==  ===
1   2

3   4
==  ===

::

  bare

Quoted::

> x
> y
";
    use Kind::{Code, Note, Prose, Table};
    assert_eq!(
        seen(text),
        [
            (Prose, 0, "Look::"),
            (Code, 0, "Title\n    =====\n\n    x"),
            (Code, 0, ".. code-block:: python\n   :linenos:\n\n   def f():\n\n       pass"),
            (Prose, 1, ".. note:: Beware."),
            (Prose, 1, "Of this."),
            (Note, 0, ".. _target:"),
            (Note, 0, ".. a comment\n   Title\n   =====\n\n   more"),
            (Note, 0, ".. [1] A footnote\n   goes on."),
            (Code, 0, ">>> 1 + 1\n2"),
            (Table, 0, "+----+----+\n| a  | b  |\n+====+====+\n| 1  | 2  |\n+----+----+"),
            (Table, 0, "==  ===\na   b\n==  ===\n1   2\n\n3   4\n==  ==="),
            (Code, 0, "::\n\n  bare"),
            (Prose, 0, "Quoted::"),
            (Code, 0, "> x\n> y"),
        ]
    );
    let found = blocks(text);
    let heads: Vec<_> = found
        .blocks
        .iter()
        .map(|block| &text[block.start..block.head])
        .filter(|head| !head.is_empty())
        .collect();
    assert_eq!(
        heads,
        [
            ".. code-block:: python\n   :linenos:\n\n",
            "+----+----+\n| a  | b  |\n+====+====+\n",
            "==  ===\na   b\n==  ===\n"
        ]
    );
}

#[test]
fn what_looks_like_markup_and_is_none_is_text() {
    use Kind::Prose;
    for text in [
        "- - -text",
        "A. Einstein was\na physicist",
        "-no",
        "::",
        ":ref:`x` is: a role",
        "=== ===\nno end",
        "+--",
        "--",
        "..x",
        "__init__ is",
        ">>>x",
        "|x|",
        ":a",
        "1.5 is",
        "(a b",
    ] {
        let kinds: Vec<_> = seen(text).iter().map(|block| block.0).collect();
        assert!(
            kinds.iter().all(|&kind| kind == Prose) || text.starts_with("- - "),
            "{text:?}: {kinds:?}"
        );
    }
}

/// The lines asked for grow with the lines there are.
#[test]
fn work_grows_with_the_lines() {
    for (part, last) in [
        ("- a\n", ""),
        ("- - - - - a\n", ""),
        ("a\n===\n\n", ""),
        ("a::\n\n", "  x"),
        ("== ==\na b\n\n", "x"),
        ("== ==\n", ""),
        ("::\n", ""),
        ("\n\n\n\n", "x"),
        ("+--+\n", ""),
        ("| a\n", ""),
        (".. a\n\n", " b"),
        (".. code::\n\n  x\n", ""),
        ("a\n b\n  c\n   d\n", ""),
        (":a:\n", " b"),
        ("> x\n", "\n"),
        ("===\n", "a"),
        ("1. a\nb\n", ""),
        ("1. a\n\n\n", ""),
    ] {
        let asked = |times: usize| {
            let text = part.repeat(times) + last;
            let mut reader = Reader::new(Lines::new(&text));
            reader.read();
            (reader.lines.asked.get(), reader.lines.len())
        };
        let ((one, _), (two, lines)) = (asked(2_000), asked(4_000));
        assert!(
            two <= 2 * one + 40 && two <= 20 * lines + 40,
            "{part:?}: {one}, {two} for {lines}"
        );
    }
}

const PARTS: &[&str] = &[
    "- ",
    "* ",
    "1. ",
    "(a) ",
    "#. ",
    "iv) ",
    ":field: ",
    ":a:",
    "--all  ",
    "-x ",
    ".. ",
    ".. note:: ",
    ".. code::",
    ".. list-table:: x",
    ".. [1] ",
    "..",
    "__ x",
    "::",
    "text::",
    "====",
    "----",
    "~~~~~~",
    "==",
    "== ==",
    "=== ===",
    "+--+--+",
    "+==+==+",
    "|",
    "| a | b |",
    ">>> x",
    "> q",
    "word",
    "Two words",
    "  ",
    "    ",
    "\n  ",
    "\n    ",
    "\n",
    "\n",
    "\n\n",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn any_text_keeps_the_laws(text in laws::texts(PARTS)) {
        check(&text, &blocks(&text));
    }
}
