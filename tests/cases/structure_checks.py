"""Checks of cases about headings, tables, lines and pages."""

from __future__ import annotations

from typing import Any

import cantle
from cases.adapter import Outcome, check


def holding(outcome: Outcome, given: dict[str, Any]) -> cantle.Chunk:
    """Return the first chunk that holds the probe."""
    return next(chunk for chunk in outcome.chunks if given["probe"] in chunk.text)


def found_headings(outcome: Outcome) -> list[list[Any]]:
    structure = outcome.chunks.structure
    assert structure is not None
    return [list(pair) for pair in zip(structure.level.tolist(), structure.titles, strict=True)]


@check
def headings(outcome: Outcome, given: dict[str, Any]) -> None:
    assert found_headings(outcome) == given["headings"]


@check
def heading_count(outcome: Outcome, given: dict[str, Any]) -> None:
    assert len(found_headings(outcome)) == given["n"]


@check
def path(outcome: Outcome, given: dict[str, Any]) -> None:
    assert list(holding(outcome, given).heading_path) == given["is"]


@check
def path_contains(outcome: Outcome, given: dict[str, Any]) -> None:
    assert given["text"] in holding(outcome, given).heading_path[-1]


@check
def not_in_any_path(outcome: Outcome, given: dict[str, Any]) -> None:
    titles = [title for path in outcome.chunks.heading_paths for title in path]
    assert not [title for title in titles if any(text in title for text in given["texts"])]


@check
def table_context(outcome: Outcome, given: dict[str, Any]) -> None:
    """The first part holds the header itself; it is cut into several."""
    first, *later = outcome.chunks
    assert first.text.splitlines()[:2] == given["lines"]
    assert first.context == ""
    assert later
    for chunk in later:
        assert chunk.context.splitlines() == given["lines"]
        assert chunk.flags & cantle.PART
        assert given["lines"][0] not in chunk.text


@check
def line_numbers(outcome: Outcome, given: dict[str, Any]) -> None:
    chunk = holding(outcome, given)
    before = chunk.text[: chunk.text.index(given["probe"])]
    assert chunk.line_start + before.count("\n") == given["first"]


@check
def page(outcome: Outcome, given: dict[str, Any]) -> None:
    assert given["rule"] == "1 + number of \\f before the chunk's start"
    for chunk in outcome.chunks:
        assert chunk.page == 1 + outcome.input[: chunk.char_start].count("\f")


@check
def page_max(outcome: Outcome, given: dict[str, Any]) -> None:
    assert outcome.chunks.page.max() == given["n"]
