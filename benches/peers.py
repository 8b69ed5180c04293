"""The peers that are installed, each as a function from a text to (start, end) spans in characters.

A peer takes part in a question only where it answers it: the same unit, the same limit, and
positions. What a peer returns is checked by the benchmark, not here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from typing import Any
from unittest.mock import patch

Spans = list[tuple[int, int]]
Peer = Callable[[str], Spans]


def version(package: str) -> str:
    return f"{package} {metadata.version(package)}"


@cache
def reference(name: str) -> Any:
    """tiktoken's encoding, from the ranks that cantle carries: nothing is downloaded."""
    import tiktoken
    from tiktoken_ext import openai_public

    import cantle

    tokenizer = cantle.Tokenizer.from_name(name)
    ranks = {tokenizer.decode([i]): i for i in range(tokenizer.vocab_size)}
    with patch.object(openai_public, "load_tiktoken_bpe", lambda *_args, **_options: ranks):
        pattern = getattr(openai_public, name)()["pat_str"]
    return tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})


def _chonkie(chunker: Any) -> Peer:
    return lambda text: [(chunk.start_index, chunk.end_index) for chunk in chunker.chunk(text)]


def windows_of_characters(size: int, overlap: int) -> dict[str, Peer]:
    peers: dict[str, Peer] = {}
    if find_spec("tors"):
        import tors

        peers[version("tors")] = lambda text: tors.chunk_text(text, size, overlap=overlap)
    if find_spec("chonkie"):
        from chonkie import TokenChunker

        chunker = TokenChunker(tokenizer="character", chunk_size=size, chunk_overlap=overlap)
        peers[version("chonkie")] = _chonkie(chunker)
    return peers


def recursive_by_characters(size: int) -> dict[str, Peer]:
    peers: dict[str, Peer] = {}
    if find_spec("chonkie"):
        from chonkie import RecursiveChunker

        chunker = RecursiveChunker(tokenizer="character", chunk_size=size)
        peers[version("chonkie")] = _chonkie(chunker)
    if find_spec("tors"):
        import tors

        peers[version("tors")] = lambda text: tors.chunk_hierarchical(text, size)
    if find_spec("semantic_text_splitter"):
        from semantic_text_splitter import TextSplitter

        splitter = TextSplitter(size)
        peers[version("semantic-text-splitter")] = lambda text: [
            (at, at + len(chunk)) for at, chunk in splitter.chunk_indices(text)
        ]
    if find_spec("semchunk"):
        import semchunk

        by_len = semchunk.chunkerify(len, size, memoize=False)
        peers[version("semchunk")] = lambda text: by_len(text, offsets=True)[1]
    return peers


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


def windows_of_tokens(size: int, overlap: int) -> dict[str, Peer]:
    if not find_spec("chonkie"):
        return {}
    from chonkie import TokenChunker

    chunker = TokenChunker(reference("cl100k_base"), chunk_size=size, chunk_overlap=overlap)
    return {version("chonkie"): _chonkie(chunker)}


def recursive_by_tokens(size: int) -> dict[str, Peer]:
    peers: dict[str, Peer] = {}
    if find_spec("chonkie"):
        from chonkie import RecursiveChunker

        chunker = RecursiveChunker(reference("cl100k_base"), chunk_size=size)
        peers[version("chonkie")] = _chonkie(chunker)
    if find_spec("semchunk"):
        import semchunk

        encoding = reference("cl100k_base")
        by_tokens = semchunk.chunkerify(
            lambda text: len(encoding.encode_ordinary(text)), size, memoize=False
        )
        peers[version("semchunk")] = lambda text: by_tokens(text, offsets=True)[1]
    return peers
