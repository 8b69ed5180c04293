"""Whether a graph finds blended vectors as well as those that they were made of.

    python benches/bench_blended.py [--kind prose] [--embedder static] [--json FILE]
    pytest benches/bench_blended.py           # on few vectors

Blended vectors of neighbours are near each other, which changes the graph. Chunks of up to 75
tokens of one corpus stand for a store, some 500 of its sentences for questions. Recall is the share
of the 10 nearest rows by exact search.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cantle
import corpora
import figures
from cantle.bench.table import markdown
from cantle.embed import embed_all
from cantle.embed.named import resolve
from cantle.index import Exact, Hnsw

K = 10
QUESTIONS = 500
WIDTHS = (16, 32, 64, 128)


def recall(vectors: Any, queries: Any, ef: int) -> float:
    """Return the share of the nearest rows that a graph finds."""
    exact = Exact().build(vectors).search_all(queries, K).rows
    # Without a filter an index of more rows than 5,000 asks its graph.
    found = Hnsw().build(vectors).search_all(queries, K, ef=ef)
    both = [len({*a} & {*b}) for a, b in zip(exact.tolist(), found.rows.tolist(), strict=True)]
    return sum(both) / exact.size


def measured(kind: str, embedder: str) -> dict[str, Any]:
    """Return the recall for raw and for blended vectors, by the width of the search."""
    texts = corpora.documents(kind)
    embed = resolve(embedder)
    chunks = cantle.Recursive(75, unit="cl100k_base").split_all(texts)
    raw = embed_all(embed, chunks.texts)
    asked = cantle.Sentence(40, unit="cl100k_base").split_all(texts).texts
    queries = embed_all(embed, asked[:: max(1, len(asked) // QUESTIONS)])
    blended = cantle.blend(raw, chunks.doc)
    rows = [
        {"ef": ef, "raw": recall(raw, queries, ef), "blended": recall(blended, queries, ef)}
        for ef in WIDTHS
    ]
    return {"chunks": len(chunks), "questions": len(queries), "rows": rows}


def table(told: dict[str, Any]) -> str:
    """Return the recalls as Markdown, in percent."""
    rows = [
        [f"{row['ef']}", *(f"{100 * row[key]:.1f}" for key in ("raw", "blended"))]
        for row in told["rows"]
    ]
    return markdown(["ef", "raw", "blended"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="A graph over blended vectors.")
    parser.add_argument("--kind", default="prose", help="a corpus")
    parser.add_argument("--embedder", default="static", help="a name of cantle.embed")
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    told = measured(given.kind, given.embedder)
    print(f"{told['chunks']:,} chunks, {told['questions']} questions\n\n{table(told)}")
    if given.json:
        texts = [figures.described(given.kind, corpora.documents(given.kind))]
        figures.write(given.json, figures.figures("blended", texts, results=told))


def test_a_graph_finds_blended_vectors() -> None:
    rng = np.random.default_rng(5)
    raw = rng.standard_normal((5_200, 8)).astype(np.float32)
    blended = cantle.blend(raw, np.arange(5_200) // 50)
    queries = rng.standard_normal((20, 8)).astype(np.float32)
    pytest.importorskip("faiss")
    assert recall(blended, queries, 128) > 0.9


if __name__ == "__main__":
    main()
