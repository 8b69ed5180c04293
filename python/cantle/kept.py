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

    def __init__(self, file: sqlite3.Connection, path: str, table: str, value: str) -> None:
        """Make the table where there is none."""
        self._file, self._path, self._table, self._value = file, path, table, value
        with _told(path, table):
            file.execute(
                f"CREATE TABLE IF NOT EXISTS {table} (model TEXT, text BLOB, {value} BLOB NOT NULL,"
                " PRIMARY KEY (model, text)) WITHOUT ROWID"
            )

    def find(self, model: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return what is kept of a model under these keys."""
        found: dict[bytes, bytes] = {}
        for first in range(0, len(keys), _ASKED):
            part = keys[first : first + _ASKED]
            marks = ", ".join("?" * len(part))
            with _told(self._path, self._table):
                rows = self._file.execute(
                    f"SELECT text, CAST({self._value} AS BLOB) FROM {self._table} "
                    f"WHERE model = ? AND text IN ({marks})",
                    (model, *part),
                )
                found.update(rows)
        return found

    def any(self, model: str) -> bytes | None:
        """Return some value of a model, if there is one."""
        with _told(self._path, self._table):
            rows = self._file.execute(
                f"SELECT CAST({self._value} AS BLOB) FROM {self._table} WHERE model = ? LIMIT 1",
                (model,),
            )
            return next((value for (value,) in rows), None)

    def check_writable(self) -> None:
        """Fail where nothing can be written, before what would be is paid for."""
        # No row is without a model: this takes the lock, and changes nothing.
        with _told(self._path, self._table), self._file:
            self._file.execute(f"DELETE FROM {self._table} WHERE model IS NULL")

    def keep(self, model: str, pairs: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep values under their keys, all or none of them."""
        rows = [(model, key, value) for key, value in pairs]
        with _told(self._path, self._table), self._file:
            self._file.executemany(f"INSERT OR REPLACE INTO {self._table} VALUES (?, ?, ?)", rows)


@contextmanager
def opened(path: str | os.PathLike[str], table: str, value: str) -> Iterator[Kept]:
    """Yield one table of a file, which is made where there is none.

    What a caller does in between may raise anything, and it comes out as it is.

    Raises:
        SettingError: The file is no cache.
        OSError: It cannot be opened.
    """
    import sqlite3  # `import cantle` stays light.

    # SQLite has names of its own, such as `:memory:`, which keep nothing.
    name = os.path.abspath(path)
    with _told(name, table):
        file = sqlite3.connect(name, timeout=60)
    with closing(file):
        yield Kept(file, name, table, value)


@contextmanager
def _told(path: str, table: str) -> Iterator[None]:
    """Tell of the file in the exceptions that SQLite raises."""
    import sqlite3

    try:
        yield
    except sqlite3.DatabaseError as error:
        # A table of the same name that another program made has other columns.
        foreign = "no such column" in str(error)
        if isinstance(error, sqlite3.OperationalError) and not foreign:
            raise OSError(f"{path}: {error}") from None
        raise _core.SettingError(f"{path}: no cache of {table} ({error})") from None


def check_path(name: str, path: object) -> None:
    """Raise unless a setting can name a file.

    Raises:
        TypeError: It is no path.
        SettingError: It is empty, or holds a NUL.
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"{name} ({path!r}) must be a path")
    given = os.fspath(path)
    if not given or "\0" in given:
        raise _core.SettingError(f"{name} ({given!r}) names no file")


def key_of(text: str) -> bytes:
    """Return the hash that a text is kept under."""
    return bytes.fromhex(digest(text.encode("utf-8", "surrogatepass"), 16))
