"""Recipes of other libraries: each called by the tokens of the ground, with its own defaults.

Where a library tells true offsets they are taken; else its chunks are looked for, one behind the
other (`cantle.bench.faults.placed`). One that is found nowhere is left out, and told.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module, metadata
from typing import Any

import numpy as np

import cantle
from cantle.bench.faults import placed
from cantle.bench.peers import LIBRARIES, Peer, Spans, reference
from cluster import cluster
from quality_ground import UNIT, Counted
from quality_recipes import Cut

_ASKED = {
    "langchain recursive": ("langchain-text-splitters", cantle.Recursive),
    "chonkie recursive": ("chonkie", cantle.Recursive),
    "semchunk": ("semchunk", cantle.Recursive),
    "semantic-text-splitter": ("semantic-text-splitter", cantle.Recursive),
    "chonkie sentence": ("chonkie", cantle.Sentence),
    "llama-index sentence": ("llama-index-core", cantle.Sentence),
}
"""By the name of the row: the library, and the question that it answers in `cantle bench`."""
PLAIN = tuple(_ASKED)
"""The names of the rows that find their borders without vectors."""
RECURSIVE = tuple(name for name, (_, made) in _ASKED.items() if made is cantle.Recursive)


def peers(size: int, model: Any, lost: Callable[[str], None]) -> list[Cut]:
    """Return the recipes of the libraries that are installed, at a size.

    Args:
        size: The limit in tokens.
        model: The embedder of the ground.
        lost: Told of chunks that are nowhere in the text.
    """
    found = []
    for name, (package, question) in _ASKED.items():
        library = LIBRARIES[package]
        peer = library.adapt(question(size, unit=UNIT)) if library.installed else None
        if peer is not None:
            found.append(Cut(name, size, _located(name, peer, lost)))
    if LIBRARIES["chonkie"].installed:
        counted = Counted(model)
        found.append(
            Cut(
                "chonkie semantic",
                size,
                _located("chonkie semantic", _chonkie(size, counted), lost),
                counted,
            )
        )
    if LIBRARIES["langchain-text-splitters"].installed:
        counted = Counted(model)
        found.append(Cut("cluster", size, cluster(size, counted), counted))
    return found


def versions() -> dict[str, str]:
    """Return the versions of the libraries that take part."""
    packages = {package for package, _ in _ASKED.values()}
    return {
        package: metadata.version(package)
        for package in sorted(packages)
        if LIBRARIES[package].installed
    }


def _located(
    name: str, peer: Peer, lost: Callable[[str], None]
) -> Callable[[list[str]], list[Spans]]:
    def cut(texts: list[str]) -> list[Spans]:
        found = []
        for text in texts:
            spans, faults = placed(text, peer.read(peer.cut(text)))
            # Wrong offsets are mended by looking for the texts.
            if missing := faults["not_found"] + faults["bad_spans"]:
                lost(f"{name}: {missing} chunks are nowhere in the text")
            found.append(spans)
        return found

    return cut


def _chonkie(size: int, model: Counted) -> Peer:
    """Return chonkie's SemanticChunker with the ground's model and its own threshold."""
    chunker = import_module("chonkie").SemanticChunker(_embeddings(model), chunk_size=size)
    return Peer(
        chunker.chunk, lambda chunks: [(c.start_index, c.end_index, c.text) for c in chunks]
    )


def _embeddings(model: Counted) -> Any:
    """Return an embedder in the form that chonkie takes."""

    class Embeddings(import_module("chonkie").BaseEmbeddings):  # type: ignore[misc]
        def embed(self, text: str) -> np.ndarray:
            return self.embed_batch([text])[0]

        def embed_batch(self, texts: list[str]) -> list[np.ndarray]:
            return list(np.asarray(model(texts), np.float32))

        def count_tokens(self, text: str) -> int:
            return len(reference(UNIT).encode_ordinary(text))

        @property
        def dimension(self) -> int:
            return len(self.embed("a"))

        def get_tokenizer(self) -> Any:
            return reference(UNIT)

    return Embeddings()
