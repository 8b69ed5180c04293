"""A part: the chunks of one document under one strategy, as bytes of the database and back.

A part is what is written and replaced at once. Its rows are packed; paths of headings, and what
stands around a text when it is embedded, are tables beside them, since many rows share them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cantle.digest import hash_parts, hasher
from cantle.structure import KINDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cantle.chunks import Chunks
    from cantle.documents import Documents

ADDED = 1 << 17
"""The flag of a chunk that was added by hand: it has no place in the document."""

ADDED_AT = -1
"""Where such a chunk starts and ends, in bytes, characters and bytes of the source."""

ROW = np.dtype(
    [
        ("ordinal", "<i4"),
        ("parent", "<i4"),  # the ordinal of the chunk that it was cut within; -1: none
        ("path", "<i4"),  # its row in the table of headings
        ("around", "<i4"),  # its row in the table of what stands around texts
        ("flags", "<u4"),
        ("kind", "u1"),
        ("byte_start", "<i8"),
        ("byte_end", "<i8"),
        ("char_start", "<i8"),
        ("char_end", "<i8"),
        ("source_start", "<i8"),
        ("source_end", "<i8"),
        ("size", "<i8"),
    ]
)
HASH = 16
"""Bytes of the hash of a text."""


class Tables(NamedTuple):
    """What the rows of a part point into."""

    paths: list[list[str]]
    """Paths of headings; the first is empty."""
    around: list[list[str]]
    """Pairs: what stands before a text when it is embedded, and behind; the first is empty."""
    added: list[str]
    """The texts of chunks that were added by hand, in the order of their rows."""


class Part(NamedTuple):
    """What is written of one document under one strategy."""

    rows: NDArray[np.void]
    tables: Tables
    hashes: bytes
    """The hash of what each vector is of, `HASH` bytes each; see `hashes_of`."""

    @property
    def packed(self) -> tuple[int, bytes, str, bytes]:
        """Number of rows, rows, tables and hashes, as they stand in the database."""
        tables = "" if self.tables == EMPTY else json.dumps(self.tables, ensure_ascii=False)
        return len(self.rows), self.rows.tobytes(), tables, self.hashes

    def stamp(self, source: str, strategy: str, vectors: bytes | None) -> bytes:
        """Return what tells it from every other part, and from itself with other vectors."""
        _, rows, tables, hashes = self.packed
        told = (source.encode(), strategy.encode(), rows, tables.encode(), hashes)
        return hash_parts((*told, b"-" if vectors is None else b"+" + vectors), HASH)


EMPTY = Tables([[]], [["", ""]], [])


def unpacked(rows: bytes, tables: str, hashes: bytes) -> Part:
    """Return a part from what stands in the database."""
    read = Tables(*json.loads(tables)) if tables else EMPTY
    return Part(np.frombuffer(rows, ROW), read, hashes)


def text_hash(text: str) -> bytes:
    """Return the hash that a text, as it is embedded, is known by."""
    return hasher(HASH, text.encode("utf-8", "surrogatepass")).digest()


def hashes_of(
    rows: NDArray[np.void], texts: Sequence[str], text: bytes, by_document: bool
) -> bytes:
    """Return what tells the vector of each row from others: equal hashes are equal vectors.

    Args:
        rows: The rows of a part.
        texts: Their texts as they are embedded.
        text: The text of the document.
        by_document: Whether vectors are made of whole documents: then document and place tell.
    """
    if not by_document:
        return b"".join(map(text_hash, texts))
    document = hasher(HASH, text).digest()
    spans = zip(rows["byte_start"].tolist(), rows["byte_end"].tolist(), strict=True)
    return b"".join(
        text_hash(own) if span[0] < 0 else hash_parts((document, b"%d %d" % span), HASH)
        for own, span in zip(texts, spans, strict=True)
    )


def text_bytes(documents: Documents, doc: int) -> bytes:
    """Return the text of a document as it stands in the database."""
    text = documents.texts[doc]
    return text.encode() if isinstance(text, str) else bytes(text)


def known_whole(chunks: Chunks) -> list[int]:
    """Return the documents that chunks are all the chunks of, in order.

    A document without a chunk is one of them if nothing was cut from it; not if it could not be
    cut, and not if these are a slice of what was cut.
    """
    every = np.ones(len(chunks.documents), bool)
    every[[skipped.doc for skipped in chunks.skipped]] = False
    if chunks.chosen:
        every &= np.bincount(chunks.doc, minlength=len(every)) > 0
    return [int(doc) for doc in np.flatnonzero(every)]


def parts_of(
    chunks: Chunks, keep: NDArray[np.bool_], docs: Sequence[int], by_document: bool
) -> Iterator[tuple[Part, list[str]]]:
    """Yield a part, and its texts as they are embedded, for each of some documents.

    Documents without a chunk come as well, with a part of no rows.

    Args:
        chunks: In the order of their documents.
        keep: Which chunks are to be written.
        docs: The numbers of the documents.
        by_document: As for `hashes_of`.
    """
    bounds = np.searchsorted(chunks.doc, np.arange(len(chunks.documents) + 1))
    columns = _columns(chunks)
    parents = None if chunks.parents is None else chunks.parents.ordinal
    texts = chunks.texts
    plain = chunks.is_bare
    for doc in docs:
        start, end = int(bounds[doc]), int(bounds[doc + 1])
        kept = np.flatnonzero(keep[start:end]) + start
        rows = np.zeros(len(kept), ROW)
        for name, column in columns.items():
            rows[name] = column[kept]
        rows["parent"] = -1
        if parents is not None and len(parents):
            above = chunks.parent[kept]
            rows["parent"] = np.where(above < 0, -1, parents[above])
        own = [texts[row] for row in kept.tolist()]
        tables = EMPTY
        if not plain:
            paths, around = _Table([()]), _Table([("", "")])
            headings = chunks.heading_paths if start == 0 and end == len(chunks) else None
            for place, row in enumerate(kept.tolist()):
                chunk = chunks[row]
                pair = chunk.around
                rows["path"][place] = paths.row(
                    chunk.heading_path if headings is None else headings[row]
                )
                rows["around"][place] = around.row(pair)
                own[place] = f"{pair[0]}{own[place]}{pair[1]}"
            tables = Tables(
                [list(path) for path in paths.values], [list(pair) for pair in around.values], []
            )
        text = text_bytes(chunks.documents, doc) if by_document else b""
        yield Part(rows, tables, hashes_of(rows, own, text, by_document)), own


class _Table:
    """Values by the number of their first use."""

    def __init__(self, values: Sequence[tuple[str, ...]]) -> None:
        self.values = list(values)
        self._rows = {value: row for row, value in enumerate(self.values)}

    def row(self, value: tuple[str, ...]) -> int:
        row = self._rows.setdefault(value, len(self.values))
        if row == len(self.values):
            self.values.append(value)
        return row


def _columns(chunks: Chunks) -> dict[str, NDArray[Any]]:
    names = ("ordinal", "flags", "byte_start", "byte_end", "char_start", "char_end", "size")
    columns: dict[str, NDArray[Any]] = {name: getattr(chunks, name) for name in names}
    columns["source_start"], columns["source_end"] = chunks.documents.located(
        chunks.doc, chunks.byte_start, chunks.byte_end
    )
    columns["kind"] = chunks._columns.get(
        "kind", np.full(len(chunks), KINDS.index("prose"), np.uint8)
    )
    return columns


def texts_of(part: Part, text: bytes) -> list[str]:
    """Return the text of each row, a slice of the document's; added ones as they were given."""
    added = iter(part.tables.added)
    spans = zip(part.rows["byte_start"].tolist(), part.rows["byte_end"].tolist(), strict=True)
    return [next(added) if start < 0 else text[start:end].decode() for start, end in spans]


def embedded_texts(part: Part, text: bytes) -> list[str]:
    """Return what is handed to an embedder for each row."""
    texts = texts_of(part, text)
    if part.tables == EMPTY:
        return texts
    around = part.tables.around
    pairs = (around[row] for row in part.rows["around"].tolist())
    return [f"{pair[0]}{text}{pair[1]}" for pair, text in zip(pairs, texts, strict=True)]


def with_added(part: Part, text: str, size: int) -> Part:
    """Return a part with one more chunk, which has no place in the document."""
    row = np.zeros(1, ROW)
    row["ordinal"] = int(part.rows["ordinal"].max(initial=-1)) + 1
    row["parent"] = -1
    row["flags"] = ADDED
    row["kind"] = KINDS.index("prose")
    for name in ("byte_start", "byte_end", "char_start", "char_end", "source_start", "source_end"):
        row[name] = ADDED_AT
    row["size"] = size
    tables = part.tables._replace(added=[*part.tables.added, text])
    rows = np.concatenate([part.rows, row])
    return Part(rows, tables, part.hashes + text_hash(text))


def keeping_added(part: Part, old: Part) -> Part:
    """Return a part with the chunks that were added by hand to the one that it replaces."""
    sizes = old.rows["size"][old.rows["flags"] & np.uint32(ADDED) != 0].tolist()
    for text, size in zip(old.tables.added, sizes, strict=True):
        part = with_added(part, text, size)
    return part
