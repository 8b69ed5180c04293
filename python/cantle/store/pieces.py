"""The vectors of a part as bytes of the database: in pieces, since a row of SQLite has a limit.

The first piece stands with the part, the others in a table of their own. Where one ends says
nothing: they are read as one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

PIECE = 1 << 26
"""Most bytes of a piece. A part without vectors may take up the rest of its row."""
_LIMIT = 1_000_000_000
"""Most bytes of a row, where Python does not tell what it is: what SQLite is built with."""
_HEAD = 1_024
"""Bytes of a row beside what is counted, and more: numbers, stamps, lengths."""


def first_piece(vectors: bytes | None) -> bytes | None:
    """Return what is written into the row of a part itself."""
    return None if vectors is None else vectors[:PIECE]


def write_others(connection: sqlite3.Connection, part: int, vectors: bytes | None) -> None:
    """Write what does not go into the row of a part, in place of what there was."""
    connection.execute("DELETE FROM more WHERE part = ?", (part,))
    starts = range(PIECE, len(vectors or b""), PIECE)
    connection.executemany(
        "INSERT INTO more (part, piece, vectors) VALUES (?, ?, ?)",
        ((part, at // PIECE, (vectors or b"")[at : at + PIECE]) for at in starts),
    )


def joined(connection: sqlite3.Connection, part: int, first: bytes) -> bytes:
    """Return the vectors of a part, of which the first piece was read."""
    others = connection.execute("SELECT vectors FROM more WHERE part = ? ORDER BY piece", (part,))
    return b"".join((first, *(row[0] for row in others)))


def all_vectors(connection: sqlite3.Connection) -> Iterator[bytes]:
    """Yield the vectors of each part that has some, by strategy and document."""
    in_pieces = {part for (part,) in connection.execute("SELECT DISTINCT part FROM more")}
    for part, first in connection.execute(
        "SELECT part, vectors FROM part WHERE vectors IS NOT NULL ORDER BY strategy, source"
    ):
        yield joined(connection, part, first) if part in in_pieces else first


def most_of_a_row(connection: sqlite3.Connection) -> int:
    """Return how many bytes of a document or of chunks, vectors left aside, a row takes."""
    import sqlite3

    limit = _LIMIT
    if sys.version_info >= (3, 11):
        limit = connection.getlimit(sqlite3.SQLITE_LIMIT_LENGTH)
    return max(0, limit - PIECE - _HEAD)
