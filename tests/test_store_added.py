"""Chunks are added by hand, and documents deleted: the others stay, and are found."""

import numpy as np
import pytest

import cantle
from stores import TEXT, Hashing, assert_sound, opened, rows_of, words


def test_a_chunk_is_added_with_its_vector_and_stays_behind_the_others():
    embedder = Hashing()
    store = opened(embedder=embedder)
    store.load(words().split_all([TEXT, "p q r s"], ids=list("ab")), min_chars=0, embed=True)
    assert store.add("a", "window", "an added text") == "a_window_3"
    assert store.add("a", "window", "and one more") == "a_window_4"
    hit = store.search("an added text", k=1)[0]
    assert (hit.id, hit.text, hit.char_start, hit.char_end) == (
        "a_window_3",
        "an added text",
        -1,
        -1,
    )
    assert hit.as_dict()["spans"] == []
    assert hit.score == pytest.approx(1.0)
    assert_sound(store)

    asked = len(embedder.texts)
    store.load(words().split("entirely other words", id="a"), min_chars=0, embed=True)
    assert embedder.texts[asked:] == ["entirely other words"]
    assert rows_of(store)[:3] == [
        ("a_window_0", "entirely other words"),
        ("a_window_1", "an added text"),
        ("a_window_2", "and one more"),
    ]
    assert_sound(store)
    assert store.delete("a") == 3
    assert rows_of(store) == [("b_window_0", "p q r s")]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (("a", "nope", "t"), ValueError, "strategy ('nope') is not there; there are 'v', 'w'"),
        (("nope", "w", "t"), ValueError, "source ('nope') is not there under 'w'; there are 'a'"),
        (("b", "w", "t"), ValueError, "source ('b') is not there under 'w'; there are 'a'"),
        (("a", "w", "  \n"), ValueError, "text ('  \\n') must not be blank"),
        (("a", "w", b"x"), TypeError, "text (b'x') must be str"),
        (
            ("a", "w", "x\ud800"),
            ValueError,
            "text ('x\\ud800') holds a lone surrogate at character 1: it cannot be written as "
            "UTF-8",
        ),
    ],
)
def test_what_cannot_be_added_is_said(given, error, message):
    store = opened()
    store.load(words(name="w").split(TEXT, id="a"), min_chars=0)
    store.load(words(name="v").split(TEXT, id="b"), min_chars=0)
    with pytest.raises(error) as caught:
        store.add(*given)
    assert str(caught.value) == message
    assert len(store.snapshot()) == 6


def test_what_would_never_be_searched_is_not_added():
    # It was taken, without a vector, and neither found nor counted.
    sections = words(6, name="section").split(TEXT, id="a")
    embedder = Hashing()
    store = opened(embedder=embedder)
    store.load(words(2, name="small").split_within(sections), min_chars=0, embed=True)
    before, asked = rows_of(store), len(embedder.texts)
    with pytest.raises(cantle.SettingError) as caught:
        store.add("a", "section", "an added text")
    assert str(caught.value) == (
        "strategy ('section') is not searched: its chunks are parents of others; add to the chunks "
        "within them, or load these for themselves before"
    )
    assert (rows_of(store), len(embedder.texts)) == (before, asked)
    assert store.add("a", "small", "an added text") == "a_small_5"
    store.load(sections, min_chars=0, embed=True)
    assert store.add("a", "section", "one more") == "a_section_2"
    assert store.search("one more", k=1).ids == ["a_section_2"]
    assert_sound(store)


def test_a_chunk_that_is_added_to_what_waits_is_counted_with_it():
    store = opened()
    store.load(words().split(TEXT, id="a"), min_chars=0)
    store.add("a", "window", "an added text")
    assert (store.info()["embedded"], store.info()["waiting"]) == (0, 4)
    assert "without a vector, not searched: 4" in store.search("an added text").explain()
    assert store.backfill() == 4
    assert store.search("an added text", k=1).ids == ["a_window_3"]


def test_a_document_that_is_not_there_cannot_be_deleted():
    store = opened()
    with pytest.raises(cantle.SettingError, match=r"^source \('a'\) is not there; there are none$"):
        store.delete("a")


def test_the_same_text_under_two_ids_is_found_under_both():
    embedder = Hashing()
    store = opened(embedder=embedder)
    store.load(words().split_all([TEXT, TEXT], ids=list("ab")), min_chars=0, embed=True)
    assert len(embedder.texts) == 3
    hits = store.search("nine ten", k=2)
    assert hits.ids == ["a_window_2", "b_window_2"]
    np.testing.assert_array_equal(hits.scores[0], hits.scores[1])
    store.delete("a")
    assert store.search("nine ten", k=2).ids[0] == "b_window_2"
    assert_sound(store)
