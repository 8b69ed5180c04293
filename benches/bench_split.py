"""Speed of the splitters, end to end through Python: every workload, every strategy and unit.

    pytest benches/bench_split.py --benchmark-enable --benchmark-timer=time.process_time
    pytest benches/bench_split.py --benchmark-disable      # the answers checked, untimed

A group is one question about one corpus; a figure is CPU seconds per document of 120,000
characters. Every round gets a text that was not seen before. Other libraries stand beside us in
`bench_peers.py`; here is what to look at while working on a strategy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

import cantle
import corpora
from cantle.bench.faults import faults_of_ours
from cantle.bench.peers import reference, version
from cantle.bench.rounds import described
from cantle.strategies import Splitting
from cantle.strategies.pieces import ByPieces
from cantle.strategies.text import REGISTRY
from questions import NAMES, QUESTIONS

ROUNDS = 5
CORPORA = ("prose", "code", "multilingual")
UNITS = ("bytes", "chars", "words", "cl100k_base", "o200k_base")


def entries() -> Iterator[object]:
    asked: dict[str, Splitting] = {NAMES[name]: QUESTIONS[name] for name in QUESTIONS}
    for strategy in REGISTRY.values():
        # What a model takes is measured elsewhere.
        if issubclass(strategy, ByPieces):
            continue
        for unit in UNITS:
            question = strategy(size=512, overlap=64, unit=unit)  # type: ignore[call-arg]
            asked[f"{described(question)} {unit}"] = question
    for name, question in asked.items():
        for corpus in CORPORA:
            yield pytest.param(question, corpus, id=f"{name} | {corpus}")


def fresh(corpus: str, seen: list[str]) -> Callable[[], tuple[tuple[str], dict[str, object]]]:
    """Return what hands out documents, each a new object: Python keeps nothing with it yet."""
    documents = iter(corpora.documents(corpus)[1:] * 2)

    def next_one() -> tuple[tuple[str], dict[str, object]]:
        seen.append((next(documents) + " ")[:-1])
        return (seen[-1],), {}

    return next_one


@pytest.mark.parametrize(("question", "corpus"), list(entries()))
def test_split(benchmark, question: Splitting, corpus: str) -> None:
    benchmark.group = corpus
    question.split(corpora.documents(corpus)[0])
    seen: list[str] = []
    chunks = benchmark.pedantic(question.split, setup=fresh(corpus, seen), rounds=ROUNDS)
    assert faults_of_ours(seen[-1:], chunks, question) == {}


def count_by_tiktoken(text: str) -> int:
    return len(reference("cl100k_base").encode_ordinary(text))


COUNTERS = {
    "cantle": cantle.Tokenizer.from_name("cl100k_base").count,
    version("tiktoken"): count_by_tiktoken,
}


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("counter", COUNTERS)
def test_count(benchmark, counter: str, corpus: str) -> None:
    benchmark.group = f"tokens counted, cl100k_base | {corpus}"
    count = COUNTERS[counter]
    count("a first call loads the vocabulary")
    seen: list[str] = []
    result = benchmark.pedantic(count, setup=fresh(corpus, seen), rounds=ROUNDS)
    assert result == count_by_tiktoken(seen[-1])
