"""Hits and passages go to other processes, and are copied, with what was read of the store."""

import copy
import pickle

import pytest

import cantle
from processes import in_fresh_process
from stores import PAGE, opened, words

COPIED = """
import pickle, sys
import cantle
with open(sys.argv[1], "rb") as file:
    hits, hit, passages = pickle.load(file)
print(repr([hits.as_dicts(), hit.as_dict(), passages.as_dicts(), hits.explain()]))
"""


def described(hits, passages):
    """Return all that hits and passages say of themselves."""
    return [
        *(hits.as_dicts(), hits.ids, hits.sources, hits.heading_paths, hits.texts, len(hits)),
        *(hits.explain(), hits.question, hits.query.tolist(), hits.scores.tolist()),
        *(hits.rows.tolist(), repr(hits), [(hit.row, hit.id, repr(hit)) for hit in hits]),
        *(list(passages), passages.as_dicts(), passages.explain(), passages.left_out),
        *(passages.unit, passages.size, repr(passages)),
    ]


def found_in_a_guide(path=":memory:"):
    """Return hits, of which one was added by hand, and passages."""
    store = opened(path)
    chunks = cantle.Structural(12, unit="words").split(
        PAGE, id="guide.md", metadata={"title": "The guide", "tags": ["a"]}
    )
    store.load(chunks, embed=True)
    store.add("guide.md", "structural", "an added text")
    return store, store.search("an added text", k=4), store.retrieve("keys", budget=20)


def copied_by_pickle(protocol):
    return lambda value: pickle.loads(pickle.dumps(value, protocol))


@pytest.mark.parametrize(
    "copied", [copied_by_pickle(2), copied_by_pickle(pickle.HIGHEST_PROTOCOL), copy.deepcopy]
)
def test_hits_and_passages_are_copied_without_their_store(copied):
    # A database that is open cannot be pickled, and they held it.
    store, hits, passages = found_in_a_guide()
    assert len(hits) == 4
    assert hits[0].char_start == -1
    whole, one, others = copied(hits), copied(hits[2]), copied(passages)
    store.close()
    assert described(whole, others) == described(hits, passages)
    assert one.as_dict() == hits[2].as_dict()
    assert (one.row, repr(one)) == (hits[2].row, repr(hits[2]))
    assert described(copied(whole), copied(others)) == described(hits, passages)
    for act in (lambda: whole.expand(cantle.neighbours()), lambda: whole.snapshot):
        with pytest.raises(cantle.StoreError) as caught:
            act()
        assert str(caught.value) == (
            "the hits are a copy, which holds what was read and no open store: search again"
        )
    whole[0].metadata["tags"] = None
    assert whole[0].metadata == {"title": "The guide", "tags": ["a"]}


def test_a_hit_is_pickled_without_the_others():
    store = opened()
    store.load(words(1).split(" ".join(f"word{i}" for i in range(500)), id="a"), embed=True,
               min_chars=0)  # fmt: skip
    hits = store.search("anything", k=500)
    assert len(pickle.dumps(hits[3])) * 10 < len(pickle.dumps(hits))


def test_hits_are_read_in_another_process(tmp_path):
    _, hits, passages = found_in_a_guide(tmp_path / "kb")
    file = tmp_path / "hits"
    file.write_bytes(pickle.dumps((hits, hits[1], passages)))
    said = in_fresh_process(COPIED, str(file))
    expected = [hits.as_dicts(), hits[1].as_dict(), passages.as_dicts(), hits.explain()]
    assert said == f"{expected!r}\n"
