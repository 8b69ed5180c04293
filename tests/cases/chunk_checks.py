"""Checks of cases about chunks and how they lie in their texts, about sentences and tokens."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import cantle
import oracle
from cases import builders
from cases.adapter import CHECKS, Outcome, check, count, spans, strategy_of


@check
def basics(outcome: Outcome, given: dict[str, Any]) -> None:
    for law in (slices, ordered, cover, no_blank):
        law(outcome, given)


@check
def slices(outcome: Outcome, given: dict[str, Any]) -> None:
    for text, _, chunks in outcome.each():
        data = text.encode()
        for c in chunks:
            assert c.text == text[c.char_start : c.char_end]
            assert c.text == data[c.byte_start : c.byte_end].decode()


@check
def ordered(outcome: Outcome, given: dict[str, Any]) -> None:
    for text, found, _ in outcome.each():
        assert all(0 <= a < b <= len(text) for a, b in found)
        assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(found))


@check
def cover(outcome: Outcome, given: dict[str, Any]) -> None:
    for text, found, _ in outcome.each():
        reached = 0
        for a, b in [*found, (len(text), len(text))]:
            assert oracle.is_blank(text[reached:a])
            reached = max(reached, b)


@check
def no_blank(outcome: Outcome, given: dict[str, Any]) -> None:
    for _, _, chunks in outcome.each():
        assert not [text for text in chunks.texts if oracle.is_blank(text)]


@check
def tiles(outcome: Outcome, given: dict[str, Any]) -> None:
    cover(outcome, given)
    for text, found, chunks in outcome.each():
        assert all(a[1] <= b[0] for a, b in pairwise(found))
        if not outcome.call.get("trim", True):
            assert "".join(chunks.texts) == text


@check
def max_size(outcome: Outcome, given: dict[str, Any]) -> None:
    tokenizer = given.get("counted_with", outcome.call.get("tokenizer"))
    for text, found, chunks in outcome.each():
        for (a, b), part in zip(found, chunks.texts, strict=True):
            if (
                count(part, given["unit"], tokenizer, given.get("with_special", False))
                > given["limit"]
            ):
                assert given.get("unless") == "single grapheme"
                assert len(oracle.clusters(text, a, b)) == 1


@check
def spans_(outcome: Outcome, given: dict[str, Any]) -> None:
    assert spans(outcome.chunks) == [tuple(span) for span in given["spans"]]


CHECKS["spans"] = CHECKS.pop("spans_")


@check
def texts(outcome: Outcome, given: dict[str, Any]) -> None:
    assert outcome.chunks.texts == given["texts"]


@check
def texts_stripped(outcome: Outcome, given: dict[str, Any]) -> None:
    assert [text.strip() for text in outcome.chunks.texts] == given["texts"]


@check
def chunk_count(outcome: Outcome, given: dict[str, Any]) -> None:
    for chunks in outcome.all:
        assert given["min"] <= len(chunks) <= given["max"]


@check
def min_sentences(outcome: Outcome, given: dict[str, Any]) -> None:
    for chunks in outcome.all:
        assert all(len(cantle.sentences(text)) >= given["n"] for text in chunks.texts[:-1])


@check
def together(outcome: Outcome, given: dict[str, Any]) -> None:
    for wanted in given["texts"]:
        assert any(wanted in text for text in outcome.chunks.texts), wanted


@check
def not_together(outcome: Outcome, given: dict[str, Any]) -> None:
    assert not [t for t in outcome.chunks.texts if given["a"] in t and given["b"] in t]


@check
def boundary_not_in(outcome: Outcome, given: dict[str, Any]) -> None:
    what = given["what"]
    for text, found, _ in outcome.each():
        whole = set(oracle.borders(text))
        for at in {at for span in found for at in span} - {0, len(text)}:
            before, after = text[at - 1], text[at]
            if what == "grapheme":
                assert at in whole
            elif what == "crlf":
                assert (before, after) != ("\r", "\n")
            elif what == "word":
                assert oracle.is_blank(before) or oracle.is_blank(after)
            elif what == "line":
                assert before in oracle.BREAKS or after in oracle.BREAKS
            elif what == "table_row":
                row = text[text.rfind("\n", 0, at) + 1 : text.find("\n", at)]
                assert "|" not in row or before in oracle.BREAKS or after in oracle.BREAKS
            else:
                raise NotImplementedError(what)


@check
def never_contains(outcome: Outcome, given: dict[str, Any]) -> None:
    assert not [t for t in outcome.chunks.texts if any(mark in t for mark in given["texts"])]


@check
def never_ends_with(outcome: Outcome, given: dict[str, Any]) -> None:
    for text in outcome.chunks.texts:
        for mark in given["marks"]:
            ending = text if oracle.is_blank(mark[-1:]) else text.strip()
            assert not ending.endswith(mark)


@check
def ends_with_any(outcome: Outcome, given: dict[str, Any]) -> None:
    assert all(text.strip().endswith(tuple(given["marks"])) for text in outcome.chunks.texts)


@check
def no_chunk_equals(outcome: Outcome, given: dict[str, Any]) -> None:
    assert not {text.strip() for text in outcome.chunks.texts} & set(given["texts"])


def shared(outcome: Outcome, unit: str) -> list[int]:
    """Return how much each chunk repeats from the one before."""
    return [
        count(text[b[0] : a[1]], unit, outcome.call.get("tokenizer"))
        for text, found, _ in outcome.each()
        for a, b in pairwise(found)
    ]


@check
def overlap_at_most(outcome: Outcome, given: dict[str, Any]) -> None:
    repeated = shared(outcome, given["unit"])
    assert all(given.get("at_least", 0) <= n <= given["n"] for n in repeated)


@check
def overlap_exact(outcome: Outcome, given: dict[str, Any]) -> None:
    assert set(shared(outcome, given["unit"])) == {given["n"]}


@check
def fill(outcome: Outcome, given: dict[str, Any]) -> None:
    assert all(outcome.chunks.size[:-1] >= given["min_share"] * outcome.call["size"])


@check
def last_end_is_length(outcome: Outcome, given: dict[str, Any]) -> None:
    last = outcome.chunks[-1]
    assert (last.char_end, last.byte_end) == (len(outcome.input), len(outcome.input.encode()))


@check
def batch_lengths(outcome: Outcome, given: dict[str, Any]) -> None:
    docs = outcome.chunks.doc.tolist()
    assert [docs.count(i) for i in range(len(outcome.input))] == given["lengths"]


@check
def batch_equals_single(outcome: Outcome, given: dict[str, Any]) -> None:
    strategy = strategy_of(outcome.call)
    for i, text in enumerate(outcome.input):
        assert spans(outcome.chunks[outcome.chunks.doc == i]) == spans(strategy.split(text))


@check
def text_once(outcome: Outcome, given: dict[str, Any]) -> None:
    assert sum(text.count(given["text"]) for text in outcome.chunks.texts) == 1


# ------------------------------------------------------------ sentences and tokens


@check
def sentences(outcome: Outcome, given: dict[str, Any]) -> None:
    assert [text.strip() for text in outcome.chunks.texts] == given["sentences"]


@check
def sentence_count(outcome: Outcome, given: dict[str, Any]) -> None:
    assert len(outcome.chunks) == given["n"]


@check
def sentence_count_between(outcome: Outcome, given: dict[str, Any]) -> None:
    assert given["min"] <= len(outcome.chunks) <= given["max"]


@check
def sentences_tile(outcome: Outcome, given: dict[str, Any]) -> None:
    slices(outcome, given)
    tiles(outcome, given)


@check
def token_count(outcome: Outcome, given: dict[str, Any]) -> None:
    tokenizer = builders.TOKENIZERS[outcome.call["tokenizer"]]()
    ours = cantle.Tokenizer.from_object(tokenizer)
    assert ours.count(outcome.input) == given["n"]
    assert len(ours.encode(outcome.input).ids) == given["n"]


@check
def tokenizer_unchanged(outcome: Outcome, given: dict[str, Any]) -> None:
    tokenizer = builders.TOKENIZERS[outcome.call["tokenizer"]]()
    before = tokenizer.to_str()
    strategy_of(outcome.call, tokenizer).split(outcome.input)
    assert tokenizer.to_str() == before
