"""Whatever is done to a store, it is what an obvious one beside it is, after every step."""

import tempfile
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import cantle
from cantle.store import pieces
from cantle.store.searching import _ascending
from conftest import SLOW
from stores import WIDTH, assert_found, assert_sound, nearest, opened, rows_of, words

IDS = ("a", "ü b")
NAMES = ("x", "y")
SIZES = (1, 1, 1, 2)  # A name that is taken is refused with another size.
texts = st.lists(st.sampled_from("pqrst"), max_size=5).map(" ".join)
documents = st.dictionaries(st.sampled_from(IDS), st.tuples(texts, st.integers(0, 1)), max_size=2)
names, sizes = st.sampled_from(NAMES), st.sampled_from(SIZES)


class Part:
    """The chunks of one document under one strategy."""

    def __init__(self, size: int, pieces: list[str], added: list[str], embedded: bool) -> None:
        self.size, self.pieces, self.added, self.embedded = size, pieces, added, embedded

    @property
    def texts(self) -> list[str]:
        return self.pieces + self.added


class Obvious:
    """A store as lists and dictionaries."""

    def __init__(self) -> None:
        self.sources: dict[str, tuple[str, int]] = {}
        self.sizes: dict[str, int] = {}
        self.parts: dict[tuple[str, str], Part] = {}

    def is_taken(self, name: str, size: int) -> bool:
        used = any(own == name for own, _ in self.parts)
        return used and self.sizes[name] != size

    def write(self, name: str, size: int, given: dict[str, tuple[str, int]], embed: bool) -> None:
        self.sizes[name] = size
        for source, (text, year) in given.items():
            own = [part for (_, of), part in self.parts.items() if of == source and part.embedded]
            known = {text for part in own for text in part.texts}
            if source in self.sources and self.sources[source][0] != text:
                for key in [key for key in self.parts if key[1] == source and key[0] != name]:
                    del self.parts[key]
            self.sources[source] = text, year
            every = text.split()
            pieces = [" ".join(every[at : at + size]) for at in range(0, len(every), size)]
            old = self.parts.get((name, source))
            part = Part(size, pieces, old.added if old else [], True)
            part.embedded = embed or known.issuperset(part.texts)
            self.parts[name, source] = part

    def sync(
        self, name: str, size: int, given: dict[str, tuple[str, int]], prune: bool
    ) -> dict[str, int]:
        said = dict.fromkeys(("unchanged", "changed", "new", "gone"), 0)
        changed = {}
        for source, told in given.items():
            part = self.parts.get((name, source))
            if part and part.embedded and part.size == size and self.sources[source] == told:
                said["unchanged"] += 1
            else:
                said["changed" if part else "new"] += 1
                changed[source] = told
        if changed:
            self.write(name, size, changed, True)
        for own, source in list(self.parts) if prune else []:
            if own == name and source not in given:
                said["gone"] += 1
                del self.parts[own, source]
                if not any(of == source for _, of in self.parts):
                    del self.sources[source]
        return said

    def rows(self) -> list[tuple[str, str, str, bool]]:
        """Return id, strategy, text and whether there is a vector, of each row in its order."""
        return [
            (f"{source}_{name}_{at}", name, text, self.parts[name, source].embedded)
            for name in self.sizes
            for source in self.sources
            if (name, source) in self.parts
            for at, text in enumerate(self.parts[name, source].texts)
        ]


class Both:
    """A store and the obvious one: what may be done to them in any order."""

    def __init__(self, index: Any) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "kb"
        self.index = index
        self.obvious = Obvious()
        self.store = opened(self.path, index=index)

    def end(self) -> None:
        self.store.close()
        self.folder.cleanup()

    def load(self, name: str, size: int, given: dict[str, tuple[str, int]], embed: bool) -> None:
        chunks = words(size, name=name).split_all(
            [text for text, _ in given.values()],
            ids=list(given),
            metadata=[{"year": year} for _, year in given.values()],
        )
        if self.obvious.is_taken(name, size):
            with pytest.raises(cantle.SettingError, match="is there with other settings"):
                self.store.load(chunks, min_chars=0, embed=embed)
            return
        self.obvious.write(name, size, given, embed)
        loaded = self.store.load(chunks, min_chars=0, embed=embed)
        here = [self.obvious.parts[name, source] for source in given]
        assert loaded.chunks == sum(len(part.texts) for part in here) - sum(
            len(part.added) for part in here
        )

    def sync(self, name: str, size: int, given: dict[str, tuple[str, int]], prune: bool) -> None:
        def run(dry_run: bool) -> cantle.Synced:
            return self.store.sync(
                [text for text, _ in given.values()],
                ids=list(given),
                metadata=[{"year": year} for _, year in given.values()],
                strategy=words(size, name=name),
                prune=prune,
                min_chars=0,
                dry_run=dry_run,
            )

        planned = run(dry_run=True)
        before = rows_of(self.store)
        done = run(dry_run=False)
        assert planned._replace(dry_run=False, dropped={}) == done._replace(dropped={})
        assert done.documents == self.obvious.sync(name, size, given, prune)
        after = rows_of(self.store)
        kept = done.chunks["unchanged"] + done.chunks["moved"]
        if set(self.obvious.sizes) == {name} and (prune or len(self.obvious.sources) == len(given)):
            assert kept + done.chunks["new"] == len(after)
            assert kept + done.chunks["gone"] == len(before)

    def delete(self, pick: int) -> None:
        if not self.obvious.sources:
            return
        source = list(self.obvious.sources)[pick % len(self.obvious.sources)]
        parts = [key for key in self.obvious.parts if key[1] == source]
        chunks = sum(len(self.obvious.parts.pop(key).texts) for key in parts)
        del self.obvious.sources[source]
        assert self.store.delete(source) == chunks

    def add(self, pick: int, text: str) -> None:
        if not self.obvious.parts:
            return
        name, source = list(self.obvious.parts)[pick % len(self.obvious.parts)]
        part = self.obvious.parts[name, source]
        part.added = [*part.added, text]
        assert self.store.add(source, name, text) == f"{source}_{name}_{len(part.texts) - 1}"

    def backfill(self) -> None:
        waiting = [part for part in self.obvious.parts.values() if not part.embedded]
        assert self.store.backfill(batch_size=2) == sum(len(part.texts) for part in waiting)
        for part in waiting:
            part.embedded = True

    def reopen(self) -> None:
        self.store.close()
        self.store = opened(self.path, index=self.index)

    def build(self) -> None:
        assert self.store.build_index() == isinstance(self.index, cantle.index.Hnsw)

    def is_as_the_obvious_one(self) -> None:
        assert_sound(self.store)
        rows = self.obvious.rows()
        assert rows_of(self.store) == [(name, text) for name, _, text, _ in rows]
        snapshot = self.store.snapshot()
        assert snapshot.embedded.tolist() == [embedded for *_, embedded in rows]
        assert {row.id: row.metadata["year"] for row in snapshot.sources} == {
            source: year for source, (_, year) in self.obvious.sources.items()
        }
        waiting = sum(not embedded for *_, embedded in rows)
        assert self.store.info()["waiting"] == waiting

    def finds_the_nearest(self) -> None:
        query = np.linspace(-1, 2, WIDTH, dtype=np.float32)
        rows = [row for row in self.obvious.rows() if row[3]]
        for k in (1, 3, 100):
            expected = nearest([(name, text) for name, _, text, _ in rows], query, k)
            assert_found(self.store.search(vector=query, k=k), expected)
        for strategy in self.obvious.sizes:
            own = [(name, text) for name, of, text, _ in rows if of == strategy]
            hits = self.store.search(vector=query, k=3, where={"strategy": strategy})
            assert_found(hits, nearest(own, query, 3))


steps = st.one_of(
    st.tuples(st.just("load"), names, sizes, documents, st.booleans()),
    st.tuples(st.just("sync"), names, sizes, documents, st.booleans()),
    st.tuples(st.just("delete"), st.integers(0, 1)),
    st.tuples(st.just("add"), st.integers(0, 3), st.sampled_from(["p", "p q", "v w x"])),
    st.tuples(st.just("backfill")),
    st.tuples(st.just("reopen")),
    st.tuples(st.just("build")),
)


# A document that was deleted and written again stands behind others, and in an index before them:
# of equal scores the wrong ones came.
AGAIN = [
    ("load", "x", 2, {"a": ("p t p s t", 0), "ü b": ("t", 0)}, True),
    ("build",),
    ("delete", 0),
    ("load", "x", 2, {"a": ("p t p s t", 0)}, True),
]


@pytest.mark.parametrize("piece", [pieces.PIECE, 40])  # Vectors have 32 bytes.
@pytest.mark.parametrize("index", [cantle.index.Exact(), cantle.index.Hnsw(m=4)])
@settings(max_examples=300 if SLOW else 8)
@example(taken=AGAIN)
@given(taken=st.lists(steps, min_size=15, max_size=40))
def test_a_store_is_as_an_obvious_one(index, piece, taken):
    both = Both(index)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "PIECE", piece)
        try:
            for name, *arguments in taken:
                getattr(both, name)(*arguments)
                both.is_as_the_obvious_one()
                both.finds_the_nearest()
        finally:
            both.end()


@given(places=st.lists(st.none() | st.integers(0, 9), max_size=7))
def test_as_many_places_as_can_be_ascend(places):
    kept = _ascending(places)
    assert all(one in (None, place) for one, place in zip(kept, places, strict=True))
    ranked = [place for place in kept if place is not None]
    assert ranked == sorted(set(ranked))
    there = [place for place in places if place is not None]
    longest = max(
        many
        for many in range(len(there) + 1)
        if any(list(some) == sorted(set(some)) for some in combinations(there, many))
    )
    assert len(ranked) == longest
