"""`Kept`: what a model answered, in one SQLite file under the model and a hash of the text."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from cantle import _core
from cantle.digest import digest

if TYPE_CHECKING:
    import sqlite3

_ASKED = 500
"""Texts looked up in one statement: SQLite takes 999 parameters in its oldest versions."""


class Kept:
    """One table of an open file. Several processes may use one file."""

    def __init__(self, file: sqlite3.Connection, table: str, value: str) -> None:
        """Make the table where there is none."""
        self._file, self._table = file, table
        file.execute(
            f"CREATE TABLE IF NOT EXISTS {table} (model TEXT, text BLOB, {value} BLOB NOT NULL, "
            "PRIMARY KEY (model, text)) WITHOUT ROWID"
        )
        self._value = value

    def find(self, model: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return what is kept of a model under these keys."""
        found: dict[bytes, bytes] = {}
        for first in range(0, len(keys), _ASKED):
            part = keys[first : first + _ASKED]
            marks = ", ".join("?" * len(part))
            rows = self._file.execute(
                f"SELECT text, {self._value} FROM {self._table} "
                f"WHERE model = ? AND text IN ({marks})",
                (model, *part),
            )
            found.update(rows)
        return found

    def keep(self, model: str, pairs: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep values under their keys, all or none of them."""
        with self._file:
            self._file.executemany(
                f"INSERT OR REPLACE INTO {self._table} VALUES (?, ?, ?)",
                [(model, key, value) for key, value in pairs],
            )


@contextmanager
def opened(path: str | os.PathLike[str], table: str, value: str) -> Iterator[Kept]:
    """Yield one table of a file, which is made where there is none.

    Raises:
        SettingError: The file is no cache.
        OSError: It cannot be opened.
    """
    import sqlite3  # `import cantle` stays light.

    name = os.fspath(path)
    try:
        with closing(sqlite3.connect(name, timeout=60)) as file:
            yield Kept(file, table, value)
    except sqlite3.OperationalError as error:
        raise OSError(f"{name}: {error}") from None
    except sqlite3.DatabaseError as error:
        raise _core.SettingError(f"{name}: no cache of {table} ({error})") from None


def key_of(text: str) -> bytes:
    """Return the hash that a text is kept under."""
    return bytes.fromhex(digest(text.encode("utf-8", "surrogatepass"), 16))
