"""CSV and TSV to documents, one a record.

The first record names the columns. Damage inside a record (bytes that are not UTF-8, a wrong number
of fields) costs that record; where the records themselves cannot be told apart any more, the rest
of the file is given up, and said so.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import IO

from cantle.cli import rows
from cantle.cli.inputs import Problem, Source
from cantle.cli.rows import Columns, Document, Ids, Skip

_REST = "the rest of the file is not read"


class _Lines:
    """The lines of a file as text; bytes that are not UTF-8 become lone surrogates."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.read = self.number = 0

    def __iter__(self) -> Iterator[str]:
        while line := self._stream.readline(rows.LONGEST + 1):
            self.number += 1
            if self.number == 1:
                if line.startswith((b"\xff\xfe", b"\xfe\xff")):
                    raise Skip("not UTF-8", "it is UTF-16")
                line = line.removeprefix(b"\xef\xbb\xbf")
            if len(line) > rows.LONGEST:
                raise csv.Error(f"a line of more than {rows.LONGEST:,} bytes")
            if b"\0" in line:
                raise csv.Error("a NUL byte")
            self.read += len(line)
            yield line.decode("utf-8", "surrogateescape")


def header(stream: IO[bytes], source: Source, columns: Columns) -> list[str]:
    """Return the names of the carried columns.

    Raises:
        Skip: The file's columns are not what is asked for, or it is no CSV.
    """
    names = _header(_records(_Lines(stream), source), columns)
    return columns.others(names) if names else []


def _records(lines: _Lines, source: Source) -> Iterator[list[str]]:
    csv.field_size_limit(rows.LONGEST)
    delimiter = "\t" if source.format == "tsv" else ","
    try:
        yield from csv.reader(lines, delimiter=delimiter, strict=True)
    except csv.Error as error:
        told = str(error).replace("unexpected end of data", "a quote is not closed")
        raise Skip("invalid CSV", f"{told}; {_REST}", lines.number) from None


def _header(records: Iterator[list[str]], columns: Columns) -> list[str]:
    names = next(records, [])
    _check_utf8(names)
    if names:
        columns.check(names, [repr(name) for name in names])
    return names


def records(
    stream: IO[bytes], source: Source, columns: Columns, ids: Ids
) -> Iterator[Document | Problem]:
    """Yield a document for each record.

    Raises:
        Skip: The file, or the rest of it, cannot be read.
    """
    lines = _Lines(stream)
    found = _records(lines, source)
    names = _header(found, columns)
    if not names:
        return
    carried = [(name, names.index(name)) for name in columns.others(names)]
    text = names.index(columns.text)
    key = None if columns.id is None else names.index(columns.id)
    line, read = lines.number + 1, lines.read
    for record in found:
        try:
            if record:  # A blank line is none.
                if len(record) != len(names):
                    fields = f"{len(record)} field{'' if len(record) == 1 else 's'}"
                    raise Skip("invalid CSV", f"{fields}, the header has {len(names)}")
                _check_utf8(record)
                name = ids.take(None if key is None else record[key], columns, source, line)
                metadata = {name: record[at] for name, at in carried}
                size = lines.read - read
                yield Document(name, record[text], metadata, size, source.place, line)
        except Skip as skip:
            yield skip.at(source, line)
        line, read = lines.number + 1, lines.read


def _check_utf8(record: list[str]) -> None:
    try:
        "\0".join(record).encode()
    except UnicodeEncodeError as error:
        byte = ord(error.object[error.start]) - 0xDC00
        raise Skip("not UTF-8", f"the byte 0x{byte:02x} is out of place") from None
