"""Arrow buffers that somebody writes to after they were handed over: an error, never a panic.

By the format's contract nobody does. Texts are read where they lie, so what is made of them later
is made of what lies there then: it may be other text, or none that is UTF-8.
"""

from __future__ import annotations

import pickle
from contextlib import suppress

import numpy as np
import pytest

import cantle
from stores import Hashing, opened

pa = pytest.importorskip("pyarrow")

TEXT = "Ein Text mit Wörtern, länger als zwölf. Noch ein Satz."
SIZE = len(TEXT.encode())


def _offsets(kind, width, data):
    ends = np.array([0, SIZE, 2 * SIZE], width)
    return pa.Array.from_buffers(kind, 2, [None, pa.py_buffer(ends), pa.py_buffer(data)])


def _views(data):
    rows = (
        SIZE.to_bytes(4, "little") + bytes(data[at : at + 4]) + bytes(4) + at.to_bytes(4, "little")
        for at in (0, SIZE)
    )
    buffers = [None, pa.py_buffer(b"".join(rows)), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.string_view(), 2, buffers)


def _dictionary(data):
    values = _offsets(pa.string(), np.int32, data)
    return pa.DictionaryArray.from_arrays(pa.array([0, 1, 0], pa.int8()), values)


ARRAYS = {
    "string": lambda data: _offsets(pa.string(), np.int32, data),
    "binary": lambda data: _offsets(pa.binary(), np.int32, data),
    "large": lambda data: _offsets(pa.large_string(), np.int64, data),
    "view": _views,
    "dictionary": _dictionary,
    "chunked": lambda data: pa.chunked_array([_offsets(pa.string(), np.int32, data)] * 2),
    "table": lambda data: pa.table({"text": _offsets(pa.string(), np.int32, data)}),
}
READINGS = {
    "texts": lambda chunks: chunks.texts,
    "text": lambda chunks: chunks[0].text,
    "embed_texts": lambda chunks: chunks.embed_texts,
    "repr": repr,
    "html": lambda chunks: chunks._repr_html_(),
    "document": lambda chunks: chunks.documents.texts[0],
    "documents": lambda chunks: list(chunks.documents.texts),
    "lines": lambda chunks: chunks.line_start,
    "pages": lambda chunks: chunks.page,
    "equal": lambda chunks: chunks == chunks[:],
    "pickle": lambda chunks: pickle.loads(pickle.dumps(chunks)),
    "arrow": lambda chunks: pa.table(chunks).to_pylist(),
    "views": lambda chunks: pa.table(chunks.to_arrow("view")).to_pylist(),
    "check": cantle.check,
    "boundaries": cantle.boundaries,
    "store": lambda chunks: opened().load(chunks),
    "again": lambda chunks: cantle.Recursive(20, unit="chars").split_all(chunks.documents.texts),
}
DAMAGES = {
    "no UTF-8": lambda data: b"\xff" * len(data),
    "half characters": lambda data: b"\xc3" * len(data),
    "continuations": lambda data: b"\x80" * len(data),
    "surrogates": lambda data: (b"\xed\xa0\x80" * len(data))[: len(data)],
}


@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_no_longer_utf8_is_an_error(kind, damage):
    # pyo3's PanicException came out, which no `except Exception` catches.
    for name, read in READINGS.items():
        data = bytearray(TEXT.encode() * 2)
        chunks = cantle.Recursive(20, unit="chars").split_all(ARRAYS[kind](data))
        assert chunks.texts[0] == "Ein Text mit"
        data[:] = DAMAGES[damage](data)
        try:
            read(chunks)
        except ValueError:  # It may be Python's own, of what cannot be decoded.
            continue
        pytest.fail(f"{name} gave something")


CUTTERS = {
    "recursive": cantle.Recursive(5, unit="chars"),
    "bytes": cantle.Recursive(5, unit="bytes"),
    "tokens": cantle.Window(4, 1),
    "function": cantle.Recursive(5, unit=len),
    "structural": cantle.Structural(5, unit="chars"),
    "semantic": cantle.Semantic(20, unit="chars", embedder=Hashing()),
}


@pytest.mark.parametrize("cutter", CUTTERS.values(), ids=CUTTERS)
@pytest.mark.parametrize("damage", [*DAMAGES, "other text"])
@pytest.mark.parametrize("text", [TEXT, "Plain words of ASCII, which is known of them. And more."])
def test_what_was_overwritten_is_not_cut(cutter, damage, text):
    # The process was aborted: what a panic said quoted the text, and was made a string.
    data = bytearray(text.encode())
    ends = np.array([0, len(data)], np.int32)
    array = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(ends), pa.py_buffer(data)])
    chunks = cantle.Recursive(20, unit="chars").split_all(array)
    other = "ü" * (len(data) // 2) + "x" * (len(data) % 2)
    data[:] = DAMAGES[damage](data) if damage in DAMAGES else other.encode()
    for act in (
        lambda: cutter.split_within(chunks),
        lambda: cutter.split_all(chunks.documents.texts),
    ):
        if damage == "other text":  # It is a text, though another.
            with suppress(cantle.TextError, cantle.SettingError):
                assert len(act()) > 0
            continue
        with pytest.raises(cantle.TextError, match="is not what it was"):
            act()


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("strategy", [cantle.Semantic, cantle.Optimal])
def test_what_an_embedder_overwrites_is_an_error(strategy, damage):
    data = bytearray(TEXT.encode())
    ends = np.array([0, len(data)], np.int32)
    array = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(ends), pa.py_buffer(data)])

    def embedder(texts):
        data[:] = DAMAGES[damage](data)
        return np.ones((len(texts), 2), np.float32)

    with pytest.raises(cantle.TextError, match="is not what it was"):
        strategy(20, unit="chars", embedder=embedder).split_all(array)


@pytest.mark.parametrize("damage", DAMAGES)
def test_ids_are_texts_as_well(damage):
    texts, ids = [TEXT, TEXT[::-1]], bytearray(("ä" * (SIZE // 2) + "ö" * (SIZE // 2)).encode())
    ends = np.array([0, len(ids) // 2, len(ids)], np.int32)
    names = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(ends), pa.py_buffer(ids)])
    chunks = cantle.Recursive(20, unit="chars").split_all(pa.array(texts), ids=names)
    ids[:] = DAMAGES[damage](ids)
    for read in (lambda: chunks.ids, lambda: chunks[0].id, lambda: chunks.documents.id(1)):
        with pytest.raises(ValueError):  # noqa: PT011
            read()


@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_not_utf8_at_once_is_refused_by_its_number(kind, damage):
    data = bytearray(TEXT.encode() * 2)
    array = ARRAYS[kind](data)
    data[SIZE:] = DAMAGES[damage](data[SIZE:])
    with pytest.raises(cantle.TextError, match=r"(1\]|row 1) is not UTF-8: the byte 0x"):
        cantle.Recursive(20, unit="chars").split_all(array)
