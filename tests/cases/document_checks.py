"""Checks of cases about metadata, ids, and chunks within others."""

from __future__ import annotations

import copy
from typing import Any

import oracle
from cases.adapter import Outcome, check


@check
def meta_independent(outcome: Outcome, given: dict[str, Any]) -> None:
    key, chunks = given["mutate"], outcome.chunks
    before = copy.deepcopy(outcome.call["metadata"])
    copies = [chunk.metadata for chunk in chunks]
    copies[0][key].append("changed")
    assert all(metadata == before for metadata in copies[1:])
    assert all(chunk.metadata == before for chunk in chunks)
    assert outcome.call["metadata"] == before


@check
def meta_equal(outcome: Outcome, given: dict[str, Any]) -> None:
    for chunk in outcome.chunks:
        for key in given["keys"]:
            assert chunk.metadata[key] == outcome.call["metadata"][key]


@check
def index_dense(outcome: Outcome, given: dict[str, Any]) -> None:
    assert outcome.chunks.ordinal.tolist() == list(range(len(outcome.chunks)))


@check
def ids_unique(outcome: Outcome, given: dict[str, Any]) -> None:
    """No two ids are equal in all that a call returns, whichever documents they are of."""
    for chunks in [outcome.children] if outcome.call["op"] == "parent_child" else outcome.all:
        assert len(set(chunks.ids)) == len(chunks) > 0


@check
def parent_count(outcome: Outcome, given: dict[str, Any]) -> None:
    assert len(outcome.parents) == given["n"]


@check
def child_count_min(outcome: Outcome, given: dict[str, Any]) -> None:
    assert len(outcome.children) >= given["n"]


@check
def nested(outcome: Outcome, given: dict[str, Any]) -> None:
    for child in outcome.children:
        assert child.parent.char_start <= child.char_start < child.char_end <= child.parent.char_end


@check
def children_cover_parent(outcome: Outcome, given: dict[str, Any]) -> None:
    for row, parent in enumerate(outcome.parents):
        reached = parent.char_start
        for child in outcome.children[outcome.children.parent == row]:
            assert oracle.is_blank(outcome.input[reached : child.char_start])
            reached = max(reached, child.char_end)
        assert oracle.is_blank(outcome.input[reached : parent.char_end])
