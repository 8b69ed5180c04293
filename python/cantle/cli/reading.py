"""Files to documents. What cannot be read comes out as a `Problem` in its place.

Here: which reader takes which format, texts, and JSON Lines. Tables have files of their own.
"""

from __future__ import annotations

import errno
import json
import math
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import IO, Any

from cantle.cli import converted, csv_reading, rows
from cantle.cli.formats import TYPED, WHOLE, Unreadable, opened, told
from cantle.cli.inputs import STDIN, Problem, Source
from cantle.cli.rows import Batch, Columns, Document, Ids, Skip, kind, listing, not_utf8
from cantle.forms import form_of

_BOM = b"\xef\xbb\xbf"


def read(sources: Iterable[Source], columns: Columns) -> Iterator[Document | Batch | Problem]:
    """Yield what `sources` hold, in order: a `Document`, a `Batch` of them, or a `Problem`.

    A text is decoded and nothing else: line ends stay, and so does a byte order mark, so that
    offsets are the file's. A row's other columns are metadata.
    """
    sources = list(sources)
    ids = Ids({source.id: source.place for source in sources})
    for source in sources:
        try:
            yield from _documents(source, columns, ids)
        except Skip as skip:
            yield skip.at(source)
        except Unreadable as error:
            yield Problem(source.place, "cannot be read", str(error), last=True)


def _documents(source: Source, columns: Columns, ids: Ids) -> Iterator[Document | Batch | Problem]:
    with told():
        if source.format == "document":
            yield converted.document(source)
        elif source.format in TYPED:
            from cantle.cli import arrow_reading  # pyarrow is loaded for who reads such files.

            yield from arrow_reading.batches(source, columns, ids)
        else:
            with _stream(source) as stream:
                if source.format == "jsonl":
                    yield from _lines(stream, source, columns, ids)
                elif source.format in WHOLE or source.table:
                    yield _text(stream.read(), source)
                else:
                    yield from csv_reading.records(stream, source, columns, ids)


def _stream(source: Source) -> AbstractContextManager[IO[bytes]]:
    if source.path == STDIN:
        if sys.stdin is None:
            raise OSError(errno.EBADF, "it is closed")
        return nullcontext(sys.stdin.buffer)
    return opened(source.path, source.compression)


def _text(data: bytes, source: Source) -> Document | Problem:
    try:
        text = data.decode()
        return Document(source.id, text, {}, len(data), source.place, None, _form(source))
    except UnicodeDecodeError as error:
        return Problem(source.place, *not_utf8(data, error))


def _form(source: Source) -> str | None:
    if source.format == "html":
        return "html"
    # An id such as `stdin` would have the table taken for a text.
    return source.format if source.table and form_of(source.id) != source.format else None


def _lines(
    stream: IO[bytes], source: Source, columns: Columns, ids: Ids
) -> Iterator[Document | Problem]:
    number = 0
    while line := stream.readline(rows.LONGEST + 1):
        number += 1
        data = line.removeprefix(_BOM if number == 1 else b"").rstrip(b"\r\n")
        if not data.strip():
            continue
        try:
            if len(line) > rows.LONGEST:
                _rest_of_line(stream, line)
                raise Skip("the line is too long", f"more than {rows.LONGEST:,} bytes")
            row = _object(data)
            text = _column(row, columns.text)
            if not isinstance(text, str):
                raise Skip(f"column {columns.text!r} is not text", f"it is {kind(text)}")
            value = None if columns.id is None else _column(row, columns.id)
            name = ids.take(value, columns, source, number)
        except Skip as skip:
            yield skip.at(source, number)
            continue
        metadata = {key: row[key] for key in columns.others(row)}
        yield Document(name, text, metadata, len(line), source.place, number)


def _rest_of_line(stream: IO[bytes], line: bytes) -> None:
    while line and not line.endswith(b"\n"):
        line = stream.readline(1 << 20)


def _object(data: bytes) -> dict[str, Any]:
    try:
        row = _decode(data.decode())
    except UnicodeDecodeError as error:
        raise Skip(*not_utf8(data, error)) from None
    except json.JSONDecodeError as error:
        raise Skip("invalid JSON", f"{error.msg}, column {error.colno}") from None
    except (ValueError, RecursionError) as error:
        raise Skip("invalid JSON", str(error)) from None
    if not isinstance(row, dict):
        raise Skip("not a JSON object", f"it is {kind(row)}")
    return row


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _finite(number: str) -> float:
    value = float(number)
    if math.isinf(value):
        # It would be written as Infinity, which is no JSON.
        raise ValueError(f"{number} is larger than any number that JSON readers hold")
    return value


_decode = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite).decode


def _column(row: dict[str, Any], name: str) -> Any:
    if name not in row:
        raise Skip(f"no column {name!r}", listing([repr(key) for key in row]))
    return row[name]
