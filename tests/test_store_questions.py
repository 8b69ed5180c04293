"""A question that asks nothing is refused: an empty answer would say that nothing is there."""

from __future__ import annotations

import pytest

import cantle
from cli_runs import cli
from stores import WIDTH, Hashing, opened, words

BLANK = ["", " ", "\n\t ", "\u3000", "\u2028"]


def asked(store, question):
    """Yield the number of the question, and each call that asks it."""
    for mode in ("dense", "text", "hybrid"):
        for given in ({}, {"vector": [1.0] * WIDTH}):
            given = given | {"mode": mode}
            yield 0, lambda given=given: store.search(question, **given)
            yield 0, lambda given=given: store.retrieve(question, **given)
        yield 1, lambda mode=mode: store.search_all(["one two", question], mode=mode)


@pytest.mark.parametrize("question", BLANK)
def test_a_blank_question_is_refused(question):
    embedder = Hashing()
    store = opened(embedder=embedder)
    store.load(words().split("one two three four five six", id="a"), min_chars=0, embed=True)
    paid = len(embedder.texts)
    for number, act in asked(store, question):
        with pytest.raises(cantle.SettingError) as caught:
            act()
        assert str(caught.value) == f"questions[{number}] ({question!r}) must not be blank"
    assert len(embedder.texts) == paid, "nothing was embedded"
    assert len(store.search(vector=[1.0] * WIDTH)) == 2
    assert [len(hits) for hits in store.search_all([])] == []


@pytest.mark.parametrize("question", BLANK)
@pytest.mark.parametrize("more", [[], ["--budget", "100"], ["--mode", "text"], ["--json"]])
def test_the_command_refuses_it_as_a_wrong_call(tmp_path, question, more):
    path = tmp_path / "kb"
    with cantle.Store.open(path, embedder="keyword:tea pot") as store:
        store.load(words().split("one two three four five six", id="a"), min_chars=0, embed=True)
    result = cli(path, question, *more, command="search")
    assert (result.status, result.out) == (2, "")
    assert result.err == f"cantle: QUESTION ({question!r}) must not be blank\n"
