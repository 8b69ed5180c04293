"""The peers that take many short texts; those that take one are in `cantle.bench.peers`."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

from cantle.bench.peers import reference, version

__all__ = ["reference", "rows_by_characters", "version"]


def rows_by_characters(size: int) -> dict[str, Callable[[list[str]], list[list[str]]]]:
    """Those that take many short texts, in one call where they have one."""
    peers: dict[str, Callable[[list[str]], list[list[str]]]] = {}
    if find_spec("langchain_text_splitters"):
        from langchain_text_splitters import RecursiveCharacterTextSplitter

        langchain = RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=0)
        peers[version("langchain-text-splitters")] = lambda rows: [
            langchain.split_text(row) for row in rows
        ]
    if find_spec("chonkie"):
        from chonkie import RecursiveChunker

        chunker = RecursiveChunker(tokenizer="character", chunk_size=size)
        peers[version("chonkie")] = lambda rows: [
            [chunk.text for chunk in chunks]
            for chunks in chunker.chunk_batch(rows, show_progress=False)
        ]
    return peers
