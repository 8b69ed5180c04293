"""Strategies of a store stand side by side, and chunks stand within those they were cut within."""

import numpy as np
import pytest

import cantle
from stores import TEXT, assert_sound, opened, rows_of, words


def test_a_name_with_other_settings_is_refused():
    store = opened()
    store.load(words(4).split(TEXT, id="a"), min_chars=0)
    with pytest.raises(cantle.SettingError) as caught:
        store.load(words(5).split(TEXT, id="b"), min_chars=0)
    assert str(caught.value) == (
        "name ('window') is there with other settings: cut under another name=, or sync, which "
        "cuts all of that name anew"
    )
    assert [source.id for source in store.snapshot().sources] == ["a"]
    store.load(words(5, name="five").split(TEXT, id="b"), min_chars=0)
    # A name of which no chunk is left is free.
    store.delete("a")
    store.load(words(3).split(TEXT, id="a"), min_chars=0)
    assert_sound(store)


def test_strategies_stand_side_by_side():
    store = opened()
    for size in (2, 5):
        store.load(
            words(size, name=f"w{size}").split_all([TEXT, TEXT], ids=list("ab")), min_chars=0
        )
    assert store.backfill() == 14
    assert [name for name, _ in rows_of(store)][:6] == [f"a_w2_{i}" for i in range(5)] + ["b_w2_0"]
    hits = store.search("one two three four five", k=3, where={"strategy": "w5"})
    assert hits.ids[:2] == ["a_w5_0", "b_w5_0"]
    assert {hit.strategy for hit in hits} == {"w5"}
    assert [row.name for row in store.snapshot().strategies] == ["w2", "w5"]
    assert_sound(store)


def test_chunks_of_other_strategies_go_with_their_text():
    store = opened()
    for size in (2, 5):
        store.load(
            words(size, name=f"w{size}").split_all([TEXT, TEXT], ids=list("ab")), min_chars=0
        )
    loaded = store.load(words(2, name="w2").split(f"{TEXT} eleven", id="a"), min_chars=0)
    assert loaded.dropped == {"a": ["w5"]}
    assert {name for name, _ in rows_of(store) if "w5" in name} == {"b_w5_0", "b_w5_1"}
    # The same text with other metadata stays cut.
    dated = words(2, name="w2").split(TEXT, id="b", metadata={"year": 2020})
    assert store.load(dated, min_chars=0).dropped == {}
    store.backfill()
    assert_sound(store)


# Parents.


def parents_of(store, name):
    """Return each text of a strategy, and its parent's."""
    snapshot = store.snapshot()
    rows = np.flatnonzero(snapshot.strategy == snapshot.strategy_named(name))
    return {
        text: snapshot.texts([above])[0] if above >= 0 else None
        for text, above in zip(snapshot.texts(rows), snapshot.parent[rows].tolist(), strict=True)
    }


def test_parents_come_with_their_children_and_are_not_searched():
    sections = words(6, name="section").split_all([TEXT, "a b c d e f g h"], ids=list("xy"))
    children = words(2, name="small").split_within(sections)
    store = opened()
    loaded = store.load(children, parents=sections, min_chars=0, embed=True)
    assert (loaded.chunks, loaded.embedded) == (len(children), len(children))
    assert store.info()["waiting"] == 0
    assert {hit.strategy for hit in store.search("one two", k=50)} == {"small"}
    expected = {
        chunk.text: sections[int(chunks)].text
        for chunk, chunks in zip(children, children.parent, strict=True)
    }
    assert parents_of(store, "small") == expected
    assert store.snapshot().strategies[1].within == "section"
    with pytest.raises(
        cantle.SettingError, match=r"^parents must be the chunks that these were cut within$"
    ):
        store.load(children, parents=words(6, name="section").split(TEXT))


def test_three_levels_keep_their_parents():
    large = words(6, name="large").split_all([TEXT, "", f"{TEXT} {TEXT}"], ids=list("abc"))
    middle = words(3, name="middle").split_within(large)
    store = opened()
    small = words(1, name="small").split_within(middle)
    store.load(small, min_chars=0, embed=True)
    snapshot = store.snapshot()
    assert [row.searched for row in snapshot.strategies] == [False, False, True]
    for below, above in ((small, middle), (middle, large)):
        rows = np.flatnonzero(snapshot.strategy == snapshot.strategy_named(below.name))
        assert snapshot.ids(snapshot.parent[rows]) == [above.ids[row] for row in below.parent]
    assert store.check() == []


def test_parents_that_are_loaded_for_themselves_stay_the_parents():
    # Parents are left out where they are too short, and their children then pointed to others.
    text = "some lengthy opening sentence e f g h another lengthy sentence stands"
    sections = words(4, name="section").split(text, id="x")
    children = words(2, name="small").split_within(sections)
    expected = None
    for order in ("children first", "parents first"):
        store = opened()
        given = [(children, 0), (sections, 10)]
        for chunks, least in given if order == "children first" else reversed(given):
            store.load(chunks, min_chars=least, embed=True)
        parents = parents_of(store, "small")
        assert {parent for child, parent in parents.items() if child in ("e f", "g h")} == {None}
        assert parents["another lengthy"] == "another lengthy sentence stands"
        assert store.info()["waiting"] == 0
        assert expected in (None, parents)
        expected = parents
        assert_sound(store)


def test_parents_that_are_cut_anew_hold_their_children_or_are_none():
    sections = words(4, name="section").split(TEXT, id="x")
    store = opened()
    store.load(words(1, name="small").split_within(sections), min_chars=0, embed=True)
    store.sync([TEXT], ids=["x"], strategy=words(3, name="section"), min_chars=0)
    assert parents_of(store, "small") == {
        word: next(part for part in words(3).split(TEXT).texts if word in part.split())
        for word in TEXT.split()
    }
    assert_sound(store)
