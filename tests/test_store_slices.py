"""Chunks that are a slice of what was cut replace those of their documents, and no others."""

import pickle
from itertools import pairwise

import numpy as np
import pytest

import cantle
from stores import TEXT, assert_sound, opened, words


def texts_by_source(store):
    """Return the texts of each document."""
    snapshot = store.snapshot()
    found = {source.id: [] for source in snapshot.sources}
    for at, text in zip(snapshot.source, snapshot.texts(np.arange(len(snapshot))), strict=True):
        found[snapshot.sources[at].id].append(text)
    return found


@pytest.mark.parametrize("embed", [False, True])
@pytest.mark.parametrize(
    "pick",
    [
        lambda chunks: chunks[chunks.doc == 1],
        lambda chunks: chunks[2:][:1],
        lambda chunks: pickle.loads(pickle.dumps(chunks[[2]])),
        lambda chunks: words(4).split_within(chunks[2:3]),
    ],
)
def test_a_slice_leaves_documents_alone_of_which_it_has_no_chunk(pick, embed):
    # They lost their chunks.
    store = opened()
    chunks = words().split_all(["p q r s t", "u v w x", "y z"], ids=list("abc"))
    store.load(chunks[chunks.doc != 1], min_chars=0, embed=True)
    assert texts_by_source(store) == {"a": ["p q r s", "t"], "c": ["y z"]}
    picked = pick(chunks)
    assert picked.chosen
    loaded = store.load(picked, min_chars=0, embed=embed)
    assert (loaded.documents, loaded.chunks, loaded.untouched) == (1, 1, 2)
    assert repr(loaded) == (
        f"Loaded(1 documents, 1 chunks, {int(embed)} embedded, 2 untouched documents)"
    )
    found = texts_by_source(store)
    assert (found["a"], found["c"]) == (["p q r s", "t"], ["y z"])
    assert set(found["b"]) == {"u v w x"}
    store.backfill()
    assert_sound(store)


def test_a_slice_replaces_the_chunks_of_its_documents():
    store = opened()
    chunks = words().split_all(["p q r s t", "u v w x"], ids=list("ab"))
    store.load(chunks, min_chars=0, embed=True)
    store.load(chunks[1:], min_chars=0, embed=True)
    assert texts_by_source(store) == {"a": ["t"], "b": ["u v w x"]}
    store.load(chunks[:0], min_chars=0, embed=True)
    assert texts_by_source(store) == {"a": ["t"], "b": ["u v w x"]}
    assert_sound(store)


@pytest.mark.parametrize("pick", [slice(None), [0, 1, 2], np.ones(3, bool)])
def test_what_was_cut_as_a_whole_empties_a_document_without_chunks(pick):
    store = opened()
    store.load(words().split_all([TEXT, TEXT], ids=list("ab")), min_chars=0, embed=True)
    chunks = words().split_all(["p q r s t u v w x", " "], ids=list("ab"))[pick]
    assert not chunks.chosen
    loaded = store.load(chunks, min_chars=0, embed=True)
    assert (loaded.documents, loaded.untouched) == (2, 0)
    assert texts_by_source(store) == {"a": ["p q r s", "t u v w", "x"], "b": []}
    # All chunks are there, one of them twice and one not at all: a choice.
    assert words().split("p q r s t u v w x")[[0, 1, 1]].chosen


def test_what_could_not_be_cut_keeps_what_it_had_in_the_store():
    # Its text became the empty one.
    store = opened()
    store.load(words().split_all([TEXT, TEXT], ids=list("ab")), min_chars=0, embed=True)
    chunks = words().split_all(["p q", "bad \ud800 text"], ids=list("ab"), errors="skip")
    loaded = store.load(chunks, min_chars=0, embed=True)
    assert (loaded.documents, loaded.untouched) == (1, 1)
    assert texts_by_source(store) == {"a": ["p q"], "b": words().split(TEXT).texts}
    assert_sound(store)


@pytest.mark.parametrize("pick", [[0, 0], [1, 0], [0, 1, 1], [0, 2, 1, 3]], ids=str)
@pytest.mark.parametrize("above", [False, True])
def test_chunks_that_are_there_twice_or_in_another_order_are_refused(pick, above):
    # Two rows had one id, and neighbours were those of the order given here.
    chunks = words(2, name="w").split_all(["a b", TEXT], ids=["x", "y"])[1:][pick]
    name = "chunks"
    if above:
        chunks, name = words(1).split_within(chunks), "chunks.parents"
    store = opened()
    with pytest.raises(cantle.SettingError) as caught:
        store.load(chunks, min_chars=0)
    at = next(at for at, (one, other) in enumerate(pairwise(pick)) if one >= other)
    assert str(caught.value) == (
        f"{name} must be in the order of their ordinals, each once: 'y_w_{pick[at + 1]}' stands "
        f"behind 'y_w_{pick[at]}'"
    )
    assert len(store.snapshot().sources) == 0
