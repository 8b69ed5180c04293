"""A slow and obvious account of what the boundaries of a chunk cut through, over Markdown.

Lists are those of another parser, markdown-it-py.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from markdown_it import MarkdownIt

import cantle
import oracle
import structure_oracle

_PARSER = MarkdownIt("commonmark").enable("table")
_WORDLESS = ("table", "code", "html", "front_matter", "rule")


class Container(NamedTuple):
    """A list or an item; offsets in characters, without the blanks around it."""

    start: int
    end: int
    is_item: bool
    is_ordered: bool


def visible(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and oracle.is_blank(text[start]):
        start += 1
    while start < end and oracle.is_blank(text[end - 1]):
        end -= 1
    return start, end


@lru_cache(maxsize=8)
def containers(text: str) -> list[Container]:
    """Return the lists and the items, outer ones first."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for token in _PARSER.parse(text):
        if token.type in ("bullet_list_open", "ordered_list_open", "list_item_open"):
            assert token.map is not None
            first, last = token.map
            span = visible(text, starts[first], starts[min(last, len(starts) - 1)])
            is_item = token.type == "list_item_open"
            found.append(Container(*span, is_item, token.type == "ordered_list_open"))
    return found


@lru_cache(maxsize=8)
def sentences(text: str) -> list[tuple[int, int]]:
    return [(one.char_start, one.char_end) for one in cantle.sentences(text)]


@lru_cache(maxsize=8)
def blocks_of(text: str) -> list[dict[str, Any]]:
    return structure_oracle.rows(cantle.blocks(text))


def faults(text: str, chunk: cantle.Chunk, depth: int) -> set[str]:
    """Return the names of what is wrong with a chunk."""
    start, end = visible(text, chunk.char_start, chunk.char_end)
    blocks = blocks_of(text)
    spans = [visible(text, block["start"], block["end"]) for block in blocks]
    inside = [i for i, (a, b) in enumerate(spans) if a < end and b > start]
    found: set[str] = set()
    if start == end:
        return found

    def opens(i: int) -> bool:
        return blocks[i]["section"] and blocks[i]["level"] <= depth

    for i in inside:
        if opens(i) and any(structure_oracle.says(blocks[j]) for j in inside if j < i):
            found.add("straddles_heading")
    ends = [i for i in inside if blocks[i]["kind"] != "rule"]
    if ends and blocks[ends[-1]]["section"]:
        below = blocks[ends[-1] :]
        found |= {"orphans_heading"} if any(map(structure_oracle.says, below)) else set()
    for at in (start, end):
        cut = [blocks[i]["kind"] for i, (a, b) in enumerate(spans) if a < at < b]
        found |= {f"cuts_{kind}" for kind in cut if kind in structure_oracle.WHOLE}
        open_there = [c for c in containers(text) if c.start < at < c.end]
        if open_there:
            found.add("cuts_item" if open_there[-1].is_item else "cuts_list")
        if any(container.is_ordered for container in open_there):
            found.add("cuts_procedure")
        in_words = any(kind not in _WORDLESS for kind in cut)
        if in_words and any(a < at < b for a, b in sentences(text)):
            found.add("starts_mid_sentence" if at == start else "ends_mid_sentence")
    return found
