"""The public verbs: what they give, how they read what they are given, how they number it."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given

import cantle
import samples
from cantle import Recursive, Window

WINDOW = Window(3, unit="chars")


def test_split():
    text = "One two. Three four."
    assert cantle.split(text, 2, unit="words").texts == ["One two.", "Three four."]
    assert cantle.split(text, 2, 1, "words", False) == Recursive(2, 1, "words", False).split(text)
    assert cantle.split(text) == Recursive().split(text)
    assert cantle.split("").texts == []
    assert cantle.split(" \n ").texts == []
    assert cantle.split(" \n ", trim=False).texts == [" \n "]
    assert Window(1, unit="chars").split("ab", id="d").ids == ["d_window_0", "d_window_1"]
    assert Window(1, unit="chars", name="n").split("a").ids == ["doc0_n_0"]


def test_split_all():
    texts = ["ab", "", b"c\xc3\xa9"]
    chunks = Window(1, unit="chars").split_all(texts)
    assert chunks.ids == ["doc0_window_0", "doc0_window_1", "doc2_window_0", "doc2_window_1"]
    assert chunks.texts == ["a", "b", "c", "\u00e9"]
    for iterable in (tuple(texts), iter(texts), (t for t in texts), dict.fromkeys(texts)):
        assert Window(1, unit="chars").split_all(iterable) == chunks
    assert len(Window().split_all([])) == 0
    named = Window(1, unit="chars").split_all(
        texts, ids=iter("xyz"), metadata=iter([{}, {}, {"k": 1}])
    )
    assert named.ids[-1] == "z_window_1"
    assert named[-1].metadata == {"k": 1}


def test_stream_reads_as_it_is_asked_and_numbers_through():
    read = []

    def texts():
        for i in range(5):
            read.append(i)
            yield f"text {i}"

    parts = WINDOW.stream(texts(), batch=2)
    assert read == []
    first = next(parts)
    assert read == [0, 1]
    rest = list(parts)
    assert [len(part.documents) for part in (first, *rest)] == [2, 2, 1]
    ids = [i for part in (first, *rest) for i in part.ids]
    assert ids == WINDOW.split_all([f"text {i}" for i in range(5)]).ids
    assert list(WINDOW.stream([])) == []


def test_stream_hands_ids_and_metadata_on():
    parts = list(
        WINDOW.stream(
            ["a", "b", "c"], batch=2, ids=iter("xyz"), metadata=[{"n": i} for i in range(3)]
        )
    )
    assert [chunk.id for part in parts for chunk in part] == [
        "x_window_0",
        "y_window_0",
        "z_window_0",
    ]
    assert [chunk.metadata for part in parts for chunk in part] == [{"n": 0}, {"n": 1}, {"n": 2}]
    with pytest.raises(cantle.SettingError) as caught:
        list(WINDOW.stream(["a", "b"], batch=1, ids=["x"]))
    assert str(caught.value) == "ids has 0 entries for 1 texts"


def test_split_within():
    parents = Recursive(9, unit="chars").split_all(
        ["\u00e9\u00e9 bb cc dd", "", "ee ff gg hh"], ids=["x", "y", "z"]
    )
    children = Window(2, unit="chars").split_within(parents)
    assert children.ids[:2] == ["x_window2_0", "x_window2_1"]
    assert children.name == "window2"
    assert children.parents is parents
    for child in children:
        assert child.parent.char_start <= child.char_start < child.char_end <= child.parent.char_end
        assert child.parent.byte_start <= child.byte_start < child.byte_end <= child.parent.byte_end
        assert child.text in child.parent.text
    named = Window(2, unit="chars", name="small").split_within(parents)
    assert named.ids[0] == "x_small_0"
    some = Window(2, unit="chars").split_within(parents[parents.doc == 2])
    assert set(some.doc.tolist()) == {2}
    assert len(Window(2).split_within(parents[:0])) == 0
    grandchildren = Window(1, unit="chars").split_within(children)
    assert grandchildren[-1].parent.parent.id == parents[-1].id


def test_sentences():
    chunks = cantle.sentences("  One here. Two \u00e9!  \n\nThree", id="d")
    assert chunks.texts == ["  One here.", "Two \u00e9!", "Three"]
    assert chunks.ids == ["d_sentences_0", "d_sentences_1", "d_sentences_2"]
    assert chunks.size.tolist() == [11, 6, 5]
    assert cantle.sentences(b"One. Two.") == cantle.sentences("One. Two.")
    assert len(cantle.sentences("")) == len(cantle.sentences(" \n")) == 0


@given(text=samples.texts)
def test_sentences_are_slices_in_order(text):
    reached = 0
    for chunk in cantle.sentences(text):
        assert chunk.char_start >= reached
        assert chunk.text == text[chunk.char_start : chunk.char_end]
        reached = chunk.char_end


def test_a_chunk_equals_itself_read_again():
    chunks = Recursive(9, unit="chars").split("some words to cut")
    assert chunks[0] == chunks[0] != chunks[1]
    assert chunks[1] in chunks
    assert list(chunks).index(chunks[1]) == 1
    assert pickle.loads(pickle.dumps(chunks[0])) == chunks[0]
    assert len({*chunks, *chunks}) == len(chunks)
