"""Chunks as a table of HTML, for notebooks."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from cantle.chunk import preview

if TYPE_CHECKING:
    from cantle.chunks import Chunks

_ROWS = 20


def table(chunks: Chunks, summary: str) -> str:
    """Return the first chunks as a table below a summary."""
    head = "".join(f"<th>{name}</th>" for name in ("id", "characters", "size", "text"))
    body = "".join(
        "<tr>"
        + "".join(
            f"<td>{html.escape(str(cell))}</td>"
            for cell in (c.id, c._span(), c.size, preview(c.text, 100))
        )
        + "</tr>"
        for c in chunks[:_ROWS]
    )
    more = f"<p>... {len(chunks) - _ROWS} more</p>" if len(chunks) > _ROWS else ""
    caption = html.escape(f"Chunks: {summary}")
    return f"<table><caption>{caption}</caption><tr>{head}</tr>{body}</table>{more}"
