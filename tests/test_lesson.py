"""The lesson's windows of words, and the worked examples of the requirements."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

import cantle

REFERENCE = json.loads(
    (Path(__file__).parent / "lesson" / "chunk_reference.json").read_text("utf-8")
)


def test_the_reference_is_whole():
    assert REFERENCE["columns"] == ["n", "size", "overlap", "ranges"]
    assert len(REFERENCE["cases"]) == 324


@pytest.mark.parametrize("trim", [True, False])
def test_windows_of_words_equal_the_lesson(trim):
    for n, size, overlap, ranges in REFERENCE["cases"]:
        words = [f"w{i}" for i in range(n)]
        chunks = cantle.Window(size, overlap, "words", trim).split("  \n".join(words))
        assert [text.split() for text in chunks.texts] == [words[a:b] for a, b in ranges]
        assert chunks.size.tolist() == [b - a for a, b in ranges]


def test_no_window_lies_inside_the_one_before():
    """A2: 194 words, 60 / 12: four windows; the naive loop makes a fifth."""
    chunks = cantle.Window(60, 12, "words").split(" ".join(["word"] * 194))
    assert (chunks.char_start // 5).tolist() == [0, 48, 96, 144]


P1 = "A splitter keeps whole ideas together as long as possible."
P2 = [
    "Long reports rarely fit inside the window that a language model can read today.",
    "When a blind cut lands inside an argument, one half loses its premise and the other loses its "
    "conclusion.",
]
P3 = [
    "The remedy is to try paragraphs first, since an author already grouped related sentences "
    "inside them.",
    "Only a paragraph that is still too large gets opened, and then its sentences become the "
    "pieces to pack.",
]


def test_x3_a_paragraph_that_is_too_large_is_opened():
    chunks = cantle.Recursive(20, unit="words").split("\n\n".join([P1, " ".join(P2), " ".join(P3)]))
    assert chunks.texts == [P1, *P2, *P3]
    assert chunks.size.tolist() == [10, 14, 19, 16, 19]


def test_x5_windows_of_characters():
    text = "".join(chr(97 + i % 26) for i in range(5_000))
    assert len(cantle.Window(250, unit="chars").split(text)) == 20
    chunks = cantle.Window(250, 20, "chars").split(text)
    assert len(chunks) == 22
    # The alphabet comes again every 26 letters, so texts that are equal prove less than the spans.
    spans = list(zip(chunks.char_start.tolist(), chunks.char_end.tolist(), strict=True))
    assert spans == [(start, min(start + 250, 5_000)) for start in range(0, 4_831, 230)]
    assert spans[-1] == (4_830, 5_000)
    for before, after in pairwise(chunks.texts):
        assert before[-20:] == after[:20]
