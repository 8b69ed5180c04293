"""The results as a Markdown table, which is to be read on a terminal as well."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

from cantle.bench.faults import in_words

_MIB = 1 << 20


def table(results: Sequence[dict[str, Any]]) -> str:
    """Return the table; what concerns other libraries is there where one took part."""
    peers = any(result["library"] != "cantle" for result in results)
    noted = any(result["faults"] or result["failed"] for result in results)
    rows = []
    before = None
    for result in results:
        # Documents one by one are a figure of the strategy, whatever the number of threads.
        again = result["library"] == "cantle" and before == result["fingerprint"]
        rows.append(_cells(result, again))
        before = result["fingerprint"]
    heads = list(rows[0]) if rows else []
    shown = [
        head
        for head in heads
        if (peers or head not in ("library", "cantle is faster by")) and (noted or head != "faults")
    ]
    return markdown(shown, [[row[head] for head in shown] for row in rows])


def _cells(result: dict[str, Any], again: bool) -> dict[str, str]:
    spread, share = result["spread"], result["tokenizer_share"]
    ratio, peak, version = result["cantle_is_faster_by"], result["peak_bytes"], result["version"]
    return {
        "strategy": result["strategy"],
        "unit": result["unit"],
        "library": f"{result['library']} {version}" if version else result["library"],
        "threads": f"{result['threads']}",
        "MB/s": figure(result["mb_per_second"]),
        "spread": "-" if spread is None else f"{spread:.0%}",
        "documents/s": figure(result["documents_per_second"]),
        "chunks/s": figure(result["chunks_per_second"]),
        "p50 ms": "-" if again else figure(_scaled(result["p50_seconds"], 1e3)),
        "p99 ms": "-" if again else figure(_scaled(result["p99_seconds"], 1e3)),
        "peak MiB": figure(_scaled(peak, 1 / _MIB)),
        "tokenizer": "-" if share is None else f"{share:.0%}",
        "chunks": "-" if result["chunks"] is None else f"{result['chunks']:,}",
        "cantle is faster by": "-" if ratio is None else f"{figure(ratio)}x",
        "faults": told(result),
    }


def told(result: dict[str, Any]) -> str:
    """Return what is wrong with a result, in words; nothing where all is well."""
    words = in_words(result["faults"])
    if result["failed"]:
        words.append(f"failed: {result['failed']}")
    return "; ".join(words)


def figure(value: float | None) -> str:
    """Return a number with three digits that count, or more before the point.

    >>> figure(1234.5), figure(98.76), figure(0.01234)
    ('1,234', '98.8', '0.0123')
    """
    if value is None:
        return "-"
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:#.3g}".rstrip(".") if value >= 1e-4 or not value else f"{value:.1e}"


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table whose columns stand below each other; numbers on the right."""
    cells = [[cell.replace("|", "\\|") for cell in row] for row in (heads, *rows)]
    widths = [max(3, *map(_width, column)) for column in zip(*cells, strict=True)]
    right = [is_number(column[1:]) for column in zip(*cells, strict=True)]
    rule = [("-" * (w - 1) + ":") if r else "-" * w for w, r in zip(widths, right, strict=True)]
    lines = []
    for row in (cells[0], rule, *cells[1:]):
        padded = [
            " " * (width - _width(cell)) + cell if side else cell + " " * (width - _width(cell))
            for cell, width, side in zip(row, widths, right, strict=True)
        ]
        lines.append(f"| {' | '.join(padded)} |\n")
    return "".join(lines)


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def is_number(column: Sequence[str]) -> bool:
    """Return whether a column's cells stand on the right.

    >>> is_number(["1,234", "-"]), is_number(["98.8", "none"])
    (True, False)
    """
    return all(cell == "-" or cell[:1].isdigit() for cell in column)


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
