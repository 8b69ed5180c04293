"""A store holds what it was given: chunks, parents, vectors of their texts, settings."""

import pickle
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import cantle
from stores import (
    PAGE,
    WIDTH,
    Hashing,
    Other,
    assert_found,
    assert_sound,
    nearest,
    opened,
    rows_of,
    vector_of,
    words,
)

TEXT = "one two three four five six seven eight nine ten"


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


# Embedders.


def test_another_embedder_is_refused(tmp_path):
    with opened(tmp_path / "kb") as store:
        store.load(words().split(TEXT, id="a"), min_chars=0, embed=True)
    message = (
        "embedder: the store's vectors are of 'hashing', not of 'other'; "
        "open it without embedder=, then change_embedder makes them anew"
    )
    with pytest.raises(cantle.SettingError) as caught:
        opened(tmp_path / "kb", embedder=Other())
    assert str(caught.value) == message


def test_an_embedder_without_a_name_is_needed_only_for_words(tmp_path):
    with opened(tmp_path / "kb") as store:
        store.load(words().split(TEXT, id="a"), min_chars=0, embed=True)
    with cantle.Store.open(tmp_path / "kb", blend=None) as store:
        hits = store.search(vector=vector_of("nine ten"), k=1)
        assert hits.texts == ["nine ten"]
        for act in (
            lambda: store.search("nine ten"),
            lambda: store.backfill(),
            lambda: store.add("a", "window", "a text"),
        ):
            with pytest.raises(cantle.SettingError) as caught:
                act()
            assert str(caught.value) == (
                "embedder: the store's was an object without a name: open it with embedder="
            )
        store.load(words().split("an other text here", id="b"), min_chars=0)
    with opened(tmp_path / "kb") as store:
        assert store.backfill() == 1
        assert_sound(store)


def test_a_named_embedder_is_remembered(tmp_path):
    name = "keyword:tea pot|rain cloud"
    with opened(tmp_path / "kb", embedder=name) as store:
        store.load(words().split("warm the tea pot", id="a"), min_chars=0, embed=True)
    with cantle.Store.open(tmp_path / "kb") as store:
        assert store.search("tea?").ids == ["a_window_0"]
        assert store.info()["embedder_name"] == name


def test_changing_the_embedder_makes_all_vectors_anew(tmp_path):
    store = opened(tmp_path / "kb")
    store.load(words().split(TEXT, id="a"), min_chars=0, embed=True)
    other = Other()
    store.change_embedder(other)
    assert (store.info()["embedded"], store.info()["waiting"]) == (0, 3)
    assert store.check() == []
    assert len(store.search("nine ten")) == 0
    assert store.backfill() == 3
    assert store.search("nine ten", k=1).scores[0] == pytest.approx(1.0)
    np.testing.assert_array_equal(store.snapshot().vectors()[:, ::-1][2], vector_of("nine ten"))
    store.close()
    with pytest.raises(cantle.SettingError, match="are of 'other', not of 'hashing'"):
        opened(tmp_path / "kb")


def test_functions_that_differ_in_their_code_alone_are_told_apart_in_few_words(tmp_path):
    # The message held the code of both, in hexadecimal.
    def embedder_that_adds(number):
        def embed(texts):
            return [[len(text) + number, 1.0] for text in texts]

        return embed

    with opened(tmp_path / "kb", embedder=embedder_that_adds(1)) as store:
        store.load(words().split(TEXT, id="a"), min_chars=0, embed=True)
    with pytest.raises(cantle.SettingError, match="not of one with other code or values") as caught:
        opened(tmp_path / "kb", embedder=embedder_that_adds(2))
    assert len(str(caught.value)) < 250
    with pytest.raises(cantle.SettingError, match="not of 'other'; open it without embedder="):
        opened(tmp_path / "kb", embedder=Other())


def test_a_store_says_which_file_it_is(tmp_path):
    path = tmp_path / "kb"
    assert repr(opened(path)) == f"Store({str(path)!r})"
    assert repr(opened()) == "Store(':memory:')"


def test_a_store_that_was_opened_before_its_embedder_changed_writes_and_finds_nothing(tmp_path):
    # Vectors of two embedders stood in one store, and a question was compared with the other's.
    first, second = opened(tmp_path / "kb"), opened(tmp_path / "kb")
    first.load(words().split_all([TEXT, "an other text"], ids=list("ab")), min_chars=0, embed=True)
    assert second.search("nine ten", k=1).texts == ["nine ten"]
    first.change_embedder(Other())
    message = (
        "embedder: the store's vectors are of 'other', not of 'hashing'; "
        "open it without embedder=, then change_embedder makes them anew"
    )
    for act in (
        lambda: second.search("nine ten"),
        lambda: second.backfill(),
        lambda: second.load(words().split("a new text here", id="c"), min_chars=0, embed=True),
        lambda: second.add("a", "window", "a new text"),
    ):
        with pytest.raises(cantle.SettingError) as caught:
            act()
        assert str(caught.value) == message
    first.backfill()
    assert first.check() == []
    assert [source.id for source in first.snapshot().sources] == ["a", "b"]


def test_two_that_make_one_store_must_agree(tmp_path):
    first = opened(tmp_path / "kb", precision="float16")
    second = opened(tmp_path / "kb", precision="float32")
    third = opened(tmp_path / "kb", embedder=Other(), precision="float16")
    first.load(words().split(TEXT, id="a"), min_chars=0, embed=True)
    with pytest.raises(
        cantle.SettingError, match=r"^precision \('float32'\): the store's is 'float16'$"
    ):
        second.load(words().split(TEXT, id="b"), min_chars=0, embed=True)
    with pytest.raises(cantle.SettingError, match="are of 'hashing', not of 'other'"):
        third.load(words().split(TEXT, id="b"), min_chars=0)
    assert_sound(first)


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


# Strategies and parents.


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


# Added by hand, deleted.


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


# Searching.


def test_hits_say_where_they_stand():
    store = opened()
    chunks = cantle.Structural(12, unit="words").split(
        PAGE, id="guide.md", metadata={"title": "The guide", "year": 2020}
    )
    store.load(chunks, embed=True)
    chunk = next(chunk for chunk in chunks if chunk.text.startswith("Rotate"))
    hits = store.search(vector=vector_of(chunk.embed_text), k=2)
    hit = hits[0]
    assert hit.as_dict() == {
        "id": chunk.id,
        "score": pytest.approx(1.0),
        "source": "guide.md",
        "strategy": "structural",
        "cite": " > ".join(["The guide", *chunk.heading_path]),
        "heading_path": list(chunk.heading_path),
        "spans": [[chunk.char_start, chunk.char_end]],
        "passage": chunk.text,
        "metadata": {"title": "The guide", "year": 2020},
    }
    assert (hits[-1].id, len(hits)) == (hits.ids[1], 2)
    assert hits.heading_paths[0] == chunk.heading_path
    hit.metadata["year"] = 1
    assert hit.metadata["year"] == 2020
    with pytest.raises(IndexError, match=r"^hit 2 of 2$"):
        hits[2]
    with pytest.raises(TypeError, match=r"^hits are picked by a number, not by 'a'$"):
        hits["a"]


@pytest.mark.parametrize("levels", [1, 2])
def test_chunks_within_others_are_cited_by_the_headings_of_these(levels):
    # They have none of their own, so a hit was cited by its document alone.
    chunks = cantle.Structural(30, unit="words").split(PAGE, id="guide", metadata={"title": "T"})
    expected = {
        text.split()[0]: path for text, path in zip(chunks.texts, chunks.heading_paths, strict=True)
    }
    assert {("Guide",), ("Guide", "Keys")} <= set(expected.values())
    for _ in range(levels):
        chunks = words(8, name=f"level{chunks.level_number}").split_within(chunks)
    assert set(chunks.heading_paths) == {()}
    store = opened()
    store.load(chunks, min_chars=0, embed=True)
    hits = store.search(vector=vector_of("anything"), k=100)
    assert len(hits) == len(chunks)
    for hit, chunk in ((hit, chunks[chunks.ids.index(hit.id)]) for hit in hits):
        while chunk.parent is not None:
            chunk = chunk.parent
        assert hit.heading_path == expected[chunk.text.split()[0]]
        assert hit.cite == " > ".join(("T", *hit.heading_path))
    found = store.search("keys", k=100, where={"heading": ["Guide", "Keys"]})
    assert set(found.heading_paths) == {("Guide", "Keys")}
    assert len(found) == hits.heading_paths.count(("Guide", "Keys"))
    cites = store.retrieve("keys", budget=1_000).cites
    assert cites == ["T > Guide"]


@pytest.mark.parametrize("index", [cantle.index.Exact(), cantle.index.Hnsw()])
def test_hits_are_the_nearest(tmp_path, index):
    store = opened(tmp_path / "kb", index=index)
    texts = [" ".join(f"{doc}-{i}" for i in range(doc)) for doc in range(40)]
    store.load(words(3).split_all(texts), min_chars=0)
    store.backfill()
    rows = rows_of(store)
    for k in (1, 7, 1_000):
        query = vector_of(f"question {k}")
        assert_found(store.search(vector=query, k=k), nearest(rows, query, k))
        floor = 0.2
        assert_found(
            store.search(vector=query, k=k, min_score=floor),
            [(name, score) for name, score in nearest(rows, query, k) if score >= floor],
        )


def test_zero_vectors_are_counted_and_never_found():
    def embed(texts):
        return np.stack([vector_of(text) * ("zero" not in text) for text in texts])

    store = opened(embedder=embed)
    store.load(words(1).split("zero one two", id="a"), min_chars=0, embed=True)
    assert sorted(store.search("anything", k=10).texts) == ["one", "two"]
    assert store.info()["zero_vectors"] == 1
    assert "zero vectors, never ranked: 1" in store.search("anything").explain()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "neither a question nor a vector is given"),
        ({"vector": [1.0] * WIDTH, "mode": "text"}, "mode ('text') needs a question in words"),
        ({"vector": [1.0] * WIDTH, "mode": "hybrid"}, "mode ('hybrid') needs a question in words"),
        ({"question": 5}, "questions[0] (5) must be str"),
        (
            {"question": "a", "mode": "both"},
            "mode ('both') must be one of 'dense', 'text', 'hybrid'",
        ),
        ({"question": "a", "k": 0}, "k (0) must be at least 1"),
    ],
)
def test_a_search_needs_a_question(given, message):
    store = opened()
    store.load(words().split(TEXT, id="a"), min_chars=0, embed=True)
    with pytest.raises((ValueError, TypeError)) as caught:
        store.search(**given)
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


# Opening and closing.


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
