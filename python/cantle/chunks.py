"""`Chunks`: the columns of many chunks.

What chunks are stands here; how they are cut does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from cantle import _core, units
from cantle.arrow import ChunkTable, TextColumn
from cantle.chunk import COLUMNS, Chunk, preview
from cantle.distances import Distances
from cantle.documents import Arrow, Documents, Skipped, Text
from cantle.fallbacks import Fallback
from cantle.levels import up
from cantle.numbering import Numbering
from cantle.places import places
from cantle.spans import columns_at
from cantle.structure import KINDS, Blocks, Report, Structure

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NO_PARENT = np.int64(-1)
_NO_ROW = np.int32(-1)
_KIND_NAMES = np.array(KINDS)
_ROWS_SHOWN = 8


class Chunks:
    """Chunks as read-only columns; every one is an exact slice of its document.

    Offsets are half-open and count from the document's start. Texts are made on demand.
    `chunks[i]` is a `Chunk`; a slice, a mask or an array of rows gives `Chunks`.
    """

    __slots__ = (
        *("_columns", "chosen", "documents", "fingerprint", "name", "parents", "structure"),
        *("distances", "fallbacks", "limit", "numbering", "target", "template", "unit"),
    )

    documents: Documents
    """The texts that the chunks are slices of."""
    name: str
    """The strategy's name, as it stands in the ids."""
    unit: str
    """What `size` counts."""
    limit: int | None
    """The most that a chunk was to measure; None where no strategy cut them."""
    fingerprint: str
    """A short hash of the strategy's settings."""
    parents: Chunks | None
    """The chunks that these were cut within, if any."""
    structure: Structure | None
    """The headings of the documents, where their blocks are known."""
    numbering: Numbering | None
    """The clauses of the documents, where they were cut at them."""
    distances: Distances | None
    """How far the sentences of the documents are apart, where they were cut by meaning."""
    fallbacks: tuple[Fallback, ...]
    """Where a language model gave no answer that could be used, and why; for `Llm`."""
    template: str
    """What `embed_text` is made by."""
    target: int | None
    """What the depths of the documents were chosen by, where they were."""
    chosen: bool
    """Whether they are some of what was cut, as a slice is: a document without a chunk here may
    have others."""

    def __init__(
        self,
        columns: Mapping[str, Any],
        documents: Documents,
        *,
        name: str,
        unit: str,
        limit: int | None = None,
        fingerprint: str = "",
        parents: Chunks | None = None,
        template: str = _core.TEMPLATE,
        target: int | None = None,
        chosen: bool = False,
    ) -> None:
        """Made by a strategy, or by `from_spans`. The core's columns are read-only already."""
        given = dict(columns)
        tables = given.pop("structure", None)
        clauses, compared = given.pop("clauses", None), given.pop("compared", None)
        self.fallbacks = tuple(given.pop("fallbacks", ()))
        self.distances = Distances(**compared) if isinstance(compared, Mapping) else compared
        self.numbering = Numbering(clauses) if isinstance(clauses, Mapping) else clauses
        self._columns: dict[str, NDArray[Any]] = given
        self.structure = Structure(tables) if isinstance(tables, Mapping) else tables
        self.template = template
        self.target = target
        self.documents = documents
        self.name = name
        self.unit = unit
        self.limit = limit
        self.fingerprint = fingerprint
        self.parents = parents
        self.chosen = chosen or (parents is not None and parents.chosen)

    @classmethod
    def from_spans(
        cls,
        texts: Sequence[Text | Blocks] | Arrow,
        spans: Sequence[Iterable[tuple[int, int]]],
        *,
        offsets: str = "chars",
        ids: Iterable[str] | None = None,
        metadata: Iterable[Mapping[str, Any]] | None = None,
        unit: units.Unit = "chars",
        name: str = "spans",
    ) -> Chunks:
        """Return the chunks at a caller's own positions.

        Args:
            texts: The documents' texts or their `Blocks`, whose kinds, headings and pages ride
                along; or an Arrow array of texts.
            spans: For each text its (start, end) pairs, half-open, by ascending start.
            offsets: What the positions count: `"chars"` or `"bytes"`.
            ids: One id per text.
            metadata: One mapping per text.
            unit: What the chunks' sizes count.
            name: The name in the chunks' ids.

        Raises:
            SettingError: A span is empty, out of order, outside its text, or cuts a character;
                the message names text and span.
        """
        if not isinstance(name, str) or not name:
            raise TypeError(f"name ({name!r}) must be a string that is not empty")
        documents, columns = columns_at(texts, spans, offsets, ids, metadata, unit)
        unit = units.describe(units.resolve(unit))
        return cls(_read_only(columns), documents, name=name, unit=unit)

    @property
    def doc(self) -> NDArray[np.int32]:
        """The number of each chunk's document in `documents`."""
        return self._columns["doc"]

    @property
    def ordinal(self) -> NDArray[np.int32]:
        """Each chunk's number within its document."""
        return self._columns["ordinal"]

    @property
    def byte_start(self) -> NDArray[np.int64]:
        """Where each chunk starts, in UTF-8 bytes."""
        return self._columns["byte_start"]

    @property
    def byte_end(self) -> NDArray[np.int64]:
        """Where each chunk ends, in UTF-8 bytes."""
        return self._columns["byte_end"]

    @property
    def char_start(self) -> NDArray[np.int64]:
        """Where each chunk starts, in characters."""
        return self._columns["char_start"]

    @property
    def char_end(self) -> NDArray[np.int64]:
        """Where each chunk ends, in characters."""
        return self._columns["char_end"]

    @property
    def size(self) -> NDArray[np.int64]:
        """Each chunk's size in `unit`, counted on its own text."""
        return self._columns["size"]

    @property
    def flags(self) -> NDArray[np.uint32]:
        """Bits, of which `cantle` has the names.

        `OVERSIZE`: one indivisible unit is larger than the limit. `PART`: a table, a row or a block
        of code is not whole in the chunk. `EMPTY`: a row without a value. `SHORTENED`: what stands
        before the text when it is embedded lost headings, so that both keep the size. `FALLBACK`:
        see `fallbacks`.
        """
        return self._columns["flags"]

    @property
    def kind(self) -> NDArray[np.str_]:
        """What each chunk is for the most part: one of `cantle.KINDS`; made now."""
        codes = self._columns.get("kind")
        if codes is None:
            return np.full(len(self), "prose", _KIND_NAMES.dtype)
        names: NDArray[np.str_] = _KIND_NAMES[codes]
        return names

    @property
    def heading(self) -> NDArray[np.int32]:
        """The row in `structure` of the heading in force at each chunk's first block; -1 for none.

        Headings themselves do not count as a chunk's first block, unless it holds nothing else.
        """
        column = self._columns.get("heading")
        return np.broadcast_to(_NO_ROW, len(self)) if column is None else column

    @property
    def heading_paths(self) -> list[tuple[str, ...]]:
        """The titles above each chunk, outermost first; made now."""
        structure = self.structure
        if structure is None:
            return [()] * len(self)
        known: dict[int, tuple[str, ...]] = {}
        paths = []
        for row in self.heading.tolist():
            if row not in known:
                known[row] = structure.path(row)
            paths.append(known[row])
        return paths

    @property
    def contexts(self) -> list[str]:
        """What each chunk is a later part of; made now. See `Chunk.context`."""
        contexts = [""] * len(self)
        there = np.asarray(self._columns.get("context", _NO_ROW)) >= 0
        if "key" in self._columns:
            there |= self._columns["key"] >= 0
        for row in np.flatnonzero(there).tolist():
            contexts[row] = Chunk(self, row).context
        return contexts

    @property
    def clause(self) -> NDArray[np.int32]:
        """The row in `numbering` of the clause that each chunk starts in; -1 for none."""
        column = self._columns.get("clause")
        return np.broadcast_to(_NO_ROW, len(self)) if column is None else column

    @property
    def clause_numbers(self) -> list[str]:
        """The number of each chunk's clause, `7.2(a)`; empty where there is none; made now."""
        return [chunk.clause_number for chunk in self]

    @property
    def notes(self) -> list[str]:
        """What is said beside each chunk: which clauses refer to it; made now."""
        return [chunk.notes for chunk in self]

    @property
    def embed_texts(self) -> list[str]:
        """What is handed to an embedder for each chunk; see `Chunk.embed_text`."""
        return self.texts if self.is_bare else [chunk.embed_text for chunk in self]

    @property
    def is_bare(self) -> bool:
        """Whether nothing can stand around any text when it is embedded."""
        return (
            self.structure is None
            and self.numbering is None
            and self.template == _core.TEMPLATE
            and self.documents.titles() is None
            and "added" not in self._columns
        )

    @property
    def report(self) -> list[Report]:
        """How deep each document was cut at its headings, and why; for `Structural`."""
        if self.structure is None:
            return []
        return self.structure.reports(self.unit, self.target, self.documents.id)

    @property
    def line_start(self) -> NDArray[np.int64]:
        """The line on which each chunk starts, from 1; counted now."""
        return places(self, "line", self.byte_start)

    @property
    def line_end(self) -> NDArray[np.int64]:
        """The line on which each chunk's last character stands, from 1; counted now."""
        return places(self, "line", self.byte_end - 1)

    @property
    def page(self) -> NDArray[np.int64]:
        """The page on which each chunk starts, from 1; found now.

        It is the page of its first block where blocks with pages were handed in (-1 where that is
        not known), else one more than the form feeds before it.
        """
        return places(self, "page", self.byte_start)

    @property
    def source_start(self) -> NDArray[np.int64]:
        """Where each chunk starts in what was handed in, in UTF-8 bytes; found now.

        That differs from `byte_start` for HTML alone, whose chunks are slices of its readable text.
        """
        return self.documents.located(self.doc, self.byte_start, self.byte_end)[0]

    @property
    def source_end(self) -> NDArray[np.int64]:
        """Where each chunk ends in what was handed in, in UTF-8 bytes; see `source_start`."""
        return self.documents.located(self.doc, self.byte_start, self.byte_end)[1]

    @property
    def parent(self) -> NDArray[np.int64]:
        """The row in `parents` that each chunk was cut within; -1 without parents."""
        column = self._columns.get("parent")
        return np.broadcast_to(_NO_PARENT, len(self)) if column is None else column

    @property
    def parent_ids(self) -> list[str | None]:
        """The id of each chunk's parent; None without parents; made now."""
        if self.parents is None:
            return [None] * len(self)
        ids = self.parents.ids
        return [ids[row] for row in self.parent.tolist()]

    @property
    def level_number(self) -> int:
        """The level that these are: 1 without parents, else one more than their parents'."""
        return 1 if self.parents is None else 1 + self.parents.level_number

    def level(self, number: int) -> Chunks:
        """Return the chunks of one level, of these and all above them: 1 is the outermost.

        Args:
            number: From 1 to `level_number`, which is these chunks'.

        Raises:
            SettingError: There is no such level.
        """
        return up(self, number)[0]

    def rows_at(self, number: int) -> NDArray[np.int64]:
        """Return for each chunk the row in `level(number)` that it lies in; int64 [chunks].

        Args:
            number: As for `level`.
        """
        return up(self, number)[1]

    @property
    def texts(self) -> list[str]:
        """The chunks' texts, made now."""
        spans = (self.byte_start, self.byte_end, self.char_start, self.char_end)
        return self.documents.slices(self.doc, *spans)

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """The documents that could not be cut, with `errors="skip"`: number, id and reason."""
        return self.documents.skipped

    @property
    def ids(self) -> list[str]:
        """The chunks' ids: `{source}_{name}_{ordinal}`."""
        pairs = zip(self.doc.tolist(), self.ordinal.tolist(), strict=True)
        return [f"{self.documents.id(doc)}_{self.name}_{ordinal}" for doc, ordinal in pairs]

    def to_arrow(self, texts: TextColumn = "large") -> ChunkTable:
        """Return the chunks as an Arrow table, for anything that takes the PyCapsule interface.

        Columns: id, source, doc, ordinal, byte_start, byte_end, char_start, char_end, size, flags;
        parent where there are parents; text; metadata as JSON where metadata were given; and the
        columns that the documents carry, behind `document_` where a name is taken.

        Args:
            texts: `"large"` copies the texts into large strings; `"view"` gives string views into
                the documents' own bytes; `None` leaves texts out.

        Raises:
            SettingError: `texts` is something else.
        """
        return ChunkTable(self, texts)

    def __arrow_c_schema__(self) -> object:
        """Return the schema of `to_arrow()` as a capsule."""
        return self.to_arrow().__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the batches of `to_arrow()` as a capsule; a schema asked for is not followed."""
        return self.to_arrow().__arrow_c_stream__()

    def __len__(self) -> int:
        return len(self._columns["doc"])

    @overload
    def __getitem__(self, rows: int) -> Chunk: ...
    @overload
    def __getitem__(self, rows: slice | NDArray[Any] | Sequence[int]) -> Chunks: ...
    def __getitem__(self, rows: int | slice | NDArray[Any] | Sequence[int]) -> Chunk | Chunks:
        if isinstance(rows, int | np.integer):
            row = int(rows)
            if not -len(self) <= row < len(self):
                raise IndexError(f"chunk {row} of {len(self)}")
            return Chunk(self, row % len(self))
        if not isinstance(rows, slice):
            rows = np.asarray(rows)
            if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "biu"):
                raise TypeError("chunks are picked by a row, a slice, a mask or a list of rows")
            if not rows.size:
                rows = rows.astype(np.int64)
        columns = {name: column[rows] for name, column in self._columns.items()}
        if self.char_start is self.byte_start:
            columns["char_start"], columns["char_end"] = columns["byte_start"], columns["byte_end"]
        every = np.arange(len(self))
        return self._with(columns, chosen=not np.array_equal(every[rows], every))

    def _with(self, columns: dict[str, Any], *, chosen: bool = False) -> Chunks:
        settings = self._settings() | {"chosen": chosen or self.chosen}
        return Chunks(_read_only(columns) | self._tables(), self.documents, **settings)

    def _settings(self) -> dict[str, Any]:
        names = ("name", "unit", "limit", "fingerprint", "parents", "template", "target", "chosen")
        return {name: getattr(self, name) for name in names}

    def _tables(self) -> dict[str, Any]:
        more = {"clauses": self.numbering, "compared": self.distances}
        return {"structure": self.structure, "fallbacks": self.fallbacks} | more

    def __iter__(self) -> Iterator[Chunk]:
        return (Chunk(self, row) for row in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Chunks):
            return NotImplemented
        return (
            len(self) == len(other)
            and (self.name, self.unit, self.fingerprint)
            == (other.name, other.unit, other.fingerprint)
            and all(np.array_equal(getattr(self, c), getattr(other, c)) for c in COLUMNS)
            and np.array_equal(self.parent, other.parent)
            and (self.structure is None) == (other.structure is None)
            and (self.structure is None or self._carries_the_same(other))
            and self.ids == other.ids
            and self.texts == other.texts
            and np.array_equal(self._columns.get("added", ()), other._columns.get("added", ()))
        )

    def _carries_the_same(self, other: Chunks) -> bool:
        return (
            np.array_equal(self.kind, other.kind)
            and self.heading_paths == other.heading_paths
            and self.contexts == other.contexts
            and self.clause_numbers == other.clause_numbers
            and self.notes == other.notes
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self._columns | self._tables(), self.documents, self._settings())

    def __repr__(self) -> str:
        lines = [f"Chunks({self._summary()})"]
        for chunk in self[:_ROWS_SHOWN]:
            lines.append(f"  {chunk.id}  {chunk._span()}  {chunk.size}  {preview(chunk.text)}")
        if len(self) > _ROWS_SHOWN:
            lines.append(f"  ... {len(self) - _ROWS_SHOWN} more")
        return "\n".join(lines)

    def _summary(self) -> str:
        over = int(np.count_nonzero(self.flags & _core.OVERSIZE))
        docs = len(self.documents)
        counts = f"{len(self)} of {docs} document{'s' if docs != 1 else ''}"
        return (
            f"{counts}, {self.name}, size in {self.unit}"
            + (f", {over} oversize" if over else "")
            + (f", {len(self.skipped)} skipped" if self.skipped else "")
        )

    def _repr_html_(self) -> str:
        from cantle.page import table

        return table(self, self._summary())


def _read_only(columns: dict[str, Any]) -> dict[str, Any]:
    for column in columns.values():
        if isinstance(column, np.ndarray):
            column.setflags(write=False)
    return columns


def _rebuild(columns: dict[str, Any], documents: Documents, settings: dict[str, Any]) -> Chunks:
    return Chunks(_read_only(columns), documents, **settings)
