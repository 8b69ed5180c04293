"""`Store`: documents, chunks and vectors in one file, and what is asked of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from types import EllipsisType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from cantle import _core, units
from cantle.chunks import Chunks
from cantle.documents import Documents, Text, check_not_blank, check_writable
from cantle.embed.door import BATCH_SIZE, Embedder, Progress, embed_all
from cantle.index import Auto, Exact, Hnsw
from cantle.invariants import Check, check
from cantle.store import loading, writing
from cantle.store.database import Database, setting
from cantle.store.loading import Loaded
from cantle.store.parts import embedded_texts, hashes_of, unpacked, with_added
from cantle.store.pieces import first_piece, joined, write_others
from cantle.store.reading import Reading
from cantle.store.searching import (
    Blend,
    build_index,
    checked_blend,
    chosen_index,
    forget_index,
    is_stale,
)
from cantle.store.settings import Settings
from cantle.store.snapshot import Snapshot
from cantle.store.sync import Sync, Synced, batches_of
from cantle.strategies.splitting import Splitting
from cantle.structure import Blocks

if TYPE_CHECKING:
    import sqlite3

    from numpy.typing import NDArray


class Store(Reading):
    """Documents, their chunks by any number of strategies, and vectors, in one SQLite file.

    The file is the truth. Vectors are derived from texts when they are written, so they cannot
    disagree; the index beside it, `PATH.hnsw`, is built from them and never read where it is stale.
    A write is one transaction. One process may write while others read; several threads may share a
    store.

    Example:
        >>> import cantle
        >>> topics = cantle.embed.Keyword(["tea pot", "rain cloud"])
        >>> store = cantle.Store.open(embedder=topics)
        >>> chunks = cantle.Sentence(8, unit="words").split(
        ...     "Warm the pot with some tea. Clouds bring rain in the night.", id="notes"
        ... )
        >>> store.load(chunks, embed=True)
        Loaded(1 documents, 2 chunks, 2 embedded)
        >>> store.search("Will there be clouds?", k=1).ids
        ['notes_sentence_1']
    """

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] = ":memory:",
        embedder: Embedder | str | None = None,
        *,
        index: Auto | Exact | Hnsw | None = None,
        blend: Blend | EllipsisType = ...,
        precision: str | None = None,
        readonly: bool = False,
    ) -> Store:
        """Return the store of a file, which is made where there is none.

        Args:
            path: The file; `:memory:` is kept in memory and lost when it is closed.
            embedder: What turns texts into vectors, or, with `embed_chunks` as `Late`, chunks of a
                document. Default: the one that the store was made with, where it is known by a
                name; `"static"` for a new one.
            index: What searches: `Exact()`, `Hnsw()` or `Auto()`, which takes the one or the other
                by the number of chunks. Default: what the store was opened with before;
                `Auto()` for a new one.
            blend: Whether the index holds each vector blended with its neighbours' in the document:
                `"auto"`, for small units of prose; the weights of the neighbours on each side, as
                in `(0.4, 0.2)`; None, for none. Default: what the store was opened with before;
                `"auto"` for a new one.
            precision: `"float32"`, or `"float16"` for half the file. Of a new store only.
            readonly: Read only: nothing is made, and a read-only folder will do.

        Raises:
            StoreError: The file is no store, is damaged, or was made by a later version.
            SettingError: The store's vectors are of another embedder.
            OSError: The file cannot be opened.
        """
        database = Database(path, readonly=readonly)
        try:
            settings = Settings.of(
                database,
                embedder,
                index,
                blend if isinstance(blend, EllipsisType) else checked_blend(blend),
                precision,
            )
        except BaseException:
            database.close()
            raise
        return cls(database, settings)

    def close(self) -> None:
        """Close the file; searches and writes after that fail."""
        with self._lock:
            self._searcher = None
            self._database.close()

    def __enter__(self) -> Store:
        return self

    def __repr__(self) -> str:
        return f"Store({self.path!r})"

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"a Store cannot be pickled: open {self.path!r} where it is needed")

    def __exit__(self, *_: object) -> None:
        self.close()

    def load(
        self,
        chunks: Chunks,
        *,
        parents: Chunks | None = None,
        embed: bool = False,
        min_chars: int = 20,
        batch_size: int = BATCH_SIZE,
        progress: Progress | None = None,
    ) -> Loaded:
        """Write the chunks of some documents, in one transaction; those of before are replaced.

        Of a slice of chunks, documents without a chunk in it are left as they were, and so are
        documents that could not be cut; a document that has a chunk gets the chunks given here and
        no others. Chunks that `cantle.check` would skip are left out. The chunks that they were cut
        within are written with them, and are searched only if they are loaded for themselves. Of a
        document whose text is another now, the chunks of other strategies go. Chunks whose text was
        embedded before keep their vectors; the others wait for `backfill`, unless `embed` is set.

        Args:
            chunks: In the order of their documents, as every strategy makes them.
            parents: The chunks that they were cut within; `chunks.parents` says it already.
            embed: Whether their vectors are made now, and written in the same transaction.
            min_chars: The fewest characters of a chunk; 0 for any.
            batch_size: Most texts in a call of the embedder.
            progress: Called with how many texts are embedded, and how many there are.

        Raises:
            SettingError: The strategy's name is there with other settings; chunks, or those that
                they were cut within, are not in the order of their documents and ordinals, or one
                is there twice.
            TextError: A text is not UTF-8; a chunk has more tokens than the embedder takes.
        """
        _check_chunks("chunks", chunks)
        if parents is not None and parents is not chunks.parents:
            raise _core.SettingError("parents must be the chunks that these were cut within")
        embedder = self.embedder if embed else None
        checked = self._checked(chunks, min_chars)
        return self._write(chunks, checked, embedder, batch_size, progress)

    def _checked(self, chunks: Chunks, min_chars: int) -> Check:
        """Return what is to be left out; what the embedder would refuse is told before it is asked.

        Raises:
            TextError: A chunk has more tokens than the embedder takes.
        """
        most, unit = self._settings.token_limit or (None, None)
        return check(chunks, most, unit=unit, min_chars=min_chars)

    def _write(
        self,
        chunks: Chunks,
        checked: Check,
        embedder: Embedder | None,
        batch_size: int,
        progress: Progress | None = None,
        *,
        replace: bool = False,
        pool: writing.Vectors | None = None,
    ) -> Loaded:
        return loading.load(
            self._database,
            self._settings,
            chunks,
            checked,
            embedder,
            batch_size=batch_size,
            progress=progress,
            replace=replace,
            pool=pool or {},
        )

    def backfill(
        self, *, batch_size: int = BATCH_SIZE, progress: Progress | None = None, threads: int = 0
    ) -> int:
        """Embed all chunks that have no vector, then build the index; returns how many there were.

        What is embedded is written as it goes on: a call that was stopped goes on where it was.

        Args:
            batch_size: Most texts in a call of the embedder.
            progress: Called with how many chunks are embedded, and how many there are to embed.
            threads: How many threads build the index; 0 is one per core.
        """
        done = loading.backfill(self._database, self._settings, self.embedder, batch_size, progress)
        self.build_index(threads=threads, rebuild=False)
        return done

    def build_index(
        self,
        *,
        rebuild: bool = True,
        threads: int = 0,
        progress: Callable[[int, int], None] | None = None,
    ) -> bool:
        """Build the index beside the file; returns whether it was built.

        Exact search needs none: nothing is built for it.

        Args:
            rebuild: Build it also where the one that is there still serves.
            threads: How many threads build; 0 is one per core.
            progress: Called with how many vectors are in it, and how many there are.
        """
        blend = self._settings.blend

        def act() -> tuple[Snapshot, Hnsw, NDArray[np.float32]] | None:
            snapshot = self.snapshot()
            chosen = chosen_index(self._settings.index, int(np.count_nonzero(snapshot.embedded)))
            if not isinstance(chosen, Hnsw) or self._database.in_memory:
                return None
            if not rebuild and not is_stale(self._database, snapshot, chosen, blend):
                return None
            return snapshot, chosen, snapshot.vectors()

        # Rows and vectors of one moment: others may write all the while.
        found = self._again(act)
        if found is None:
            return False
        snapshot, chosen, vectors = found
        build_index(self._database, snapshot, chosen, blend, vectors, threads, progress)
        with self._lock:
            self._searcher = None
        return True

    def add(self, source: str, strategy: str, text: str) -> str:
        """Add a chunk by hand, with its vector, in one transaction; returns its id.

        It has no place in the document, so it is never joined to others by its span. It stays when
        the document is cut anew, behind the new chunks. Where the document's chunks wait for their
        vectors, it waits with them, and is counted with them.

        Args:
            source: The id of a document that is there.
            strategy: The name of a strategy that is there, and searched.
            text: The text.

        Raises:
            SettingError: There is no such document or strategy, or the strategy's chunks are not
                searched, being parents of others; the text is blank.
        """
        check_not_blank("text", text)
        check_writable("text", text)
        with self._database.read() as connection:
            _part_to_add_to(connection, source, strategy)  # Before anything is paid for.
        vector = embed_all(self.embedder, [text], called=lambda _: "the text")
        with self._database.write() as connection:
            self._settings.write(connection)
            number, unit = _part_to_add_to(connection, source, strategy)
            *old, first = connection.execute(
                "SELECT rows, tables, hashes, vectors FROM part WHERE part = ?", (number,)
            ).fetchone()
            part = with_added(unpacked(*old), text, _size(unit, text))
            vectors = None
            if first is not None:
                own = writing.stored(connection, vector, lambda _: "the text")
                vectors = joined(connection, number, first) + own
            stamp = part.stamp(source, strategy, vectors)
            connection.execute(
                "UPDATE part SET stamp = ?, chunks = ?, rows = ?, tables = ?, hashes = ?, "
                "vectors = ? WHERE part = ?",
                (stamp, *part.packed, first_piece(vectors), number),
            )
            write_others(connection, number, vectors)
            return f"{source}_{strategy}_{part.rows['ordinal'][-1]}"

    def delete(self, source: str) -> int:
        """Remove a document with all its chunks; returns how many chunks those were.

        Raises:
            SettingError: There is no such document.
        """
        with self._database.write() as connection:
            row = connection.execute("SELECT source FROM source WHERE id = ?", (source,)).fetchone()
            if row is None:
                raise _unknown("source", source, connection, "SELECT id FROM source")
            (count,) = connection.execute(
                "SELECT coalesce(sum(chunks), 0) FROM part WHERE source = ?", row
            ).fetchone()
            connection.execute("DELETE FROM part WHERE source = ?", row)
            connection.execute("DELETE FROM source WHERE source = ?", row)
        return int(count)

    def _forget(self, source: str, strategy: str) -> None:
        """Remove a document's chunks of one strategy, and the document if it has no others."""
        with self._database.write() as connection:
            connection.execute(
                "DELETE FROM part WHERE source = (SELECT source FROM source WHERE id = ?) AND "
                "strategy = (SELECT strategy FROM strategy WHERE name = ?)",
                (source, strategy),
            )
            connection.execute(
                "DELETE FROM source WHERE id = ? AND source NOT IN (SELECT source FROM part)",
                (source,),
            )

    def change_embedder(self, embedder: Embedder | str) -> None:
        """Take another embedder: all vectors go, and `backfill` makes the new ones."""
        settings = self._settings.with_embedder(embedder)
        with self._database.write() as connection:
            connection.execute("UPDATE part SET vectors = NULL")
            connection.execute("DELETE FROM more")
            other = bool(setting(connection, "by_document", 0)) != settings.by_document
            for (number,) in connection.execute("SELECT part FROM part").fetchall():
                source, strategy, text, *packed = connection.execute(
                    "SELECT id, name, text, rows, tables, hashes FROM part "
                    "JOIN source USING (source) JOIN strategy USING (strategy) WHERE part = ?",
                    (number,),
                ).fetchone()
                part = unpacked(*packed)
                if other:
                    texts = embedded_texts(part, text)
                    hashes = hashes_of(part.rows, texts, text, settings.by_document)
                    part = part._replace(hashes=hashes)
                connection.execute(
                    "UPDATE part SET stamp = ?, hashes = ? WHERE part = ?",
                    (part.stamp(source, strategy, None), part.hashes, number),
                )
            connection.execute("DELETE FROM setting WHERE name IN ('dimensions', 'embedder')")
            settings.write(connection)
        self._settings = settings
        forget_index(self._database)

    def sync(
        self,
        documents: Iterable[Text | Blocks | Documents] | Documents,
        *,
        strategy: Splitting,
        ids: Iterable[str] | None = None,
        metadata: Iterable[Mapping[str, Any]] | None = None,
        prune: bool | Callable[[], bool] = True,
        dry_run: bool = False,
        min_chars: int = 20,
        batch_size: int = BATCH_SIZE,
        threads: int = 0,
        progress: Callable[[int], None] | None = None,
    ) -> Synced:
        """Bring the store to the state of some documents; returns what that took.

        Documents whose text, title and metadata are what they were, and were cut with the same
        settings, are not touched. The others are cut anew, and only texts that no chunk of the
        store had are embedded. A run that is stopped goes on where it was.

        Args:
            documents: The texts, or their `Blocks`; or `Documents`, one or many, which are read
                as they are needed.
            strategy: What cuts them.
            ids: One id per text: a document is known by it.
            metadata: One mapping per text.
            prune: Whether chunks of the strategy go that are of documents which are not among
                these; a callable is asked when all were read.
            dry_run: Write and embed nothing; say what would be done.
            min_chars: As for `load`.
            batch_size: Most texts in a call of the embedder.
            threads: How many threads cut; 0 is one per core.
            progress: Called with how many documents are done.
        """
        if not isinstance(strategy, Splitting):
            raise TypeError(f"strategy ({strategy!r}) must be a strategy, such as Recursive(75)")
        run = Sync(
            self,
            strategy,
            dry_run=dry_run,
            batch_size=batch_size,
            min_chars=min_chars,
            threads=threads,
        )
        done = 0
        for part in batches_of(documents, ids, metadata):
            run.take(part)
            done += len(part)
            if progress is not None:
                progress(done)
        return run.finish(prune() if callable(prune) else prune)


def _check_chunks(name: str, chunks: object) -> None:
    if not isinstance(chunks, Chunks):
        raise TypeError(f"{name} must be Chunks, not {type(chunks).__qualname__}")
    level: Chunks | None = chunks
    while level is not None:
        if np.any(np.diff(level.doc) < 0):
            raise _core.SettingError(f"{name} must be in the order of their documents")
        # Ids are made of it, and what stands beside a chunk is found by it.
        wrong = (np.diff(level.doc) == 0) & (np.diff(level.ordinal) <= 0)
        if wrong.any():
            at = int(np.argmax(wrong))
            raise _core.SettingError(
                f"{name} must be in the order of their ordinals, each once: "
                f"{level.ids[at + 1]!r} stands behind {level.ids[at]!r}"
            )
        level, name = level.parents, f"{name}.parents"


def _part_to_add_to(connection: sqlite3.Connection, source: str, strategy: str) -> tuple[int, str]:
    """Return the number of the part that a chunk may be added to by hand, and its unit.

    Raises:
        SettingError: There is none, or it is not searched: the chunk would never be found.
    """
    row = connection.execute(
        "SELECT strategy, unit, searched FROM strategy WHERE name = ?", (strategy,)
    ).fetchone()
    if row is None:
        raise _unknown("strategy", strategy, connection, "SELECT name FROM strategy")
    number, unit, searched = row
    if not searched:
        raise _core.SettingError(
            f"strategy ({strategy!r}) is not searched: its chunks are parents of others; add to "
            "the chunks within them, or load these for themselves before"
        )
    found = connection.execute(
        "SELECT part FROM part JOIN source USING (source) WHERE id = ? AND strategy = ?",
        (source, number),
    ).fetchone()
    if found is None:
        there = f"SELECT id FROM source JOIN part USING (source) WHERE strategy = {number}"
        raise _unknown("source", source, connection, there, f" under {strategy!r}")
    return found[0], unit


def _unknown(
    name: str, value: str, connection: sqlite3.Connection, known: str, where: str = ""
) -> Exception:
    there = [row[0] for row in connection.execute(f"{known} LIMIT 10")]
    told = ", ".join(map(repr, there)) or "none"
    return _core.SettingError(f"{name} ({value!r}) is not there{where}; there are {told}")


def _size(unit: str, text: str) -> int:
    try:
        return int(units.sizes(units.resolve(unit), [text])[0])
    except (ValueError, OSError):  # A callable, or a tokenizer by a path that is gone.
        return -1
