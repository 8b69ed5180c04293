"""Speed of `Structural` over Markdown, beside the pass of its own parser and the peers.

The parser's pass is every event of pulldown-cmark, counted and dropped: what reading the text costs
at least. The target is 300 MB/s on a core, or 0.8 of that pass in the same run, whichever is lower.
Rounds are documents of 120,000 characters; a figure is seconds per document.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import cantle
import corpora
from cantle import _core
from cantle.bench.faults import faults, faults_of_ours, in_words
from cantle.bench.peers import Peer, answering

ROUNDS = 5

QUESTIONS = {
    "structural, 1000 characters": cantle.Structural(1000, 0, "chars"),
    "structural, 512 tokens": cantle.Structural(512),
}


def entries() -> Iterator[object]:
    for question, strategy in QUESTIONS.items():
        ours = {f"cantle {cantle.__version__}": None}
        for name, peer in {**ours, **answering(strategy)}.items():
            yield pytest.param(question, peer, id=f"{question} | markdown | {name}")


def fresh_documents(seen: list[str]):
    """Return what sets a round up: a new text each time, kept in `seen`."""
    documents = iter(corpora.documents("markdown")[1:] * 2)

    def fresh() -> tuple[tuple[str], dict[str, object]]:
        seen.append((next(documents) + " ")[:-1])
        return (seen[-1],), {}

    return fresh


@pytest.mark.parametrize(("question", "peer"), list(entries()))
def test_structural(benchmark, question: str, peer: Peer | None) -> None:
    strategy = QUESTIONS[question]
    cut = strategy.split if peer is None else peer.cut
    benchmark.group = f"{question} | markdown"
    cut(corpora.documents("markdown")[0])
    seen: list[str] = []
    result = benchmark.pedantic(cut, setup=fresh_documents(seen), rounds=ROUNDS)
    if peer is not None:
        found = faults(seen[-1], peer.read(result), strategy)
        benchmark.extra_info["faults"] = in_words(found)
        return
    found = faults_of_ours(seen[-1:], result, strategy)
    assert not found, in_words(found)
    # The headings in force are part of the answer.
    blocks = cantle.blocks(seen[-1])
    outer = blocks.depth[blocks.kind == "heading"] == 0
    titles = [title for title, starts in zip(blocks.titles, outer, strict=True) if starts]
    assert result.structure is not None
    assert result.structure.titles == titles
    benchmark.extra_info["faults"] = []


def test_the_parser_alone(benchmark) -> None:
    benchmark.group = "structural, 1000 characters | markdown"
    seen: list[str] = []
    count = _core.markdown_events
    events = benchmark.pedantic(count, setup=fresh_documents(seen), rounds=ROUNDS)
    assert events > len(cantle.blocks(seen[-1]))
