"""The fast code equals the slow, obvious version in `oracle.py`."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import cantle
import oracle
import samples
from cantle import Separator
from cantle.strategies.text import REGISTRY
from conftest import SLOW

UNITS = {"bytes": "bytes", "chars": "chars", "words": "words", "callable": samples.weighed}
MANY = settings(max_examples=20_000 if SLOW else 120)


def spans(chunks: cantle.Chunks) -> list[tuple[int, int]]:
    return list(zip(chunks.char_start.tolist(), chunks.char_end.tolist(), strict=True))


@st.composite
def limits(draw: st.DrawFn, least: int = 1) -> dict[str, object]:
    size = draw(st.one_of(st.integers(least, 12), st.integers(least, 80)))
    return {
        "size": size,
        "overlap": draw(st.integers(0, size - 1)),
        "trim": draw(st.booleans()),
        "min_size": draw(st.sampled_from([0, 0, size // 3, size])),
    }


def agree(
    name: str,
    text: str,
    unit: object,
    limit: dict[str, object],
    separators: list[object] | None = None,
    levels: list[oracle.Level] | None = None,
    count: object = None,
) -> None:
    """Assert that a strategy and the oracle cut alike."""
    size, overlap, trim = limit["size"], limit["overlap"], limit["trim"]
    min_size = limit["min_size"] if name in ("recursive", "sentence") else 0
    extra = {"min_size": min_size} if min_size else {}
    if separators is not None:
        extra["separators"] = separators
    chunks = samples.built(name, size, overlap, unit, trim, **extra).split(text)
    want = oracle.split(
        name,
        text,
        size,
        overlap,
        count or unit,
        trimmed=trim,
        min_size=min_size,
        levels=levels,
    )
    assert spans(chunks) == want


# `laws/test_structure_laws.py` has a slow account of structure; rows, clauses and what is routed
# have oracles of their own.
BY_MEANING = {"semantic", "optimal", "documentbased", "llm"}
LEVELLED = {"hierarchical", "nested"}
OF_BLOCKS = {"structural", "rows", "clauses", "routed"} | BY_MEANING | LEVELLED


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", sorted(REGISTRY.keys() - OF_BLOCKS))
@MANY
@given(text=samples.texts, limit=limits())
def test_every_strategy_equals_the_oracle(name, unit, text, limit):
    agree(name, text, UNITS[unit], limit)


SEPARATORS = {
    "markdown": (
        ["\n## ", "\n\n", "\n", ". ", " "],
        [
            oracle.literal("\n## ", "start"),
            oracle.literal("\n\n", "end"),
            oracle.literal("\n", "end"),
            oracle.literal(". ", "end"),
            oracle.literal(" ", "end"),
        ],
    ),
    "sides": (
        [Separator(". ", side="start"), Separator("a", side="end"), Separator("\n- ", side="end")],
        [oracle.literal(". ", "start"), oracle.literal("a", "end"), oracle.literal("\n- ", "end")],
    ),
    "regex": (
        [Separator(r"\n+", regex=True), Separator("[.,;]", regex=True, side="start"), ""],
        [oracle.regex(r"\n+", "end"), oracle.regex("[.,;]", "start")],
    ),
    "repeats": (["aa", "xx", "  "], [oracle.literal(s, "end") for s in ("aa", "xx", "  ")]),
    "inside clusters": (["\u0301", "\r"], [oracle.literal(s, "end") for s in ("\u0301", "\r")]),
    "none": ([""], []),
}  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("case", SEPARATORS)
@settings(MANY, max_examples=5_000 if SLOW else 50)
@given(text=samples.texts, limit=limits())
def test_given_separators_equal_the_oracle(case, unit, text, limit):
    separators, levels = SEPARATORS[case]
    agree("recursive", text, UNITS[unit], limit, separators, levels)


@pytest.mark.parametrize("name", ["recursive", "sentence"])
@settings(MANY, max_examples=2_000 if SLOW else 60)
@given(text=samples.plain_texts, limit=limits(least=5))
def test_tokens_equal_a_greedy_oracle_that_counts_every_slice(name, text, limit):
    # No word is opened at these sizes: below words, windows follow the tokens of the whole text.
    def count(part: str) -> int:
        return samples.tiktoken_count("cl100k_base", part)

    agree(name, text, "cl100k_base", limit, count=count)


@pytest.mark.parametrize("level", ["paragraph", "line", "word"])
@MANY
@given(text=samples.texts)
@example(text="a\r\n\r\nb")
@example(text="\n\nb")
@example(text="a\u2029b\fc")
def test_cuts_equal_the_oracle(level, text):
    cuts = {"paragraph": oracle.paragraphs, "line": oracle.lines, "word": oracle.words}[level]
    inside = {at for at in cuts(text) if 0 < at < len(text)} & set(oracle.borders(text))
    assert cantle._core.cuts(text, level).tolist() == [*sorted(inside), len(text)]


@pytest.mark.parametrize("unit", ["chars", "bytes"])
@MANY
@given(n=st.integers(0, 200), size=st.integers(1, 60), data=st.data())
def test_windows_follow_the_formula_where_every_border_may_be_cut(unit, n, size, data):
    overlap = data.draw(st.integers(0, size - 1))
    text = ("abcdefghijklmnopqrstuvwxyz" * 8)[:n]
    want = oracle.window_words(n, size, overlap)
    assert spans(cantle.Window(size, overlap, unit).split(text)) == want


@MANY
@given(text=samples.texts, size=st.integers(1, 20), trim=st.booleans(), data=st.data())
def test_windows_of_words_follow_the_formula(text, size, trim, data):
    overlap = data.draw(st.integers(0, size - 1))
    starts = oracle.words(text)
    if not set(starts) <= set(oracle.borders(text)):
        return  # a word that starts inside a cluster cannot be cut off
    ranges = oracle.window_words(len(starts), size, overlap)
    want = []
    for a, b in ranges:
        start = starts[a] if a else 0
        end = starts[b] if b < len(starts) else len(text)
        want.append(oracle.trim(text, start, end) if trim else (start, end))
    if not starts and text and not trim:
        want = [(0, len(text))]
    assert spans(cantle.Window(size, overlap, "words", trim).split(text)) == want


# Seeds, expanded: each case behind and before paddings of every length, so that every alignment of
# the core's blocks (32 bytes for line breaks, 256 for character offsets, 64 bits for tokens) and
# every tail is met.
SEEDS = [
    "a\r\nb",
    "e\u0301\u0323 x",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467!",
    "one.\n\nTwo",
    "\u2028  \u3000z",
    "\u0600 \u0301\x1c",
    "\U0001f1eb\U0001f1f7\U0001f1e9",
]


@pytest.mark.parametrize("padding", ["x", " ", "\n", "\u6f22", "w "])
@pytest.mark.parametrize("seed", SEEDS)
def test_seeds_at_every_alignment(seed, padding):
    lengths = [
        *range(0, 70, 1 if SLOW else 7),
        31,
        32,
        33,
        63,
        64,
        65,
        127,
        128,
        129,
        255,
        256,
        257,
    ]
    for i, length in enumerate(lengths):
        text = padding * length + seed + padding * (i % 5)
        for name in ("window", "recursive"):
            for unit in ("chars", "bytes"):
                limit = {"size": 11 + i % 7, "overlap": i % 4, "trim": i % 3 > 0, "min_size": 0}
                agree(name, text, unit, limit)
