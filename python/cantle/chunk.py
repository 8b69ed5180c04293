"""`Chunk`: a view of one row of `Chunks`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cantle import _core
from cantle.digest import digest
from cantle.structure import KINDS

if TYPE_CHECKING:
    from cantle.chunks import Chunks

COLUMNS = (
    "doc",
    "ordinal",
    "byte_start",
    "byte_end",
    "char_start",
    "char_end",
    "size",
    "flags",
)
"""The columns that chunks of every strategy have."""

CLAUSE = ("clause_number", "clause_title", "clause_parent", "notes")
"""What chunks that were cut at clauses have beside them."""

_GAP = "\n\n"


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
        return digest(self.text.encode(), 16)

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
        """Bits; see `Chunks.flags`."""
        return self._get("flags")

    @property
    def kind(self) -> str:
        """What it is for the most part: one of `cantle.KINDS`."""
        return KINDS[self._get("kind")] if "kind" in self._chunks._columns else "prose"

    @property
    def heading_path(self) -> tuple[str, ...]:
        """The titles above it, outermost first."""
        structure = self._chunks.structure
        return () if structure is None else structure.path(int(self._chunks.heading[self._row]))

    @property
    def context(self) -> str:
        """The header of the table, or the first line of the fence, that it is a later part of.

        Empty for all other chunks. A slice of the document, but no part of `text`. Of a part of a
        row, the cells that say which row it is follow on a line of their own.
        """
        spans = (self.context_span, self._span_of("key"))
        slice = self._chunks.documents.slice
        return "\n".join(slice(self.doc, *span) for span in spans if span is not None)

    @property
    def context_span(self) -> tuple[int, int, int, int] | None:
        """Where `context` starts and ends, in bytes, then in characters; None where it is empty."""
        return self._span_of("context")

    def _span_of(self, column: str) -> tuple[int, int, int, int] | None:
        structure = self._chunks.structure
        row = self._get(column) if column in self._chunks._columns else -1
        return None if structure is None or row < 0 else structure.context(row)

    def _clause(self, table: str, row: int) -> str:
        numbering = self._chunks.numbering
        return "" if numbering is None or row < 0 else str(numbering._tables[table][row])

    @property
    def clause_number(self) -> str:
        """The number of the clause that it starts in, `7.2(a)`; empty where there is none."""
        return self._clause("number", int(self._chunks.clause[self._row]))

    @property
    def clause_title(self) -> str:
        """What that clause is called; empty where it has no title."""
        return self._clause("title", int(self._chunks.clause[self._row]))

    @property
    def clause_parent(self) -> str:
        """The number of the clause that its clause stands in; empty where there is none."""
        numbering, row = self._chunks.numbering, int(self._chunks.clause[self._row])
        above = -1 if numbering is None or row < 0 else int(numbering.above[row])
        return self._clause("number", above)

    @property
    def notes(self) -> str:
        """What is said beside it, `(See also clause 7.3.)`: no part of `text`."""
        numbering = self._chunks.numbering
        return "" if numbering is None else numbering.note(self._get("note"))

    @property
    def added_context(self) -> str:
        """What was written of it by `cantle.with_context`; empty where nothing was."""
        columns = self._chunks._columns
        return str(columns["added"][self._row]) if "added" in columns else ""

    @property
    def embed_text(self) -> str:
        """What is handed to an embedder: title, heading path and context before the text.

        The title is what the document's metadata hold under `title`. Without other wish
        (`Structural(prefix=...)`) it reads `title > heading > heading`, a blank line, the context,
        the text. What `cantle.with_context` added stands before all of it, a blank line
        between them: the head of a table stays with its rows.
        """
        before, behind = self.around
        return f"{before}{self.text}{behind}"

    @property
    def around(self) -> tuple[str, str]:
        """What stands before its text, and behind it, in `embed_text`."""
        lost = self._get("lost") if "lost" in self._chunks._columns else 0
        before, behind = _core.render(
            self._chunks.template,
            self._chunks.documents.title(self.doc),
            self.heading_path,
            self.context,
            self.notes,
            lost,
        )
        added = self.added_context
        return f"{added}{_GAP if added else ''}{before}", behind

    @property
    def source_start(self) -> int:
        """Where it starts in what was handed in, in bytes; see `Chunks.source_start`."""
        return int(self._chunks[self._row : self._row + 1].source_start[0])

    @property
    def source_end(self) -> int:
        """Where it ends in what was handed in, in bytes; see `Chunks.source_start`."""
        return int(self._chunks[self._row : self._row + 1].source_end[0])

    @property
    def line_start(self) -> int:
        """The line on which it starts, from 1; counted now."""
        return int(self._chunks[self._row : self._row + 1].line_start[0])

    @property
    def line_end(self) -> int:
        """The line on which its last character stands, from 1; counted now."""
        return int(self._chunks[self._row : self._row + 1].line_end[0])

    @property
    def page(self) -> int:
        """The page on which it starts, from 1; see `Chunks.page`."""
        return int(self._chunks[self._row : self._row + 1].page[0])

    @property
    def blocks(self) -> range:
        """The rows of the `Blocks` that were handed in which it touches; none without."""
        if "block_start" not in self._chunks._columns:
            return range(0)
        return range(self._get("block_start"), self._get("block_end"))

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
        """Return id, source, position, size, flags, text and metadata as plain values.

        Of HTML also where it stands in that; where blocks are known, kind, headings and context.
        """
        row: dict[str, Any] = {"id": self.id, "source": self.source}
        for name in COLUMNS[1:]:
            if name == "size" and self._chunks.documents.is_rewritten(self.doc):
                row["source_start"], row["source_end"] = self.source_start, self.source_end
            row[name] = self._get(name)
        if self._chunks.structure is not None:
            row["kind"] = self.kind
            row["heading_path"] = list(self.heading_path)
            row["context"] = self.context
        if self._chunks.numbering is not None:
            row.update((name, getattr(self, name)) for name in CLAUSE)
        row["text"] = self.text
        if metadata := self.metadata:
            row["metadata"] = metadata
        return row

    def __repr__(self) -> str:
        size = f"{self.size} {self._chunks.unit}"
        return f"Chunk({self.id!r}, {self._span()}, {size}, {preview(self.text)})"


def preview(text: str, length: int = 50) -> str:
    """Return the first words of a text in quotes."""
    line = " ".join(text[: 4 * length].split())
    return repr(line if len(line) <= length else line[: length - 1] + "…")
