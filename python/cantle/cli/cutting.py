"""Documents to chunks, a bounded batch at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from cantle import OVERSIZE, Chunks, InternalError, TextError
from cantle.cli.inputs import Problem
from cantle.cli.report import Report
from cantle.cli.rows import Batch, Document
from cantle.strategies import Splitting

_DOCUMENTS = 1_000
_BYTES = 16_000_000


def cut(
    strategy: Splitting,
    items: Iterable[Document | Batch | Problem],
    report: Report,
    *,
    threads: int = 0,
    limit: int | None = None,
) -> Iterator[tuple[Chunks, Batch]]:
    """Yield the chunks of the first `limit` documents, with the documents they are cut from.

    The report counts, and hears of problems.
    """
    for batch in _batches(items, limit, report):
        for chunks, part in _split(strategy, batch, threads, report):
            report.chunks += len(chunks)
            report.over += int(np.count_nonzero(chunks.flags & OVERSIZE))
            yield chunks, part
        report.advance()


def _batches(
    items: Iterable[Document | Batch | Problem], limit: int | None, report: Report
) -> Iterator[Batch]:
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
    )


def _split(
    strategy: Splitting, batch: Batch, threads: int, report: Report
) -> Iterator[tuple[Chunks, Batch]]:
    """Yield the chunks of a batch; a document that cannot be cut does not take the others along."""
    try:
        chunks = strategy.split_all(batch.texts, ids=batch.ids, threads=threads)
    except (TextError, InternalError) as error:
        if len(batch) > 1:
            for i in range(len(batch)):
                yield from _split(strategy, batch.part(i, i + 1), threads, report)
        else:
            reason = str(error).replace("texts[0]", "the text", 1)
            file, line = batch.places[0]
            report.problem(Problem(file, "cannot be cut", reason, line))
        return
    report.documents += len(batch)
    report.bytes += batch.size
    yield chunks, batch
