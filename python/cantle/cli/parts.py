"""A folder of Parquet files with a list of what is done: a run that was stopped goes on from there.

`manifest.jsonl` says in its first line what the chunks are cut with, and then has a line for each
part: which rows it holds of which inputs. A part is moved into its place before its line is
written, so that a part without a line is none. An input that changed takes the parts that hold some
of it with it; what else they held is cut anew, and no more.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from importlib import import_module
from itertools import groupby
from typing import Any

import cantle
from cantle import Chunks
from cantle.cli.carried import Carried
from cantle.cli.formats import WHOLE
from cantle.cli.inputs import Problem, Source
from cantle.cli.output import Sink
from cantle.cli.report import Report
from cantle.cli.rows import Batch, Columns, Document
from cantle.cli.writing import File
from cantle.target import Target

MANIFEST = "manifest.jsonl"
_BYTES = 128_000_000
"""Bytes read for a part: what is lost at most when a run is stopped."""


class NotOurs(Exception):
    """A folder that parts cannot be added to; says why."""


@dataclass
class _Input:
    """What a part holds of one input."""

    id: str
    size: int
    modified: int
    rows: list[tuple[int, int]]
    """Ranges of rows, by their lines, without the first of the two and with the second."""
    end: int | None
    """The input's last row, where the run that wrote the part has come to it."""

    @property
    def stamp(self) -> tuple[int, int]:
        """What tells that a file has changed."""
        return self.size, self.modified


@dataclass
class _Part:
    part: str
    chunks: int
    inputs: list[_Input] = field(default_factory=list)


class Parts(Sink):
    """Writes parts to a folder, and knows what earlier runs wrote."""

    def __init__(
        self,
        folder: str,
        carried: Carried,
        sources: Sequence[Source],
        columns: Columns,
        settings: dict[str, Any],
        report: Report,
    ) -> None:
        """Read the folder's list, or begin one.

        Raises:
            NotOurs: The folder holds something else.
            Missing: Parquet needs an extra which is not installed.
            OSError: It cannot be read or written.
        """
        import_module("cantle.cli.arrow_output")
        self._folder = folder
        self._settings = settings
        self._report = report
        self._sources = {source.place: source for source in sources}
        self._stamps = {source.id: _stamp(source) for source in sources}
        head = {"cantle": cantle.__version__, "settings": settings, "columns": asdict(columns)}
        head["own"] = carried.own
        self._head = json.loads(json.dumps(head))  # As it will be read again.
        self._carried = carried
        self._file: File | None = None
        self._chunks = self._bytes = 0
        self._held: dict[str, list[tuple[int, int]]] = {}
        self._written: dict[str, int] = {}
        self._read: dict[str, int] = {}
        with suppress(FileExistsError):
            os.mkdir(folder)
        self._parts = self._current(self._load())
        self._rewrite()
        rows: dict[str, list[tuple[int, int]]] = {}
        self._ends: dict[str, int] = {}
        for entry in (entry for part in self._parts for entry in part.inputs):
            rows.setdefault(entry.id, []).extend(entry.rows)
            if entry.end is not None:
                self._ends[entry.id] = entry.end
        self._done = {source.place: _joined(rows.get(source.id, ())) for source in sources}

    def left(self) -> list[Source]:
        """Return the inputs that are not done."""
        return [
            source
            for place, source in self._sources.items()
            if source.id not in self._ends or self._done[place] != [(0, self._ends[source.id])]
        ]

    def rest(
        self, items: Iterable[Document | Batch | Problem]
    ) -> Iterator[Document | Batch | Problem]:
        """Yield the items without the rows that are done."""
        for item in items:
            if isinstance(item, Batch):
                yield from self._rest_of(item)
                continue
            row = item.line or (1 if isinstance(item, Document) else 0)
            if isinstance(item, Document):
                self._read[item.file] = row
            if not self._is_done(item.file, row):
                yield item

    def _rest_of(self, batch: Batch) -> Iterator[Batch]:
        place, last = batch.places[-1]
        self._read[place] = last or 1
        if not self._done[place]:
            yield batch
            return
        done = [self._is_done(file, line or 1) for file, line in batch.places]
        start = 0
        for flag, group in groupby(done):
            end = start + len(list(group))
            if not flag:
                yield batch.part(start, end)
            start = end

    def _is_done(self, place: str, row: int) -> bool:
        return any(first < row <= last for first, last in self._done.get(place, ()))

    def write(self, chunks: Chunks, batch: Batch) -> None:
        """Write the chunks of a batch of documents."""
        if self._file is None:
            self._file = File(self._path(self._next()), self._carried, self._settings)
        self._file.write(chunks, batch)
        self._chunks += len(chunks)
        self._bytes += batch.size
        for place, line in batch.places:
            self._hold(place, line or 1)
        if self._bytes >= _BYTES:
            self._end_part(ended=False)

    def _hold(self, place: str, row: int) -> None:
        """Add a row to what the part holds: with it, those since the one before, which are none."""
        ranges = self._held.setdefault(place, [])
        before = self._written.get(place, 0)
        between = [last for _, last in self._done[place] if before < last < row]
        if between or not ranges:
            ranges.append((max([before, *between]), row))
        else:
            ranges[-1] = (ranges[-1][0], row)
        self._written[place] = row

    def close(self) -> None:
        """End the last part."""
        if self._file is not None:
            self._end_part(ended=not self._report.limited)

    def commit(self) -> None:
        """Do nothing: parts are in their places."""

    def discard(self) -> None:
        """Leave the part behind that is not done; a run of the same call goes on before it."""
        if self._file is not None:
            self._file.discard()
            self._file = None

    def _end_part(self, *, ended: bool) -> None:
        assert self._file is not None
        self._file.close()
        self._file.commit()
        self._file = None
        part = _Part(self._next(), self._chunks)
        places = list(self._held)
        for place, ranges in self._held.items():
            source = self._sources[place]
            # Documents come in the order of the inputs: one has ended when the next has begun.
            whole = ended or place != places[-1] or source.format in WHOLE
            whole = whole and place not in self._report.broken
            end = self._read[place] if whole else None
            part.inputs.append(_Input(source.id, *self._stamps[source.id], ranges, end))
        self._parts.append(part)
        with open(self._path(MANIFEST), "a", encoding="utf-8") as file:
            file.write(_line(asdict(part)))
            file.flush()
            os.fsync(file.fileno())
        self._chunks = self._bytes = 0
        # Should nothing more come of the last input, the next part says that it has ended.
        self._held = {places[-1]: []}

    def _load(self) -> list[_Part]:
        try:
            with open(self._path(MANIFEST), encoding="utf-8") as file:
                lines = [json.loads(line) for line in file if line.endswith("\n")]
        except FileNotFoundError:
            if os.listdir(self._folder):
                raise NotOurs(f"it is not empty, and has no {MANIFEST}") from None
            return []
        except (UnicodeDecodeError, json.JSONDecodeError):
            raise NotOurs(f"its {MANIFEST} cannot be read") from None
        if not lines or lines[0] != self._head:
            raise NotOurs("it holds chunks that were cut with other settings")
        return [
            _Part(line["part"], line["chunks"], [_input(**entry) for entry in line["inputs"]])
            for line in lines[1:]
        ]

    def _current(self, found: list[_Part]) -> list[_Part]:
        """Return the parts that are there, and hold nothing of an input that has changed."""
        return [
            part
            for part in found
            if os.path.exists(self._path(part.part))
            and all(self._stamps.get(e.id, e.stamp) == e.stamp for e in part.inputs)
        ]

    def _rewrite(self) -> None:
        """Write the list anew, then remove the parts that are not in it."""
        target = Target(self._path(MANIFEST))
        try:
            lines = [self._head, *map(asdict, self._parts)]
            target.stream.write("".join(map(_line, lines)).encode())
            target.commit()
        finally:
            target.discard()
        listed = {part.part for part in self._parts}
        for name in os.listdir(self._folder):
            if re.fullmatch(r"part-\d+\.parquet", name) and name not in listed:
                os.unlink(self._path(name))

    def _next(self) -> str:
        last = max((int(part.part[5:-8]) for part in self._parts), default=-1)
        return f"part-{last + 1:05}.parquet"

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name)


def _input(rows: list[list[int]], **rest: Any) -> _Input:
    return _Input(rows=[(first, last) for first, last in rows], **rest)


def _joined(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the ranges in order, those joined that touch."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if joined and first <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(last, joined[-1][1])
        else:
            joined.append((first, last))
    return joined


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value) + "\n"


def _stamp(source: Source) -> tuple[int, int]:
    try:
        status = os.stat(source.path)
    except OSError:
        return -1, -1
    return status.st_size, status.st_mtime_ns
