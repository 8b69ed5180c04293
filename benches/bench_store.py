"""A store of many chunks: loading, embedding, building the index, opening, searching.

    python benches/bench_store.py [--chunks 1000000] [--dimensions 64] [--index auto] [--json FILE]
    pytest benches/bench_store.py                  # the answers checked on few chunks, untimed

Documents of 100 chunks of 48 made-up words. The embedder is a stand-in that takes next to no time:
vectors near one of 1,000 centres, told by the first word of the chunk. So what is measured is the
store: reading texts, hashing, writing, and the index. Memory is that of the whole process, the
documents included.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import cantle
import figures
from cantle.bench import memory
from cantle.bench.table import figure, markdown
from cantle.index import Auto, Exact, Hnsw

WORDS, CHUNKS, CENTRES = 48, 100, 1_000
SEARCHES = 50
INDEXES: dict[str, Any] = {"auto": Auto(), "exact": Exact(), "hnsw": Hnsw()}


class Stub:
    """Vectors near the centre that a text's first word names."""

    fingerprint = "stub"

    def __init__(self, dimensions: int) -> None:
        """Choose the centres."""
        rng = np.random.default_rng(1)
        self._centres = rng.standard_normal((CENTRES, dimensions), dtype=np.float32)

    def __call__(self, texts: list[str]) -> Any:
        """Return the vectors of texts; float32 [texts, d]."""
        told = [int(text[1 : text.index(" ")]) if " " in text else 0 for text in texts]
        noise = np.random.default_rng(told[0]).standard_normal(
            (len(texts), self._centres.shape[1]), dtype=np.float32
        )
        return self._centres[np.array(told) % CENTRES] + 0.5 * noise


def documents(chunks: int) -> list[str]:
    """Return the texts of so many chunks."""
    rng = np.random.default_rng(0)
    words = np.array([f"w{number}" for number in range(5_000)])
    count = -(-chunks // CHUNKS)
    return [
        " ".join(words[rng.integers(0, len(words), WORDS * CHUNKS)].tolist()) for _ in range(count)
    ]


def run(
    chunks: int, dimensions: int, index: Any, folder: str, timed: Callable[[str, Any], Any]
) -> dict[str, Any]:
    """Return what a store of so many chunks holds and finds; `timed` measures each step."""
    path = str(Path(folder) / "kb.cantle")
    texts = documents(chunks)
    cut = cantle.Window(WORDS, unit="words").split_all(texts)
    embedder = Stub(dimensions)
    store = cantle.Store.open(path, embedder, index=index)
    timed("load", lambda: store.load(cut))
    timed("backfill", lambda: _without_index(store))
    timed("index", store.build_index)
    store.close()
    store = cantle.Store.open(path, embedder, index=index)
    rng = np.random.default_rng(2)
    queries = embedder([f"w{number} a" for number in rng.integers(0, CENTRES, SEARCHES)])
    timed("open and first search", lambda: store.search(vector=queries[0], k=10))
    found = timed(
        f"{SEARCHES} searches", lambda: [store.search(vector=query, k=10) for query in queries]
    )
    where = {"source": [f"doc{number}" for number in range(0, len(texts), 100)]}
    allowed = timed(
        f"{SEARCHES} searches in 1 % of the documents",
        lambda: [store.search(vector=query, k=10, where=where) for query in queries],
    )
    changed = f"{texts[0]} {texts[1]}"
    timed(
        "one document replaced",
        lambda: store.load(cantle.Window(WORDS, unit="words").split(changed), embed=True),
    )
    timed("first search after that", lambda: store.search(vector=queries[0], k=10))
    exact = cantle.Store.open(path, embedder, index=Exact(), readonly=True)
    truth = [exact.search(vector=query, k=10).ids for query in queries]
    told = {
        "chunks": len(cut),
        "documents": len(texts),
        "dimensions": dimensions,
        "plan": str(found[0].plan).splitlines()[0],
        "recall": float(
            np.mean([len({*a.ids} & {*b}) / 10 for a, b in zip(found, truth, strict=True)])
        ),
        "filtered": all(len(hits) == min(10, len(cut)) for hits in allowed),
        "file_bytes": os.path.getsize(path),
        "index_bytes": os.path.getsize(path + ".hnsw") if os.path.exists(path + ".hnsw") else 0,
        "text_bytes": sum(map(len, texts)),
        "problems": timed("check", store.check),
    }
    exact.close()
    store.close()
    return told


def _without_index(store: cantle.Store) -> None:
    """Embed what waits; the index is a step of its own."""
    build, store.build_index = store.build_index, lambda **_: False  # type: ignore[method-assign]
    try:
        store.backfill()
    finally:
        store.build_index = build  # type: ignore[method-assign]


def test_a_store_finds_what_exact_search_finds() -> None:
    for index in INDEXES.values():
        with tempfile.TemporaryDirectory() as folder:
            told = run(3_000, 16, index, folder, lambda _, act: act())
            assert told["chunks"] == 3_000
            assert told["recall"] >= 0.95
            assert told["filtered"]
            assert told["problems"] == []


def main() -> None:
    parser = argparse.ArgumentParser(description="A store of many chunks.")
    parser.add_argument("--chunks", type=int, default=1_000_000)
    parser.add_argument("--dimensions", type=int, default=64)
    parser.add_argument("--index", choices=INDEXES, default="auto")
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    steps: list[dict[str, Any]] = []

    def timed(name: str, act: Any) -> Any:
        memory.forget_peak()
        start, cpu = time.perf_counter(), time.process_time()
        found = act()
        took = {"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - cpu}
        steps.append({"step": name, **took, "bytes_at_most": memory.peak()})
        print(f"{name}: {took['seconds']:.3g} s", flush=True)
        return found

    with tempfile.TemporaryDirectory(prefix="cantle-store-") as folder:
        told = run(given.chunks, given.dimensions, INDEXES[given.index], folder, timed)
    told["steps"] = steps
    print(tables(told))
    if given.json:
        figures.write(given.json, figures.figures("store", [], results=told))


def tables(told: dict[str, Any]) -> str:
    """Return the figures as Markdown."""
    heads = ("step", "seconds", "CPU seconds", "MiB at most")
    rows = [
        (
            row["step"],
            figure(row["seconds"]),
            figure(row["cpu_seconds"]),
            f"{(row['bytes_at_most'] or 0) / (1 << 20):,.0f}",
        )
        for row in told["steps"]
    ]
    said = (
        f"{told['chunks']:,} chunks of {told['documents']:,} documents "
        f"({told['text_bytes'] / 1e6:,.0f} MB), {told['dimensions']} dimensions: file "
        f"{told['file_bytes'] / 1e6:,.0f} MB, index {told['index_bytes'] / 1e6:,.0f} MB; "
        f"{told['plan']}, recall {told['recall']:.3f}; problems found: {len(told['problems'])}"
    )
    return f"{markdown(heads, rows)}\n\n{said}"


if __name__ == "__main__":
    main()
