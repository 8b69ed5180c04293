"""Stores for tests: an embedder whose vectors tell their text, and the obvious store beside it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cantle

WIDTH = 8

TEXT = "one two three four five six seven eight nine ten"

PAGE = """# Guide

Intro that is long enough to be kept.

## Keys

Rotate the key every ninety days, and revoke the previous one.

| name | value |
| --- | --- |
| some key | a value of it |
"""
"""A document with a heading, prose and a table."""

QUERY = np.linspace(1, -1, WIDTH, dtype=np.float32)
HNSW = cantle.index.Hnsw(m=4, ef_construction=16)
"""A graph of few links, built in no time."""


def vector_of(text: str) -> NDArray[np.float32]:
    """Return the vector of a text: bytes of its hash, so no two texts share one.

    They are halves of whole numbers, so float16 holds them as they are.
    """
    told = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:WIDTH]
    return np.frombuffer(told, np.uint8).astype(np.float32) - np.float32(127.5)


class Hashing:
    """An embedder that remembers what it was asked, and may fail after some texts."""

    def __init__(self, *, fail_after: int | None = None, error: BaseException | None = None):
        self.fingerprint = "hashing"
        self.texts: list[str] = []
        self.fail_after = fail_after
        self.error = error or RuntimeError("the embedder broke down")

    def __call__(self, texts: list[str]) -> NDArray[np.float32]:
        if self.fail_after is not None and len(self.texts) + len(texts) > self.fail_after:
            raise self.error
        self.texts += texts
        return np.stack([vector_of(text) for text in texts])


class Other(Hashing):
    """An embedder that is another one."""

    def __init__(self) -> None:
        super().__init__()
        self.fingerprint = "other"

    def __call__(self, texts: list[str]) -> NDArray[np.float32]:
        return super().__call__(texts)[:, ::-1]


def opened(path: Any = ":memory:", **settings: Any) -> cantle.Store:
    """Return a store that finds what the vectors say, without blending."""
    settings.setdefault("embedder", Hashing())
    settings.setdefault("blend", None)
    return cantle.Store.open(path, **settings)


def words(size: int = 4, overlap: int = 0, name: str | None = None) -> cantle.Window:
    """Return a strategy that cuts every so many words."""
    return cantle.Window(size, overlap, "words", name=name)


def numbered(docs: Iterable[int], version: int = 0) -> list[str]:
    """Return texts of which no word is in another one, nor in another version of it."""
    return [" ".join(f"{doc}.{i}.{version}" for i in range(doc % 7 * 3 + 1)) for doc in docs]


def filled(
    path: Any, docs: Sequence[int] = range(30), version: int = 0, **settings: Any
) -> list[tuple[str, str]]:
    """Make a store of some documents; return its rows."""
    with opened(path, **settings) as store:
        chunks = words(3).split_all(numbered(docs, version), ids=[f"d{doc}" for doc in docs])
        store.load(chunks, min_chars=0)
        store.backfill()
        return rows_of(store)


def rows_of(store: cantle.Store) -> list[tuple[str, str]]:
    """Return id and text of every chunk, in the store's order."""
    snapshot = store.snapshot()
    rows = np.arange(len(snapshot))
    return list(zip(snapshot.ids(rows), snapshot.texts(rows), strict=True))


def assert_sound(store: cantle.Store) -> None:
    """Check that the store is as it says, and every vector is that of its text."""
    assert store.check() == []
    snapshot = store.snapshot()
    rows = np.flatnonzero(snapshot.embedded)
    vectors = snapshot.vectors()
    assert len(vectors) == len(rows)
    for vector, text in zip(vectors, snapshot.texts(rows), strict=True):
        np.testing.assert_array_equal(vector, vector_of(text))


def nearest(
    rows: Sequence[tuple[str, str]], query: NDArray[Any], k: int
) -> list[tuple[str, float]]:
    """Return ids and cosines of the best rows, by comparing the query with every text."""
    asked = query.astype(np.float64) / np.linalg.norm(query.astype(np.float64))
    scored = []
    for at, (name, text) in enumerate(rows):
        vector = vector_of(text).astype(np.float64)
        scored.append((-float(vector @ asked / np.linalg.norm(vector)), at, name))
    return [(name, -score) for score, _, name in sorted(scored)[:k]]


def assert_found(hits: cantle.Hits, expected: Iterable[tuple[str, float]]) -> None:
    """Check ids and scores of hits."""
    expected = list(expected)
    assert hits.ids == [name for name, _ in expected]
    np.testing.assert_allclose(hits.scores, [score for _, score in expected], atol=1e-5)
