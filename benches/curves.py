"""Curves of time as something grows: SVG, both axes logarithmic, a panel for each unit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

COLOURS = ("#0f7b6c", "#b42318", "#2b5fb4", "#9a6700", "#7a3fa0", "#52606d")
_WIDTH, _PANEL, _HEIGHT, _LEFT, _TOP = 860, 190, 200, 56, 84
_DECADE = 10.0


def svg(results: Sequence[dict[str, Any]], title: str) -> str:
    """Return the picture of results of `bench_scale` that have one axis."""
    units = list(dict.fromkeys(result["unit"] for result in results))
    strategies = list(dict.fromkeys(result["strategy"] for result in results))
    points = [point for result in results for point in result["points"]]
    low, high = _range([point["step"] for point in points], whole=False)
    bottom, top = _range([point["cpu_seconds"] for point in points], whole=True)
    height = _TOP + _HEIGHT + 56
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" role="img">',
        f"<title>{escape(title)}</title>",
        "<style>text{font:12px system-ui,'Segoe UI',Helvetica,Arial,sans-serif;fill:#1f2933}"
        "text.title{font-size:16px;font-weight:600}path{fill:none;stroke-width:2}"
        "line{stroke:#dde3e8}</style>",
        f'<rect fill="#fff" width="{_WIDTH}" height="{height}"/>',
        _text(24, 28, f"CPU seconds by {title}", "title"),
    ]
    for number, name in enumerate(strategies):
        x = 24 + 110 * number
        out.append(f'<rect fill="{_colour(number)}" x="{x}" y="42" width="12" height="12"/>')
        out.append(_text(x + 18, 53, name))

    for column, unit in enumerate(units):
        left = _LEFT + (_PANEL + 10) * column

        def place(step: float, seconds: float, left: float = left) -> tuple[float, float]:
            across = (math.log(step) - low) / (high - low)
            up = (math.log(seconds) - bottom) / (top - bottom)
            return left + across * _PANEL, _TOP + (1 - up) * _HEIGHT

        out.append(_text(left, _TOP - 8, unit))
        for power in range(round(bottom / math.log(_DECADE)), round(top / math.log(_DECADE)) + 1):
            y = place(math.exp(low), _DECADE**power)[1]
            out.append(f'<line x1="{left}" x2="{left + _PANEL}" y1="{y:.1f}" y2="{y:.1f}"/>')
            if column == 0:
                out.append(_text(8, y + 4, f"{_DECADE**power:g} s"))
        for step in sorted({p["step"] for r in results if r["unit"] == unit for p in r["points"]}):
            x = place(step, math.exp(bottom))[0]
            out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_TOP + _HEIGHT}"/>')
        ends = [round(math.exp(end)) for end in (low, high)]
        out.append(_text(left, _TOP + _HEIGHT + 18, f"{ends[0]:,}"))
        out.append(
            f'<text x="{left + _PANEL}" y="{_TOP + _HEIGHT + 18}" text-anchor="end">'
            f"{ends[1]:,}</text>"
        )
        for result in (result for result in results if result["unit"] == unit):
            path = " L".join(
                "{:.1f} {:.1f}".format(*place(p["step"], p["cpu_seconds"]))
                for p in result["points"]
                if p["cpu_seconds"] > 0
            )
            colour = _colour(strategies.index(result["strategy"]))
            out.append(f'<path stroke="{colour}" d="M{path}"/>')
    out.append(
        _text(
            24,
            height - 14,
            "Both axes are logarithmic: where tenfold takes ten times as long, work is linear.",
        )
    )
    return "\n".join([*out, "</svg>\n"])


def _range(values: Sequence[float], *, whole: bool) -> tuple[float, float]:
    """Return the logarithms of the ends of an axis; of whole decades on request."""
    logs = [math.log(value) for value in values if value > 0] or [0.0]
    low, high = min(logs), max(logs)
    if whole:
        decade = math.log(_DECADE)
        low, high = math.floor(low / decade) * decade, math.ceil(high / decade) * decade
    return low, high if high > low else low + 1


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _text(x: float, y: float, words: str, kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x}" y="{y:.1f}">{escape(words)}</text>'
