"""Chunks as a table for people, and text as a terminal may see it."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Sequence
from typing import Any, Literal

from rich import table as rich_table
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from cantle import OVERSIZE, Chunks
from cantle.bench.table import is_number, markdown
from cantle.cli.carried import OWN
from cantle.cli.output import Sink, rows, written
from cantle.cli.rows import Batch

_WIDTH = 100
"""Columns of a table that goes to no terminal."""
_FIRST = 16
"""The least width of the first column of a table of figures."""
_BELOW = " > "
_DIRECTIONS = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


class _Console(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


class Table(Sink):
    """Prints id, characters, size, headings and first words of each chunk, one chunk a line."""

    def __init__(self, own: tuple[str, ...] = OWN) -> None:
        """Print to standard output; headings if they are among the chunks' own columns."""
        self._own = own
        width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else _WIDTH
        self._console = _Console(file=sys.stdout, width=width, highlight=False)
        self._heads = ["id", "characters", "size"]
        if "heading_path" in own:
            self._heads.append("headings")
        self._widths = [0] * len(self._heads)

    def write(self, chunks: Chunks, batch: Batch) -> None:
        """Print the chunks of some documents."""
        shown = written(chunks, self._own)
        lines = [_cells(row) for level in shown for row in rows(level, None, self._own)]
        if not lines:
            return
        begun = any(self._widths)
        for i, head in enumerate(self._heads):
            cells = [head, *(line[i].plain for line in lines)]
            self._widths[i] = max(self._widths[i], *map(cell_len, cells))
        self._widths[0] = min(self._widths[0], self._console.width * 2 // 5)
        if headed := "headings" in self._heads:
            room = self._console.width - sum(self._widths[:3]) - 2 * len(self._heads)
            self._widths[3] = min(self._widths[3], max(room // 2, 8))
        grid = rich_table.Table(
            box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=not begun
        )
        for i, head in enumerate(self._heads):
            side: Literal["left", "right"] = "right" if i in (1, 2) else "left"
            # Ids are whole, to be copied; of headings the inner ones are shown.
            fold: Literal["fold", "ellipsis"] = "fold" if i < 3 else "ellipsis"
            width = self._widths[i]
            grid.add_column(head, justify=side, width=width, overflow=fold, no_wrap=i >= 3)
        words = max(self._console.width - sum(self._widths) - 2 * len(self._heads), 8)
        grid.add_column("first words", no_wrap=True, overflow="ellipsis", width=words)
        for id, characters, size, *others in lines:
            if headed:
                others[0] = _inner(others[0], self._widths[3])
            grid.add_row(id, characters, size, *others)
        self._console.print(grid)


def figures(heads: Sequence[str], lines: Sequence[Sequence[str]], spare: Sequence[str]) -> None:
    """Print a table of figures: in Markdown, or narrower where a terminal has no room for that.

    Args:
        heads: The names of the columns; the first one holds what lines are about.
        lines: A cell for each column.
        spare: Columns that a narrow terminal is not shown, the first one to go first.
    """
    told = markdown(heads, lines)
    console = _Console(file=sys.stdout, highlight=False)
    if not sys.stdout.isatty() or cell_len(told.partition("\n")[0]) <= console.width:
        print(told, end="")
        return
    columns = list(zip(heads, *lines, strict=True))
    for name in (*spare, None):
        # Heads may be folded between words, cells only in the first column.
        widths = [max(map(cell_len, [*head.split(), *cells])) for head, *cells in columns[1:]]
        left = console.width - sum(widths) - len(widths)
        if left >= _FIRST or name is None:
            break
        columns = [column for column in columns if column[0] != name]
    grid = rich_table.Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    widths.insert(0, min(max(left, _FIRST), max(map(cell_len, columns[0]))))
    for (head, *cells), width in zip(columns, widths, strict=True):
        side: Literal["left", "right"] = "right" if is_number(cells) else "left"
        grid.add_column(Text(head), justify=side, overflow="fold", width=width)
    for line in list(zip(*columns, strict=True))[1:]:
        grid.add_row(*map(Text, line))
    console.print(grid)


def _cells(row: dict[str, Any]) -> tuple[Text, ...]:
    over = row["flags"] & OVERSIZE
    return (
        Text(printable(row["id"])),
        Text(f"{row['char_start']}..{row['char_end']}"),
        Text(f"{row['size']}{'!' if over else ''}", "bold red" if over else ""),
        *([Text(printable(_BELOW.join(row["heading_path"])))] if "heading_path" in row else []),
        Text(printable(" ".join(row["text"][:400].split()))),
    )


def _inner(path: Text, width: int) -> Text:
    """Return a heading path without the outer headings for which there is no room."""
    shown, cut = path.plain, False
    while cell_len(shown) + 4 * cut > width and _BELOW in shown:
        shown, cut = shown.partition(_BELOW)[2], True
    return Text(f"…{_BELOW}{shown}") if cut else path


def printable(text: str) -> str:
    """Return `text` with what a terminal would act upon written as escapes."""
    if text.isprintable():
        return text
    return "".join(
        ascii(c)[1:-1] if unicodedata.category(c) in ("Cc", "Cs") or c in _DIRECTIONS else c
        for c in text
    )
