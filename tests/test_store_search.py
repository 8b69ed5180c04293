"""A search of a store finds the nearest rows, and its hits say where they stand."""

import numpy as np
import pytest

import cantle
from stores import PAGE, TEXT, WIDTH, assert_found, nearest, opened, rows_of, vector_of, words


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
