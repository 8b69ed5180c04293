"""Folders of ONNX models of one lookup, written by hand, for the tests of `Onnx`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from cases import builders

_FLOAT, _INT64 = 1, 7


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _field(number: int, value: int | str | bytes) -> bytes:
    """One field of a protocol buffer: a number, or a string of bytes with its length."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _value(name: str, kind: int, axes: list[int | str]) -> bytes:
    """What goes in or comes out: its name, its type, and its axes by size or by name."""
    shape = b"".join(
        _field(1, _field(1, axis) if isinstance(axis, int) else _field(2, axis)) for axis in axes
    )
    return _field(1, name) + _field(2, _field(1, _field(1, kind) + _field(2, shape)))


def _node(kind: str, inputs: list[str], output: str, axis: int | None = None) -> bytes:
    node = b"".join(_field(1, name) for name in inputs) + _field(2, output) + _field(4, kind)
    if axis is None:
        return node
    return node + _field(5, _field(1, "axis") + _field(3, axis) + _field(20, 2))


def lookup(table: np.ndarray, inputs: list[str], *, pooled: bool = False) -> bytes:
    """A model whose output for each token is the token's row of `table`; pooled: of the first."""
    rows, width = table.shape
    nodes = [_node("Gather", ["table", "input_ids"], "hidden")]
    out, axes = "hidden", ["batch", "length", width]
    initial = _field(1, rows) + _field(1, width) + _field(2, _FLOAT) + _field(8, "table")
    initializers = [initial + _field(9, table.astype("<f4").tobytes())]
    if pooled:
        zero = _field(2, _INT64) + _field(8, "zero") + _field(9, np.int64(0).tobytes())
        initializers.append(zero)
        nodes.append(_node("Gather", ["hidden", "zero"], "first", axis=1))
        out, axes = "first", ["batch", width]
    graph = b"".join(_field(1, node) for node in nodes) + _field(2, "lookup")
    graph += b"".join(_field(5, one) for one in initializers)
    graph += b"".join(_field(11, _value(name, _INT64, ["batch", "length"])) for name in inputs)
    graph += _field(12, _value(out, _FLOAT, axes))
    return _field(1, 8) + _field(7, graph) + _field(8, _field(1, "") + _field(2, 13))


def write(
    folder: Path,
    *,
    inputs: tuple[str, ...] = ("input_ids", "attention_mask"),
    pooled: bool = False,
    files: dict[str, Any] | None = None,
) -> tuple[np.ndarray, Any]:
    """Write a folder; return its table and its tokenizer.

    Args:
        folder: Where; it is made.
        inputs: What the model takes.
        pooled: Whether it pools itself: the first token.
        files: More files, as JSON.
    """
    tokenizer = builders.wordpiece_mini()
    table = np.random.default_rng(7).standard_normal((tokenizer.get_vocab_size(), 6))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(lookup(table, list(inputs), pooled=pooled))
    (folder / "tokenizer.json").write_text(tokenizer.to_str(), "utf-8")
    for name, content in (files or {}).items():
        (folder / name).parent.mkdir(exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / name).write_text(text, "utf-8")
    return table, tokenizer
