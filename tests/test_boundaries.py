"""`cantle.boundaries`: what the first and the last character of each chunk cut through."""

from __future__ import annotations

import json
import pickle
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boundaries_oracle
import cantle
import markdown_texts
import samples
from cantle.measure.boundaries import FAULTS
from cantle.strategies.text import REGISTRY

LISTS = st.lists(
    st.sampled_from(
        [
            *("- one item. More of it.\n", "- two\n", "  - inner\n", "  1. step\n", "\n"),
            *("1. first step\n", "2. second step. Then.\n", "   below it\n", "\n   more of it\n"),
            *("\n## H\n\n", "\nWords here. And there.\n\n", "\n> quoted. Twice.\n\n"),
            *(
                "\n```\ncode. Line\n\nmore\n```\n",
                "\n| a |\n|---|\n| 1. b |\n| c |\n\n",
                "\n---\n\n",
            ),
        ]
    ),
    max_size=14,
).map("".join)
texts = st.one_of(LISTS, LISTS, markdown_texts.sections)


def faults(found: cantle.Boundaries) -> list[set[str]]:
    """Return the names of the faults of each chunk."""
    return [{name for name, column in found if column[row]} for row in range(len(found))]


def told(strategy, text: str | cantle.Blocks, **settings) -> list[set[str]]:
    return faults(cantle.boundaries(strategy.split(text), **settings))


@pytest.mark.parametrize("name", sorted(REGISTRY))
@given(data=st.data(), text=texts)
def test_faults_are_those_of_a_slow_account(name, data, text):
    size = data.draw(st.integers(1, 60))
    overlap = data.draw(st.sampled_from([0, size // 3]))
    trim = data.draw(st.booleans())
    chunks = samples.built(name, size, overlap, "chars", trim).split(text)
    depth = data.draw(st.sampled_from([1, 2, "all"]))
    level = 99 if depth == "all" else depth
    want = [boundaries_oracle.faults(text, chunk, level) for chunk in chunks]
    assert faults(cantle.boundaries(chunks, depth=depth)) == want


@given(data=st.data(), text=texts)
def test_structural_never_straddles_a_heading(data, text):
    size = data.draw(st.integers(1, 200))
    depth = data.draw(st.sampled_from(["auto", "all", 1, 2, 3]))
    chunks = cantle.Structural(size, unit="chars", depth=depth).split(text)
    assert not cantle.boundaries(chunks).straddles_heading.any()
    if depth == "all":
        assert not cantle.boundaries(chunks, depth="all").straddles_heading.any()


@given(data=st.data(), text=texts)
def test_what_fits_is_cut_by_none_that_knows_better(data, text):
    """A list or a sentence that `Sentence` leaves whole is told to be whole."""
    whole = cantle.Whole(10_000, unit="chars").split(text)
    assert faults(cantle.boundaries(whole, depth=1)) in (
        [],
        [set()],
        [{"straddles_heading"}],
    )
    chunks = cantle.Sentence(200, unit="chars").split(text)
    found = cantle.boundaries(chunks)
    if not (chunks.size > 199).any():
        assert not found.starts_mid_sentence.any()
        assert not found.ends_mid_sentence.any()


TEXT = """# Tea

Warm the pot. Pour it out.

1. Fill it with leaves.
2. Pour boiling water. Wait.

   Not too long.

## Cups

- cup
  - small
  - large

| a | b |
|---|---|
| 1 | 2 |
| 3 | 4 |

```sh
brew

pour
```
"""


def at(*words: str) -> cantle.Chunks:
    """Return chunks of `TEXT` that start at these words."""
    starts = [0, *(TEXT.index(word) for word in words), len(TEXT)]
    return cantle.Chunks.from_spans([TEXT], [pairwise(starts)])


@pytest.mark.parametrize(
    ("words", "before", "behind"),
    [
        ("Warm", {"orphans_heading"}, set()),
        ("Pour it", set(), set()),
        ("pot", {"ends_mid_sentence"}, {"starts_mid_sentence"}),
        ("1. Fill", set(), set()),
        ("2. Pour", {"cuts_list", "cuts_procedure"}, None),
        ("Wait", {"cuts_item", "cuts_procedure"}, None),
        ("   Not", {"cuts_item", "cuts_procedure"}, None),
        ("## Cups", set(), set()),
        ("- cup", {"orphans_heading", "straddles_heading"}, set()),
        ("  - small", {"cuts_item", "straddles_heading"}, None),
        ("  - large", {"cuts_list", "straddles_heading"}, None),
        ("| a", {"straddles_heading"}, set()),
        ("| 3", {"cuts_table", "straddles_heading"}, None),
        ("pour\n", {"cuts_code", "straddles_heading"}, None),
    ],
)
def test_each_fault_is_told_on_both_sides(words, before, behind):
    first, second = faults(cantle.boundaries(at(words)))
    over = {"straddles_heading"} if "## Cups" in TEXT[TEXT.index(words) :][1:] else set()
    over -= {"straddles_heading"} if words == "## Cups" else set()
    assert first == before
    if behind is None:
        behind = {fault for fault in before if fault.startswith("cuts_")}
    assert second == behind | over


def test_a_section_may_hold_its_own_subsections():
    """What counts as the next section depends on the depth, and `Structural` has one of its own."""
    text = "## A\n\na\n\n### B\n\nb\n\n## C\n\nc\n"
    chunks = cantle.Structural(9, unit="words", depth=2).split(text)
    assert chunks.texts == ["## A\n\na\n\n### B\n\nb", "## C\n\nc"]
    assert cantle.boundaries(chunks).counts["straddles_heading"] == 0
    assert cantle.boundaries(chunks, depth="all").straddles_heading.tolist() == [True, False]
    whole = cantle.Whole(unit="words").split(text)
    assert cantle.boundaries(whole).straddles_heading.tolist() == [True]
    assert cantle.boundaries(whole, depth=1).straddles_heading.tolist() == [False]


def test_headings_that_open_a_chunk_are_no_fault():
    assert told(cantle.Whole(unit="words"), "# A\n\n## B\n\n---\n\n### C\n\nc\n") == [set()]
    # At the end of a document there is nothing that a heading could be parted from.
    assert told(cantle.Whole(unit="words"), "# A\n\na\n\n# B\n", depth=1) == [{"straddles_heading"}]


def test_totals_are_printed_and_written_as_json():
    found = cantle.boundaries(at("pot", "## Cups"))
    assert len(found) == 3
    assert found.counts["ends_mid_sentence"] == found.any.sum() - 1 == 1
    assert found.shares["ends_mid_sentence"] == pytest.approx(1 / 3)
    row = json.loads(json.dumps(found.as_dict()))
    assert row["name"] == "spans"
    assert (row["documents"], row["chunks"], row["any"]["chunks"]) == (1, 3, 2)
    assert list(row["faults"]) == list(FAULTS)
    assert row["faults"]["ends_mid_sentence"] == {"chunks": 1, "share": pytest.approx(1 / 3)}
    lines = str(found).splitlines()
    assert lines[0] == "spans: 3 chunks of 1 document"
    assert lines[-2:] == [
        "  ends inside a sentence                     1   33.3%",
        "  any of these                               2   66.7%",
    ]
    assert repr(found) == "Boundaries(3 chunks, 2 with a fault)"
    assert pickle.loads(pickle.dumps(found)) == found
    with pytest.raises(ValueError, match="read-only"):
        found.cuts_table[0] = True


def test_no_chunks_have_no_faults():
    found = cantle.boundaries(cantle.Recursive().split(""))
    assert len(found) == 0
    assert found.as_dict()["any"] == {"chunks": 0, "share": 0.0}
    blank = cantle.Window(2, unit="chars", trim=False).split(" \n \n")
    assert not cantle.boundaries(blank).any.any()


PAGE = """<title>T</title><h1>Tea</h1><p>Warm the pot. Pour.<ol><li>Fill it &amp; wait.
<li><p>Pour.</p><p>Drink.</ol><ul><li>cup<li>tin</ul><h2>More</h2><table><tr><th>a<tr><td>1
<tr><td>two</table><pre>brew

pour</pre>"""


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ("pot", "ends_mid_sentence"),
        ("Drink", "cuts_item"),
        ("Drink", "cuts_procedure"),
        ("tin", "cuts_list"),
        ("two", "cuts_table"),
        ("pour", "cuts_code"),
    ],
)
def test_pages_are_judged_as_they_are_read_and_as_they_are_written(words, fault):
    read = cantle.blocks(PAGE, format="html")
    place = read.text.index(words)
    spans = [[(0, place), (place, len(read.text))]]
    found = cantle.boundaries(cantle.Chunks.from_spans([read], spans))
    # As written, from the tag before the words on.
    at = PAGE.index(words)
    at = (
        at if fault == "ends_mid_sentence" else PAGE.rindex("\n" if words == "pour" else "<", 0, at)
    )
    raw = cantle.Chunks.from_spans([PAGE], [[(0, at), (at, len(PAGE))]], ids=["a.html"])
    for one in (found, cantle.boundaries(raw)):
        assert fault in faults(one)[0]
    if fault == "cuts_list":
        assert "cuts_procedure" not in faults(found)[0]
    assert faults(cantle.boundaries(raw)) == faults(found)


FORMS = {
    "a.rst": ("Tea\n===\n\n1. fill it. Wait.\n2. pour\n\n- cup\n- tin\n", "2.", "- tin"),
    "a.txt": ("1. Tea\n\nOn.\n\n1) fill. Wait.\n2) pour\n\nOn.\n\n- cup\n- tin\n", "2)", "- tin"),
    "a.md.gz": ("# Tea\n\n1. fill it. Wait.\n2. pour\n\nWords.\n\n- cup\n- tin\n", "2.", "- tin"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_lists_of_other_forms(name):
    text, step, item = FORMS[name]
    for words, numbered in ((step, {"cuts_procedure"}), (item, set())):
        place = text.rindex(words)
        chunks = cantle.Chunks.from_spans([text], [[(place, len(text))]], ids=[name])
        assert faults(cantle.boundaries(chunks)) == [{"cuts_list"} | numbered]


def test_source_code_and_tables_by_the_ending_of_the_id():
    code = "def f():\n    one()\n    two()\n\n\ndef g():\n    three()\n"
    cut = cantle.Window(20, unit="chars").split_all([code, "a,b\n1,2\n"], ids=["a.py", "b.csv"])
    seen = faults(cantle.boundaries(cut))
    assert seen[0] == {"cuts_code"}
    assert {"straddles_heading"} <= seen[1]
    assert seen[-1] == set()
    rows = cantle.Window(4, unit="chars").split("a,b\n1,2\n", id="b.csv")
    assert faults(cantle.boundaries(rows)) == [{"cuts_table"}] * 2
    as_text = cantle.boundaries(rows, format="text")
    assert faults(as_text) == [{"ends_mid_sentence"}, {"starts_mid_sentence"}]


def test_blocks_that_were_handed_in():
    found = cantle.Blocks(
        [
            cantle.Block("Delivery", kind="heading", level=1),
            cantle.Block(" "),
            cantle.Block("1. Load it.", kind="list"),
            cantle.Block("2. Go.", kind="list"),
            cantle.Block("", kind="list"),
            cantle.Block("- by road", kind="list"),
        ]
    )
    text = found.text
    for words, want in (
        ("1. Load", {"orphans_heading"}),
        ("2. Go", {"cuts_list", "cuts_procedure"}),
        ("- by", {"cuts_list"}),
        ("Load", {"cuts_item", "cuts_procedure", "ends_mid_sentence"}),
    ):
        place = text.index(words)
        chunks = cantle.Chunks.from_spans([found], [[(0, place)]])
        assert faults(cantle.boundaries(chunks)) == [want], words


def test_rows_of_many_documents_in_any_order():
    names = ["a.md", "b.html", "c.txt", "d"]
    given = [TEXT, PAGE, TEXT.encode(), ""]
    chunks = cantle.Recursive(12, unit="words").split_all(given, ids=names)
    found = cantle.boundaries(chunks)
    one = [
        cantle.Recursive(12, unit="words").split(t, id=n) for t, n in zip(given, names, strict=True)
    ]
    assert faults(found) == [fault for part in one for fault in faults(cantle.boundaries(part))]
    order = np.random.default_rng(5).permutation(len(chunks))
    mixed = cantle.boundaries(chunks[order])
    assert [faults(found)[i] for i in order] == faults(mixed)
    table = pa.table({"text": [TEXT, TEXT], "id": ["a.md", "c.txt"]})
    arrow = cantle.Recursive(12, unit="words").split_all(table, id="id")
    assert faults(cantle.boundaries(arrow)) == [
        fault for part in (one[0], one[2]) for fault in faults(cantle.boundaries(part))
    ]
    children = cantle.Window(3, unit="words").split_within(chunks)
    assert len(cantle.boundaries(children)) == len(children)


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"depth": 0}, cantle.SettingError, r"^depth \(0\) must be at least 1$"),
        ({"depth": "any"}, cantle.SettingError, r"^depth \('any'\) must be a level, "),
        ({"depth": True}, TypeError, r"^depth \(True\) must be a whole number, 'all' or 'auto'$"),
        ({"format": "word"}, cantle.SettingError, r"^format \('word'\) must be one of 'auto', "),
        ({"format": 3}, TypeError, r"^format \(3\) must be str$"),
    ],
)  # fmt: skip
def test_wrong_settings(settings, error, words):
    with pytest.raises(error, match=words):
        cantle.boundaries(cantle.Recursive().split("a"), **settings)
    with pytest.raises(TypeError, match=r"^chunks must be Chunks, not str$"):
        cantle.boundaries("a")
