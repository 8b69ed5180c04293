"""Documents to chunks, a bounded batch at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from cantle import OVERSIZE, Chunks
from cantle.cli.checking import Checking
from cantle.cli.inputs import Problem
from cantle.cli.report import Report
from cantle.cli.rows import Batch, Document
from cantle.endpoint import EndpointError
from cantle.strategies import Splitting
from cantle.strategies.meaning import ByMeaning

_DOCUMENTS = 1_000
_BYTES = 16_000_000


def cut(
    strategy: Splitting,
    items: Iterable[Document | Batch | Problem],
    report: Report,
    *,
    threads: int = 0,
    limit: int | None = None,
    checking: Checking | None = None,
) -> Iterator[tuple[Chunks, Batch]]:
    """Yield the chunks of the first `limit` documents, with the documents they are cut from.

    The report counts, and hears of problems.
    """
    for batch in batches(items, limit, report):
        # A title may stand before a chunk; nothing else of the metadata is asked for.
        titled = checking is not None or getattr(strategy, "prefix", None) is not None
        metadata = batch.metadata if titled else None
        chunks = cut_batch(strategy, batch, metadata=metadata, threads=threads)
        report.documents += len(batch) - len(chunks.skipped)
        report.bytes += batch.size
        if checking is not None:
            chunks = checking.kept(chunks, report)
        report.chunks += len(chunks)
        report.over += int(np.count_nonzero(chunks.flags & OVERSIZE))
        yield chunks, batch
        for doc, _, reason in chunks.skipped:
            file, line = batch.places[doc]
            words = reason.replace(f"texts[{doc}]", "the text", 1)
            report.problem(Problem(file, "cannot be cut", words, line))
        report.advance()


class NotEmbedded(Exception):
    """The embedder of a strategy failed; says how."""


def cut_batch(strategy: Splitting, batch: Batch, **settings: Any) -> Chunks:
    """Return the chunks of a batch, without the documents that cannot be cut.

    Raises:
        NotEmbedded: What finds the borders could not be embedded.
    """
    try:
        return strategy.split_all(batch.readable, ids=batch.ids, errors="skip", **settings)
    except Exception as error:
        # Documents that fail are skipped: what a strategy that embeds raises is its embedder's.
        if not isinstance(strategy, ByMeaning) or isinstance(error, MemoryError):
            raise
        if isinstance(error, EndpointError):  # It says of itself what failed.
            raise NotEmbedded(str(error)) from error
        kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        raise NotEmbedded(f"{strategy.strategy}: {kind}{error}") from error


def batches(
    items: Iterable[Document | Batch | Problem], limit: int | None, report: Report
) -> Iterator[Batch]:
    """Yield the first `limit` documents, so many at a time; the report hears of problems."""
    held: list[Document] = []
    size = number = 0
    for item in items:
        if isinstance(item, Problem):
            report.problem(item)
            continue
        if isinstance(item, Batch):
            if held:
                yield _together(held)
                held, size = [], 0
            if limit is not None:
                item = item.part(0, limit - number)
            yield item
            number += len(item)
        else:
            held.append(item)
            size += item.size
            number += 1
        if number == limit:
            report.limited = True
            break
        if len(held) == _DOCUMENTS or size >= _BYTES:
            yield _together(held)
            held, size = [], 0
    if held:
        yield _together(held)


def _together(documents: list[Document]) -> Batch:
    return Batch(
        [document.text for document in documents],
        [document.id for document in documents],
        [(document.file, document.line) for document in documents],
        sum(document.size for document in documents),
        [document.metadata for document in documents],
        forms={doc: document.form for doc, document in enumerate(documents) if document.form},
    )
