"""`Store.sync`: a store is brought to the state of some documents, with as little as it takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cantle import _core, units
from cantle.documents import Documents, Text
from cantle.store import writing
from cantle.store.parts import ADDED_AT, HASH, parts_of, text_hash, unpacked
from cantle.structure import Blocks

if TYPE_CHECKING:
    import sqlite3

    from numpy.typing import NDArray

    from cantle.chunks import Chunks
    from cantle.store.store import Store
    from cantle.strategies.splitting import Splitting

_AT_ONCE = 200
"""Documents of one transaction: what a run that is stopped has to do again at most."""


class Synced(NamedTuple):
    """What `Store.sync` did, or would do."""

    documents: dict[str, int]
    """How many documents were `unchanged`, `changed`, `new` and `gone`."""
    chunks: dict[str, int]
    """How many chunks are `unchanged`, `moved` (the same text elsewhere), `new` and `gone`.

    Those that were added by hand count as well: unchanged while their document is there, and gone
    with it. So unchanged, moved and new are what the documents have now; unchanged, moved and gone
    what they had.
    """
    embedded: int
    """Texts that were embedded."""
    units: int
    """Their sizes together, in the strategy's unit."""
    left_out: int
    """Chunks that `cantle.check` would skip."""
    dropped: dict[str, list[str]]
    """Of each changed document, other strategies whose chunks went with its old text."""
    skipped: tuple[tuple[str, str], ...]
    """Documents that could not be cut, and why; of those the store keeps what it had."""
    warnings: tuple[str, ...]
    """What to know: that measurements made before no longer hold."""
    dry_run: bool

    def __str__(self) -> str:
        def told(counts: dict[str, int]) -> str:
            return ", ".join(f"{count} {name}" for name, count in counts.items())

        lines = [
            f"documents: {told(self.documents)}",
            f"chunks: {told(self.chunks)}",
            f"{'to embed' if self.dry_run else 'embedded'}: {self.embedded} texts, "
            f"{self.units} units",
        ]
        if self.left_out:
            lines.append(f"left out: {self.left_out} chunks (see cantle.check)")
        lines += [f"skipped: {name}: {why}" for name, why in self.skipped]
        lines += [f"warning: {warning}" for warning in self.warnings]
        return "\n".join(lines)


class Sync:
    """One run of `Store.sync`: documents come some at a time."""

    def __init__(
        self,
        store: Store,
        strategy: Splitting,
        *,
        dry_run: bool,
        batch_size: int,
        min_chars: int,
        threads: int,
    ) -> None:
        """Keep what is to be done, and read what was embedded already."""
        self._store = store
        self._strategy = strategy
        self._name = strategy.name or strategy.strategy
        self._dry_run = dry_run
        self._batch_size = batch_size
        self._min_chars = min_chars
        self._threads = threads
        self._seen: set[str] = set()
        self._documents = dict.fromkeys(("unchanged", "changed", "new", "gone"), 0)
        self._unchanged = self._embedded = self._units = self._left_out = 0
        self._lost: Counter[bytes] = Counter()
        """Texts of old chunks that their documents no longer have."""
        self._found: Counter[bytes] = Counter()
        """Texts of chunks that their documents did not have."""
        self._new: dict[bytes, str] = {}
        """Texts that are embedded in this run, and a document that each is in."""
        self._kept: writing.Vectors = {}
        """Vectors of texts that documents lost in this run: they may have moved to others."""
        self._dropped: dict[str, list[str]] = {}
        self._skipped: list[tuple[str, str]] = []
        self._warnings: list[str] = []
        with store._database.read() as connection:
            self._known = writing.Known(connection)
            row = connection.execute(
                "SELECT fingerprint FROM strategy WHERE name = ?", (self._name,)
            ).fetchone()
        if row is not None and row[0] != strategy.fingerprint:
            self._warnings.append(
                f"{self._name!r} is cut with other settings than before: what was measured with "
                "this store no longer holds"
            )

    def take(self, documents: Documents) -> None:
        """Bring some documents up to date."""
        changed = [doc for doc in range(len(documents)) if not self._is_unchanged(documents, doc)]
        for first in range(0, len(changed), _AT_ONCE):
            self._cut(_chosen(documents, changed[first : first + _AT_ONCE]))

    def _is_unchanged(self, documents: Documents, doc: int) -> bool:
        name = documents.id(doc)
        if name in self._seen:
            raise _core.SettingError(f"document {name!r} is there twice")
        self._seen.add(name)
        with self._store._database.read() as connection:
            known = connection.execute(
                "SELECT hash, part.fingerprint, chunks, vectors IS NULL FROM source "
                "JOIN part USING (source) JOIN strategy USING (strategy) WHERE id = ? AND name = ?",
                (name, self._name),
            ).fetchone()
        if known is None or known[1] != self._strategy.fingerprint or known[3]:
            return False
        try:
            document = writing.Document.of(documents, doc)
        except UnicodeError:  # What cuts it says what is wrong with it.
            return False
        if document.hash != known[0]:
            return False
        self._documents["unchanged"] += 1
        self._unchanged += known[2]
        return True

    def _cut(self, documents: Documents) -> None:
        chunks = self._strategy._cut(documents, self._threads, True)
        bad = {skipped.doc for skipped in chunks.skipped}
        if bad:
            self._skipped += [(skipped.id, skipped.reason) for skipped in chunks.skipped]
            good = [doc for doc in range(len(documents)) if doc not in bad]
            if not good:
                return
            chunks = self._strategy._cut(_chosen(documents, good), self._threads, True)
        checked = self._store._checked(chunks, self._min_chars)
        self._left_out += int(np.count_nonzero(checked.skip))
        hashes = self._count(chunks, checked.keep)
        if not self._dry_run:
            with self._store._database.read() as connection:
                pool = self._pool(connection, chunks, set(hashes))
            loaded = self._store._write(
                chunks, checked, self._store.embedder, self._batch_size, replace=True, pool=pool
            )
            self._dropped |= loaded.dropped

    def _pool(
        self, connection: sqlite3.Connection, chunks: Chunks, hashes: set[bytes]
    ) -> writing.Vectors:
        """Return the vectors of texts that have one, here or in what was written before."""
        pool = self._known.vectors(connection, hashes)
        pool |= {told: self._kept[told] for told in hashes & self._kept.keys()}
        for name in {self._new[told] for told in hashes & self._new.keys() - pool.keys()}:
            pool |= writing.old_vectors(connection, name)
        for doc in range(len(chunks.documents)):
            own = writing.old_vectors(connection, chunks.documents.id(doc))
            self._kept |= {told: vector for told, vector in own.items() if told not in hashes}
        return pool

    def _count(self, chunks: Chunks, keep: NDArray[np.bool_]) -> list[bytes]:
        """Count what is new among the chunks, and what has moved; returns their texts' hashes."""
        new: list[str] = []
        hashes: list[bytes] = []
        with self._store._database.read() as connection:
            docs = range(len(chunks.documents))
            parts = parts_of(chunks, keep, docs, self._store._settings.by_document)
            for doc, (part, texts) in zip(docs, parts, strict=True):
                name = chunks.documents.id(doc)
                old = _spans_before(connection, name, self._name)
                self._documents["new" if old is None else "changed"] += 1
                here = Counter(old or [])
                own: Counter[bytes] = Counter()
                for row, text in enumerate(texts):
                    told = part.hashes[HASH * row : HASH * (row + 1)]
                    hashes.append(told)
                    place = (int(part.rows["byte_start"][row]), told)
                    if here[place]:
                        here[place] -= 1
                        self._unchanged += 1
                    else:
                        own[told] += 1
                    if told not in self._known and told not in self._new:
                        self._new[told] = name
                        new.append(text)
                for text in writing.added_texts(connection, name, self._name):
                    told = text_hash(text)
                    hashes.append(told)
                    here[ADDED_AT, told] -= 1
                    self._unchanged += 1
                    if told not in self._known and told not in self._new:
                        self._new[told] = name
                        new.append(text)
                self._found += own
                for (_, told), count in here.items():
                    self._lost[told] += count
        self._embedded += len(new)
        unit = units.resolve(self._strategy.unit)
        self._units += int(units.sizes(unit, new, self._threads).sum())
        return hashes

    def finish(self, prune: bool) -> Synced:
        """Remove what is gone, if that is asked for; returns what was done."""
        if prune:
            self._remove()
        moved = (self._found & self._lost).total()
        if not self._dry_run:
            self._store.build_index(rebuild=False, threads=self._threads)
        return Synced(
            self._documents,
            {
                "unchanged": self._unchanged,
                "moved": moved,
                "new": self._found.total() - moved,
                "gone": self._lost.total() - moved,
            },
            self._embedded,
            self._units,
            self._left_out,
            self._dropped,
            tuple(self._skipped),
            tuple(self._warnings),
            self._dry_run,
        )

    def _remove(self) -> None:
        with self._store._database.read() as connection:
            there = [
                name
                for (name,) in connection.execute(
                    "SELECT id FROM source JOIN part USING (source) JOIN strategy USING (strategy) "
                    "WHERE name = ? ORDER BY source",
                    (self._name,),
                )
            ]
            gone = [name for name in there if name not in self._seen]
            for name in gone:
                old = _spans_before(connection, name, self._name) or []
                self._lost.update(told for _, told in old)
        self._documents["gone"] = len(gone)
        if not self._dry_run:
            for name in gone:
                self._store._forget(name, self._name)


def _chosen(documents: Documents, rows: Sequence[int]) -> Documents:
    """Return some of the documents."""
    blocks = documents.blocks
    texts = [
        documents.texts[doc] if blocks is None or blocks[doc] is None else blocks[doc]
        for doc in rows
    ]
    metadata = [documents.metadata(doc) for doc in rows]
    return Documents(texts, [documents.id(doc) for doc in rows], metadata)  # type: ignore[arg-type]


def _spans_before(
    connection: sqlite3.Connection, name: str, strategy: str
) -> list[tuple[int, bytes]] | None:
    """Return start and hash of each chunk that a document had; None where it is new.

    What was added by hand has no place, and so starts at `ADDED_AT`.
    """
    row = connection.execute(
        "SELECT rows, tables, hashes FROM part JOIN source USING (source) "
        "JOIN strategy USING (strategy) WHERE id = ? AND name = ?",
        (name, strategy),
    ).fetchone()
    if row is None:
        return None
    part = unpacked(*row)
    starts = part.rows["byte_start"].tolist()
    return [(start, part.hashes[HASH * at : HASH * (at + 1)]) for at, start in enumerate(starts)]


def batches_of(
    documents: Iterable[Text | Blocks | Documents] | Documents,
    ids: Iterable[str] | None,
    metadata: Iterable[Mapping[str, Any]] | None,
) -> Iterator[Documents]:
    """Yield documents as they come: one `Documents`, many, or texts.

    Raises:
        TypeError: They are none of these.
        SettingError: Ids or metadata are given for what has its own.
    """
    if isinstance(documents, str | bytes) or not isinstance(documents, Iterable | Documents):
        kind = type(documents).__qualname__
        raise TypeError(f"documents must be texts or Documents, not {kind}")
    if isinstance(documents, Documents):
        documents = (documents,)
    given = iter(documents)
    first = next(given, None)
    if first is None or not isinstance(first, Documents):
        texts = () if first is None else (first, *given)
        yield Documents(texts, ids, metadata)  # type: ignore[arg-type]
        return
    if ids is not None or metadata is not None:
        raise _core.SettingError("ids and metadata are part of Documents")
    yield first
    yield from given  # type: ignore[misc]
