"""Embedders: callables from a list of texts to a float32 matrix, a row for each text."""

from __future__ import annotations

from cantle.embed.cached import Cached
from cantle.embed.door import Embedder, Progress, embed_all
from cantle.embed.keyword import Keyword
from cantle.embed.late import Late, TokenEmbedder
from cantle.embed.model2vec import Model2Vec
from cantle.embed.onnx import Onnx
from cantle.embed.remote import Remote
from cantle.embed.static import Static

__all__ = [
    "Cached",
    "Embedder",
    "Keyword",
    "Late",
    "Model2Vec",
    "Onnx",
    "Progress",
    "Remote",
    "Static",
    "TokenEmbedder",
    "embed_all",
]
