"""The results as a picture: a bar of MB/s for each, grouped by what was asked. SVG, also in HTML.

Groups have scales of their own: characters are cut many times faster than tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import groupby
from textwrap import wrap
from typing import Any

from cantle.bench.table import figure, told

ENDINGS = (".svg", ".html")
_WIDTH, _LEFT, _RIGHT = 860, 250, 210
_BAR, _GAP, _HEAD = 20, 6, 30
_TOP = 74
_LINE, _NOTE = 125, 17
"""Characters in a line of the footer, and its height."""


def page(results: Sequence[dict[str, Any]], title: str, footer: str) -> str:
    """Return an HTML page with the picture alone."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape(title)}</title>\n"
        "<style>body{margin:2rem auto;max-width:960px}svg{width:100%;height:auto}</style>\n"
        f"</head>\n<body>\n{svg(results, title, footer)}</body>\n</html>\n"
    )


def svg(results: Sequence[dict[str, Any]], title: str, footer: str) -> str:
    """Return the picture.

    Args:
        results: The results, those of one question next to each other.
        title: The first line.
        footer: What stands below: machine and versions.
    """
    drawn: list[str] = []
    y = _TOP
    for (strategy, unit), found in groupby(results, lambda r: (r["strategy"], r["unit"])):
        group = list(found)
        most = max((result["mb_per_second"] or 0 for result in group), default=0) or 1
        drawn.append(_text(24, y + 15, f"{strategy}, {unit}", "group"))
        y += _HEAD
        for result in group:
            drawn += _bar(result, y, most)
            y += _BAR + _GAP
        y += 14
    notes = wrap(footer, _LINE)
    if any(told(result) for result in results):
        notes.insert(0, "* Something is wrong with its answers; the table says what.")
    height = y + _NOTE * len(notes) + 14
    y += 14
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" role="img">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n"
        f'<rect class="ground" width="{_WIDTH}" height="{height}"/>\n'
    )
    words = [
        _text(24, 34, title, "title"),
        _text(24, 56, "MB of UTF-8 per second, best round; each group has its own scale", "note"),
        *drawn,
        *(_text(24, y + _NOTE * i, note, "note") for i, note in enumerate(notes)),
    ]
    return head + "".join(f"{line}\n" for line in words) + "</svg>\n"


def _bar(result: dict[str, Any], y: int, most: float) -> list[str]:
    ours = result["library"] == "cantle"
    speed = result["mb_per_second"]
    middle = y + _BAR - 6
    name = f"{result['library']} {result['version'] or ''}".strip()
    if ours:
        name += f", {result['threads']} thread{'' if result['threads'] == 1 else 's'}"
    lines = [_text(_LEFT - 10, middle, name, "ours name" if ours else "name")]
    if speed is None:
        return [*lines, _text(_LEFT + 2, middle, "failed", "fault")]
    width = max((_WIDTH - _LEFT - _RIGHT) * speed / most, 1.0)
    kind = "ours" if ours else "peer"
    lines.append(
        f'<rect class="{kind}" x="{_LEFT}" y="{y}" width="{width:.1f}" height="{_BAR}" rx="2"/>'
    )
    label = figure(speed)
    if result["cantle_is_faster_by"] is not None:
        label += f"  (cantle: {figure(result['cantle_is_faster_by'])}x)"
    faults = told(result)
    mark = f'<tspan class="fault"> *<title>{escape(faults)}</title></tspan>' if faults else ""
    x = _LEFT + width + 8
    lines.append(f'<text class="value" x="{x:.1f}" y="{middle}">{escape(label)}{mark}</text>')
    return lines


def _text(x: float, y: float, words: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x}" y="{y}">{escape(words)}</text>'


_STYLE = (
    "text{font:13px system-ui,'Segoe UI',Helvetica,Arial,sans-serif;fill:#1f2933}"
    ".ground{fill:#fff}"
    "text.title{font-size:18px;font-weight:600}"
    "text.group{font-weight:600}"
    "text.note{font-size:12px;fill:#616e7c}"
    "text.name{text-anchor:end;fill:#52606d}"
    "text.ours{fill:#1f2933;font-weight:600}"
    "rect.ours{fill:#0f7b6c}rect.peer{fill:#b8c4ce}"
    "text.value{font-size:12px;font-variant-numeric:tabular-nums}"
    ".fault{fill:#b42318}"
)
