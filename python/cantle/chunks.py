"""`Chunks`: the columns of many chunks, and `Chunk`: a view of one row.

What a chunk is stands here; how it is cut does not.
"""

from __future__ import annotations

import hashlib
import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from cantle import _core, units
from cantle.arrow import ChunkTable, TextColumn
from cantle.documents import Arrow, Documents, Skipped, Text, arrow_strings, is_arrow

if TYPE_CHECKING:
    from numpy.typing import NDArray

_COLUMNS = (
    "doc",
    "ordinal",
    "byte_start",
    "byte_end",
    "char_start",
    "char_end",
    "size",
    "flags",
)
_NO_PARENT = np.int64(-1)
_ROWS_SHOWN = 8


class Chunks:
    """Chunks as read-only columns; every one is an exact slice of its document.

    Offsets are half-open and count from the document's start. Texts are made on demand.
    `chunks[i]` is a `Chunk`; a slice, a mask or an array of rows gives `Chunks`.
    """

    __slots__ = ("_columns", "documents", "fingerprint", "name", "parents", "unit")

    documents: Documents
    """The texts that the chunks are slices of."""
    name: str
    """The strategy's name, as it stands in the ids."""
    unit: str
    """What `size` counts."""
    fingerprint: str
    """A short hash of the strategy's settings."""
    parents: Chunks | None
    """The chunks that these were cut within, if any."""

    def __init__(
        self,
        columns: Mapping[str, NDArray[Any]],
        documents: Documents,
        *,
        name: str,
        unit: str,
        fingerprint: str = "",
        parents: Chunks | None = None,
    ) -> None:
        """Made by a strategy, or by `from_spans`."""
        self._columns = dict(columns)
        for column in self._columns.values():
            if column.flags.writeable:
                column.setflags(write=False)
        self.documents = documents
        self.name = name
        self.unit = unit
        self.fingerprint = fingerprint
        self.parents = parents

    @classmethod
    def from_spans(
        cls,
        texts: Sequence[Text] | Arrow,
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
            texts: The documents' texts, or an Arrow array of them.
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
        if offsets not in ("chars", "bytes"):
            raise _core.SettingError(f"offsets ({offsets!r}) must be 'chars' or 'bytes'")
        if isinstance(texts, str | bytes):
            raise TypeError("texts must be a sequence of texts, not one text")
        given = arrow_strings(texts, "texts") if is_arrow(texts) else texts
        documents = Documents(given, ids, metadata)  # type: ignore[arg-type]
        if len(spans) != len(documents):
            raise _core.SettingError(f"spans has {len(spans)} entries for {len(documents)} texts")
        rows = [
            _checked_spans(i, text, spans[i], offsets) for i, text in enumerate(documents.texts)
        ]
        doc = np.repeat(np.arange(len(documents)), [len(row) for row in rows])
        # Columns: byte start, byte end, char start.
        table = np.concatenate([*rows, np.empty((0, 3), np.int64)])
        resolved = units.resolve(unit)
        whole = _core.Splitter("whole", 2**62, 0, units.for_core(resolved), False, 0, None)
        columns = whole.split_within(documents.texts, doc, table[:, 0], table[:, 1], table[:, 2], 1)
        columns.pop("parent", None)
        return cls(columns, documents, name=name, unit=units.describe(resolved))

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
        """Bits: `cantle.OVERSIZE`, one indivisible unit is larger than the limit."""
        return self._columns["flags"]

    @property
    def parent(self) -> NDArray[np.int64]:
        """The row in `parents` that each chunk was cut within; -1 without parents."""
        column = self._columns.get("parent")
        return np.broadcast_to(_NO_PARENT, len(self)) if column is None else column

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
        return self._with(columns)

    def _with(self, columns: dict[str, NDArray[Any]]) -> Chunks:
        return Chunks(
            columns,
            self.documents,
            name=self.name,
            unit=self.unit,
            fingerprint=self.fingerprint,
            parents=self.parents,
        )

    def __iter__(self) -> Iterator[Chunk]:
        return (Chunk(self, row) for row in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Chunks):
            return NotImplemented
        return (
            len(self) == len(other)
            and (self.name, self.unit, self.fingerprint)
            == (other.name, other.unit, other.fingerprint)
            and all(np.array_equal(getattr(self, c), getattr(other, c)) for c in _COLUMNS)
            and np.array_equal(self.parent, other.parent)
            and self.ids == other.ids
            and self.texts == other.texts
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        state = (self._columns, self.documents, self.name, self.unit, self.fingerprint)
        return _rebuild, (*state, self.parents)

    def __repr__(self) -> str:
        lines = [f"Chunks({self._summary()})"]
        for chunk in self[:_ROWS_SHOWN]:
            lines.append(f"  {chunk.id}  {chunk._span()}  {chunk.size}  {_preview(chunk.text)}")
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
        head = "".join(f"<th>{name}</th>" for name in ("id", "characters", "size", "text"))
        body = "".join(
            "<tr>"
            + "".join(
                f"<td>{html.escape(str(cell))}</td>"
                for cell in (c.id, c._span(), c.size, _preview(c.text, 100))
            )
            + "</tr>"
            for c in self[:20]
        )
        more = f"<p>... {len(self) - 20} more</p>" if len(self) > 20 else ""
        caption = html.escape(f"Chunks: {self._summary()}")
        return f"<table><caption>{caption}</caption><tr>{head}</tr>{body}</table>{more}"


class Chunk:
    """One chunk: a view of a row of `Chunks`."""

    __slots__ = ("_chunks", "_row")

    def __init__(self, chunks: Chunks, row: int) -> None:
        """Made by `chunks[row]`."""
        self._chunks = chunks
        self._row = row

    def _get(self, column: str) -> int:
        return int(self._chunks._columns[column][self._row])

    @property
    def text(self) -> str:
        """The slice of the document's text."""
        spans = (self.byte_start, self.byte_end, self.char_start, self.char_end)
        return self._chunks.documents.slice(self.doc, *spans)

    @property
    def id(self) -> str:
        """`{source}_{name}_{ordinal}`: the same in every run."""
        return f"{self.source}_{self._chunks.name}_{self.ordinal}"

    @property
    def source(self) -> str:
        """The document's id."""
        return self._chunks.documents.id(self.doc)

    @property
    def metadata(self) -> dict[str, Any]:
        """A copy of the document's metadata."""
        return self._chunks.documents.metadata(self.doc)

    @property
    def content_hash(self) -> str:
        """A hash of the text alone: 32 hexadecimal digits (BLAKE2b)."""
        return hashlib.blake2b(self.text.encode(), digest_size=16).hexdigest()

    @property
    def parent(self) -> Chunk | None:
        """The chunk that this one was cut within."""
        parents, row = self._chunks.parents, int(self._chunks.parent[self._row])
        return None if parents is None else parents[row]

    @property
    def doc(self) -> int:
        """The document's number."""
        return self._get("doc")

    @property
    def ordinal(self) -> int:
        """The chunk's number within its document."""
        return self._get("ordinal")

    @property
    def byte_start(self) -> int:
        """Where it starts, in UTF-8 bytes."""
        return self._get("byte_start")

    @property
    def byte_end(self) -> int:
        """Where it ends, in UTF-8 bytes."""
        return self._get("byte_end")

    @property
    def char_start(self) -> int:
        """Where it starts, in characters."""
        return self._get("char_start")

    @property
    def char_end(self) -> int:
        """Where it ends, in characters."""
        return self._get("char_end")

    @property
    def size(self) -> int:
        """Its size in the unit of the chunks."""
        return self._get("size")

    @property
    def flags(self) -> int:
        """Bits: `cantle.OVERSIZE`."""
        return self._get("flags")

    def _span(self) -> str:
        return f"{self.char_start}..{self.char_end}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Chunk):
            return NotImplemented
        mine, theirs = self._chunks, other._chunks
        return (mine.unit, mine.fingerprint, self.as_dict()) == (
            theirs.unit,
            theirs.fingerprint,
            other.as_dict(),
        )

    def __hash__(self) -> int:
        return hash((self.id, self.byte_start, self.byte_end))

    def as_dict(self) -> dict[str, Any]:
        """Return id, source, position, size, flags, text and metadata as plain values."""
        row: dict[str, Any] = {"id": self.id, "source": self.source}
        row.update((name, self._get(name)) for name in _COLUMNS[1:])
        row["text"] = self.text
        if metadata := self.metadata:
            row["metadata"] = metadata
        return row

    def __repr__(self) -> str:
        size = f"{self.size} {self._chunks.unit}"
        return f"Chunk({self.id!r}, {self._span()}, {size}, {_preview(self.text)})"


def _preview(text: str, length: int = 50) -> str:
    line = " ".join(text[: 4 * length].split())
    return repr(line if len(line) <= length else line[: length - 1] + "…")


def _rebuild(
    columns: dict[str, NDArray[Any]],
    documents: Documents,
    name: str,
    unit: str,
    fingerprint: str,
    parents: Chunks | None,
) -> Chunks:
    return Chunks(
        columns, documents, name=name, unit=unit, fingerprint=fingerprint, parents=parents
    )


def _checked_spans(
    number: int, text: Text, spans: Iterable[tuple[int, int]], offsets: str
) -> NDArray[np.int64]:
    """Return byte start, byte end and character start of each span; int64 [n, 3]."""
    place = f"spans[{number}]"
    pairs = []
    for j, span in enumerate(spans):
        try:
            start, end = (int(at.__index__()) for at in span)
        except (AttributeError, TypeError, ValueError):
            raise TypeError(f"{place}[{j}] ({span!r}) must be a (start, end) pair") from None
        if not 0 <= start < end:
            raise _core.SettingError(f"{place}[{j}] ({start}, {end}) is empty or reversed")
        if end >= 2**63:
            raise _core.SettingError(f"{place}[{j}] ({start}, {end}) lies outside the text")
        pairs.append((start, end))
    for j, (before, after) in enumerate(pairwise(pairs)):
        if after[0] <= before[0]:
            raise _core.SettingError(f"{place}[{j + 1}] {after} does not start behind {before}")
    flat = [at for pair in pairs for at in pair]
    other = _core.span_offsets(text, number, flat, offsets == "chars").reshape(-1, 2)
    given = np.asarray(flat, np.int64).reshape(-1, 2)
    byte, char = (other, given) if offsets == "chars" else (given, other)
    return np.column_stack([byte, char[:, :1]])
