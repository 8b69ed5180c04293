"""Peers beside those of `cantle.bench.peers`: with another tokenizer, or for many short texts."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import cantle
from cantle.bench.peers import (
    Library,
    Peer,
    chonkie_with,
    encoding,
    reference,
    semchunk_with,
    version,
)
from cantle.strategies import Splitting

__all__ = ["WITH_TOKIE", "reference", "rows_by_characters", "version"]


def _tokie(name: str) -> Any:
    import tokie

    import token_peers

    return tokie.Tokenizer.from_json(token_peers.tokenizer_json(name))


def _chonkie(question: Splitting) -> Peer | None:
    name = encoding(question)
    if name is None:
        return None
    from chonkie.tokenizer import TokieAutoTokenizer

    return chonkie_with(TokieAutoTokenizer(_tokie(name)), question)


def _semchunk(question: Splitting) -> Peer | None:
    name = encoding(question)
    # Asked before the tokenizer is made, which takes a while.
    if name is None or question != cantle.Recursive(question.size, question.overlap, question.unit):
        return None
    return semchunk_with(_tokie(name).count_tokens, question)


WITH_TOKIE = (
    Library("chonkie", "tokie", _chonkie, "tokie"),
    Library("semchunk", "tokie", _semchunk, "tokie"),
)
"""tokie counts by a `tokenizer.json`, which is made from the same ranks as for the others."""


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
