"""The file of a store: its tables, its versions, its transactions.

What the rows of chunks mean stands in `parts.py`; here nothing is known of them but bytes.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cantle import _core

if TYPE_CHECKING:
    import sqlite3

APPLICATION = 0x63746C65
"""What tells the file from other SQLite files: "ctle"."""
VERSION = 2
"""The version of the tables below."""
_PAGE = 16_384
_LEAST = 512
"""Bytes of the smallest database."""
_WAIT = 60.0
"""Seconds to wait for another process that writes."""

_TABLES = """
CREATE TABLE setting (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE source (
    source INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, title TEXT NOT NULL,
    metadata TEXT NOT NULL, hash BLOB NOT NULL, characters INTEGER NOT NULL, text BLOB NOT NULL
);
CREATE TABLE strategy (
    strategy INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, fingerprint TEXT NOT NULL,
    unit TEXT NOT NULL, within TEXT, searched INTEGER NOT NULL
);
CREATE TABLE part (
    part INTEGER PRIMARY KEY, strategy INTEGER NOT NULL REFERENCES strategy,
    source INTEGER NOT NULL REFERENCES source, stamp BLOB NOT NULL,
    fingerprint TEXT NOT NULL, chunks INTEGER NOT NULL,
    rows BLOB NOT NULL, tables TEXT NOT NULL, hashes BLOB NOT NULL, vectors BLOB,
    UNIQUE (strategy, source)
);
CREATE INDEX part_of_source ON part (source);
CREATE INDEX part_without_vectors ON part (strategy) WHERE vectors IS NULL;
"""
_MIGRATIONS: dict[int, str] = {
    1: """
CREATE TABLE more (
    part INTEGER NOT NULL REFERENCES part ON DELETE CASCADE, piece INTEGER NOT NULL,
    vectors BLOB NOT NULL, PRIMARY KEY (part, piece)
) WITHOUT ROWID;
"""
}
"""What leads from each older version to the one after it; to the first, the tables above."""
_LACKED: dict[int, str] = {1: "CREATE TEMP TABLE more (part, piece, vectors)"}
"""What stands, for who may only read, in place of what a file of an older version lacks."""


class StoreError(ValueError):
    """A store cannot be read: it is damaged, of a later version, or none."""


class Moved(StoreError):
    """The store was written while, or since, it was read."""


class Database:
    """One connection to the file, for one thread at a time; other threads wait.

    A write is a transaction: it is there whole, or not at all. Readers in other processes see the
    file as it was before, until it is done.
    """

    def __init__(self, path: str | os.PathLike[str], *, readonly: bool = False) -> None:
        """Open the file, or make it; `:memory:` is kept nowhere.

        Raises:
            StoreError: It is no store, is damaged, or was made by a later version.
            OSError: It cannot be opened.
        """
        self.path = os.fspath(path)
        self.readonly = readonly
        self.lock = threading.RLock()
        """Held by the thread that reads or writes; it guards what is kept of the file as well."""
        self.closed = False
        self._depth = 0
        self._still: tuple[int, ...] | None = None
        self._older: int | None = None
        """The version of a file that lacks what this one has; None where it lacks nothing."""
        self._connection: sqlite3.Connection | None = None
        with self._told():
            self._connection = self._connect()
        _opened.add(self)

    @property
    def in_memory(self) -> bool:
        """Whether it is kept in no file."""
        return self.path == ":memory:"

    def _connect(self) -> sqlite3.Connection:
        import sqlite3  # `import cantle` stays light.

        there = not self.in_memory and Path(self.path).exists()
        if self.readonly and not there:
            raise FileNotFoundError(f"{self.path}: no such store")
        if there and Path(self.path).is_dir():
            raise IsADirectoryError(f"{self.path}: a folder, no store")
        if there and 0 < Path(self.path).stat().st_size < _LEAST:
            raise self.damaged("it is too short")  # SQLite would begin it anew.
        name, uri = self.path, False
        if self.readonly:
            self._still = self._seen()
            mode = "mode=ro" if self._still is None else "mode=ro&immutable=1"
            name, uri = f"{Path(self.path).resolve().as_uri()}?{mode}", True
        connection = sqlite3.connect(
            name, timeout=_WAIT, isolation_level=None, check_same_thread=False, uri=uri
        )
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _seen(self) -> tuple[int, ...] | None:
        """Return what changes with the file where it can be read without a lock; None elsewhere.

        That is where the folder cannot be written, which a lock needs, and no writer has the file
        open, whose changes would stand beside it.
        """
        path = Path(self.path).resolve()
        beside = path.with_name(path.name + "-wal")
        if os.access(path.parent, os.W_OK) or (beside.exists() and beside.stat().st_size):
            return None
        told = path.stat()
        return told.st_ino, told.st_size, told.st_mtime_ns

    def _prepare(self, connection: sqlite3.Connection) -> None:
        if not self.readonly:
            connection.execute(f"PRAGMA page_size = {_PAGE}")
        connection.execute("BEGIN")  # Another process may be making the tables.
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        connection.execute("COMMIT")
        if application != APPLICATION and (tables or application or self.readonly):
            raise StoreError(f"{self.path}: a SQLite file, but no store of cantle")
        if version > VERSION:
            raise StoreError(
                f"{self.path}: made by a later cantle (version {version} of its tables, "
                f"this one knows {VERSION})"
            )
        connection.execute("PRAGMA foreign_keys = ON")
        if self.readonly:
            self._older = version if version < VERSION else None
            for step in range(version, VERSION):
                connection.execute(_LACKED[step])
            return
        _write_ahead(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
        if version < VERSION:
            connection.execute("BEGIN IMMEDIATE")
            try:
                # Another process may have been here first.
                (version,) = connection.execute("PRAGMA user_version").fetchone()
                for step in range(version, VERSION):
                    for statement in (_MIGRATIONS[step] if step else _TABLES).split(";"):
                        connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
                connection.execute(f"PRAGMA user_version = {VERSION}")
                connection.execute("COMMIT")
            except BaseException:
                connection.execute("ROLLBACK")
                raise

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Give the connection to one thread; what is read is of one moment."""
        with self.lock, self._told():
            if self._depth:
                yield self._opened()
                return
            connection = self._begun()
            self._depth += 1
            try:
                yield connection
            finally:
                self._depth -= 1
                connection.execute("COMMIT")
            if self._still is not None and self._still != self._seen():
                raise Moved(f"{self.path}: written while it was read")

    def _begun(self) -> sqlite3.Connection:
        """Return the connection in a transaction that reads."""
        connection, same = self._opened(), self._older is None
        connection.execute("BEGIN")
        if same:
            return connection
        try:
            same = connection.execute("PRAGMA user_version").fetchone() == (self._older,)
        finally:
            if not same:
                connection.execute("COMMIT")
        if not same:  # What stands in place of a table would hide it.
            self.rest()
            connection = self._opened()
            connection.execute("BEGIN")
        return connection

    @contextmanager
    def write(self, *, counted: bool = True) -> Iterator[sqlite3.Connection]:
        """Give the connection to one thread for a transaction.

        Args:
            counted: Whether it is a generation of its own: rows, texts or vectors change.

        Raises:
            OSError: The file cannot be written: the disk is full, the folder is read-only.
        """
        if self.readonly:
            raise StoreError(f"{self.path}: opened to be read only")
        with self.lock, self._told():
            connection = self._opened()
            if self._depth:
                raise _core.InternalError("a transaction inside another")
            connection.execute("BEGIN IMMEDIATE")
            self._depth += 1
            try:
                yield connection
                if counted:
                    connection.execute(
                        "INSERT INTO setting VALUES ('generation', 1) "
                        "ON CONFLICT (name) DO UPDATE SET value = value + 1"
                    )
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            finally:
                self._depth -= 1

    def _opened(self) -> sqlite3.Connection:
        if self.closed:
            raise StoreError(f"{self.path}: the store is closed")
        if self._still is not None and not self._depth and self._still != self._seen():
            self.rest()
        if self._connection is None:  # The process was forked, or another one began to write.
            if not Path(self.path).exists():
                raise FileNotFoundError(f"{self.path}: no longer there")
            self._connection = self._connect()
        return self._connection

    def rest(self) -> None:
        """Close the file until it is needed again, unless this thread is at it."""
        if self._connection is not None and not self.in_memory and not self._depth:
            connection, self._connection = self._connection, None
            connection.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        import sqlite3

        try:
            yield
        except sqlite3.OperationalError as error:
            if "decode" in str(error):
                raise self.damaged(error) from None
            raise OSError(f"{self.path}: {error}{self._beside(str(error))}") from None
        except sqlite3.DataError as error:  # More than SQLite takes in one row.
            raise _core.SettingError(f"a document is too large for a store: {error}") from None
        except sqlite3.DatabaseError as error:
            raise self.damaged(error) from None

    def damaged(self, why: object) -> StoreError:
        """Return the error of a file whose content cannot be what was written."""
        return StoreError(f"{self.path}: damaged, or no store ({why})")

    def _beside(self, error: str) -> str:
        """Return why a store in a folder that cannot be written cannot be read."""
        if not self.readonly or "open" not in error:
            return ""
        return (
            f"; {self.path}-wal holds what is not in it yet: open it once where it can be written"
        )

    def close(self) -> None:
        """Close the file; what reads or writes after that fails."""
        with self.lock, self._told():
            self.closed = True
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()


# SQLite keeps what a process has locked in that process: a forked one would believe that it holds
# locks which it does not, and its writes would be lost. So no open file is carried across a fork,
# and no thread is at one in that moment.
_opened: weakref.WeakSet[Database] = weakref.WeakSet()
_held: dict[int, list[Database]] = {}
"""What each thread holds that forks."""


def _before_fork() -> None:
    held = _held[threading.get_ident()] = []
    for database in sorted(_opened, key=id):
        database.lock.acquire()
        held.append(database)
        with suppress(Exception):
            database.rest()


def _after_fork() -> None:
    for database in _held.pop(threading.get_ident(), ()):
        database.lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Keep what is written in a file beside until it is moved, so that readers need not wait."""
    import sqlite3

    until = time.monotonic() + _WAIT
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            # Of two that change a new file at once SQLite fails one without waiting.
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.01)


def setting(connection: sqlite3.Connection, name: str, default: Any = None) -> Any:
    """Return what is kept under a name."""
    row = connection.execute("SELECT value FROM setting WHERE name = ?", (name,)).fetchone()
    return default if row is None else row[0]


def set_setting(connection: sqlite3.Connection, name: str, value: Any) -> None:
    """Keep a value under a name."""
    connection.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (name, value))
