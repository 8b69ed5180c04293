"""Speed of the splitters, end to end through Python, beside the peers that are installed.

A group is one question about one corpus: the table that pytest-benchmark prints holds the ratios,
measured in one run on the same texts. Every round gets a text that was not seen before. Rounds are
documents of 120,000 characters; a figure is seconds per document.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version

import pytest

import cantle
import corpora
from cantle.bench.faults import faults, faults_of_ours, in_words
from cantle.bench.peers import Peer, answering, reference

ROUNDS = 5
CORPORA = ("prose", "code", "multilingual")


QUESTIONS = {
    "windows of 1000 characters, overlap 100": cantle.Window(1000, 100, "chars"),
    "recursive, 1000 characters": cantle.Recursive(1000, 0, "chars"),
    "windows of 512 tokens, overlap 64": cantle.Window(512, 64),
    "recursive, 512 tokens": cantle.Recursive(512),
    "sentences to 512 tokens": cantle.Sentence(512),
}


def entries() -> Iterator[object]:
    for question, strategy in QUESTIONS.items():
        ours = {f"cantle {cantle.__version__}": None}
        for name, peer in {**ours, **answering(strategy)}.items():
            for corpus in CORPORA:
                yield pytest.param(question, corpus, peer, id=f"{question} | {corpus} | {name}")


@pytest.mark.parametrize(("question", "corpus", "peer"), list(entries()))
def test_split(benchmark, question: str, corpus: str, peer: Peer | None) -> None:
    strategy = QUESTIONS[question]
    cut = strategy.split if peer is None else peer.cut
    documents = iter(corpora.documents(corpus)[1:] * 2)
    benchmark.group = f"{question} | {corpus}"
    cut(corpora.documents(corpus)[0])
    seen: list[str] = []

    def fresh() -> tuple[tuple[str], dict[str, object]]:
        # A new object: what Python or a peer keeps with a string is not there yet.
        seen.append((next(documents) + " ")[:-1])
        return (seen[-1],), {}

    result = benchmark.pedantic(cut, setup=fresh, rounds=ROUNDS)
    if peer is None:
        found = faults_of_ours(seen[-1:], result, strategy)
    else:
        found = faults(seen[-1], peer.read(result), strategy)
    benchmark.extra_info["faults"] = in_words(found)
    # A peer's faults are recorded beside its speed; ours fail.
    assert peer is not None or not found, found


def count_by_tiktoken(text: str) -> int:
    return len(reference("cl100k_base").encode_ordinary(text))


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
