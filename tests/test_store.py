"""A store holds what it was given: chunks as they were cut, ids, metadata, settings."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import cantle
from stores import PAGE, TEXT, assert_sound, opened, rows_of, words


def test_a_new_store_is_empty():
    store = opened()
    assert len(store.search("anything")) == 0
    assert store.check() == []
    info = store.info()
    assert (info["documents"], info["chunks"], info["embedded"], info["waiting"]) == (0, 0, 0, 0)
    assert info["embedder"] is None


def test_what_was_loaded_is_what_the_strategy_cut(tmp_path):
    texts = ["Größe eins. Und zwei.", PAGE, "日本語の文章です。次の文。", ""]
    ids = ["umlaut", "guide", "日本", "empty"]
    metadata = [{"year": 2020}, {"title": "The guide", "tags": ["a"]}, {}, {}]
    chunks = cantle.Structural(12, unit="words").split_all(texts, ids=ids, metadata=metadata)
    store = opened(tmp_path / "kb.cantle")
    loaded = store.load(chunks, min_chars=0)
    assert (loaded.documents, loaded.chunks, loaded.embedded) == (4, len(chunks), 0)
    assert loaded.checked.chunks is chunks
    assert loaded.dropped == {}
    store.close()

    snapshot = opened(tmp_path / "kb.cantle").snapshot()
    rows = np.arange(len(snapshot))
    assert snapshot.ids(rows) == chunks.ids
    assert snapshot.texts(rows) == chunks.texts
    assert [cantle.KINDS[kind] for kind in snapshot.kind] == chunks.kind.tolist()
    for name in ("ordinal", "size", "flags", "byte_start", "byte_end"):
        np.testing.assert_array_equal(getattr(snapshot, name), getattr(chunks, name), name)
    for name in ("char_start", "char_end", "source_start", "source_end"):
        np.testing.assert_array_equal(getattr(snapshot, name), getattr(chunks, name), name)
    assert [snapshot.heading_paths[at] for at in snapshot.heading] == list(chunks.heading_paths)
    assert [source.id for source in snapshot.sources] == ids
    assert [source.metadata for source in snapshot.sources] == metadata
    assert [source.cite for source in snapshot.sources] == ["umlaut", "The guide", "日本", "empty"]
    assert not snapshot.embedded.any()
    with pytest.raises(ValueError, match="read-only"):
        snapshot.size[0] = 1


def test_offsets_of_html_point_into_the_original():
    page = "<h1>Keys</h1><p>Rotate the key &amp; revoke it, every ninety days.</p>"
    chunks = cantle.Structural(50, unit="words").split(page, id="page.html")
    store = opened()
    store.load(chunks, embed=True)
    np.testing.assert_array_equal(store.snapshot().source_start, chunks.source_start)
    np.testing.assert_array_equal(store.snapshot().source_end, chunks.source_end)


def test_check_leaves_out_what_is_too_short():
    store = opened()
    chunks = words(1).split("an extraordinarily-long-word of", id="a")
    loaded = store.load(chunks, min_chars=10)
    assert rows_of(store) == [("a_window_1", "extraordinarily-long-word")]
    assert (loaded.chunks, int(np.count_nonzero(loaded.checked.skip))) == (1, 2)
    assert repr(loaded) == "Loaded(1 documents, 1 chunks, 0 embedded, 2 left out)"


@pytest.mark.parametrize("text", ["", "  \n ", "\0", "x"])
def test_a_document_without_chunks_is_there_and_can_get_some(text):
    store = opened()
    store.load(words().split(text, id="a"), embed=True)
    assert [source.id for source in store.snapshot().sources] == ["a"]
    assert (len(store.snapshot()), store.info()["waiting"]) == (0, 0)
    store.load(words().split(TEXT, id="a"), min_chars=0, embed=True)
    assert len(store.snapshot()) == 3
    assert_sound(store)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"chunks": ["a"]}, TypeError, "chunks must be Chunks, not list"),
        (
            {"chunks": words().split_all([TEXT, TEXT])[::-1]},
            ValueError,
            "chunks must be in the order of their documents",
        ),
        (
            {"chunks": words().split(TEXT), "embed": True, "batch_size": 0},
            ValueError,
            "batch_size (0) must be at least 1",
        ),
    ],
)
def test_only_chunks_are_loaded(given, error, message):
    with pytest.raises(error) as caught:
        opened().load(**given)
    assert str(caught.value) == message


# Names, ids, metadata.


@pytest.mark.parametrize(
    "name", ["ключ", "a\0b", "a_window_0", "'; DROP TABLE part; --", " ", "😀" * 500]
)
def test_any_id_will_do(name):
    store = opened()
    store.load(words().split_all([TEXT, "p q"], ids=[name, f"{name}2"]), min_chars=0, embed=True)
    store.load(words().split(f"zero {TEXT}", id=name), min_chars=0, embed=True)
    assert {source.id for source in store.snapshot().sources} == {name, f"{name}2"}
    hits = store.search("p q", k=1, where={"source": [f"{name}2"]})
    assert hits.ids == [f"{name}2_window_0"]
    assert_sound(store)
    assert store.delete(name) == 3
    assert [source.id for source in store.snapshot().sources] == [f"{name}2"]


def test_metadata_are_kept_as_json_in_one_order():
    from datetime import date
    from decimal import Decimal
    from pathlib import PurePosixPath

    given = {
        "day": date(2024, 2, 29),
        "price": Decimal("1.50"),
        "file": PurePosixPath("a/b"),
        "tags": {"c", "a", "b"},
        "count": np.int64(3),
        "scores": np.array([0.5, 1.0]),
        "nested": {"deep": [1, None, True, {"x": "ü\0"}]},
        "long": "x" * 1_000_000,
    }
    store = opened()
    store.load(words().split(TEXT, id="a", metadata=given), min_chars=0)
    assert store.snapshot().sources[0].metadata == given | {
        "day": "2024-02-29",
        "price": "1.50",
        "file": "a/b",
        "tags": ["a", "b", "c"],
        "count": 3,
        "scores": [0.5, 1.0],
    }


class Silent:
    """Something whose string is where it lies in memory."""


def circular():
    found = {}
    found["again"] = found
    return found


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (circular(), "Circular reference detected"),
        (Silent(), "Silent has no string of its own"),
        ({("a", 1): 2}, "keys must be str, int, float, bool or None, not tuple"),
        (
            "\ud800",
            "'utf-8' codec can't encode character '\\ud800' in position 7: surrogates not allowed",
        ),
    ],
)
def test_metadata_that_cannot_be_kept_are_refused_with_their_document(value, why):
    store = opened()
    for act in (
        lambda: store.load(words().split(TEXT, id="a", metadata={"k": value})),
        lambda: store.sync([TEXT], ids=["a"], metadata=[{"k": value}], strategy=words()),
    ):
        with pytest.raises(cantle.SettingError) as caught:
            act()
        assert str(caught.value) == f"metadata of document 'a' cannot be written as JSON: {why}"
    assert store.info()["documents"] == 0


def test_a_title_that_cannot_be_written_is_refused():
    with pytest.raises(cantle.SettingError, match=r"^metadata of document 'a' cannot be written"):
        opened().load(words().split(TEXT, id="a", metadata={"title": "\ud800"}))


# Opening and closing.


def test_a_store_says_which_file_it_is(tmp_path):
    path = tmp_path / "kb"
    assert repr(opened(path)) == f"Store({str(path)!r})"
    assert repr(opened()) == "Store(':memory:')"


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"index": "exact"}, TypeError, "index ('exact') must be Exact(), Hnsw() or Auto()"),
        ({"blend": 0.5}, ValueError, "blend (0.5) must be 'auto', weights of neighbours, or None"),
        (
            {"blend": (-1,)},
            ValueError,
            "blend ((-1,)) must be 'auto', weights of neighbours, or None",
        ),
        ({"precision": "f2"}, ValueError, "precision ('f2') must be 'float32' or 'float16'"),
        ({"embedder": 5}, TypeError, "embedder (5) must be a name or a callable"),
    ],
)
def test_settings_are_checked_when_it_is_opened(given, error, message):
    with pytest.raises(error) as caught:
        opened(**given)
    assert str(caught.value) == message


def test_a_closed_store_says_so(tmp_path):
    path = str(tmp_path / "kb")
    with opened(path) as store:
        store.load(words().split(TEXT, id="a"), min_chars=0, embed=True)
        hits = store.search("nine ten")
    store.close()
    for act in (
        lambda: store.search("nine ten"),
        lambda: store.load(words().split(TEXT)),
        lambda: store.backfill(),
        lambda: store.check(),
        lambda: store.info(),
        lambda: store.snapshot(),
        lambda: store.delete("a"),
        lambda: store.sync([TEXT], strategy=words()),
    ):
        with pytest.raises(cantle.StoreError) as caught:
            act()
        assert str(caught.value) == f"{path}: the store is closed"
    assert hits[0].text == "nine ten"


def test_a_store_is_not_pickled(tmp_path):
    store = opened(tmp_path / "kb")
    with pytest.raises(TypeError) as caught:
        pickle.dumps(store)
    assert str(caught.value) == (
        f"a Store cannot be pickled: open {str(tmp_path / 'kb')!r} where it is needed"
    )


def test_two_stores_in_memory_are_two():
    first, second = opened(), opened()
    first.load(words().split(TEXT, id="a"), min_chars=0)
    assert len(second.snapshot()) == 0
    assert first.path == ":memory:"


def test_the_index_that_was_chosen_is_remembered(tmp_path):
    index = cantle.index.Hnsw(m=8)
    with opened(tmp_path / "kb", index=index) as store:
        store.load(words().split(TEXT, id="a"), min_chars=0, embed=True)
    with opened(tmp_path / "kb") as store:
        assert store._settings.index == index
    with opened(tmp_path / "kb", index=replace(index, m=4)) as store:
        store.backfill()
    with opened(tmp_path / "kb") as store:
        assert store._settings.index == replace(index, m=4)


def test_what_is_remembered_for_those_who_fill_it(tmp_path):
    with opened(tmp_path / "kb") as store:
        assert store.remembered() == {}
        generation = store.info()["generation"]
        store.remember({"folder": "döcs", "ids": [1, 2]})
        assert store.info()["generation"] == generation
    with opened(tmp_path / "kb") as store:
        assert store.remembered() == {"folder": "döcs", "ids": [1, 2]}
