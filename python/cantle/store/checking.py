"""Whether a store holds what it says: `Store.check`, and what it holds: `Store.info`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from cantle import units
from cantle.digest import hash_parts
from cantle.store import writing
from cantle.store.database import Database, StoreError, setting
from cantle.store.parts import HASH, ROW, embedded_texts, hashes_of, unpacked
from cantle.store.pieces import joined
from cantle.store.searching import Searcher, damage_of_index, index_path
from cantle.store.snapshot import vectors_of

if TYPE_CHECKING:
    import sqlite3


def problems(database: Database) -> list[str]:
    """Return what is wrong with a store, in words; nothing where all is right.

    Every text is hashed and every vector read: that a vector is of its text, that spans lie in
    their documents, that a part is what its stamp says. So is the index, byte by byte.
    """
    found: list[str] = []
    try:
        with database.read() as connection:
            found += [
                f"the file: {row[0]}"
                for row in connection.execute("PRAGMA integrity_check")
                if row[0] != "ok"
            ]
            found += [
                f"the file: a row of {row[0]} points to none of {row[2]}"
                for row in connection.execute("PRAGMA foreign_key_check")
            ]
            if not found:
                found += _sources(connection)
            if not found:
                found += _parts(connection)
        found += damage_of_index(database)
    except StoreError as error:
        if database.closed:
            raise
        found.append(str(error))
    return found


def _sources(connection: sqlite3.Connection) -> Iterator[str]:
    for name, title, metadata, told, characters, text in connection.execute(
        "SELECT id, title, metadata, hash, characters, text FROM source ORDER BY source"
    ):
        if hash_parts((title.encode(), metadata.encode(), text), HASH) != told:
            yield f"document {name!r}: it is not what was written"
        elif len(text.decode()) != characters:
            yield f"document {name!r}: it has not {characters} characters"


def _parts(connection: sqlite3.Connection) -> Iterator[str]:
    """Yield what is wrong with parts; the documents were found to be right."""
    precision = setting(connection, "precision", "float32")
    dimensions = setting(connection, "dimensions", 0)
    by_document = bool(setting(connection, "by_document", 0))
    width = dimensions * (2 if precision == "float16" else 4)
    for (
        number,
        name,
        strategy,
        stamp,
        chunks,
        rows,
        tables,
        hashes,
        first,
        text,
    ) in connection.execute(
        "SELECT part, id, name, stamp, chunks, rows, tables, hashes, vectors, text FROM part "
        "JOIN source USING (source) JOIN strategy USING (strategy) ORDER BY part"
    ):
        vectors = None if first is None else joined(connection, number, first)
        called = f"{strategy} of {name!r}"
        if len(rows) != chunks * ROW.itemsize or len(hashes) != chunks * HASH:
            yield f"{called}: {chunks} chunks, and rows of another number"
            continue
        try:
            part = unpacked(rows, tables, hashes)
            written = part.stamp(name, strategy, vectors) == stamp
        except (ValueError, TypeError):  # Tables that are none.
            written = False
        if not written:
            yield f"{called}: it is not what was written"
            continue
        there = part.rows["byte_start"] >= 0
        if np.any(part.rows["byte_end"][there] > len(text)):
            yield f"{called}: a chunk ends outside of the document"
            continue
        if hashes_of(part.rows, embedded_texts(part, text), text, by_document) != hashes:
            yield f"{called}: a text is not what was hashed"
        if vectors is None:
            continue
        if len(vectors) != chunks * width:
            yield f"{called}: {len(vectors)} bytes of vectors for {chunks} chunks"
        elif not np.isfinite(vectors_of(vectors, precision, dimensions)).all():
            yield f"{called}: a vector with a NaN or an infinity"


def facts(database: Database, searcher: Searcher, chosen: str) -> dict[str, Any]:
    """Return what a store holds, as plain values."""
    snapshot = searcher.snapshot
    with database.read() as connection:
        kept = {
            name: setting(connection, name)
            for name in ("embedder", "embedder_name", "dimensions", "precision")
        }
        waiting = writing.count_waiting(connection)
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        (page,) = connection.execute("PRAGMA page_size").fetchone()
        (characters,) = connection.execute(
            "SELECT coalesce(sum(characters), 0) FROM source"
        ).fetchone()
    if kept["embedder"] is not None:
        kept["embedder"] = units.readable(kept["embedder"])
    file = index_path(database)
    strategies = []
    for at, row in enumerate(snapshot.strategies):
        own = snapshot.strategy == at
        strategies.append(
            {
                "name": row.name,
                "chunks": int(np.count_nonzero(own)),
                "unit": row.unit,
                "fingerprint": row.fingerprint,
                "within": row.within,
                "searched": row.searched,
                "blend": list(searcher.weights.get(at, ())),
            }
        )
    return {
        "path": database.path,
        "version": version,
        "generation": snapshot.generation,
        "documents": len(snapshot.sources),
        "characters": characters,
        "chunks": len(snapshot),
        "embedded": int(np.count_nonzero(snapshot.embedded)),
        "waiting": waiting,
        "zero_vectors": searcher.unranked,
        **kept,
        "strategies": strategies,
        "index": chosen,
        "bytes": pages * page,
        "index_bytes": file.stat().st_size if not database.in_memory and file.is_file() else 0,
    }
