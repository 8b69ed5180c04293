"""A slow and obvious account of what blocks say of chunks: sections, depths, paths, contexts."""

from __future__ import annotations

import statistics
from typing import Any

import cantle

WHOLE = ("table", "code")
NO_BODY = ("heading", "rule")


def rows(found: cantle.Blocks) -> list[dict[str, Any]]:
    """Return the blocks, each a dictionary; offsets in characters."""
    data = found.text.encode()
    titles = iter(found.titles)
    return [
        {
            "kind": kind,
            "level": level,
            "start": len(data[:start].decode()),
            "end": len(data[:end].decode()),
            "head": len(data[:head].decode()),
            "section": kind == "heading" and not depth,
            "title": next(titles) if kind == "heading" else None,
        }
        for kind, level, depth, start, end, head in zip(
            found.kind.tolist(),
            found.level.tolist(),
            found.depth.tolist(),
            found.byte_start.tolist(),
            found.byte_end.tolist(),
            found.head_end.tolist(),
            strict=True,
        )
    ]


def says(block: dict[str, Any]) -> bool:
    """Return whether a block says something of its own."""
    return block["kind"] not in NO_BODY or (block["kind"] == "heading" and not block["section"])


def sections(blocks: list[dict[str, Any]], depth: float, end: int) -> list[tuple[int, int]]:
    """Return the spans of the sections, what stands before the first heading included."""
    starts = [0]
    for i, block in enumerate(blocks):
        opened = [other for other in blocks[:i] if other["start"] >= starts[-1]]
        heads = block["section"] and block["level"] <= depth
        if heads and any(says(other) for other in opened):
            starts.append(block["start"])
    return list(zip(starts, [*starts[1:], end], strict=True))


def depth_of(blocks: list[dict[str, Any]], text: str, target: int, count: Any) -> int:
    """Return the depth that is chosen for a document."""
    for depth in (2, 3, 4):
        sizes = [
            count(text[a:b])
            for a, b in sections(blocks, depth, len(text))
            if starts_with_heading(blocks, a, depth)
        ]
        if sizes and 0.4 * target <= statistics.median(sizes) <= 1.5 * target:
            return depth
    return 2


def starts_with_heading(blocks: list[dict[str, Any]], start: int, depth: float) -> bool:
    for block in blocks:
        if block["start"] < start:
            continue
        if block["section"] and block["level"] <= depth:
            return True
        if block["kind"] not in NO_BODY:
            return False
    return False


def path_at(blocks: list[dict[str, Any]], number: int) -> tuple[str, ...]:
    """Return the titles in force at a block, outermost first."""
    path: list[tuple[int, str]] = []
    for block in blocks[: number + 1]:
        if block["section"]:
            path = [*(one for one in path if one[0] < block["level"])]
            path.append((block["level"], block["title"]))
    return tuple(title for _, title in path)


def touched(blocks: list[dict[str, Any]], start: int, end: int) -> list[int]:
    return [i for i, block in enumerate(blocks) if block["start"] < end and block["end"] > start]


def path_of(blocks: list[dict[str, Any]], start: int, end: int) -> tuple[str, ...]:
    """Return the heading path of the chunk at a span."""
    inside = touched(blocks, start, end)
    body = [i for i in inside if blocks[i]["kind"] not in NO_BODY]
    before = [i for i, block in enumerate(blocks) if block["start"] < end]
    number = body[:1] or before[-1:]
    return path_at(blocks, number[0]) if number else ()
