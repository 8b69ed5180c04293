"""What is wrong with an answer. Fast and wrong must show.

Every fault is counted over all documents, in chunks or characters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from cantle import OVERSIZE, Chunks, Whole
from cantle.bench.peers import Answer, Spans
from cantle.strategies import Splitting

FAULTS = {
    "over_limit": "chunk{s} over the limit",
    "characters_lost": "visible character{s} lost",
    "not_found": "chunk{s} not found in the text",
    "wrong_offsets": "chunk{s} not where the offsets say",
    "bad_spans": "span{s} empty, outside the text or out of order",
    "answers_differ": "answer{s} unlike the first",
}
"""Every fault, and what people call one of it or more."""


def faults(text: str, answer: Answer, question: Splitting) -> Counter[str]:
    """Return the faults of the chunks of one text.

    Args:
        text: The text.
        answer: What a peer made of it: spans in characters, or texts, which are looked for.
        question: The strategy whose limit is asked for.
    """
    spans, pieces, found = _placed(text, answer, overlaps=question.overlap > 0)
    found["characters_lost"] = _lost(text, spans)
    found["over_limit"] = int(np.count_nonzero(_sizes(pieces, question) > question.size))
    return +found


def placed(text: str, answer: Answer) -> tuple[Spans, Counter[str]]:
    """Return where the chunks of one text lie, in characters, and what is wrong with that.

    Spans are believed where each holds the text that is told with it. Texts are looked for one
    behind the other; one that is nowhere is left out, and counted.

    Args:
        text: The text.
        answer: As for `faults`; of chunks that do not overlap.

    Example:
        >>> placed("a b a", ["b", "a"])
        ([(2, 3), (4, 5)], Counter())
    """
    spans, _, found = _placed(text, answer, overlaps=False)
    return spans, +found


def _placed(text: str, answer: Answer, *, overlaps: bool) -> tuple[Spans, list[str], Counter[str]]:
    """Return the spans of chunks, their texts as far as they are known, and faults."""
    found: Counter[str] = Counter()
    pieces, told, found["wrong_offsets"] = _read(text, answer)
    if pieces:
        spans, found["not_found"] = _located(text, pieces, overlaps=overlaps)
        return spans, pieces, found
    spans, last = [], 0
    for start, end in told:
        if last <= start < end <= len(text):
            spans.append((start, end))
            last = start
        else:
            found["bad_spans"] += 1
    return spans, [text[start:end] for start, end in spans], found


def _read(text: str, answer: Answer) -> tuple[list[str], Spans, int]:
    """Return the texts of chunks that must be looked for, or else spans; and the wrong spans.

    Where a library tells both, its spans are believed if each holds what it says; one that does
    not counts, and then the texts alone are looked at.
    """
    pieces: list[str] = []
    spans: Spans = []
    wrong = 0
    for chunk in answer:
        if isinstance(chunk, str):
            pieces.append(chunk)
            continue
        start, end, *rest = chunk
        spans.append((start, end))
        pieces += rest
        for piece in rest:
            right = 0 <= start == end - len(piece) and text.startswith(piece, start)
            wrong += not right
    if spans and not wrong:
        pieces = []
    return pieces, spans, wrong


def faults_of_ours(texts: list[str], chunks: Chunks, question: Splitting) -> Counter[str]:
    """Return the faults of our own chunks of many texts.

    A chunk that is flagged, since one indivisible unit is over the limit, is none.
    """
    found: Counter[str] = Counter()
    ends = np.searchsorted(chunks.doc, np.arange(len(texts)), side="right").tolist()
    first = 0
    for text, end in zip(texts, ends, strict=True):
        starts, stops = chunks.char_start[first:end].tolist(), chunks.char_end[first:end].tolist()
        found += faults(text, list(zip(starts, stops, strict=True)), question)
        first = end
    found["over_limit"] -= int(np.count_nonzero(chunks.flags & OVERSIZE))
    return +found


def in_words(found: Mapping[str, int]) -> list[str]:
    """Return the faults as people say them."""
    return [
        f"{number:,} {FAULTS[fault].format(s='' if number == 1 else 's')}"
        for fault, number in found.items()
    ]


def _sizes(pieces: list[str], question: Splitting) -> Any:
    """Return each piece's size as a text of its own."""
    pieces = [piece for piece in pieces if piece]
    return Whole(unit=question.unit, trim=False).split_all(pieces, threads=1).size


def _lost(text: str, spans: Spans) -> int:
    """Return how many characters that are not blank no span holds."""
    at = lost = 0
    for start, end in spans:
        if start > at:
            lost += len("".join(text[at:start].split()))
        at = max(at, end)
    return lost + len("".join(text[at:].split()))


def _located(text: str, pieces: list[str], *, overlaps: bool) -> tuple[Spans, int]:
    """Return where pieces lie, one behind the other, and how many are nowhere.

    Of several places it is the last that leaves nothing out; else the first behind it. So a repeat
    is never taken for a loss.
    """
    spans: Spans = []
    missing = start = end = 0
    for piece in pieces:
        blank = end
        while blank < len(text) and text[blank].isspace():
            blank += 1
        lowest = start + 1 if overlaps and spans else end
        at = text.rfind(piece, lowest, blank + len(piece))
        if at < 0:
            at = text.find(piece, blank)
        if at < 0 and overlaps:  # Of text that repeats itself, a later place was taken before.
            at = text.rfind(piece)
        if at < 0 or not piece:
            missing += 1
            continue
        start, end = at, max(end, at + len(piece))
        spans.append((at, at + len(piece)))
    return spans, missing
