"""Chunks to lines: JSON Lines and CSV. Tables with types are written in `arrow_output.py`."""

from __future__ import annotations

import csv
import io
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from typing import IO, Any

from cantle import Chunks
from cantle.chunk import CLAUSE
from cantle.cli.carried import OWN, Carried
from cantle.cli.rows import Batch

_encode = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode


class Sink(ABC):
    """What chunks are written to."""

    @abstractmethod
    def write(self, chunks: Chunks, batch: Batch) -> None:
        """Write the chunks of a batch of documents."""

    def close(self) -> None:  # noqa: B027
        """Write what is still held; the stream stays open."""

    def drop(self) -> None:  # noqa: B027
        """Forget what is still held: the stream is about to go."""


_MADE = {
    "text": "texts",
    "heading_path": "heading_paths",
    "context": "contexts",
    "embed_text": "embed_texts",
    "parent_id": "parent_ids",
}
"""Columns that `Chunks` makes as lists, and what it calls them."""


def written(chunks: Chunks, own: tuple[str, ...]) -> list[Chunks]:
    """Return what is written of chunks: themselves; with a column `level` those above as well."""
    if "level" not in own:
        return [chunks]
    return [chunks.level(number) for number in range(1, chunks.level_number + 1)]


def rows(
    chunks: Chunks, metadata: list[dict[str, Any]] | None, own: tuple[str, ...] = OWN
) -> Iterator[dict[str, Any]]:
    """Yield what `Chunk.as_dict()` returns, column-wise: several times faster."""
    columns = [
        [getattr(chunk, name) for chunk in chunks]
        if name in CLAUSE
        else [chunks.level_number] * len(chunks)
        if name == "level"
        else getattr(chunks, _MADE[name])
        if name in _MADE
        else getattr(chunks, name).tolist()
        for name in own[2:]
    ]
    for name, doc, *values in zip(chunks.ids, chunks.doc.tolist(), *columns, strict=True):
        row = {
            "id": name,
            "source": chunks.documents.id(doc),
            **dict(zip(own[2:], values, strict=True)),
        }
        if metadata and metadata[doc]:
            row["metadata"] = metadata[doc]
        yield row


class JsonLines(Sink):
    """Writes one JSON object a chunk, in UTF-8."""

    def __init__(self, stream: IO[bytes], own: tuple[str, ...] = OWN) -> None:
        """Write the chunks' own columns and their metadata to an open stream."""
        self._stream = stream
        self._own = own

    def write(self, chunks: Chunks, batch: Batch) -> None:
        """Write the chunks of some documents."""
        for level in written(chunks, self._own):
            for row in rows(level, batch.metadata, self._own):
                self._stream.write(_json_bytes(row) + b"\n")


class Csv(Sink):
    """Writes one record a chunk, in UTF-8, under a header."""

    def __init__(self, stream: IO[bytes], delimiter: str, carried: Carried) -> None:
        """Write the header to an open stream."""
        self._text = io.TextIOWrapper(stream, "utf-8", newline="", write_through=True)
        self._records = csv.writer(self._text, delimiter=delimiter, lineterminator="\n")
        self._carried = carried
        self._records.writerow([*carried.own, *carried.names()])

    def write(self, chunks: Chunks, batch: Batch) -> None:
        """Write the chunks of some documents."""
        carried = text_columns(batch.metadata or [{}] * len(batch), self._carried)
        records = list(zip(*carried, strict=True)) if carried else [()] * len(batch)
        for level in written(chunks, self._carried.own):
            own = rows(level, None, self._carried.own)
            for doc, row in zip(level.doc.tolist(), own, strict=True):
                if "heading_path" in row:
                    row["heading_path"] = as_json(row["heading_path"])
                self._records.writerow([*row.values(), *records[doc]])

    def close(self) -> None:
        """Let the stream go, all written."""
        self._text.detach()

    def drop(self) -> None:
        """Let the stream go."""
        with suppress(ValueError, OSError):
            self._text.detach()


def text_columns(metadata: list[dict[str, Any]], carried: Carried) -> list[list[str | None]]:
    """Return the carried columns of some documents, as text.

    A column that has a type, from an input with types, stays empty for them.
    """
    texts = {name for name, type in carried.types.items() if type is None}
    columns: list[list[str | None]] = [
        [_text(entry.get(name)) for entry in metadata] if name in texts else [None] * len(metadata)
        for name in carried.types
    ]
    if carried.rest:
        rest = ({k: v for k, v in m.items() if k not in texts} for m in metadata)
        columns.append([as_json(entry) if entry else None for entry in rest])
    return columns


def _text(value: Any) -> str | None:
    text = value if value is None or isinstance(value, str) else as_json(value)
    # A lone surrogate, which JSON can say and UTF-8 cannot.
    return text if text is None else text.encode("utf-8", "backslashreplace").decode()


def as_json(value: Any) -> str:
    """Return a value as JSON of one line, that UTF-8 can hold."""
    return _json_bytes(value).decode()


def _json_bytes(value: Any) -> bytes:
    line = _encode(value)
    # What ends a line to some readers of JSON Lines, though not to the format.
    for end, escape in ("\x85", "\\u0085"), ("\u2028", "\\u2028"), ("\u2029", "\\u2029"):
        line = line.replace(end, escape)
    try:
        return line.encode()
    except UnicodeEncodeError:  # A lone surrogate in the metadata.
        return json.dumps(value).encode()
