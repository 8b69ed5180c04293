"""Parts into the database: new ones, replaced ones, their vectors.

Every function here works within a transaction of its caller's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cantle import _core
from cantle.digest import hash_parts
from cantle.store.database import set_setting, setting
from cantle.store.parts import (
    HASH,
    Part,
    Tables,
    embedded_texts,
    keeping_added,
    text_bytes,
    unpacked,
)
from cantle.store.pieces import first_piece, joined, most_of_a_row, write_others
from cantle.store.plain import as_json
from cantle.store.snapshot import vectors_of

if TYPE_CHECKING:
    import sqlite3

    from numpy.typing import NDArray

    from cantle.chunks import Chunks
    from cantle.documents import Documents

Vectors = dict[bytes, "NDArray[np.float32]"]
"""Vectors by the hash of the text that they are of."""


class Document(NamedTuple):
    """A document as it stands in the database."""

    id: str
    title: str
    metadata: str
    text: bytes
    hash: bytes

    @classmethod
    def of(cls, documents: Documents, doc: int) -> Document:
        """Return a document of a call.

        Raises:
            SettingError: Its metadata cannot be written as JSON.
        """
        name, title = documents.id(doc), documents.title(doc)
        metadata = as_json(documents.metadata(doc), f"metadata of document {name!r}")
        data = text_bytes(documents, doc)
        told = hash_parts((title.encode(), metadata.encode(), data), HASH)
        return cls(name, title, metadata, data, told)


def check_fits(
    connection: sqlite3.Connection, document: Document, parts: Iterable[tuple[str, Part]]
) -> None:
    """Raise unless the rows of a document and its chunks are within SQLite's limit.

    Vectors do not count, since they are written in pieces.

    Args:
        parts: Each with the name of its strategy.

    Raises:
        SettingError: One of them is too large.
    """
    most = most_of_a_row(connection)
    size = sum(len(text.encode()) for text in (document.id, document.title, document.metadata))
    sizes = [("text and metadata", size + len(document.text))]
    for strategy, part in parts:
        count, rows, tables, hashes = part.packed
        size = len(rows) + len(tables.encode()) + len(hashes)
        sizes.append((f"its {count:,} chunks of {strategy!r} without their vectors", size))
    for what, size in sizes:
        if size > most:
            raise _core.SettingError(
                f"document {document.id!r} is too large for a store: {what} take {size:,} bytes, "
                f"of at most {most:,}; cut it in several documents"
            )


def write_source(
    connection: sqlite3.Connection, document: Document, strategy: int
) -> tuple[int, list[str]]:
    """Write a document; returns its number, and the strategies whose chunks were of another text.

    Those chunks go.
    """
    row = connection.execute(
        "SELECT source, hash, text FROM source WHERE id = ?", (document.id,)
    ).fetchone()
    fields = (document.title, document.metadata, document.hash, len(document.text.decode()))
    if row is None:
        cursor = connection.execute(
            "INSERT INTO source (id, title, metadata, hash, characters, text) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (document.id, *fields, document.text),
        )
        return int(cursor.lastrowid or 0), []
    source, before, text = row
    dropped: list[str] = []
    if before != document.hash:
        connection.execute(
            "UPDATE source SET title = ?, metadata = ?, hash = ?, characters = ?, text = ? "
            "WHERE source = ?",
            (*fields, document.text, source),
        )
        if bytes(text) != document.text:
            dropped = [
                name
                for (name,) in connection.execute(
                    "SELECT name FROM part JOIN strategy USING (strategy) "
                    "WHERE source = ? AND strategy != ? ORDER BY name",
                    (source, strategy),
                )
            ]
            connection.execute(
                "DELETE FROM part WHERE source = ? AND strategy != ?", (source, strategy)
            )
    return source, dropped


def strategy_number(
    connection: sqlite3.Connection, chunks: Chunks, *, searched: bool, replace: bool
) -> int:
    """Return the number of the strategy that chunks were made by; it is written if it is new.

    Args:
        searched: Whether its chunks are embedded.
        replace: Whether chunks of the same name and other settings may be replaced.

    Raises:
        SettingError: The name is there with other settings.
    """
    within = None if chunks.parents is None else chunks.parents.name
    fields = (chunks.fingerprint, chunks.unit, within)
    row = connection.execute(
        "SELECT strategy, fingerprint, unit, within, searched FROM strategy WHERE name = ?",
        (chunks.name,),
    ).fetchone()
    if row is None:
        cursor = connection.execute(
            "INSERT INTO strategy (name, fingerprint, unit, within, searched) "
            "VALUES (?, ?, ?, ?, ?)",
            (chunks.name, *fields, searched),
        )
        return int(cursor.lastrowid or 0)
    if (row[1], row[2], row[3]) != fields:
        used = connection.execute("SELECT 1 FROM part WHERE strategy = ?", (row[0],)).fetchone()
        if used and not replace:
            raise _core.SettingError(
                f"name ({chunks.name!r}) is there with other settings: cut under another name=, "
                "or sync, which cuts all of that name anew"
            )
        connection.execute(
            "UPDATE strategy SET fingerprint = ?, unit = ?, within = ? WHERE strategy = ?",
            (*fields, row[0]),
        )
    if searched and not row[4]:
        connection.execute("UPDATE strategy SET searched = 1 WHERE strategy = ?", (row[0],))
    return int(row[0])


def old_vectors(connection: sqlite3.Connection, source: str) -> Vectors:
    """Return the vectors of a document's chunks by the hashes of their texts, of all strategies."""
    precision = setting(connection, "precision", "float32")
    dimensions = setting(connection, "dimensions", 0)
    found: Vectors = {}
    for hashes, *piece in connection.execute(
        "SELECT hashes, part, vectors FROM part JOIN source USING (source) "
        "WHERE id = ? AND vectors IS NOT NULL",
        (source,),
    ):
        vectors = vectors_of(joined(connection, *piece), precision, dimensions)
        found.update(
            (hashes[HASH * row : HASH * (row + 1)], vector) for row, vector in enumerate(vectors)
        )
    return found


def added_texts(connection: sqlite3.Connection, source: str, strategy: str) -> list[str]:
    """Return the texts that were added by hand to a document's chunks: they stay with new ones."""
    row = connection.execute(
        "SELECT tables FROM part JOIN source USING (source) JOIN strategy USING (strategy) "
        "WHERE id = ? AND name = ? AND tables != ''",
        (source, strategy),
    ).fetchone()
    return [] if row is None else Tables(*json.loads(row[0])).added


class Known:
    """Which texts have a vector in the store, and where."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Read their hashes."""
        parts, hashes = [], []
        for part, data in connection.execute(
            "SELECT part, hashes FROM part WHERE vectors IS NOT NULL"
        ):
            parts.append(part)
            hashes.append(data)
        counts = np.array([len(data) // HASH for data in hashes], np.int64)
        # Eight bytes find a text; all of them are compared before its vector is taken.
        keys = np.frombuffer(b"".join(hashes), "<u8")[:: HASH // 8]
        self._keys, first = np.unique(keys, return_index=True)
        owner = np.repeat(np.arange(len(counts)), counts)[first]
        self._part = np.array(parts, np.int64)[owner]
        self._row = first - (np.cumsum(counts) - counts)[owner]

    def _find(self, told: bytes) -> int:
        key = np.frombuffer(told, "<u8")[0]
        at = int(np.searchsorted(self._keys, key))
        return at if at < len(self._keys) and self._keys[at] == key else -1

    def __contains__(self, told: bytes) -> bool:
        return self._find(told) >= 0

    def vectors(self, connection: sqlite3.Connection, hashes: Iterable[bytes]) -> Vectors:
        """Return the vectors of texts that have one still."""
        precision = setting(connection, "precision", "float32")
        dimensions = setting(connection, "dimensions", 0)
        wanted: dict[int, list[tuple[bytes, int]]] = {}
        for told in set(hashes):
            if (at := self._find(told)) >= 0:
                wanted.setdefault(int(self._part[at]), []).append((told, int(self._row[at])))
        found: Vectors = {}
        for part, places in wanted.items():
            row = connection.execute(
                "SELECT hashes, vectors FROM part WHERE part = ? AND vectors IS NOT NULL", (part,)
            ).fetchone()
            if row is None:
                continue
            vectors = vectors_of(joined(connection, part, row[1]), precision, dimensions)
            for told, place in places:
                # The part may have been replaced since.
                if row[0][HASH * place : HASH * (place + 1)] == told:
                    found[told] = vectors[place]
        return found


def called(source: str, strategy: str, part: Part) -> Callable[[int], str]:
    """Return what messages call a chunk of a part, by its row."""
    return lambda row: f"chunk '{source}_{strategy}_{part.rows['ordinal'][row]}'"


def packed_vectors(
    connection: sqlite3.Connection,
    part: Part,
    known: Mapping[bytes, NDArray[np.float32]],
    called: Callable[[int], str],
) -> bytes | None:
    """Return the vectors of a part as they stand in the database; None where one is not known."""
    hashes = [part.hashes[at : at + HASH] for at in range(0, len(part.hashes), HASH)]
    if not all(told in known for told in hashes):
        return None
    if not hashes:
        return b""
    vectors = np.stack([known[told] for told in hashes])
    return stored(connection, vectors, called)


def stored(
    connection: sqlite3.Connection, vectors: NDArray[np.float32], called: Callable[[int], str]
) -> bytes:
    """Return vectors as bytes of the database.

    Args:
        called: What messages call the chunk of a row.

    Raises:
        SettingError: They are of another length than those that are there, or too large for
            float16.
    """
    dimensions = setting(connection, "dimensions")
    if dimensions is None:
        set_setting(connection, "dimensions", vectors.shape[1])
    elif dimensions != vectors.shape[1]:
        raise _core.SettingError(
            f"embedder: vectors of {vectors.shape[1]} numbers, of {dimensions} in the store"
        )
    if setting(connection, "precision", "float32") == "float16":
        with np.errstate(over="ignore"):
            half = vectors.astype("<f2")
        if not np.isfinite(half).all():
            row = int(np.argmin(np.isfinite(half).all(axis=1)))
            raise _core.SettingError(
                f"embedder: the vector of {called(row)} is too large for precision='float16'"
            )
        return half.tobytes()
    return vectors.astype("<f4").tobytes()


def write_part(
    connection: sqlite3.Connection,
    source: int,
    strategy: int,
    part: Part,
    fingerprint: str,
    known: Mapping[bytes, NDArray[np.float32]],
) -> bool:
    """Write or replace a part with the vectors that are known; returns whether it is embedded.

    What was added by hand to the part before stays, behind the new rows.
    """
    name, strategy_name, searched = connection.execute(
        "SELECT id, name, searched FROM source, strategy WHERE source = ? AND strategy = ?",
        (source, strategy),
    ).fetchone()
    old = connection.execute(
        "SELECT part, rows, tables, hashes FROM part WHERE source = ? AND strategy = ?",
        (source, strategy),
    ).fetchone()
    if old is not None:
        part = keeping_added(part, unpacked(*old[1:]))
    own = called(name, strategy_name, part)
    vectors = packed_vectors(connection, part, known, own) if searched else None
    stamp, first = part.stamp(name, strategy_name, vectors), first_piece(vectors)
    fields = (stamp, fingerprint, *part.packed, first)
    if old is None:
        cursor = connection.execute(
            "INSERT INTO part (strategy, source, stamp, fingerprint, chunks, rows, tables, "
            "hashes, vectors) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (strategy, source, *fields),
        )
        number = int(cursor.lastrowid or 0)
    else:
        number = old[0]
        connection.execute(
            "UPDATE part SET stamp = ?, fingerprint = ?, chunks = ?, rows = ?, tables = ?, "
            "hashes = ?, vectors = ? WHERE part = ?",
            (*fields, number),
        )
    write_others(connection, number, vectors)
    return vectors is not None


def is_searched(
    connection: sqlite3.Connection, source: int, strategy: int, fingerprint: str
) -> bool:
    """Return whether a part is there that was loaded for itself, of the same settings."""
    row = connection.execute(
        "SELECT 1 FROM part JOIN strategy USING (strategy) "
        "WHERE source = ? AND strategy = ? AND part.fingerprint = ? AND searched",
        (source, strategy, fingerprint),
    ).fetchone()
    return row is not None


class Waiting(NamedTuple):
    """A part without vectors."""

    number: int
    stamp: bytes
    source: str
    strategy: str
    part: Part
    text: bytes

    @property
    def texts(self) -> list[str]:
        """What is to be embedded."""
        return embedded_texts(self.part, self.text)


_WAITING = (
    "FROM part JOIN strategy USING (strategy) JOIN source USING (source) "
    "WHERE vectors IS NULL AND searched"
)


def count_waiting(connection: sqlite3.Connection) -> int:
    """Return how many chunks have no vector though they are to be searched."""
    (count,) = connection.execute(f"SELECT coalesce(sum(chunks), 0) {_WAITING}").fetchone()
    return int(count)


def waiting(connection: sqlite3.Connection, after: int) -> Iterator[Waiting]:
    """Yield parts without vectors, by their numbers, behind a number."""
    for row in connection.execute(
        f"SELECT part, stamp, id, name, rows, tables, hashes, text {_WAITING} AND part > ? "
        "ORDER BY part",
        (after,),
    ):
        number, stamp, source, strategy, rows, tables, hashes, text = row
        yield Waiting(number, stamp, source, strategy, unpacked(rows, tables, hashes), text)


def set_vectors(
    connection: sqlite3.Connection, waiting: Waiting, known: Mapping[bytes, NDArray[np.float32]]
) -> bool:
    """Write the vectors of a part, all of which are known, if it is still what was embedded."""
    own = called(waiting.source, waiting.strategy, waiting.part)
    data = packed_vectors(connection, waiting.part, known, own)
    stamp = waiting.part.stamp(waiting.source, waiting.strategy, data)
    cursor = connection.execute(
        "UPDATE part SET vectors = ?, stamp = ? WHERE part = ? AND stamp = ?",
        (first_piece(data), stamp, waiting.number, waiting.stamp),
    )
    if cursor.rowcount != 1:
        return False
    write_others(connection, waiting.number, data)
    return True
