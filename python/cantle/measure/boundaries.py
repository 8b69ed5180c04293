"""`boundaries`: what the first and the last character of each chunk cut through.

A chunk is judged by its visible text alone, and by itself: whether another chunk holds the same
text whole, as with overlap, makes no difference. Blocks and sentences are found once for each
document, and chunks are joined with them by binary search over columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cantle import _core, structure
from cantle.chunks import Chunks
from cantle.forms import OTHERWISE, check_format, form_of
from cantle.structure import KINDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

FAULTS = {
    "straddles_heading": "goes over a heading into the next section",
    "orphans_heading": "parts a heading from its text, at its end",
    "cuts_table": "cuts a table",
    "cuts_code": "cuts a block of code",
    "cuts_item": "cuts an item of a list",
    "cuts_list": "cuts a list between its items",
    "cuts_procedure": "cuts a numbered list",
    "starts_mid_sentence": "starts inside a sentence",
    "ends_mid_sentence": "ends inside a sentence",
}
"""What can be wrong with a chunk, in words: a column of `Boundaries` for each."""

_NAMES = tuple(FAULTS)
_NO_LIMIT = 2**16 - 1
_KIND = {name: number for number, name in enumerate(KINDS)}
_TABLE, _CODE, _HEADING, _RULE = (_KIND[name] for name in ("table", "code", "heading", "rule"))
# Where line breaks mean something there are no sentences.
_WORDLESS = [_KIND[name] for name in ("table", "code", "html", "front_matter", "rule")]


class Boundaries:
    """What the boundaries of some chunks cut through: read-only columns, a row for each chunk."""

    __slots__ = ("_columns", "documents", "fingerprint", "name")

    documents: int
    """How many documents the chunks are of."""
    name: str
    """The name of the chunks' strategy."""
    fingerprint: str
    """The hash of the settings they were cut with."""

    def __init__(self, columns: NDArray[np.bool_], chunks: Chunks) -> None:
        """Made by `boundaries`."""
        columns.setflags(write=False)
        self._columns = columns
        self.documents = len(np.unique(chunks.doc))
        self.name = chunks.name
        self.fingerprint = chunks.fingerprint

    def _column(self, name: str) -> NDArray[np.bool_]:
        column: NDArray[np.bool_] = self._columns[_NAMES.index(name)]
        return column

    @property
    def straddles_heading(self) -> NDArray[np.bool_]:
        """Text of one section stands in the chunk, then a heading that opens the next.

        A heading at the chunk's start is none of these, nor are those that follow it before any
        text.
        """
        return self._column("straddles_heading")

    @property
    def orphans_heading(self) -> NDArray[np.bool_]:
        """The chunk ends with a heading whose text is left to others."""
        return self._column("orphans_heading")

    @property
    def cuts_table(self) -> NDArray[np.bool_]:
        """The chunk starts or ends inside a table."""
        return self._column("cuts_table")

    @property
    def cuts_code(self) -> NDArray[np.bool_]:
        """The chunk starts or ends inside a block of code; of source code, inside a definition."""
        return self._column("cuts_code")

    @property
    def cuts_item(self) -> NDArray[np.bool_]:
        """The chunk starts or ends inside an item of a list, but not between two items in it."""
        return self._column("cuts_item")

    @property
    def cuts_list(self) -> NDArray[np.bool_]:
        """The chunk starts or ends between two items of one list."""
        return self._column("cuts_list")

    @property
    def cuts_procedure(self) -> NDArray[np.bool_]:
        """The chunk starts or ends anywhere inside a numbered list.

        It then cuts an item or a list as well.
        """
        return self._column("cuts_procedure")

    @property
    def starts_mid_sentence(self) -> NDArray[np.bool_]:
        """The chunk starts inside a sentence; tables, code and the like have none."""
        return self._column("starts_mid_sentence")

    @property
    def ends_mid_sentence(self) -> NDArray[np.bool_]:
        """The chunk ends inside a sentence; tables, code and the like have none."""
        return self._column("ends_mid_sentence")

    @property
    def any(self) -> NDArray[np.bool_]:
        """Any of it is so."""
        found = np.zeros(len(self), np.bool_)
        for _, column in self:
            found |= column
        return found

    @property
    def counts(self) -> dict[str, int]:
        """How many chunks have each fault."""
        return {name: int(column.sum()) for name, column in self}

    @property
    def shares(self) -> dict[str, float]:
        """Which part of the chunks has each fault, from 0 to 1; 0 where there are no chunks."""
        return {name: count / max(len(self), 1) for name, count in self.counts.items()}

    def as_dict(self) -> dict[str, Any]:
        """Return totals and shares as values that JSON has."""
        shares = self.shares
        faults = {
            name: {"chunks": count, "share": shares[name]} for name, count in self.counts.items()
        }
        some = int(self.any.sum())
        return {
            "name": self.name,
            "fingerprint": self.fingerprint,
            "documents": self.documents,
            "chunks": len(self),
            "any": {"chunks": some, "share": some / max(len(self), 1)},
            "faults": faults,
        }

    def __len__(self) -> int:
        return int(self._columns.shape[1])

    def __iter__(self) -> Iterator[tuple[str, NDArray[np.bool_]]]:
        """Yield each fault's name and column."""
        return zip(_NAMES, self._columns, strict=True)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Boundaries):
            return NotImplemented
        return self.as_dict() == other.as_dict() and np.array_equal(self._columns, other._columns)

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        one = "" if self.documents == 1 else "s"
        lines = [f"{self.name}: {len(self)} chunks of {self.documents} document{one}"]
        totals = [*self.counts.values(), int(self.any.sum())]
        width = max(map(len, FAULTS.values()))
        places = len(str(len(self)))
        for words, count in zip([*FAULTS.values(), "any of these"], totals, strict=True):
            share = count / max(len(self), 1)
            lines.append(f"  {words:<{width}}  {count:>{places}}  {share:6.1%}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Boundaries({len(self)} chunks, {int(self.any.sum())} with a fault)"


def boundaries(chunks: Chunks, *, format: str = "auto", depth: int | str = "auto") -> Boundaries:
    """Return what the boundaries of chunks cut through, whatever strategy cut them.

    Headings, lists, tables and code are those of the blocks that were handed in or read for the
    cutting; where there are none, the documents are read anew by their form. Chunks of raw HTML are
    judged by where its readable text stands in it.

    Args:
        chunks: Chunks of any strategy.
        format: The form of documents whose blocks are not known, one of `cantle.FORMATS`; `"auto"`
            goes by the ending of a document's id, and takes Markdown where that tells nothing.
        depth: The most that a heading's level may be if text above and below it is not to share a
            chunk; `"all"`: any heading. `"auto"`: for each document the depth that it was cut at,
            if its strategy has one, as `Structural` has; else any. To compare strategies, give the
            same depth to each.

    Raises:
        TypeError: `chunks` are none.
        SettingError: The format is not known, or the depth is none.
        ImportError: A document is source code, and `cantle[code]` is not installed.

    Example:
        >>> import cantle
        >>> text = "# Tea\\n\\nWarm the pot. Pour.\\n\\n# Cups\\n\\nTwo.\\n"
        >>> cantle.boundaries(cantle.Window(4, unit="words").split(text)).straddles_heading
        array([False,  True, False])
    """
    if not isinstance(chunks, Chunks):
        raise TypeError(f"chunks must be Chunks, not {type(chunks).__qualname__}")
    check_format(format)
    depths = _depths(chunks, depth)
    found = np.zeros((len(_NAMES), len(chunks)), np.bool_)
    order = np.argsort(chunks.doc, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(chunks.doc[order])) + 1):
        if len(rows):
            doc = int(chunks.doc[rows[0]])
            spans = _core.visible(
                chunks.documents.texts[doc], chunks.byte_start[rows], chunks.byte_end[rows]
            )
            places = _places(chunks, doc, format)
            found[:, rows] = _joined(places, *spans, depths.get(doc, depths[None]))
    return Boundaries(found, chunks)


def _depths(chunks: Chunks, depth: int | str) -> dict[int | None, int]:
    """Return the deepest level that counts for some documents, and under None for the others."""
    if depth == "all":
        return {None: _NO_LIMIT}
    if depth == "auto":
        depths: dict[int | None, int] = {None: _NO_LIMIT}
        if chunks.structure is not None:
            depths |= dict(chunks.structure.depths.items())
        return depths
    if isinstance(depth, bool) or not hasattr(depth, "__index__"):
        if isinstance(depth, str):
            raise _core.SettingError(f"depth ({depth!r}) must be a level, 'all' or 'auto'")
        raise TypeError(f"depth ({depth!r}) must be a whole number, 'all' or 'auto'")
    level = int(depth)
    if level < 1:
        raise _core.SettingError(f"depth ({level}) must be at least 1")
    return {None: level}


class _Places(NamedTuple):
    """The blocks and sentences of a document: visible spans, in bytes of what chunks are cut of."""

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    kind: NDArray[np.uint8]
    level: NDArray[np.uint16]
    """Of a heading that opens a section; 0 elsewhere."""
    speaks: NDArray[np.bool_]
    """Whether a block is text of a section, and no mere title or divider."""
    lists: NDArray[np.uint8]
    sentence_start: NDArray[np.int64]
    sentence_end: NDArray[np.int64]


def _places(chunks: Chunks, doc: int, format: str) -> _Places:
    documents = chunks.documents
    given = None if documents.blocks is None else documents.blocks[doc]
    blocks = given
    if blocks is None:
        form = format
        if form == "auto":
            form = form_of(documents.id(doc)) or OTHERWISE
        blocks = structure.blocks(documents.texts[doc], format=form)
    columns = blocks._columns
    start, end = _core.visible(blocks.text, columns["start"], columns["end"])
    sentences = _core.sentences(blocks.text)
    sentence = sentences["byte_start"], sentences["byte_end"]
    shown = start < end
    start, end = start[shown], end[shown]
    if given is None:
        # The chunks are slices of the text itself, and not of what is read off it.
        start, end = blocks.locate(start, end)
        sentence = blocks.locate(*sentence)
    kind = columns["kind"][shown]
    opens = (kind == _HEADING) & (columns["depth"][shown] == 0)
    if "scopes" in columns:
        # A definition is code as well, from its first line on.
        kind = np.full_like(kind, _CODE)
    titles = np.isin(columns["kind"][shown], (_HEADING, _RULE))
    return _Places(
        start,
        end,
        kind,
        np.where(opens, columns["level"][shown], 0),
        ~titles | (columns["depth"][shown] > 0),
        columns["lists"][shown],
        *sentence,
    )


def _joined(
    places: _Places, start: NDArray[np.int64], end: NDArray[np.int64], depth: int
) -> NDArray[np.bool_]:
    """Return the faults of the chunks with these visible spans; bool [faults, chunks]."""
    found = dict.fromkeys(_NAMES, np.zeros(len(start), np.bool_))
    blocks = len(places.kind)
    if not blocks:
        return np.array([found[name] for name in _NAMES])
    # Blocks that a chunk touches: from the first to before the last.
    first = np.searchsorted(places.end, start, side="right")
    last = np.searchsorted(places.start, end, side="left")
    text = _next(places.speaks)
    opening = _previous((places.level > 0) & (places.level <= depth))
    heads = (last > first) & (last > 0)
    inner = np.maximum(last - 1, 0)
    found["straddles_heading"] = heads & (text[np.minimum(first, blocks)] < opening[inner])
    # Dividers behind the last heading change nothing.
    final = np.maximum(_previous(places.kind != _RULE)[inner], 0)
    found["orphans_heading"] = (
        heads & (final >= first) & (places.level[final] > 0) & (text[final] < blocks)
    )
    for at, which in ((start, "starts"), (end, "ends")):
        block = np.searchsorted(places.end, at, side="right")
        here = np.minimum(block, blocks - 1)
        inside = (block < blocks) & (places.start[here] < at)
        between = (block < blocks) & (block > 0) & ~inside
        own, shared = places.lists[here], places.lists[here] >> structure.SHARED
        lists = np.where(inside, own, np.where(between, shared, 0))
        kind = places.kind[here]
        for name, now in (
            ("cuts_table", inside & (kind == _TABLE)),
            ("cuts_code", inside & (kind == _CODE)),
            ("cuts_item", lists & structure.ITEM > 0),
            ("cuts_list", lists & structure.LIST > 0),
            ("cuts_procedure", lists & structure.ORDERED > 0),
        ):
            found[name] = found[name] | now
        sentence = np.searchsorted(places.sentence_end, at, side="right")
        known = sentence < len(places.sentence_end)
        begun = np.append(places.sentence_start, 0)[sentence] < at
        words = inside & ~np.isin(kind, _WORDLESS)
        found[f"{which}_mid_sentence"] = words & known & begun
    # Nothing is said of a chunk without visible text.
    return np.array([found[name] for name in _NAMES]) & (start < end)


def _next(mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return for each place and the end the first from it on that counts; else the end."""
    rows = np.where(mask, np.arange(len(mask)), len(mask))
    nearest = np.minimum.accumulate(rows[::-1])[::-1]
    return np.append(nearest, len(mask))


def _previous(mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return for each place the last one up to it that counts; else -1."""
    nearest: NDArray[np.int64] = np.maximum.accumulate(np.where(mask, np.arange(len(mask)), -1))
    return nearest
