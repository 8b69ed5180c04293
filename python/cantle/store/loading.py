"""Chunks into a store, and vectors after them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cantle.embed.door import Embedder, Progress
from cantle.invariants import Check
from cantle.store import writing
from cantle.store.database import Database
from cantle.store.embedding import Owner, Wanted, vectors_for, wanted_of
from cantle.store.parts import Part, known_whole, parts_of, text_hash
from cantle.store.settings import Settings

if TYPE_CHECKING:
    from cantle.chunks import Chunks

_AT_ONCE = 16
"""Batches of the embedder that are written in one transaction of `backfill`."""
Prepared = list[tuple[writing.Document, Part, list[str]]]
"""Of each document: itself, its part, and its texts as they are embedded."""


class Loaded(NamedTuple):
    """What became of chunks that were loaded."""

    documents: int
    chunks: int
    """Chunks that were written."""
    embedded: int
    """Chunks of them that have a vector now."""
    checked: Check
    """What was left out and why: see `cantle.check`."""
    dropped: dict[str, list[str]]
    """Of each document whose text is another now, the strategies whose chunks went with it."""
    untouched: int
    """Documents that were left as they were: of a slice of chunks those without a chunk in it, and
    those that could not be cut."""

    def __repr__(self) -> str:
        skipped = int(np.count_nonzero(self.checked.skip))
        return (
            f"Loaded({self.documents} documents, {self.chunks} chunks, {self.embedded} embedded"
            + (f", {skipped} left out" if skipped else "")
            + (f", {len(self.dropped)} lost chunks of other strategies" if self.dropped else "")
            + (f", {self.untouched} untouched documents" if self.untouched else "")
            + ")"
        )


def load(
    database: Database,
    settings: Settings,
    chunks: Chunks,
    checked: Check,
    embedder: Embedder | None,
    *,
    batch_size: int,
    progress: Progress | None,
    replace: bool,
    pool: writing.Vectors,
) -> Loaded:
    """Write chunks and those that they were cut within, in one transaction.

    Args:
        database: Where to.
        settings: What the store remembers.
        chunks: In the order of their documents.
        checked: What is to be left out.
        embedder: What embeds the texts that were not; None: they wait.
        batch_size: Most texts in a call of the embedder.
        progress: Called after each batch.
        replace: Whether chunks of the same name and other settings are replaced.
        pool: Vectors that are known beside those of the documents' old chunks.
    """
    docs = known_whole(chunks)
    documents = [writing.Document.of(chunks.documents, doc) for doc in docs]
    cut = parts_of(chunks, checked.keep, docs, settings.by_document)
    prepared = [(document, *pair) for document, pair in zip(documents, cut, strict=True)]
    above = []
    within = chunks.parents
    while within is not None:
        kept = np.ones(len(within), bool)
        above.append(
            (within, [part for part, _ in parts_of(within, kept, docs, settings.by_document)])
        )
        within = within.parents
    with database.read() as connection:  # Before anything is embedded.
        for at, (document, part, _) in enumerate(prepared):
            over = [(own.name, parts[at]) for own, parts in above]
            writing.check_fits(connection, document, [(chunks.name, part), *over])
    known = pool
    if embedder is not None:
        known = pool | _embedded(
            database, embedder, chunks.name, prepared, pool, batch_size, progress
        )
    written = embedded = 0
    dropped: dict[str, list[str]] = {}
    with database.write() as connection:
        settings.write(connection)
        numbers = [
            writing.strategy_number(connection, own, searched=False, replace=replace)
            for own, _ in above
        ]
        number = writing.strategy_number(connection, chunks, searched=True, replace=replace)
        for at, (document, part, _) in enumerate(prepared):
            there = writing.old_vectors(connection, document.id) | known
            source, lost = writing.write_source(connection, document, number)
            lost = [name for name in lost if name not in {own.name for own, _ in above}]
            if lost:
                dropped[document.id] = lost
            for strategy, (own, parts) in zip(numbers, above, strict=True):
                told = own.fingerprint
                if not writing.is_searched(connection, source, strategy, told):
                    writing.write_part(connection, source, strategy, parts[at], told, there)
            if writing.write_part(connection, source, number, part, chunks.fingerprint, there):
                embedded += len(part.rows)
            written += len(part.rows)
    untouched = len(chunks.documents) - len(docs)
    return Loaded(len(docs), written, embedded, checked, dropped, untouched)


def _embedded(
    database: Database,
    embedder: Embedder,
    strategy: str,
    prepared: Prepared,
    pool: writing.Vectors,
    batch_size: int,
    progress: Progress | None,
) -> writing.Vectors:
    """Return the vectors of texts that have none yet; each text is embedded once."""
    new: dict[bytes, Wanted] = {}
    there: writing.Vectors = {}
    with database.read() as connection:
        for document, part, texts in prepared:
            own = writing.old_vectors(connection, document.id)
            owner = Owner(document.id, strategy, part, document.text)
            for told, one in wanted_of(owner, texts):
                if told in own:
                    there[told] = own[told]
                elif told not in pool:
                    new.setdefault(told, one)
            for text in writing.added_texts(connection, document.id, strategy):
                if (told := text_hash(text)) not in own and told not in pool:
                    new.setdefault(told, Wanted(text, f"an added chunk of {document.id!r}"))
    new = {told: one for told, one in new.items() if told not in there}
    return there | vectors_for(embedder, new, batch_size, progress)


def backfill(
    database: Database,
    settings: Settings,
    embedder: Embedder,
    batch_size: int,
    progress: Progress | None,
) -> int:
    """Embed what has no vector, some parts in a transaction; returns how many chunks those were."""
    with database.write(counted=False) as connection:
        settings.write(connection)
        total = writing.count_waiting(connection)
    done, after = 0, 0
    while batch := _next(database, after, _AT_ONCE * batch_size):
        after = batch[-1].number
        new: dict[bytes, Wanted] = {}  # What stands in several places is embedded once.
        for part in batch:
            for told, one in wanted_of(Owner(*part[2:]), part.texts):
                new.setdefault(told, one)
        known = vectors_for(embedder, new, batch_size, _from(progress, done, total))
        with database.write() as connection:
            settings.write(connection)
            for part in batch:
                if writing.set_vectors(connection, part, known):
                    done += len(part.part.rows)
        if progress is not None:
            progress(done, max(total, done))
    return done


def _next(database: Database, after: int, most: int) -> list[writing.Waiting]:
    """Return parts without vectors behind a part, of about `most` chunks."""
    batch: list[writing.Waiting] = []
    count = 0
    with database.read() as connection:
        for part in writing.waiting(connection, after):
            batch.append(part)
            count += len(part.part.rows)
            if count >= most:
                break
    return batch


def _from(progress: Progress | None, done: int, total: int) -> Progress | None:
    if progress is None:
        return None
    return lambda count, _: progress(done + count, max(total, done + count))
