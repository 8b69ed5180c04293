"""Embedders by name, for settings in text and the command line."""

from __future__ import annotations

from pathlib import Path

from cantle import _core
from cantle.embed.door import Embedder
from cantle.embed.keyword import Keyword
from cantle.embed.late import Late
from cantle.embed.model2vec import Model2Vec, is_model2vec
from cantle.embed.onnx import Onnx, minilm
from cantle.embed.remote import Remote
from cantle.embed.static import Static

_KEYWORD = "keyword:"
_LATE = "late:"
_REMOTE = "openai:"
_FORMS = (
    "'static', 'minilm', 'keyword:TOPIC|TOPIC', a folder of a model, 'openai:MODEL', "
    "'openai:MODEL@URL', 'late:' before a model"
)


def resolve(embedder: Embedder | str) -> Embedder:
    """Return the embedder that a name stands for; one that can be called is returned as it is.

    Raises:
        SettingError: A string names no embedder.
        ImportError: A package that carries the named one is not installed.
        TypeError: It is neither a string nor can be called.
    """
    if isinstance(embedder, str):
        if embedder == "static":
            return Static()
        if embedder == "minilm":
            return minilm()
        if embedder.startswith(_KEYWORD):
            return Keyword(embedder.removeprefix(_KEYWORD).split("|"))
        if embedder.startswith(_REMOTE):
            return Remote(embedder.removeprefix(_REMOTE))
        if embedder.startswith(_LATE):
            return _late(embedder.removeprefix(_LATE))
        if Path(embedder).is_dir():
            # Such a folder often holds an export of the same vectors to ONNX as well.
            return Model2Vec(embedder) if is_model2vec(embedder) else Onnx(embedder)
        raise _core.SettingError(f"embedder ({embedder!r}) must be one of {_FORMS}, or a callable")
    if not callable(embedder):
        raise TypeError(f"embedder ({embedder!r}) must be a name or a callable")
    return embedder


def _late(name: str) -> Late:
    found = resolve(name)
    if not isinstance(found, Onnx):
        raise _core.SettingError(f"embedder ('late:{name}') needs a model that has token vectors")
    return Late(found)
