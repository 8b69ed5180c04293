"""What readers hand on: documents, one by one or as a batch of a table's rows; and what rows share.

The text's column, the id's, the ones that are carried; ids that are taken; how a row is refused.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cantle import Blocks, blocks
from cantle.cli.inputs import Problem, Source

LONGEST = 256_000_000
"""Bytes of the longest line of JSON Lines or CSV that is taken: a line is held whole."""
_COLUMNS_NAMED = 8


class Document(NamedTuple):
    """A document that was read. A tuple: there may be millions."""

    id: str
    text: str
    metadata: dict[str, Any]
    size: int
    """Bytes read for it."""
    file: str
    line: int | None = None
    form: str | None = None
    """The form that the text is read by before it is cut: `html`, or a table's that no id tells."""


@dataclass
class Batch:
    """Documents that are cut in one call, as columns."""

    texts: list[str]
    """As they were read."""
    ids: list[str]
    places: list[tuple[str, int | None]]
    """File and line, for messages."""
    size: int
    """Bytes read for them."""
    metadata: list[dict[str, Any]] | None = None
    carried: Any = None
    """The carried columns of a table with types, as a `pyarrow.Table`; then without metadata."""
    forms: dict[int, str] = field(default_factory=dict)
    """By which forms texts are read before they are cut; the others are cut as they are."""

    @property
    def readable(self) -> list[str | Blocks]:
        """What is cut: of HTML, for one, the blocks of its readable text."""
        return [
            blocks(text, format=self.forms[doc]) if doc in self.forms else text
            for doc, text in enumerate(self.texts)
        ]

    def __len__(self) -> int:
        return len(self.texts)

    def part(self, start: int, end: int) -> Batch:
        """Return some of the documents."""
        return Batch(
            self.texts[start:end],
            self.ids[start:end],
            self.places[start:end],
            self.size * (min(end, len(self)) - start) // max(len(self), 1),
            None if self.metadata is None else self.metadata[start:end],
            None if self.carried is None else self.carried.slice(start, end - start),
        )


@dataclass(frozen=True)
class Columns:
    """Which columns of a table hold the text and the id, and which are carried along."""

    text: str = "text"
    id: str | None = None
    carry: tuple[str, ...] | None = None
    """None: all that have one value a row."""
    typed: bool = False
    """Whether carried columns that have types keep them: the chunks are written with types."""

    def others(self, names: Iterable[str]) -> list[str]:
        """Return the names that are carried, of those a row has."""
        if self.carry is not None:
            have = set(names)
            return [name for name in self.carry if name in have]
        return [name for name in names if name not in (self.text, self.id)]

    def check(self, names: Sequence[str], described: Sequence[str]) -> None:
        """Check the columns of a table before its rows are read.

        Raises:
            Skip: One is missing, or there twice.
        """
        for name in (self.text, self.id, *(self.carry or ())):
            if name is not None and name not in names:
                raise Skip(f"no column {name!r}", listing(described))
        used = set(names) if self.carry is None else {self.text, self.id, *self.carry}
        twice = [name for name, n in Counter(names).items() if n > 1 and name in used]
        if twice:
            raise Skip(f"column {twice[0]!r} is there twice", listing(described))


class Skip(Exception):
    """A row, or a table, that is not taken, and why."""

    def __init__(self, reason: str, detail: str = "", line: int | None = None) -> None:
        """Say the kind of problem, its particulars, and its line if it is known here."""
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail
        self.line = line

    def at(self, source: Source, line: int | None = None) -> Problem:
        """Return it as a problem of a row, or else of all that follows in the file."""
        last = line is None
        return Problem(source.place, self.reason, self.detail, line or self.line, last)


@dataclass
class Ids:
    """The ids that are taken: no two documents of a run share one."""

    taken: dict[str, str] = field(default_factory=dict)
    """Id to the place it stands at."""

    def take(self, value: Any, columns: Columns, source: Source, line: int) -> str:
        """Return the id of a row, `file:line` where no column holds it.

        Raises:
            Skip: The value is no id, or is taken.
        """
        name = f"{source.id}:{line}"
        if columns.id is not None:
            if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
                reason = f"column {columns.id!r} is neither text nor a number"
                raise Skip(reason, f"it is {kind(value)}")
            name = str(value)
        if name in self.taken:
            raise Skip("the id is taken", f"{name!r} is that of {self.taken[name]}")
        if columns.id is not None:
            self.taken[name] = f"{source.place}:{line}"
        return name


def listing(described: Sequence[str]) -> str:
    """Return a line that names the columns there are."""
    has = ", ".join(described[:_COLUMNS_NAMED]) or "none"
    return f"its columns: {has}{', ...' if len(described) > _COLUMNS_NAMED else ''}"


def kind(value: Any) -> str:
    """Return in a word what a value is."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if value == "":
        return "empty"
    kinds = {str: "text", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return kinds.get(type(value), type(value).__name__)


def not_utf8(data: bytes, error: UnicodeDecodeError) -> tuple[str, str]:
    """Return reason and detail for bytes that are no UTF-8."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "not UTF-8", "it is UTF-16"
    place = f"the byte 0x{data[error.start]:02x} at position {error.start} is out of place"
    return "not UTF-8", place
