"""What the machine does in the same run: work of others that our figures are divided by.

A figure in seconds changes with the machine's mood; how many times the work of another it takes
changes far less. Copying memory stands for bandwidth, the two tokenizers for computing: they are
pinned to a version, so they are the same work in every run.
"""

from __future__ import annotations

import numpy as np

import token_peers
from cantle.bench.peers import Library, Peer
from cantle.strategies import Splitting

COPIED = 1 << 26
"""Bytes of one copy: more than caches hold."""


def _nothing(answer: object) -> list[str]:
    return []


def _memcpy(question: Splitting) -> Peer:
    source, target = np.ones(COPIED, np.uint8), np.zeros(COPIED, np.uint8)
    return Peer(lambda text: np.copyto(target, source), _nothing)


def _tiktoken(question: Splitting) -> Peer:
    return Peer(token_peers.tiktoken("cl100k_base"), _nothing)


def _tokenizers(question: Splitting) -> Peer:
    return Peer(token_peers.tokenizers("minilm"), _nothing)


REFERENCES = {
    "memcpy": Library("numpy", "numpy", _memcpy),
    "tiktoken": Library("tiktoken", "tiktoken", _tiktoken),
    "tokenizers": Library("tokenizers", "tokenizers", _tokenizers),
}
"""By name: what it is asked does not depend on the question, and its answer is not read."""
