"""What `cantle bench` looks at beside the clock: faults of an answer, and memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cantle
from cantle.bench import memory
from cantle.bench.faults import faults, faults_of_ours

QUESTION = cantle.Window(4, unit="chars")
FOUND: list[tuple[str, Any, dict[str, int]]] = [
    ("ab cd ef", [(0, 2), (3, 5), (6, 8)], {}),
    ("ab cd ef", [(0, 3), (2, 5), (5, 8)], {}),
    ("ab cd ef", [(0, 2), (6, 8)], {"characters_lost": 2}),
    ("ab cd ef", [(0, 5), (5, 8)], {"over_limit": 1}),
    ("ab cd ef", [(0, 2), (3, 5), (6, 9)], {"bad_spans": 1, "characters_lost": 2}),
    ("ab cd ef", [(0, 2), (2, 2), (3, 5), (6, 8)], {"bad_spans": 1}),
    ("ab cd ef", [(6, 8), (0, 2), (3, 5)], {"bad_spans": 2, "characters_lost": 4}),
    ("ab cd ef", [], {"characters_lost": 6}),
    ("ab cd ef", ["ab", "cd", "ef"], {}),
    ("ab cd ef", ["ab c", "d ef"], {}),
    ("ab ab ab", ["ab", "ab", "ab"], {}),
    ("ab ab ab", ["ab", "ab"], {"characters_lost": 2}),
    ("ab cd ef", ["ab", "cd", "e\ufffd"], {"not_found": 1, "characters_lost": 2}),
    ("ab cd ef", ["ab cd", "ef"], {"over_limit": 1}),
    ("ab cd ef", [(0, 2, "ab"), (3, 5, "cd"), (6, 8, "ef")], {}),
    ("ab cd ef", [(0, 2, "ab"), (4, 6, "cd"), (6, 8, "ef")], {"wrong_offsets": 1}),
    ("äb cd", [(0, 3, "äb"), (4, 6, "cd")], {"wrong_offsets": 2}),
    ("ab cd", [(0, 2, "ab"), (3, 9, "cd")], {"wrong_offsets": 1}),
    (
        "ab cd",
        [(0, 2, "ab"), (-2, 0, "x")],
        {"wrong_offsets": 1, "not_found": 1, "characters_lost": 2},
    ),
    ("", [], {}),
]


@pytest.mark.parametrize(("text", "answer", "expected"), FOUND)
def test_faults(text: str, answer: Any, expected: dict[str, int]) -> None:
    assert faults(text, answer, QUESTION) == expected


def test_chunks_that_repeat_text_are_found_where_they_lie() -> None:
    question = cantle.Window(8, 4, "chars", trim=False)
    for text in ("abababababababababab", "aaaaaaaaaaaaaaaaaaaaaaa", "one two one two one two one"):
        assert faults(text, list(question.split(text).texts), question) == {}


def test_our_own_faults_are_found() -> None:
    texts = ["ab cd ef", "", "gh"]
    chunks = QUESTION.split_all(texts)
    assert faults_of_ours(texts, chunks, QUESTION) == {}
    assert faults_of_ours(texts, chunks, cantle.Window(1, unit="chars")) == {"over_limit": 3}
    lost = chunks[np.arange(len(chunks)) != 1]
    assert faults_of_ours(texts, lost, QUESTION)["characters_lost"] == 3


def test_what_is_flagged_is_no_fault() -> None:
    family = "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}"
    question = cantle.Window(2, unit="chars")
    chunks = question.split_all([family])
    assert chunks.flags[0] & cantle.OVERSIZE
    assert faults_of_ours([family], chunks, question) == {}


def test_memory_is_told() -> None:
    memory.forget_peak()
    before = memory.held()
    if not before:
        pytest.skip("the system does not tell")
    block = bytearray(b"x") * 50_000_000
    assert memory.peak() - before > 40_000_000
    assert len(block) == 50_000_000
