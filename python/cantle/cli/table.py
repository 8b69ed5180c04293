"""Chunks as a table for people, and text as a terminal may see it."""

from __future__ import annotations

import os
import sys
import unicodedata
from typing import Any, Literal

from rich import table as rich_table
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from cantle import OVERSIZE, Chunks
from cantle.cli.carried import OWN
from cantle.cli.output import Sink, rows
from cantle.cli.rows import Batch

_WIDTH = 100
"""Columns of a table that goes to no terminal."""
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
        lines = [_cells(row) for row in rows(chunks, None, self._own)]
        if not lines:
            return
        headed = any(self._widths)
        for i, head in enumerate(self._heads):
            cells = [head, *(line[i].plain for line in lines)]
            self._widths[i] = max(self._widths[i], *map(cell_len, cells))
        self._widths[0] = min(self._widths[0], self._console.width * 2 // 5)
        for i in range(3, len(self._heads)):
            self._widths[i] = min(self._widths[i], self._console.width // 3)
        grid = rich_table.Table(
            box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=not headed
        )
        for i, head in enumerate(self._heads):
            side: Literal["left", "right"] = "right" if i in (1, 2) else "left"
            grid.add_column(head, justify=side, width=self._widths[i], overflow="fold")
        words = max(self._console.width - sum(self._widths) - 2 * len(self._heads), 8)
        grid.add_column("first words", no_wrap=True, overflow="ellipsis", width=words)
        for line in lines:
            grid.add_row(*line)
        self._console.print(grid)


def _cells(row: dict[str, Any]) -> tuple[Text, ...]:
    over = row["flags"] & OVERSIZE
    return (
        Text(printable(row["id"])),
        Text(f"{row['char_start']}..{row['char_end']}"),
        Text(f"{row['size']}{'!' if over else ''}", "bold red" if over else ""),
        *([Text(printable(" > ".join(row["heading_path"])))] if "heading_path" in row else []),
        Text(printable(" ".join(row["text"][:400].split()))),
    )


def printable(text: str) -> str:
    """Return `text` with what a terminal would act upon written as escapes."""
    if text.isprintable():
        return text
    return "".join(
        ascii(c)[1:-1] if unicodedata.category(c) in ("Cc", "Cs") or c in _DIRECTIONS else c
        for c in text
    )
