"""`Structural`, blocks that are handed in, and what chunks carry of their documents' structure."""

from __future__ import annotations

import copy
import hashlib
import json
import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

import cantle
import markdown_texts
from cantle import Block, Blocks, Structural

HANDBOOK = """\
---
title: Handbook
---
# Handbook

Who is it for? Everyone.

## Buying

We buy from gardens[^1] and [brokers][b].

[^1]: Nineteen of them.

[b]: https://example.org

### Samples

1. Weigh the bag.
2. Open it.
   - Look at the leaf.
   - Smell it.
3. Fill two tins.

## Storing

| shelf | tea | tins |
| --- | --- | ---: |
| 1 | black | 20 |
| 2 | green | 14 |
| 3 | white | 3 |

```sh
# no heading
label --all
```

# Annex

## Storing

Nothing yet.
"""


def test_sections_with_their_paths():
    chunks = Structural(60, unit="words", depth="all").split(HANDBOOK, id="hb.md")
    assert [(chunk.heading_path, chunk.kind, chunk.line_start) for chunk in chunks] == [
        ((), "front_matter", 1),
        (("Handbook",), "prose", 4),
        (("Handbook", "Buying"), "prose", 8),
        (("Handbook", "Buying", "Samples"), "list", 16),
        (("Handbook", "Storing"), "table", 24),
        (("Annex", "Storing"), "prose", 37),
    ]
    assert chunks.heading_paths == [chunk.heading_path for chunk in chunks]
    assert chunks[2].text.endswith("[b]: https://example.org"), "what belongs to it stays in it"
    assert not chunks.flags.any()
    assert chunks.line_end.tolist() == [3, 6, 14, 22, 35, 41]
    structure = chunks.structure
    assert structure.titles == ["Handbook", "Buying", "Samples", "Storing", "Annex", "Storing"]
    assert structure.level.tolist() == [1, 2, 3, 2, 1, 2]
    assert structure.above.tolist() == [-1, 0, 1, 0, -1, 4]
    at = structure.byte_start.tolist()[3]
    assert HANDBOOK.encode()[at:].startswith(b"## Storing\n\n|")


def test_what_is_too_large_is_cut_inside_its_section():
    chunks = Structural(14, unit="words", depth="all").split(HANDBOOK)
    assert [chunk.text for chunk in chunks if "Samples" in chunk.heading_path] == [
        "### Samples\n\n1. Weigh the bag.",
        "2. Open it.\n   - Look at the leaf.\n   - Smell it.",
        "3. Fill two tins.",
    ]
    tables = [chunk for chunk in chunks if chunk.kind == "table"]
    assert len(tables) > 1
    header = "| shelf | tea | tins |\n| --- | --- | ---: |"
    assert [chunk.context for chunk in tables[1:]] == [header] * (len(tables) - 1)
    assert all(chunk.flags == cantle.PART for chunk in tables)
    assert [chunk.text for chunk in chunks if chunk.kind == "code"] == [
        "```sh\n# no heading\nlabel --all\n```"
    ]


def test_parts_of_a_fence_carry_its_first_line_and_close_together():
    text = "```py\n" + "x = 1\n" * 12 + "```\n"
    chunks = Structural(30, unit="chars").split(text)
    assert chunks[0].text.startswith("```py\nx = 1")
    assert chunks[-1].text.endswith("x = 1\n```")
    assert chunks.contexts == ["", *["```py"] * (len(chunks) - 1)]
    assert (chunks.flags == cantle.PART).all()
    span = chunks[1].context_span
    assert span == (0, 5, 0, 5)
    assert chunks[0].context_span is None


def test_a_heading_is_left_alone_where_the_table_below_fits_without_it():
    text = "# A title of some length\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    chunks = Structural(30, unit="chars").split(text)
    assert chunks.texts == ["# A title of some length", "| a | b |\n|---|---|\n| 1 | 2 |"]
    assert not chunks.flags.any()
    assert chunks.heading_paths == [("A title of some length",)] * 2


def test_one_section_of_depth_two_and_forty_of_depth_three_take_three():
    """X7, to the unit: headings weigh nothing here, so sizes are those that are written there."""
    text = "## Rules\n\n" + "".join(f"### Rule {i}\n\n{'word ' * 400}\n\n" for i in range(40))
    splitter = Structural(1_200, unit=lambda text: text.count("word"), target=800)
    chunks = splitter.split(text)
    assert chunks.report[0].depth == 3
    reason = chunks.report[0].reason
    assert "at depth 2 1 section of 16000 " in reason
    assert "at depth 3 40 sections of 400 " in reason
    assert chunks.size.tolist() == [400] * 40


def test_the_depth_is_chosen_for_each_document():
    """The same as counted in words, and a document of another form beside it."""
    forty = "## Rules\n\n" + "".join(f"### Rule {i}\n\n{'word ' * 397}\n\n" for i in range(40))
    two = "".join(f"## Part {i}\n\n{'word ' * 390}\n\n### Below\n\n{'word ' * 9}\n\n" for i in "ab")
    splitter = Structural(800, unit="words")
    chunks = splitter.split_all([forty, two, "no heading", ""], ids=["forty", "two", "none", "nil"])
    report = chunks.report
    assert [(one.id, one.depth) for one in report] == [
        ("forty", 3),
        ("two", 2),
        ("none", 2),
        ("nil", 2),
    ]
    assert report[0].reason == (
        "depth 3: at depth 2 1 section of 16002 words (median); at depth 3 40 sections of 400 "
        "words (median); the first within 0.4 to 1.5 times the target of 800"
    )
    assert report[2].reason == "depth 2: no heading of level 4 or less"
    assert np.bincount(chunks.doc).tolist() == [40, 2, 1]
    assert Structural(800, unit="words", depth=1).split(two).report[0].reason == "depth 1, as asked"
    every = Structural(800, unit="words", depth="all").split(two)
    assert (every.report[0].depth, every.report[0].reason) == (None, "every heading, as asked")
    deep = splitter.split("#### Deep\n\nx").report[0].reason
    assert deep.endswith("none within 0.4 to 1.5 times the target of 800, so 2")
    assert cantle.Recursive().split(two).report == []


def test_a_heading_is_not_left_alone_where_what_follows_is_cut_anyway():
    text = "# A title\n\n" + "word " * 30 + ".\n\n## Next\n\nShort. " + "long " * 12 + "\n"
    chunks = Structural(12, unit="words", depth="all").split(text)
    assert chunks[0].text.startswith("# A title\n\nword word")
    assert [c.text for c in chunks if "## Next" in c.text] == ["## Next\n\nShort."]
    # A sentence that fits alone stays whole.
    alone = Structural(7, unit="words").split("# A title\n\nSix words stand in this sentence.\n")
    assert alone.texts == ["# A title", "Six words stand in this sentence."]


def test_small_sections_are_merged_where_that_is_asked():
    text = "# A\n\none two\n\n# B\n\nthree\n\n# C\n\n" + "word " * 30
    chunks = Structural(20, unit="words", depth="all", min_size=5).split(text)
    assert chunks[0].text == "# A\n\none two\n\n# B\n\nthree"
    assert chunks[0].heading_path == ("A",)


WRONG = [
    ("depth zero", {"depth": 0}, ValueError, "depth (0) must be at least 1"),
    ("depth below", {"depth": -1}, ValueError, "depth (-1) must not be negative"),
    ("depth as a word", {"depth": "deep"}, ValueError,
     'depth ("deep") must be "auto", "all" or a heading\'s level'),
    ("depth as a float", {"depth": 2.5}, TypeError, "depth (2.5) must be a whole number"),
    ("depth as a bool", {"depth": True}, TypeError, "depth (True) must be a whole number"),
    ("target zero", {"target": 0}, ValueError, "target (0) must be at least 1"),
    ("target as text", {"target": "9"}, TypeError, "target ('9') must be a whole number, not str"),
    ("min_size", {"min_size": 600}, ValueError, "min_size (600) must not be larger than size"),
    ("prefix", {"prefix": 3}, TypeError, "prefix (3) must be a template or None"),
    ("template", {"prefix": "{head}"}, ValueError, 'prefix ("{head}") names {head}; known are '
     "{title}, {path}, {context}, {notes}, {text}"),
    ("format", {"format": "word"}, ValueError, "format ('word') must be one of 'auto', 'markdown'"),
    ("format as a number", {"format": 1}, TypeError, "format (1) must be str"),
]  # fmt: skip


@pytest.mark.parametrize(("settings", "error", "words"), [w[1:] for w in WRONG],
                         ids=[w[0] for w in WRONG])  # fmt: skip
def test_wrong_settings_are_named(settings, error, words):
    with pytest.raises(error) as caught:
        Structural(**settings)
    assert words in str(caught.value)


# ---------------------------------------------------------------------- before the text


def test_what_stands_before_a_chunk():
    text = "# A\n\n## B\n\nfirst words\n\n| h |\n|---|\n" + "| cell |\n" * 9
    chunks = Structural(40, unit="chars").split(text, metadata={"title": "T"})
    assert chunks[0].embed_text == f"T > A > B\n\n{chunks[0].text}"
    assert chunks[-1].embed_text == f"T > A > B\n\n| h |\n|---|\n{chunks[-1].text}"
    assert chunks.embed_texts == [chunk.embed_text for chunk in chunks]
    plain = cantle.Recursive(40, unit="chars").split(text, metadata={"title": "T"})
    assert plain[0].embed_text == f"T\n\n{plain[0].text}"
    assert cantle.Recursive(40, unit="chars").split(text)[0].embed_text == plain[0].text


def test_a_prefix_that_is_too_long_loses_its_outer_headings_first():
    text = "# " + "outer " * 9 + "\n\n## inner\n\n" + "body words here. " * 3
    for size, kept in ((200, 2), (60, 1), (9, 0)):
        chunks = Structural(size, unit="chars", prefix="{path}").split(text)
        assert all(len(chunk.embed_text) <= size for chunk in chunks)
        last = chunks[-1]
        path = last.heading_path[2 - kept :]
        assert last.embed_text == (" > ".join(path) + "\n\n" + last.text if path else last.text)
        assert bool(last.flags & cantle.SHORTENED) == (kept < 2)


# --------------------------------------------------------------------- blocks handed in


def pdf() -> Blocks:
    return Blocks(
        [
            Block("Report 2026", kind="heading", level=1, page=1, box=(0, 0, 10, 1)),
            Block("An intro über alles.\n", page=1, box=(0, 2, 10, 3)),
            Block("  \n", page=1),
            Block("Prices", kind="heading", level=2, page=2),
            Block("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |", kind="table", page=2, header=2),
            Block("first", kind="list", page=3),
            Block("second", kind="list", page=3),
        ]
    )


def test_blocks_that_are_handed_in():
    found = pdf()
    assert found.text == (
        "Report 2026\n\nAn intro über alles.\n\nPrices\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\nfirst\n\nsecond"
    )
    assert found.texts[1:4] == ["An intro über alles.", "", "Prices"]
    assert found.kind.tolist()[3:5] == ["heading", "table"]
    assert found.page.tolist() == [1, 1, 1, 2, 2, 3, 3]
    assert np.isnan(found.box[2]).all()
    assert list(found)[4] == Block(
        "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |", kind="table", page=2, header=2
    )
    for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert again == found
    chunks = Structural(40, unit="chars", depth="all").split(found, id="r.pdf")
    assert [(c.heading_path[-1], c.kind, c.page, list(c.blocks)) for c in chunks] == [
        ("Report 2026", "prose", 1, [0, 1]),
        ("Prices", "heading", 2, [3]),
        ("Prices", "table", 2, [4]),
        ("Prices", "list", 3, [5, 6]),
    ]
    assert chunks.documents.texts == (found.text,)
    again = pickle.loads(pickle.dumps(chunks))
    assert again == chunks
    assert again.page.tolist() == chunks.page.tolist()


def test_blocks_and_texts_go_together():
    found = pdf()
    for strategy in (Structural(9, unit="words"), cantle.Recursive(9, unit="words")):
        many = strategy.split_all([found, "# T\n\nplain", Blocks([])], ids=["a", "b", "c"])
        assert many[many.doc == 0].texts == strategy.split(found).texts
        assert many[many.doc == 0].heading_paths == strategy.split(found).heading_paths
        batches = list(strategy.stream([found, "# T\n\nplain"], batch=1))
        assert [text for batch in batches for text in batch.texts] == many.texts
    assert many[many.doc == 1].heading_paths == [()]
    assert many[many.doc == 1].kind.tolist() == ["prose"]


def test_a_callers_own_spans_over_blocks():
    found = pdf()
    chunks = cantle.Chunks.from_spans([found, "plain"], [[(0, 11), (35, 72)], [(0, 5)]])
    assert chunks.kind.tolist() == ["heading", "table", "prose"]
    assert chunks.heading_paths == [("Report 2026",), ("Report 2026", "Prices"), ()]
    assert chunks.page.tolist() == [1, 2, 1]
    part = cantle.Chunks.from_spans([found], [[(63, 75)]])
    assert part[0].flags == cantle.PART
    assert part[0].context == "| a | b |\n|---|---|"


WRONG_BLOCKS = [
    ({"text": 3}, TypeError, "text (3) must be str"),
    ({"text": "x", "kind": "verse"}, ValueError, "kind ('verse') must be one of 'prose', "),
    ({"text": "x", "kind": "heading"}, ValueError, "level (0) must be at least 1 for a heading"),
    ({"text": "x", "level": 2}, ValueError, "level (2) must be 0 for 'prose'"),
    ({"text": "x", "page": 1.5}, TypeError, "page (1.5) must be a whole number"),
    ({"text": "x", "page": -1}, ValueError, "page (-1) must be from 0 to 32767"),
    ({"text": "x", "box": (1, 2)}, ValueError, "box ((1, 2)) must be left, top, right, bottom"),
]


@pytest.mark.parametrize(("settings", "error", "words"), WRONG_BLOCKS)
def test_wrong_blocks_are_named(settings, error, words):
    with pytest.raises(error) as caught:
        Block(**settings)
    assert words in str(caught.value)


def test_what_is_no_block_is_named():
    with pytest.raises(TypeError, match=r"blocks\[1\] \('x'\) must be Block"):
        Blocks([Block("a"), "x"])
    with pytest.raises(
        cantle.TextError, match=r"blocks\[0\] holds a lone surrogate at character 1"
    ):
        Blocks([Block("a\ud800")])


# ---------------------------------------------------------------- columns, and out of them


def test_lines_and_pages_of_any_text():
    text = "a\r\nb\rc\n\fd\n\f\u00e9"
    chunks = cantle.Window(1, unit="words").split(text)
    assert chunks.line_start.tolist() == [1, 2, 3, 4, 5]
    assert chunks.page.tolist() == [1, 1, 1, 2, 3]
    assert [(c.line_start, c.line_end, c.page) for c in chunks][3:] == [(4, 4, 2), (5, 5, 3)]


def test_selected_rows_keep_their_structure():
    chunks = Structural(14, unit="words", depth="all").split(HANDBOOK)
    picked = chunks[chunks.kind == "table"]
    assert picked.heading_paths == [("Handbook", "Storing")] * len(picked)
    assert picked.contexts == [c.context for c in chunks if c.kind == "table"]
    assert picked.report == chunks.report


def test_children_know_their_own_headings():
    parents = Structural(60, unit="words", depth=1).split(HANDBOOK)
    children = Structural(14, unit="words", depth="all").split_within(parents)
    offsets = children.structure.byte_start.tolist()
    data = HANDBOOK.encode()
    assert all(data[at:].startswith(b"#") for at in offsets)
    assert [c.heading_path for c in children if "Nothing" in c.text] == [("Annex", "Storing")]
    late = next(c for c in children if c.context)
    assert data[late.context_span[0] :].startswith(b"| shelf")


def test_arrow_holds_kind_path_and_context():
    chunks = Structural(14, unit="words", depth="all").split_all([HANDBOOK, "", "# X\n\ny"])
    for texts in ("large", "view", None):
        table = pa.table(chunks.to_arrow(texts))
        assert table.column_names[10:13] == ["kind", "heading_path", "context"]
        assert table["kind"].to_pylist() == chunks.kind.tolist()
        assert table["heading_path"].to_pylist() == [list(path) for path in chunks.heading_paths]
        assert table["context"].to_pylist() == [context or None for context in chunks.contexts]
    picked = pa.table(chunks[::-2])
    assert picked["heading_path"].to_pylist() == [list(p) for p in chunks[::-2].heading_paths]
    assert "kind" not in pa.table(cantle.split(HANDBOOK)).column_names


def test_a_row_as_plain_values():
    row = Structural(14, unit="words", depth="all").split(HANDBOOK)[-1].as_dict()
    assert json.loads(json.dumps(row))["heading_path"] == ["Annex", "Storing"]
    assert (row["kind"], row["context"]) == ("prose", "")
    assert "kind" not in cantle.split("x")[0].as_dict()


def test_the_form_follows_from_the_ending_of_an_id():
    chunks = Structural().split_all(["# A\n\nx"] * 2, ids=["a.MD", "b"])
    assert chunks.heading_paths == [("A",), ("A",)]
    assert Structural(format="markdown") != Structural()
    assert pickle.loads(pickle.dumps(Structural(depth=3, prefix="path"))) == Structural(
        depth=3, prefix="path"
    )


# ------------------------------------------------------------------------------- golden


def account(chunks: cantle.Chunks) -> str:
    """Return a short hash of everything that was decided."""
    rows = [
        (c.byte_start, c.byte_end, c.size, c.flags, c.kind, c.heading_path, c.context_span)
        for c in chunks
    ]
    return hashlib.blake2b(repr(rows).encode(), digest_size=6).hexdigest()


GOLDEN = {
    ("words", "all", 14): (
        [0, 24, 62, 167, 198, 248, 267, 279, 323, 342, 380, 416],
        "84c5adc2c5cc",
    ),
    ("words", 2, 25): ([0, 24, 62, 167, 267, 342, 380, 416], "1685b2957266"),
    ("chars", "auto", 120): ([0, 24, 62, 167, 267, 380, 416], "11ac27fc8729"),
    ("cl100k_base", "auto", 40): ([0, 24, 62, 167, 267, 361, 380, 416], "592603b2c352"),
}  # fmt: skip
"""By unit, depth and size: where the chunks of the handbook above start, and `account` of them."""


@pytest.mark.parametrize(("unit", "depth", "size"), GOLDEN)
def test_golden(unit, depth, size):
    chunks = Structural(size, unit=unit, depth=depth).split(HANDBOOK)
    assert (chunks.byte_start.tolist(), account(chunks)) == GOLDEN[unit, depth, size]


@given(markdown_texts.documents)
def test_titles_never_hold_marks_of_lines(text):
    for title in cantle.blocks(text).titles:
        assert title == title.strip()
        assert "\n" not in title
