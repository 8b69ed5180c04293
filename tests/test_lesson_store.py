"""The whole chunking lesson through a store: every figure that it prints, and what its engine gave.

`lesson/expected.json` has both: `published`, and `measured`, which decides where the two differ.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import cantle
from cantle.embed import Keyword
from cantle.index import Auto, Exact, Hnsw

LESSON = Path(__file__).parent / "lesson"
# The engine puts the table before an id, `chunk:handbook_whole_0`.
EXPECTED = json.loads((LESSON / "expected.json").read_text("utf-8").replace("chunk:", ""))
REFERENCE = json.loads((LESSON / "embed_reference.json").read_text("utf-8"))
PUBLISHED, MEASURED = EXPECTED["published"], EXPECTED["measured"]
CORPUS = Path(__file__).parents[1] / "examples" / "lesson"
TITLES = {name: source["title"] for name, source in PUBLISHED["corpus"].items()}
TEXTS = {name: (CORPUS / f"{name}.md").read_text("utf-8").rstrip("\n") for name in TITLES}
QUESTION = PUBLISHED["question"]
TOPICS = Keyword(PUBLISHED["topics"].values())
CHUNKS = {row["id"]: row for row in MEASURED["all_chunks"]}
INDEXES = [Exact(), Hnsw(), Auto()]


def collapsed(text: str) -> str:
    """Return a text with single blanks, as the engine joins the words of a window."""
    return " ".join(text.split())


def sections() -> cantle.Chunks:
    """Return what stands between the marks `## `, without them, as the lesson cuts it."""
    spans = []
    for text in TEXTS.values():
        cuts = [*(mark.end() for mark in re.finditer("## ", text)), len(text) + 3]
        ends = [next_cut - 3 for next_cut in cuts[1:]]
        pieces = zip(cuts[:-1], ends, strict=True)
        spans.append([(start, start + len(text[start:end].rstrip())) for start, end in pieces])
    return cantle.Chunks.from_spans(
        list(TEXTS.values()),
        spans,
        ids=TEXTS,
        metadata=[{"title": title} for title in TITLES.values()],
        name="section",
    )


def cut(strategy: cantle.Whole | cantle.Window | cantle.Structural) -> cantle.Chunks:
    metadata = [{"title": title} for title in TITLES.values()]
    return strategy.split_all(TEXTS.values(), ids=TEXTS, metadata=metadata)


WHOLE = cantle.Whole(unit="words")
FIXED = cantle.Window(60, 12, "words", name="fixed")
MARKED = cantle.Structural(100, unit="words", depth=2)


def loaded(index=None, *, filled: bool = True) -> cantle.Store:
    store = cantle.Store.open(embedder=TOPICS, index=index, blend=None)
    for chunks in (cut(WHOLE), sections(), cut(FIXED)):
        store.load(chunks)
    if filled:
        assert store.backfill() == 16
    return store


def vectors(store: cantle.Store) -> dict[str, np.ndarray]:
    snapshot = store.snapshot()
    ids = snapshot.ids(np.flatnonzero(snapshot.embedded))
    return dict(zip(ids, snapshot.vectors(), strict=True))


def texts(store: cantle.Store) -> dict[str, str]:
    rows = np.arange(len(store.snapshot()))
    return dict(zip(store.snapshot().ids(rows), store.snapshot().texts(rows), strict=True))


def best(store: cantle.Store, strategy: str, k: int = 1, **more) -> cantle.Hits:
    return store.search(QUESTION, k, where={"strategy": strategy}, **more)


# The corpus, and what is stored of it.


def test_the_corpus_is_the_lesson_s():
    asked = cantle.compare(TEXTS.values(), "whole")
    assert asked.words == PUBLISHED["corpus_words"] == 311
    for name, source in PUBLISHED["corpus"].items():
        assert len(TEXTS[name].split()) == source["words"]
        assert sum(chunk.source == name for chunk in sections()) == source["sections"]


def test_the_strategy_table():
    found = cantle.compare(TEXTS.values(), [FIXED, sections(), WHOLE], ids=TEXTS)
    rows = [
        {
            "strategy": row["strategy"],
            "chunks": row["chunks"],
            "mean_words": round(row["mean_words"]),
            "words_stored": row["words_stored"],
        }
        for row in found.as_dict()["strategies"]
    ]
    assert rows == PUBLISHED["strategy_table"] == MEASURED["strategy_table"]
    again = found.words_stored - [311, 305, 311]
    assert again.tolist() == [PUBLISHED["fixed"]["duplicated_words"], 0, 0]
    shares = (found.duplicated > 0).tolist()
    assert shares == [True, False, False]


def test_slices_that_keep_the_mark_stand_beside():
    found = cantle.compare(TEXTS.values(), [MARKED], QUESTION, TOPICS, ids=TEXTS)
    assert (found.chunks.tolist(), found.words_stored.tolist()) == ([6], [311])
    assert found.best[0][:3] == ("handbook_structural_2", 1.0, 67)


def test_the_second_table_of_the_comparison():
    found = cantle.compare(TEXTS.values(), [WHOLE, sections(), FIXED], QUESTION, TOPICS, ids=TEXTS)
    rows = {
        strategy: {"id": one.id, "score": round(one.score, 3), "words": one.words}
        for strategy, one in zip(found.strategies, found.best, strict=True)
    }
    assert rows == PUBLISHED["best"]
    assert [row["words"] for row in rows.values()] == [194, 66, 50]


def test_windows_start_where_the_lesson_s_do():
    own = FIXED.split(TEXTS["handbook"])
    starts = [len(TEXTS["handbook"][:at].split()) for at in own.char_start.tolist()]
    assert starts == PUBLISHED["fixed"]["handbook_window_starts"]


# The store.


def test_after_import_there_are_no_vectors_and_no_hits():
    store = loaded(filled=False)
    snapshot = store.snapshot()
    assert MEASURED["after_import"] == {"embeddings_absent": True, "knn_hits": 0}
    assert not snapshot.embedded.any()
    assert store.search(vector=[0, 0, 0, 1], k=2).ids == []
    assert "without a vector, not searched: 16" in store.search(QUESTION).explain()


def test_ids_and_texts_are_the_engine_s():
    found = texts(loaded())
    assert sorted(found) == sorted(PUBLISHED["chunk_ids"]) == sorted(CHUNKS)
    for name, text in found.items():
        wanted = CHUNKS[name]["text"]
        assert (collapsed(text) if "_fixed_" in name else text) == wanted
        assert len(text.split()) == CHUNKS[name]["words"]
    for name, (length, start) in PUBLISHED["starts"].items():
        text = collapsed(found[name]) if "_fixed_" in name else found[name]
        assert text[:length] == start


def test_vectors_are_the_engine_s():
    found = vectors(loaded())
    assert len(found) == 16
    for name, vector in found.items():
        assert vector == pytest.approx(CHUNKS[name]["embedding"], abs=1e-6)
    for name, vector in PUBLISHED["embeddings"].items():
        assert found[name] == pytest.approx(vector, abs=5e-4)
    for name, counts in PUBLISHED["keyword_counts"].items():
        assert found[name] == pytest.approx(counts / np.linalg.norm(counts), abs=1e-6)
    assert TOPICS([QUESTION]).tolist() == [PUBLISHED["question_vector"]]


@pytest.mark.parametrize("index", INDEXES, ids=repr)
def test_the_best_of_each_strategy(index):
    store = loaded(index)
    for strategy, wanted in PUBLISHED["best"].items():
        (hit,) = best(store, strategy)
        words = len(hit.text.split())
        assert (hit.id, round(hit.score, 3), words) == tuple(wanted.values())
        assert hit.cite == TITLES["handbook"]
    by_index = best(store, "fixed", 5, ef=40)
    assert by_index.ids[0] == PUBLISHED["best_by_index"]["chunk"]
    assert 1 - by_index.scores[0] == pytest.approx(PUBLISHED["best_by_index"]["dist"], abs=1e-6)


@pytest.mark.parametrize("index", INDEXES, ids=repr)
def test_nearest_windows_and_their_distances(index):
    store = loaded(index)
    for strategy, name in (("fixed", "knn_fixed_5"), ("whole", "knn_whole_1")):
        wanted = MEASURED[name]
        hits = best(store, strategy, len(wanted))
        assert hits.ids == [row["id"] for row in wanted]
        assert 1 - hits.scores == pytest.approx([row["dist"] for row in wanted], abs=1e-6)


def scores(strategy: str, kind: str) -> dict[str, float]:
    rows = [row for row in MEASURED["exact_scores"] if row["strategy"] == strategy]
    return {row["id"]: row[kind] for row in rows}


@pytest.mark.parametrize("strategy", ["whole", "section", "fixed"])
@pytest.mark.parametrize(("metric", "kind"), [("cosine", "score"), ("l2", "euclidean")])
def test_every_score_is_the_engine_s(strategy, metric, kind):
    hits = best(loaded(Exact(metric)), strategy, 16)
    sign = -1 if metric == "l2" else 1
    found = {hit.id: sign * hit.score for hit in hits}
    wanted = scores(strategy, kind)
    assert found == pytest.approx(wanted, abs=1e-6)
    assert hits.ids == sorted(wanted, key=lambda name: (-sign * round(wanted[name], 6), name))


def test_a_window_that_is_half_relevant_is_far_away():
    found = {hit.id: -hit.score for hit in best(loaded(Exact("l2")), "fixed", 7)}
    half = PUBLISHED["half_relevant_euclidean"]
    assert round(found["handbook_fixed_2"], 3) == half


@pytest.mark.parametrize("index", INDEXES, ids=repr)
def test_the_filter_is_inside_the_search(index):
    store = loaded(index)
    hits = best(store, "whole")
    # The nearest of all is of another strategy: a filter behind the search would leave nothing.
    assert store.search(QUESTION, 1).ids == ["handbook_section_2"]
    assert hits.ids == ["handbook_whole_0"]
    told = hits.explain()
    assert "k 1" in told
    assert "4 dimensions" in told
    assert "3 (0.188 of all rows)" in told


# What is read around a hit.


def test_neighbours_repeat_no_overlap():
    hits = best(loaded(), "fixed")
    (passage,) = hits.expand(cantle.neighbours(1))
    found = texts(loaded())
    before, own = (collapsed(found[f"handbook_fixed_{at}"]) for at in (2, 3))
    for row, text in zip(PUBLISHED["neighbours"], (before, own), strict=True):
        assert text.startswith(row["starts"])
    overlap = PUBLISHED["overlap_words"]
    assert before.split()[-12:] == own.split()[:12] == overlap
    assert collapsed(passage.passage).split() == before.split() + own.split()[12:]
    assert passage.passage.count("revoke the previous") == 1
    assert TEXTS["handbook"].endswith(passage.passage)


def test_the_parent_is_the_document_with_its_title():
    (passage,) = best(loaded(), "fixed").expand(cantle.parent("document"))
    assert {"cite": passage.cite, "passage": passage.passage} == MEASURED["parent"]
    once = best(loaded(), "fixed", 2).expand(cantle.parent("document"))
    assert [(one.cite, one.score) for one in once] == [(TITLES["handbook"], 1.0)]


# What is written after that.


def test_an_added_chunk_has_its_vector():
    store = loaded()
    added = PUBLISHED["added_chunk"]
    assert store.add("handbook", "section", added["text"]) == added["id"]
    vector = vectors(store)[added["id"]]
    assert vector == pytest.approx(MEASURED["added_chunk"][0]["embedding"], abs=1e-6)
    assert vector == pytest.approx(added["embedding"], abs=5e-4)
    hits = best(store, "section", 2)
    assert hits.ids == ["handbook_section_2", added["id"]]
    assert hits[1].char_start == -1


@pytest.mark.parametrize("metric", ["cosine", "ip", "l2"])
def test_a_zero_vector_is_never_near(metric):
    store = loaded(Exact(metric))
    name = store.add("handbook", "fixed", "Nothing of all that is said in this one.")
    query = np.array(PUBLISHED["question_vector"])
    assert not vectors(store)[name].any()
    # To the engine it is nearer than some others, by every distance that knows no angle.
    assert np.linalg.norm(vectors(store)[name] - query) == MEASURED["zero_vector"]["euclidean"]
    hits = best(store, "fixed", 16)
    assert len(hits) == 7
    assert name not in hits.ids
    assert "zero vectors, never ranked: 1" in hits.explain()


def test_three_topics_dilute_a_text():
    three = Keyword(REFERENCE["topics3"])
    told = PUBLISHED["three_topics"]
    one, every = (told[name]["text"] for name in ("one_topic", "all_three"))
    assert "  ".join(told["parts"]).split() == every.split()
    found = three([one, every])
    assert found == pytest.approx(np.array(MEASURED["three_topics"]), abs=1e-6)
    for vector, name in zip(found, ("one_topic", "all_three"), strict=True):
        assert vector == pytest.approx(told[name]["vector"], abs=5e-4)


def test_the_confession_loses_its_last_word():
    told = PUBLISHED["confession"]
    chunks = cantle.Window(told["size"], unit="words").split(told["text"])
    assert chunks.texts == told["chunks"] == MEASURED["confession"]
