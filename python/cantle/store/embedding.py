"""What is embedded for the rows of a store: texts or, by some embedders, places in documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cantle import _core
from cantle.chunks import Chunks
from cantle.documents import Documents
from cantle.embed.door import Embedder, Progress, checked, embed_all, reads_documents
from cantle.store.parts import HASH, Part
from cantle.store.writing import Vectors, called

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Owner(NamedTuple):
    """The part that rows are of."""

    source: str
    strategy: str
    part: Part
    text: bytes
    """The text of the document."""


class Wanted(NamedTuple):
    """What is to be embedded."""

    text: str
    called: str
    """What messages call it."""
    owner: Owner | None = None
    """None where it has no place in a document."""
    row: int = 0


def wanted_of(owner: Owner, texts: Sequence[str]) -> Iterator[tuple[bytes, Wanted]]:
    """Yield hash and what is to be embedded for each row of a part.

    Args:
        owner: The part.
        texts: Those of its rows, as they are embedded.
    """
    name = called(owner.source, owner.strategy, owner.part)
    placed = (owner.part.rows["byte_start"] >= 0).tolist()
    for row, (text, here) in enumerate(zip(texts, placed, strict=True)):
        told = owner.part.hashes[HASH * row : HASH * (row + 1)]
        yield told, Wanted(text, name(row), owner if here else None, row)


def vectors_for(
    embedder: Embedder,
    wanted: dict[bytes, Wanted],
    batch_size: int,
    progress: Progress | None,
) -> Vectors:
    """Return the vectors of what is to be embedded, by its hash.

    An embedder that reads documents is asked for the rows of one part at a time; for what has no
    place in a document it is asked as any other.
    """
    found: Vectors = {}
    parts: dict[int, tuple[Owner, dict[bytes, Wanted]]] = {}
    for told, one in wanted.items() if reads_documents(embedder) else ():
        if one.owner is not None:
            parts.setdefault(id(one.owner), (one.owner, {}))[1][told] = one
    for owner, own in parts.values():
        found |= zip(own, _of_a_part(embedder, owner, list(own.values())), strict=True)
        if progress is not None:
            progress(len(found), len(wanted))
    rest = {told: one for told, one in wanted.items() if told not in found}
    ones, done = list(rest.values()), len(found)
    vectors = embed_all(
        embedder,
        [one.text for one in ones],
        batch_size=batch_size,
        progress=None if progress is None else lambda at, _: progress(done + at, len(wanted)),
        called=lambda at: ones[at].called,
    )
    found |= zip(rest, vectors, strict=True)
    _check_lengths(found, wanted)
    return found


def _of_a_part(embedder: Embedder, owner: Owner, wanted: Sequence[Wanted]) -> NDArray[np.float32]:
    rows = owner.part.rows[[one.row for one in wanted]]
    names = ("ordinal", "flags", "kind", "byte_start", "byte_end", "char_start", "char_end", "size")
    columns = {name: rows[name].astype(rows[name].dtype.newbyteorder("=")) for name in names}
    columns["doc"] = np.zeros(len(rows), np.int32)
    documents = Documents((owner.text,), (owner.source,))
    chunks = Chunks(columns, documents, name=owner.strategy, unit="chars", chosen=True)
    answer = embedder.embed_chunks(chunks)  # type: ignore[attr-defined]
    # The memory of an answer is the embedder's own: it may hold the next one in it.
    return np.array(checked(answer, len(wanted), 0, lambda at: wanted[at].called))


def _check_lengths(found: Vectors, wanted: dict[bytes, Wanted]) -> None:
    """Raise unless all vectors are of one length: those of documents came one by one."""
    first = None
    for told, vector in found.items():
        first = len(vector) if first is None else first
        if len(vector) != first:
            raise _core.SettingError(
                f"embedder: vectors of {len(vector)} numbers for {wanted[told].called}, of {first} "
                "for others"
            )
