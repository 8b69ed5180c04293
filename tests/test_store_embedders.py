"""A store is of one embedder: another is refused, its name remembered, its change said to all."""

import numpy as np
import pytest

import cantle
from stores import TEXT, Other, assert_sound, opened, vector_of, words


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
