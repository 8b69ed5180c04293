"""A stand-in for the snapshot of a store: the same columns, made from chunks."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

import cantle


class Snapshot:
    """Rows by strategy, document and ordinal; behind the chunks of a part, what was added to it."""

    def __init__(
        self,
        *given: cantle.Chunks,
        vectors: Any = None,
        added: Sequence[tuple[int, int, str]] = (),
    ) -> None:
        documents = given[0].documents
        self._documents = documents
        self.sources = tuple(
            SimpleNamespace(id=documents.id(i), cite=documents.title(i) or documents.id(i))
            for i in range(len(documents))
        )
        names = [chunks.name for chunks in given]
        self.strategies = tuple(SimpleNamespace(name=name) for name in names)
        known: dict[tuple[str, ...], int] = {(): 0}
        self._added: dict[int, str] = {}
        rows: list[tuple[int, ...]] = []
        parts: list[tuple[int, int]] = []
        starts = [0]
        place: dict[tuple[str, int], int] = {}
        for strategy, chunks in enumerate(given):
            for source in range(len(documents)):
                for at in np.flatnonzero(chunks.doc == source).tolist():
                    chunk = chunks[at]
                    place[chunks.name, at] = len(rows)
                    headed, span = chunk, (chunk.char_start, chunk.char_end)
                    while headed.heading_path == () and headed.parent is not None:
                        headed = headed.parent
                    path = known.setdefault(headed.heading_path, len(known))
                    rows.append((strategy, source, chunk.ordinal, *span, path, len(parts)))
                ordinal = rows[-1][2] + 1 if len(rows) > starts[-1] else 0
                for text in (text for s, d, text in added if (s, d) == (strategy, source)):
                    self._added[len(rows)] = text
                    rows.append((strategy, source, ordinal, -1, -1, 0, len(parts)))
                parts.append((strategy, source))
                starts.append(len(rows))
        table = np.array(rows, np.int64).reshape(-1, 7)
        columns = ("strategy", "source", "ordinal", "char_start", "char_end", "heading", "part")
        for column, name in enumerate(columns):
            setattr(self, name, table[:, column].copy())
        self.heading_paths = tuple(known)
        self.part_start = np.array(starts, np.int64)
        self.part_strategy, self.part_source = np.array(parts, np.int64).reshape(-1, 2).T
        self.parent = np.full(len(rows), -1, np.int64)
        for chunks in (chunks for chunks in given if chunks.parents is not None):
            for at, above in enumerate(chunks.parent.tolist()):
                self.parent[place[chunks.name, at]] = place[chunks.parents.name, above]
        self._vectors = None if vectors is None else np.asarray(vectors, np.float32)
        self.embedded = np.full(len(rows), vectors is not None)

    def __len__(self) -> int:
        return len(self.ordinal)

    def text_of(self, source: int) -> str:
        return str(self._documents.texts[source])

    def ids(self, rows: Any) -> list[str]:
        return [
            f"{self.sources[self.source[row]].id}_{self.strategies[self.strategy[row]].name}_"
            f"{self.ordinal[row]}"
            for row in rows
        ]

    def texts(self, rows: Any) -> list[str]:
        return [
            self._added[row]
            if row in self._added
            else self.text_of(self.source[row])[self.char_start[row] : self.char_end[row]]
            for row in np.asarray(rows).tolist()
        ]

    def vectors(self, parts: Sequence[int] | None = None) -> Any:
        if parts is None:
            return self._vectors
        return self._vectors[np.isin(self.part, parts)]
