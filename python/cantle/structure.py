"""What stands where in a document: `Blocks`, and what they say of chunks: `Structure`.

How blocks are read off a text and cut stands in the core.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cantle import _core, code
from cantle.forms import FORMATS, in_place

if TYPE_CHECKING:
    from numpy.typing import NDArray

KINDS: tuple[str, ...] = tuple(_core.KINDS)
"""What a block, or a chunk, can be; a column of kinds names one by its number here."""

LIST, ITEM, ORDERED = 1, 2, 4
"""Bits of what a block stands in: the innermost of lists and items is a list, or an item; any list
is a numbered one. The same bits, shifted by `SHARED`, tell what of it the block before shares."""
SHARED = 3

_GAP = "\n\n"
"""Between two blocks that are handed in."""
_NAMES = np.array(KINDS)
_NUMBERED = re.compile(r"\s*\(?(\d{1,3}|[A-Za-z])[.)]\s")
"""What stands before the text of a numbered item that is handed in."""


@dataclass(frozen=True)
class Block:
    """A block that a caller hands in, from a reader of PDF or office files for example.

    Args:
        text: Its readable text. One that is blank stays in the columns, with an empty span.
        kind: One of `cantle.KINDS`.
        level: A heading's level, from 1; 0 for anything else.
        page: The page it stands on, from 1; None if that is not known.
        box: Its place on the page: left, top, right, bottom, in a unit of the caller's.
        header: How many of its first lines every part of it carries, should it be cut: the header
            rows of a table, the first line of a fence.
    """

    text: str
    _: KW_ONLY
    kind: str = "prose"
    level: int = 0
    page: int | None = None
    box: tuple[float, float, float, float] | None = None
    header: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise TypeError(f"text ({self.text!r}) must be str")
        if self.kind not in KINDS:
            known = ", ".join(map(repr, KINDS))
            raise _core.SettingError(f"kind ({self.kind!r}) must be one of {known}")
        for name in ("level", "page", "header"):
            value = getattr(self, name)
            if name == "page" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | np.integer):
                raise TypeError(f"{name} ({value!r}) must be a whole number")
            if not 0 <= value < 2**15:
                raise _core.SettingError(f"{name} ({value}) must be from 0 to 32767")
        if self.kind == "heading" and not self.level:
            raise _core.SettingError("level (0) must be at least 1 for a heading")
        if self.kind != "heading" and self.level:
            raise _core.SettingError(f"level ({self.level}) must be 0 for {self.kind!r}")
        if self.box is not None and len(self.box) != 4:
            raise _core.SettingError(f"box ({self.box!r}) must be left, top, right, bottom")


class Blocks:
    """The blocks of one document as read-only columns, and its text.

    `blocks(text, format=...)` reads them off a text. `Blocks([...])` takes a caller's own: the
    text is then that of the blocks, joined by a blank line. Every strategy takes them in place of a
    text.
    """

    __slots__ = ("_columns", "_core", "box", "origin", "page", "text", "title", "titles")

    _columns: dict[str, NDArray[Any]]

    text: str
    """What the chunks are slices of."""
    titles: tuple[str, ...]
    """What the headings say, without marks: one for each block that is a heading."""
    page: NDArray[np.int32] | None
    """The page of each block, from 1; -1 where it is not known. None if no block has any."""
    title: str
    """The document's own title, where its form has one beside the headings, as HTML has."""
    origin: _core.Origin | None
    """Of HTML, what leads from `text` back into it; None where `text` is the source itself."""
    box: NDArray[np.float64] | None
    """Left, top, right and bottom of each block; float [n, 4], NaN where it has none."""

    def __init__(self, blocks: Iterable[Block]) -> None:
        """Take the blocks of one document, in reading order.

        Raises:
            TypeError: One is no `Block`.
            TextError: A text holds a lone surrogate.
        """
        rows = list(blocks)
        for i, row in enumerate(rows):
            if not isinstance(row, Block):
                raise TypeError(f"blocks[{i}] ({row!r}) must be Block")
        parts: list[str] = []
        spans = np.zeros((3, len(rows)), np.int64)
        at = 0
        for i, row in enumerate(rows):
            text = row.text.rstrip("\r\n")
            if not text.strip():
                spans[:, i] = at
                continue
            if parts:
                parts.append(_GAP)
                at += len(_GAP)
            lines = text.splitlines(keepends=True)
            head = "".join(lines[: row.header]) if row.header < len(lines) else ""
            try:
                end = at + len(text.encode())
                spans[:, i] = at, end, at + len(head.encode())
            except UnicodeEncodeError as error:
                raise _core.TextError(
                    f"blocks[{i}] holds a lone surrogate at character {error.start}"
                ) from None
            parts.append(text)
            at = end
        listed = [row.kind == "list" for row in rows]
        after = [i > 0 and listed[i - 1] and here for i, here in enumerate(listed)]
        core = _core.Blocks(
            [KINDS.index(row.kind) for row in rows],
            [row.level for row in rows],
            [2 * here for here in listed],
            [int(here) for here in after],
            _lists(rows),
            spans[0],
            spans[1],
            spans[2],
            [" ".join(row.text.split()) for row in rows if row.kind == "heading"],
        )
        pages = [-1 if row.page is None else row.page for row in rows]
        boxes = [(math.nan,) * 4 if row.box is None else row.box for row in rows]
        self._set(
            "".join(parts),
            core,
            np.array(pages, np.int32) if any(row.page is not None for row in rows) else None,
            np.array(boxes, np.float64) if any(row.box is not None for row in rows) else None,
        )

    def _set(
        self,
        text: str,
        core: _core.Blocks,
        page: NDArray[np.int32] | None,
        box: NDArray[np.float64] | None,
        title: str = "",
        origin: _core.Origin | None = None,
    ) -> None:
        self.text = text
        self.title = title
        self.origin = origin
        self._core = core
        columns = core.columns()
        self.titles = tuple(columns.pop("titles"))
        if columns.get("scopes") is None:
            columns.pop("scopes", None)
        self._columns = columns
        self.page = page
        self.box = box
        for column in (page, box):
            if column is not None:
                column.setflags(write=False)

    @property
    def kind(self) -> NDArray[np.str_]:
        """What each block is: one of `cantle.KINDS`."""
        names: NDArray[np.str_] = _NAMES[self._columns["kind"]]
        return names

    @property
    def level(self) -> NDArray[np.uint16]:
        """Each heading's level, from 1; 0 for anything else."""
        return self._columns["level"]

    @property
    def depth(self) -> NDArray[np.uint16]:
        """How many lists, items and quotes each block stands in."""
        return self._columns["depth"]

    @property
    def byte_start(self) -> NDArray[np.int64]:
        """Where each block starts, in UTF-8 bytes of `text`."""
        return self._columns["start"]

    @property
    def byte_end(self) -> NDArray[np.int64]:
        """Where each block ends, in UTF-8 bytes of `text`; behind its last line's break."""
        return self._columns["end"]

    @property
    def head_end(self) -> NDArray[np.int64]:
        """Where the part ends that every part of a block carries, in UTF-8 bytes of `text`."""
        return self._columns["head"]

    @property
    def texts(self) -> list[str]:
        """The text of each block, made now."""
        data = self.text.encode()
        spans = zip(self.byte_start.tolist(), self.byte_end.tolist(), strict=True)
        return [data[start:end].decode() for start, end in spans]

    def locate(
        self, byte_start: NDArray[np.int64], byte_end: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where spans of `text` stand in the source, in UTF-8 bytes.

        Of HTML, that is from the first character's start to behind the last one, markup between
        them included; elsewhere the same spans.
        """
        if self.origin is None:
            return byte_start, byte_end
        return self.origin.locate(byte_start, byte_end)

    def __len__(self) -> int:
        return len(self._core)

    def __iter__(self) -> Iterator[Block]:
        data = self.text.encode()
        for row, kind in enumerate(self.kind.tolist()):
            start, end, head = (int(self._columns[c][row]) for c in ("start", "end", "head"))
            page = -1 if self.page is None else int(self.page[row])
            box = None if self.box is None else tuple(self.box[row].tolist())
            yield Block(
                data[start:end].decode(),
                kind=kind,
                level=int(self.level[row]),
                page=None if page < 0 else page,
                box=None if box is None or math.isnan(box[0]) else box,
                header=len(data[start:head].decode().splitlines()),
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Blocks):
            return NotImplemented
        mine, theirs = self._columns, other._columns
        return mine.keys() == theirs.keys() and (
            self.text == other.text
            and self.titles == other.titles
            and all(np.array_equal(mine[name], theirs[name]) for name in mine)
            and _same(self.page, other.page)
            and _same(self.box, other.box)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        kinds, counts = np.unique(self.kind, return_counts=True)
        found = ", ".join(f"{n} {kind}" for kind, n in zip(kinds, counts, strict=True))
        return f"Blocks({len(self)}: {found})" if len(self) else "Blocks(0)"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (
            *(self.text, self._core, self.page, self.box, self.title),
            self.origin,
        )


def _lists(rows: list[Block]) -> list[int]:
    """Return for each row the bits of what it stands in and shares: items in a row are one list."""
    found = []
    before = 0
    for row in rows:
        numbered = ORDERED if _NUMBERED.match(row.text) else 0
        here = ITEM | numbered if row.kind == "list" else 0
        shared = LIST | before & here & ORDERED if before and here else 0
        found.append(here | shared << SHARED)
        before = here
    return found


def _same(one: NDArray[Any] | None, other: NDArray[Any] | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other, equal_nan=True)


def _rebuild(
    text: str,
    core: _core.Blocks,
    page: NDArray[np.int32] | None,
    box: NDArray[np.float64] | None,
    title: str = "",
    origin: _core.Origin | None = None,
) -> Blocks:
    blocks = Blocks.__new__(Blocks)
    blocks._set(text, core, page, box, title, origin)
    return blocks


def blocks(text: str | bytes, *, format: str = "markdown") -> Blocks:
    """Return the blocks of a text: headings, paragraphs, list items, tables, code and the like.

    Of HTML, the `text` of what comes back is the readable one, blocks joined by a blank line, the
    cells of a row by `" | "`, and `locate` leads back. Of source code, classes and functions
    are headings, each with its decorators and comments.

    Args:
        text: `str`, or UTF-8 `bytes`.
        format: One of `cantle.FORMATS`.

    Raises:
        SettingError: The format is not known.
        ImportError: The format is a language, and `cantle[code]` is not installed.
        TextError: The text is not UTF-8, or holds a lone surrogate; says where.

    Example:
        >>> import cantle
        >>> found = cantle.blocks("# Tea\\n\\nWarm the pot.\\n")
        >>> list(zip(found.kind.tolist(), found.texts))
        [('heading', '# Tea\\n'), ('prose', 'Warm the pot.\\n')]
    """
    if format == "html":
        readable, core, title, origin = _core.read_html(text)
        return _rebuild(readable, core, None, None, title, origin)
    if format in code.LANGUAGES:
        return _of_code(text, format)
    if not in_place(format):
        known = ", ".join(map(repr, FORMATS))
        raise _core.SettingError(f"format ({format!r}) must be one of {known}")
    core = _core.Blocks.read(text, format)
    return _rebuild(text.decode() if isinstance(text, bytes) else text, core, None, None)


def _of_code(text: str | bytes, language: str) -> Blocks:
    # The core tells what is wrong with a text in the words of every call.
    _core.Blocks.read(text, "csv")
    source = text.decode() if isinstance(text, bytes) else text
    found = code.blocks(source, language)
    none = np.zeros(len(found.kind), np.uint16)
    core = _core.Blocks(
        found.kind,
        found.level,
        none,
        none,
        none.astype(np.uint8),
        found.byte_start,
        found.byte_end,
        found.byte_start,
        found.titles,
        found.scope,
    )
    return _rebuild(source, core, None, None)


class Report(NamedTuple):
    """How deep a document was cut, and why."""

    doc: int
    """The document's number."""
    id: str
    """Its id."""
    depth: int | None
    """The most that a heading's level may be if it starts a section; None: any."""
    reason: str
    """What led to it, in words."""


class Structure:
    """What the blocks of some documents say of their chunks: headings, contexts, depths."""

    __slots__ = ("_tables",)

    _tables: dict[str, Any]

    def __init__(self, tables: Mapping[str, Any]) -> None:
        """Made by a strategy."""
        self._tables = dict(tables)
        for table in self._tables.values():
            if isinstance(table, np.ndarray) and table.flags.writeable:
                table.setflags(write=False)

    @property
    def titles(self) -> list[str]:
        """What the headings say, one a row."""
        return list(self._tables["titles"])

    @property
    def level(self) -> NDArray[np.uint16]:
        """The level of each heading."""
        column: NDArray[np.uint16] = self._tables["level"]
        return column

    @property
    def above(self) -> NDArray[np.int32]:
        """The row of the heading that each stands under; -1 for none."""
        column: NDArray[np.int32] = self._tables["above"]
        return column

    @property
    def doc(self) -> NDArray[np.int32]:
        """The number of each heading's document."""
        column: NDArray[np.int32] = self._tables["heading_doc"]
        return column

    @property
    def byte_start(self) -> NDArray[np.int64]:
        """Where each heading's block starts, in UTF-8 bytes."""
        column: NDArray[np.int64] = self._tables["heading_start"]
        return column

    @property
    def depths(self) -> dict[int, int]:
        """How deep each document was cut that has a number here: the most that a level may be."""
        docs, depths = self._tables["settled_doc"], self._tables["settled_depth"]
        return dict(zip(docs.tolist(), depths.tolist(), strict=True))

    def path(self, row: int) -> tuple[str, ...]:
        """Return the titles above a heading and its own, outermost first; none for -1."""
        titles, above = self._tables["titles"], self.above
        path = []
        while row >= 0:
            path.append(titles[row])
            row = int(above[row])
        return tuple(reversed(path))

    def context(self, row: int) -> tuple[int, int, int, int]:
        """Return where a context starts and ends, in bytes, then in characters."""
        names = ("byte_start", "byte_end", "char_start", "char_end")
        return tuple(int(self._tables[f"context_{name}"][row]) for name in names)  # type: ignore[return-value]

    def for_arrow(self) -> dict[str, Any]:
        """Return the tables that Arrow columns of chunks are made of."""
        names = ("above", "titles", "context_byte_start", "context_byte_end")
        return {name: self._tables[name] for name in names}

    def reports(self, unit: str, target: int | None, ids: Any) -> list[Report]:
        """Return what is known of each document's depth."""
        tables = self._tables
        return [
            Report(doc, ids(doc), depth if depth < 2**16 - 1 else None, why)
            for doc, depth, why in (
                (doc, depth, _reason(depth, counts, medians, unit, target))
                for doc, depth, counts, medians in zip(
                    tables["settled_doc"].tolist(),
                    tables["settled_depth"].tolist(),
                    tables["sections"].tolist(),
                    tables["medians"].tolist(),
                    strict=True,
                )
            )
        ]

    def __reduce__(self) -> tuple[Any, ...]:
        return Structure, (self._tables,)


_TRIED = (2, 3, 4)
_LOW, _HIGH = 0.4, 1.5


def _reason(
    depth: int, counts: list[int], medians: list[float], unit: str, target: int | None
) -> str:
    if target is None:
        return "every heading, as asked" if depth == 2**16 - 1 else f"depth {depth}, as asked"
    seen = [
        f"at depth {tried} {count} section{'s' if count != 1 else ''} of {median:g} {unit} (median)"
        for tried, count, median in zip(_TRIED, counts, medians, strict=True)
        if not math.isnan(median)
    ]
    if not seen:
        return f"depth {depth}: no heading of level {_TRIED[-1]} or less"
    within = f"{_LOW:g} to {_HIGH:g} times the target of {target}"
    last = medians[_TRIED.index(depth)] if depth in _TRIED else math.nan
    fits = _LOW * target <= last <= _HIGH * target
    verdict = f"the first within {within}" if fits else f"none within {within}, so {depth}"
    return f"depth {depth}: {'; '.join(seen)}; {verdict}"
