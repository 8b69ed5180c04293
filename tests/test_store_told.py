"""What a store says of its embedder is for people: names, not code."""

from __future__ import annotations

from functools import partial

import pytest

import cantle
from cantle.embed.door import identity
from cli_runs import cli
from stores import Hashing, words

HERE = "test_store_told"
TEXT = "one two three four five six seven"


def lengths(texts, factor=1.0, extra=(1, "'a' (b)")):
    return [[len(text) * factor, float(extra[0])] for text in texts]


def counting(least):
    def embed(texts):
        return [[max(len(text), least), 1.0] for text in texts]

    return embed


class Counting:
    def __call__(self, texts):
        return lengths(texts)

    def method(self, texts):
        return lengths(texts)


EMBEDDERS = {
    "function": (lengths, f"{HERE}.lengths (a function)"),
    "inner function": (counting(2), f"{HERE}.counting.<locals>.embed (a function)"),
    "lambda": (lambda texts: lengths(texts), f"{HERE}.<lambda> (a function)"),
    "method": (Counting().method, f"{HERE}.Counting.method (a function)"),
    "object": (Counting(), f"{HERE}.Counting (an object)"),
    "partial": (partial(lengths, factor=2.0), f"functools.partial (of {HERE}.lengths)"),
    "fingerprint": (Hashing(), "hashing"),
}


@pytest.mark.parametrize("kind", EMBEDDERS)
def test_an_embedder_is_called_by_its_name(tmp_path, kind):
    # Of a function all its code was printed, in hexadecimal.
    embedder, name = EMBEDDERS[kind]
    path = tmp_path / "kb"
    with cantle.Store.open(path, embedder=embedder) as store:
        assert store.info()["embedder"] is None
        store.load(words().split(TEXT, id="a"), min_chars=0, embed=True)
        assert store.info()["embedder"] == name
        assert f"vectors of {name}" in store.describe()
        # It is known by all of it as before.
        assert store.snapshot().embedder == identity(embedder)
    shown = cli(path, command="info").out
    assert [
        line.split(maxsplit=1)[1] for line in shown.splitlines() if line.startswith("embedder")
    ] == [name]
    with pytest.raises(cantle.SettingError) as caught:
        cantle.Store.open(path, embedder="keyword:tea")
    assert "vectors are of '" + name[:40] in str(caught.value)
