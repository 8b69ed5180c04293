"""Cases of embedding: chunks that are given to a model which takes so many tokens of a text."""

from __future__ import annotations

from typing import Any

import numpy as np

import cantle
from cases import adapter, builders
from cases.adapter import Outcome, check

adapter.OPS.add("embed_chunks")
adapter.PARAMETERS.add("embedder_max_tokens")


class Model:
    """The case's embedder, which says what it takes, and remembers what it was asked."""

    def __init__(self, call: dict[str, Any]) -> None:
        self.fingerprint = call["embedder"]
        self.token_limit = call["embedder_max_tokens"], builders.TOKENIZERS[call["tokenizer"]]()
        self.texts: list[str] = []

    def __call__(self, texts: list[str]) -> Any:
        self.texts += texts
        return np.asarray(builders.EMBEDDERS[self.fingerprint](texts), np.float32)


class Embedded(Outcome):
    """The chunks that a store has embedded, or the error that came before that."""

    def run(self) -> list[cantle.Chunks]:
        (chunks,) = super().run()
        self.model = Model(self.call)
        with cantle.Store.open(embedder=self.model) as store:
            loaded = store.load(chunks, embed=True)
        assert loaded.embedded == len(chunks)
        return [chunks]


@check
def warns_or_raises(outcome: Embedded, given: dict[str, Any]) -> None:
    """Warnings are errors in every test. Nothing was embedded when it was told."""
    error = outcome.answer
    assert isinstance(error, cantle.TextError)
    assert all(words in str(error) for words in given["says"])
    assert outcome.model.texts == []


@check
def no_warning(outcome: Embedded, given: dict[str, Any]) -> None:
    assert len(outcome.chunks) == len(set(outcome.model.texts)) > 1
