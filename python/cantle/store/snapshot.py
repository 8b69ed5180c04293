"""`Snapshot`: all chunks of a store at one moment, as columns. What is searched is rows of it."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cantle.digest import hash_parts
from cantle.store.database import Database, Moved, setting
from cantle.store.parts import ADDED, ROW, Tables
from cantle.store.pieces import all_vectors, joined
from cantle.structure import KINDS

if TYPE_CHECKING:
    import sqlite3

    from numpy.typing import NDArray

_TEXTS_KEPT = 64
"""Documents whose texts are kept at hand: hits of one question are of few."""
_TOGETHER = ("prose", "list", "heading", "quote")
"""Kinds that go on from one chunk to the next, as rows of a table do not."""


class StrategyRow(NamedTuple):
    """One strategy of a store."""

    number: int
    name: str
    fingerprint: str
    """A hash of its settings."""
    unit: str
    """What sizes count."""
    within: str | None
    """The strategy whose chunks these were cut within."""
    searched: bool
    """Whether its chunks are embedded and searched; parents of others need not be."""


class SourceRow(NamedTuple):
    """One document of a store."""

    number: int
    id: str
    title: str
    metadata: dict[str, Any]
    characters: int
    hash: bytes
    """Of text, title and metadata."""

    @property
    def cite(self) -> str:
        """What the document is called for readers: its title, or its id."""
        return self.title or self.id


class Row(NamedTuple):
    """What a row is called and where it stands, without its text."""

    source: SourceRow
    strategy: str
    """The name of the strategy that cut it."""
    ordinal: int
    heading_path: tuple[str, ...]
    char_start: int
    char_end: int

    @property
    def id(self) -> str:
        """The chunk's id: `{document}_{strategy}_{ordinal}`."""
        return f"{self.source.id}_{self.strategy}_{self.ordinal}"

    @property
    def cite(self) -> str:
        """Where it stands, for readers: the document's title or id, and its headings."""
        return " > ".join((self.source.cite, *self.heading_path))


class Snapshot:
    """The rows of a store at one generation, as read-only columns.

    They stand by strategy, document and ordinal; those of one document under one strategy are a
    part. Offsets are -1 for a chunk that was added by hand.
    """

    generation: int
    embedder: str | None
    """What tells the embedder of the vectors from others; None where there is none yet."""
    strategies: tuple[StrategyRow, ...]
    sources: tuple[SourceRow, ...]
    heading_paths: tuple[tuple[str, ...], ...]
    """Every path of headings; the first is empty."""
    part_number: NDArray[np.int64]
    """What each part is called in the file."""
    stamps: tuple[bytes, ...]
    """What changes with anything in each part."""
    part_start: NDArray[np.int64]
    """The first row of each part, and behind the last one."""

    strategy: NDArray[np.int32]
    """The place of each row's strategy in `strategies`."""
    source: NDArray[np.int32]
    """The place of each row's document in `sources`."""
    part: NDArray[np.int32]
    ordinal: NDArray[np.int32]
    byte_start: NDArray[np.int64]
    byte_end: NDArray[np.int64]
    char_start: NDArray[np.int64]
    char_end: NDArray[np.int64]
    source_start: NDArray[np.int64]
    source_end: NDArray[np.int64]
    size: NDArray[np.int64]
    """In the unit of the row's strategy; -1 where that could not be counted."""
    kind: NDArray[np.uint8]
    """Numbers of `cantle.KINDS`."""
    flags: NDArray[np.uint32]
    heading: NDArray[np.int32]
    """The row in `heading_paths`; a row without headings has those of what it was cut within."""
    parent: NDArray[np.int64]
    """The row that each chunk was cut within; -1 for none."""
    embedded: NDArray[np.bool_]
    """Whether the row has a vector."""

    def __init__(self, database: Database) -> None:
        """Read the rows; texts and vectors are read when they are asked for."""
        self._database = database
        self._lock = database.lock
        self._texts: OrderedDict[int, str] = OrderedDict()
        with database.read() as connection:
            self.generation = setting(connection, "generation", 0)
            self.embedder = setting(connection, "embedder")
            try:
                self._read_names(connection)
                self._read_parts(connection)
            except (ValueError, TypeError, LookupError) as error:
                raise database.damaged(error) from None

    def _read_names(self, connection: sqlite3.Connection) -> None:
        self.strategies = tuple(
            StrategyRow(number, name, fingerprint, unit, within, bool(searched))
            for number, name, fingerprint, unit, within, searched in connection.execute(
                "SELECT strategy, name, fingerprint, unit, within, searched FROM strategy "
                "ORDER BY strategy"
            )
        )
        self.sources = tuple(
            SourceRow(number, name, title, json.loads(metadata), characters, told)
            for number, name, title, metadata, characters, told in connection.execute(
                "SELECT source, id, title, metadata, characters, hash FROM source ORDER BY source"
            )
        )

    def _read_parts(self, connection: sqlite3.Connection) -> None:
        numbers, stamps, keys, rows, tables, embedded = [], [], [], [], [], []
        for number, strategy, source, stamp, data, text, there in connection.execute(
            "SELECT part, strategy, source, stamp, rows, tables, vectors IS NOT NULL FROM part "
            "ORDER BY strategy, source"
        ):
            numbers.append(number)
            keys.append((strategy, source))
            stamps.append(stamp)
            rows.append(data)
            tables.append(text)
            embedded.append(there)
        counts = np.array([len(data) // ROW.itemsize for data in rows], np.int64)
        self.part_number = np.array(numbers, np.int64)
        self.stamps = tuple(stamps)
        self.part_start = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        columns = np.frombuffer(b"".join(rows), ROW)
        self.part = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        strategies = np.array([row.number for row in self.strategies], np.int64)
        sources = np.array([row.number for row in self.sources], np.int64)
        key = np.array(keys, np.int64).reshape(-1, 2)
        self.part_strategy = np.searchsorted(strategies, key[:, 0]).astype(np.int32)
        self.part_source = np.searchsorted(sources, key[:, 1]).astype(np.int32)
        self.strategy = self.part_strategy[self.part]
        self.source = self.part_source[self.part]
        for name in ROW.names or ():
            if name not in ("parent", "path", "around"):
                setattr(self, name, columns[name].astype(columns[name].dtype.newbyteorder("=")))
        self.embedded = np.array(embedded, bool)[self.part] if len(counts) else np.zeros(0, bool)
        self._read_tables(columns, tables)
        self.parent = self._parents(columns["parent"])
        self._inherit_headings()
        for column in vars(self).values():
            if isinstance(column, np.ndarray):
                column.setflags(write=False)

    def _read_tables(self, columns: NDArray[np.void], tables: list[str]) -> None:
        known: dict[tuple[str, ...], int] = {(): 0}
        heading = np.zeros(len(columns), np.int32)
        self._added: dict[int, str] = {}
        for part in (part for part, text in enumerate(tables) if text):
            own = Tables(*json.loads(tables[part]))
            rows = slice(int(self.part_start[part]), int(self.part_start[part + 1]))
            numbers = [known.setdefault(tuple(path), len(known)) for path in own.paths]
            heading[rows] = np.array(numbers, np.int32)[columns["path"][rows]]
            there = np.flatnonzero(self.flags[rows] & np.uint32(ADDED)) + rows.start
            self._added.update(zip(there.tolist(), own.added, strict=True))
        self.heading = heading
        self.heading_paths = tuple(known)

    def _inherit_headings(self) -> None:
        """Give rows without headings those of their parents, however far above."""
        rows = above = np.flatnonzero((self.heading == 0) & (self.parent >= 0))
        while len(rows):
            above = self.parent[above]
            self.heading[rows] = self.heading[above]
            bare = (self.heading[rows] == 0) & (self.parent[above] >= 0)
            rows, above = rows[bare], above[bare]

    def _parents(self, ordinal: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return the row of each parent: the one of that ordinal in the part above.

        The parents may have been cut anew since, or some of them left out. So one that does not
        hold the chunk is none, and another one of the part above that holds it stands for it.
        """
        names = {row.name: at for at, row in enumerate(self.strategies)}
        within = [
            -1 if row.within is None else names.get(row.within, -1) for row in self.strategies
        ]
        if max(within, default=-1) < 0:  # Most stores, and a third of the time of all the rest.
            return np.full(len(self.part), -1, np.int64)
        above = np.array(within, np.int64)[self.part_strategy]
        keys = self.part_strategy * np.int64(len(self.sources)) + self.part_source
        wanted = above * len(self.sources) + self.part_source
        at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        part = np.where((above >= 0) & (keys[at] == wanted), at, -1)[self.part]
        rows = np.flatnonzero((part >= 0) & (ordinal >= 0))
        found = np.full(len(self.part), -1, np.int64)
        found[rows] = self._holding(rows, part[rows], self.ordinal, ordinal[rows])
        rows = rows[found[rows] < 0]
        found[rows] = self._holding(rows, part[rows], self.byte_start, self.byte_start[rows])
        return found

    def _holding(
        self,
        rows: NDArray[np.int64],
        part: NDArray[np.int64],
        column: NDArray[Any],
        value: NDArray[Any],
    ) -> NDArray[np.int64]:
        """Return the last row of each part whose column is at most a value, if it holds the row."""
        cut = np.flatnonzero(self.flags & np.uint32(ADDED) == 0)
        if not len(cut):
            return np.full(len(rows), -1, np.int64)
        keys = (self.part[cut].astype(np.int64) << 40) + column[cut]
        at = np.searchsorted(keys, (part << 40) + value, side="right") - 1
        held = cut[np.maximum(at, 0)]
        holds = (
            (at >= 0)
            & (self.part[held] == part)
            & (self.byte_start[held] <= self.byte_start[rows])
            & (self.byte_end[held] >= self.byte_end[rows])
        )
        return np.where(holds, held, -1)

    def __len__(self) -> int:
        return len(self.ordinal)

    def texts(self, rows: Sequence[int] | NDArray[Any]) -> list[str]:
        """Return the texts of rows."""
        found = []
        for row in np.asarray(rows, np.int64).tolist():
            if row in self._added:
                found.append(self._added[row])
                continue
            text = self.text_of(int(self.source[row]))
            found.append(text[int(self.char_start[row]) : int(self.char_end[row])])
        return found

    def text_of(self, source: int) -> str:
        """Return the whole text of the document at a place in `sources`.

        Raises:
            Moved: The document was changed since the snapshot was made.
        """
        with self._lock:
            if (kept := self._texts.get(source)) is not None:
                self._texts.move_to_end(source)
                return kept
        row = self.sources[source]
        with self._database.read() as connection:
            found = connection.execute(
                "SELECT title, metadata, text FROM source WHERE source = ? AND hash = ?",
                (row.number, row.hash),
            ).fetchone()
        if found is None:
            raise Moved(f"document {row.id!r} was changed since it was searched: search again")
        title, metadata, data = found
        if hash_parts((title.encode(), metadata.encode(), data), len(row.hash)) != row.hash:
            raise self._database.damaged(f"document {row.id!r} is not what was written")
        text: str = data.decode()
        with self._lock:
            self._texts[source] = text
            if len(self._texts) > _TEXTS_KEPT:
                self._texts.popitem(last=False)
        return text

    def ids(self, rows: Sequence[int] | NDArray[Any]) -> list[str]:
        """Return the ids of rows: `{document}_{strategy}_{ordinal}`."""
        return [row.id for row in self.told(rows)]

    def told(self, rows: Sequence[int] | NDArray[Any]) -> list[Row]:
        """Return what rows are called and where they stand."""
        columns = (self.source, self.strategy, self.ordinal, self.heading)
        places = (column[rows].tolist() for column in (*columns, self.char_start, self.char_end))
        return [
            Row(
                self.sources[source],
                self.strategies[strategy].name,
                ordinal,
                self.heading_paths[heading],
                *span,
            )
            for source, strategy, ordinal, heading, *span in zip(*places, strict=True)
        ]

    def groups(self) -> NDArray[np.int32]:
        """Return which rows go on from one to the next: equal numbers side by side; -1: none.

        Chunks of prose and lists of one document do; rows of tables, code, and what was added by
        hand do not.
        """
        together = np.isin(self.kind, [KINDS.index(kind) for kind in _TOGETHER if kind in KINDS])
        alone = ~together | (self.flags & np.uint32(ADDED) != 0)
        return np.where(alone, np.int32(-1), self.part)

    def strategy_named(self, name: str) -> int:
        """Return the place of a strategy in `strategies`; -1 where it is not there."""
        return next((at for at, row in enumerate(self.strategies) if row.name == name), -1)

    def vectors(self, parts: Sequence[int] | None = None) -> NDArray[np.float32]:
        """Return the vectors of all rows that have one, in their order; raw, float32 [n, d].

        Args:
            parts: Of these parts only, by their places in `part_number`, ascending.

        Raises:
            Moved: The store was written since the snapshot was made.
        """
        with self._database.read() as connection:
            if setting(connection, "generation", 0) != self.generation:
                raise Moved(f"{self._database.path}: written while it was read")
            precision = setting(connection, "precision", "float32")
            dimensions = setting(connection, "dimensions", 0)
            if parts is None:
                data = b"".join(all_vectors(connection))
            else:
                one = "SELECT part, coalesce(vectors, x'') FROM part WHERE part = ?"
                numbers = (int(self.part_number[part]) for part in parts)
                rows = (connection.execute(one, (number,)).fetchone() for number in numbers)
                data = b"".join(joined(connection, *row) for row in rows)
        here = self.embedded if parts is None else self.embedded[np.isin(self.part, parts)]
        if len(data) != np.count_nonzero(here) * dimensions * (2 if precision == "float16" else 4):
            raise self._database.damaged("vectors of another number than chunks")
        return vectors_of(data, precision, dimensions)


def vectors_of(data: bytes, precision: str, dimensions: int) -> NDArray[np.float32]:
    """Return vectors from the bytes of the database."""
    kind = "<f2" if precision == "float16" else "<f4"
    if not data:
        return np.zeros((0, dimensions), np.float32)
    return np.frombuffer(data, kind).reshape(-1, dimensions).astype(np.float32, copy=False)
