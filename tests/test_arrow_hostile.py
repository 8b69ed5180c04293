"""Arrow that is refused: wrong types, buffers that lie, producers that break the rules or fail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cantle
from arrow_texts import SPLITTER
from cantle import _core


def table(**columns: Any) -> pa.Table:
    return pa.table(columns)


def bad_utf8() -> pa.Array:
    data = pa.array([b"good", b"ab\xffcd"], pa.binary())
    return pa.Array.from_buffers(pa.string(), 2, data.buffers())


ERRORS: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    (pa.array([1]), {}, TypeError, "texts must be an Arrow array of strings, not of Int64"),
    (
        pa.array([["a"]]),
        {},
        TypeError,
        "texts must be an Arrow array of strings, not of List(Utf8)",
    ),
    (
        table(body=["a"], n=[1]),
        {},
        cantle.SettingError,
        'text ("text") names no column of texts; its columns: "body" (Utf8), "n" (Int64)',
    ),
    (
        table(text=[1.5]),
        {},
        TypeError,
        'column "text" of texts must hold strings, not Float64',
    ),
    (
        table(text=["a"], id=[1.5]),
        {"id": "id"},
        TypeError,
        'column "id" of texts must hold strings or whole numbers as ids, not Float64',
    ),
    (
        table(text=["a"]),
        {"id": "key"},
        cantle.SettingError,
        'id ("key") names no column of texts; its columns: "text" (Utf8)',
    ),
    (
        pa.table([["a"], ["b"]], names=["text", "text"]),
        {},
        cantle.SettingError,
        'text ("text") names more than one column of texts',
    ),
    (
        pa.array(["a"]),
        {"id": "key"},
        cantle.SettingError,
        'id ("key") names a column, and texts is no table',
    ),
    (["a"], {"id": "key"}, cantle.SettingError, "id ('key') names a column, and texts is no table"),
    (
        table(text=["a"], id=["x"]),
        {"id": "id", "ids": ["x"]},
        cantle.SettingError,
        "id ('id') names a column, and ids are given as well",
    ),
    (
        table(text=["a", "b"], id=["x", None]),
        {"id": "id"},
        cantle.TextError,
        'column "id", row 1 is null',
    ),
    (
        table(text=["a", "b"], id=[1, None]),
        {"id": "id"},
        cantle.TextError,
        'column "id", row 1 is null',
    ),
    (
        table(text=["a", "b"], id=["x", "x"]),
        {"id": "id"},
        cantle.SettingError,
        "ids[1] ('x') is also ids[0]",
    ),
    (
        pa.array(["a"]),
        {"ids": pa.array([1.5])},
        TypeError,
        "ids must be an Arrow array of strings, not of Float64",
    ),
    (pa.array(["a"]), {"ids": pa.array([None], pa.string())}, cantle.TextError, "ids[0] is null"),
    (
        pa.array(["a"]),
        {"ids": ["x", "y"]},
        cantle.SettingError,
        "ids has 2 entries for 1 texts",
    ),
    (
        bad_utf8(),
        {},
        cantle.TextError,
        "texts[1] is not UTF-8: the byte 0xff at position 2 is out of place",
    ),
    (
        pa.chunked_array([pa.array(["a"] * 5), bad_utf8()]),
        {},
        cantle.TextError,
        "texts[6] is not UTF-8: the byte 0xff at position 2 is out of place",
    ),
    (
        pa.array([b"ok", b"\xc3"], pa.binary_view()),
        {},
        cantle.TextError,
        "texts[1] is not UTF-8: the byte 0xc3 at position 0 is out of place",
    ),
    (
        table(text=bad_utf8()),
        {},
        cantle.TextError,
        'column "text", row 1 is not UTF-8: the byte 0xff at position 2 is out of place',
    ),
]


@pytest.mark.parametrize(("texts", "options", "kind", "words"), ERRORS)
def test_errors(texts: Any, options: Any, kind: type[Exception], words: str) -> None:
    calls: list[Any] = [SPLITTER.split_all]
    if "ids has" not in words:  # A stream takes as many ids as it needs.
        calls.append(lambda *a, **k: list(SPLITTER.stream(*a, **k)))
    for call in calls:
        with pytest.raises(kind) as caught:
            call(texts, **options)
        assert str(caught.value) == words
        assert type(caught.value) is kind


def test_the_row_of_a_stream_counts_from_its_start() -> None:
    reader = pa.table({"text": pa.chunked_array([["a"] * 5, bad_utf8()])}).to_reader()
    parts = SPLITTER.stream(reader, batch=3)
    assert len(next(parts)) == 3
    with pytest.raises(cantle.TextError, match='column "text", row 6 is not UTF-8'):
        list(parts)


def test_a_dictionary_value_nobody_uses_is_not_read() -> None:
    values = pa.Array.from_buffers(pa.string(), 2, pa.array([b"ok", b"\xff"]).buffers())
    used = pa.DictionaryArray.from_arrays(pa.array([0, 0], pa.int8()), values)
    assert SPLITTER.split_all(used).texts == ["ok", "ok"]
    bad = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), values)
    with pytest.raises(cantle.TextError, match=r"texts\[1\] is not UTF-8"):
        SPLITTER.split_all(bad)


# Buffers that lie.

OFFSETS = {
    "descending": [0, 4, 2],
    "negative": [0, -4, 2],
}


@pytest.mark.parametrize("kind", OFFSETS)
def test_offsets_that_lie(kind: str) -> None:
    offsets = np.array(OFFSETS[kind], np.int32)
    buffers = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(b"abcdefgh")]
    liar = pa.Array.from_buffers(pa.string(), 2, buffers)
    with pytest.raises(cantle.TextError, match=r"texts\[\d\] lies outside its Arrow buffers"):
        SPLITTER.split_all(liar)


@pytest.mark.parametrize(("buffer", "offset"), [(7, 0), (0, 1_000), (2**31 - 1, 2**31 - 1)])
def test_views_that_lie(buffer: int, offset: int) -> None:
    view = np.array([20, 0, buffer, offset], np.uint32).tobytes()
    liar = pa.Array.from_buffers(
        pa.string_view(), 1, [None, pa.py_buffer(view), pa.py_buffer(b"x" * 20)]
    )
    with pytest.raises(cantle.TextError, match=r"texts\[0\] lies outside its Arrow buffers"):
        SPLITTER.split_all(liar)


def test_keys_that_lie() -> None:
    keys = pa.array([0, 9], pa.int8())
    liar = pa.DictionaryArray.from_arrays(keys, pa.array(["a"]), safe=False)
    with pytest.raises(cantle.TextError, match=r"texts\[1\] lies outside its Arrow buffers"):
        SPLITTER.split_all(liar)


def test_rows_that_are_not_there() -> None:
    texts = SPLITTER.split_all(pa.array(["ab"])).documents.texts
    assert isinstance(texts, _core.ArrowTexts)
    assert texts[-1] == "ab"
    for row in (1, -2):
        with pytest.raises(IndexError, match=rf"^text {row} of 1$"):
            texts[row]
    with pytest.raises(ValueError, match=r"^0\.\.3 is no span of text 0$"):
        texts.slice(0, 0, 3)
    with pytest.raises(ValueError, match=r"^0\.\.1 is no span of text 5$"):
        texts.slices([5], [0], [1])


# Producers.


class Twice:
    """Hands out one capsule again and again."""

    def __init__(self, source: Any, name: str) -> None:
        self.capsule = getattr(source, name)()
        setattr(type(self), name, lambda self, requested_schema=None: self.capsule)


def test_a_capsule_consumed_twice() -> None:
    stream = type("S", (Twice,), {})(pa.table({"text": ["a"]}), "__arrow_c_stream__")
    assert SPLITTER.split_all(stream).texts == ["a"]
    with pytest.raises(cantle.TextError, match=r"^texts: the Arrow stream was consumed before$"):
        SPLITTER.split_all(stream)
    array = type("A", (Twice,), {})(pa.array(["a"]), "__arrow_c_array__")
    assert SPLITTER.split_all(array).texts == ["a"]
    with pytest.raises(cantle.TextError, match=r"^texts: the Arrow array was released before$"):
        SPLITTER.split_all(array)


def test_a_reader_consumed_twice() -> None:
    reader = pa.table({"text": ["a"]}).to_reader()
    assert SPLITTER.split_all(reader).texts == ["a"]
    # The reader's own answer: it has come to its end.
    assert len(SPLITTER.split_all(reader).documents) == 0


def test_a_producer_that_fails_midway_says_why() -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"text": ["a"]})
        raise RuntimeError("the disk is gone")

    schema = pa.schema({"text": pa.string()})
    with pytest.raises(cantle.TextError, match="the disk is gone"):
        SPLITTER.split_all(pa.RecordBatchReader.from_batches(schema, batches()))


@pytest.mark.parametrize("answer", [None, 3, (1, 2), ()])
def test_answers_that_are_no_capsules(answer: object) -> None:
    for name in ("__arrow_c_stream__", "__arrow_c_array__"):
        source = type("X", (), {name: lambda self, requested_schema=None: answer})()
        with pytest.raises(TypeError):
            SPLITTER.split_all(source)


def test_a_wrong_capsule() -> None:
    capsule = pa.array(["a"]).__arrow_c_array__()[0]
    source = type("X", (), {"__arrow_c_stream__": lambda self, requested_schema=None: capsule})()
    with pytest.raises(ValueError, match="PyCapsule_GetPointer"):
        SPLITTER.split_all(source)


def test_the_exception_of_a_producer_comes_out_unchanged() -> None:
    def export(self: object, requested_schema: object = None) -> object:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        SPLITTER.split_all(type("X", (), {"__arrow_c_stream__": export})())


def test_structures_that_break_the_format() -> None:
    # A schema without a format, and an array without the buffers of its type: no crash, no panic.
    import ctypes

    class Schema(ctypes.Structure):
        _fields_ = [
            ("format", ctypes.c_char_p),
            ("name", ctypes.c_char_p),
            ("metadata", ctypes.c_char_p),
            ("flags", ctypes.c_int64),
            ("n_children", ctypes.c_int64),
            ("children", ctypes.c_void_p),
            ("dictionary", ctypes.c_void_p),
            ("release", ctypes.c_void_p),
            ("private_data", ctypes.c_void_p),
        ]

    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    for field, words in (("format", "break the rules"), ("release", "was released before")):
        schema, array = pa.array(["a"]).__arrow_c_array__()
        address = pointer(schema, b"arrow_schema")
        inside = Schema.from_address(address)
        kept = getattr(inside, field)
        setattr(inside, field, None)
        pair = (schema, array)
        source = type("X", (), {"__arrow_c_array__": lambda self, pair=pair: pair})()
        with pytest.raises(cantle.TextError, match=words):
            SPLITTER.split_all(source)
        if field == "release":
            inside.release = kept
