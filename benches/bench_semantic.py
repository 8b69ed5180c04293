"""Speed of the strategies that embed sentences, beside chonkie's `SemanticChunker`.

Two questions. What does finding borders cost apart from the embedding: vectors are there already,
of the number and length that the static ones have (256 numbers), and handed over as they are asked
for. And what does the whole road cost with the static word vectors of `wordllama`, which the peer
gets through a few lines as well, with tokens of cl100k_base counted by tiktoken. chonkie embeds
every sentence alone, and every three together; its sentence ends are those of its defaults.

Rounds are documents of 120,000 characters; a figure is seconds per document. The targets: 20 MB/s
on a core and ten times chonkie apart from the embedding, five times it with it.

Run by itself, it prints ratios: each strategy in a process of its own, so that no word is known
from the one before, and every document cut by both, first by the one and then by the other.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import product
from time import process_time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import cantle
import corpora
from cantle.bench.faults import faults_of_ours, in_words
from cantle.bench.peers import reference, version
from cantle.embed import Static

ROUNDS = 20
WIDTH = 256

READY: NDArray[np.float32] = np.random.default_rng(3).standard_normal((8_192, WIDTH), np.float32)
"""Vectors that nobody computes: texts get them in turns."""


def ready(texts: list[str]) -> NDArray[np.float32]:
    """Return as many vectors as there are texts, at once."""
    return np.resize(READY, (len(texts), WIDTH)) if len(texts) > len(READY) else READY[: len(texts)]


STRATEGIES: dict[str, Callable[..., Any]] = {
    "semantic": cantle.Semantic,
    "semantic, centroid": lambda *args, **settings: cantle.Semantic(
        *args, mode="centroid", **settings
    ),
    "optimal": cantle.Optimal,
}
UNITS = {"1000 characters": (1000, 0, "chars"), "512 tokens": (512, 0, "cl100k_base")}


def chonkie_of(embedder: Callable[[list[str]], NDArray[np.float32]]) -> Any:
    """Return chonkie's chunker of 512 tokens with an embedder of ours."""
    from chonkie import SemanticChunker
    from chonkie.embeddings import BaseEmbeddings

    class Ours(BaseEmbeddings):  # type: ignore[misc]
        dimension = WIDTH

        def embed(self, text: str) -> NDArray[np.float32]:
            return embedder([text])[0]

        def embed_batch(self, texts: list[str]) -> list[NDArray[np.float32]]:
            return list(embedder(texts))

        def similarity(self, u: NDArray[Any], v: NDArray[Any]) -> np.float32:
            return np.float32(u @ v / (np.linalg.norm(u) * np.linalg.norm(v)))

        def get_tokenizer(self) -> Any:
            return reference("cl100k_base")

    return SemanticChunker(Ours(), chunk_size=512)


def entries() -> Iterator[object]:
    roads = {"without embedding": ready}
    if find_spec("wordllama"):
        roads["static"] = Static()
    for road, embedder in roads.items():
        for unit, settings in UNITS.items():
            for name, strategy in STRATEGIES.items():
                ours = strategy(*settings, embedder=embedder, batch_size=8_192)
                yield pytest.param(road, ours, id=f"{road} | {name}, {unit} | cantle")
        if find_spec("chonkie"):
            label = f"{road} | semantic, 512 tokens | {version('chonkie')}"
            yield pytest.param(road, embedder, id=label)


def fresh_documents(seen: list[str]):
    """Return what sets a round up: a new text each time, kept in `seen`."""
    documents = iter(corpora.documents("prose")[1:] * 2)

    def fresh() -> tuple[tuple[str], dict[str, object]]:
        seen.append((next(documents) + " ")[:-1])
        return (seen[-1],), {}

    return fresh


@pytest.mark.parametrize(("road", "strategy"), list(entries()))
def test_semantic(benchmark, road: str, strategy: Any) -> None:
    benchmark.group = road
    ours = isinstance(strategy, cantle.Semantic | cantle.Optimal)
    cut = strategy.split if ours else chonkie_of(strategy).chunk
    cut(corpora.documents("prose")[0])
    seen: list[str] = []
    result = benchmark.pedantic(cut, setup=fresh_documents(seen), rounds=ROUNDS)
    benchmark.extra_info["MB"] = sum(len(text.encode()) for text in seen) / len(seen) / 1e6
    if not ours:
        assert "".join(chunk.text for chunk in result).strip() == seen[-1].strip()
        return
    found = faults_of_ours(seen[-1:], result, strategy)
    assert not found, in_words(found)
    # All sentences were compared, and each chunk ends behind one.
    ends = result.distances.byte_end
    assert len(ends) == len(cantle.sentences(seen[-1]))
    assert len(result) > 1
    if isinstance(strategy, cantle.Semantic) and strategy.mode == "previous":
        far = result.distances.distance > result.distances.threshold
        assert 0.1 < far.mean() < 0.2, "the 85th percentile"


def own_static() -> Callable[[list[str]], NDArray[np.float32]]:
    """Return word vectors that share nothing with others of the process."""
    module: Any = sys.modules[Static.__module__]
    table, words = module._read(module._folder())
    module._loaded.clear()
    return lambda texts: cantle._core.mean_vectors(table, *words(texts))


def ratio(road: str, name: str, unit: str) -> str:
    """Return a row: MB/s of a strategy, and how many times as fast it is as chonkie."""
    static = road == "static"
    ours = STRATEGIES[name](*UNITS[unit], embedder=Static() if static else ready, batch_size=8_192)
    cuts = (ours.split, chonkie_of(own_static() if static else ready).chunk)
    first, *documents = corpora.documents("prose")
    seconds, size = [0.0, 0.0], 0
    for cut in cuts:
        cut(first)
    for number, document in enumerate(documents):
        size += len(document.encode())
        for which in (0, 1) if number % 2 else (1, 0):
            fresh = (document + " ")[:-1]
            start = process_time()
            cuts[which](fresh)
            seconds[which] += process_time() - start
    speeds = [size / second / 1e6 for second in seconds]
    return (
        f"{road:18} {name:20} {unit:16} {speeds[0]:5.1f} MB/s  {speeds[0] / speeds[1]:4.1f} times"
    )


if __name__ == "__main__":
    if sys.argv[1:]:
        print(ratio(*sys.argv[1:]), flush=True)
    else:
        for row in product(("without embedding", "static"), STRATEGIES, UNITS):
            subprocess.run([sys.executable, __file__, *row], check=True)
