"""What is searched after a write: vectors of what changed are read, the others are as before."""

import random

import numpy as np
import pytest

import cantle
from cantle.store.snapshot import Snapshot
from stores import Hashing, Other, opened, words


def text(chosen, count):
    return " ".join(chosen.choice("pqrstuvw") * chosen.randint(1, 3) for _ in range(count))


def searched(store):
    """Return ids and vectors of what is searched, in order."""
    searcher = store._current()
    return searcher.snapshot.ids(searcher._embedded), searcher._vectors


@pytest.fixture
def read(monkeypatch):
    """Return the numbers of vectors that are read, as they are."""
    counts = []
    vectors = Snapshot.vectors

    def counted(self, parts=None):
        found = vectors(self, parts)
        counts.append(len(found))
        return found

    monkeypatch.setattr(Snapshot, "vectors", counted)
    return counts


@pytest.mark.parametrize("blend", [None, "auto", (0.4, 0.2)])
@pytest.mark.parametrize("seed", range(4))
def test_it_is_what_a_store_that_is_opened_anew_searches(tmp_path, blend, seed):
    chosen = random.Random(seed)
    path = tmp_path / "kb"
    store = opened(path, blend=blend)
    strategies = [words(3, name="small"), words(40, name="middle"), words(150, name="large")]
    for step in range(25):
        strategy = chosen.choice(strategies)
        ids = [f"d{doc}" for doc in chosen.sample(range(12), chosen.randint(1, 4))]
        there = [source.id for source in store.snapshot().sources]
        act = chosen.choice(["load", "load", "load", "wait", "delete", "add", "backfill", "change"])
        if act in ("load", "wait"):
            texts = [text(chosen, chosen.choice([0, 20, 60, 400])) for _ in ids]
            store.load(strategy.split_all(texts, ids=ids), min_chars=0, embed=act == "load")
        elif act == "delete" and there:
            store.delete(chosen.choice(there))
        elif act == "add" and len(store.snapshot()):
            row = chosen.randrange(len(store.snapshot()))
            name = store.snapshot().told([row])[0]
            store.add(name.source.id, name.strategy, text(chosen, 3))
        elif act == "backfill":
            store.backfill()
        elif act == "change" and step > 20:
            store.change_embedder(Other())
        ids, vectors = searched(store)
        with opened(path, blend=blend, embedder=store.embedder) as anew:
            wanted_ids, wanted = searched(anew)
        assert ids == wanted_ids
        np.testing.assert_array_equal(vectors, wanted)
        assert not vectors.flags.writeable


def test_only_what_changed_is_read(read):
    store = opened(blend=(0.4,), index=cantle.index.Exact())
    chosen = random.Random(0)
    texts = {f"d{doc}": text(chosen, 40) for doc in range(30)}
    store.load(words().split_all(list(texts.values()), ids=list(texts)), min_chars=0, embed=True)
    store.search("p q")
    assert read == [300]
    store.search("p q r")
    store.delete("d3")
    store.search("p q")
    assert read == [300]
    store.add("d7", "window", "an added text")
    store.search("p q")
    store.load(words().split("p q r s t", id="d8"), min_chars=0, embed=True)
    store.load(words(3, name="three").split("u v w x", id="new"), min_chars=0, embed=True)
    store.search("p q")
    assert read == [300, 11, 2 + 2]
    # Vectors that are blended otherwise are other vectors; of most of them all are read.
    store._settings = opened(blend=None)._settings
    store.delete("d9")
    store.search("p q")
    assert read[3:] == [300 - 10 + 1 - 10 + 2 - 10 + 2]


def test_a_change_of_most_reads_all_once(read):
    store = opened(embedder=Hashing())
    chosen = random.Random(0)
    for version in range(2):
        texts = [text(chosen, 40) + f" {version}" for _ in range(10)]
        store.load(words().split_all(texts), min_chars=0, embed=True)
        store.search("p q")
    assert read == [110, 110]
