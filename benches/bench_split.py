"""Speed of the splitters, end to end through Python, beside the peers that are installed.

A group is one question about one corpus: the table that pytest-benchmark prints holds the ratios,
measured in one run on the same texts. Every round gets a text that was not seen before. Rounds are
documents of 120,000 characters; a figure is seconds per document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.metadata import version

import pytest

import cantle
import corpora
import peers

ROUNDS = 5
CORPORA = ("prose", "code", "multilingual")
Cut = Callable[[str], peers.Spans]


def columns(splitter: cantle.Recursive) -> Cut:
    """cantle as a user calls it; its spans are read off the columns only for the check."""

    def cut(text: str) -> peers.Spans:
        return splitter.split(text)  # type: ignore[return-value]

    return cut


QUESTIONS: dict[str, tuple[Cut, Callable[[], dict[str, peers.Peer]], int]] = {
    "windows of 1000 characters, overlap 100": (
        columns(cantle.Window(1000, 100, "chars")),
        lambda: peers.windows_of_characters(1000, 100),
        1000,
    ),
    "recursive, 1000 characters": (
        columns(cantle.Recursive(1000, 0, "chars")),
        lambda: peers.recursive_by_characters(1000),
        1000,
    ),
    "windows of 512 tokens, overlap 64": (
        columns(cantle.Window(512, 64)),
        lambda: peers.windows_of_tokens(512, 64),
        0,
    ),
    "recursive, 512 tokens": (
        columns(cantle.Recursive(512)),
        lambda: peers.recursive_by_tokens(512),
        0,
    ),
    "sentences to 512 tokens": (columns(cantle.Sentence(512)), dict, 0),
}


def entries() -> Iterator[object]:
    for question, (ours, others, most) in QUESTIONS.items():
        for name, cut in {f"cantle {cantle.__version__}": ours, **others()}.items():
            for corpus in CORPORA:
                yield pytest.param(
                    question, corpus, cut, most, id=f"{question} | {corpus} | {name}"
                )


def faults(text: str, result: object, most: int) -> list[str]:
    """What is wrong with an answer: order, limit, lost text. Fast and wrong must not pass."""
    if isinstance(result, cantle.Chunks):
        spans = list(zip(result.char_start.tolist(), result.char_end.tolist(), strict=True))
    else:
        spans = list(result)  # type: ignore[call-overload]
    found = []
    if not all(0 <= start < end <= len(text) for start, end in spans):
        found.append("spans outside the text")
    at = lost = 0
    for start, end in spans:
        lost += len("".join(text[at:start].split()))
        at = max(at, end)
    lost += len("".join(text[at:].split()))
    if lost:
        found.append(f"{lost} visible characters lost")
    if most and (over := sum(end - start > most for start, end in spans)):
        found.append(f"{over} chunks over the limit")
    return found


@pytest.mark.parametrize(("question", "corpus", "cut", "most"), list(entries()))
def test_split(benchmark, question: str, corpus: str, cut: Cut, most: int) -> None:
    documents = iter(corpora.documents(corpus)[1:] * 2)
    benchmark.group = f"{question} | {corpus}"
    cut(corpora.documents(corpus)[0])
    seen: list[str] = []

    def fresh() -> tuple[tuple[str], dict[str, object]]:
        # A new object: what Python or a peer keeps with a string is not there yet.
        seen.append((next(documents) + " ")[:-1])
        return (seen[-1],), {}

    result = benchmark.pedantic(cut, setup=fresh, rounds=ROUNDS)
    found = faults(seen[-1], result, most)
    benchmark.extra_info["faults"] = found
    # A peer's faults are recorded beside its speed; ours fail.
    assert not (found and isinstance(result, cantle.Chunks)), found


def count_by_tiktoken(text: str) -> int:
    return len(peers.reference("cl100k_base").encode_ordinary(text))


COUNTERS = {
    "cantle": cantle.Tokenizer.from_name("cl100k_base").count,
    f"tiktoken {version('tiktoken')}": count_by_tiktoken,
}


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("counter", COUNTERS)
def test_count(benchmark, counter: str, corpus: str) -> None:
    documents = iter(corpora.documents(corpus)[1:] * 2)
    benchmark.group = f"tokens counted, cl100k_base | {corpus}"
    count = COUNTERS[counter]
    count("a first call loads the vocabulary")
    seen: list[str] = []

    def fresh() -> tuple[tuple[str], dict[str, object]]:
        seen.append((next(documents) + " ")[:-1])
        return (seen[-1],), {}

    result = benchmark.pedantic(count, setup=fresh, rounds=ROUNDS)
    assert result == count_by_tiktoken(seen[-1])
