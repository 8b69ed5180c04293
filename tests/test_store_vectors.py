"""Vectors of a store: of which texts they are, when they are made, and what is no vector."""

from functools import partial

import numpy as np
import pytest

import cantle
from stores import PAGE, TEXT, Hashing, assert_sound, opened, rows_of, vector_of, words


def test_vectors_are_those_of_the_texts_as_they_are_embedded():
    embedder = Hashing()
    store = opened(embedder=embedder)
    chunks = cantle.Structural(12, unit="words").split(PAGE, id="guide", metadata={"title": "T"})
    loaded = store.load(chunks, min_chars=0, embed=True)
    assert loaded.embedded == len(chunks) == store.info()["embedded"]
    wanted = [chunk.embed_text for chunk in chunks]
    assert sorted(embedder.texts) == sorted(set(wanted))
    assert any(text not in chunks.texts for text in wanted)
    np.testing.assert_array_equal(store.snapshot().vectors(), [vector_of(text) for text in wanted])
    assert store.check() == []


def test_backfill_embeds_each_text_once_and_then_nothing():
    embedder = Hashing()
    store = opened(embedder=embedder)
    store.load(
        words().split_all([TEXT, TEXT, "five six seven eight"], ids=list("abc")), min_chars=0
    )
    assert (store.info()["embedded"], store.info()["waiting"]) == (0, 7)
    said = []
    assert store.backfill(batch_size=2, progress=lambda done, of: said.append((done, of))) == 7
    assert said[-1] == (7, 7)
    assert sorted(embedder.texts) == sorted(
        {"one two three four", "five six seven eight", "nine ten"}
    )
    assert store.backfill() == 0
    assert len(embedder.texts) == 3
    assert_sound(store)


def test_rows_without_a_vector_are_said_and_not_searched():
    store = opened()
    store.load(words().split(TEXT, id="a"), min_chars=0, embed=True)
    store.load(words().split("one two three four", id="b"), min_chars=0)
    hits = store.search("one two three four")
    assert hits.sources == ["a"] * 3
    assert "without a vector, not searched: 1" in hits.explain()
    assert store.info()["waiting"] == 1


def test_a_document_is_replaced_and_its_known_texts_keep_their_vectors():
    embedder = Hashing()
    store = opened(embedder=embedder)
    store.load(
        words().split_all([TEXT, "other one two three"], ids=list("ab")), min_chars=0, embed=True
    )
    before = len(embedder.texts)
    loaded = store.load(words().split(f"zero zero zero zero {TEXT}", id="a"), min_chars=0)
    assert loaded.embedded == 0  # One of four texts is new.
    assert store.backfill() == 4
    store.load(words().split(f"new new new new {TEXT}", id="a"), min_chars=0, embed=True)
    assert embedder.texts[before:][-1] == "new new new new"
    assert len(embedder.texts) == before + 4 + 1
    assert [name for name, _ in rows_of(store)] == [f"a_window_{i}" for i in range(4)] + [
        "b_window_0"
    ]
    assert_sound(store)


def test_embed_writes_all_or_nothing():
    embedder = Hashing(fail_after=2)
    store = opened(embedder=embedder)
    with pytest.raises(RuntimeError, match="broke down"):
        store.load(
            words().split_all([TEXT, TEXT], ids=list("ab")), min_chars=0, embed=True, batch_size=2
        )
    assert rows_of(store) == []
    assert store.info()["documents"] == 0


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("gone")])
def test_backfill_goes_on_where_it_was_stopped(error):
    texts = [f"{i} two three four" for i in range(100)]
    embedder = Hashing(fail_after=50, error=error)
    store = opened(embedder=embedder)
    store.load(words().split_all(texts), min_chars=0)
    with pytest.raises(type(error)):
        store.backfill(batch_size=1)
    done = store.info()["embedded"]
    assert 0 < done < 100
    assert_sound(store)
    embedder.fail_after = None
    assert store.backfill(batch_size=1) == 100 - done
    assert_sound(store)
    # What was embedded but not written is at most what one transaction holds.
    assert len(embedder.texts) - 100 == 50 - done < 17


# What is no vector.


def broken(after, value):
    """Return an embedder that gives something else from some call on."""
    calls = []

    def embed(texts):
        calls.append(texts)
        vectors = np.ones((len(texts), 3))
        if len(calls) > after:
            vectors = value(vectors)
        return vectors

    return embed


def nan(vectors):
    vectors[-1, 1] = np.nan
    return vectors


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (nan, "embedder: NaN in the vector of chunk 'doc1_window_1'"),
        (lambda v: v / 0.0, "embedder: an infinity in the vector of chunk 'doc1_window_0'"),
        (
            lambda v: np.ones((len(v), 4)),
            "embedder: vectors of 4 numbers for chunk 'doc1_window_0' and what follows, of 3 "
            "before",
        ),
        (lambda v: v[:-1], "embedder: 1 vectors for 2 texts"),
    ],
)
@pytest.mark.parametrize("backfill", [False, True])
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_what_is_no_vector_is_refused_with_its_chunk(value, message, backfill):
    store = opened(embedder=broken(1, value))
    texts = [" ".join(f"word{doc}{i}" for i in range(8)) for doc in range(3)]
    chunks = words().split_all(texts)
    act = partial(store.load, chunks, embed=True, batch_size=2)
    if backfill:
        store.load(chunks)
        act = partial(store.backfill, batch_size=2)
    with pytest.raises(cantle.SettingError) as caught:
        act()
    assert str(caught.value) == message
    assert store.info()["embedded"] == 0
    assert store.check() == []


def test_vectors_of_another_length_are_refused(tmp_path):
    def three(texts):
        return np.ones((len(texts), 3))

    def four(texts):
        return np.ones((len(texts), 4))

    three.fingerprint = four.fingerprint = "the same"
    with opened(tmp_path / "kb", embedder=three) as store:
        store.load(words().split(TEXT, id="a"), min_chars=0, embed=True)
    store = opened(tmp_path / "kb", embedder=four)
    message = "embedder: vectors of 4 numbers, of 3 in the store"
    with pytest.raises(cantle.SettingError) as caught:
        store.load(words().split(TEXT, id="b"), min_chars=0, embed=True)
    assert str(caught.value) == message
    store.load(words().split(TEXT, id="b"), min_chars=0)
    with pytest.raises(cantle.SettingError) as caught:
        store.backfill()
    assert str(caught.value) == message
    with pytest.raises(cantle.SettingError) as caught:
        store.add("a", "window", "some text")
    assert str(caught.value) == message


# Precision.


def test_float16_is_kept_and_what_is_too_large_for_it_refused(tmp_path):
    with opened(tmp_path / "kb", precision="float16") as store:
        store.load(words().split(TEXT, id="a"), min_chars=0, embed=True)
        assert_sound(store)
    with opened(tmp_path / "kb") as store:
        assert store.info()["precision"] == "float16"
        store.load(words().split(f"zero {TEXT}", id="a"), min_chars=0, embed=True)
        assert_sound(store)
    with pytest.raises(
        cantle.SettingError, match=r"^precision \('float32'\): the store's is 'float16'$"
    ):
        opened(tmp_path / "kb", precision="float32")

    store = opened(embedder=lambda texts: np.full((len(texts), 3), 1e6), precision="float16")
    with pytest.raises(cantle.SettingError) as caught:
        store.load(words().split(TEXT, id="a"), min_chars=0, embed=True)
    assert str(caught.value) == (
        "embedder: the vector of chunk 'a_window_0' is too large for precision='float16'"
    )
    assert rows_of(store) == []


@pytest.mark.parametrize("precision", ["float16", "float32"])
def test_who_says_nothing_of_the_precision_takes_that_of_who_made_the_store(tmp_path, precision):
    # What was never said was refused: that it was float32.
    silent = opened(tmp_path / "kb")
    first = opened(tmp_path / "kb", precision=precision)
    first.load(words().split(TEXT, id="a"), min_chars=0, embed=True)
    silent.load(words().split(TEXT.upper(), id="b"), min_chars=0, embed=True)
    for store in (first, silent):
        assert store.info()["precision"] == precision
        assert_sound(store)
