"""Every workload beside every library that answers it, and what is wrong with their answers.

    python benches/bench_peers.py [--texts prose,...] [--questions W1,...] [--json FILE]
    pytest benches/bench_peers.py             # the answers checked on small texts, untimed

The measurements are those of `cantle bench`: each in a process of its own that makes its strings,
warms up on other texts and is asked once; rounds go in turns. MB/s are of CPU time, all threads
together, in the best round. How many times the CPU time of cantle a library takes is the median of
the rounds, in each divided by that of cantle in the same round; behind it stands the range.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import corpora
import figures
import peers
from cantle.bench import measure
from cantle.bench.corpus import Corpus
from cantle.bench.faults import faults
from cantle.bench.peers import LIBRARIES, Library
from cantle.bench.rounds import Plan, results, run
from cantle.bench.table import figure, markdown, told
from questions import NAMES, QUESTIONS

TEXTS = ("prose", "markdown", "code", "multilingual")
LENGTH = 1_000_000
SIZE = 4_000_000
ROUNDS = 3
TIMEOUT = 120.0
"""Seconds after which a library is ended."""


def libraries(names: Sequence[str] = ()) -> list[Library]:
    """Return the libraries that are installed, or of these the ones whose names begin so."""
    return [
        library
        for library in (*LIBRARIES.values(), *peers.WITH_TOKIE)
        if library.installed and (not names or any(library.name.startswith(name) for name in names))
    ]


def measured(
    texts: Sequence[str], asked: Sequence[str], others: Sequence[Library], rounds: int
) -> Iterator[dict[str, Any]]:
    """Yield a result for cantle and every library, for every workload."""
    with tempfile.TemporaryDirectory(prefix="cantle-") as folder:
        corpus = Corpus.write(folder, texts)
        for name in asked:
            plan = Plan.of(corpus, [QUESTIONS[name]], [1], others)
            run([*plan.ours, *plan.peers], rounds, TIMEOUT, _step)
            ours, *found = results(plan)
            if ours["failed"] or ours["faults"]:
                sys.exit(f"cantle, {NAMES[name]}: {told(ours)}")
            for result in (ours, *found):
                yield result | {"question": name, "times_cantle": compared(result, ours)}


def _step(words: str) -> None:
    print(".", end="", file=sys.stderr, flush=True)


def compared(result: dict[str, Any], ours: dict[str, Any]) -> list[float] | None:
    """Return the median, least and largest ratio of CPU times in the rounds of both."""
    pairs = zip(result["cpu_seconds_of_rounds"], ours["cpu_seconds_of_rounds"], strict=False)
    ratios = [theirs / our for theirs, our in pairs]
    if not ratios or result is ours:
        return None
    return [statistics.median(ratios), min(ratios), max(ratios)]


def table(results: Sequence[dict[str, Any]], question: str) -> str:
    """Return the Markdown table of a workload: the fastest first, cantle where it stands."""
    rows = []
    for text in dict.fromkeys(result["text"] for result in results):
        found = [r for r in results if (r["question"], r["text"]) == (question, text)]
        for result in sorted(found, key=lambda r: r["cpu_seconds"] or float("inf")):
            seconds, times = result["cpu_seconds"], result["times_cantle"]
            rows.append(
                [
                    text,
                    f"{result['library']} {result['version']}",
                    "-" if seconds is None else figure(result["bytes"] / 1e6 / seconds),
                    "-" if times is None else figure(times[0]),
                    "-" if times is None else f"{figure(times[1])} to {figure(times[2])}",
                    told(result),
                ]
            )
    heads = ["text", "library", "MB/s", "times the CPU time of cantle", "range", "wrong"]
    return markdown(heads, rows)


# Tests


def test_every_peer_answers_something() -> None:
    silent = [
        library.name
        for library in libraries()
        if all(library.adapt(question) is None for question in QUESTIONS.values())
    ]
    assert silent == []


@pytest.mark.parametrize("name", QUESTIONS)
def test_answers(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = corpora.documents("multilingual")[0][:8_000]
    here = [library for library in libraries() if library.counter is None]

    def in_this_process(request: measure.Request, timeout: float | None) -> measure.Answer:
        try:
            return measure.measure(request)
        except Exception as error:
            raise measure.Failed(f"{type(error).__name__}: {error}") from None

    monkeypatch.setattr("cantle.bench.rounds.in_a_process", in_this_process)
    found = [r | {"text": "multilingual"} for r in measured([text], [name], here, 2)]
    answering = [lib.name for lib in here if lib.adapt(QUESTIONS[name]) is not None]
    assert [result["library"] for result in found] == ["cantle", *answering]
    shown = table(found, name)
    for result in found[1:]:
        if result["failed"]:  # That is an answer too, and stands beside.
            assert told(result) in shown
            continue
        middle, least, most = result["times_cantle"]
        assert least <= middle <= most
        assert f" {result['version']} " in shown
        assert told(result) in shown


def test_what_tells_wrong_offsets_is_found_out() -> None:
    text = "αβγ δεζ ηθι. " * 20
    question = QUESTIONS["W1"]
    assert faults(text, [(0, 2 * len(text), text)], question)["wrong_offsets"] == 1
    assert faults(text, [(0, len(text), text)], question) == {}


# The command


def main() -> None:
    parser = argparse.ArgumentParser(description="Every workload, beside other libraries.")
    parser.add_argument("--texts", default=",".join(TEXTS), help="kinds of corpora.py, or paths")
    parser.add_argument("--questions", default=",".join(QUESTIONS), help="of W1 to W6")
    parser.add_argument("--against", default="", help="the beginnings of libraries' names")
    parser.add_argument("--size", type=corpora.parsed_size, default=SIZE, help="4MB of each text")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    asked = given.questions.split(",")
    if unknown := set(asked) - set(QUESTIONS):
        parser.error(f"--questions: {', '.join(sorted(unknown))} is none of {', '.join(QUESTIONS)}")
    others = libraries([name for name in given.against.split(",") if name])
    found: list[dict[str, Any]] = []
    described = []
    for text in given.texts.split(","):
        documents = corpora.documents(text, length=min(LENGTH, given.size // 4), size=given.size)
        described.append(figures.described(text, documents))
        for result in measured(documents, asked, others, given.rounds):
            found.append(result | {"text": text})
    print(file=sys.stderr)
    for name in asked:
        print(f"{name}: {NAMES[name]}\n\n{table(found, name)}")
    if given.json:
        told = figures.figures("peers", described, rounds=given.rounds, results=found)
        figures.write(given.json, told)


if __name__ == "__main__":
    main()
