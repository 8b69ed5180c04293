"""`ChunkTable`: chunks as an Arrow table. How Arrow comes in stands in `documents.py`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cantle import _core

if TYPE_CHECKING:
    from cantle.chunks import Chunks
    from cantle.documents import Documents

TextColumn = Literal["large", "view"] | None
"""How texts go out: copied, as views into the documents, or not at all."""

_DTYPES = {
    **dict.fromkeys(("doc", "ordinal", "heading", "context", "key", "above"), np.int32),
    **dict.fromkeys(("clause", "note", "clause_above"), np.int32),
    **{"flags": np.uint32, "kind": np.uint8},
}


class ChunkTable:
    """Chunks as an Arrow table: whatever reads the Arrow PyCapsule interface takes it.

    Every reading starts anew and is made batch by batch.
    """

    __slots__ = ("chunks", "texts")

    chunks: Chunks
    """The rows."""
    texts: TextColumn
    """How texts are given."""

    def __init__(self, chunks: Chunks, texts: TextColumn = "large") -> None:
        """Made by `Chunks.to_arrow`.

        Raises:
            SettingError: `texts` is something else than `"large"`, `"view"` or `None`.
        """
        if texts not in ("large", "view", None):
            raise _core.SettingError(f"texts ({texts!r}) must be 'large', 'view' or None")
        self.chunks = chunks
        self.texts = texts

    def __len__(self) -> int:
        return len(self.chunks)

    def __arrow_c_schema__(self) -> object:
        """Return the schema as a capsule."""
        return self._core().schema()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the record batches as a capsule; a schema asked for is not followed."""
        return self._core().stream()

    def _core(self) -> _core.ArrowChunks:
        chunks, documents = self.chunks, self.chunks.documents
        columns: dict[str, Any] = {
            name: np.ascontiguousarray(column, _DTYPES.get(name, np.int64))
            for name, column in chunks._columns.items()
            if name not in ("parent", "added")
        }
        if chunks.structure is not None:
            columns |= chunks.structure.for_arrow()
        if chunks.numbering is not None:
            columns |= chunks.numbering.for_arrow()
        if chunks.parents is not None:
            columns["parent"] = np.ascontiguousarray(chunks.parent)
        about = {"name": chunks.name, "unit": chunks.unit, "fingerprint": chunks.fingerprint}
        return _core.ArrowChunks(
            columns,
            documents.texts,
            documents.first if documents.ids is None else documents.ids,
            chunks.name,
            self.texts,
            _json(documents),
            documents.carried,
            json.dumps(about),
        )

    def __reduce__(self) -> tuple[type[ChunkTable], tuple[Chunks, TextColumn]]:
        return ChunkTable, (self.chunks, self.texts)

    def __repr__(self) -> str:
        return f"ChunkTable({self.chunks._summary()}, texts={self.texts!r})"


def _json(documents: Documents) -> tuple[list[str], list[int]] | None:
    """Return the different metadata as JSON, and which of them each document has."""
    if documents.metadata_given is None:
        return None
    known: dict[str, int] = {}
    codes = [
        known.setdefault(_line(i, entry), len(known))
        for i, entry in enumerate(documents.metadata_given)
    ]
    return list(known), codes


def _line(number: int, entry: Mapping[str, Any]) -> str:
    try:
        line = json.dumps(entry, ensure_ascii=False)
        line.encode()
    except UnicodeEncodeError:  # A lone surrogate.
        line = json.dumps(entry)
    except (TypeError, ValueError) as error:
        raise TypeError(f"metadata[{number}] cannot be written as JSON: {error}") from None
    return line
