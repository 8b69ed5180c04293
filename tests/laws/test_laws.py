"""Every strategy times every unit keeps the laws. A broken law is seen to fail at the end."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from table import SETTINGS, UNITS, Cell, Counted, cells, in_each_cell

import cantle
import laws
import samples
from cantle.strategies.text import REGISTRY
from conftest import SLOW

over_all = pytest.mark.parametrize("name", sorted(REGISTRY))
over_units = pytest.mark.parametrize("unit", UNITS)

several = st.lists(samples.texts, min_size=2, max_size=7)


def test_every_strategy_is_listed():
    assert set(SETTINGS) == set(REGISTRY)


@over_all
@over_units
@in_each_cell
@given(data=st.data())
def test_the_laws(name, unit, data):
    cell = data.draw(cells(name, unit))
    chunks = cell.strategy.split(cell.text)
    laws.check(cell, chunks)
    laws.parents_are_unions(cell, chunks)


@over_all
@over_units
@in_each_cell
@given(data=st.data())
def test_a_child_lies_inside_its_parent(name, unit, data):
    """Law 7. The children keep all other laws as well, each parent's text taken as a text."""
    cell = data.draw(cells(name, unit))
    more = [cell.text, *data.draw(several)]
    parents = cantle.Recursive(data.draw(st.integers(5, 60)), unit="chars").split_all(more)
    children = cell.strategy.split_within(parents)
    assert children.level(1) is parents
    within = children.rows_at(1)
    assert np.all(np.diff(within) >= 0)
    for row, parent in enumerate(parents):
        mine = children[within == row]
        assert np.all(mine.doc == parent.doc)
        assert mine.texts == cell.strategy.split(parent.text).texts
        own = {
            "byte_start": mine.byte_start - parent.byte_start,
            "byte_end": mine.byte_end - parent.byte_start,
            "char_start": mine.char_start - parent.char_start,
            "char_end": mine.char_end - parent.char_start,
            "ordinal": mine.ordinal - mine.ordinal[:1].sum(),
        }
        columns = {key: getattr(mine, key) for key in ("doc", "size", "flags")} | own
        columns["doc"] = np.zeros_like(mine.doc)
        alone = cantle.Chunks(columns, cantle.Documents((parent.text,)), name="child", unit=unit)
        laws.check(Cell(cell.strategy, parent.text, cell.counted), alone)
    for doc in range(len(more)):
        ordinals = children.ordinal[children.doc == doc]
        assert ordinals.tolist() == list(range(len(ordinals)))
    laws.ids_are_unique(children)


@over_all
@over_units
@in_each_cell
@given(data=st.data(), more=several)
def test_many_texts_equal_single_calls_for_any_number_of_threads(name, unit, data, more):
    """Law 6."""
    cell = data.draw(cells(name, unit))
    every = [cell.text, *more]
    agree_with_single_calls(cell.strategy, every)
    batches = list(cell.strategy.stream(iter(every), batch=2))
    many = cell.strategy.split_all(every)
    assert [i for batch in batches for i in batch.ids] == many.ids
    assert [t for batch in batches for t in batch.texts] == many.texts


@over_all
@over_units
def test_long_texts_equal_single_calls_for_any_number_of_threads(name, unit):
    """Law 6 where it could break: below 64 kB a call starts no second thread."""
    # Foreign tokenizers and callables are slow, and take no other way through the threads.
    fast = unit in ("bytes", "chars", "words", "cl100k_base", "o200k_base")
    # A thread takes 64 kB at least, so these are for three, or for five.
    many = 20 if SLOW else 11
    every = [
        (samples.PROSE + f"\u6f22 {i}. ") * (many * (i + 1) if fast else 35) for i in range(12)
    ]
    every[3] = every[3].encode("ascii", "ignore").decode()
    every[7] = ""
    assert sum(map(len, every)) > ((5 if SLOW else 3) if fast else 1.5) * 2**16
    strategy = samples.built(name, 90, 20, UNITS[unit]().unit)
    numbers = (1, 2, 3, 8) if SLOW else (1, 2, 3) if fast else (3,)
    agree_with_single_calls(strategy, every, numbers)


# One long text is measured on several threads, in parts that must not show. Each of these repeats
# something that a cut in a bad place would count otherwise.
LONG = {
    "prose": samples.PROSE + "\n",
    "no spaces": "thequickbrownfox",
    "blanks": " \n\r\n\t ",
    "digits": "1234567",
    "mixed": "".join(samples.FRAGMENTS),
    "contractions": "it's I'LL \u017f's'S ",
    "CJK": "\u6f22\u5b57\u3002\u3072\u3089 ",
}


@pytest.mark.parametrize("name", ["recursive", "window"])
@pytest.mark.parametrize("unit", ["cl100k_base", "o200k_base", "words", "chars"])
@pytest.mark.parametrize("long", LONG)
def test_one_long_text_is_cut_alike_by_any_number_of_threads(long, unit, name):
    counted = UNITS[unit]()
    text = LONG[long] * (2_300_000 // len(LONG[long].encode()))
    strategy = samples.built(name, 5_000, 100, counted.unit)
    one = strategy.split(text, threads=1)
    for threads in (0, 2, 3, 8):
        assert strategy.split(text, threads=threads) == one
    rows = one[:: max(1, len(one) // 12)]
    assert rows.size.tolist() == [counted.count(text) for text in rows.texts]


def agree_with_single_calls(strategy, every, numbers=(1, 2, 3, 8)):
    single = [strategy.split(text) for text in every]
    for threads in numbers:
        many = strategy.split_all(every, threads=threads)
        for doc, alone in enumerate(single):
            part = many[many.doc == doc]
            for column in ("ordinal", "byte_start", "byte_end", "char_start", "char_end"):
                assert np.array_equal(getattr(part, column), getattr(alone, column))
            assert np.array_equal(part.size, alone.size)
            assert np.array_equal(part.flags, alone.flags)
            assert part.ids == [i.replace("doc0_", f"doc{doc}_", 1) for i in alone.ids]


@over_all
@over_units
@in_each_cell
@given(data=st.data())
def test_the_same_input_gives_the_same_chunks(name, unit, data):
    """Law 8: again, as bytes, and by the strategy that a pickle brings back."""
    cell = data.draw(cells(name, unit))
    chunks = cell.strategy.split(cell.text)
    assert cell.strategy.split(cell.text) == chunks
    assert cell.strategy.split(cell.text.encode()) == chunks
    again = pickle.loads(pickle.dumps(cell.strategy))
    assert again.fingerprint == cell.strategy.fingerprint
    assert again.split(cell.text) == chunks
    assert pickle.loads(pickle.dumps(chunks)) == chunks
    assert copy.deepcopy(chunks) == chunks


# A law that cannot fail is none: each is shown wrong columns once.

BROKEN = {
    "an end outside": ("char_end", -1, 99, laws.spans_lie_inside_and_in_order),
    "an empty span": ("char_end", 0, 0, laws.spans_lie_inside_and_in_order),
    "a start that does not grow": ("char_start", 1, 0, laws.spans_lie_inside_and_in_order),
    "an ordinal twice": ("ordinal", 1, 0, laws.ids_are_unique),
    "bytes for characters": ("byte_start", 1, 4, laws.both_spans_select_the_same_text),
    "a wrong size": ("size", 0, 2, laws.no_chunk_is_over_the_limit),
    "a flag without cause": ("flags", 0, 1, laws.no_chunk_is_over_the_limit),
    "a word lost": ("char_end", 0, 1, laws.nothing_is_lost),
    "a cut cluster": ("char_end", 0, 1, laws.no_cluster_is_cut),
    "too much overlap": ("char_start", 1, 1, laws.overlap_is_at_most_what_was_asked),
    "a blank at the end": (
        "char_end",
        0,
        4,
        laws.trimmed_chunks_have_no_blanks_around_them,
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_law_fails(case):
    column, row, value, law = BROKEN[case]
    text = "e\u0301a b\u00e9 cd"  # chunks: "éa" 0..3, "bé" 4..6, "cd" 7..9
    cell = Cell(cantle.Window(3, unit="chars"), text, Counted("chars", len))
    chunks = cantle.Recursive(3, unit="chars").split(text)
    laws.check(cell, chunks)
    columns = {name: getattr(chunks, name).copy() for name in cantle.chunk.COLUMNS}
    columns[column][row] = value
    wrong = cantle.Chunks(columns, chunks.documents, name="wrong", unit="chars")
    takes_cell = "cell" in law.__annotations__
    with pytest.raises((AssertionError, UnicodeDecodeError)):
        law(cell, wrong) if takes_cell else (
            law(wrong) if "text" not in law.__annotations__ else law(text, wrong)
        )


def test_two_small_neighbours_that_fit_together_break_the_law_of_min_size():
    text = "aa bb"
    chunks = cantle.Recursive(2, unit="chars").split(text)
    cell = Cell(cantle.Recursive(5, unit="chars", min_size=3), text, Counted("chars", len))
    with pytest.raises(AssertionError):
        laws.small_chunks_are_merged(cell, chunks)
